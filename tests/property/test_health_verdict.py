"""Properties of the pure verdict: time only makes it worse, order makes no difference, nothing missing is green."""

from collections.abc import Iterator
from itertools import permutations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from support.evidences import evidences, limits
from support.health_tree import DAY, HOUR, NOW

from healthcheck.checks import CAN_BE_NOT_ENABLED, CATALOGUE, CHECKS, Severity
from healthcheck.evaluate import Assessment, evaluate, worst
from healthcheck.evidence import (
    AdoptedIndex,
    Evidence,
    Missing,
    NotEnabled,
    Observed,
    ProbeFailed,
    SetupEvidence,
    Unreadable,
)
from healthcheck.judgement import Limits

BADNESS = {"ok": 0, "not-enabled": 0, "skipped": 0, "warn": 1, "critical": 2}
MANY = settings(max_examples=5_000, deadline=None, suppress_health_check=list(HealthCheck))
FEW = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
# Findings that say something is too old: only new evidence, no amount of waiting, may end them.
STALE = {"reviewer-stale", "retrieval-stale", "observability-age-exceeded", "index-stale"}


def dates_of(evidence: Evidence) -> Iterator[int]:
    """Yield every instant that the verdict could depend on."""
    if isinstance(evidence.reviewer, Observed):
        value = evidence.reviewer.value
        groups = (value.all_runs, value.newer_runs)
        yield from (date for runs in groups for date in (runs.oldest_at, runs.newest_at) if date is not None)
        if value.last is not None and value.last.ended_at is not None:
            yield value.last.ended_at
    if isinstance(evidence.retrieval, Observed) and evidence.retrieval.value.last is not None:
        yield evidence.retrieval.value.last.retrieved_at or 0
    if isinstance(evidence.observability, Observed):
        value = evidence.observability.value
        yield from (date for date in (value.oldest_at, value.newest_at) if date is not None)
    if isinstance(evidence.index, Observed) and isinstance(evidence.index.value, AdoptedIndex):
        yield evidence.index.value.indexed_at
    if isinstance(evidence.retention, Observed):
        value = evidence.retention.value
        yield from (date for date in (value.oldest_at, value.newest_at) if date is not None)


def badness(assessment: Assessment) -> dict[str, int]:
    return {result.check: BADNESS[result.status] for result in assessment.checks}


def time_heals_nothing(evidence: Evidence, in_force: Limits, step: int) -> None:
    """Advancing the clock never makes a check better, except past a date that was ahead of it."""
    before, after = evaluate(evidence, in_force, NOW), evaluate(evidence, in_force, NOW + step)
    if any(NOW < date <= NOW + step for date in dates_of(evidence)):
        return
    assert all(badness(after)[check] >= was for check, was in badness(before).items())
    stale_before = {found.id for found in before.findings} & STALE
    worse = {found.check for found in after.findings if found.severity is Severity.CRITICAL}
    assert {name for name in stale_before if CATALOGUE[name].check not in worse} <= {
        found.id for found in after.findings
    }


STEPS = st.sampled_from([1, HOUR, DAY, 8 * DAY, 31 * DAY, 10_000 * DAY])


@FEW
@given(evidences, limits(), STEPS)
def test_moving_the_clock_on_turns_nothing_stale_into_fresh(evidence: Evidence, in_force: Limits, step: int) -> None:
    time_heals_nothing(evidence, in_force, step)


@pytest.mark.proof
@MANY
@given(evidences, limits(), STEPS)
def test_moving_the_clock_on_turns_nothing_stale_into_fresh_in_thousands_of_cases(
    evidence: Evidence, in_force: Limits, step: int
) -> None:
    time_heals_nothing(evidence, in_force, step)


@FEW
@given(evidences, limits())
def test_a_tree_that_nobody_writes_to_turns_stale_and_stays_so(evidence: Evidence, in_force: Limits) -> None:
    """If writer and reader die together, all that has a limit is past it in the end (limits of 1e300 ms aside)."""
    if any(threshold.value > 10_000 * DAY for threshold in in_force.values()):
        return
    late = evaluate(evidence, in_force, NOW + 20_000 * DAY)
    dated = {"reviewer", "retrieval", "observability"}
    assert all(result.status in {"warn", "critical", "not-enabled"} for result in late.checks if result.check in dated)


@FEW
@given(evidences, limits())
def test_the_order_of_what_goes_in_changes_nothing(evidence: Evidence, in_force: Limits) -> None:
    """Order of findings changes nothing: faults told in another order give the same verdict in the same words."""
    first = evaluate(evidence, in_force, NOW)
    for order in list(permutations(evidence.setup.faults))[:6]:
        assert evaluate(replace(evidence, setup=SetupEvidence(order)), in_force, NOW) == first


@FEW
@given(evidences, limits())
def test_findings_are_ordered_and_in_the_catalogue(evidence: Evidence, in_force: Limits) -> None:
    assessment = evaluate(evidence, in_force, NOW)
    ranks = [(-found.severity, found.check, found.id) for found in assessment.findings]
    assert ranks == sorted(set(ranks))
    assert all(CATALOGUE[found.id].severity is found.severity for found in assessment.findings)
    assert [result.check for result in assessment.checks] == [check.id for check in CHECKS]


@FEW
@given(evidences, limits())
def test_overall_is_the_worst_of_all_checks_and_of_all_findings(evidence: Evidence, in_force: Limits) -> None:
    assessment = evaluate(evidence, in_force, NOW)
    assert assessment.overall == max(badness(assessment).values())
    assert assessment.overall == max((found.severity for found in assessment.findings), default=0)


@FEW
@given(evidences, limits(), st.sampled_from([check.id for check in CHECKS if check.id != "setup"]))
def test_what_is_missing_unreadable_or_crashed_is_never_ok(evidence: Evidence, in_force: Limits, check: str) -> None:
    """Unless the policy declares the part not enabled; a corpus or a history that is not there is none to judge."""
    for answer, allowed in (
        (
            Missing("gone"),
            {"warn"}
            if check not in {"hot_memory", "retention", "corpus", "ratchet", "noise", "history"}
            else {"ok", "skipped"},
        ),
        (Unreadable("p", "is a link"), {"warn", "critical"}),
        (ProbeFailed("ValueError"), {"critical"}),
    ):
        damaged = replace(evidence, setup=SetupEvidence(), policy=Missing("none"), **{check: answer})
        (result,) = [one for one in evaluate(damaged, in_force, NOW).checks if one.check == check]
        assert result.status in allowed


@FEW
@given(evidences, limits(), st.sampled_from(CAN_BE_NOT_ENABLED))
def test_declaring_a_part_not_enabled_changes_that_part_alone(evidence: Evidence, in_force: Limits, part: str) -> None:
    plain = replace(evidence, policy=Missing("none"))
    declared = replace(evidence, policy=Observed(NotEnabled("policy", {part: "not used here"})))
    before, after = (badness(evaluate(one, in_force, NOW)) for one in (plain, declared))
    assert after.pop(part) == 0
    before.pop(part)
    assert after == before


def test_the_worst_of_nothing_is_critical() -> None:
    assert worst(()) is Severity.CRITICAL
