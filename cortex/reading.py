"""The commands that read whole memories and whole records: status, get, export, rebuild.

Each reads the whole corpus first, so that an unsound one refuses alike whatever was asked; then it judges the values
of its options; then it says what is not there.
"""

from typing import Final

from cortex.answering import answer
from cortex.arguments import Call
from cortex.corpus.record import exported
from cortex.envelope import JSONObject
from cortex.errors import CortexError, not_found
from cortex.memory import Memory
from cortex.retrieval.filters import valid_records
from cortex.sound import count_notes, second_reading, sound_corpus

EXPORT_FORMAT: Final = "lifeos-cortex-export/v1"
REBUILD_FORMAT: Final = "lifeos-cortex-canonical-rebuild/v1"


def status(call: Call) -> JSONObject:
    """Count the records of the memory: all of them, valid now or not."""
    return answer(call, _status)


def _status(_: Call, memory: Memory) -> JSONObject:
    return {
        "canonical": {"root": memory.root, "records": len(memory)},
        "mode": "local-read-only",
        "indexes": list(memory.indexes),
        "notes": count_notes(memory.notes),
    }


def get(call: Call) -> JSONObject:
    """Read records in full, in the order asked; all or none."""
    corpus = sound_corpus(call)
    by_id = {record.id: record for record in valid_records(corpus.records, call.now())}
    missing = [record_id for record_id in call.positionals if record_id not in by_id]
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise not_found(f"no record that is valid now has the id {missing[0]!r}{more}; nothing was read")
    return {"format": EXPORT_FORMAT, "items": [exported(by_id[record_id]) for record_id in call.positionals]}


# To keep a record elsewhere is to read it: no file is created.
export = get


def rebuild(call: Call) -> JSONObject:
    """Read the files twice, the second time independently and in another order, and compare the digests."""
    if call.host.may_fork:
        from cortex.second_core import both

        (count, canonical), rebuilt = both(lambda: _first_digest(call), lambda: _second_digest(call))
    else:
        (count, canonical), rebuilt = _first_digest(call), _second_digest(call)
    if canonical != rebuilt:
        raise CortexError("integrity_error", "two readings of the canonical files differ: were they being written?")
    return {
        "format": REBUILD_FORMAT,
        "canonical_digest": canonical.decode(),
        "rebuilt_digest": rebuilt.decode(),
        "equivalent": True,
        "records": count,
        "indexes": [],
    }


def _first_digest(call: Call) -> tuple[int, bytes]:
    from cortex.corpus.digest import canonical_digest

    records = sound_corpus(call).records
    return len(records), canonical_digest(records).encode()


def _second_digest(call: Call) -> bytes:
    from cortex.corpus.digest import canonical_digest

    return canonical_digest(second_reading(call)).encode()
