"""What a run says, as one value; every format is made from it. Same evidence, same now: the same report. Pure."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from healthcheck.checks import CheckStatus, Severity
from healthcheck.course import PastRun
from healthcheck.evaluate import Assessment
from healthcheck.evidence import AdoptedIndex, Evidence, NoIndex, Observed, RetrievalEvidence, ReviewerEvidence
from healthcheck.news import NOTHING, Notices
from policies.thresholds import EffectiveThreshold


class Report(NamedTuple):
    """One run: who was judged, by which time and limits, on what evidence, the verdict, and what is news.

    `home` and `memory_root` are absolute; every other path in it is relative to home. `now` is in milliseconds.
    """

    name: str
    home: str
    memory_root: str
    now: int
    thresholds: Mapping[str, EffectiveThreshold]
    evidence: Evidence
    assessment: Assessment
    notices: Notices = NOTHING

    @property
    def overall(self) -> Severity:
        """The worst severity; also what the run exits with."""
        return self.assessment.overall

    def counts(self) -> dict[CheckStatus, int]:
        """Return how many checks have each status, every status named."""
        statuses = [result.status for result in self.assessment.checks]
        return {status: statuses.count(status) for status in STATUSES}


def as_past_run(report: Report) -> PastRun:
    """Return a run as the history will remember it."""
    findings = tuple(f"{found.check}::{found.id}" for found in report.assessment.findings)
    return PastRun(report.now, report.overall, findings)


STATUSES: Final[tuple[CheckStatus, ...]] = ("ok", "warn", "critical", "not-enabled", "skipped")


class Measures(NamedTuple):
    """The numbers of a run, for metrics, performance data and history; None where nothing was measured.

    Instants (`..._at`) are milliseconds since 1970.
    """

    reviewer_at: int | None = None
    retrieval_at: int | None = None
    proposals_pending: int | None = None
    observability_bytes: int | None = None
    observability_files: int | None = None
    observability_oldest_at: int | None = None
    observability_newest_at: int | None = None
    index_at: int | None = None
    corpus_files: int | None = None
    corpus_bytes: int | None = None


def measures(evidence: Evidence) -> Measures:
    """Return what was measured."""
    found: dict[str, int | None] = {}
    if isinstance(evidence.reviewer, Observed):
        found["reviewer_at"] = _reviewed_at(evidence.reviewer.value)
    if isinstance(evidence.retrieval, Observed):
        found["retrieval_at"] = _retrieved_at(evidence.retrieval.value)
    if isinstance(evidence.proposals, Observed):
        found["proposals_pending"] = evidence.proposals.value.pending
    if isinstance(evidence.observability, Observed):
        logs = evidence.observability.value
        found |= {"observability_bytes": logs.size_bytes, "observability_files": logs.files}
        found |= {"observability_oldest_at": logs.oldest_at, "observability_newest_at": logs.newest_at}
    if isinstance(evidence.index, Observed):
        found["index_at"] = _indexed_at(evidence.index.value)
    if isinstance(evidence.corpus, Observed):
        found |= {"corpus_files": evidence.corpus.value.files, "corpus_bytes": evidence.corpus.value.size_bytes}
    return Measures(**found)


def _reviewed_at(reviewer: ReviewerEvidence) -> int | None:
    return reviewer.last.ended_at if reviewer.last else None


def _retrieved_at(retrieval: RetrievalEvidence) -> int | None:
    return retrieval.last.retrieved_at if retrieval.last else None


def _indexed_at(index: NoIndex | AdoptedIndex) -> int | None:
    return index.indexed_at if isinstance(index, AdoptedIndex) else None
