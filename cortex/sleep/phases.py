"""Sleeping and waking: what a wake signal, a hand and a consolidation do to the body's rest. Pure.

Rules:

1. The session moving is the one wake signal. Tools and heartbeats are counted: they fire by themselves, and would keep
   the body awake for ever.
2. A wake signal ends sleep at once, also one that a hand began, and closes the last report with its length.
3. A memory whose session was never seen moving has been silent for ever.
"""

from math import inf
from typing import Final, Literal, NamedTuple

import msgspec

from policies.rhythm import Phase, Rhythm, phase_of
from policies.units import HOUR_MS

WakeSource = Literal["session-step", "transcript", "hand"]

# What a sign of life may be of. The first alone wakes.
REASONS: Final = ("session-step", "heartbeat", "tool")
HOURS_A_DAY: Final = 24
HOURS_KEPT: Final = 7 * HOURS_A_DAY
REPORTS_KEPT: Final = 20
NOTES_MOST: Final = 12
_DEPTHS: Final[tuple[Phase, ...]] = ("awake", "light", "deep")


class Wake(msgspec.Struct, frozen=True):
    """The last wake signal: when (ms since 1970), and where it came from."""

    t: int
    source: WakeSource


class Report(msgspec.Struct, frozen=True):
    """One sleep with what its consolidations did. Times in ms since 1970; `woke_at`, `length_ms` None while it lasts.

    `scanned` are events, the rest of the counts cards.
    """

    asleep_at: int
    consolidated_at: int
    deepest: Phase
    scanned: int
    created: int
    reinforced: int
    archived: int
    notes: tuple[str, ...] = ()
    woke_at: int | None = None
    length_ms: int | None = None


class Rest(msgspec.Struct, frozen=True):
    """How awake the body is, and was. `hours` counts wake signals by hours since 1970.

    `held` is the phase that a hand has set at `held_at` and no wake signal has ended.
    """

    wake: Wake | None = None
    held: Phase = "awake"
    held_at: int = 0
    hours: dict[int, int] = {}
    beats: int = 0
    tools: int = 0
    reports: tuple[Report, ...] = ()


class Work(NamedTuple):
    """What a consolidation did: events scanned, cards by what became of them, and what is to be said of it."""

    scanned: int
    created: int
    reinforced: int
    archived: int
    notes: tuple[str, ...] = ()


def silence_of(rest: Rest, now: int) -> int | None:
    """Return how long (ms) no session has moved; below 0 where the clock stepped back, None where none ever has."""
    return None if rest.wake is None else now - rest.wake.t


def current_phase(rest: Rest, now: int, rhythm: Rhythm) -> Phase:
    """Return the phase at `now`."""
    silence = silence_of(rest, now)
    return phase_of(inf if silence is None else silence, rhythm, rest.held)


def woken(rest: Rest, wake: Wake, rhythm: Rhythm) -> Rest:
    """Return the rest after a wake signal."""
    hour = wake.t // HOUR_MS
    hours = {known: count for known, count in rest.hours.items() if known > hour - HOURS_KEPT}
    hours[hour] = hours.get(hour, 0) + 1
    return msgspec.structs.replace(
        rest, wake=wake, held="awake", hours=hours, reports=_closed(rest, wake.t, current_phase(rest, wake.t, rhythm))
    )


def moved(rest: Rest, step: int | None, now: int, rhythm: Rhythm) -> Rest:
    """Return the rest with what transcripts tell of sessions that moved; a line ahead of the clock tells nothing."""
    if step is None or step > now or (rest.wake is not None and step <= rest.wake.t):
        return rest
    return woken(rest, Wake(step, "transcript"), rhythm)


def after_sign(rest: Rest, why: str, now: int, rhythm: Rhythm) -> Rest:
    """Return the rest after a sign of life, `why` one of `REASONS`: a session wakes, the others are counted."""
    if why == "session-step":
        return woken(rest, Wake(now, "session-step"), rhythm)
    if why == "heartbeat":
        return msgspec.structs.replace(rest, beats=rest.beats + 1)
    return msgspec.structs.replace(rest, tools=rest.tools + 1)


def held_deep(rest: Rest, now: int) -> Rest:
    """Return the rest once a hand has put the body to sleep."""
    return msgspec.structs.replace(rest, held="deep", held_at=now)


def slept(rest: Rest, work: Work, now: int, rhythm: Rhythm) -> Rest:
    """Return the rest with a consolidation reported: within a sleep that has a report, as a part of that one."""
    phase = current_phase(rest, now, rhythm)
    last = rest.reports[-1] if rest.reports else None
    if last is not None and last.woke_at is None and phase != "awake":
        return msgspec.structs.replace(rest, reports=(*rest.reports[:-1], _longer(last, work, phase, now)))
    report = Report(_asleep_since(rest, now, rhythm), now, phase, *work[:-1], notes=work.notes[:NOTES_MOST])
    if phase == "awake":
        report = msgspec.structs.replace(report, woke_at=now, length_ms=0)
    return msgspec.structs.replace(rest, reports=(*rest.reports, report)[-REPORTS_KEPT:])


def hours_of_day(rest: Rest) -> list[int]:
    """Return how many wake signals of the last week fell into each hour of the day (UTC)."""
    counts = [0] * HOURS_A_DAY
    for hour, count in rest.hours.items():
        counts[hour % HOURS_A_DAY] += count
    return counts


def _closed(rest: Rest, t: int, phase: Phase) -> tuple[Report, ...]:
    if not rest.reports or rest.reports[-1].woke_at is not None:
        return rest.reports
    last = rest.reports[-1]
    closed = msgspec.structs.replace(
        last, woke_at=t, length_ms=max(t - last.asleep_at, 0), deepest=_deeper(last.deepest, phase)
    )
    return (*rest.reports[:-1], closed)


def _longer(last: Report, work: Work, phase: Phase, now: int) -> Report:
    return msgspec.structs.replace(
        last,
        consolidated_at=now,
        deepest=_deeper(last.deepest, phase),
        scanned=work.scanned,
        created=last.created + work.created,
        reinforced=last.reinforced + work.reinforced,
        archived=last.archived + work.archived,
        notes=(*last.notes, *work.notes)[:NOTES_MOST],
    )


def _asleep_since(rest: Rest, now: int, rhythm: Rhythm) -> int:
    """Return when the body fell asleep: by a hand or by silence, whichever was first."""
    begun = [rest.held_at] if rest.held != "awake" else []
    if rhythm.auto_sleep and rest.wake is not None:
        begun.append(rest.wake.t + int(rhythm.sleep_after_ms))
    return min([now, *begun])


def _deeper(one: Phase, other: Phase) -> Phase:
    return max(one, other, key=_DEPTHS.index)
