"""Writing what was asked for: a file as a whole or not at all, and stdout to its last byte.

It needs the standard library alone, so that it still works where an import is broken.
"""
# ruff: noqa: PTH104, PTH108, PTH118  (paths stay strings: pathlib may be what is broken)

import os
import stat
import sys
from typing import Final

TEXTFILE_MODE: Final = 0o644  # node_exporter runs as another user
REPORT_MODE: Final = 0o600


class StdoutError(Exception):
    """stdout is closed, or did not take everything. Nothing more should be written there."""


def write_whole(path: str, data: bytes, mode: int) -> None:
    """Put `data` in the place of the file at `path` in one step, with exactly this mode whatever the umask.

    The temporary file lies beside it under a hidden name that ends in `.tmp`, so that no reader of `*.prom` takes it
    for a result, and is gone after any failure but a killed process.

    Raises:
        OSError: Something was in the way; the file is the old one. What is no regular file is not replaced.
    """
    folder, name = os.path.split(path)
    folder = folder or os.curdir
    _refuse_irregular(path)
    temporary = os.path.join(folder, f".{name[:200]}.{os.getpid()}.{os.urandom(4).hex()}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        _fill(descriptor, data, mode)
        os.rename(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    _flush_folder(folder)


def _refuse_irregular(path: str) -> None:
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        raise OSError("something that is no regular file has its name")


def _fill(descriptor: int, data: bytes, mode: int) -> None:
    try:
        os.fchmod(descriptor, mode)
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _flush_folder(folder: str) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def describe_error(error: Exception) -> str:
    """Return why, in words that repeat neither a path nor anything's content.

    Of an error that is no OSError only the kind is told: its text may quote what it stumbled over.
    """
    reason = (error.strerror or str(error)) if isinstance(error, OSError) else ""
    return reason or type(error).__name__


def write_stdout(text: str) -> None:
    """Write and flush.

    Raises:
        UnicodeEncodeError: stdout's encoding cannot take a character; nothing was written.
        StdoutError: stdout is closed or full; part of it may have been written.
    """
    if sys.stdout is None:
        raise StdoutError("stdout is closed")
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except UnicodeEncodeError:
        raise
    except (OSError, ValueError) as error:
        _abandon_stdout()
        raise StdoutError(f"cannot write to stdout: {describe_error(error)}") from error


def _abandon_stdout() -> None:
    """Let what is still buffered go nowhere: the interpreter flushes once more at its end, and would fail again."""
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
    except (OSError, ValueError):
        return
