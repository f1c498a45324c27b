"""The commands of sleep: status, activity, enter, wake, tick, consolidate, history, config.

Nothing runs between two calls. What is due is done by `tick`, which a timer or an agent's hook calls.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Final, cast

from msgspec.structs import asdict, replace

from cortex.arguments import Call
from cortex.envelope import JSONObject
from cortex.errors import invalid
from cortex.privacy import strip_private
from cortex.sleep import evidence
from cortex.sleep.config import rhythm_of, set_value, settings_of
from cortex.sleep.consolidate import (
    NOTHING_NEW,
    RUNNING,
    Done,
    Mode,
    Request,
    consolidate,
    has_grown,
    pending,
    skip_if_due,
)
from cortex.sleep.keeping import Kept, held, keep_state, look
from cortex.sleep.phases import (
    REASONS,
    Report,
    Wake,
    after_sign,
    current_phase,
    held_deep,
    hours_of_day,
    moved,
    silence_of,
    woken,
)
from cortex.store.governor import explained
from cortex.store.items import check_metadata
from cortex.store.locks import BusyError
from cortex.store.store import Store, open_store
from policies.rhythm import Rhythm, effective_rhythm, parse_setting
from policies.timestamps import format_instant

_ONE_LOOK: Final = 1
_BUSY: Final = "another consolidation is under way"


def status(call: Call) -> JSONObject:
    """Say how awake the memory is, who keeps it awake, what it keeps, and who reviews it."""
    now = call.now()
    with memory_of(call) as store:
        rhythm, kept = rhythm_of(store), look(store)
        state, unread = kept.state, pending(store, kept.state, rhythm)
        rest = moved(state.rest, unread.step, now, rhythm)
        return {
            "phase": current_phase(rest, now, rhythm),
            "silence_ms": silence_of(rest, now),
            "last_wake": {"at": _at(rest.wake.t), "source": rest.wake.source} if rest.wake else None,
            "auto_sleep": rhythm.auto_sleep,
            "hours_of_day": hours_of_day(rest),
            "beats": rest.beats,
            "tools": rest.tools,
            "cards": len(kept.cards),
            "archived": sum(card.archived for card in kept.cards.values()),
            "events": len(state.events),
            "unread_events": unread.fresh,
            "last_consolidation": _at(state.consolidated_at),
            "last_report": described(rest.reports[-1]) if rest.reports else None,
            "reviewer": _reviewer(store, kept, rhythm),
            "warnings": list(kept.warnings),
        }


def activity(call: Call) -> JSONObject:
    """Take a sign of life. A session that moved wakes; a heartbeat and a tool are only counted."""
    why, now = call.options["--why"], call.now()
    if why not in REASONS:
        raise invalid(f"--why takes one of: {', '.join(REASONS)}")
    with memory_of(call) as store:
        rhythm = rhythm_of(store)
        with held(store, now) as kept:
            rest = after_sign(kept.state.rest, why, now, rhythm)
            warnings = keep_state(store, replace(kept.state, rest=rest), call.options["--adapter"], now)
        return {"phase": current_phase(rest, now, rhythm), "warnings": [*kept.warnings, *warnings]}


def enter(call: Call) -> JSONObject:
    """Fall deep asleep by hand, and consolidate at once."""
    request = _request(call, "by hand")
    with memory_of(call) as store, store.locks.hold(RUNNING):
        with held(store, request.now) as kept:
            state = replace(kept.state, rest=held_deep(kept.state.rest, request.now))
            keep_state(store, state, request.actor, request.now)
        return _consolidated(store, request)


def wake(call: Call) -> JSONObject:
    """Wake by hand."""
    now, actor = call.now(), actor_of(call)
    with memory_of(call) as store:
        rhythm = rhythm_of(store)
        with held(store, now) as kept:
            rest = woken(kept.state.rest, Wake(now, "hand"), rhythm)
            warnings = keep_state(store, replace(kept.state, rest=rest), actor, now)
        return {"phase": current_phase(rest, now, rhythm), "warnings": [*kept.warnings, *warnings]}


def tick(call: Call) -> JSONObject:
    """Consolidate if it is time to, else say why not."""
    request = _request(call, "tick")
    with memory_of(call) as store, ExitStack() as stack:
        try:
            stack.enter_context(store.locks.hold(RUNNING, _ONE_LOOK))
        except BusyError:
            return {"consolidated": False, "skipped": _BUSY, "row": None, "warnings": []}
        return _with_index(store, request, _ticked(store, request))


def consolidate_now(call: Call) -> JSONObject:
    """Turn new experience into cards, whatever the phase."""
    with memory_of(call) as store, store.locks.hold(RUNNING):
        return _consolidated(store, _request(call, "by hand"))


def history(call: Call) -> JSONObject:
    """List the last sleeps, the newest first."""
    with memory_of(call) as store:
        kept = look(store)
    reports = [described(report) for report in reversed(kept.state.rest.reports)]
    return {"items": reports, "total": len(reports), "warnings": list(kept.warnings)}


def config(call: Call) -> JSONObject:
    """Show the parameters, or set one."""
    if len(call.positionals) == 1:
        raise invalid("sleep config takes KEY and VALUE, or neither")
    warnings: tuple[str, ...] = ()
    with memory_of(call) as store:
        if call.positionals:
            key, text = call.positionals
            warnings = set_value(store, key, parse_setting(key, text), actor_of(call), call.now())
        rhythm, faults = effective_rhythm(settings_of(store))
    said = [f"{fault.key} {fault.problem}: it is not in force" for fault in faults]
    return {"parameters": rhythm._asdict(), "warnings": [*warnings, *said]}


@contextmanager
def memory_of(call: Call) -> Iterator[Store]:
    """Open the call's memory; what the operating system refuses is refused by us, with its reason."""
    with explained(), open_store(call.memory_root()) as store:
        yield store


