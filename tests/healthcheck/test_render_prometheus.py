"""The textfile, read back with the parser of prometheus-client."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families
from support.green_evidence import logs, proposals, report, reviewed, reviewer
from support.health_tree import HOUR, MINUTE, NOW

from healthcheck.checks import CHECKS, FINDINGS
from healthcheck.crashed import crashed_report
from healthcheck.evidence import Missing, NoIndex, NotEnabled, Observed, ProbeFailed, Unreadable
from healthcheck.renderers import prometheus
from healthcheck.report import Report

RUN = prometheus.RunTime(began_s=1234.5, took_s=0.25)
Labels = tuple[tuple[str, str], ...]


def samples(case: Report) -> dict[tuple[str, Labels], float]:
    """Every sample by its name (without the prefix) and its labels but `memory`, which must be the report's name."""
    read = {}
    for family in text_string_to_metric_families(prometheus.render(case, RUN)):
        for sample in family.samples:
            labels = dict(sample.labels)
            assert labels.pop("memory") == case.name
            assert sample.timestamp is None
            key = (sample.name.removeprefix("memory_health_"), tuple(sorted(labels.items())))
            assert key not in read
            read[key] = sample.value
    return read


def value(case: Report, name: str, **labels: str) -> float:
    return samples(case)[name, tuple(sorted(labels.items()))]


def test_the_verdict() -> None:
    bad = report(reviewer=reviewer(last=reviewed("failed")), corpus=Missing("none"))
    assert value(bad, "status") == 2
    assert [value(bad, "overall", overall=word) for word in ("ok", "warn", "critical")] == [0, 0, 1]
    assert value(bad, "finding", id="reviewer-latest-failed", severity="critical") == 1
    assert sum(number for (name, _), number in samples(bad).items() if name == "finding") == 1
    assert sum(number for (name, _), number in samples(bad).items() if name == "finding_silenced") == 0
    assert value(bad, "check_status", check="reviewer") == 2
    assert value(bad, "check_status", check="index") == 0


def test_not_enabled_and_skipped_are_below_zero_since_nobody_looked() -> None:
    case = report(policy=Observed(NotEnabled("P", {"retrieval": "unused"})), corpus=Missing("none"))
    assert value(case, "check_status", check="retrieval") == -1
    assert value(case, "check_status", check="corpus") == -2


def test_instants_are_seconds_and_what_never_was_is_zero() -> None:
    names = ("reviewer", "retrieval", "observability", "index")
    expected = [(NOW - HOUR) / 1000, (NOW - 5 * MINUTE) / 1000, (NOW - MINUTE) / 1000, (NOW - HOUR) / 1000]
    assert [value(report(), "evidence_timestamp_seconds", evidence=name) for name in names] == expected
    gone = report(**dict.fromkeys(names, Missing("gone")))
    assert [value(gone, "evidence_timestamp_seconds", evidence=name) for name in names] == [0, 0, 0, 0]
    assert value(gone, "observability_oldest_timestamp_seconds") == 0


def test_what_was_not_measured_is_minus_one() -> None:
    gone = report(proposals=Missing("gone"), observability=Unreadable("O", "is a link"))
    names = ("proposals_pending", "observability_bytes", "observability_files")
    assert [value(gone, name) for name in names] == [-1, -1, -1]
    assert [value(report(), name) for name in names] == [1, 600, 3]


def test_evidence_is_readable_where_it_was_read_as_a_whole() -> None:
    assert value(report(), "evidence_readable", evidence="observability") == 1
    for state in (Missing("gone"), Unreadable("O", "is a link"), ProbeFailed("X"), logs(unreadable=("O/sub",))):
        assert value(report(observability=state), "evidence_readable", evidence="observability") == 0


def test_thresholds_are_in_base_units() -> None:
    assert value(report(), "threshold_seconds", threshold="reviewer_run_grace_ms") == 600
    assert value(report(), "threshold_bytes", threshold="observability_max_bytes") == 268_435_456
    assert value(report(), "threshold_proposals", threshold="proposal_backlog") == 10


@pytest.mark.parametrize(
    ("state", "word"),
    [
        (report().evidence.index, "adopted"),
        (Observed(NoIndex("M")), "no-index"),
        (Missing("gone"), "missing"),
        (Unreadable("M", "is a link"), "unreadable"),
        (ProbeFailed("X"), "probe-failed"),
    ],
)
def test_the_index_has_one_state(state: object, word: str) -> None:
    states = {
        dict(labels)["state"]: number
        for (name, labels), number in samples(report(index=state)).items()
        if name == "index_state"
    }
    assert states.pop(word) == 1
    assert set(states.values()) == {0}


def test_the_run_is_told_by_the_real_clock() -> None:
    assert value(report(), "last_run_timestamp_seconds") == 1234.5
    assert value(report(), "run_duration_seconds") == 0.25
    assert [name for name, labels in samples(report()) if name == "build_info"] == ["build_info"]


DIFFERENT = [
    report(
        **dict.fromkeys(
            (
                "reviewer",
                "retrieval",
                "proposals",
                "observability",
                "index",
                "hot_memory",
                "retention",
                "corpus",
                "history",
            ),
            Missing("x"),
        )
    ),
    report(index=ProbeFailed("X"), proposals=proposals(pending=99)),
    crashed_report("default", "KeyError"),
]


@pytest.mark.parametrize("case", DIFFERENT)
def test_every_series_and_help_is_there_in_every_run(case: Report) -> None:
    def comments(of: Report) -> list[str]:
        return [line for line in prometheus.render(of, RUN).splitlines() if line.startswith("#")]

    assert samples(case).keys() == samples(report()).keys()
    assert comments(case) == comments(report())
    assert {dict(labels)["check"] for name, labels in samples(case) if name == "check_status"} == {c.id for c in CHECKS}
    assert {dict(labels)["id"] for name, labels in samples(case) if name == "finding"} == {spec.id for spec in FINDINGS}


@given(st.text(st.characters(codec="utf-8"), min_size=1, max_size=20))
def test_any_name_comes_back(name: str) -> None:
    """Label values are escaped: quotes, backslashes and line ends come back as they were."""
    assert value(report(name=name), "status") == 0


def test_it_ends_in_a_newline_and_holds_no_number_that_alerts_cannot_see() -> None:
    rendered = prometheus.render(DIFFERENT[0], RUN)
    assert rendered.endswith("\n")
    assert "NaN" not in rendered
