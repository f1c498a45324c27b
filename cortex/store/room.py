"""How much room the corpus has left: a look that is cheap enough to take before every write of a note.

Names are counted each time. Sizes are asked for, file by file, only where they may matter: from `SIZED_FROM` files up,
or where there is a log (`.jsonl`), which grows large. Fewer notes than that come nowhere near the bound of bytes.
"""

import os
from collections.abc import Iterator
from typing import Final, NamedTuple

from cortex.corpus.folders import Folders
from cortex.corpus.walk import SUFFIXES
from cortex.layout import NOT_CORPUS

SIZED_FROM: Final = 1024
_PASSED_OVER: Final = ("_", ".")
_LOG: Final = ".jsonl"


class Room(NamedTuple):
    """What counts towards the bounds of a corpus. `size_bytes` is 0 where the sizes cannot matter."""

    files: int
    size_bytes: int


def taken(root: int, corpus: str) -> Room:
    """Return how many files the corpus has, and of how many bytes.

    Args:
        root: The open memory root.
        corpus: The folder that holds the corpus, "" for the root itself.

    Raises:
        OSError: A folder cannot be read.
    """
    with Folders(root) as folders:
        found = [(folder, names) for folder, names in _walk(folders, corpus) if names]
        files = sum([len(names) for _, names in found])
        has_log = any(name.endswith(_LOG) for _, names in found for name in names)
        if files < SIZED_FROM and not has_log:
            return Room(files, 0)
        return Room(files, sum([_size(folders.descriptor(folder), name) for folder, names in found for name in names]))


def _walk(folders: Folders, corpus: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each folder of the corpus, and the names of the files in it that count."""
    waiting = [corpus]
    while waiting:
        folder = waiting.pop()
        with os.scandir(folders.descriptor(folder)) as entries:
            there = [entry for entry in entries if not entry.name.startswith(_PASSED_OVER)]
        if not folder:
            there = [entry for entry in there if entry.name not in NOT_CORPUS]
        waiting += [f"{folder}/{entry.name}".lstrip("/") for entry in there if entry.is_dir(follow_symlinks=False)]
        yield (
            folder,
            [entry.name for entry in there if entry.name.endswith(SUFFIXES) and entry.is_file(follow_symlinks=False)],
        )


def _size(folder: int, name: str) -> int:
    return os.stat(name, dir_fd=folder, follow_symlinks=False).st_size
