"""Two pieces of work at once: a forked child does the second and sends what it came to through a pipe.

Only where there is a second core, and in a process that is ours alone: forking a host's process that has threads is not
ours to do. Whether that core is idle does not matter: where it is not, the child only takes its turns. Whatever becomes
of the child, its work is then done here.
"""

import os
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def both(mine: Callable[[], T], other: Callable[[], bytes]) -> tuple[T, bytes]:
    """Return what two pieces of work come to; the second may be done in another process, so it changes nothing here.

    Raises:
        Exception: Whatever `mine` raises, once the child has ended; or `other`, where it fails here too.
    """
    if not is_there():
        return mine(), other()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        _carry_out(other, writing)
    os.close(writing)
    try:
        result = mine()
    finally:
        sent = _collect(child, reading)
    return result, other() if sent is None else sent


def is_there() -> bool:
    """Tell whether this process may run on more than one core."""
    return hasattr(os, "sched_getaffinity") and len(os.sched_getaffinity(0)) > 1


def _carry_out(work: Callable[[], bytes], writing: int) -> None:
    status = 1
    try:
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(work())
        status = 0
    finally:
        os._exit(status)  # without what the interpreter does at its end: that is the parent's


def _collect(child: int, reading: int) -> bytes | None:
    """Wait for the child; return what it sent, or None where it did not come to its end."""
    with os.fdopen(reading, "rb") as pipe:
        sent = pipe.read()
    _, status = os.waitpid(child, 0)
    return sent if status == 0 else None
