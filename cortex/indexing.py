"""The commands of the index: build, refresh, verify, drop, status. All of it can be deleted; the files say the same."""

from collections.abc import Callable

from cortex.answering import has_index, reason
from cortex.arguments import Call
from cortex.corpus.faults import CorpusError
from cortex.corpus.root import PinnedRoot, pin
from cortex.corpus.walk import survey
from cortex.envelope import JSONObject
from cortex.errors import CortexError, invalid, not_found
from cortex.index import adoption
from cortex.index.adoption import Built, Candidate, Request
from cortex.index.layout import Adoption, IndexDoubtError
from cortex.index.memory import compare
from cortex.index.opening import OpenIndex, file_sizes, open_index
from cortex.layout import INDEX
from cortex.store.files import refused
from cortex.store.governor import explained
from cortex.store.store import Store, open_store
from cortex.writing import operator_of

_NO_INDEX = "this memory has no index; build one with: cortex index build --operator NAME --allow-write"
_MEND = (
    "make it anew: cortex index build --operator NAME --allow-write (with --adopt REPORT where its adoption is damaged)"
)
_BUILD = "make it anew, taking nothing over: cortex index build --operator NAME --allow-write"
_ADOPT = "search reads every file until it is adopted: cortex index build --adopt REPORT --operator NAME --allow-write"


def build(call: Call) -> JSONObject:
    """Make an index of everything; with `--adopt`, by evidence, let it answer."""
    if call.has("--labels") and not call.has("--adopt"):
        raise invalid("--labels names the labels of the report of --adopt")
    request = _request(call)
    with explained(), open_store(call.memory_root()) as store:
        prove = _proving(call, store.root, request) if call.has("--adopt") else None
        return _described(store, adoption.build(store, request, reuse=False, prove=prove))


def refresh(call: Call) -> JSONObject:
    """Make the index anew, taking over what it says of files that have not changed."""
    with explained(), open_store(call.memory_root()) as store:
        if not has_index(store.root.descriptor):
            raise not_found(_NO_INDEX)
        return _described(store, adoption.build(store, _request(call), reuse=True))


def verify(call: Call) -> JSONObject:
    """Read everything again, make the index again, and compare."""
    try:
        return _verified(call)
    except CorpusError as error:
        raise CortexError("integrity_error", str(error)) from error
    except CortexError:
        raise
    except Exception as error:
        raise CortexError("integrity_error", f"the index is not verified: {reason(error)}; {_BUILD}") from error


def drop(call: Call) -> JSONObject:
    """Withdraw the index, and leave the marker that there is none on purpose."""
    with explained(), open_store(call.memory_root()) as store:
        removed, warnings = adoption.drop(store, _request(call))
        return {"removed": removed, "warnings": list(warnings)}


def status(call: Call) -> JSONObject:
    """Say whether there is an index, whether it answers, and how many files have changed since it was built."""
    told: JSONObject = {"index": None, "adopted": None, "changed_files": None, "answers": False}
    try:
        with pin(call.memory_root()) as root, open_index(root.descriptor) as opened:
            if opened is None:
                return {**told, "why_not": _NO_INDEX}
            told |= {"index": _index(root, opened), "changed_files": _count_changed(root, opened)}
            if opened.adoption is None:
                return {**told, "why_not": _ADOPT}
            return {**told, "adopted": opened.adoption._asdict(), "answers": True, "why_not": None}
    except CorpusError as error:
        raise CortexError("integrity_error", str(error)) from error
    except Exception as error:  # noqa: BLE001 - whatever is wrong with an index, this says what
        return {**told, "why_not": f"{reason(error)}; {_MEND}"}


def _verified(call: Call) -> JSONObject:
    from cortex.index.proof import prove

    with pin(call.memory_root()) as root, open_index(root.descriptor) as opened:
        if opened is None:
            raise not_found(_NO_INDEX)
        contents = prove(root, opened)
        return {
            "verified": True,
            "files": len(contents.files),
            "records": len(contents.records),
            "canonical_sha256": opened.manifest.canonical_sha256,
            "index_sha256": opened.manifest.index_sha256,
            "adopted": opened.adoption is not None,
        }


def _request(call: Call) -> Request:
    return Request(call.command.name, operator_of(call), call.now())


def _proving(call: Call, root: PinnedRoot, request: Request) -> Callable[[Candidate], Adoption]:
    """Return what holds an index against the report of `--adopt`."""
    from cortex.index.evidence import adopt_by, read_report

    report = read_report(call.options["--adopt"])

    def prove(candidate: Candidate) -> Adoption:
        try:
            return adopt_by(report, call.options.get("--labels"), root, candidate, request)
        except IndexDoubtError as error:
            raise refused(f"the memory changed while its index was built: {error}; try again") from error

    return prove


def _described(store: Store, built: Built) -> JSONObject:
    contents, manifest = built.candidate.contents, built.manifest
    return {
        "path": f"{INDEX}/{manifest.index_path}",
        "files": len(contents.files),
        "records": len(contents.records),
        "corpus_bytes": sum(file.size for file in contents.files),
        "index_bytes": sum(file_sizes(store.root.descriptor)),
        "canonical_sha256": manifest.canonical_sha256,
        "index_sha256": manifest.index_sha256,
        "indexed_at": manifest.indexed_at,
        "adopted": built.is_adopted,
        **({} if built.is_adopted else {"next": _ADOPT}),
        "warnings": list(built.warnings),
    }


def _index(root: PinnedRoot, opened: OpenIndex) -> JSONObject:
    table, manifest = opened.lexical.table, opened.manifest
    return {
        "path": f"{INDEX}/{manifest.index_path}",
        "files": table.files,
        "records": table.records,
        "bytes": sum(file_sizes(root.descriptor)),
        "canonical_sha256": manifest.canonical_sha256,
        "index_sha256": manifest.index_sha256,
        "indexed_at": manifest.indexed_at,
    }


def _count_changed(root: PinnedRoot, opened: OpenIndex) -> int:
    """Return how many files are new, gone, or not surely as they were."""
    found = survey(root)
    _, changed = compare(opened.lexical, found)
    gone = set(opened.lexical.paths) - {file.path for file in found.files}
    return len(changed) + len(gone)
