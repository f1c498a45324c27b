"""Stops a call at its k-th operation on a file: the process gone, or the operating system refusing.

Operations are those that change what is on the disk: open (that makes a file), write, pwrite, fsync, rename, link,
unlink, mkdir, ftruncate, fchmod. Each runs in a forked child, so that a stop is a real one: no handler runs after it.

`PowerFailure` replays what was recorded with the writes lost that nobody had waited for: content of a file that was not
synced, names in a folder that was not synced.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

OPERATIONS = ("open", "write", "pwrite", "fsync", "rename", "link", "unlink", "mkdir", "ftruncate", "fchmod")
STOPPED = 77


class Step(NamedTuple):
    """An operation that was done: its name, what it was done to, and what it put there."""

    name: str
    path: str
    detail: Any = None


Hook = Callable[[int], None]


@contextmanager
def watched(before: Hook, after: Callable[[Step], None] | None = None) -> Iterator[None]:
    """Call `before` with the number (from 0) of each operation before it is done, `after` once it is."""
    count = 0

    def watch(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*arguments: Any, **options: Any) -> Any:
            nonlocal count
            if name == "open" and not arguments[1] & os.O_CREAT:
                return real(*arguments, **options)
            number, count = count, count + 1
            before(number)
            described = _described(name, arguments, options) if after else None
            result = real(*arguments, **options)
            if after and described:
                after(described)
            return result

        return wrapped

    patches = [patch.object(os, name, watch(name, getattr(os, name))) for name in OPERATIONS]
    for each in patches:
        each.start()
    try:
        yield
    finally:
        for each in patches:
            each.stop()


def stopped_at(number: int, call: Callable[[], object]) -> bool:
    """Make a call in a child that is gone at its operation of that number; tell whether it got that far."""
    child = os.fork()
    if child == 0:
        status = 99
        try:
            with watched(lambda at: os._exit(STOPPED) if at == number else None):
                call()
            status = 0
        finally:
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, STOPPED), f"the call itself failed ({status})"
    return status == STOPPED


def refused_at(number: int, errno_: int, call: Callable[[], Any], *, short: bool = False) -> tuple[bool, Any]:
    """Make a call whose operation of that number the operating system refuses; tell whether it came, and the answer."""
    came = False

    def refuse(at: int) -> None:
        nonlocal came
        if at == number:
            came = True
            raise OSError(errno_, os.strerror(errno_))

    if not short:
        with watched(refuse):
            answer = call()
        return came, answer
    return _with_short_write(number, errno_, call)


def _with_short_write(number: int, errno_: int, call: Callable[[], Any]) -> tuple[bool, Any]:
    """As a full disk does: the write of that number takes half, every later one nothing."""
    real = os.write
    count, came = 0, False

    def write(descriptor: int, data: Any) -> int:
        nonlocal count, came
        at, count = count, count + 1
        if at == number and len(data) > 1:
            came = True
            return real(descriptor, bytes(data)[: len(data) // 2])
        if came:
            raise OSError(errno_, os.strerror(errno_))
        return real(descriptor, data)

    with patch.object(os, "write", write):
        answer = call()
    return came, answer


def recorded(call: Callable[[], object]) -> list[Step]:
    """Make a call and return the operations it did."""
    steps: list[Step] = []
    with watched(lambda _: None, steps.append):
        call()
    return steps


class PowerFailure:
    """A tree as it was, and operations on it: what is on the disk if the power fails after some of them.

    Args:
        tree: The tree as it was before, all of it on the disk.
        root: Where that tree lay while the operations were recorded.
    """

    def __init__(self, tree: Path, root: Path) -> None:
        self._root = str(root)
        self._files: dict[int, tuple[bytes, bytes]] = {}  # of each file: content now, content on the disk
        self._names: dict[str, int | None] = {}  # None: a folder
        for path in sorted(tree.rglob("*")):
            self._names[str(path.relative_to(tree))] = None if path.is_dir() else self._new(path.read_bytes())
        self._durable = dict(self._names)

    def _new(self, data: bytes) -> int:
        self._files[len(self._files)] = (data, data)
        return len(self._files) - 1

    def do(self, step: Step) -> None:
        """Replay one operation."""
        path = os.path.relpath(step.path, self._root)
        if step.name == "open" and path not in self._names:
            self._names[path] = self._new(b"")
            self._files[self._number(path)] = (b"", b"")
        elif step.name in ("write", "pwrite"):
            now, on_disk = self._files[self._number(path)]
            at, data = (len(now), step.detail) if step.name == "write" else step.detail
            self._files[self._number(path)] = (now[:at] + data + now[at + len(data) :], on_disk)
        elif step.name == "ftruncate":
            now, on_disk = self._files[self._number(path)]
            self._files[self._number(path)] = (now[: step.detail], on_disk)
        elif step.name == "fsync":
            self._sync(path)
        elif step.name == "rename":
            self._names[os.path.relpath(step.detail, self._root)] = self._names.pop(path)
        elif step.name == "link":
            self._names[os.path.relpath(step.detail, self._root)] = self._names[path]
        elif step.name == "unlink":
            del self._names[path]
        elif step.name == "mkdir":
            self._names[path] = None

    def _number(self, path: str) -> int:
        number = self._names[path]
        assert number is not None
        return number

    def _sync(self, path: str) -> None:
        if path != "." and self._names[path] is not None:
            now, _ = self._files[self._number(path)]
            self._files[self._number(path)] = (now, now)
            return
        mine = "" if path == "." else path
        for name in {*self._names, *self._durable}:
            if str(Path(name).parent) == (mine or "."):
                if name in self._names:
                    self._durable[name] = self._names[name]
                else:
                    del self._durable[name]

    def leave(self, folder: Path, *, names_survive: bool) -> None:
        """Write down what is left: unsynced content is gone, and unsynced names too unless they happen to survive."""
        names = self._names if names_survive else self._durable
        for name, number in sorted(names.items()):
            target = folder / name
            if number is None:
                target.mkdir(parents=True, exist_ok=True)
            elif target.parent.is_dir():
                target.write_bytes(self._files[number][1])


def _described(name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Step:
    if name in ("write", "pwrite", "fsync", "ftruncate", "fchmod"):
        path = _opened(arguments[0])
        if name == "write":
            return Step(name, path, bytes(arguments[1]))
        if name == "pwrite":
            return Step(name, path, (arguments[2], bytes(arguments[1])))
        return Step(name, path, arguments[1] if len(arguments) > 1 else None)
    if name in ("rename", "link"):
        source = _absolute(arguments[0], options.get("src_dir_fd"))
        return Step(name, source, _absolute(arguments[1], options.get("dst_dir_fd")))
    return Step(name, _absolute(arguments[0], options.get("dir_fd")))


def _absolute(path: Any, folder: int | None) -> str:
    return os.fspath(path) if folder is None else f"{_opened(folder)}/{path}"


def _opened(descriptor: int) -> str:
    return str(Path(f"/proc/self/fd/{descriptor}").readlink())
