"""The commands of cards: search, recall, add, list, stats, forget, revive.

What recall and search print stands between marks, so that it is never taken as experience again.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any, Final, cast, get_args

from cortex.arguments import Call
from cortex.envelope import JSONObject
from cortex.errors import invalid, not_found
from cortex.privacy import strip_private
from cortex.sleep import cards as decks
from cortex.sleep.cards import Card, CardKind, Recalled, fact, used, weight_now
from cortex.sleep.config import rhythm_of
from cortex.sleep.keeping import card_act, held, keep_cards, look
from cortex.sleep.patterns import RECALLED_CLOSES, RECALLED_OPENS
from cortex.sleeping import actor_of, memory_of
from cortex.store.items import check_free_text, check_metadata
from policies.rhythm import REINFORCED_BY, SEARCH_LIMIT, Rhythm, raised
from policies.timestamps import format_instant

KINDS: Final = get_args(CardKind)
_DIGITS: Final = 6


def search(call: Call) -> JSONObject:
    """Show the cards that answer a text; nothing is counted."""
    now = call.now()
    with memory_of(call) as store:
        rhythm, kept = rhythm_of(store), look(store)
    hits = decks.recall(kept.cards.values(), call.positionals[0], now, rhythm.memory_half_life_ms, SEARCH_LIMIT)
    return _marked(hits, now, rhythm, kept.warnings)


def recall(call: Call) -> JSONObject:
    """Show the cards that answer a text best, and count that they were used."""
    now = call.now()
    with memory_of(call) as store:
        rhythm = rhythm_of(store)
        with held(store, now) as kept:
            half_life = rhythm.memory_half_life_ms
            hits = decks.recall(kept.cards.values(), call.positionals[0], now, half_life, rhythm.recall_limit)
            after = used(kept.cards, [hit.card.id for hit in hits], now, half_life)
            act = card_act("cards recall", actor_of(call), now, with_snapshot=False)
            warnings = keep_cards(store, after, act, recalled=len(hits)) if hits else ()
    return _marked(hits, now, rhythm, (*kept.warnings, *warnings))


def add(call: Call) -> JSONObject:
    """Write a fact; a card of that id takes the new text, comes back, and weighs more."""
    kind = _kind(call) or "fact"
    title, body = strip_private(call.positionals[0]), strip_private(call.options["--body"])
    check_metadata("the title", title)
    check_free_text("--body", body)
    now = call.now()
    card = fact(title, body, now, kind)

    def written(known: Card | None, rhythm: Rhythm) -> Card:
        return card if known is None else _rewritten(known, card, rhythm)

    return _change(call, card.id, written)


def cards(call: Call) -> JSONObject:
    """List the living cards, or the archived ones, the weightiest first."""
    kind, now = _kind(call), call.now()
    with memory_of(call) as store:
        rhythm, kept = rhythm_of(store), look(store)
    items = [
        _described(card, now, rhythm)
        for card in kept.cards.values()
        if card.archived == call.has("--archived") and kind in (None, card.kind)
    ]
    items.sort(key=lambda item: (-item["weight"], item["id"]))
    return {"items": items, "total": len(items), "warnings": list(kept.warnings)}


def stats(call: Call) -> JSONObject:
    """Count the cards."""
    with memory_of(call) as store:
        kept = look(store)
    every = kept.cards.values()
    return {
        "cards": len(every),
        "archived": sum(card.archived for card in every),
        "by_kind": dict(sorted(Counter(card.kind for card in every).items())),
        "by_source": dict(sorted(Counter(card.source for card in every).items())),
        "uses": sum(card.uses for card in every),
        "damaged_lines": list(kept.deck.damaged),
        "warnings": list(kept.warnings),
    }


def forget(call: Call) -> JSONObject:
    """Put a card away; nothing of it is lost."""
    now = call.now()
    return _change(
        call, call.positionals[0], lambda card, rhythm: decks.archive(_there(card), now, rhythm.memory_half_life_ms)
    )


def revive(call: Call) -> JSONObject:
    """Bring a card back."""
    now = call.now()
    return _change(
        call, call.positionals[0], lambda card, rhythm: decks.revive(_there(card), now, rhythm.memory_half_life_ms)
    )


def _change(call: Call, name: str, change: Callable[[Card | None, Rhythm], Card]) -> JSONObject:
    """Put a card in the place of the one of an id (None where there is none yet)."""
    now, actor = call.now(), actor_of(call)
    with memory_of(call) as store:
        rhythm = rhythm_of(store)
        with held(store, now) as kept:
            known = kept.cards.get(name)
            card = change(known, rhythm)
            act = card_act(call.command.name, actor, now)
            warnings = keep_cards(store, {**kept.cards, name: card}, act, card=name)
    outcome = "created" if known is None else "changed"
    return {"outcome": outcome, "card": _described(card, now, rhythm), "warnings": [*kept.warnings, *warnings]}


def _there(card: Card | None) -> Card:
    if card is None:
        raise not_found("no card has this id; `cortex cards list` shows them")
    return card


def _rewritten(known: Card, card: Card, rhythm: Rhythm) -> Card:
    from msgspec.structs import replace

    current = decks.touched(known, card.t, rhythm.memory_half_life_ms)
    if known.archived:
        current = decks.revive(known, card.t, rhythm.memory_half_life_ms)
    texts = {"t": card.t, "title": card.title, "body": card.body, "tags": card.tags}
    return replace(current, weight=raised(current.weight, REINFORCED_BY), **texts)


def _kind(call: Call) -> CardKind | None:
    kind = call.options.get("--kind")
    if kind is not None and kind not in KINDS:
        raise invalid(f"--kind takes one of: {', '.join(KINDS)}")
    return cast("CardKind | None", kind)


def _marked(hits: tuple[Recalled, ...], now: int, rhythm: Rhythm, warnings: tuple[str, ...]) -> JSONObject:
    items = [{"score": round(hit.score, _DIGITS), **_described(hit.card, now, rhythm)} for hit in hits]
    return {"opens": RECALLED_OPENS, "items": items, "closes": RECALLED_CLOSES, "warnings": list(warnings)}


def _described(card: Card, now: int, rhythm: Rhythm) -> dict[str, Any]:
    """Return a card as answers have it: what it weighs now, and times as timestamps."""
    return {
        "id": card.id,
        "kind": card.kind,
        "title": card.title,
        "body": card.body,
        "tags": list(card.tags),
        "weight": round(weight_now(card, now, rhythm.memory_half_life_ms), _DIGITS),
        "uses": card.uses,
        "last_used": format_instant(card.last_used) if card.last_used else None,
        "t": format_instant(card.t),
        "archived": card.archived,
        "source": card.source,
    }
