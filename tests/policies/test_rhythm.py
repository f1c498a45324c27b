"""Sleep's parameters, phases, decay and recall, as tables and properties."""

from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.rhythm import (
    InvalidSetting,
    Rhythm,
    decayed,
    effective_rhythm,
    judge_setting,
    parse_setting,
    phase_of,
    raised,
    recall_score,
)

SECOND = 1000
YEAR = 31_536_000_000
HALF_LIFE = 604_800_000


def test_the_defaults_are_these():
    assert Rhythm()._asdict() == {
        "sleep_after_ms": 120_000,
        "deep_after_ms": 300_000,
        "auto_sleep": True,
        "consolidate_gap_ms": 120_000,
        "memory_recall": True,
        "recall_limit": 3,
        "memory_half_life_ms": 604_800_000,
        "archive_below": 0.08,
        "buffer_max": 400,
        "noise_window_ms": 60_000,
        "noise_converge_at": 5,
        "transcripts": (),
        "reviewer_evidence": "auto",
        "index_refresh": False,
    }


def test_every_default_is_a_valid_setting():
    given_ = Rhythm()._asdict() | {"transcripts": []}
    assert effective_rhythm(given_) == (Rhythm(), ())


@pytest.mark.parametrize(
    ("key", "value", "valid"),
    [
        ("sleep_after_ms", 1, True),
        ("sleep_after_ms", 1.5, True),
        ("sleep_after_ms", 0, False),
        ("sleep_after_ms", 0.99, False),
        ("sleep_after_ms", YEAR, True),
        ("sleep_after_ms", YEAR + 1, False),
        ("deep_after_ms", -1, False),
        ("deep_after_ms", nan, False),
        ("deep_after_ms", inf, False),
        ("deep_after_ms", "300000", False),
        ("deep_after_ms", True, False),
        ("consolidate_gap_ms", None, False),
        ("recall_limit", 1, True),
        ("recall_limit", 10_000, True),
        ("recall_limit", 10_001, False),
        ("recall_limit", 0, False),
        ("recall_limit", 2.0, False),
        ("buffer_max", True, False),
        ("archive_below", 0, True),
        ("archive_below", 10, True),
        ("archive_below", 10.01, False),
        ("archive_below", -0.01, False),
        ("auto_sleep", False, True),
        ("auto_sleep", 0, False),
        ("auto_sleep", "true", False),
        ("memory_recall", None, False),
        ("index_refresh", True, True),
        ("index_refresh", "auto", False),
        ("reviewer_evidence", "auto", True),
        ("reviewer_evidence", True, True),
        ("reviewer_evidence", False, True),
        ("reviewer_evidence", "yes", False),
        ("transcripts", ["a", "b"], True),
        ("transcripts", [], True),
        ("transcripts", "a", False),
        ("transcripts", [1], False),
        ("transcripts", [""], False),
        ("transcripts", ["a\0b"], False),
        ("tick_ms", 5, False),
    ],
)
def test_a_setting_is_valid_in_its_range_alone(key, value, valid):
    judged = judge_setting(key, value)

    assert isinstance(judged, InvalidSetting) is not valid
    if valid:
        assert getattr(effective_rhythm({key: value})[0], key) == judged
    else:
        assert judged.key == key
        assert effective_rhythm({key: value}) == (Rhythm(), (judged,))


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("sleep_after_ms", "90000", 90_000),
        ("archive_below", "0.5", 0.5),
        ("archive_below", "1.0", 1),
        ("recall_limit", "7", 7),
        ("auto_sleep", "false", False),
        ("reviewer_evidence", "auto", "auto"),
        ("transcripts", "a\nb c\n", ("a", "b c")),
        ("transcripts", "12", ("12",)),
        ("sleep_after_ms", "1_000", None),
        ("sleep_after_ms", "１０", None),
        ("sleep_after_ms", "nan", None),
        ("sleep_after_ms", "1e5", None),
        ("sleep_after_ms", "", None),
        ("auto_sleep", "True", None),
        ("unknown", "1", None),
    ],
)
def test_a_setting_is_read_from_text_as_it_would_be_written_in_json(key, text, value):
    setting = parse_setting(key, text)

    assert isinstance(setting, InvalidSetting) if value is None else setting == value


