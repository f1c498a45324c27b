"""Are the logs of a size and age that can be kept? Bytes, number and times of all logs below OBSERVABILITY/.

A log is a regular file named `.jsonl` or `.log` in lower case, hidden ones too. Links are not followed and not counted.
The auditor's own history is left out: it is no evidence for itself. What cannot be read is named, the rest measured.
"""

import os
from typing import Final

from cortex.layout import HEALTH_HISTORY, OBSERVABILITY
from cortex.nofollow import open_folder
from cortex.places import Layout
from healthcheck.collectors.folder import describe, open_memory_folder, printable, shown
from healthcheck.evidence import Collected, ObservabilityEvidence, Observed

LOG_SUFFIXES: Final = (".jsonl", ".log")
DEEPEST: Final = 128  # folders below one another; each holds a descriptor open
_NANOSECONDS_PER_MS: Final = 1_000_000


def collect_observability(layout: Layout) -> Collected[ObservabilityEvidence]:
    """Measure the logs below OBSERVABILITY/."""
    folder = open_memory_folder(layout, OBSERVABILITY)
    if not isinstance(folder, int):
        return folder
    walk = _Walk(shown(layout, layout.observability))
    try:
        walk.measure(folder, "", 0)
    finally:
        os.close(folder)
    return Observed(walk.result())


class _Walk:
    """What has been measured so far. Times stand before paths, so that a tie is broken by path."""

    def __init__(self, top: str) -> None:
        self._top = top
        self._files = 0
        self._size_bytes = 0
        self._oldest: tuple[int, str] | None = None
        self._newest: tuple[int, str] | None = None
        self._unreadable: list[str] = []

    def measure(self, folder: int, path: str, depth: int) -> None:
        """Measure what lies in an open folder, `path` (with a slash at its end) below the top."""
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    self._take(entry, folder, path, depth)
        except OSError as error:
            self._note(path, describe(error))

    def _take(self, entry: os.DirEntry[str], folder: int, path: str, depth: int) -> None:
        name = path + entry.name
        try:
            if entry.is_dir(follow_symlinks=False):
                self._descend(entry.name, folder, name + "/", depth + 1)
            elif entry.name.endswith(LOG_SUFFIXES) and entry.is_file(follow_symlinks=False) and name != HEALTH_HISTORY:
                self._count(name, entry.stat(follow_symlinks=False))
        except FileNotFoundError:
            return  # it went away meanwhile, as rotation does
        except OSError as error:
            self._note(name, describe(error))

    def _descend(self, name: str, parent: int, path: str, depth: int) -> None:
        if depth > DEEPEST:
            self._note(path, "is nested too deep")
            return
        folder = open_folder(name, parent)
        try:
            self.measure(folder, path, depth)
        finally:
            os.close(folder)

    def _count(self, name: str, status: os.stat_result) -> None:
        self._files += 1
        self._size_bytes += status.st_size
        modified = status.st_mtime_ns // _NANOSECONDS_PER_MS
        if self._oldest is None or (modified, name) < self._oldest:
            self._oldest = (modified, name)
        if self._newest is None or (-modified, name) < self._newest:
            self._newest = (-modified, name)

    def _note(self, name: str, reason: str) -> None:
        self._unreadable.append(f"{self._below_top(name)} {reason}")

    def _below_top(self, name: str) -> str:
        return f"{self._top}/{printable(name)}".rstrip("/")

    def result(self) -> ObservabilityEvidence:
        """Return all that was measured."""
        return ObservabilityEvidence(
            folder=self._top,
            files=self._files,
            size_bytes=self._size_bytes,
            oldest_at=self._oldest and self._oldest[0],
            oldest=self._oldest and self._below_top(self._oldest[1]),
            newest_at=self._newest and -self._newest[0],
            newest=self._newest and self._below_top(self._newest[1]),
            unreadable=tuple(sorted(self._unreadable)),
        )
