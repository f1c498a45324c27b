"""The file of cards: what is no card stays where it is, and what did not change keeps its bytes."""

import msgspec
import pytest
from msgspec.structs import replace

from cortex.sleep.cards import fact
from cortex.sleep.deck import changed_cards, read_deck, render_deck

NOW = 1_785_585_600_000
TIDE = fact("Tide", "Twice a day.", NOW)
MOON = fact("Moon", "Once a month.", NOW)
LINE = msgspec.json.encode(TIDE)


@pytest.mark.parametrize(
    "damaged",
    [b"{", b"[]", b"\0" * 300, b'{"id":"x"}', LINE[:-9], LINE + LINE, b"\xff", LINE.replace(b"2.0", b"11"),
     LINE.replace(b'"fact"', b'"song"'), LINE.replace(b'"fact:tide"', b'""'), LINE.replace(b"2.0", b"1e400")],
)  # fmt: skip
def test_a_line_that_is_no_card_is_kept_where_it_is_and_reported(damaged):
    data = LINE + b"\n" + damaged + b"\n"
    deck = read_deck(data)
    assert (list(deck.cards), deck.damaged) == ([TIDE.id], (2,))
    heavier = replace(TIDE, weight=3.0)
    written = render_deck(deck, {TIDE.id: heavier, MOON.id: MOON})
    assert written.split(b"\n") == [msgspec.json.encode(heavier), damaged, msgspec.json.encode(MOON), b""]


def test_a_second_card_of_one_id_is_damage_and_the_first_one_counts():
    deck = read_deck(LINE + b"\n" + LINE.replace(b"Twice", b"Never") + b"\n")
    assert (deck.cards[TIDE.id].body, deck.damaged) == ("Twice a day.", (2,))


def test_a_card_that_did_not_change_keeps_its_bytes_with_keys_of_others():
    odd = b' {"future": 1, ' + LINE[1:]
    deck = read_deck(odd + b"\n")
    assert render_deck(deck, deck.cards) == odd + b"\n"


@pytest.mark.parametrize("data", [None, b""])
def test_no_file_holds_no_card(data):
    deck = read_deck(data)
    assert (deck.cards, deck.damaged, render_deck(deck, {})) == ({}, (), b"")


def test_blank_lines_are_neither_cards_nor_damage():
    assert read_deck(b"\n" + LINE + b"\n\n").damaged == ()


def test_a_last_line_without_its_end_is_a_card_and_gets_its_end():
    deck = read_deck(LINE)
    assert render_deck(deck, deck.cards | {MOON.id: MOON}) == LINE + b"\n" + msgspec.json.encode(MOON) + b"\n"


def test_the_changed_cards_are_the_new_ones_and_the_different_ones():
    deck = read_deck(LINE + b"\n")
    assert changed_cards(deck, {TIDE.id: TIDE, MOON.id: MOON}) == [MOON]
    assert changed_cards(deck, {TIDE.id: replace(TIDE, uses=1)}) == [replace(TIDE, uses=1)]