@pytest.mark.parametrize(
    ("idle", "phase"),
    [
        (-5 * SECOND, "awake"),
        (0, "awake"),
        (119 * SECOND, "awake"),
        (120 * SECOND - 1, "awake"),
        (120 * SECOND, "light"),
        (299 * SECOND, "light"),
        (300 * SECOND, "deep"),
        (YEAR, "deep"),
    ],
)
def test_silence_makes_the_phase(idle, phase):
    assert phase_of(idle, Rhythm()) == phase


@pytest.mark.parametrize("held", ["awake", "light", "deep"])
@pytest.mark.parametrize("idle", [-1, 0, 130 * SECOND, YEAR])
def test_without_automatic_sleep_the_phase_changes_by_hand_only(held, idle):
    assert phase_of(idle, Rhythm(auto_sleep=False), held) == held


@pytest.mark.parametrize(
    ("idle", "held", "phase"),
    [(0, "deep", "deep"), (0, "light", "light"), (130 * SECOND, "awake", "light"), (YEAR, "light", "deep")],
)
def test_sleep_begun_by_hand_is_never_lighter_than_the_silence(idle, held, phase):
    assert phase_of(idle, Rhythm(), held) == phase


@pytest.mark.parametrize(
    ("elapsed", "left"),
    [(0, 2.0), (HALF_LIFE, 1.0), (2 * HALF_LIFE, 0.5), (168 * 3600 * SECOND, 1.0), (-HALF_LIFE, 2.0)],
)
def test_a_week_halves_a_weight_and_a_clock_that_steps_back_changes_none(elapsed, left):
    assert decayed(2.0, elapsed, HALF_LIFE) == left


@given(
    st.floats(0, 10),
    st.lists(st.integers(0, 10 * HALF_LIFE), max_size=20),
    st.integers(1, YEAR),
)
def test_any_split_of_the_time_gives_the_same_weight(weight, parts, half_life):
    """Decay does not depend on how often one consolidates."""
    stepwise = weight
    for part in parts:
        stepwise = decayed(stepwise, part, half_life)

    assert stepwise == pytest.approx(decayed(weight, sum(parts), half_life), abs=1e-9)


@pytest.mark.parametrize(("weight", "by", "after"), [(1, 1, 2), (9.5, 1, 10), (10, 0.2, 10), (0.5, -1, 0)])
def test_a_weight_stays_between_0_and_10(weight, by, after):
    assert raised(weight, by) == after


@pytest.mark.parametrize(
    ("words", "tags", "title", "body", "weight", "score"),
    [
        (("bash",), ("bash",), "", "", 0.5, 3),
        (("bash",), ("bashful",), "", "", 0.5, 1.5),
        (("bashful",), ("bash",), "", "", 0.5, 1.5),
        (("go",), ("gopher",), "", "", 0.5, 1.5),
        (("gopher",), ("go",), "", "", 0.5, 0),  # a tag of two characters must be equal
        (("bash",), ("bash", "bashful"), "", "", 0.5, 3),
        (("bash",), (), "a bash", "bash", 0.5, 2),
        (("bash",), (), "", "a bash", 0.5, 1),
        (("bash",), ("bash",), "bash", "bash", 1.5, 10),
        (("a1", "b2"), ("a1", "b2"), "", "", 0, 3),
        (("zsh",), ("bash",), "fish", "tcsh", 9, 0),
        ((), ("bash",), "bash", "bash", 9, 0),
    ],
)
def test_recall_counts_tags_before_title_before_body(words, tags, title, body, weight, score):
    assert recall_score(words, tags, title, body, weight) == score
