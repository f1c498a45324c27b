"""State and cards on disk: read together, changed together under one lock.

Two files cannot be renamed at once. So the state is written first, and holds the cards that go with it until they are
in their file: whoever comes after a kill in between finds them there, and reads the pair as it was meant.

1. A damaged state is set aside as `state.json.corrupt-<time>`, and said; it is never reset in silence.
2. Damaged lines among the cards stay where they are, and are said.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final, NamedTuple

from msgspec.structs import replace

from cortex.layout import CARDS, SLEEP_STATE
from cortex.nofollow import NotRegularError
from cortex.sleep.cards import Card
from cortex.sleep.deck import Deck, changed_cards, read_deck, render_deck
from cortex.sleep.state import Redo, State, read_state, render_state, salvaged_runs
from cortex.store.files import read_state as read_file
from cortex.store.files import refused, stage
from cortex.store.governor import Act, Change, govern, hash_of
from cortex.store.store import Store

# One lock guards both files.
GUARD: Final = SLEEP_STATE


class Kept(NamedTuple):
    """State and cards as they belong together, the deck as it lies in the file, and what is to be said.

    `set_aside` is the one warning that nobody will give again.
    """

    state: State
    cards: dict[str, Card]
    deck: Deck
    warnings: tuple[str, ...]
    set_aside: str = ""


def look(store: Store) -> Kept:
    """Read state and cards; nothing is locked or changed.

    Raises:
        CortexError: `governance_refused` where one of the files is a link or no file.
        OSError: One of them cannot be read.
    """
    data = _read(store, SLEEP_STATE)
    state = None if data is None else read_state(data)
    cards = _read(store, CARDS)
    deck = read_deck(cards)
    warnings = [f"{CARDS}: line {number} is no card; it was left as it is" for number in deck.damaged]
    if state is None:
        state = State(mark=_newest(deck), runs=salvaged_runs(data or b""))
        if data is not None:
            warnings.append(f"{SLEEP_STATE} is damaged: it counts for nothing, and the next write sets it aside")
    if state.redo is not None and state.redo.before == hash_of(cards):
        return Kept(state, deck.cards | {card.id: card for card in state.redo.cards}, deck, tuple(warnings))
    return Kept(replace(state, redo=None), deck.cards, deck, tuple(warnings))


@contextmanager
def held(store: Store, now: int, polls: int | None = None) -> Iterator[Kept]:
    """Hold state and cards for a change; a damaged state is set aside first.

    Raises:
        BusyError: Another process holds them for too long.
        CortexError: `governance_refused` as for `look`.
        OSError: The disk refused.
    """
    with store.locks.hold(GUARD, polls) as lock:
        data = _read(store, SLEEP_STATE)
        kept = look(store)
        if data is not None and read_state(data) is None:
            lock.begin()
            aside = _set_aside(store, data, lock.prefix, now)
            warnings = (*kept.warnings[:-1], aside, *keep_state(store, kept.state, "", now))
            kept = kept._replace(warnings=warnings, set_aside=aside)
        yield kept


def keep_state(store: Store, state: State, actor: str, now: int) -> tuple[str, ...]:
    """Write the state alone; return warnings. The caller holds the lock (`held`)."""
    act = Act("sleep", actor, SLEEP_STATE, now, log=None, guard=GUARD, with_snapshot=False)
    return govern(store, act, lambda _: Change(render_state(state))).warnings


def keep_cards(store: Store, cards: Mapping[str, Card], act: Act, **audit: object) -> tuple[str, ...]:
    """Write the cards alone; return warnings. The caller holds the lock (`held`)."""

    def plan(data: bytes | None) -> Change | None:
        after = render_deck(read_deck(data), cards)
        return Change(after, audit=audit) if after or data else None

    return govern(store, act, plan).warnings


def keep_both(
    store: Store, kept: Kept, state: State, cards: Mapping[str, Card], act: Act, **audit: object
) -> tuple[str, ...]:
    """Write state and cards so that whoever comes later finds both or neither; return warnings. The caller holds both.

    Raises:
        CortexError: `governance_refused`. What was meant stands if the state was written.
    """
    changed = changed_cards(kept.deck, cards)
    redo = Redo(hash_of(_read(store, CARDS)), tuple(changed)) if changed else None
    warnings = keep_state(store, replace(state, redo=redo), act.actor, act.now)
    return (*warnings, *keep_cards(store, cards, act, **audit))


def card_act(name: str, actor: str, now: int, *, with_snapshot: bool = True) -> Act:
    """Return the act of changing cards."""
    return Act(name, actor, CARDS, now, guard=GUARD, with_snapshot=with_snapshot)


def _newest(deck: Deck) -> int:
    """Return a mark that is no older than what the cards tell of, for a state that is lost: nothing counts twice."""
    return max((card.t for card in deck.cards.values() if card.source == "sleep"), default=0)


def _read(store: Store, path: str) -> bytes | None:
    with store.place(path) as place:
        if place is None:
            return None
        try:
            return read_file(place.folder, place.name).data
        except NotRegularError as error:
            raise refused(f"{path} {error}: it is not trusted") from error


def _set_aside(store: Store, data: bytes, prefix: str, now: int) -> str:
    """Keep a copy of a damaged state beside it, and say so."""
    stamp = card_act("", "", now).stamp
    with store.made_place(SLEEP_STATE) as place:
        aside, number = f"{place.name}.corrupt-{stamp}", 1
        while _is_there(place.folder, aside):
            number += 1
            aside = f"{place.name}.corrupt-{stamp}-{number}"
        staged = stage(place.folder, prefix, data, None)
        os.rename(staged, aside, src_dir_fd=place.folder, dst_dir_fd=place.folder)
        os.fsync(place.folder)
    return f"{SLEEP_STATE} was damaged: it was set aside as {aside}, and sleep begins anew; the cards are as they were"


def _is_there(folder: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True
