"""What is news of a run's findings: new, worse, cleared, the weekly reminder; and what stays quiet."""

from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from support.health_tree import DAY, MINUTE, NOW

from healthcheck.checks import FINDINGS
from healthcheck.judgement import Facts, Finding, finding
from healthcheck.news import Heard, Ledger, Level, Notices, Silence, ingest, key_of, take

FEW = settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
STALE = "retrieval::retrieval-stale"
FAILED = "reviewer::reviewer-latest-failed"


def stale(age: int = DAY + 1) -> Finding:
    return finding("retrieval-stale", "It is stale.", Facts(age_ms=age))


def failed() -> Finding:
    return finding("reviewer-latest-failed", "It failed.")


class Memory:
    """A ledger, run after run."""

    def __init__(self) -> None:
        self.ledger = Ledger()

    def run(self, now: int, *findings: Finding, notify: bool = True, **more: Any) -> Notices:
        self.ledger, notices = take(self.ledger, findings, now, notify=notify, **more)
        return notices

    def silence(self, key: str, until: int, now: int = NOW) -> None:
        entry = self.ledger.findings[key]
        silence = Silence("why not", now, until, entry.level)
        self.ledger = replace(self.ledger, findings={**self.ledger.findings, key: replace(entry, silence=silence)})


def kinds(notices: Notices) -> dict[str, str]:
    """What a notification tells: the kind of each finding that it tells, and what it says is cleared."""
    told = {key: standing.kind for key, standing in notices.standings.items() if standing.told}
    return {**told, **dict.fromkeys(notices.recovered, "cleared")}


def test_distinct_findings_never_share_a_key() -> None:
    keys = {key_of(finding(spec.id, "")): spec.id for spec in FINDINGS}
    assert len(keys) == len(FINDINGS)
    assert all(key == f"{spec.check}::{spec.id}" for key, spec in zip(keys, FINDINGS, strict=True))


STALE_AT_FIRST = (0, [stale()], {STALE: "new"})


@pytest.mark.parametrize(
    "runs",
    [
        pytest.param([STALE_AT_FIRST, (MINUTE, [stale()], {})], id="what is unchanged is told once"),
        pytest.param([STALE_AT_FIRST, (MINUTE, [], {STALE: "cleared"}), (2, [], {})], id="a recovery is told once"),
        pytest.param([STALE_AT_FIRST, (1, [], {STALE: "cleared"}), (2, [stale()], {STALE: "new"})], id="loud again"),
        pytest.param([STALE_AT_FIRST, (1, [stale(), failed()], {FAILED: "new"})], id="the new one alone"),
        pytest.param([STALE_AT_FIRST, (1, [stale(2 * DAY + 1)], {})], id="not yet twice"),
        pytest.param([STALE_AT_FIRST, (1, [stale(2 * DAY + 2)], {STALE: "worse"})], id="twice the measure is worse"),
        pytest.param(
            [STALE_AT_FIRST, (1, [stale(2 * DAY + 2)], {STALE: "worse"}), (2, [stale(3 * DAY)], {})], id="worse, once"
        ),
        pytest.param([STALE_AT_FIRST, (7 * DAY - 1, [stale()], {})], id="no reminder before a week"),
        pytest.param([STALE_AT_FIRST, (7 * DAY, [stale()], {STALE: "unchanged"})], id="a reminder after a week"),
        pytest.param(
            [
                STALE_AT_FIRST,
                (7 * DAY, [stale()], {STALE: "unchanged"}),
                (14 * DAY - 1, [stale()], {}),
                (14 * DAY, [stale()], {STALE: "unchanged"}),
            ],
            id="one reminder a week",
        ),
        pytest.param(
            [(number * 2 * MINUTE, [stale()], {STALE: "new"} if not number else {}) for number in range(5)]
            + [(8 * DAY, [stale()], {})],
            id="a warning that converged is not even reminded of",
        ),
        pytest.param(
            [(number * 2 * MINUTE, [stale()], {STALE: "new"} if not number else {}) for number in range(9)]
            + [(DAY, [], {STALE: "cleared"}), (2 * DAY, [stale()], {STALE: "new"})],
            id="what converged heals, and is loud again",
        ),
        pytest.param(
            [(number * 2 * MINUTE, [failed()], {FAILED: "new"} if not number else {}) for number in range(9)]
            + [(8 * DAY, [failed()], {FAILED: "unchanged"})],
            id="a critical finding never converges",
        ),
    ],
)
def test_a_notification_tells_change(runs: list[tuple[int, list[Finding], dict[str, str]]]) -> None:
    memory = Memory()
    assert [kinds(memory.run(NOW + after, *findings)) for after, findings, _ in runs] == [told for *_, told in runs]


