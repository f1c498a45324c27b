"""Every row of the table of checks, both sides of every limit, on evidence built by hand."""

from itertools import permutations
from typing import Any

import pytest
from support.green_evidence import (
    LIMITS,
    found,
    hot_memory,
    index,
    judged,
    logs,
    proposals,
    retention,
    retrieval,
    retrieved,
    reviewed,
    reviewer,
    runs,
)
from support.health_tree import DAY, HOUR, MINUTE, NOW

from healthcheck.checks import CATALOGUE, CHECKS, FINDINGS, Severity
from healthcheck.evaluate import worst
from healthcheck.evidence import (
    CorpusEvidence,
    LogLoss,
    Malformed,
    Missing,
    NoIndex,
    NoiseEvidence,
    NotEnabled,
    Observed,
    ProbeFailed,
    RatchetEvidence,
    RunFolders,
    SetupEvidence,
    SetupFault,
    ShapeFault,
    SilenceEvidence,
    Unreadable,
)
from policies.limits import MIB

LINE_9 = Malformed(1, (9,))
GONE = Missing("no such file")
LINK = Unreadable("O/x", "is a link")
CRASH = ProbeFailed("KeyError")
NO_ROW = {"rows": 0, "last": None}


def faults(*ids: str) -> SetupEvidence:
    return SetupEvidence(tuple(SetupFault(finding, f"{finding} happened.", finding) for finding in ids))


REVIEWER: list[tuple[str, dict[str, Any], list[str]]] = [
    ("a success", {}, []),
    ("a skip", {"last": reviewed("skipped")}, []),
    ("a failure", {"last": reviewed("failed")}, ["reviewer-latest-failed"]),
    ("an answer that did not parse", {"last": reviewed("parse-failed")}, ["reviewer-latest-parse-failed"]),
    ("a time-out", {"last": reviewed("timed-out")}, ["reviewer-latest-timed-out"]),
    ("a failure without a time", {"last": reviewed("failed", None)}, ["reviewer-latest-failed"]),
    ("an old failure", {"last": reviewed("failed", 90 * DAY)}, ["reviewer-latest-failed"]),
    ("a failure ahead of the clock", {"last": reviewed("failed", -1)}, ["reviewer-latest-failed"]),
    ("another shape", {"last": reviewed("invalid")}, ["reviewer-evidence-invalid"]),
    ("a success without a time", {"last": reviewed("ok", None)}, ["reviewer-evidence-invalid"]),
    ("a skip without a time", {"last": reviewed("skipped", None)}, ["reviewer-evidence-invalid"]),
    ("now itself", {"last": reviewed(age=0)}, []),
    ("1 ms ahead", {"last": reviewed(age=-1)}, ["reviewer-future"]),
    ("at the limit", {"last": reviewed(age=7 * DAY)}, []),
    ("1 ms past the limit", {"last": reviewed(age=7 * DAY + 1)}, ["reviewer-stale"]),
    ("a stale skip", {"last": reviewed("skipped", 7 * DAY + 1)}, ["reviewer-stale"]),
    ("a malformed line", {"malformed": LINE_9}, ["reviewer-latest-parse-failed"]),
    (
        "a malformed line before a hung run",
        {"malformed": LINE_9, "newer_runs": runs(DAY)},
        ["reviewer-latest-parse-failed"],
    ),
    ("a malformed line and no row", {"malformed": LINE_9, **NO_ROW}, ["reviewer-latest-parse-failed"]),
    ("no row", NO_ROW, ["reviewer-evidence-missing"]),
    ("no row, a run in its grace", {**NO_ROW, "all_runs": runs(MINUTE)}, ["reviewer-evidence-missing"]),
    ("no row, a hung run", {**NO_ROW, "all_runs": runs(DAY)}, ["reviewer-latest-timed-out"]),
    ("no row, a run ahead", {**NO_ROW, "all_runs": runs(-1)}, ["reviewer-future"]),
    ("no row, parse-error.txt", {**NO_ROW, "all_runs": runs(1, with_parse_error=1)}, ["reviewer-latest-parse-failed"]),
    ("a run at the grace", {"newer_runs": runs(10 * MINUTE)}, []),
    ("a run 1 ms past the grace", {"newer_runs": runs(10 * MINUTE + 1)}, ["reviewer-latest-timed-out"]),
    ("a hung run under one in its grace", {"newer_runs": runs(HOUR, 1)}, ["reviewer-latest-timed-out"]),
    ("a hung run under one ahead", {"newer_runs": runs(HOUR, -1)}, ["reviewer-latest-timed-out"]),
    ("a run ahead", {"newer_runs": runs(-1)}, ["reviewer-future"]),
    ("a run ahead of a stale row", {"last": reviewed(age=8 * DAY), "newer_runs": runs(-1)}, ["reviewer-future"]),
    (
        "a run in its grace saves no stale row",
        {"last": reviewed(age=8 * DAY), "newer_runs": runs(1)},
        ["reviewer-stale"],
    ),
    (
        "a run in its grace saves no failure",
        {"last": reviewed("failed"), "newer_runs": runs(1)},
        ["reviewer-latest-failed"],
    ),
    (
        "a hung run after a failure",
        {"last": reviewed("failed"), "newer_runs": runs(HOUR)},
        ["reviewer-latest-timed-out"],
    ),
    ("parse-error.txt in its grace", {"newer_runs": runs(1, with_parse_error=1)}, ["reviewer-latest-parse-failed"]),
    ("older runs do not count", {"all_runs": runs(DAY, with_parse_error=1), "newer_runs": RunFolders()}, []),
    (
        "all runs count under a row ahead",
        {"last": reviewed(age=-1), "all_runs": runs(DAY)},
        ["reviewer-latest-timed-out"],
    ),
    ("under an unreadable time", {"last": reviewed(age=None), "all_runs": runs(DAY)}, ["reviewer-latest-timed-out"]),
]


