"""`cortex check`: alone a gate, with --list every fault with its place and its remedy."""

from collections import Counter

from cortex.arguments import Call
from cortex.corpus.faults import CorpusError, Fault, Note, describe
from cortex.corpus.reader import Reading, read_corpus
from cortex.corpus.root import pin
from cortex.envelope import JSONObject
from cortex.errors import CortexError, invalid
from cortex.retrieval.cards import Page, listing
from policies import limits

_OF_FIX = ("--zone", "--day-first", "--dry-run")


def check(call: Call) -> JSONObject:
    """Say whether the canonical files are sound; read on past faults. With --fix, put right what can be known."""
    if call.has("--fix"):
        from cortex.retaining import fix

        return fix(call)
    if any(call.has(option) for option in _OF_FIX):
        raise invalid(f"{', '.join(_OF_FIX)} go with --fix dates")
    try:
        with pin(call.memory_root()) as root:
            reading = read_corpus(root, stop_at_first_fault=False)
    except CorpusError as error:
        raise CortexError("integrity_error", str(error)) from error
    if call.has("--list"):
        return _list(call, reading)
    if reading.faults:
        first = min(reading.faults, key=_place)
        raise CortexError("integrity_error", f"{_faults(len(reading.faults))}, the first: {describe(first)}")
    return {"files": reading.files, "records": len(reading.records), "sound": True}


def _list(call: Call, reading: Reading) -> JSONObject:
    page = Page(
        call.integer("--page", 1, 1, limits.LARGEST_INTEGER),
        call.integer("--page-size", limits.FAULTS_A_PAGE, 1, limits.FAULTS_A_PAGE),
    )
    return {
        "files": reading.files,
        "records": len(reading.records),
        "sound": not reading.faults,
        "by_kind": dict(sorted(Counter(fault.kind for fault in reading.faults).items())),
        **listing(sorted(reading.faults, key=_place), page, Fault._asdict),
        "notes": [_shown(note) for note in sorted(reading.notes, key=_place)],
    }


def _shown(note: Note) -> JSONObject:
    return {"path": note.path, "line": note.line, "kind": note.kind, "message": note.message}


def _place(found: Fault | Note) -> tuple[str, int, str, str]:
    return found.path, found.line or 0, found.kind, found.message


def _faults(count: int) -> str:
    return "1 fault" if count == 1 else f"{count} faults"
