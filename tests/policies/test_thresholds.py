"""Which overrides are thresholds, and what happens to those that are none."""

from math import inf, isfinite

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.thresholds import THRESHOLDS, InvalidOverride, effective_thresholds, parse_override

VALID = [
    ("10", 10), ("+10", 10), ("0010", 10), ("10.0", 10), ("10.5", 10.5), ("1e3", 1000), ("1E+3", 1000), ("5e-1", 0.5),
    ("0.000001", 0.000001), ("1e308", 10**308),
]  # fmt: skip
INVALID = [
    "", " ", "nan", "NaN", "inf", "Infinity", "1e400", "-1", "0", "0.0", "0e5", "1e-400", "1_0", "10MB", "30s", "0x10",
    "１０", "١٠", " 10", "10 ", "10\n", "\t10", ".5", "5.", "1e", "e5", "1e5.0", "++1", "10,0", "true", "None", "1e+",
]  # fmt: skip


@pytest.mark.parametrize(("text", "number"), VALID)
def test_a_number_above_zero_is_taken(text: str, number: float) -> None:
    assert parse_override(text) == pytest.approx(number, rel=1e-15)


@pytest.mark.parametrize("text", INVALID)
def test_anything_else_is_no_threshold(text: str) -> None:
    assert parse_override(text) is None


@given(st.text(st.sampled_from("0123456789.eE+-_ x"), max_size=8))
def test_what_is_taken_is_finite_and_above_zero(text: str) -> None:
    number = parse_override(text)
    assert number is None or (isfinite(number) and 0 < number < inf)


@pytest.mark.parametrize("threshold", THRESHOLDS, ids=lambda threshold: threshold.name)
def test_a_valid_override_counts_and_says_where_it_came_from(threshold: tuple[str, int, str, str]) -> None:
    name, default, variable, _ = threshold
    effective, invalid = effective_thresholds({variable: "7"})
    assert effective[name] == (7, default, variable)
    assert invalid == ()
    assert all(
        limit == (limit.default, limit.default, "default") for other, limit in effective.items() if other != name
    )


@pytest.mark.parametrize("threshold", THRESHOLDS, ids=lambda threshold: threshold.name)
def test_an_invalid_override_is_named_and_the_default_is_used(threshold: tuple[str, int, str, str]) -> None:
    name, default, variable, _ = threshold
    effective, invalid = effective_thresholds({variable: ""})
    assert effective[name] == (default, default, "default")
    assert invalid == (InvalidOverride(name, variable, ""),)


def test_all_thresholds_have_their_published_defaults() -> None:
    assert {threshold.name: threshold.default for threshold in THRESHOLDS} == {
        "reviewer_stale_ms": 604_800_000,
        "reviewer_run_grace_ms": 600_000,
        "retrieval_stale_ms": 86_400_000,
        "proposal_backlog": 10,
        "observability_max_bytes": 268_435_456,
        "observability_max_age_ms": 2_592_000_000,
        "index_stale_ms": 604_800_000,
    }