@pytest.mark.parametrize(("changes", "expected"), [pytest.param(*row[1:], id=row[0]) for row in REVIEWER])
def test_reviewer(changes: dict[str, Any], expected: list[str]) -> None:
    assert found(judged(reviewer=reviewer(**changes))) == expected


RETRIEVAL: list[tuple[str, dict[str, Any], list[str]]] = [
    ("five minutes ago", {}, []),
    ("now itself", {"last": retrieved(0)}, []),
    ("1 ms ahead", {"last": retrieved(-1)}, ["retrieval-future"]),
    ("at the limit", {"last": retrieved(DAY)}, []),
    ("1 ms past the limit", {"last": retrieved(DAY + 1)}, ["retrieval-stale"]),
    ("no row", NO_ROW, ["retrieval-missing"]),
    ("a malformed line", {"malformed": LINE_9}, ["retrieval-evidence-malformed"]),
    ("only a malformed line", {"malformed": LINE_9, **NO_ROW}, ["retrieval-evidence-malformed"]),
    ("another shape", {"last": retrieved(1, valid=False)}, ["retrieval-evidence-malformed"]),
    ("no time", {"last": retrieved(None)}, ["retrieval-evidence-malformed"]),
]


@pytest.mark.parametrize(("changes", "expected"), [pytest.param(*row[1:], id=row[0]) for row in RETRIEVAL])
def test_retrieval(changes: dict[str, Any], expected: list[str]) -> None:
    assert found(judged(retrieval=retrieval(**changes))) == expected


PROPOSALS: list[tuple[str, dict[str, Any], list[str]]] = [
    ("one pending", {}, []),
    ("an empty queue", {"rows": 0, "pending": 0}, []),
    ("at the limit", {"pending": 10}, []),
    ("past the limit", {"pending": 11}, ["proposal-backlog-high"]),
    ("a malformed line", {"malformed": LINE_9}, ["proposal-evidence-malformed"]),
    ("a row without a status", {"without_status": LINE_9}, ["proposal-evidence-malformed"]),
    ("both", {"malformed": LINE_9, "pending": 11}, ["proposal-backlog-high", "proposal-evidence-malformed"]),
]


@pytest.mark.parametrize(("changes", "expected"), [pytest.param(*row[1:], id=row[0]) for row in PROPOSALS])
def test_proposals(changes: dict[str, Any], expected: list[str]) -> None:
    assert found(judged(proposals=proposals(**changes))) == expected