def test_seen_again_within_the_window_does_not_converge() -> None:
    memory = Memory()
    for second in range(20):
        memory.run(NOW + second, stale())
    assert memory.ledger.findings[STALE].count == 20
    assert not memory.ledger.findings[STALE].converged
    assert memory.run(NOW + 19 + MINUTE, stale()).standings[STALE].converged


def test_what_other_runs_saw_is_told_by_the_next_notification_once() -> None:
    memory = Memory()
    assert memory.run(NOW, stale(), notify=False).standings[STALE].kind == "new"
    assert memory.run(NOW + 1, stale(), notify=False).standings[STALE].kind == "unchanged"
    assert kinds(memory.run(NOW + 2, stale())) == {STALE: "new"}
    assert memory.run(NOW + 3, notify=False).recovered == (STALE,)
    assert memory.run(NOW + 4, notify=False).recovered == ()
    assert kinds(memory.run(NOW + 5)) == {STALE: "cleared"}
    assert kinds(memory.run(NOW + 6)) == {}


def test_a_recovery_is_not_told_of_what_has_returned() -> None:
    memory = Memory()
    memory.run(NOW, stale())
    memory.run(NOW + 1, notify=False)
    assert kinds(memory.run(NOW + 2, stale())) == {STALE: "new"}


@pytest.mark.parametrize(
    ("after", "age", "told", "silenced"),
    [
        (1, DAY + 1, {}, True),
        (10 * DAY - 1, DAY + 1, {}, True),
        (1, 2 * DAY + 1, {}, True),
        (1, 2 * DAY + 2, {STALE: "worse"}, False),
        (10 * DAY, DAY + 1, {STALE: "unchanged"}, False),
    ],
)
def test_a_silence_holds_to_its_end_or_until_it_is_worse(
    after: int, age: int, told: dict[str, str], silenced: bool
) -> None:
    memory = Memory()
    memory.run(NOW, stale())
    memory.silence(STALE, NOW + 10 * DAY)
    notices = memory.run(NOW + after, stale(age))
    assert kinds(notices) == told
    assert notices.is_silenced(stale()) is silenced


def test_a_silence_that_broke_in_a_run_that_tells_nobody_is_told_by_the_next() -> None:
    memory = Memory()
    memory.run(NOW, stale())
    memory.silence(STALE, NOW + 10 * DAY)
    assert memory.run(NOW + 1, stale(3 * DAY), notify=False).standings[STALE].broke_silence
    assert memory.ledger.findings[STALE].silence is None
    assert kinds(memory.run(NOW + 2, stale(3 * DAY))) == {STALE: "worse"}


def test_a_silence_ends_with_what_it_silenced() -> None:
    memory = Memory()
    memory.run(NOW, stale())
    memory.silence(STALE, NOW + 10 * DAY)
    assert kinds(memory.run(NOW + 1)) == {STALE: "cleared"}
    assert kinds(memory.run(NOW + 2, stale())) == {STALE: "new"}


@pytest.mark.parametrize(
    ("level", "before", "worse"),
    [
        (Level(2), Level(1), True),
        (Level(1), Level(2), False),
        (Level(1, 20), Level(1, 10), True),
        (Level(1, 19), Level(1, 10), False),
        (Level(1, 0), Level(1, 0), False),
        (Level(1, 1), Level(1, 0), True),
        (Level(1, None), Level(1, 10), False),
        (Level(1, 10), Level(1, None), False),
    ],
)
def test_worse_is_a_severity_above_or_twice_the_measure(level: Level, before: Level, worse: bool) -> None:
    assert level.is_worse_than(before) is worse


def test_what_a_run_can_say_nothing_of_stays_as_it_is() -> None:
    memory = Memory()
    memory.run(NOW, stale(), failed())
    before = memory.ledger.findings[FAILED]
    assert kinds(memory.run(NOW + 1, scope=lambda key: key == STALE)) == {STALE: "cleared"}
    assert memory.ledger.findings == {FAILED: before}


states = st.lists(
    st.tuples(st.integers(1, 3 * DAY), st.booleans(), st.sets(st.sampled_from([stale, failed]))), max_size=40
)


