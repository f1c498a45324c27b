"""`mend`: the way back from damaged evidence. Lines that prove nothing move aside; nothing is deleted.

Malformed lines, and in the queue rows without a status, go to `<log>.malformed-<time>` beside the log. So does a row of
a shape that proves nothing, where its number is named. A sound row never moves, whatever it says: evidence of a failure
is evidence. An audit row tells the health check how many rows are gone, and why.
"""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from cortex.errors import invalid, not_found
from cortex.layout import CORTEX, MEMORY_BELOW_ROOT, OBSERVABILITY, PROPOSAL_QUEUE, RETRIEVAL_LOG, REVIEWER_LOG
from cortex.store.audit import NOTES_LOG, WRITES_LOG, append_row
from cortex.store.files import refused
from cortex.store.governor import Act, Change, explained, govern, hash_of, settled_state
from cortex.store.store import Store
from cortex.strict_json import StrictJSONError, loads
from policies.limits import MALFORMED_LINES_LISTED, ROW_MAX_BYTES
from policies.shapes import proposal_status, retrieval_time, reviewer_status, reviewer_time

ACT: Final = "mend"
_BLANK: Final = b" \t\r"
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_FOLDERS: Final = (OBSERVABILITY, CORTEX)

Row = dict[str, object]


class Mending(NamedTuple):
    """What a log is split into: `kept` stays, `moved` goes aside; `lines` are the numbers of what goes, from 1."""

    kept: bytes
    moved: bytes
    lines: tuple[int, ...]


class Mended(NamedTuple):
    """What was, or would be, moved, and to where (None where there was nothing to move)."""

    log: str
    lines: tuple[int, ...]
    moved_to: str | None
    warnings: tuple[str, ...] = ()


def find_log(store: Store, sent: str) -> str:
    """Return a log as a name within the memory.

    Args:
        store: The memory.
        sent: Its name, its path within the memory root or home, or its absolute path.

    Raises:
        CortexError: `invalid_input` for what is no log of evidence.
    """
    path = sent
    for folder in (store.root.path, f"{store.home}/{MEMORY_BELOW_ROOT[-1]}", store.home):
        path = path.removeprefix(f"{folder}/")
    nested = path.removeprefix(f"{MEMORY_BELOW_ROOT[-1]}/")
    path = nested if nested.startswith(tuple(f"{folder}/" for folder in _FOLDERS)) else path
    path = path if "/" in path else f"{OBSERVABILITY}/{path}"
    parts = path.split("/")
    if parts[0] not in _FOLDERS or not path.endswith(".jsonl") or any(part in ("", ".", "..") for part in parts):
        raise invalid(f"mend takes a .jsonl log below {' or '.join(_FOLDERS)}")
    return path


def mend(store: Store, act: Act, row: int | None) -> Mended:
    """Move what proves nothing out of a log.

    Args:
        store: The memory.
        act: The act on the log.
        row: The number of a row of an invalid shape that is to go as well.

    Raises:
        CortexError: `not_found` where there is no such log or row; `governance_refused` for a row that is sound.
    """
    act = act._replace(log=NOTES_LOG if act.path == WRITES_LOG else WRITES_LOG, with_snapshot=False)
    with explained(), store.locks.hold(act.path) as lock:
        mending = split(act.path, _there(act.path, settled_state(store, act, lock).data), row)
        if not mending.lines:
            return Mended(act.path, (), None)
        aside, warnings = _set_aside(store, act, mending.moved)
        audit = {"lines": mending.lines[:MALFORMED_LINES_LISTED], "moved_to": aside, "reason": "malformed"}

        def plan(data: bytes | None) -> Change:
            again = split(act.path, _there(act.path, data), row)
            if again.moved != mending.moved:
                raise refused(f"{act.path} was changed by somebody else meanwhile; try again")
            return Change(again.kept, len(again.lines), audit)

        written = govern(store, act, plan)
        return Mended(act.path, mending.lines, aside, (*warnings, *written.warnings))


