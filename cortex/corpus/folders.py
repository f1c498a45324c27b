"""Folders below the pinned root, opened by descriptor, one component at a time, no link followed.

However deep a tree is, only so many descriptors are open at once: those of the folder in use and of its nearest
parents. A parent that was let go is opened anew, from the root down, when the walk comes back to it.
"""

import os
from types import TracebackType
from typing import Final, Self

from cortex.corpus.faults import Fault, fault
from cortex.nofollow import NotRegularError, open_folder, open_regular

OPEN_FOLDERS_AT_MOST: Final = 64


class Folders:
    """Descriptors of the folders below a root. The caller closes them (`with Folders(...)`); the root's stays open."""

    def __init__(self, root: int) -> None:
        self._root = root
        self._names: list[str] = []
        self._descriptors: list[int] = []  # of the last names; the first ones may have been let go
        self._current: str | None = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def descriptor(self, folder: str) -> int:
        """Return the descriptor of `folder` (relative to the root, `/`, `""` for the root), open until the next call.

        Raises:
            OSError: As `cortex.nofollow.open_folder` does.
        """
        if folder != self._current:
            self._change_to(folder.split("/") if folder else [])
            self._current = folder
        return self._descriptors[-1] if self._descriptors else self._root

    def open_file(self, path: str) -> int:
        """Open a regular file relative to its folder. The caller closes it.

        Raises:
            OSError: As `open_folder` and `open_regular` of `cortex.nofollow` do.
        """
        folder, _, name = path.rpartition("/")
        return open_regular(_native(name), self.descriptor(folder))

    def close(self) -> None:
        """Close every folder."""
        self._current = None
        self._keep(0)

    def _change_to(self, names: list[str]) -> None:
        self._current = None  # whatever fails on the way, the next call starts from what is open
        self._keep(_shared(self._names, names))
        for name in names[len(self._names) :]:
            parent = self._descriptors[-1] if self._descriptors else self._root
            self._descriptors.append(open_folder(_native(name), parent))
            self._names.append(name)
            if len(self._descriptors) > OPEN_FOLDERS_AT_MOST:
                os.close(self._descriptors.pop(0))

    def _keep(self, depth: int) -> None:
        """Close what is deeper than `depth`; everything, where the folder at that depth was let go."""
        let_go = len(self._names) - len(self._descriptors)
        if depth <= let_go:
            depth = let_go = 0
        keep = max(depth - let_go, 0)
        for descriptor in self._descriptors[keep:]:
            os.close(descriptor)
        del self._descriptors[keep:]
        del self._names[depth:]


def fault_of_opening(path: str, error: OSError) -> Fault:
    """Return the fault that an error of opening, listing or reading `path` stands for."""
    if isinstance(error, NotRegularError):
        return fault(path, None, "link" if str(error) == "is a link" else "special-file", str(error))
    if isinstance(error, FileNotFoundError):
        return fault(path, None, "unreadable", "went away while the corpus was read")
    if isinstance(error, PermissionError):
        return fault(path, None, "unreadable", "may not be read by this user")
    return fault(path, None, "unreadable", "cannot be read")


def _shared(one: list[str], other: list[str]) -> int:
    """Return how many names two paths share from the root down."""
    length = 0
    for mine, theirs in zip(one, other, strict=False):
        if mine != theirs:
            break
        length += 1
    return length


def to_utf8(native: str) -> str:
    """Return a name from a listing as UTF-8 has it, whatever the locale; bytes that are no UTF-8 as lone surrogates."""
    return native if native.isascii() else os.fsencode(native).decode("utf-8", "surrogateescape")


def is_utf8(name: str) -> bool:
    """Tell whether the bytes of a name or path are valid UTF-8."""
    return name.isascii() or name.encode("utf-8", "replace") == name.encode("utf-8", "surrogateescape")


def printable(path: str) -> str:
    """Return a path for a message, with bytes that are no UTF-8 in hexadecimal."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _native(name: str) -> str:
    return name if name.isascii() else os.fsdecode(name.encode("utf-8", "surrogateescape"))
