"""Sleeping and waking: the phases by table, who wakes and who does not, and what a report says."""

import pytest
from support.sleepers import HOUR, MINUTE

from cortex.sleep.phases import (
    NOTES_MOST,
    REPORTS_KEPT,
    Rest,
    Wake,
    Work,
    current_phase,
    held_deep,
    hours_of_day,
    moved,
    silence_of,
    slept,
    woken,
)
from policies.rhythm import Rhythm

NOW = 1_785_585_600_000  # 2026-08-01T12:00:00Z
RHYTHM = Rhythm()
BY_HAND = Rhythm(auto_sleep=False)
WORK = Work(scanned=9, created=2, reinforced=1, archived=0, notes=("new: a",))


def awake(ago: int = 0) -> Rest:
    return woken(Rest(), Wake(NOW - ago, "session-step"), RHYTHM)


@pytest.mark.parametrize(
    ("silence", "phase"),
    [(0, "awake"), (119_999, "awake"), (120_000, "light"), (299_999, "light"), (300_000, "deep"), (HOUR, "deep"),
     (-1, "awake"), (-HOUR, "awake")],
)  # fmt: skip
def test_silence_makes_the_phase_also_where_the_clock_stepped_back(silence, phase):
    assert current_phase(awake(silence), NOW, RHYTHM) == phase


def test_a_memory_that_never_moved_is_deep_asleep():
    assert current_phase(Rest(), NOW, RHYTHM) == "deep"
    assert silence_of(Rest(), NOW) is None


@pytest.mark.parametrize("silence", [0, HOUR])
def test_without_automatic_sleep_only_a_hand_puts_to_sleep_and_a_session_still_wakes(silence):
    assert current_phase(awake(silence), NOW, BY_HAND) == "awake"
    asleep = held_deep(awake(silence), NOW)
    assert current_phase(asleep, NOW, BY_HAND) == "deep"
    assert current_phase(woken(asleep, Wake(NOW, "session-step"), BY_HAND), NOW, BY_HAND) == "awake"


def test_a_wake_signal_ends_a_sleep_begun_by_hand_and_closes_its_report_with_its_length():
    asleep = slept(held_deep(awake(0), NOW), WORK, NOW, RHYTHM)
    report = woken(asleep, Wake(NOW + 7 * MINUTE, "session-step"), RHYTHM).reports[-1]
    assert (report.asleep_at, report.woke_at, report.length_ms) == (NOW, NOW + 7 * MINUTE, 7 * MINUTE)
    assert (report.deepest, report.scanned, report.created, report.notes) == ("deep", 9, 2, ("new: a",))


def test_sleep_began_when_the_silence_was_long_enough():
    report = slept(awake(HOUR), WORK, NOW, RHYTHM).reports[-1]
    assert (report.asleep_at, report.woke_at) == (NOW - HOUR + 2 * MINUTE, None)


def test_a_second_consolidation_in_one_sleep_adds_to_its_report():
    twice = slept(slept(awake(HOUR), WORK, NOW, RHYTHM), WORK._replace(scanned=12), NOW + HOUR, RHYTHM)
    assert len(twice.reports) == 1
    report = twice.reports[0]
    assert (report.scanned, report.created, report.consolidated_at) == (12, 4, NOW + HOUR)


def test_a_light_sleep_that_grew_deep_was_deep_in_the_end():
    light = slept(awake(3 * MINUTE), WORK, NOW, RHYTHM)
    assert light.reports[-1].deepest == "light"
    assert woken(light, Wake(NOW + HOUR, "session-step"), RHYTHM).reports[-1].deepest == "deep"


def test_a_consolidation_while_awake_is_a_report_of_no_length():
    report = slept(awake(), WORK, NOW, RHYTHM).reports[-1]
    assert (report.deepest, report.length_ms, report.woke_at) == ("awake", 0, NOW)


def test_the_last_twenty_reports_and_twelve_notes_are_kept():
    rest = awake()
    many = WORK._replace(notes=tuple(str(number) for number in range(99)))
    for number in range(REPORTS_KEPT + 5):
        rest = slept(rest, many, NOW + number, RHYTHM)
    assert [report.consolidated_at for report in rest.reports] == [NOW + 5 + number for number in range(20)]
    assert {len(report.notes) for report in rest.reports} == {NOTES_MOST}


def test_activity_is_kept_by_hours_for_seven_days():
    rest = Rest()
    for hour in range(200):
        rest = woken(rest, Wake(NOW + hour * HOUR, "session-step"), RHYTHM)
    assert len(rest.hours) == 7 * 24
    assert hours_of_day(rest) == [7] * 24


def test_the_hours_of_the_day_are_those_of_the_wake_signals():
    rest = woken(awake(), Wake(NOW + 1, "session-step"), RHYTHM)
    assert hours_of_day(rest) == [0] * 12 + [2] + [0] * 11


@pytest.mark.parametrize(
    ("step", "wakes"), [(None, False), (-HOUR, False), (-5 * MINUTE, False), (-MINUTE, True), (0, True), (1, False)]
)
def test_a_line_of_a_transcript_wakes_where_it_is_newer_and_not_ahead_of_the_clock(step, wakes):
    rest = awake(5 * MINUTE)
    after = moved(rest, step if step is None else NOW + step, NOW, RHYTHM)
    assert (after != rest) is wakes
    if wakes:
        assert after.wake == Wake(NOW + step, "transcript")
