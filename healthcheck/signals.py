"""Signals that would end the process get a handler of ours, so that a stopped run still says that it did not finish.

SIGINT is left alone: Python makes it a KeyboardInterrupt. What the parent set to be ignored (nohup) stays ignored.
"""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

_ENDING: Final = (
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGALRM,
    signal.SIGVTALRM,
    signal.SIGPROF,
    signal.SIGXCPU,
)
Handler = Callable[[int, FrameType | None], object] | signal.Handlers


class Stopped(BaseException):
    """A signal came. Not an Exception, so that nothing that guards one step takes it for a fault of that step."""


def stop(number: int, _frame: FrameType | None) -> None:
    """Handle a signal by ending the run.

    Raises:
        Stopped: Always; its text names the signal.
    """
    raise Stopped(f"stopped by {signal.Signals(number).name}")


@contextmanager
def handled_by(handler: Handler) -> Iterator[None]:
    """Put `handler` in charge of the signals for a while. Outside the main thread nothing changes."""
    before: dict[signal.Signals, Handler] = {}
    try:
        for number in _ENDING:
            previous = signal.getsignal(number)
            if previous is not None and previous is not signal.SIG_IGN:
                before[number] = previous  # type: ignore[assignment]  # it is never a bare int on these systems
                signal.signal(number, handler)
    except ValueError:  # not the main thread
        before.clear()
    try:
        yield
    finally:
        for number, previous in before.items():
            signal.signal(number, previous)
