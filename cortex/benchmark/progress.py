"""A bar on stderr for a person who waits: at a terminal alone, and only once a run has taken longer than a second."""

import sys
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Self

from policies.limits import PROGRESS_AFTER_MS

if TYPE_CHECKING:
    from rich.progress import Progress

_MS: int = 1_000_000  # nanoseconds


class Waiting:
    """How far a run of `total` steps is. `timer` counts nanoseconds; what draws is imported when there is a wait."""

    def __init__(self, words: str, total: int, timer: Callable[[], int]) -> None:
        self._words = words
        self._total = total
        self._timer = timer
        self._done = 0
        self._began = timer()
        self._bar: Progress | None = None
        self._is_watched = sys.stderr is not None and sys.stderr.isatty()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def step(self) -> None:
        """Say that one more step is done."""
        self._done += 1
        if self._bar is None and self._is_watched and self._timer() - self._began > PROGRESS_AFTER_MS * _MS:
            self._bar = _draw(self._words, self._total)
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=self._done)


def _draw(words: str, total: int) -> "Progress":
    from rich.console import Console
    from rich.progress import Progress

    bar = Progress(console=Console(stderr=True), transient=True)
    bar.add_task(words, total=total)
    bar.start()
    return bar
