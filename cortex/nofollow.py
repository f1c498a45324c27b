"""Opening files without a window between check and read.

A folder is opened by descriptor without following a link, a file relative to it, without following a link and
without blocking, and what was opened is checked, not its name. A FIFO or a swapped link cannot hang or mislead.
"""

import os
import stat
from collections.abc import Callable
from typing import Final

_Predicate = Callable[[int], bool]

_FOLDER_FLAGS: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


_KINDS: Final[tuple[tuple[_Predicate, str], ...]] = (
    (stat.S_ISLNK, "is a link"),
    (stat.S_ISDIR, "is a folder"),
    (stat.S_ISREG, "is a file"),
    (stat.S_ISFIFO, "is a FIFO"),
    (stat.S_ISSOCK, "is a socket"),
    (stat.S_ISCHR, "is a device"),
    (stat.S_ISBLK, "is a device"),
)


class NotRegularError(OSError):
    """Something else lies where a regular file or a folder belongs. `str()` says what, for a sentence: "is a link"."""


def describe_mode(mode: int) -> str:
    """Return what a file of this mode is, for a sentence: `is a FIFO`."""
    for predicate, words in _KINDS:
        if predicate(mode):
            return words
    return "is no regular file"


def open_folder(name: str, parent: int | None = None) -> int:
    """Open a folder by descriptor, its last component not a link. The caller closes it.

    Raises:
        FileNotFoundError: There is nothing of that name.
        NotRegularError: It is a link or a file.
        OSError: It cannot be opened.
    """
    return _open(name, _FOLDER_FLAGS, parent, stat.S_ISDIR)


def open_regular(name: str, parent: int | None = None) -> int:
    """Open a regular file for reading, its last component not a link. The caller closes it.

    Raises:
        FileNotFoundError: There is nothing of that name.
        NotRegularError: It is a link, a folder, a FIFO, a socket or a device.
        OSError: It cannot be opened.
    """
    return _open(name, _FILE_FLAGS, parent, stat.S_ISREG)


def _open(name: str, flags: int, parent: int | None, wanted: _Predicate) -> int:
    try:
        descriptor = os.open(name, flags, dir_fd=parent)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _explain(name, parent, wanted, error) from error
    mode = os.fstat(descriptor).st_mode
    if wanted(mode):
        return descriptor
    os.close(descriptor)
    raise NotRegularError(describe_mode(mode))


def _explain(name: str, parent: int | None, wanted: _Predicate, error: OSError) -> OSError:
    """Say of a name that would not open what lies there; only the words depend on this second look."""
    try:
        mode = os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode
    except OSError:
        return error
    return error if wanted(mode) else NotRegularError(describe_mode(mode))