def actor_of(call: Call) -> str:
    """Return who acts, as the audit has it: the adapter, or the operator's name."""
    if call.has("--adapter"):
        return call.options["--adapter"]
    operator = strip_private(call.options["--operator"])
    check_metadata("--operator", operator)
    return operator


def described(report: Report) -> dict[str, Any]:
    """Return a report as answers have it: times as timestamps."""
    times = ("asleep_at", "consolidated_at", "woke_at")
    values = {key: _at(value) if key in times else value for key, value in asdict(report).items()}
    return {**values, "notes": list(report.notes)}


def _request(call: Call, mode: Mode) -> Request:
    return Request(actor_of(call), call.now(), call.every("--transcripts"), mode)


def _ticked(store: Store, request: Request) -> JSONObject:
    """Do what is due. A row of evidence may be due although nothing else is."""
    rhythm, kept = rhythm_of(store), look(store)
    why = _why_not(store, kept, request, rhythm)
    if why is None:
        done = consolidate(store, request)
        if done.skipped != NOTHING_NEW:
            return _answer(done)
        why = NOTHING_NEW
    elif has_grown(store, request.paths, rhythm, kept.state):
        return _skipped(why, kept)
    row = "skip" if skip_if_due(store, request.actor, request.now, rhythm) else None
    return {**_skipped(why, kept), "row": row}


def _with_index(store: Store, request: Request, told: JSONObject) -> JSONObject:
    """Keep the adopted index fresh where that is allowed; say what became of it beside the rest."""
    if not rhythm_of(store).index_refresh:
        return told
    from cortex.index import adoption
    from cortex.index.upkeep import keep_fresh

    kept = keep_fresh(store, adoption.Request("index refresh", request.actor, request.now))
    warnings = cast("list[str]", told["warnings"])
    return {**told, "index": kept.outcome, "warnings": [*warnings, *kept.warnings]}


def _why_not(store: Store, kept: Kept, request: Request, rhythm: Rhythm) -> str | None:
    """Return why a tick consolidates nothing, as far as that shows before anything is read."""
    state, now = kept.state, request.now
    phase = current_phase(state.rest, now, rhythm)
    if not rhythm.auto_sleep:
        return "sleep is not automatic (auto_sleep is false)"
    if phase != "deep":
        return f"the memory is {phase}"
    if state.run is not None and not state.run.is_healthy:
        return None  # it was cut off or failed: there is something to finish
    if state.consolidated_at is not None and 0 <= now - state.consolidated_at < rhythm.consolidate_gap_ms:
        return "the last consolidation was a moment ago (consolidate_gap_ms)"
    return None if has_grown(store, request.paths, rhythm, state) else NOTHING_NEW


def _skipped(why: str, kept: Kept) -> JSONObject:
    return {"consolidated": False, "skipped": why, "row": None, "warnings": list(kept.warnings)}


def _consolidated(store: Store, request: Request) -> JSONObject:
    done = consolidate(store, request)
    if done.row is None and skip_if_due(store, request.actor, request.now, rhythm_of(store)):
        done = done._replace(row="skip")
    return _answer(done)


def _answer(done: Done) -> JSONObject:
    experience, outcome = done.experience, done.outcome
    counts = {name: list(getattr(outcome, name, ())) for name in ("created", "reinforced", "archived")}
    return {
        "consolidated": done.skipped is None,
        "skipped": done.skipped,
        "phase": done.phase,
        "scanned": len(experience.events),
        "fresh": experience.fresh,
        **counts,
        "transcripts": asdict(experience.counts),
        "logs": experience.logs._asdict(),
        "unreadable": [unread._asdict() for unread in experience.unreadable],
        "empty": list(done.without),
        "row": done.row,
        "warnings": list(done.warnings),
    }


def _reviewer(store: Store, kept: Kept, rhythm: Rhythm) -> JSONObject:
    """Return who reviews this memory, and whether sleep leaves evidence of it."""
    reviewer = evidence.reviewer_of(store, kept.state)
    return {
        "is": reviewer,
        "sleep_leaves_evidence": evidence.leaves_evidence(reviewer, rhythm),
        "reviewer_evidence": rhythm.reviewer_evidence,
    }


def _at(t: int | None) -> str | None:
    return None if t is None else format_instant(t)