OLD = {"oldest_at": NOW - 30 * DAY - 1}
OBSERVABILITY: list[tuple[str, dict[str, Any], list[str]]] = [
    ("three logs", {}, []),
    ("at the limit of bytes", {"size_bytes": 256 * MIB}, []),
    ("a byte past it", {"size_bytes": 256 * MIB + 1}, ["observability-bytes-exceeded"]),
    ("at the limit of age", {"oldest_at": NOW - 30 * DAY}, []),
    ("1 ms past it", OLD, ["observability-age-exceeded"]),
    ("written now", {"newest_at": NOW}, []),
    ("written 1 ms ahead", {"newest_at": NOW + 1}, ["observability-future"]),
    (
        "no logs",
        {"files": 0, "size_bytes": 0, "oldest_at": None, "newest_at": None},
        ["observability-evidence-missing"],
    ),
    (
        "nothing readable",
        {"files": 0, "size_bytes": 0, "oldest_at": None, "newest_at": None, "unreadable": ("O/sub",)},
        ["observability-evidence-invalid"],
    ),
    (
        "all at once",
        {**OLD, "newest_at": NOW + 1, "size_bytes": 256 * MIB + 1, "unreadable": ("O/sub",)},
        [
            "observability-age-exceeded",
            "observability-bytes-exceeded",
            "observability-evidence-invalid",
            "observability-future",
        ],
    ),
]


@pytest.mark.parametrize(("changes", "expected"), [pytest.param(*row[1:], id=row[0]) for row in OBSERVABILITY])
def test_observability(changes: dict[str, Any], expected: list[str]) -> None:
    assert found(judged(observability=logs(**changes))) == expected


INDEX: list[tuple[str, dict[str, Any], list[str]]] = [
    ("an index that matches", {}, []),
    ("other sources", {"measured_canonical_sha256": "c" * 64}, ["index-integrity-mismatch"]),
    ("another file", {"measured_index_sha256": "c" * 64}, ["index-integrity-mismatch"]),
    ("now itself", {"indexed_at": NOW}, []),
    ("1 ms ahead", {"indexed_at": NOW + 1}, ["index-freshness-invalid"]),
    ("at the limit", {"indexed_at": NOW - 7 * DAY}, []),
    ("1 ms past it", {"indexed_at": NOW - 7 * DAY - 1}, ["index-stale"]),
    (
        "ahead and another file",
        {"indexed_at": NOW + 1, "measured_index_sha256": "c" * 64},
        ["index-integrity-mismatch"],
    ),
]


@pytest.mark.parametrize(("changes", "expected"), [pytest.param(*row[1:], id=row[0]) for row in INDEX])
def test_index(changes: dict[str, Any], expected: list[str]) -> None:
    assert found(judged(index=index(**changes))) == expected


def test_no_index_on_purpose_is_healthy() -> None:
    assert found(judged(index=Observed(NoIndex("CORTEX_INDEX_POLICY.json")))) == []


def test_a_corpus_with_faults_is_unsound_and_they_are_named() -> None:
    fault = ShapeFault("KNOWLEDGE/l", "link", "is a link")
    assessment = judged(corpus=Observed(CorpusEvidence("KNOWLEDGE", 2, 50, 1, (fault,))))
    assert found(assessment) == ["corpus-unsound"]
    assert "KNOWLEDGE/l: is a link" in assessment.findings[0].message


@pytest.mark.parametrize(
    ("entries", "markers_sound", "expected"),
    [
        (0, True, []),
        (45, True, []),
        (46, True, ["hot-memory-near-cap"]),
        (48, True, ["hot-memory-near-cap"]),
        (60, True, ["hot-memory-near-cap"]),
        (3, False, ["hot-memory-markers"]),
        (46, False, ["hot-memory-markers", "hot-memory-near-cap"]),
    ],
)
def test_hot_memory_is_whole_and_has_room(entries: int, markers_sound: bool, expected: list[str]) -> None:
    assessment = judged(hot_memory=hot_memory(entries, markers_sound=markers_sound))
    assert found(assessment) == expected
    assert all("U/PRINCIPAL_MEMORY.md" in finding.message for finding in assessment.findings)
    if entries >= 46:
        assert f"{entries} of 48" in assessment.findings[-1].message


@pytest.mark.parametrize(
    ("marks", "expected"),
    [
        ({}, []),
        ({"pending": 1, "oldest_at": NOW - 45 * DAY, "newest_at": NOW - 45 * DAY}, []),
        ({"pending": 1, "oldest_at": NOW - 45 * DAY - 1, "newest_at": NOW}, ["retention-archive-overdue"]),
        ({"pending": 1, "oldest_at": NOW, "newest_at": NOW + 1}, ["retention-archive-overdue"]),
        ({"pending": 1, "unclear": 1, "first_unclear": ("K/x.md",)}, ["retention-archive-overdue"]),
    ],
)
def test_what_is_marked_is_archived_in_time(marks: dict[str, Any], expected: list[str]) -> None:
    assessment = judged(retention=retention(oldest="K/x.md", newest="K/x.md", **marks))
    assert found(assessment) == expected
    assert all("K/x.md" in finding.message for finding in assessment.findings)


