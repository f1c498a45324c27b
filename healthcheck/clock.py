"""The real clock as a value, so that whoever needs it is handed it. `cli` alone reads it."""

from collections.abc import Callable
from typing import NamedTuple


class Clock(NamedTuple):
    """Milliseconds since 1970 (UTC), and seconds since the command began."""

    wall_ms: Callable[[], int]
    elapsed_s: Callable[[], float]
