"""Is any evidence less than it was? What the history recorded of each log, what the audit says since, and the logs."""

import os
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Final, TypeVar

import msgspec

from cortex.layout import HEALTH_HISTORY, MEMORY_WRITES, PROPOSAL_QUEUE, RETRIEVAL_LOG, REVIEWER_LOG
from cortex.places import Layout
from healthcheck.collectors.folder import open_log, shown
from healthcheck.evidence import (
    Collected,
    LogLoss,
    Observed,
    ProposalEvidence,
    RatchetEvidence,
    RetrievalEvidence,
    ReviewerEvidence,
)
from healthcheck.ratchet import LOGS, AuditRow, LogNow, Mark, RecordedRun, accounted, below, kept, raised
from policies.limits import ROW_MAX_BYTES

T = TypeVar("T")
_BLOCK: Final = 1 << 20


def collect_ratchet(
    layout: Layout,
    reviewer: Collected[ReviewerEvidence],
    retrieval: Collected[RetrievalEvidence],
    proposals: Collected[ProposalEvidence],
) -> Collected[RatchetEvidence]:
    """Compare each evidence log with the highest state that the history has of it; without history there is none."""
    marks, audited = _recorded(layout)
    audits = _rows(layout, MEMORY_WRITES, audited, msgspec.json.Decoder(AuditRow))
    marks, touched = accounted(marks, audits)
    times = _last_times(reviewer, retrieval)
    ids = frozenset(proposals.value.digests if isinstance(proposals, Observed) else ())
    losses = [
        loss for name in LOGS if name in marks and (loss := _loss(layout, name, marks[name], times.get(name), ids))
    ]
    lost = {loss.log for loss in losses}
    known = marks[PROPOSAL_QUEUE].ids if PROPOSAL_QUEUE in marks and PROPOSAL_QUEUE not in touched else frozenset()
    return Observed(
        RatchetEvidence(
            losses=tuple(losses),
            reset=tuple(sorted(touched - lost)),
            new_digests=tuple(sorted(ids - known)),
            marks={name: kept(marks[name]) for name in sorted(lost)},
        )
    )


def _recorded(layout: Layout) -> tuple[dict[str, Mark], int]:
    """Return the marks that the history leaves, and how long the audit was at its last row."""
    marks: dict[str, Mark] = {}
    audited = 0
    before = RecordedRun()
    for row in _rows(layout, HEALTH_HISTORY, 0, msgspec.json.Decoder(RecordedRun)):
        if row.logs != before.logs or row.reset or row.marks != before.marks:  # most runs find what the last one found
            marks = raised(marks, row)
        audited = audited if row.audit_bytes is None else row.audit_bytes
        before = row
    return marks, audited


def _last_times(
    reviewer: Collected[ReviewerEvidence], retrieval: Collected[RetrievalEvidence]
) -> Mapping[str, int | None]:
    times: dict[str, int | None] = {}
    if isinstance(reviewer, Observed) and reviewer.value.last:
        times[REVIEWER_LOG] = reviewer.value.last.ended_at
    if isinstance(retrieval, Observed) and retrieval.value.last:
        times[RETRIEVAL_LOG] = retrieval.value.last.retrieved_at
    return times


def _rows(layout: Layout, name: str, start: int, decoder: msgspec.json.Decoder[T]) -> Iterator[T]:
    """Yield the rows of a log from an offset on; what is no row of the shape is no row. Nothing where it is shorter."""
    descriptor = open_log(layout, name)
    if not isinstance(descriptor, int):
        return
    with os.fdopen(descriptor, "rb", _BLOCK) as file:
        file.seek(start)
        while line := file.readline(ROW_MAX_BYTES):
            try:
                yield decoder.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                continue


def _loss(layout: Layout, name: str, mark: Mark, last_at: int | None, ids: frozenset[str]) -> LogLoss | None:
    now = _look(layout, name, mark.head_bytes, last_at, ids)
    found = below(name, mark, now)
    if not found.ways:
        return None
    return LogLoss(
        log=name,
        path=shown(layout, layout.observability / name),
        ways=found.ways,
        recorded_bytes=mark.size_bytes,
        size_bytes=now.size_bytes if now else None,
        ids_gone=found.ids_gone,
    )


def _look(layout: Layout, name: str, head_bytes: int, last_at: int | None, ids: frozenset[str]) -> LogNow | None:
    descriptor = open_log(layout, name)
    if not isinstance(descriptor, int):
        return None
    try:
        size = os.fstat(descriptor).st_size
        return LogNow(size, sha256(os.pread(descriptor, head_bytes, 0)).hexdigest(), last_at, ids)
    except OSError:
        return None
    finally:
        os.close(descriptor)