def test_a_memory_without_hot_files_has_that_check_skipped() -> None:
    results = {result.check: result for result in judged(hot_memory=Missing("no hot memory")).checks}
    assert (results["hot_memory"].status, results["hot_memory"].summary) == ("skipped", "no hot memory")


STATES: list[tuple[str, Any, str, str]] = [
    ("reviewer", GONE, "warn", "reviewer-evidence-missing"),
    ("reviewer", LINK, "critical", "reviewer-evidence-invalid"),
    ("retrieval", GONE, "warn", "retrieval-missing"),
    ("retrieval", LINK, "warn", "retrieval-evidence-invalid"),
    ("proposals", GONE, "warn", "proposal-evidence-missing"),
    ("proposals", LINK, "warn", "proposal-evidence-malformed"),
    ("observability", GONE, "warn", "observability-evidence-missing"),
    ("observability", LINK, "warn", "observability-evidence-invalid"),
    ("index", GONE, "warn", "index-evidence-missing"),
    ("index", LINK, "critical", "index-manifest-invalid"),
    ("hot_memory", LINK, "critical", "hot-memory-markers"),
    ("retention", LINK, "warn", "retention-archive-overdue"),
    ("corpus", LINK, "warn", "corpus-unsound"),
    ("history", LINK, "warn", "health-history-unreadable"),
]


@pytest.mark.parametrize(("check", "state", "severity", "expected"), STATES)
def test_what_is_missing_or_unreadable_is_named(check: str, state: Any, severity: str, expected: str) -> None:
    assessment = judged(**{check: state})
    (finding,) = assessment.findings
    assert (finding.id, finding.check, finding.severity.word) == (expected, check, severity)
    assert state.reason in finding.message
    assert getattr(state, "path", "") in finding.message
    assert assessment.overall.word == severity


@pytest.mark.parametrize("check", [check.id for check in CHECKS if check.id != "setup"])
def test_a_collector_that_crashed_is_critical_and_names_its_check(check: str) -> None:
    (finding,) = judged(**{check: CRASH}).findings
    assert (finding.id, finding.check, finding.severity) == ("health-internal-error", check, Severity.CRITICAL)
    assert check in finding.message


def test_a_policy_collector_that_crashed_is_a_fault_of_the_setup() -> None:
    (finding,) = judged(policy=CRASH).findings
    assert (finding.id, finding.check) == ("health-internal-error", "setup")


def test_a_memory_without_a_corpus_folder_has_that_check_skipped() -> None:
    results = {result.check: result for result in judged(corpus=Missing("no KNOWLEDGE")).checks}
    assert (results["corpus"].status, results["corpus"].summary) == ("skipped", "no KNOWLEDGE")


@pytest.mark.parametrize(("skipped", "status"), [(None, "ok"), ("--no-write", "skipped")])
def test_the_history_is_skipped_with_its_reason_where_none_is_written(skipped: str | None, status: str) -> None:
    results = {result.check: result.status for result in judged(history_skipped=skipped).checks}
    assert results["history"] == status


@pytest.mark.parametrize("state", [GONE, LINK, CRASH, reviewer(last=reviewed("failed"))])
def test_a_part_that_is_not_enabled_has_its_status_and_reason_and_no_finding(state: Any) -> None:
    policy = Observed(NotEnabled("CORTEX_HEALTH_POLICY.json", {"reviewer": "by hand"}))
    assessment = judged(policy=policy, reviewer=state)
    assert found(assessment) == []
    assert assessment.checks[0] == ("reviewer", "not-enabled", "by hand")


def test_a_policy_that_cannot_be_trusted_is_critical_and_all_parts_are_judged() -> None:
    assessment = judged(policy=LINK, reviewer=GONE)
    assert found(assessment) == ["health-policy-invalid", "reviewer-evidence-missing"]


NOISE = [
    (SilenceEvidence("retrieval::retrieval-stale", NOW), "noise-silence-expired"),
    (SilenceEvidence("heart::no answer", NOW, ingested=True), "noise-silence-expired"),
    (SilenceEvidence("retrieval::retrieval-stale", NOW + 1), None),
    (SilenceEvidence("proposals::proposal-backlog-high", NOW), None),
]


@pytest.mark.parametrize(("silence", "expected"), NOISE)
def test_a_silence_is_judged_where_what_it_silences_is_there(silence: SilenceEvidence, expected: str | None) -> None:
    verdict = judged(
        noise=Observed(NoiseEvidence("C/noise.json", (silence,))), retrieval=retrieval(last=retrieved(2 * DAY))
    )
    assert found(verdict) == sorted(filter(None, (expected, "retrieval-stale")))


