"""The governor: the one function through which a file of the memory is written.

    lock → settle what was cut off → read → plan → snapshot → stage (fsync) → audit `intent` (synced)
         → rename → fsync the folder → audit `done`

A failure before the rename leaves the old bytes and no staged file, and says why. From the rename on the write
stands: what fails then is a warning, and an audit row that is missing is written by whoever takes the lock next.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from typing import NamedTuple

from cortex.errors import CortexError
from cortex.nofollow import NotRegularError
from cortex.store import snapshots
from cortex.store.audit import WRITES_LOG, append_row, close_intent
from cortex.store.files import State, discard, discard_all, is_still, read_state, refused, stage
from cortex.store.locks import Lock
from cortex.store.store import Place, Store
from policies.timestamps import format_instant


class Act(NamedTuple):
    """A write before it happens: what it is, who asks, which path, when, and what is left behind.

    `log` is the audit log; None for a file that the row of another one names. `guard` is the path whose lock is held,
    the path itself unless said. `with_snapshot` is for files whose earlier state the new one may not contain.
    """

    name: str
    actor: str
    path: str
    now: int
    log: str | None = WRITES_LOG
    guard: str | None = None
    with_snapshot: bool = True

    @property
    def ts(self) -> str:
        """The time as rows have it."""
        return format_instant(self.now)

    @property
    def stamp(self) -> str:
        """The time as names of files have it."""
        return self.ts.replace(":", "-").replace(".", "-")


class Change(NamedTuple):
    """What a plan came to: the new content (None: the file goes), how many rows are gone, and what the audit adds.

    `new_only` refuses where the name is taken by then, whatever takes it. `like` is the file whose mode a new one gets.
    `mode` is what it gets instead, also in the place of an old one. `renewed_at` (ms since 1970) becomes the
    modification time, also of a content that stays as it is.
    """

    data: bytes | None
    rows_removed: int = 0
    audit: Mapping[str, object] = {}
    new_only: bool = False
    like: os.stat_result | None = None
    mode: int | None = None
    renewed_at: int | None = None


class Written(NamedTuple):
    """What became of a write. A warning is about something after the file itself was safely there."""

    changed: bool
    warnings: tuple[str, ...] = ()


Plan = Callable[[bytes | None], Change | None]


def govern(store: Store, act: Act, plan: Plan) -> Written:
    """Write a file of the memory, or refuse and leave it as it was.

    Args:
        store: The memory.
        act: What is to be done.
        plan: Given the file's content (None: there is no file), what it becomes, or None to leave it. It is called
            under the lock, and may refuse by raising.

    Raises:
        CortexError: What the plan raised; `governance_refused` where the target or anything on its way is a link,
            the lock is busy, or the disk refused. Nothing was written then.
    """
    with explained(), store.locks.hold(act.guard or act.path) as lock:
        before = settled_state(store, act, lock)
        change = plan(before.data)
        if change is None or (change.data == before.data and change.renewed_at is None):
            return Written(changed=False)
        return _replace(store, act, lock, before, change)


def settled_state(store: Store, act: Act, lock: Lock) -> State:
    """Read the file of an act after clearing up behind a write that was cut off. The caller holds its lock."""
    with store.place(act.path) as place:
        if place is None:
            state = State(None, None)
        else:
            if lock.was_cut_off:
                discard_all(place.folder, lock.prefix)
            state = _read(place, act.path)
    if act.log is not None:
        close_intent(store, act.log, act.path, act.ts, hash_of(state.data))
    return state


def hash_of(data: bytes | None) -> str | None:
    """Return the SHA-256 of a content as the audit has it, None where there is none."""
    return None if data is None else sha256(data).hexdigest()


@contextmanager
def explained() -> Iterator[None]:
    """Turn a refusal of the operating system into ours: nothing was written, and why."""
    try:
        yield
    except OSError as error:
        raise refused(f"nothing was written: {error.strerror or error}") from error


def _read(place: Place, path: str) -> State:
    try:
        return read_state(place.folder, place.name)
    except NotRegularError as error:
        raise refused(f"{path} {error}: only a regular file is written") from error


def _replace(store: Store, act: Act, lock: Lock, before: State, change: Change) -> Written:
    if act.with_snapshot and before.data is not None:
        snapshots.keep(store, act.path, before.data, act.stamp, lock.prefix)
    row = _row(act, before, change)
    with store.made_place(act.path) as place:
        lock.begin()
        staged = _stage(place, lock, before, change)
        try:
            _audit(store, act, row, "intent")
            _swap(place, staged, before, act.path, new_only=change.new_only)
        except Exception:
            if staged is not None:
                discard(place.folder, staged)
            _attempt(lambda: _audit(store, act, row, "void"), "")
            raise
        linked = staged if change.new_only else None
        return Written(changed=True, warnings=_after(store, act, lock, place, row, linked))


def _stage(place: Place, lock: Lock, before: State, change: Change) -> str | None:
    """Write the new content under a hidden name; None where the file is to go."""
    if change.data is None:
        return None
    if change.mode is None:
        staged = stage(place.folder, lock.prefix, change.data, change.like or before.status)
    else:
        staged = stage(place.folder, lock.prefix, change.data, None, change.mode)
    if change.renewed_at is not None:
        instant_ns = change.renewed_at * 1_000_000
        os.utime(staged, ns=(instant_ns, instant_ns), dir_fd=place.folder)
    return staged


def _swap(place: Place, staged: str | None, before: State, path: str, *, new_only: bool) -> None:
    """Let the staged file take the target's name, unless somebody who takes no lock has written it meanwhile."""
    if not is_still(place.folder, place.name, before):
        raise refused(f"{path} was changed by somebody else meanwhile; try again")
    if staged is None:
        os.unlink(place.name, dir_fd=place.folder)
    elif new_only:
        os.link(staged, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder, follow_symlinks=False)
    else:
        os.rename(staged, place.name, src_dir_fd=place.folder, dst_dir_fd=place.folder)


