"""Reviewer evidence: a run folder while a consolidation runs, then a row in `reviewer-runs.jsonl`.

Rules:

1. The folder is there before the work begins, the row before the folder goes: a run that is killed shows as one that
   never ended.
2. Where the log holds a row that is not ours, the memory has a reviewer of its own. Its death must show, so nothing is
   written beside it, unless the parameter `reviewer_evidence` says so.
3. A skip row, at most one a day and only after a healthy run of ours, tells an idle week from a dead reviewer.
"""

import os
from contextlib import suppress
from typing import Final, Literal

import msgspec

from cortex.layout import OBSERVABILITY, REVIEWER_LOG, REVIEWER_RUNS
from cortex.nofollow import NotRegularError, open_regular
from cortex.sleep.state import RUNS_KEPT, Run, State
from cortex.store.audit import append_row
from cortex.store.files import names_in, read_all, refused
from cortex.store.store import Store
from policies.rhythm import Rhythm
from policies.timestamps import format_instant
from policies.units import DAY_MS

LOG: Final = f"{OBSERVABILITY}/{REVIEWER_LOG}"
RUNS: Final = f"{OBSERVABILITY}/{REVIEWER_RUNS}"
ERROR_CHARACTERS: Final = 240

Reviewer = Literal["sleep", "another", "none yet"]


class _Row(msgspec.Struct):
    runId: str | None = None  # noqa: N815 - the row's own key


_ROWS: Final = msgspec.json.Decoder(_Row)


def reviewer_of(store: Store, state: State) -> Reviewer:
    """Return whose rows the log holds: all ours, another's too, or none at all. Malformed lines tell nothing.

    Raises:
        CortexError: `governance_refused` where the log is a link or no file.
        OSError: It cannot be read.
    """
    ours = frozenset(state.runs)
    oldest = state.runs[0] if len(state.runs) >= RUNS_KEPT else ""
    found: Reviewer = "none yet"
    for line in _log(store).split(b"\n"):
        with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            if not line.lstrip().startswith(b"{"):
                continue
            run_id = _run_id(line)
            if run_id is None or not (run_id in ours or run_id < oldest):
                return "another"
            found = "sleep"
    return found


def leaves_evidence(reviewer: Reviewer, rhythm: Rhythm) -> bool:
    """Tell whether a consolidation is to leave evidence."""
    return reviewer != "another" if rhythm.reviewer_evidence == "auto" else rhythm.reviewer_evidence


def with_run(state: State, now: int) -> State:
    """Return the state with a new run that has begun."""
    later = 0
    while (run_id := _name(now + later)) in state.runs:
        later += 1
    runs = (*state.runs, run_id)[-RUNS_KEPT:]
    return msgspec.structs.replace(state, runs=runs, run=Run(run_id, now, "begun"))


def begin(store: Store, run: Run) -> None:
    """Make the folder of a run."""
    store.make_folder(f"{RUNS}/{run.id}")


def tell_success(store: Store, run: Run, source: str, scanned: int, cards: int) -> None:
    """Add the row of a run that consolidated: the newest source read, events scanned, cards made or reinforced."""
    summary: dict[str, object] = {
        "total": cards,
        "by_type": {"memory": cards},
        "succeeded": cards,
        "failed": 0,
        "failures": [],
        "skipped_guard": 0,
        "skips": [],
        "proposals_auto_applied": 0,
        "proposals_auto_apply_failed": 0,
    }
    _append(store, run, ok=True, transcript=source, exchanges=scanned, parse_ok=True, dispatch_summary=summary)


def tell_failure(store: Store, run: Run, error: str) -> None:
    """Add the row of a run that failed."""
    _append(store, run, ok=False, transcript=None, exchanges=0, parse_ok=True, error=error[:ERROR_CHARACTERS])


def tell_skip(store: Store, run: Run) -> None:
    """Add the row of a run that found nothing to do."""
    _append(store, run, ok=True, transcript=None, exchanges=0, parse_ok=True, skipped=True)


def end(store: Store, state: State) -> None:
    """Remove the folders of our runs, those that were killed among them; whatever cannot be removed stays."""
    with store.place(f"{RUNS}/_") as place:
        if place is None:
            return
        for name in sorted({*names_in(place.folder)}.intersection(state.runs)):
            with suppress(OSError):
                os.rmdir(name, dir_fd=place.folder)


def skip_is_due(state: State, now: int) -> bool:
    """Tell whether a skip row is due: a day without experience after a healthy run, and no row of ours for a day."""
    run = state.run
    return run is not None and run.is_healthy and now - run.t >= DAY_MS and now - state.mark >= DAY_MS


def _append(store: Store, run: Run, **members: object) -> None:
    row = {"ts": format_instant(run.t), "runId": run.id, "inference_duration_ms": 0, **members}
    append_row(store, LOG, row, sync=True)


def _log(store: Store) -> bytes:
    with store.place(LOG) as place:
        if place is None:
            return b""
        try:
            descriptor = open_regular(place.name, place.folder)
        except FileNotFoundError:
            return b""
        except NotRegularError as error:
            raise refused(f"{LOG} {error}: it is not trusted") from error
        try:
            return read_all(descriptor)
        finally:
            os.close(descriptor)


def _run_id(line: bytes) -> str | None:
    try:
        return _ROWS.decode(line).runId
    except msgspec.ValidationError:  # a row, and not of our making
        return None


def _name(t: int) -> str:
    return format_instant(t).replace(":", "-").replace(".", "-")