RATCHET = [
    (LogLoss("r", "O/r", ("gone",), 9), "O/r is gone or cannot be read.", "evidence-vanished"),
    (LogLoss("r", "O/r", ("smaller",), 9, 8), "O/r has 8 bytes where 9 were due.", "evidence-vanished"),
    (LogLoss("r", "O/r", ("head", "earlier"), 9, 9), "as it did and ends earlier than it did.", "evidence-vanished"),
    (LogLoss("r", "O/r", ("ids",), 9, 9, 2), "O/r lacks 2 proposals.", "evidence-vanished"),
]


@pytest.mark.parametrize(("loss", "message", "expected"), RATCHET)
def test_evidence_below_its_mark_is_critical_and_named(loss: LogLoss, message: str, expected: str) -> None:
    verdict = judged(ratchet=Observed(RatchetEvidence((loss,))))
    assert [(one.id, one.severity.word) for one in verdict.findings] == [(expected, "critical")]
    assert verdict.findings[0].message.endswith(message)


FAULTS = [spec for spec in FINDINGS if spec.check in ("setup", "history")]


@pytest.mark.parametrize("spec", FAULTS, ids=lambda spec: spec.id)
def test_a_fault_of_the_run_is_a_finding_of_its_check(spec: Any) -> None:
    (finding,) = judged(setup=faults(spec.id)).findings
    assert (finding.id, finding.check, finding.severity) == (spec.id, spec.check, spec.severity)
    assert finding.message == f"{spec.id} happened."


def test_faults_of_one_kind_are_one_finding_that_names_them_all() -> None:
    setup = SetupEvidence(tuple(SetupFault("cortex-threshold-invalid", f"{name} is bad.", name) for name in "BA"))
    (finding,) = judged(setup=setup).findings
    assert finding.message == "A is bad. B is bad."
    assert finding.facts.subjects == ("A", "B")


def test_the_order_of_faults_changes_nothing() -> None:
    kinds = ["health-root-invalid", "cortex-threshold-invalid", "health-history-write-failed", "textfile-write-failed"]
    verdicts = {judged(setup=faults(*order)) for order in permutations(kinds)}
    assert len(verdicts) == 1


def test_findings_are_ordered_by_severity_check_and_id() -> None:
    assessment = judged(
        reviewer=reviewer(last=reviewed("failed")), index=LINK, proposals=proposals(pending=11, malformed=LINE_9)
    )
    assert found(assessment) == [
        "index-manifest-invalid",
        "reviewer-latest-failed",
        "proposal-backlog-high",
        "proposal-evidence-malformed",
    ]


def test_the_worst_of_nothing_is_critical() -> None:
    assert worst(()) is Severity.CRITICAL


def test_every_finding_of_a_check_can_be_made() -> None:
    """The tables above and the faults together make the whole catalogue."""
    made = {name for *_, names in (*REVIEWER, *RETRIEVAL, *PROPOSALS, *OBSERVABILITY, *INDEX) for name in names}
    made |= {expected for *_, expected in STATES} | {"hot-memory-near-cap"} | {spec.id for spec in FAULTS}
    made |= {name for *_, name in (*NOISE, *RATCHET) if name} | {"noise-ledger-damaged"}
    assert made == set(CATALOGUE)


def test_limits_in_force_are_the_ones_that_are_given() -> None:
    tight = dict(LIMITS) | {"proposal_backlog": LIMITS["proposal_backlog"]._replace(value=0.5)}
    assert found(judged(tight)) == ["proposal-backlog-high"]
    assert found(judged()) == []


def test_messages_give_the_numbers_in_human_units_and_the_path() -> None:
    stale = judged(reviewer=reviewer(last=reviewed(age=7 * DAY + 1)))
    assert stale.findings[0].message == (
        "The last healthy reviewer run in O/reviewer.jsonl ended 7 days 1 ms ago; the limit is 7 days."
    )
    assert stale.findings[0].facts.since_at == NOW - 1
    assert judged(reviewer=reviewer(last=reviewed("failed", error="no answer"))).findings[0].message == (
        "The last row of O/reviewer.jsonl (line 7) says that the run failed: no answer."
    )
    assert judged(observability=logs(size_bytes=256 * MIB + 1)).findings[0].message == (
        "The 3 logs below O hold 268435457 bytes (256.0 MiB); the limit is 268435456 bytes (256.0 MiB)."
    )