def preview(store: Store, act: Act, row: int | None) -> Mended:
    """Tell what `mend` would move; writes nothing."""
    from cortex.store.files import read_state

    with explained(), store.place(act.path) as place:
        data = None if place is None else read_state(place.folder, place.name).data
    mending = split(act.path, _there(act.path, data), row)
    return Mended(act.path, mending.lines, f"{act.path}.malformed-{act.stamp}" if mending.lines else None)


def accept_loss(store: Store, act: Act) -> None:
    """Write down an operator's word that a log is as it is for a good reason. The log itself is not touched."""
    with explained(), store.locks.hold(act.path) as lock:
        data = settled_state(store, act, lock).data
        size = len(data or b"")
        row: Mapping[str, object] = {
            "ts": act.ts,
            "act": act.name,
            "actor": act.actor,
            "state": "done",
            "path": act.path,
            "hash_before": hash_of(data),
            "hash_after": hash_of(data),
            "bytes_before": size,
            "bytes_after": size,
            "rows_removed": 0,
            "reason": "accept-loss",
        }
        append_row(store, act.log or WRITES_LOG, row, sync=True)


def split(log: str, data: bytes, row: int | None) -> Mending:
    """Split a log into what stays and what goes. Pure.

    Raises:
        CortexError: `not_found` where no row has that number; `governance_refused` where it is sound.
    """
    body = data.removeprefix(_BYTE_ORDER_MARK)
    lines = body.split(b"\n")
    if row is not None and (row > len(lines) or not lines[row - 1].strip(_BLANK)):
        raise not_found(f"{log} has no row in line {row}")
    proves_nothing = _INVALID.get(log, _never)
    going = []
    for number, line in enumerate(lines, 1):
        if not line.strip(_BLANK):
            continue
        value = _row(line)
        if value is None or (log == _QUEUE and proposal_status(value) is None):
            going.append(number)
        elif number == row:
            if not proves_nothing(value):
                raise refused(f"line {row} of {log} is a sound row: evidence is not moved")
            going.append(number)
    gone = set(going)
    kept = b"\n".join(line for number, line in enumerate(lines, 1) if number not in gone)
    if kept and not kept.endswith(b"\n") and going[-1:] == [len(lines)]:
        kept += b"\n"  # the torn last line took no line end with it
    moved = b"".join(lines[number - 1] + b"\n" for number in going)
    return Mending(data[: len(data) - len(body)] + kept, moved, tuple(going))


def _set_aside(store: Store, act: Act, moved: bytes) -> tuple[str, tuple[str, ...]]:
    """Write the moved lines to a file of their own; return its name."""
    number = 1
    while True:
        aside = f"{act.path}.malformed-{act.stamp}" + (f"-{number}" if number > 1 else "")
        to_aside = act._replace(path=aside, log=None, guard=act.path)
        written = govern(store, to_aside, lambda data: Change(moved) if data is None else None)
        if written.changed:
            return aside, written.warnings
        number += 1


def _there(log: str, data: bytes | None) -> bytes:
    if data is None:
        raise not_found(f"there is no {log}")
    return data


def _row(line: bytes) -> Row | None:
    if len(line) > ROW_MAX_BYTES:
        return None
    try:
        value = loads(line)
    except StrictJSONError:
        return None
    return value if isinstance(value, dict) else None


def _is_no_review(row: Row) -> bool:
    return reviewer_status(row) == "invalid" or reviewer_time(row) is None


def _is_no_retrieval(row: Row) -> bool:
    return retrieval_time(row) is None


def _never(_: Row) -> bool:
    return False


_QUEUE: Final = f"{OBSERVABILITY}/{PROPOSAL_QUEUE}"
_INVALID: Final[dict[str, Callable[[Row], bool]]] = {
    f"{OBSERVABILITY}/{REVIEWER_LOG}": _is_no_review,
    f"{OBSERVABILITY}/{RETRIEVAL_LOG}": _is_no_retrieval,
}