@FEW
@given(states)
def test_any_sequence_of_runs_gives_one_message_a_change_and_one_reminder_a_week(
    runs: list[tuple[int, bool, set[Any]]],
) -> None:
    """Any sequence of runs gives at most one message a change and one reminder a week; a recovery is told once."""
    memory, now, before = Memory(), NOW, Counter[str]()
    reminded, appeared, healed = [], Counter[str](), Counter[str]()
    messages, recoveries = Counter[str](), Counter[str]()
    for pause, notify, present in runs:
        now += pause
        found = [make() for make in present]
        current = Counter(key_of(one) for one in found)
        appeared += current - before
        healed += before - current
        before = current
        notices = memory.run(now, *found, notify=notify)
        said = kinds(notices) if notify else {}
        messages += Counter(key for key, kind in said.items() if kind == "new")
        recoveries += Counter(key for key, kind in said.items() if kind == "cleared")
        reminded += [now] if "unchanged" in said.values() else []
        assert "worse" not in said.values()
    assert messages <= appeared
    assert recoveries <= healed
    assert all(later - earlier >= 7 * DAY for earlier, later in pairwise(reminded))


@FEW
@given(st.lists(st.tuples(st.integers(1, 3 * DAY), st.sets(st.sampled_from([stale, failed]))), max_size=40))
def test_where_every_run_tells_each_change_is_told_once(runs: list[tuple[int, set[Any]]]) -> None:
    memory, now, before = Memory(), NOW, set[str]()
    for pause, present in runs:
        now += pause
        current = {key_of(make()) for make in present}
        said = kinds(memory.run(now, *(make() for make in present)))
        assert {key for key, kind in said.items() if kind == "new"} == current - before
        assert {key for key, kind in said.items() if kind == "cleared"} == before - current
        before = current


def test_one_alert_ninety_times_is_one_entry_and_another_comes_out_at_once() -> None:
    ledger, news = Ledger(), []
    for attempt in range(1, 91):
        heard = [Heard("heart", f"no answer, attempt {attempt}", ok=False)]
        heard += [Heard("heart", "disk is full", ok=False)] if attempt == 45 else []
        ledger, said = ingest(ledger, heard, NOW + attempt * 10 * MINUTE)
        news += [(attempt, *one) for one in said]
    entry = ledger.alerts["heart::no answer, attempt #"]
    assert (entry.count, entry.last, entry.converged) == (90, NOW + 900 * MINUTE, True)
    assert news == [
        (1, "new", "heart::no answer, attempt #"),
        (5, "known", "heart::no answer, attempt #"),
        (45, "new", "heart::disk is full"),
    ]


def test_a_healthy_tick_closes_what_its_organ_said_and_no_other() -> None:
    alert, tick = Heard("heart", "no answer", ok=False), Heard("heart", None, ok=True)
    ledger, _ = ingest(Ledger(), [alert, Heard("lung", "no air", ok=False)], NOW)
    for number in range(1, 9):
        ledger, _ = ingest(ledger, [alert], NOW + number * 2 * MINUTE)
    assert ledger.alerts["heart::no answer"].converged
    ledger, news = ingest(ledger, [tick, tick], NOW + DAY)
    assert news == (("recovered", "heart::no answer"),)
    assert list(ledger.alerts) == ["lung::no air"]
    ledger, news = ingest(ledger, [alert], NOW + DAY + 1)
    assert news == (("new", "heart::no answer"),)
    assert ledger.alerts["heart::no answer"].count == 1


@pytest.mark.parametrize(("after", "is_open"), [(7 * DAY - 1, True), (7 * DAY, False)])
def test_an_alert_that_is_not_heard_for_a_week_is_closed(after: int, is_open: bool) -> None:
    ledger, _ = ingest(Ledger(), [Heard("heart", "no answer", ok=False)], NOW)
    assert bool(ingest(ledger, [], NOW + after).ledger.alerts) is is_open
    assert bool(take(ledger, [], NOW + after, notify=False).ledger.alerts) is is_open


def test_an_alert_of_another_source_never_meets_a_finding() -> None:
    ledger, _ = ingest(Ledger(), [Heard("retrieval", "retrieval-stale", ok=False)], NOW)
    after, notices = take(ledger, [stale()], NOW + 1, notify=True)
    assert kinds(notices) == {STALE: "new"}
    assert (after.findings[STALE].count, after.alerts[STALE].count) == (1, 1)
