"""A consolidation in a process of its own, for hosts whose hooks must not wait.

It waits until the gap since the last consolidation has passed, one such process at a time, then does its work and ends.
What goes wrong is a line in the log of hooks' faults.
"""

import os
import sys
import time
from typing import Final

from msgspec.structs import replace

from cortex.arguments import Call, Host
from cortex.layout import CORTEX
from cortex.privacy import strip_private
from cortex.sleep.config import rhythm_of
from cortex.sleep.consolidate import RUNNING, Request, consolidate
from cortex.sleep.keeping import look
from cortex.sleep.state import State
from cortex.store.locks import BusyError
from cortex.store.store import Store, open_store
from policies.limits import LOCK_POLL_MS
from policies.rhythm import Rhythm
from policies.units import MINUTE_MS

# A longer gap is left to the next stop, or to a timer.
WAIT_MOST_MS: Final = 10 * MINUTE_MS
STOPPED_MOST: Final = 100
_PATIENCE: Final = MINUTE_MS // LOCK_POLL_MS
_WAITING: Final = f"{CORTEX}/waiting"
_NOW: Final = "CORTEX_HEALTH_NOW"


def with_stopped(state: State, path: str) -> State:
    """Return the state with the transcript of a session that has stopped; unchanged where there is none to read."""
    unusable = not path or path in state.stopped or strip_private(path) != path or not path.isprintable()
    if unusable or not os.path.isfile(path):  # noqa: PTH113 # pathlib costs more than all else here
        return state
    return replace(state, stopped=(*state.stopped, os.path.abspath(path))[-STOPPED_MOST:])  # noqa: PTH100 # likewise


def start(call: Call, rhythm: Rhythm, state: State) -> None:
    """Start the process, and do not wait for it; not where it would have to wait for too long."""
    wait_ms = remaining_ms(state, rhythm, call.now())
    if wait_ms > WAIT_MOST_MS:
        return
    environment = dict(call.host.environment)
    if call.has("--now"):
        environment[_NOW] = call.options["--now"]
    words = [sys.executable, "-P", "-m", __name__, call.memory_root(), call.options["--adapter"], str(wait_ms)]
    null = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)]
    os.posix_spawn(sys.executable, words, environment, file_actions=null, setsid=True)


def remaining_ms(state: State, rhythm: Rhythm, now: int) -> int:
    """Return how long it is until the gap since the last consolidation has passed."""
    if state.consolidated_at is None or now < state.consolidated_at:
        return 0
    return max(0, int(state.consolidated_at + rhythm.consolidate_gap_ms) - now)


def main(words: list[str]) -> int:
    """Wait, consolidate, end.

    Args:
        words: The memory root, the adapter, and how long to wait in ms.
    """
    from cortex.cli import process_clock
    from cortex.hook import describe, log_fault

    memory_root, adapter, wait_ms = words
    host = Host(os.environ, process_clock)
    try:
        with open_store(memory_root) as store:
            if not _is_awaited(store, int(wait_ms)):
                _consolidate(store, adapter, host)
    except Exception as error:  # noqa: BLE001 - nobody listens: the log is the one place to say it
        log_fault(memory_root, host.clock(), "hook stop", describe(error))
        return 1
    return 0


def _is_awaited(store: Store, wait_ms: int) -> bool:
    """Wait; tell whether another process waits already, and will do what we would."""
    if not wait_ms:
        return False
    try:
        with store.locks.hold(_WAITING, 1):
            time.sleep(wait_ms / 1000)
    except BusyError:
        return True
    return False


def _consolidate(store: Store, adapter: str, host: Host) -> None:
    now = _now(host)
    with store.locks.hold(RUNNING, _PATIENCE):
        if remaining_ms(look(store).state, rhythm_of(store), now) == 0:
            consolidate(store, Request(adapter, now, (), "if new"))


def _now(host: Host) -> int:
    from policies.timestamps import parse_instant

    told = parse_instant(host.environment.get(_NOW, ""))
    return host.clock() if told is None else told


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
