"""Evidence in which all is well, built by hand: change one part of it, and the case is made."""

from typing import Any, Final

from msgspec.structs import replace
from support.health_tree import HOUR, MINUTE, NOW

from healthcheck.evaluate import Assessment, evaluate
from healthcheck.evidence import (
    AdoptedIndex,
    CorpusEvidence,
    Evidence,
    HistoryEvidence,
    HotFile,
    HotMemoryEvidence,
    Malformed,
    Missing,
    ObservabilityEvidence,
    Observed,
    ProposalEvidence,
    RatchetEvidence,
    RetentionEvidence,
    RetrievalEvidence,
    RetrievalRow,
    ReviewerEvidence,
    ReviewerRow,
    RunFolders,
    SetupEvidence,
)
from healthcheck.judgement import Limits
from healthcheck.report import Report
from policies.thresholds import effective_thresholds

LIMITS: Final[Limits] = effective_thresholds({})[0]
NONE: Final = Malformed()


def reviewer(**changes: Any) -> Observed[ReviewerEvidence]:
    """The reviewer's evidence: one success an hour ago, or what `changes` make of it."""
    row = ReviewerRow(line=1, status="ok", ended_at=NOW - HOUR)
    green = ReviewerEvidence("O/reviewer.jsonl", "O/runs", 1, NONE, row, RunFolders(), RunFolders())
    return Observed(replace(green, **changes))


def reviewed(status: str = "ok", age: int | None = HOUR, error: str | None = None) -> ReviewerRow:
    """A last row of the reviewer's log."""
    return ReviewerRow(7, status, None if age is None else NOW - age, error)  # type: ignore[arg-type]


def runs(*ages: int, with_parse_error: int = 0) -> RunFolders:
    """Run folders that began so long before now."""
    times = sorted(NOW - age for age in ages)
    return RunFolders(len(times), times[0], times[-1], with_parse_error)


def retrieval(**changes: Any) -> Observed[RetrievalEvidence]:
    """The retrieval log: one row of five minutes ago."""
    row = RetrievalRow(line=3, valid=True, retrieved_at=NOW - 5 * MINUTE)
    return Observed(replace(RetrievalEvidence("O/retrievals.jsonl", 3, NONE, row), **changes))


def retrieved(age: int | None, valid: bool = True) -> RetrievalRow:
    """A last row of the retrieval log."""
    return RetrievalRow(3, valid, None if age is None else NOW - age)


def proposals(**changes: Any) -> Observed[ProposalEvidence]:
    """The proposal queue: three rows, one pending."""
    return Observed(replace(ProposalEvidence("O/proposals.jsonl", 3, 1, NONE, NONE), **changes))


def logs(**changes: Any) -> Observed[ObservabilityEvidence]:
    """Three logs, the oldest an hour old."""
    green = ObservabilityEvidence("O", 3, 600, NOW - HOUR, "O/old.log", NOW - MINUTE, "O/new.log")
    return Observed(replace(green, **changes))


def index(**changes: Any) -> Observed[AdoptedIndex]:
    """An adopted index of an hour ago that matches."""
    green = AdoptedIndex("I/manifest.json", "I/index", NOW - HOUR, "a" * 64, "a" * 64, "b" * 64, "b" * 64)
    return Observed(replace(green, **changes))


def hot_memory(entries: int = 3, *, markers_sound: bool = True) -> Observed[HotMemoryEvidence]:
    """One hot file, its markers sound."""
    return Observed(HotMemoryEvidence((HotFile("U/PRINCIPAL_MEMORY.md", entries, markers_sound),)))


def retention(**changes: Any) -> Observed[RetentionEvidence]:
    """Four levelled notes, none of them marked."""
    return Observed(replace(RetentionEvidence(4, 0), **changes))


def evidence(**changes: Any) -> Evidence:
    """All of it, in order."""
    green: dict[str, Any] = {
        "setup": SetupEvidence(),
        "policy": Missing("no policy"),
        "reviewer": reviewer(),
        "retrieval": retrieval(),
        "proposals": proposals(),
        "observability": logs(),
        "index": index(),
        "hot_memory": hot_memory(),
        "retention": retention(),
        "corpus": Observed(CorpusEvidence("KNOWLEDGE", 2, 50, 0)),
        "ratchet": Observed(RatchetEvidence()),
        "noise": Missing("no ledger"),
        "history": Observed(HistoryEvidence("O/memory-health.jsonl", 10)),
    }
    return Evidence(**(green | changes))


def judged(limits: Limits = LIMITS, now: int = NOW, history_skipped: str | None = None, **changes: Any) -> Assessment:
    """The verdict on green evidence with `changes`."""
    return evaluate(evidence(**changes), limits, now, history_skipped)


def found(assessment: Assessment) -> list[str]:
    """The ids of the findings, in their order."""
    return [finding.id for finding in assessment.findings]


def report(name: str = "default", limits: Limits = LIMITS, **changes: Any) -> Report:
    """A report on green evidence with `changes`."""
    collected = evidence(**changes)
    return Report(name, "/r/LIFEOS", "/r/LIFEOS/MEMORY", NOW, limits, collected, evaluate(collected, limits, NOW))
