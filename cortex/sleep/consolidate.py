"""Consolidation: new experience becomes cards, and evidence says that it did.

    run folder → read what is new → patterns → state and cards → row → folder goes

Two locks. Who consolidates holds one for as long as it takes, so that there is one at a time. State and cards are held
only to be read and to be written: sessions that move meanwhile need not wait for a large transcript.
"""

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Literal, NamedTuple

from msgspec.structs import replace

from cortex.errors import CortexError
from cortex.layout import CORTEX, OBSERVABILITY, TOOL_ACTIVITY, TOOL_FAILURES
from cortex.privacy import strip_private
from cortex.sleep import evidence
from cortex.sleep.cards import Consolidated
from cortex.sleep.cards import consolidate as consolidate_cards
from cortex.sleep.config import rhythm_of
from cortex.sleep.experience import Experience, Sources, gather
from cortex.sleep.keeping import Kept, card_act, held, keep_both, keep_state
from cortex.sleep.lines import file_key
from cortex.sleep.patterns import Patterns, extract_patterns
from cortex.sleep.phases import Work, current_phase, moved, slept
from cortex.sleep.state import Run, RunOutcome, State
from cortex.sleep.transcripts import Found, find_transcripts
from cortex.store.governor import Act
from cortex.store.store import Store
from policies.rhythm import Phase, Rhythm

# The lock of those who consolidate; no file of that name is written.
RUNNING: Final = f"{CORTEX}/consolidation"
ACT: Final = "sleep consolidate"
NOTHING_NEW: Final = "no new experience"
# What a row names where no transcript was ever read.
_ALWAYS_READ: Final = f"{OBSERVABILITY}/{TOOL_ACTIVITY}"
_NOTHING: Final = Patterns((), (), (), ())

Mode = Literal["by hand", "if new", "tick"]


class Request(NamedTuple):
    """Who wants a consolidation, when (ms since 1970), of which transcripts (of the configured ones where none).

    `by hand` consolidates whatever there is, `if new` where there is new experience, `tick` only in deep sleep.
    """

    actor: str
    now: int
    paths: tuple[str, ...]
    mode: Mode


class Done(NamedTuple):
    """What became of it. `skipped` says why nothing was consolidated; `row` which evidence was left."""

    skipped: str | None
    phase: Phase
    warnings: tuple[str, ...]
    experience: Experience
    without: tuple[str, ...] = ()
    outcome: Consolidated | None = None
    row: Literal["success", "skip"] | None = None


class _Job(NamedTuple):
    """A consolidation that is under way. `run` is None where no evidence is to be left."""

    store: Store
    request: Request
    rhythm: Rhythm
    found: Found
    before: Run | None
    run: Run | None


def consolidate(store: Store, request: Request) -> Done:
    """Turn new experience into cards. The caller holds `RUNNING`.

    Raises:
        CortexError: `not_found` or `invalid_input` for a path that is no transcript, `invalid_input` for parameters
            that are none, `governance_refused` where the store refused.
        OSError: The disk refused.
    """
    rhythm = rhythm_of(store)
    with held(store, request.now) as kept:
        state = kept.state
        found = _found(request.paths, rhythm, state)
        if evidence.leaves_evidence(evidence.reviewer_of(store, state), rhythm):
            state = evidence.with_run(state, request.now)
            keep_state(store, state, request.actor, request.now)
        job = _Job(store, request, rhythm, found, kept.state.run, None if state is kept.state else state.run)
    with _folder_of(job):
        experience = gather(_sources(store, found), state.seen, state.events, state.mark, rhythm.buffer_max)
        done = _finish(job, experience)
    return done._replace(warnings=(*kept.warnings, *done.warnings), without=found.without)


def has_grown(store: Store, paths: tuple[str, ...], rhythm: Rhythm, state: State) -> bool:
    """Tell whether there is anything to read that was not read: a look at sizes alone."""
    sources = _sources(store, _found(paths, rhythm, state))
    for path in (*sources.transcripts, sources.activity, sources.failures):
        try:
            status = os.stat(path or "")  # noqa: PTH116 # pathlib costs more than all else here
        except OSError:
            continue
        cursor = state.seen.cursors.get(file_key(status))
        if status.st_size and (cursor is None or cursor.seen != status.st_size):
            return True
    return False


def pending(store: Store, state: State, rhythm: Rhythm) -> Experience:
    """Return the experience that the next consolidation will find; nothing is kept of it."""
    return gather(_sources(store, _found((), rhythm, state)), state.seen, state.events, state.mark, rhythm.buffer_max)


def skip_if_due(store: Store, actor: str, now: int, rhythm: Rhythm) -> bool:
    """Leave a skip row where one is due; tell whether it was left. The caller holds `RUNNING`."""
    with held(store, now) as kept:
        if not evidence.skip_is_due(kept.state, now) or not evidence.leaves_evidence(
            evidence.reviewer_of(store, kept.state), rhythm
        ):
            return False
        state = evidence.with_run(kept.state, now)
        keep_state(store, state, actor, now)
        if state.run is not None:
            evidence.tell_skip(store, state.run)
            keep_state(store, replace(state, run=replace(state.run, outcome="skipped")), actor, now)
        evidence.end(store, state)
    return True


@contextmanager
def _folder_of(job: _Job) -> Iterator[None]:
    """Have a run's folder there meanwhile; a fault leaves a failure row in its place."""
    if job.run is None:
        yield
        return
    try:
        evidence.begin(job.store, job.run)
        yield
    except (Exception, KeyboardInterrupt) as error:
        evidence.tell_failure(job.store, job.run, _public(error))
        _close(job, "failed")
        raise


