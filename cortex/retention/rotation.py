"""Which rows of a live log may go into its archive. Pure.

The last row stays, every row of the last seven days, every pending proposal, every write that is under way, and
whatever cannot be read or dated: only what is proven to be old goes.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from cortex.layout import (
    HEALTH_HISTORY,
    MEMORY_WRITES,
    NOTE_WRITES,
    PROPOSAL_QUEUE,
    RETRIEVAL_LOG,
    REVIEWER_LOG,
)
from cortex.strict_json import StrictJSONError, loads
from policies.shapes import reviewer_time
from policies.timestamps import parse_timestamp
from policies.units import DAY_MS

STAYS_MS: Final = 7 * DAY_MS
# Logs, by name below OBSERVABILITY, that somebody still writes: they are never taken away, only shortened.
LIVE_LOGS: Final = (
    REVIEWER_LOG,
    RETRIEVAL_LOG,
    PROPOSAL_QUEUE,
    HEALTH_HISTORY,
    MEMORY_WRITES,
    NOTE_WRITES,
    "tool-activity.jsonl",
    "tool-failures.jsonl",
    "hook-errors.log",
    "hook-errors.jsonl",
)
_AUDITS: Final = (MEMORY_WRITES, NOTE_WRITES)
_TIME_KEYS: Final = ("ts", "timestamp", "generated_at")

Ranges = Sequence[Sequence[int]]


def older_rows(name: str, data: bytes, now: int) -> list[tuple[int, int]]:
    """Return the rows that may go, as ranges of line numbers: from 0, the end not included."""
    lines = data.split(b"\n")
    last = max((number for number, line in enumerate(lines) if line.strip(b" \t\r")), default=-1)
    open_writes = _open_writes(lines) if name in _AUDITS else frozenset()
    ranges: list[tuple[int, int]] = []
    for number, line in enumerate(lines[: max(last, 0)]):
        if number in open_writes or not _is_old(name, line, now - STAYS_MS):
            continue
        if ranges and ranges[-1][1] == number:
            ranges[-1] = (ranges[-1][0], number + 1)
        else:
            ranges.append((number, number + 1))
    return ranges


def split_at(data: bytes, ranges: Ranges) -> tuple[bytes, bytes]:
    """Return what of a log stays and what goes, each line with its line end."""
    lines = _lines(data)
    gone = {number for start, end in ranges for number in range(start, end)}
    kept = b"".join(line for number, line in enumerate(lines) if number not in gone)
    return kept, b"".join(line for number, line in enumerate(lines) if number in gone)


def merge(kept: bytes, older: bytes, ranges: Ranges) -> bytes:
    """Return the log that `split_at` split."""
    stayed, went = iter(_lines(kept)), iter(_lines(older))
    gone = {number for start, end in ranges for number in range(start, end)}
    total = len(_lines(kept)) + len(gone)
    return b"".join(next(went if number in gone else stayed, b"") for number in range(total))


def _lines(data: bytes) -> list[bytes]:
    """Split at LF alone, each line with its line end."""
    lines = [line + b"\n" for line in data.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _is_old(name: str, line: bytes, limit: int) -> bool:
    row = _row(line)
    if row is None:
        at = _leading_time(line) if name.endswith(".log") else None
    elif name == REVIEWER_LOG:
        at = reviewer_time(row)
    elif name == PROPOSAL_QUEUE and row.get("status") == "pending":
        return False
    else:
        at = _time(row)
    return at is not None and at < limit


def _time(row: Mapping[str, Any]) -> int | None:
    for key in _TIME_KEYS:
        value = row.get(key)
        if isinstance(value, str):
            return parse_timestamp(value)
    return None


def _leading_time(line: bytes) -> int | None:
    first = line.split(b" ", 1)[0].decode(errors="replace")
    return parse_timestamp(first.strip("[]"))


def _row(line: bytes) -> dict[str, Any] | None:
    try:
        row = loads(line)
    except StrictJSONError:
        return None
    return row if isinstance(row, dict) else None


def _open_writes(lines: Sequence[bytes]) -> frozenset[int]:
    """Return the rows that are the last of their path and say that a write is under way."""
    last: dict[str, tuple[int, bool]] = {}
    for number, line in enumerate(lines):
        row = _row(line) if b'"state"' in line else None
        if row is not None and isinstance(row.get("path"), str):
            last[row["path"]] = (number, row.get("state") == "intent")
    return frozenset(number for number, is_open in last.values() if is_open)
