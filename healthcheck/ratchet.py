"""The ratchet: the highest state ever recorded of each evidence log, and what is below it now. Pure.

1. History rows raise a mark; a row that found its log below the mark keeps the mark and raises nothing.
2. An audit row later than the last history row lowers the mark by what it removed, and by no more: what was lost before
   it stays lost. The operator's word (`mend --accept-loss`) takes the log as it is.
3. The next history row after that is a new beginning (`reset`), so that older rows and audits are not needed again.
4. A log is below its mark where it is gone, smaller, begins otherwise, or ends earlier. The proposal queue is rewritten
   whenever a proposal is decided: it is below its mark where it is gone or lacks an id.
"""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from hashlib import sha256
from typing import Final, NamedTuple

from msgspec import Struct

from cortex.layout import OBSERVABILITY, PROPOSAL_QUEUE, RETRIEVAL_LOG, REVIEWER_LOG
from healthcheck.evidence import KeptMark
from policies.timestamps import format_instant, parse_timestamp

LOGS: Final = (REVIEWER_LOG, RETRIEVAL_LOG, PROPOSAL_QUEUE)
DIGEST_CHARACTERS: Final = 12
ACCEPTED: Final = "accept-loss"


class RecordedLog(Struct, frozen=True):
    """A log as a history row has it; what rows of an older version lack has a default."""

    size_bytes: int = 0
    last_row_at: str | None = None
    head_bytes: int = 0
    head_sha256: str = ""
    ids_added: tuple[str, ...] = ()


class RecordedRun(Struct, frozen=True):
    """A history row, as far as the ratchet needs it."""

    ts: str = ""
    audit_bytes: int | None = None
    reset: tuple[str, ...] = ()
    marks: dict[str, KeptMark] = {}
    logs: dict[str, RecordedLog | None] = {}


class AuditRow(Struct, frozen=True):
    """A row of the audit of writes, as far as the ratchet needs it."""

    state: str = ""
    path: str = ""
    hash_after: str | None = None
    bytes_before: int = 0
    bytes_after: int = 0
    reason: object = None


class Mark(NamedTuple):
    """The highest state recorded of a log. `is_there` is False where a write removed it lawfully."""

    size_bytes: int
    last_at: int | None = None
    head_bytes: int = 0
    head_sha256: str = ""
    ids: frozenset[str] = frozenset()
    is_there: bool = True
    was_below: bool = False


class LogNow(NamedTuple):
    """A log as it is: its size, the hash of its first bytes as a mark wants them, its last time, its ids."""

    size_bytes: int
    head_sha256: str
    last_at: int | None
    ids: AbstractSet[str]


class Below(NamedTuple):
    """In which ways a log is below its mark."""

    ways: tuple[str, ...]
    ids_gone: int = 0


Marks = dict[str, Mark]


def digest_of(proposal: object) -> str | None:
    """Return what the history keeps of a proposal's id, None where it is no string."""
    if not isinstance(proposal, str):
        return None
    return sha256(proposal.encode(errors="surrogatepass")).hexdigest()[:DIGEST_CHARACTERS]


def raised(marks: Mapping[str, Mark], row: RecordedRun) -> Marks:
    """Return the marks after a history row."""
    after = {name: mark for name, mark in marks.items() if name not in row.reset}
    for name in LOGS:
        log = row.logs.get(name)
        if name in row.marks:
            after[name] = after.get(name, _held(row.marks[name]))._replace(was_below=True)
        elif log is not None:
            after[name] = _raised(after.get(name, Mark(0)), log, row.ts)
    return after


def _held(kept: KeptMark) -> Mark:
    last_at = parse_timestamp(kept.last_row_at or "")
    return Mark(kept.size_bytes, last_at, kept.head_bytes, kept.head_sha256, frozenset(kept.ids))


def kept(mark: Mark) -> KeptMark:
    """Return a mark as a history row keeps it."""
    last_at = None if mark.last_at is None else format_instant(mark.last_at)
    return KeptMark(mark.size_bytes, last_at, mark.head_bytes, mark.head_sha256, tuple(sorted(mark.ids)))


def _raised(mark: Mark, log: RecordedLog, ts: str) -> Mark:
    longer = log.head_bytes > mark.head_bytes
    return Mark(
        size_bytes=max(mark.size_bytes, log.size_bytes),
        last_at=max((at for at in (mark.last_at, _time(log.last_row_at, ts)) if at is not None), default=None),
        head_bytes=log.head_bytes if longer else mark.head_bytes,
        head_sha256=log.head_sha256 if longer else mark.head_sha256,
        ids=mark.ids | set(log.ids_added),
    )


def _time(last_row_at: str | None, ts: str) -> int | None:
    """Return the time of a last row; one that was ahead of its run proves nothing, and would never be reached."""
    at, run_at = (parse_timestamp(text or "") for text in (last_row_at, ts))
    return at if at is not None and run_at is not None and at <= run_at else None


def accounted(marks: Mapping[str, Mark], rows: Iterable[AuditRow]) -> tuple[Marks, frozenset[str]]:
    """Return the marks after the audit rows since the last history row, and which logs these are about."""
    after, touched = dict(marks), set()
    for row in rows:
        name = row.path.removeprefix(f"{OBSERVABILITY}/")
        is_rewritten = name == PROPOSAL_QUEUE and row.reason != ACCEPTED and row.hash_after is not None
        if row.state == "done" and name in after and not is_rewritten:
            after[name] = _accounted(after[name], row)
            touched.add(name)
    return after, frozenset(touched)


def _accounted(mark: Mark, row: AuditRow) -> Mark:
    is_there = row.hash_after is not None
    if row.reason == ACCEPTED:
        return Mark(row.bytes_after, is_there=is_there)
    size = max(mark.size_bytes, row.bytes_before) - (row.bytes_before - row.bytes_after)
    if mark.was_below:
        return mark._replace(size_bytes=size)
    return mark._replace(size_bytes=size, head_bytes=0, head_sha256="", is_there=is_there)


def below(name: str, mark: Mark, now: LogNow | None) -> Below:
    """Return in which ways a log, None where it is gone or cannot be read, is below its mark."""
    if not mark.is_there:
        return Below(())
    if now is None:
        return Below(("gone",))
    if name == PROPOSAL_QUEUE:
        gone = len(mark.ids - now.ids)
        return Below(("ids",) if gone else (), gone)
    is_earlier = mark.last_at is not None and now.last_at is not None and now.last_at < mark.last_at
    ways = {
        "smaller": now.size_bytes < mark.size_bytes,
        "head": now.size_bytes >= mark.head_bytes and now.head_sha256 != mark.head_sha256 and mark.head_bytes > 0,
        "earlier": is_earlier,
    }
    return Below(tuple(way for way, holds in ways.items() if holds))
