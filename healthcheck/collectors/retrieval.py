"""Is the memory still being asked? The last row of the retrieval log."""

from cortex.layout import RETRIEVAL_LOG
from cortex.places import Layout
from healthcheck.collectors.folder import read_evidence_log, shown
from healthcheck.collectors.rows import Log, Row
from healthcheck.evidence import Collected, Observed, RetrievalEvidence, RetrievalRow
from policies.shapes import retrieval_time


def collect_retrieval(layout: Layout) -> Collected[RetrievalEvidence]:
    """Read the retrieval log."""
    log = read_evidence_log(layout, RETRIEVAL_LOG)
    if not isinstance(log, Log):
        return log
    path = shown(layout, layout.observability / RETRIEVAL_LOG)
    return Observed(RetrievalEvidence(path, log.rows, log.malformed, _judged(log.last)))


def _judged(last: Row | None) -> RetrievalRow | None:
    if last is None:
        return None
    retrieved_at = retrieval_time(last.value)
    return RetrievalRow(last.line, retrieved_at is not None, retrieved_at)
