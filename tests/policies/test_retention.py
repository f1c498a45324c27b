"""What a memory may forget: the policy's judgement and the decision, every boundary a row."""

import pytest

from policies.retention import (
    DEFAULT_POLICY,
    Entry,
    Expire,
    Keep,
    LevelPolicy,
    PolicyFault,
    decide,
    decide_ledger,
    judge_policy,
)
from policies.timestamps import format_instant, parse_timestamp

SECOND, DAY = 1000, 86_400_000
NOW = 1_786_363_200_000  # 2026-08-10T12:00:00Z
L2, L3 = DEFAULT_POLICY["L2"], DEFAULT_POLICY["L3"]


def at(text: str) -> int:
    instant = parse_timestamp(text)
    assert instant is not None
    return instant


def ago(days: int, seconds: int = 0) -> str:
    return format_instant(NOW - days * DAY - seconds * SECOND)


def short(decision: Keep | Expire) -> str:
    return "expire" if isinstance(decision, Expire) else decision.reason


@pytest.mark.parametrize(
    ("policy", "created", "outcome"),
    [
        (L2, ago(364, 86_399), "young"),
        (L2, ago(364), "young"),
        (L2, ago(365), "expire"),
        (L2, ago(365, 1), "expire"),
        (L2, ago(366), "expire"),
        (L3, ago(89, 86_399), "young"),
        (L3, ago(90), "expire"),
        (L3, ago(0), "young"),
        (L3, ago(0, -1), "future"),
        (L3, ago(-1), "future"),
        (LevelPolicy("L3", after_days=0), ago(0), "expire"),
        (LevelPolicy("L3", after_days=90), ago(90), "expire"),
        (LevelPolicy("L3", unless_recalled=3), ago(900), "no_rule"),
        (LevelPolicy("L3"), ago(900), "no_rule"),
        (LevelPolicy("L3", never=True, after_days=1), ago(900), "never"),
        (LevelPolicy("L3", only_user=True, after_days=1), ago(900), "only_user"),
        (None, ago(900), "no_rule"),
    ],
)
def test_an_entry_expires_at_the_full_number_of_days(policy, created, outcome):
    level = "L2" if policy is L2 else "L3"
    assert short(decide(policy, Entry(level, created), NOW)) == outcome


@pytest.mark.parametrize(
    ("policy", "count", "outcome"),
    [
        (L2, 4, "expire"),
        (L2, 5, "recalled"),
        (L2, 6, "recalled"),
        (L3, 2, "expire"),
        (L3, 3, "recalled"),
        (L3, 0, "expire"),
        (L3, -1, "corrupted"),
        (L3, "3", "corrupted"),
        (L3, "0", "corrupted"),
        (L3, 2.9, "corrupted"),
        (L3, 2.0, "corrupted"),
        (L3, True, "corrupted"),
        (L3, False, "corrupted"),
        (L3, None, "corrupted"),
        (L3, [3], "corrupted"),
        (LevelPolicy("L3", after_days=90, unless_recalled=0), 0, "recalled"),
        (LevelPolicy("L3", after_days=90), 99, "expire"),
    ],
)
def test_recalls_keep_an_entry_and_a_count_that_is_none_keeps_it_too(policy, count, outcome):
    assert short(decide(policy, Entry(policy.level, ago(900), recall_count=count), NOW)) == outcome


def test_a_missing_recall_count_is_zero():
    assert short(decide(L3, Entry("L3", ago(900)), NOW)) == "expire"
    assert short(decide(L3._replace(unless_recalled=0), Entry("L3", ago(900)), NOW)) == "recalled"


@pytest.mark.parametrize(
    ("created", "recalled", "outcome"),
    [
        (ago(900), ago(89), "young"),
        (ago(900), ago(90), "expire"),
        (ago(89), ago(900), "young"),  # recalled before it was created: creation counts
        (ago(90), ago(900), "expire"),
        (ago(900), ago(-1), "future"),
        (ago(900), "soon", "corrupted"),
        (ago(900), None, "corrupted"),
        (ago(900), 1786363200000, "corrupted"),
        (ago(900), "2026-02-30", "corrupted"),
        (ago(900), "2026-08-01T10:00:00", "corrupted"),
        (None, ago(900), "corrupted"),
        ("", ago(900), "corrupted"),
        (1786363200000, ago(900), "corrupted"),
        ("2026-02-16 05:27:54 PST", ago(900), "corrupted"),
    ],
)
def test_age_counts_from_creation_or_the_last_recall_and_what_is_unreadable_is_kept(created, recalled, outcome):
    assert short(decide(L3, Entry("L3", created, recalled), NOW)) == outcome


