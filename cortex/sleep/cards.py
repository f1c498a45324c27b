"""Long-term cards: what a pattern becomes, how its weight falls and rises, and which cards answer a question. Pure.

Rules:

1. A weight lies between 0 and 10 and decays exponentially; it is brought up to date whenever its card is touched, so it
   does not depend on how often one looks.
2. A card whose weight fell below the limit is archived, never removed; an archived card is never recalled.
3. A pattern changes a card only where an event that it rests on is newer than the last mark, and each id once.
4. Same cards, same question, same time: same answer; ties go by id.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Final, Literal, NamedTuple

import msgspec

from cortex.sleep.patterns import Pattern, Patterns, card_id, tokens
from policies.rhythm import (
    FACT_WEIGHT,
    RECALLED_BY,
    REINFORCED_BY,
    REVIVED_TO,
    Rhythm,
    decayed,
    raised,
    recall_score,
)

CardKind = Literal["pitfall", "playbook", "hotspot", "unresolved", "fact"]
Source = Literal["sleep", "manual"]

# Said anew at every consolidation that sees its tool, a hotspot would never fade if that made it weigh more.
NEVER_REINFORCED: Final = "hotspot"


class Card(msgspec.Struct, frozen=True):
    """One long-term card. Times in ms since 1970 (`last_used` 0: never); `weight` is that of the time `weight_at`."""

    id: str
    t: int
    kind: CardKind
    title: str
    body: str
    tags: tuple[str, ...]
    weight: float
    weight_at: int
    uses: int = 0
    last_used: int = 0
    archived: bool = False
    source: Source = "sleep"


class Consolidated(NamedTuple):
    """The cards by id after a consolidation, and the ids of those that are new, reinforced and archived."""

    cards: dict[str, Card]
    created: tuple[str, ...]
    reinforced: tuple[str, ...]
    archived: tuple[str, ...]


class Recalled(NamedTuple):
    """A card that answers a question, and how well."""

    card: Card
    score: float


def weight_now(card: Card, now: int, half_life_ms: float) -> float:
    """Return what a card weighs at `now`."""
    return decayed(card.weight, now - card.weight_at, half_life_ms)


def touched(card: Card, now: int, half_life_ms: float) -> Card:
    """Return a card with its weight brought up to `now`; unchanged where the clock stepped back."""
    weight = weight_now(card, now, half_life_ms)
    return msgspec.structs.replace(card, weight=weight, weight_at=max(card.weight_at, now))


def fact(title: str, body: str, now: int, kind: CardKind = "fact") -> Card:
    """Return a card as a person writes it: its words are its tags."""
    words = tokens(f"{title}\n{body}")
    return Card(card_id(kind, title), now, kind, title, body, words, FACT_WEIGHT, now, source="manual")


def consolidate(cards: Mapping[str, Card], found: Patterns, since: int, now: int, rhythm: Rhythm) -> Consolidated:
    """Bring the patterns found into a copy of `cards`, then archive what has faded."""
    after = dict(cards)
    created: list[str] = []
    reinforced: list[str] = []
    for pattern in _latest(found, since):
        card = after.get(pattern.id)
        after[pattern.id] = _created(pattern, now) if card is None else _reinforced(card, pattern, now, rhythm)
        (created if card is None else reinforced).append(pattern.id)
    archived = faded(after.values(), now, rhythm)
    for name in archived:
        after[name] = archive(after[name], now, rhythm.memory_half_life_ms)
    return Consolidated(after, tuple(created), tuple(reinforced), archived)


def faded(cards: Iterable[Card], now: int, rhythm: Rhythm) -> tuple[str, ...]:
    """Return the ids of the cards that are due to be archived."""
    return tuple(
        card.id
        for card in cards
        if not card.archived and weight_now(card, now, rhythm.memory_half_life_ms) < rhythm.archive_below
    )


def archive(card: Card, now: int, half_life_ms: float) -> Card:
    """Return a card put away: nothing of it is lost."""
    return msgspec.structs.replace(touched(card, now, half_life_ms), archived=True)


def revive(card: Card, now: int, half_life_ms: float) -> Card:
    """Return a card brought back, with at least the weight that keeps it for a while."""
    current = touched(card, now, half_life_ms)
    return msgspec.structs.replace(current, archived=False, weight=max(current.weight, REVIVED_TO))


def recall(cards: Iterable[Card], question: str, now: int, half_life_ms: float, limit: int) -> tuple[Recalled, ...]:
    """Return the cards that answer `question` best, at most `limit`; archived ones never. Nothing is counted."""
    words = tokens(question)
    scored = [
        Recalled(card, _score(card, words, weight_now(card, now, half_life_ms))) for card in cards if not card.archived
    ]
    hits = [hit for hit in scored if hit.score > 0]
    return tuple(sorted(hits, key=lambda hit: (-hit.score, hit.card.id))[:limit])


def used(cards: Mapping[str, Card], ids: Collection[str], now: int, half_life_ms: float) -> dict[str, Card]:
    """Return a copy of `cards` in which those of `ids` were recalled once more."""
    return {name: _used(card, now, half_life_ms) if name in ids else card for name, card in cards.items()}


def _used(card: Card, now: int, half_life_ms: float) -> Card:
    current = touched(card, now, half_life_ms)
    return msgspec.structs.replace(
        current, weight=raised(current.weight, RECALLED_BY), uses=card.uses + 1, last_used=now
    )


def _latest(found: Patterns, since: int) -> list[Pattern]:
    """Return the patterns that rest on something newer than `since`: of one id the newest."""
    by_id: dict[str, Pattern] = {}
    for pattern in (pattern for patterns in found for pattern in patterns if pattern.newest > since):
        known = by_id.get(pattern.id)
        if known is None or pattern.newest >= known.newest:
            by_id[pattern.id] = pattern
    return list(by_id.values())


def _created(pattern: Pattern, now: int) -> Card:
    return Card(
        pattern.id, pattern.t, pattern.kind, pattern.title, pattern.body, pattern.tags, pattern.weight, weight_at=now
    )


def _reinforced(card: Card, pattern: Pattern, now: int, rhythm: Rhythm) -> Card:
    current = touched(card, now, rhythm.memory_half_life_ms)
    weight = raised(current.weight, 0 if card.kind == NEVER_REINFORCED else REINFORCED_BY)
    had_faded = card.archived or weight < rhythm.archive_below
    return msgspec.structs.replace(
        current,
        t=pattern.t,
        title=pattern.title,
        body=pattern.body,
        tags=pattern.tags,
        archived=False,
        weight=max(weight, REVIVED_TO) if had_faded else weight,
    )


def _score(card: Card, words: tuple[str, ...], weight: float) -> float:
    tags = tuple(tag.lower() for tag in card.tags)
    return recall_score(words, tags, card.title.lower(), card.body.lower(), weight)
