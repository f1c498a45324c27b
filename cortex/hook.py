"""`cortex hook`: what a host's agent calls at its events. Outside the envelope: stdout is what the host injects.

Rules:

1. It always exits 0 and has at most `DEADLINE_S`. What goes wrong is a line in `OBSERVABILITY/hook-errors.log`, and
   where that cannot be written, on stderr; nothing of what the host sent is in it.
2. It reads one JSON object; keys that it does not know are passed over.
3. It never consolidates by itself: `stop` starts a process of its own for that, and does not wait.
"""

import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final, NamedTuple

from cortex.arguments import Call, Host, parse_call
from cortex.errors import CortexError, invalid
from policies.limits import LOCK_POLL_MS, MIB

DEADLINE_S: Final = 1.5
LOCK_WAIT_MS: Final = 300
INPUT_MAX_BYTES: Final = 256 * MIB
POLLS: Final = LOCK_WAIT_MS // LOCK_POLL_MS


class _DeadlineError(BaseException):
    """The time is up. No handler of ordinary errors may take it for one."""


class Event(NamedTuple):
    """What the host sent, as far as it is of the right type."""

    values: dict[str, Any]

    def text(self, key: str) -> str:
        """Return a value that is a string, else nothing."""
        value = self.values.get(key)
        return value if isinstance(value, str) else ""


def run(words: Sequence[str], host: Host, read: Callable[[], bytes]) -> bytes:
    """Carry out `hook …`; return what the host is to inject. Nothing is raised, whatever happens.

    Args:
        words: The arguments, from `hook` on.
        host: The process around the call.
        read: Reads the host's message.
    """
    call: Call | None = None
    try:
        with _deadline(host):
            call = parse_call(words, host)
            event = _event(read())
            return _act(call.command.handler)(call, event).encode(errors="replace")
    except _DeadlineError:
        _tell(words, call, f"not done within {DEADLINE_S} s")
    except Exception as error:  # noqa: BLE001 - a host is never disturbed by us
        _tell(words, call, describe(error))
    return b""


def _act(reference: str) -> "Callable[[Call, Event], str]":
    from importlib import import_module

    module, _, function = reference.partition(":")
    act: Callable[[Call, Event], str] = getattr(import_module(module), function)
    return act


def describe(error: BaseException) -> str:
    """Return what may be said of a fault: our own words, the system's, or its kind; the host's text is in none."""
    if isinstance(error, CortexError):
        return error.message
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return f"{type(error).__name__} inside cortex"


def log_fault(memory_root: str, now: int, what: str, said: str) -> None:
    """Add a line to the log of hooks' faults.

    Raises:
        CortexError, OSError: It could not be written.
    """
    from cortex.layout import HOOK_ERRORS, OBSERVABILITY
    from cortex.privacy import strip_private
    from cortex.store.files import append_line
    from cortex.store.store import open_store
    from policies.timestamps import format_instant

    line = " ".join(strip_private(f"{format_instant(now)} {what}: {said}").split())
    log = f"{OBSERVABILITY}/{HOOK_ERRORS}"
    with open_store(memory_root, POLLS) as store, store.locks.hold(log), store.made_place(log) as place:
        append_line(place.folder, place.name, f"{line}\n".encode(errors="replace"), sync=False)


def _event(data: bytes) -> Event:
    import json

    try:
        values = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise invalid("the host's message is no JSON") from error
    if not isinstance(values, dict):
        raise invalid("the host's message is no JSON object")
    return Event(values)


def read_stdin() -> bytes:
    """Return the host's message.

    Raises:
        CortexError: It is longer than any message is.
    """
    data = sys.stdin.buffer.read(INPUT_MAX_BYTES + 1) if sys.stdin is not None else b""
    if len(data) > INPUT_MAX_BYTES:
        raise invalid("the host's message is too long")
    return data


@contextmanager
def _deadline(host: Host) -> Iterator[None]:
    """Give what follows a time; only where the process is ours."""
    if not host.may_fork:
        yield
        return

    def expire(*_: object) -> None:
        raise _DeadlineError

    signal.signal(signal.SIGALRM, expire)
    signal.setitimer(signal.ITIMER_REAL, DEADLINE_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _tell(words: Sequence[str], call: Call | None, said: str) -> None:
    """Leave a line about a fault: in the log where the call was permitted to write, else on stderr."""
    what = f"hook {words[1]}" if len(words) > 1 else "hook"
    try:
        if call is not None:
            log_fault(call.memory_root(), call.now(), what, said)
            return
    except Exception:  # noqa: BLE001, S110 - what is left is said below
        pass
    with suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(f"cortex {what}: {said}\n")