def test_without_a_creation_date_nothing_is_proven():
    assert short(decide(L3, Entry("L3", last_recalled=ago(900)), NOW)) == "undated"


@pytest.mark.parametrize(
    ("level", "outcome"),
    [
        ("L0", "never"),
        ("L1", "only_user"),
        ("L2", "expire"),
        ("L3", "expire"),
        ("L4", "left_to_compact"),
        ("L5", "unknown_level"),
        ("l2", "unknown_level"),
        ("L2 ", "unknown_level"),
        (2, "unknown_level"),
        (None, "unknown_level"),
    ],
)
def test_whatever_a_policy_says_core_and_long_memory_never_go_by_age(level, outcome):
    greedy = LevelPolicy(str(level), after_days=0)
    assert short(decide(greedy, Entry(level, ago(9000)), NOW)) == outcome


@pytest.mark.parametrize(
    ("created", "now", "age"),
    [
        ("2024-02-29", "2025-02-28", 365),  # born on a leap day
        ("2024-02-29", "2025-02-27T23:59:59.999Z", 364),
        ("2023-08-10", "2024-08-09", 365),  # a leap day between
        ("2023-08-10", "2024-08-10", 366),
        ("2025-03-30T00:59:59+01:00", "2026-03-30T00:59:59+01:00", 365),  # clocks forward: 01:00 becomes 03:00
        ("2025-03-30T03:00:00+02:00", "2025-03-31T02:59:59+02:00", 0),
        ("2025-03-30T03:00:00+02:00", "2025-03-31T03:00:00+02:00", 1),
        ("2025-03-29T03:00:00+01:00", "2025-03-30T03:59:59+02:00", 0),  # 23 hours of the wall clock's day
        ("2025-03-29T03:00:00+01:00", "2025-03-30T04:00:00+02:00", 1),
        ("2025-10-25T03:00:00+02:00", "2025-10-26T01:59:59+01:00", 0),  # 25 hours
        ("2025-10-25T03:00:00+02:00", "2025-10-26T02:00:00+01:00", 1),
        ("2025-10-26T02:30:00+02:00", "2025-10-26T02:30:00+01:00", 0),  # the hour that comes twice
        ("2025-01-11T23:39:45-04:00", "2025-01-13T03:39:45Z", 1),
    ],
)
def test_a_day_is_24_hours_whatever_the_calendar_and_the_clocks_do(created, now, age):
    entry = Entry("L3", created)
    due = decide(LevelPolicy("L3", after_days=age), entry, at(now))
    early = decide(LevelPolicy("L3", after_days=age + 1), entry, at(now))

    assert due == Expire(f"{age}d unused", age)
    assert (short(early), early.changes_at) == ("young", at(created) + (age + 1) * DAY)


def test_a_decision_says_its_rule_its_numbers_and_when_it_changes():
    assert decide(L2, Entry("L2", ago(400), recall_count=4), NOW) == Expire("365d unused, recall<5", 400)
    assert decide(L2, Entry("L2", ago(100)), NOW) == Keep("young", "unused for 100 of 365 days", NOW + 265 * DAY)
    assert decide(L2, Entry("L2", ago(400), recall_count=5), NOW) == Keep(
        "recalled", "recalled 5 times, and 5 are enough"
    )


# The policy.

STATED = {
    "L0": {"forget": {"never": True}},
    "L1": {"forget": {"only_user": True}},
    "L2": {"forget": {"after_days": 365, "unless_recalled": 5}},
    "L3": {"forget": {"after_days": 90, "unless_recalled": 3}},
    "L4": {"forget": {"compress_after_days": 30, "archive_after_days": 60}},
}


@pytest.mark.parametrize("policy", [STATED, {"levels": STATED}, {"version": 1, "levels": STATED, "notes": []}])
def test_levels_stand_at_the_top_or_under_levels(policy):
    assert judge_policy(policy) == (DEFAULT_POLICY, ())


def test_unknown_keys_outside_of_a_forget_block_are_ignored():
    level = {"holds": "episodes", "ttl": -1, "forget": {"after_days": 0}}
    assert judge_policy({"L3": level, "L33x": 5, "l2": 7, 9: 9}) == ({"L3": LevelPolicy("L3", after_days=0)}, ())


