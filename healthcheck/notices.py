"""The noise ledger, `<memory root>/CORTEX/noise.json`: read, and written as a whole under its lock.

1. What is damaged is never taken for a fresh start, and never overwritten by a run: everything is told until an
   operator clears it, which keeps the damaged file beside the new one.
2. A run makes no folder for it where there is no memory, and no file where there is nothing to keep.
3. It is the auditor's own: a loss of it costs silences and what was told before, and no verdict.
"""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, TypeVar

import msgspec

from cortex.errors import CortexError
from cortex.layout import NOISE_LEDGER, OBSERVABILITY
from cortex.nofollow import NotRegularError, open_regular
from cortex.places import Layout
from cortex.store.files import State, discard, discard_all, put, read_all, read_state, stage
from cortex.store.locks import Lock
from cortex.store.store import Place, Store, open_store
from cortex.strict_json import StrictJSONError, loads
from healthcheck.judgement import Finding
from healthcheck.news import DEFAULTS, Ledger, Notices, Scope, take
from policies.limits import LEDGER_MAX_BYTES, LOCK_POLL_MS
from policies.rhythm import Rhythm, effective_rhythm
from policies.timestamps import format_instant

SCHEMA: Final = "memory-health-noise/v1"
# A run that waits longer for the ledger than a host waits for the run helps nobody.
_POLLS: Final = 1000 // LOCK_POLL_MS
_MODE_OF_OWNER: Final = 0o600

T = TypeVar("T")


class LedgerError(Exception):
    """The ledger cannot be trusted or not be written. `str()` says why, for the rest of a sentence."""


def decode(data: bytes) -> Ledger:
    """Return the ledger that a file spells.

    Raises:
        LedgerError: It is none.
    """
    try:
        members = loads(data)
        if not isinstance(members, dict) or members.pop("schema", None) != SCHEMA:
            raise LedgerError(f"is no ledger of the schema {SCHEMA}")
        return msgspec.convert(members, Ledger)
    except StrictJSONError as error:
        raise LedgerError(f"is no strict JSON ({error})" if data else "is empty") from error
    except msgspec.ValidationError as error:
        raise LedgerError("has not exactly the known fields") from error


def encode(ledger: Ledger) -> bytes:
    """Return a ledger as its file has it."""
    return json.dumps({"schema": SCHEMA, **msgspec.to_builtins(ledger)}, indent=1, allow_nan=False).encode() + b"\n"


def read(folder: int, name: str) -> Ledger | None:
    """Read the ledger in an open folder; None where there is none.

    Raises:
        LedgerError: It cannot be trusted.
    """
    try:
        descriptor = open_regular(name, folder)
    except FileNotFoundError:
        return None
    except NotRegularError as error:
        raise LedgerError(str(error)) from error
    except OSError as error:
        raise LedgerError(_unreadable(error)) from error
    try:
        if os.fstat(descriptor).st_size > LEDGER_MAX_BYTES:
            raise LedgerError(f"is larger than {LEDGER_MAX_BYTES} bytes")
        return decode(read_all(descriptor))
    except OSError as error:
        raise LedgerError(_unreadable(error)) from error
    finally:
        os.close(descriptor)


def _unreadable(error: OSError) -> str:
    return f"cannot be read ({(error.strerror or type(error).__name__).lower()})"


def tell(
    layout: Layout, findings: tuple[Finding, ...], now: int, *, notify: bool, write: bool, scope: Scope
) -> Notices:
    """Tell the ledger of a run's findings, and return what is news.

    Args:
        layout: The memory.
        findings: What the run found.
        now: Milliseconds since 1970.
        notify: Whether the news is told to somebody.
        write: Whether the ledger is kept; else it is only read.
        scope: Which keys this run can say anything of.

    Raises:
        LedgerError: It cannot be trusted or not be written.
    """
    rhythm = rhythm_of(layout) if findings else DEFAULTS  # of nothing, nothing is counted

    def step(ledger: Ledger) -> tuple[Ledger, Notices]:
        taken = take(ledger, findings, now, notify=notify, scope=scope, rhythm=rhythm)
        return taken.ledger, taken.notices

    if write and _is_a_memory(layout):
        return change(layout, step)
    return step(peek(layout) or Ledger())[1]