def _audit(store: Store, act: Act, row: Mapping[str, object], state: str) -> None:
    """Add a row to the act's log; an intent is on the disk before anything follows."""
    if act.log is not None:
        append_row(store, act.log, {**row, "state": state}, sync=state == "intent")


def _after(
    store: Store, act: Act, lock: Lock, place: Place, row: Mapping[str, object], linked: str | None
) -> tuple[str, ...]:
    """Do what follows the rename; return what went wrong with it. `linked` is a staged name that the file still has."""

    def end() -> None:
        if linked is not None:
            os.unlink(linked, dir_fd=place.folder)
        lock.end()

    steps = (
        (lambda: os.fsync(place.folder), f"{act.path} was written, but may not outlive a power failure"),
        (lambda: _audit(store, act, row, "done"), "the audit row is left to the next"),
        (end, "the next write will clear up"),
    )
    return tuple(warning for step, what in steps if (warning := _attempt(step, what)))


def _attempt(step: Callable[[], None], what: str) -> str:
    """Take a step; return a warning where it fails."""
    try:
        step()
    except (OSError, CortexError) as error:
        return f"{what} ({getattr(error, 'strerror', None) or error})"
    return ""


def _row(act: Act, before: State, change: Change) -> dict[str, object]:
    return {**audit_row(act, before.data, change.data, change.rows_removed), **change.audit}


def audit_row(act: Act, before: bytes | None, after: bytes | None, rows_removed: int = 0) -> dict[str, object]:
    """Return the row of an act that is about to turn one content into another; None where there is none."""
    return {
        "ts": act.ts,
        "act": act.name,
        "actor": act.actor,
        "state": "intent",
        "path": act.path,
        "hash_before": hash_of(before),
        "hash_after": hash_of(after),
        "bytes_before": len(before or b""),
        "bytes_after": len(after or b""),
        "rows_removed": rows_removed,
    }
