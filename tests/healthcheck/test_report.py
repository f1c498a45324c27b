"""The report as a value, and as JSON of the published shape."""

import json

import pytest
from support.green_evidence import LIMITS, evidence, index, logs, proposals, report, reviewed, reviewer
from support.health_tree import DAY, HOUR, MINUTE, NOW
from support.reports import checked_report

from healthcheck.checks import CHECKS
from healthcheck.evidence import Missing, NotEnabled, Observed, ProbeFailed, Unreadable
from healthcheck.renderers import json_v1
from healthcheck.report import Measures, measures
from policies.thresholds import EffectiveThreshold

SCHEMA_FILE = "healthcheck/schemas/memory-health-v1.schema.json"


def test_the_shipped_schema_is_the_one_made_of_the_shapes(pytestconfig: pytest.Config) -> None:
    """Else write it anew: `schema_text()` of `healthcheck.renderers.json_v1`."""
    assert (pytestconfig.rootpath / SCHEMA_FILE).read_text("ascii") == json_v1.schema_text()


def test_the_schema_refuses_what_is_not_published() -> None:
    shapes = json_v1.schema()["$defs"]
    loose = [name for name, shape in shapes.items() if shape.get("additionalProperties") is not False]
    assert loose == []


def test_a_report_has_exactly_the_published_fields_in_their_order() -> None:
    document = checked_report(json_v1.render(report(reviewer=reviewer(last=reviewed("failed")))))
    assert list(document) == [
        "schema", "generated_at", "now", "overall", "exit_code", "name", "root", "counts", "checks", "skipped",
        "thresholds", "evidence", "findings", "recovered",
    ]  # fmt: skip
    assert list(document["findings"][0]) == [
        "id", "severity", "check", "message", "evidence", "remedy", "way_back", "silenced",
    ]  # fmt: skip
    assert list(document["counts"]) == ["ok", "warn", "critical", "not_enabled", "skipped"]
    assert [check["id"] for check in document["checks"]] == [check.id for check in CHECKS]
    assert document["thresholds"]["proposal_backlog"] == {"value": 10, "default": 10, "source": "default"}
    assert document["root"] == {"home": "/r/LIFEOS", "memory_root": "/r/LIFEOS/MEMORY"}
    assert document["recovered"] == []


def test_instants_are_printed_in_iso_form_and_sizes_as_numbers() -> None:
    document = checked_report(json_v1.render(report(observability=logs(newest_at=NOW + 1))))
    assert document["now"] == document["generated_at"] == "2026-08-10T12:00:00.000Z"
    assert document["evidence"]["observability"]["newest_at"] == "2026-08-10T12:00:00.001Z"
    assert document["evidence"]["observability"]["size_bytes"] == 600
    assert document["findings"][0]["evidence"] == {
        "path": "O/new.log",
        "evidence_at": "2026-08-10T12:00:00.001Z",
        "age_ms": -1,
    }


def test_counts_are_over_checks() -> None:
    policy = Observed(NotEnabled("P", {"retrieval": "unused"}))
    document = checked_report(
        json_v1.render(
            report(policy=policy, corpus=Missing("none"), proposals=proposals(pending=11), index=ProbeFailed("X"))
        )
    )
    assert document["counts"] == {"ok": 8, "warn": 1, "critical": 1, "not_enabled": 1, "skipped": 1}
    assert document["skipped"] == [{"check": "corpus", "reason": "none"}]
    assert document["exit_code"] == 2


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (Missing("r"), {"state": "missing", "reason": "r"}),
        (Unreadable("p", "r"), {"state": "unreadable", "path": "p", "reason": "r"}),
        (ProbeFailed("r"), {"state": "probe-failed", "reason": "r"}),
    ],
)
def test_each_answer_of_a_collector_has_its_state(state: object, expected: dict[str, str]) -> None:
    document = checked_report(json_v1.render(report(index=state, history=state, policy=state)))
    assert (
        document["evidence"]["index"] == document["evidence"]["history"] == document["evidence"]["policy"] == expected
    )


def test_the_size_of_the_history_is_not_printed_since_each_run_changes_it() -> None:
    assert checked_report(json_v1.render(report()))["evidence"]["history"] == {
        "state": "observed",
        "log": "O/memory-health.jsonl",
    }


def test_paths_that_are_no_text_become_valid_and_the_json_is_ascii() -> None:
    rendered = json_v1.render(report(name="n\udcff", index=Unreadable("grün\udcff\n", "r")))
    assert rendered.isascii()
    document = checked_report(rendered)
    assert document["evidence"]["index"]["path"] == "grün\ufffd\n"
    assert document["name"] == "n\ufffd"


def test_a_threshold_past_what_readers_hold_exactly_is_printed_as_they_hold_it() -> None:
    limits = dict(LIMITS) | {"index_stale_ms": EffectiveThreshold(10**308, 1, "V")}
    document = checked_report(json_v1.render(report(limits=limits)))
    assert document["thresholds"]["index_stale_ms"]["value"] == 1e308


def test_the_same_report_is_the_same_bytes() -> None:
    assert json_v1.render(report()) == json_v1.render(report())


def test_overall_is_what_the_run_exits_with() -> None:
    assert (int(report().overall), int(report(proposals=proposals(pending=11)).overall)) == (0, 1)
    assert json.loads(json_v1.render(report()))["exit_code"] == 0


def test_measures_are_what_was_measured_and_nothing_where_nothing_was() -> None:
    assert measures(evidence()) == Measures(
        NOW - HOUR, NOW - 5 * MINUTE, 1, 600, 3, NOW - HOUR, NOW - MINUTE, NOW - HOUR, 2, 50
    )
    gone = Missing("gone")
    nothing = evidence(reviewer=gone, retrieval=gone, proposals=gone, observability=gone, index=gone, corpus=gone)
    assert measures(nothing) == Measures()
    assert measures(evidence(index=index(indexed_at=NOW - DAY))).index_at == NOW - DAY