def rhythm_of(layout: Layout) -> Rhythm:
    """Return the parameters that the memory sets (`cortex sleep config`), the defaults where they cannot be read."""
    from cortex.sleep.config import settings_of

    try:
        with open_store(str(layout.memory_root)) as store:
            return effective_rhythm(settings_of(store))[0]
    except (CortexError, OSError):
        return DEFAULTS


def peek(layout: Layout) -> Ledger | None:
    """Read the ledger without its lock; None where there is none.

    Raises:
        LedgerError: It cannot be trusted.
    """
    try:
        with open_store(str(layout.memory_root)) as store, store.place(NOISE_LEDGER) as place:
            return None if place is None else read(place.folder, place.name)
    except CortexError as error:
        if error.code == "integrity_error" and not os.path.isdir(layout.memory_root):  # noqa: PTH112  (false, not an error, where it may not be asked)
            return None
        raise LedgerError(f"cannot be reached ({error})") from error
    except OSError as error:
        raise LedgerError(_unreadable(error)) from error


def _is_a_memory(layout: Layout) -> bool:
    return any(os.path.lexists(layout.memory_root / name) for name in (OBSERVABILITY, NOISE_LEDGER))


def change(layout: Layout, step: Callable[[Ledger], tuple[Ledger, T]]) -> T:
    """Change the ledger under its lock by `step`, and return what that answers. Nothing new: nothing is written.

    Raises:
        LedgerError: It cannot be trusted or not be written; then it is as it was.
    """
    before = peek(layout)
    if step(before or Ledger())[0] == (before or Ledger()):
        return step(before or Ledger())[1]
    with _held(layout) as (place, lock):
        ledger = read(place.folder, place.name) or Ledger()
        after, answer = step(ledger)
        if after != ledger:
            _put(place, lock, encode(after))
        return answer


def clear(layout: Layout, now: int) -> str | None:
    """Begin a new ledger; return the name of the damaged one that was kept, None where it was sound or not there.

    Raises:
        LedgerError: It could not be written.
    """
    with _held(layout) as (place, lock):
        try:
            read(place.folder, place.name)
            kept = None
        except LedgerError:
            kept = f"{place.name}.corrupt-{format_instant(now).replace(':', '-').replace('.', '-')}"
            os.rename(place.name, kept, src_dir_fd=place.folder, dst_dir_fd=place.folder)
        _put(place, lock, encode(Ledger()))
        return kept


@contextmanager
def _held(layout: Layout) -> Iterator[tuple[Place, Lock]]:
    try:
        with _opened(layout) as store, store.locks.hold(NOISE_LEDGER) as lock, store.made_place(NOISE_LEDGER) as place:
            if lock.was_cut_off:
                discard_all(place.folder, lock.prefix)
                lock.end()
            yield place, lock
    except CortexError as error:
        raise LedgerError(f"could not be written ({error})") from error
    except OSError as error:
        raise LedgerError(f"could not be written ({(error.strerror or type(error).__name__).lower()})") from error


def _opened(layout: Layout) -> Store:
    return open_store(str(layout.memory_root), _POLLS)


def _put(place: Place, lock: Lock, data: bytes) -> None:
    """Put the file in its place in one step; a new one is for its owner alone."""
    like = _status(place)
    lock.begin()
    staged = stage(place.folder, lock.prefix, data, like)
    try:
        if like is None:
            os.chmod(staged, _MODE_OF_OWNER, dir_fd=place.folder)
        put(place.folder, staged, place.name)
    except BaseException:
        discard(place.folder, staged)
        raise
    os.fsync(place.folder)
    lock.end()


def _status(place: Place) -> os.stat_result | None:
    state: State = read_state(place.folder, place.name)
    return state.status
