"""What each hook does: prompt injects cards, step wakes, tool writes down a call, stop has the session consolidated."""

from contextlib import contextmanager
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from cortex.arguments import Call
from cortex.hook import POLLS, Event, log_fault
from cortex.sleep.calls import DECLINED, tool_name
from cortex.sleep.config import rhythm_of
from cortex.sleep.keeping import Kept, held, keep_state, look
from cortex.sleep.patterns import RECALLED_CLOSES, RECALLED_OPENS, public_text
from cortex.store.locks import BusyError
from cortex.store.store import Store, open_store

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cortex.sleep.cards import Card
    from policies.rhythm import Rhythm

PROMPT_CHARACTERS: Final = 65_536
ID_CHARACTERS: Final = 256
LINE_CHARACTERS: Final = 300
# The same prompt within so long is one prompt, told by two hooks.
SAME_PROMPT_MS: Final = 10_000
_INTRODUCTION: Final = "From earlier sessions, found by the words of this prompt; it may or may not apply:"


def prompt(call: Call, event: Event) -> str:
    """Return the cards that answer a prompt, between marks; nothing where none does, or they were told just now.

    They count as recalled, unless somebody else is writing: then they are told all the same.
    """
    text = event.text("prompt")[:PROMPT_CHARACTERS]
    with open_store(call.memory_root(), POLLS) as store:
        rhythm = rhythm_of(store)
        if not rhythm.memory_recall:
            return ""
        try:
            with _held(store, call) as kept:
                return injection(
                    _recalled(store, kept, rhythm, call, _fingerprint(event.text("session_id"), text), text)
                )
        except BusyError:
            return injection(_fitting(look(store), rhythm, text, call.now()))


def step(call: Call, _: Event) -> str:
    """Take the wake signal: the session moved."""
    from cortex.sleep.phases import after_sign

    now = call.now()
    with open_store(call.memory_root(), POLLS) as store:
        rhythm = rhythm_of(store)
        with _held(store, call) as kept:
            rest = after_sign(kept.state.rest, "session-step", now, rhythm)
            keep_state(store, replace(kept.state, rest=rest), call.options["--adapter"], now)
    return ""


def tool(call: Call, event: Event) -> str:
    """Write down a call that has ended, as a success or a failure; one that a person declined is neither."""
    from cortex.layout import OBSERVABILITY, TOOL_ACTIVITY, TOOL_FAILURES
    from cortex.store.audit import append_row
    from policies.timestamps import format_instant

    name, error = event.text("hook_event_name"), _error(event)
    failed = name.endswith("Failure") or _is_error(event)
    if not (failed or name == "PostToolUse") or (failed and error.startswith(DECLINED)):
        return ""
    row: dict[str, object] = {
        "timestamp": format_instant(call.now()),
        "session_id": public_text(event.text("session_id"))[:ID_CHARACTERS],
        "tool_name": tool_name(event.text("tool_name")),
    }
    if failed:
        row["error"] = public_text(error)
    with open_store(call.memory_root(), POLLS) as store:
        append_row(store, f"{OBSERVABILITY}/{TOOL_FAILURES if failed else TOOL_ACTIVITY}", row, sync=False)
    return ""


def stop(call: Call, event: Event) -> str:
    """Have what is new consolidated by a process of its own, once the gap has passed."""
    from cortex.sleep.consolidate import has_grown
    from cortex.sleep.detached import start, with_stopped

    now = call.now()
    with open_store(call.memory_root(), POLLS) as store:
        rhythm = rhythm_of(store)
        with _held(store, call) as kept:
            state = with_stopped(kept.state, event.text("transcript_path"))
            if state is not kept.state:
                keep_state(store, state, call.options["--adapter"], now)
        if has_grown(store, (), rhythm, state):
            start(call, rhythm, state)
    return ""


def injection(cards: "Sequence[Card]") -> str:
    """Return what a host is to inject: a line a card, between marks. It begins with none of the signs of JSON."""
    if not cards:
        return ""
    lines = [
        f"- {card.kind}: {_one_line(card.title)} | {_one_line(card.body.strip().partition(chr(10))[0])} "
        f"(used {card.uses} times)"
        for card in cards
    ]
    return "\n".join((RECALLED_OPENS, _INTRODUCTION, *lines, RECALLED_CLOSES, ""))


@contextmanager
def _held(store: Store, call: Call) -> "Iterator[Kept]":
    """Hold state and cards; that a damaged state was set aside is said in the log of hooks' faults."""
    with held(store, call.now()) as kept:
        if kept.set_aside:
            log_fault(call.memory_root(), call.now(), call.command.name, kept.set_aside)
        yield kept


def _recalled(store: Store, kept: Kept, rhythm: "Rhythm", call: Call, mark: str, text: str) -> "Sequence[Card]":
    """Return the cards for a prompt, and count them; none where this prompt had its cards a moment ago."""
    from cortex.sleep.cards import used
    from cortex.sleep.keeping import card_act, keep_cards
    from cortex.sleep.state import Injected

    now, actor, last = call.now(), call.options["--adapter"], kept.state.injected
    if last is not None and last.prompt == mark and 0 <= now - last.t < SAME_PROMPT_MS:
        return ()
    cards = _fitting(kept, rhythm, text, now)
    if cards:
        keep_state(store, replace(kept.state, injected=Injected(mark, now)), actor, now)
        after = used(kept.cards, [card.id for card in cards], now, rhythm.memory_half_life_ms)
        keep_cards(store, after, card_act("hook prompt", actor, now, with_snapshot=False), recalled=len(cards))
    return cards


def _fitting(kept: Kept, rhythm: "Rhythm", text: str, now: int) -> "Sequence[Card]":
    from cortex.sleep.cards import recall

    hits = recall(kept.cards.values(), text, now, rhythm.memory_half_life_ms, rhythm.recall_limit)
    return [hit.card for hit in hits]


def _is_error(event: Event) -> bool:
    response = event.values.get("tool_response")
    return isinstance(response, dict) and response.get("is_error") is True


def _error(event: Event) -> str:
    """Return what a failure says of itself: the host's word, else the tool's."""
    response = event.values.get("tool_response")
    found = [event.text("error")]
    if isinstance(response, dict):
        found += [response[key] for key in ("error", "content", "message") if isinstance(response.get(key), str)]
    return next((text for text in found if text), "")


def _one_line(text: str) -> str:
    """Return a text that cannot end the marks around it, or begin a line of its own."""
    visible = "".join(character if character.isprintable() else " " for character in text)
    return " ".join(visible.replace("<", "‹").split())[:LINE_CHARACTERS]


def _fingerprint(session: str, text: str) -> str:
    return blake2b(f"{session}\n{text}".encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
