"""`explain FINDING --live`: the rows, the number, and the instant of the next change."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from support.evidences import reports
from support.green_evidence import logs, proposals, report, retrieval, retrieved, reviewed, reviewer, runs
from support.health_tree import DAY, HOUR, MINUTE, NOW, write_h0
from support.running import run

from healthcheck import live
from healthcheck.checks import FINDINGS
from healthcheck.evaluate import evaluate
from healthcheck.evidence import Malformed
from healthcheck.report import Report
from policies.timestamps import format_instant

FEW = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


THEN = ", if nothing is written meanwhile"


def at(offset: int) -> str:
    return format_instant(NOW + offset)


STALE_FROM = at(DAY - 5 * MINUTE + 1)
TABLE: list[tuple[str, dict[str, Any], list[str]]] = [
    (
        "retrieval-stale",
        {},
        [
            "Row:      O/retrievals.jsonl, line 3",
            "Number:   5 minutes, the limit is 1 day (retrieval_stale_ms)",
            f"Next:     found from {STALE_FROM}, the verdict is warn from {STALE_FROM}{THEN}",
        ],
    ),
    (
        "retrieval-future",
        {"retrieval": retrieval(last=retrieved(-HOUR))},
        [
            "Row:      O/retrievals.jsonl, line 3",
            f"Next:     gone from {at(HOUR)}, the verdict is ok from {at(HOUR)}, if nothing is written meanwhile",
        ],
    ),
    (
        "proposal-backlog-high",
        {"proposals": proposals(pending=11, malformed=Malformed(1, (9,)))},
        ["Row:      O/proposals.jsonl, line 9", "Number:   11, the limit is 10 (proposal_backlog)"],
    ),
    (
        "observability-bytes-exceeded",
        {"observability": logs(size_bytes=2048)},
        ["Number:   2048 bytes (2.0 KiB), the limit is 268435456 bytes (256.0 MiB) (observability_max_bytes)"],
    ),
    (
        "reviewer-latest-timed-out",
        {"reviewer": reviewer(last=reviewed("ok", 2 * HOUR), all_runs=runs(MINUTE), newer_runs=runs(MINUTE))},
        [
            "Row:      O/reviewer.jsonl, line 7",
            f"Next:     found from {at(9 * MINUTE + 1)}, the verdict is critical from {at(9 * MINUTE + 1)}{THEN}",
        ],
    ),
]


@pytest.mark.parametrize(("finding", "changes", "expected"), TABLE)
def test_it_names_the_rows_the_number_and_the_next_change(
    finding: str, changes: dict[str, Any], expected: list[str]
) -> None:
    lines = live.explain(report(**changes), finding).splitlines()
    assert [line for line in expected if line not in lines] == []


def test_what_no_time_helps_says_so() -> None:
    failed = report(reviewer=reviewer(last=reviewed("failed")))
    assert "gone from" not in live.explain(failed, "reviewer-latest-failed")
    assert f"Now:      {at(0)}, found\n" in live.explain(failed, "reviewer-latest-failed")


@FEW
@given(reports())
def test_between_now_and_the_next_change_nothing_changes(case: Report) -> None:
    """The instants are all of them: the verdict is the same right before each as it was after the one before."""
    before = case.now
    for instant in live._instants(case)[:40]:
        first, last = (evaluate(case.evidence, case.thresholds, when) for when in (before, instant - 1))
        assert [one.id for one in first.findings] == [one.id for one in last.findings]
        before = instant


@pytest.mark.parametrize("spec", FINDINGS, ids=lambda spec: spec.id)
def test_every_finding_can_be_explained_live(spec: Any) -> None:
    assert "\nNext:     " in live.explain(report(), spec.id)


def test_the_command_looks_and_leaves_nothing(tmp_path: Path) -> None:
    root = write_h0(tmp_path / "R")
    before = sorted(root.rglob("*"))
    shown = run("--root", root, "--now", str(NOW), "explain", "retrieval-stale", "--live")
    assert shown.exit_code == 0
    assert "Way back: " in shown.stdout
    assert "Row:      MEMORY/OBSERVABILITY/memory-retrievals.jsonl, line 1\n" in shown.stdout
    assert sorted(root.rglob("*")) == before
