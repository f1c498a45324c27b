"""Single steps on files, each relative to a folder that is already open: read, stage, append, look.

1. Nothing is opened through a link, and nothing blocks: what was opened is checked, not its name.
2. A staged file has a hidden name that no reader takes for data, and is on the disk before it gets its real name.
3. A line is appended by one write, after a torn last line on a line of its own; what was written in part is taken back.
"""

import errno
import os
import stat
from contextlib import suppress
from typing import Final, NamedTuple

from cortex.errors import CortexError
from cortex.nofollow import NotRegularError, describe_mode, open_regular

NEW_MODE: Final = 0o666  # as the umask has it
TEMPORARY: Final = ".tmp"
_STAGE_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_APPEND_FLAGS: Final = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class State(NamedTuple):
    """A file as it was read: `data` and `status` are None where there is none."""

    data: bytes | None
    status: os.stat_result | None

    @property
    def mark(self) -> tuple[int, int, int] | None:
        """What another state of the same name differs in."""
        return None if self.status is None else (self.status.st_ino, self.status.st_size, self.status.st_mtime_ns)


def refused(message: str) -> CortexError:
    """Return the refusal of a write by the store's rules."""
    return CortexError("governance_refused", message)


def read_state(folder: int, name: str) -> State:
    """Read a file as a whole.

    Raises:
        NotRegularError: A link, a folder or something else lies there.
        OSError: It cannot be read.
    """
    try:
        descriptor = open_regular(name, folder)
    except FileNotFoundError:
        return State(None, None)
    try:
        status = os.fstat(descriptor)  # before the content, so that a change while it is read is seen as one
        return State(read_all(descriptor), status)
    finally:
        os.close(descriptor)


def read_all(descriptor: int) -> bytes:
    """Return everything from the descriptor's position to the end."""
    parts = []
    while part := os.read(descriptor, 1 << 20):
        parts.append(part)
    return b"".join(parts)


def is_still(folder: int, name: str, state: State) -> bool:
    """Tell whether a name still means the file that was read, unchanged."""
    try:
        return State(None, os.stat(name, dir_fd=folder, follow_symlinks=False)).mark == state.mark
    except FileNotFoundError:
        return state.status is None


def stage(folder: int, prefix: str, data: bytes, like: os.stat_result | None, mode: int = NEW_MODE) -> str:
    """Write a new file under a hidden random name and wait until it is on the disk; return the name.

    Args:
        folder: The open folder.
        prefix: What the name begins with.
        data: The content.
        like: The file whose mode and owner it takes over.
        mode: Its mode where it is like none, as far as the umask lets it.

    Raises:
        OSError: It could not be written; then it is not there.
    """
    name = f"{prefix}{os.urandom(8).hex()}{TEMPORARY}"
    descriptor = os.open(name, _STAGE_FLAGS, mode, dir_fd=folder)
    try:
        try:
            _write_all(descriptor, data)
            if like is not None:
                _take_over(descriptor, like)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except BaseException:
        discard(folder, name)
        raise
    return name


def put(folder: int, staged: str, name: str) -> None:
    """Give a staged file its name; where that fails, it is gone.

    Raises:
        OSError: It could not be renamed.
    """
    try:
        os.rename(staged, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        discard(folder, staged)
        raise


def discard(folder: int, name: str) -> None:
    """Remove a staged file, if it can be removed."""
    with suppress(OSError):
        os.unlink(name, dir_fd=folder)


def discard_all(folder: int, prefix: str) -> None:
    """Remove the staged files that a killed process left; the caller holds the lock that their prefix names."""
    for name in names_in(folder):
        if name.startswith(prefix) and name.endswith(TEMPORARY):
            discard(folder, name)


def names_in(folder: int) -> list[str]:
    """Return the names of everything in an open folder."""
    with os.scandir(folder) as entries:
        return [entry.name for entry in entries]


def has_second_name(folder: int, name: str) -> bool:
    """Tell whether a file that is there has another name too, through which a change would show."""
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return stat.S_ISREG(status.st_mode) and status.st_nlink > 1


def make_own(folder: int, name: str, prefix: str) -> None:
    """Put a file of its own in the place of one that has a second name; the other name stays as it is.

    Raises:
        OSError: It could not be written; then it is as it was.
    """
    state = read_state(folder, name)
    if state.data is not None:
        put(folder, stage(folder, prefix, state.data, state.status), name)
        os.fsync(folder)


def append_line(folder: int, name: str, line: bytes, *, sync: bool) -> None:
    """Append one line, with its line end, to a file that is made where it is missing. The caller holds its lock.

    Raises:
        NotRegularError: A link, a folder or something else lies there.
        OSError: The line could not be written, or (with `sync`) may not be on the disk.
    """
    descriptor = open_or_make(folder, name)
    try:
        size = os.fstat(descriptor).st_size
        torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
        _write_once(descriptor, b"\n" + line if torn else line, size)
        if sync:
            os.fsync(descriptor)
            if not size:
                os.fsync(folder)
    finally:
        os.close(descriptor)


def open_or_make(folder: int, name: str, flags: int = _APPEND_FLAGS) -> int:
    """Open a regular file that is made where it is missing; never truncated. The caller closes it.

    Raises:
        NotRegularError: A link, a folder or something else lies there.
        OSError: It cannot be opened.
    """
    try:
        descriptor = os.open(name, flags, NEW_MODE, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EISDIR, errno.ENXIO):
            mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
            raise NotRegularError(describe_mode(mode)) from error
        raise
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        raise NotRegularError(describe_mode(mode))
    return descriptor


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _write_once(descriptor: int, line: bytes, size: int) -> None:
    """Write a whole line or nothing of it. `size` is the file's size before."""
    written = os.write(descriptor, line)
    if written == len(line):
        return
    if os.fstat(descriptor).st_size == size + written:
        os.ftruncate(descriptor, size)
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _take_over(descriptor: int, like: os.stat_result) -> None:
    own = os.fstat(descriptor)
    if (own.st_uid, own.st_gid) != (like.st_uid, like.st_gid):
        with suppress(PermissionError):  # only root may give a file away: else it belongs to who wrote it
            os.fchown(descriptor, like.st_uid, like.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(like.st_mode))
