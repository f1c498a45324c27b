"""Locks: one file per target below `CORTEX/locks/`, held by the kernel for a process and gone with it.

1. A lock file is opened without following links and never truncated. Its name is the hash of the target's.
2. Its first byte says whether a write is under way. Whoever takes a lock and finds it so knows that the one before was
   killed, and clears up.
3. A lock file that has a second name elsewhere is replaced by a file of its own while it is held, so that nobody
   outside holds or sees it; who waited for the old one looks at the name again.
"""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import Final

from cortex.errors import CortexError
from cortex.nofollow import NotRegularError
from cortex.store.files import NEW_MODE, discard, open_or_make, put, refused
from policies.limits import LOCK_POLL_MS, LOCK_WAIT_MS

POLLS: Final = LOCK_WAIT_MS // LOCK_POLL_MS
_FLAGS: Final = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CLEAN, _WRITING = b".", b"w"


class BusyError(CortexError):
    """Another process holds a lock for longer than was waited for it."""

    def __init__(self, target: str) -> None:
        super().__init__("governance_refused", f"{target} is busy: another process is writing it; try again")


class Lock:
    """A lock that is held. `was_cut_off` tells whether the holder before died in the middle of a write."""

    def __init__(self, descriptor: int, key: str) -> None:
        self._descriptor = descriptor
        self.prefix = f".cortex-{key}-"
        self.was_cut_off = os.pread(descriptor, 1, 0) == _WRITING

    def begin(self) -> None:
        """Note that a write is under way."""
        os.pwrite(self._descriptor, _WRITING, 0)

    def end(self) -> None:
        """Note that nothing is under way any more."""
        self.was_cut_off = False
        os.pwrite(self._descriptor, _CLEAN, 0)

    def release(self) -> None:
        """Let go."""
        os.close(self._descriptor)


class Locks:
    """The locks of one store. Taking one that is already held is free.

    Args:
        folder: Opens the folder of locks, made where it is missing; what it returns is closed here.
        polls: How often to look for a lock that is busy, `LOCK_POLL_MS` apart.
    """

    def __init__(self, folder: Callable[[], int], polls: int = POLLS) -> None:
        self._folder = folder
        self._polls = polls
        self._held: dict[str, Lock] = {}

    @contextmanager
    def hold(self, target: str, polls: int | None = None) -> Iterator[Lock]:
        """Hold the lock of a target, looking so often where it is busy (as often as for any where None).

        Raises:
            BusyError: Another process holds it for too long.
            CortexError: `governance_refused` where it is no regular file.
        """
        held = self._held.get(target)
        if held is not None:
            yield held
            return
        key = sha256(target.encode(errors="surrogateescape")).hexdigest()[:32]
        folder = self._folder()
        try:
            descriptor = self._acquire(folder, f"{key}.lock", target, self._polls if polls is None else polls)
            lock = Lock(descriptor, key)
        finally:
            os.close(folder)
        self._held[target] = lock
        try:
            yield lock
        finally:
            del self._held[target]
            lock.release()

    def _acquire(self, folder: int, name: str, target: str, polls: int) -> int:
        while True:
            try:
                descriptor = open_or_make(folder, name, _FLAGS)
            except NotRegularError as error:
                raise refused(f"the lock of {target} {error}: it is not trusted") from error
            try:
                _wait(descriptor, target, polls)
                if _names(folder, name, descriptor):
                    return _own(folder, name, descriptor)
            except BaseException:
                os.close(descriptor)
                raise
            os.close(descriptor)


def _wait(descriptor: int, target: str, polls: int) -> None:
    for _ in range(polls):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(LOCK_POLL_MS / 1000)
        else:
            return
    raise BusyError(target)


def _names(folder: int, name: str, descriptor: int) -> bool:
    """Tell whether a name still means the file that was opened."""
    try:
        return os.path.samestat(os.stat(name, dir_fd=folder, follow_symlinks=False), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _own(folder: int, name: str, descriptor: int) -> int:
    """Return the held lock; where the file has a second name, a held file of its own in its place."""
    if os.fstat(descriptor).st_nlink < 2:
        return descriptor
    staged = f".{os.urandom(8).hex()}.tmp"
    own = os.open(staged, _FLAGS | os.O_EXCL, NEW_MODE, dir_fd=folder)
    try:
        fcntl.flock(own, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.pwrite(own, os.pread(descriptor, 1, 0), 0)
        put(folder, staged, name)
    except BaseException:
        discard(folder, staged)
        os.close(own)
        raise
    os.close(descriptor)
    return own
