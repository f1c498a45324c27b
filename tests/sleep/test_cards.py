"""Cards: decay, upsert, archive, revive and recall, as tables and properties."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex.sleep.cards import (
    Card,
    archive,
    consolidate,
    fact,
    faded,
    recall,
    revive,
    touched,
    used,
    weight_now,
)
from cortex.sleep.patterns import Pattern, Patterns
from policies.rhythm import Rhythm

NOW = 1_786_363_200_000
HOUR = 3_600_000
WEEK = 168 * HOUR
RHYTHM = Rhythm()
NOTHING = Patterns((), (), (), ())


def card(name: str = "pitfall:bash", weight: float = 2.0, at: int = NOW, **changes) -> Card:
    kind = name.partition(":")[0]
    made = Card(name, at, kind, "bash failed", "check it", ("bash",), weight, at)
    return msgspec.structs.replace(made, **changes)


def pattern(name: str = "pitfall:bash", newest: int = NOW, weight: float = 2.0, title: str = "new title") -> Pattern:
    return Pattern(name.partition(":")[0], name, newest, title, "new body", ("bash", "enoent"), weight, newest)


def found(*patterns: Pattern) -> Patterns:
    return Patterns(patterns, (), (), ())


def by_id(*cards: Card) -> dict[str, Card]:
    return {one.id: one for one in cards}


def test_a_card_left_alone_for_168_hours_has_half_its_weight():
    assert weight_now(card(weight=3.0), NOW + WEEK, RHYTHM.memory_half_life_ms) == 1.5


@given(st.floats(0, 10), st.lists(st.integers(0, 4 * WEEK), max_size=12))
def test_decay_does_not_depend_on_how_often_a_card_is_touched(weight, parts):
    """Weight is brought up to date whenever a card is touched, so that decay does not depend on how often one looks."""
    stepwise = card(weight=weight)
    now = NOW
    for part in parts:
        now += part
        stepwise = touched(stepwise, now, RHYTHM.memory_half_life_ms)

    assert stepwise.weight == pytest.approx(weight_now(card(weight=weight), now, RHYTHM.memory_half_life_ms), abs=1e-9)


def test_a_clock_that_stepped_back_changes_no_weight():
    assert touched(card(), NOW - WEEK, RHYTHM.memory_half_life_ms) == card()


def test_a_pattern_of_a_new_id_becomes_a_card():
    after = consolidate({}, found(pattern(newest=NOW - 5)), NOW - 10, NOW, RHYTHM)

    assert after.cards == by_id(
        Card("pitfall:bash", NOW - 5, "pitfall", "new title", "new body", ("bash", "enoent"), 2.0, NOW)
    )
    assert (after.created, after.reinforced, after.archived) == (("pitfall:bash",), (), ())


@pytest.mark.parametrize(
    ("before", "weight"),
    [
        (card(weight=2.0), 3.0),
        (card(weight=9.5), 10.0),
        (card(weight=4.0, at=NOW - WEEK), 3.0),  # decays first
        (card(weight=0.05, archived=True), 1.05),
        (card("hotspot:bash", weight=2.0), 2.0),
        (card("hotspot:bash", weight=0.05, archived=True), 1.0),
        (card("hotspot:bash", weight=0.05), 1.0),  # else it would be archived in the same breath
        (card("hotspot:bash", weight=3.0, archived=True), 3.0),
    ],
)
def test_a_pattern_of_a_known_id_renews_revives_and_all_but_hotspots_gain_one(before, weight):
    before = msgspec.structs.replace(before, uses=7, last_used=3)

    after = consolidate(by_id(before), found(pattern(before.id)), NOW - 1, NOW, RHYTHM)

    assert after.reinforced == (before.id,)
    assert after.archived == ()
    assert after.cards[before.id] == Card(
        before.id, NOW, before.kind, "new title", "new body", ("bash", "enoent"), weight, NOW, uses=7, last_used=3
    )


@pytest.mark.parametrize(("newest", "touches"), [(NOW - 1, True), (NOW - 2, False), (NOW - 3, False)])
def test_a_pattern_that_rests_on_nothing_new_changes_no_card(newest, touches):
    after = consolidate(by_id(card()), found(pattern(newest=newest)), NOW - 2, NOW, RHYTHM)

    assert bool(after.reinforced) is touches
    assert (after.cards == by_id(card())) is not touches


def test_several_patterns_of_one_id_count_once_and_the_newest_is_said():
    patterns = found(pattern(newest=NOW - 5, title="old"), pattern(newest=NOW, title="new"), pattern(newest=NOW - 9))

    after = consolidate(by_id(card()), patterns, NOW - 10, NOW, RHYTHM)

    assert after.cards["pitfall:bash"].weight == 3.0
    assert after.cards["pitfall:bash"].title == "new"


@pytest.mark.parametrize(("weight", "is_archived"), [(0.08, False), (0.0799, True), (0.0, True)])
def test_below_the_limit_a_card_is_archived_and_nothing_is_removed(weight, is_archived):
    after = consolidate(by_id(card(weight=weight)), NOTHING, 0, NOW, RHYTHM)

    assert after.archived == (("pitfall:bash",) if is_archived else ())
    assert after.cards == by_id(card(weight=weight, archived=is_archived))


def test_an_archived_card_is_not_archived_again():
    assert faded([card(weight=0.01, archived=True)], NOW, RHYTHM) == ()


@pytest.mark.parametrize(("weight", "back"), [(0.01, 1.0), (1.0, 1.0), (5.0, 5.0)])
def test_revive_brings_a_card_back_with_at_least_one(weight, back):
    put_away = archive(card(weight=weight), NOW, RHYTHM.memory_half_life_ms)
    assert put_away.archived
    assert revive(put_away, NOW, RHYTHM.memory_half_life_ms) == card(weight=back)


def test_a_fact_is_written_by_hand_with_its_words_as_tags():
    assert fact("Deploy  Friday", "never deploy", NOW) == Card(
        "fact:deploy friday",
        NOW,
        "fact",
        "Deploy  Friday",
        "never deploy",
        ("deploy", "friday", "never"),
        2.0,
        NOW,
        source="manual",
    )


def test_recall_ranks_by_points_times_weight_and_leaves_out_the_archived():
    cards = [
        card("fact:b", 1.0, title="", body=""),
        card("fact:a", 1.0, title="", body=""),
        card("fact:light", 0.5, title="", body=""),
        card("fact:old", 2.0, at=NOW - 2 * WEEK, title="", body=""),
        card("fact:gone", 9.0, archived=True),
        card("fact:other", 9.0, title="", body="", tags=("zsh",)),
    ]

    hits = recall(cards, "Bash?", NOW, RHYTHM.memory_half_life_ms, 3)

    assert [(hit.card.id, hit.score) for hit in hits] == [("fact:a", 4.5), ("fact:b", 4.5), ("fact:light", 3.0)]


def test_a_tool_is_found_whatever_the_case_of_its_name():
    hits = recall([card("hotspot:bash", tags=("Bash",), title="", body="")], "bash", NOW, WEEK, 3)
    assert [hit.score for hit in hits] == [7.5]


def test_being_recalled_counts_one_use_and_a_fifth_of_a_weight():
    cards = by_id(card(weight=4.0, at=NOW - WEEK), card("fact:a"))

    after = used(cards, ["pitfall:bash"], NOW, RHYTHM.memory_half_life_ms)

    assert after["pitfall:bash"].weight == pytest.approx(2.2)
    assert (after["pitfall:bash"].uses, after["pitfall:bash"].last_used) == (1, NOW)
    assert after["fact:a"] is cards["fact:a"]


def test_a_card_is_written_and_read_as_one_line_of_json():
    line = msgspec.json.encode(card())

    assert b"\n" not in line
    assert list(msgspec.json.decode(line)) == [
        *("id", "t", "kind", "title", "body", "tags", "weight", "weight_at", "uses", "last_used", "archived", "source")
    ]
    assert msgspec.json.decode(line, type=Card) == card()
