"""A memory opened for writing: two boundaries, pinned by descriptor, and names below them.

1. The memory root, the USER folder and home may each be reached through a link; each is resolved once and held open.
2. Below them no component of a name is a link: folders are opened one by one without following.
3. A name is what `policies.tiers` judges: `USER/...` lies in the USER folder, a policy marker in home, all else in the
   memory root.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Final, NamedTuple, Self

from cortex.corpus.faults import CorpusError
from cortex.corpus.root import PinnedRoot, pin
from cortex.errors import CortexError
from cortex.layout import HEALTH_POLICY, INDEX_POLICY, KNOWLEDGE, LOCKS, NOT_CORPUS, USER
from cortex.nofollow import NotRegularError, describe_mode, open_folder
from cortex.places import layout_of
from cortex.store.files import refused
from cortex.store.locks import POLLS, Locks
from policies.tiers import Tier, tier_of

_IN_HOME: Final = (INDEX_POLICY, HEALTH_POLICY)
_NESTED: Final = "MEMORY"


class Place(NamedTuple):
    """An open folder, and the name of a file in it."""

    folder: int
    name: str


class Store:
    """The memory. The caller closes it (`with open_store(...)`)."""

    def __init__(self, root: PinnedRoot, home: str, polls: int) -> None:
        self._root = root
        self._home = home
        self._boundaries: dict[str, int] = {}
        self.locks = Locks(lambda: self._folder(LOCKS, create=True), polls)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def root(self) -> PinnedRoot:
        """The pinned memory root."""
        return self._root

    @property
    def home(self) -> str:
        """The folder that USER and the policy markers lie in, its links unresolved."""
        return self._home

    def resolved_user(self) -> str | None:
        """Return where the USER folder really lies, None where there is none."""
        try:
            return os.path.realpath(Path(self._home, USER), strict=True)
        except OSError:
            return None

    def close(self) -> None:
        """Let go of the boundaries."""
        for descriptor in self._boundaries.values():
            os.close(descriptor)
        self._boundaries.clear()
        self._root.close()

    def tier(self, path: str) -> Tier:
        """Return the tier of a path within this memory."""
        return tier_of(path, self.corpus_folder(), NOT_CORPUS)

    def corpus_folder(self) -> str:
        """Return the folder that reading finds the corpus in, "" for the memory root itself.

        Raises:
            CortexError: `governance_refused` where something else lies in its place.
        """
        if self._is_folder(KNOWLEDGE):
            return KNOWLEDGE
        nested = f"{_NESTED}/{KNOWLEDGE}"
        return nested if self._is_folder(_NESTED) and self._is_folder(nested) else ""

    @contextmanager
    def place(self, path: str) -> Iterator[Place | None]:
        """Open the folder that a path lies in; None where there is no such folder.

        Raises:
            CortexError: `governance_refused` where a component is a link or no folder.
        """
        folder, _, name = path.rpartition("/")
        try:
            descriptor = self._folder(folder, create=False, of=path)
        except FileNotFoundError:
            yield None
            return
        try:
            yield Place(descriptor, name)
        finally:
            os.close(descriptor)

    @contextmanager
    def made_place(self, path: str) -> Iterator[Place]:
        """Open the folder that a path lies in, made where it is missing; otherwise as `place`."""
        folder, _, name = path.rpartition("/")
        descriptor = self._folder(folder, create=True, of=path)
        try:
            yield Place(descriptor, name)
        finally:
            os.close(descriptor)

    def holds(self, path: str) -> bool:
        """Tell whether anything lies at a path, a link included.

        Raises:
            CortexError: `governance_refused` where a component on the way is a link or no folder.
        """
        with self.place(path) as place:
            if place is None:
                return False
            try:
                os.stat(place.name, dir_fd=place.folder, follow_symlinks=False)
            except FileNotFoundError:
                return False
        return True

    def make_folder(self, folder: str) -> bool:
        """Make a folder and those above it; tell whether it was missing."""
        with self.place(f"{folder}/_") as place:
            missing = place is None
        if missing:
            os.close(self._folder(folder, create=True))
        return missing

    def _is_folder(self, name: str) -> bool:
        """Tell whether a folder lies in the memory root; refuse a link, and a file where only a folder may be."""
        try:
            mode = os.stat(name, dir_fd=self._root.descriptor, follow_symlinks=False).st_mode
        except FileNotFoundError:
            return False
        if stat.S_ISDIR(mode):
            return True
        if name == _NESTED and not stat.S_ISLNK(mode):
            return False
        raise refused(f"{name} {describe_mode(mode)}, no folder")

    def _folder(self, folder: str, *, create: bool, of: str = "") -> int:
        """Open a folder by its name within the memory; the caller closes it."""
        parts = folder.split("/") if folder else []
        descriptor = os.dup(self._boundary(parts, of, create=create))
        try:
            for number, part in enumerate(parts, 1):
                below = _step(descriptor, part, "/".join((*self._above(of or folder), *parts[:number])), create=create)
                os.close(descriptor)
                descriptor = below
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def _above(self, path: str) -> tuple[str, ...]:
        return (USER,) if path.startswith(f"{USER}/") else ()

    def _boundary(self, parts: list[str], path: str, *, create: bool) -> int:
        """Return the boundary that a name lies below, and take its own component off `parts`."""
        if parts[:1] == [USER]:
            del parts[0]
            return self._pinned(USER, str(Path(self._home, USER)), create=create)
        if path in _IN_HOME:
            return self._pinned("home", self._home, create=False)
        return self._root.descriptor

    def _pinned(self, name: str, path: str, *, create: bool) -> int:
        if name not in self._boundaries:
            if create and not os.path.lexists(path):
                self._make_in_home(path)
            try:
                self._boundaries[name] = open_folder(os.path.realpath(path, strict=True))
            except (NotRegularError, NotADirectoryError) as error:
                raise refused(f"{name} is no folder") from error
            except FileNotFoundError as error:
                if os.path.lexists(path):
                    raise refused(f"{name} is a link to nothing") from error
                raise
        return self._boundaries[name]

    def _make_in_home(self, path: str) -> None:
        home = self._pinned("home", self._home, create=False)
        try:
            Path(path).mkdir()
        except FileExistsError:
            return  # another process made it just now
        os.fsync(home)


def open_store(memory_root: str, polls: int = POLLS) -> Store:
    """Open a memory for writing.

    Args:
        memory_root: Its folder, or a link to it.
        polls: How often to look for a busy lock.

    Raises:
        CortexError: `integrity_error` where there is no such folder.
    """
    named = Path(os.path.abspath(memory_root))  # noqa: PTH100 - links stay, which resolve() would follow
    try:
        return Store(pin(memory_root), str(layout_of(named).home), polls)
    except CorpusError as error:
        raise CortexError("integrity_error", str(error)) from error


def _step(parent: int, name: str, shown: str, *, create: bool) -> int:
    """Open a folder in a folder, made where it is missing."""
    try:
        return open_folder(name, parent)
    except FileNotFoundError:
        if not create:
            raise
    except NotRegularError as error:
        raise refused(f"{shown} {error}: nothing is written through it") from error
    try:
        os.mkdir(name, dir_fd=parent)
        os.fsync(parent)
    except FileExistsError:
        pass  # another process made it just now
    return _step(parent, name, shown, create=False)