def test_a_level_that_no_memory_has_is_judged_too_so_that_it_can_be_warned_of():
    assert judge_policy({"L7": {"forget": {"after_days": 1}}}).levels == {"L7": LevelPolicy("L7", after_days=1)}


def test_a_level_without_a_forget_block_has_no_rule():
    assert judge_policy({"L3": {"holds": "episodes"}}) == ({"L3": LevelPolicy("L3")}, ())


COUNT = "must be an integer of at least 0"
FLAG = "must be true or false"
UNKNOWN = (
    "is no rule; those are: never, only_user, after_days, unless_recalled, compress_after_days, archive_after_days"
)


@pytest.mark.parametrize(
    ("policy", "key", "problem"),
    [
        ({"L3": {"forget": {"after_day": 90}}}, "L3.forget.after_day", UNKNOWN),
        ({"levels": {"L3": {"forget": {"After_days": 90}}}}, "levels.L3.forget.After_days", UNKNOWN),
        ({"L3": {"forget": {90: 90}}}, "L3.forget.90", UNKNOWN),
        ({"L3": {"forget": {"after_days": -1}}}, "L3.forget.after_days", COUNT),
        ({"L3": {"forget": {"after_days": "90"}}}, "L3.forget.after_days", COUNT),
        ({"L3": {"forget": {"after_days": 90.0}}}, "L3.forget.after_days", COUNT),
        ({"L3": {"forget": {"after_days": True}}}, "L3.forget.after_days", COUNT),
        ({"L3": {"forget": {"after_days": None}}}, "L3.forget.after_days", COUNT),
        ({"L3": {"forget": {"unless_recalled": [3]}}}, "L3.forget.unless_recalled", COUNT),
        ({"L4": {"forget": {"compress_after_days": -30}}}, "L4.forget.compress_after_days", COUNT),
        ({"L4": {"forget": {"archive_after_days": "60d"}}}, "L4.forget.archive_after_days", COUNT),
        ({"L0": {"forget": {"never": 1}}}, "L0.forget.never", FLAG),
        ({"L0": {"forget": {"never": "yes"}}}, "L0.forget.never", FLAG),
        ({"L1": {"forget": {"only_user": None}}}, "L1.forget.only_user", FLAG),
        ({"L3": {"forget": 90}}, "L3.forget", "must be a mapping"),
        ({"L3": {"forget": None}}, "L3.forget", "must be a mapping"),
        ({"L3": 90}, "L3", "must be a mapping"),
        ({"levels": ["L3"]}, "levels", "must be a mapping"),
        ([], "policy", "must be a mapping"),
        (None, "policy", "must be a mapping"),
        ({"L3": {}, "levels": {"L3": {}}}, "levels.L3", "stands at the top and under levels"),
    ],
)
def test_a_fault_names_its_key_and_its_line(policy, key, problem):
    assert judge_policy(policy).faults == (PolicyFault(key, None, problem),)
    assert judge_policy(policy, {key: 7}).faults == (PolicyFault(key, 7, problem),)
    assert str(judge_policy(policy, {key: 7}).faults[0]) == f"{key} (line 7) {problem}"


def test_every_fault_is_named_not_the_first_alone():
    faults = judge_policy({"L2": {"forget": {"a": 1, "after_days": -1}}, "L3": 5}).faults
    assert [fault.key for fault in faults] == ["L2.forget.a", "L2.forget.after_days", "L3"]


@pytest.mark.parametrize(
    ("policy", "days", "outcome"),
    [
        (DEFAULT_POLICY["L4"], 29, "keep"),
        (DEFAULT_POLICY["L4"], 30, "compress"),
        (DEFAULT_POLICY["L4"], 59, "compress"),
        (DEFAULT_POLICY["L4"], 60, "archive"),
        (DEFAULT_POLICY["L4"], -5, "keep"),
        (LevelPolicy("L4", compress_after_days=30), 900, "compress"),
        (LevelPolicy("L4", archive_after_days=60), 900, "keep"),
        (LevelPolicy("L4", never=True, compress_after_days=1), 900, "keep"),
        (LevelPolicy("L4", compress_after_days=30, archive_after_days=10), 20, "keep"),
        (None, 900, "keep"),
    ],
)
def test_a_ledger_is_compressed_then_its_original_may_go(policy, days, outcome):
    assert decide_ledger(policy, NOW - days * DAY, NOW) == outcome