def _close(job: _Job, outcome: RunOutcome | None) -> tuple[str, ...]:
    """Let the folder of a run go, and note what became of it (None: nothing, as if it had not been)."""
    with held(job.store, job.request.now) as kept:
        evidence.end(job.store, kept.state)
        run = job.before if job.run is None or outcome is None else replace(job.run, outcome=outcome)
        return keep_state(job.store, replace(kept.state, run=run), job.request.actor, job.request.now)


def _finish(job: _Job, experience: Experience) -> Done:
    """Bring experience into state and cards, and say so in a row, as far as there is something to say."""
    now, by_hand = job.request.now, job.request.mode == "by hand"
    unfinished = job.run is not None and job.before is not None and not job.before.is_healthy
    is_news = experience.fresh > 0 or unfinished
    with held(job.store, now) as kept:
        rest = moved(kept.state.rest, experience.step, now, job.rhythm)
        phase = current_phase(rest, now, job.rhythm)
        if job.request.mode == "tick" and phase != "deep":
            return Done(f"the memory is {phase}", phase, _close(job, None), experience)
        outcome = _consolidated(job, kept, experience)
        work = Work(len(experience.events), **_counts(outcome), notes=_notes(job, experience, outcome))
        state = _after(kept.state, experience, now)
        if not job.request.paths:
            state = replace(state, stopped=())
        state = replace(state, rest=slept(rest, work, now, job.rhythm) if is_news or by_hand else rest)
        warnings = keep_both(job.store, kept, state, outcome.cards, _act(job), **_counts(outcome))
    row: Literal["success"] | None = None
    if job.run is not None and is_news:
        cards = len(outcome.created) + len(outcome.reinforced)
        evidence.tell_success(job.store, job.run, state.newest or _ALWAYS_READ, len(experience.events), cards)
        row = "success"
    warnings += _close(job, "ok" if row else None)
    skipped = None if is_news or by_hand else NOTHING_NEW
    return Done(skipped, phase, warnings, experience, (), outcome, row)


def _consolidated(job: _Job, kept: Kept, experience: Experience) -> Consolidated:
    """Return the cards after this; an event ahead of the clock counts as one of now."""
    now, state = job.request.now, kept.state
    events = [event if event.t <= now else event._replace(t=now) for event in experience.events]
    found = extract_patterns(events, state.mark, now) if experience.fresh else _NOTHING
    late = _late_times(state, experience)
    if not late:
        return consolidate_cards(kept.cards, found, state.mark, now, job.rhythm)
    before = min(late) - 1
    found = _both(found, extract_patterns(events, before, now), state.mark, late)
    return consolidate_cards(kept.cards, found, before, now, job.rhythm)


def _late_times(state: State, experience: Experience) -> frozenset[int]:
    """Return the times of events that are new although not newer than the mark: of a session that ran beside another.

    None where nothing was read before: then the mark alone tells old from new.
    """
    if not (experience.fresh and state.seen.cursors):
        return frozenset()
    fresh = Counter(experience.events) - Counter(state.events)
    return frozenset(event.t for event in fresh if event.t <= state.mark)


def _both(found: Patterns, more: Patterns, mark: int, late: frozenset[int]) -> Patterns:
    """Return the patterns newer than the mark, and of `more` those whose newest event came late."""
    pairs = zip(found, more, strict=True)
    return Patterns(
        *(
            (*(one for one in newer if one.newest > mark), *(one for one in all_ if one.newest in late))
            for newer, all_ in pairs
        )
    )


def _after(state: State, experience: Experience, now: int) -> State:
    """Return the state with an experience taken in; without any, the mark stays where it is."""
    newest = min(now, max((event.t for event in experience.events), default=0))
    return replace(
        state,
        mark=max(state.mark, newest) if experience.fresh else state.mark,
        consolidated_at=now if experience.fresh else state.consolidated_at,
        newest=_public_path(experience.newest) or (_ALWAYS_READ if experience.logs.taken else state.newest),
        events=tuple(experience.events),
        seen=experience.seen,
    )


def _notes(job: _Job, experience: Experience, outcome: Consolidated) -> tuple[str, ...]:
    """Return what a report says beside its numbers: what was wrong first, then which cards."""
    counts, logs = experience.counts, experience.logs
    malformed = counts.malformed + logs.malformed
    said = [f"{malformed} malformed lines"] if malformed else []
    said += [f"not read: {_public_path(path)} ({reason})" for path, reason in experience.unreadable]
    said += [f"nothing at {_public_path(path)}" for path in job.found.without]
    for word, names in zip(("new", "again", "archived"), outcome[1:], strict=True):
        said += [f"{word}: {name}" for name in names]
    return tuple(said)


def _counts(outcome: Consolidated) -> dict[str, int]:
    return {name: len(getattr(outcome, name)) for name in ("created", "reinforced", "archived")}


def _act(job: _Job) -> Act:
    return card_act(ACT, job.request.actor, job.request.now)


def _found(named: tuple[str, ...], rhythm: Rhythm, state: State) -> Found:
    """Return the transcripts to read: those named, else the configured ones and those of sessions that have stopped."""
    if named:
        return find_transcripts(named, named=True)
    return find_transcripts((*rhythm.transcripts, *state.stopped), named=False)


def _sources(store: Store, found: Found) -> Sources:
    logs = f"{store.root.path}/{OBSERVABILITY}"
    return Sources(found.files, f"{logs}/{TOOL_ACTIVITY}", f"{logs}/{TOOL_FAILURES}")


def _public_path(path: str | None) -> str:
    return strip_private(path or "").encode("utf-8", "replace").decode("utf-8")


def _public(error: BaseException) -> str:
    """Return what a row may say of a fault: our own words, the system's, or its kind alone."""
    if isinstance(error, CortexError):
        return strip_private(error.message)
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return f"{type(error).__name__} in the consolidation"
