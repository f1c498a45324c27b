"""The report as one line of a Nagios plugin."""

import re

import pytest
from support.green_evidence import LIMITS, index, logs, proposals, report, retrieval, retrieved
from support.health_tree import DAY

from healthcheck.evidence import Missing, NotEnabled, Observed, Unreadable
from healthcheck.renderers import nagios
from healthcheck.report import Report
from policies.thresholds import EffectiveThreshold

GONE = Missing("gone")
LINE = re.compile(r"MEMORY (OK|WARNING|CRITICAL) - [^|\n]+\|(?:[a-z_]+=(?:U|-?[0-9.]+(?:s|B)?(?:;[0-9.]+)?) ?)+\n")


def test_all_is_well() -> None:
    assert nagios.render(report()) == (
        "MEMORY OK - 12 checks ok|reviewer_age=3600s;604800 retrieval_age=300s;86400 "
        "observability_oldest_age=3600s;2592000 index_age=3600s;604800 proposals_pending=1;10 "
        "observability_bytes=600B;268435456 observability_files=3\n"
    )


def test_the_worst_problem_leads_and_the_rest_is_counted() -> None:
    rendered = nagios.render(report(index=Unreadable("a|b\nc", "is a link"), proposals=proposals(pending=11)))
    text, _, performance = rendered.partition("|")
    assert text == (
        "MEMORY CRITICAL - index-manifest-invalid: The index, or what says that there is none, cannot be trusted: "
        "a/b\\x0ac: is a link. (and 1 more)"
    )
    assert "proposals_pending=11;10" in performance
    assert "index_age=U" in performance


def test_a_warning_is_called_warning() -> None:
    assert nagios.render(report(proposals=proposals(pending=11))).startswith("MEMORY WARNING - proposal-backlog-high: ")


def test_an_age_ahead_of_the_clock_is_below_zero() -> None:
    assert "retrieval_age=-0.001s;86400" in nagios.render(report(retrieval=retrieval(last=retrieved(-1))))


NOTHING = report(reviewer=GONE, retrieval=GONE, proposals=GONE, observability=GONE, index=GONE)
HUGE = report(limits=dict(LIMITS) | {"index_stale_ms": EffectiveThreshold(10**308, 1, "V")})


@pytest.mark.parametrize("case", [report(), NOTHING, HUGE, report(index=index(indexed_at=0)), report(retrieval=GONE)])
def test_it_is_one_line_of_the_protocol_with_every_label(case: Report) -> None:
    rendered = nagios.render(case)
    assert LINE.fullmatch(rendered)
    assert re.findall("([a-z_]+)=", rendered.partition("|")[2]) == [
        "reviewer_age", "retrieval_age", "observability_oldest_age", "index_age", "proposals_pending",
        "observability_bytes", "observability_files",
    ]  # fmt: skip


def test_what_was_not_measured_is_unknown() -> None:
    assert nagios.render(NOTHING).count("=U") == 7
    assert "observability_oldest_age=2592000.001s" in nagios.render(
        report(observability=logs(oldest_at=report().now - 30 * DAY - 1))
    )


def test_what_nobody_looked_at_is_named_beside_any_verdict() -> None:
    unlooked = {"policy": Observed(NotEnabled("P", {"retrieval": "unused"})), "corpus": GONE}
    assert nagios.render(report(**unlooked)).startswith(
        "MEMORY OK - 10 checks ok; not enabled: retrieval; skipped: corpus|"
    )
    assert "the limit is 10.; not enabled: retrieval; skipped: corpus|" in nagios.render(
        report(**unlooked, proposals=proposals(pending=11))
    )
