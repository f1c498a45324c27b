"""What retention works on: a vault with its level folders, or a memory root. Both are opened as a store.

    vault        <vault>/{记忆|memory}/L<n>*/...   plans in _meta/plans/    alerts in {记忆|memory}/views/alerts.md
    memory root  the corpus's notes                plans in CORTEX/plans/   alerts in OBSERVABILITY/alerts.md

A vault is a store of its own: its locks and its audit lie in it, so that they are the same whichever memory is in use,
and the same as for whoever uses the vault as a memory root.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

from cortex.arguments import Call
from cortex.corpus.folders import Folders, to_utf8
from cortex.errors import CortexError, not_found
from cortex.layout import CORTEX, OBSERVABILITY
from cortex.nofollow import describe_mode
from cortex.store.files import read_state
from cortex.store.governor import explained
from cortex.store.store import Store, open_store

# Of each language: the folder of the levels, and that of what was archived.
LANGUAGES: Final = (("记忆", "归档"), ("memory", "archive"))
URI_INDEX: Final = "_meta/uri-index.json"
_HIDDEN: Final = ("_", ".")


class Base(NamedTuple):
    """A store that is a vault (`memory` names its folders of levels) or a memory root (`memory` is empty)."""

    store: Store
    memory: tuple[str, ...]
    archive: str

    @property
    def is_vault(self) -> bool:
        """Tell whether levels are folders here."""
        return bool(self.memory)

    @property
    def plans(self) -> str:
        """The folder of plans."""
        return "_meta/plans" if self.is_vault else f"{CORTEX}/plans"

    @property
    def alerts(self) -> str:
        """The file that people read what was done in."""
        return f"{self.memory[0]}/views/alerts.md" if self.is_vault else f"{OBSERVABILITY}/alerts.md"


class Seen(NamedTuple):
    """A file below a folder: its path within the store, its modification time in ms, and what is wrong with it."""

    path: str
    modified_at: int
    size: int
    odd: str | None = None


@contextmanager
def open_base(call: Call) -> Iterator[Base]:
    """Open the vault that a call names, else its memory root.

    Raises:
        CortexError: `not_found` where the vault is none; what `open_store` raises for a memory root.
    """
    vault = call.options.get("--vault")
    with explained(), _open(call, vault) as store:
        folders = _folders_in(store, "")
        memory = tuple(name for name, _ in LANGUAGES if name in folders) if vault else ()
        if vault and not memory:
            raise not_found(f"{vault} is no vault: it has neither a folder 记忆 nor a folder memory")
        yield Base(store, memory, _archive(folders, memory))


def _open(call: Call, vault: str | None) -> Store:
    if vault is None:
        return open_store(call.memory_root())
    try:
        return open_store(vault)
    except CortexError as error:
        raise not_found(f"the vault is not there: {error.message}") from error


def _archive(folders: list[str], memory: tuple[str, ...]) -> str:
    """Return the folder of the archive: the one that is there, else the one of the vault's language."""
    there = [archive for _, archive in LANGUAGES if archive in folders]
    own = dict(LANGUAGES)[memory[0]] if memory else LANGUAGES[1][1]
    return own if own in there or not there else there[0]


def _folders_in(store: Store, folder: str) -> list[str]:
    with store.place(f"{folder}/_" if folder else "_") as place:
        if place is None:
            return []
        with os.scandir(place.folder) as entries:
            return sorted(to_utf8(entry.name) for entry in entries if entry.is_dir(follow_symlinks=False))


def folders_in(base: Base, folder: str) -> list[str]:
    """Return the names of the folders in a folder, links left out; none where there is no such folder."""
    return _folders_in(base.store, folder)


def files_below(base: Base, folder: str, *, hidden: bool = False) -> list[Seen]:
    """Return every file below a folder, by path. Hidden names (`_`, `.`) are passed over unless asked for.

    A link and a special file are there with what is odd about them; nothing behind them is looked at.
    """
    found: list[Seen] = []
    waiting = [folder]
    with Folders(base.store.root.descriptor) as folders:
        while waiting:
            waiting += _list(folders, waiting.pop(), found, hidden=hidden)
    return sorted(found)


def read(base: Base, path: str) -> bytes | None:
    """Return the content of a file of the store, None where there is none.

    Raises:
        NotRegularError: A link or something else lies there.
        OSError: It cannot be read.
    """
    with base.store.place(path) as place:
        return None if place is None else read_state(place.folder, place.name).data


def _list(folders: Folders, folder: str, found: list[Seen], *, hidden: bool) -> list[str]:
    """Note the files of a folder; return the folders in it."""
    below = []
    with os.scandir(folders.descriptor(folder)) as entries:
        for entry in entries:
            if entry.name.startswith(_HIDDEN) and not hidden:
                continue
            path = f"{folder}/{to_utf8(entry.name)}" if folder else to_utf8(entry.name)
            status = entry.stat(follow_symlinks=False)
            if stat.S_ISDIR(status.st_mode):
                below.append(path)
                continue
            odd = None if stat.S_ISREG(status.st_mode) else describe_mode(status.st_mode)
            found.append(Seen(path, status.st_mtime_ns // 1_000_000, status.st_size, odd))
    return below
