"""The lines of `CORTEX/memory.jsonl`, one card each. Pure: bytes in, cards and bytes out.

Rules:

1. A line that is no card is kept where it is and reported by its number: a blank one, a torn one, a second of one id.
2. A card that did not change keeps its bytes.
"""

from collections.abc import Mapping
from math import isfinite
from typing import NamedTuple

import msgspec

from cortex.sleep.cards import Card
from policies.rhythm import WEIGHT_MOST

_CARDS = msgspec.json.Decoder(Card)


class Line(NamedTuple):
    """A line without its LF; `card` is None where it is none."""

    raw: bytes
    card: Card | None


class Deck(NamedTuple):
    """The lines of the file, the cards by id, and the numbers of lines that are damaged."""

    lines: tuple[Line, ...]
    cards: dict[str, Card]
    damaged: tuple[int, ...]


def read_deck(data: bytes | None) -> Deck:
    """Return the cards in a file, which may not be there."""
    lines = []
    cards: dict[str, Card] = {}
    damaged = []
    for number, raw in enumerate((data or b"").removesuffix(b"\n").split(b"\n"), 1):
        card = _card(raw)
        if card is not None and card.id in cards:
            card = None
        if card is not None:
            cards[card.id] = card
        elif raw.strip():
            damaged.append(number)
        lines.append(Line(raw, card))
    return Deck(tuple(lines) if data else (), cards, tuple(damaged))


def render_deck(deck: Deck, cards: Mapping[str, Card]) -> bytes:
    """Return the file with `cards` in place of those that it has: changed ones where they are, new ones at the end."""
    lines = [_line(line, cards) for line in deck.lines]
    lines += [msgspec.json.encode(card) for name, card in cards.items() if name not in deck.cards]
    return b"".join(line + b"\n" for line in lines)


def changed_cards(deck: Deck, cards: Mapping[str, Card]) -> list[Card]:
    """Return the cards that are new or differ from those in the file."""
    return [card for name, card in cards.items() if deck.cards.get(name) != card]


def _line(line: Line, cards: Mapping[str, Card]) -> bytes:
    if line.card is None:
        return line.raw
    card = cards.get(line.card.id, line.card)
    return line.raw if card == line.card else msgspec.json.encode(card)


def _card(raw: bytes) -> Card | None:
    try:
        card = _CARDS.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    sound = card.id and isfinite(card.weight) and 0 <= card.weight <= WEIGHT_MOST
    return card if sound else None
