"""Which files the corpus consists of, and every fault that shows without reading one of them.

Where the corpus lies: `KNOWLEDGE/` and the root's own `*_MEMORY.md`; else `MEMORY/KNOWLEDGE/`; else the root's tree
without the folders that are ours. `.md` and `.jsonl` count; names that start with `_` or `.` are passed over.
"""

import os
import stat
from typing import Final, NamedTuple

from cortex.corpus.faults import Fault, FaultKind, fault
from cortex.corpus.folders import Folders, fault_of_opening, is_utf8, printable, to_utf8
from cortex.corpus.root import PinnedRoot
from cortex.layout import KNOWLEDGE, NOT_CORPUS
from cortex.nofollow import describe_mode
from cortex.privacy import strip_private
from policies.limits import CORPUS_MAX_BYTES, CORPUS_MAX_FILE_BYTES, CORPUS_MAX_FILES, MIB

MEMORY: Final = "MEMORY"
HOT_SUFFIX: Final = "_MEMORY.md"
SUFFIXES: Final = (".md", ".jsonl")
_PASSED_OVER: Final = ("_", ".")
_AS_EFFECTIVE_USER: Final = os.access in os.supports_effective_ids


class CorpusFile(NamedTuple):
    """A file of the corpus: its path relative to the root, with `/`, and its size in bytes."""

    path: str
    size: int


class Survey(NamedTuple):
    """The corpus as a walk saw it: `folder` (KNOWLEDGE, MEMORY/KNOWLEDGE or ""); files and faults in path order."""

    folder: str
    files: tuple[CorpusFile, ...]
    size_bytes: int
    faults: tuple[Fault, ...]


def survey(root: PinnedRoot) -> Survey:
    """Walk the corpus below a pinned root, reading no content.

    Past the limit of files the walk stops; what it saw so far is there, with a fault that says so.
    """
    folders = Folders(root.descriptor)
    try:
        walk = _Walk(folders)
        folder = walk.find_corpus()
        walk.go_through(folder)
    finally:
        folders.close()
    return walk.survey(folder)


class _Walk:
    """The state of one walk: what was found so far."""

    def __init__(self, folders: Folders) -> None:
        self._folders = folders
        self._files: list[CorpusFile] = []
        self._faults: list[Fault] = []

    def find_corpus(self) -> str:
        """Return the corpus's folder, "" for the root's tree; also where a link or a file lies in its place."""
        if self._mode(KNOWLEDGE) is not None:
            self._take_hot_files()
            return KNOWLEDGE
        memory = self._mode(MEMORY) or 0
        if stat.S_ISLNK(memory):
            return MEMORY
        nested = f"{MEMORY}/{KNOWLEDGE}"
        return nested if stat.S_ISDIR(memory) and self._mode(nested) is not None else ""

    def go_through(self, folder: str) -> None:
        """Go through a folder and all below it, as far as the limit of files."""
        waiting = [folder]
        while waiting and len(self._files) <= CORPUS_MAX_FILES:
            waiting += sorted(self._list(waiting.pop()), reverse=True)

    def survey(self, folder: str) -> Survey:
        """Return what was found, with the limits that it passes."""
        size = sum([file.size for file in self._files])
        where = folder or "."
        if len(self._files) > CORPUS_MAX_FILES:
            self._blame(where, "limit", f"holds more than {CORPUS_MAX_FILES} files; the walk stopped there")
        if size > CORPUS_MAX_BYTES:
            self._blame(where, "limit", f"holds {size} bytes, more than {CORPUS_MAX_BYTES // MIB} MiB")
        return Survey(folder, tuple(sorted(self._files)), size, tuple(sorted(self._faults)))

    def _mode(self, path: str) -> int | None:
        """Return the mode of what lies at one of the fixed names, itself if it is a link; None where nothing does."""
        parent, _, name = path.rpartition("/")
        try:
            return os.stat(name, dir_fd=self._folders.descriptor(parent), follow_symlinks=False).st_mode
        except FileNotFoundError:
            return None
        except OSError as error:
            self._faults.append(fault_of_opening(path, error))
            return None

    def _take_hot_files(self) -> None:
        for name, entry in self._entries(""):
            path = self._sound_path(name) if name.endswith(HOT_SUFFIX) else None
            if path is not None:
                self._take_file(path, entry)

    def _list(self, folder: str) -> list[str]:
        """Note the files of a folder; return the folders in it."""
        prefix = f"{folder}/" if folder else ""
        below = [self._take(prefix, name, entry) for name, entry in self._entries(folder)]
        return [path for path in below if path is not None]

    def _entries(self, folder: str) -> list[tuple[str, os.DirEntry[str]]]:
        """Return what lies in a folder and is not passed over, by name in UTF-8; look at it before the next folder."""
        try:
            with os.scandir(self._folders.descriptor(folder)) as entries:
                return [(to_utf8(entry.name), entry) for entry in entries if not entry.name.startswith(_PASSED_OVER)]
        except OSError as error:
            self._faults.append(fault_of_opening(folder or ".", error))
            return []

    def _take(self, prefix: str, name: str, entry: os.DirEntry[str]) -> str | None:
        """Note a file, or a fault; return the path of a folder."""
        if not prefix and name in NOT_CORPUS:
            return None
        if entry.is_symlink():
            self._blame(prefix + name, "link", "is a link")
            return None
        is_folder = entry.is_dir(follow_symlinks=False)
        if not is_folder and not name.endswith(SUFFIXES):
            return None
        path = self._sound_path(prefix + name)
        if path is None or is_folder:
            return path
        self._take_file(path, entry)
        return None

    def _take_file(self, path: str, entry: os.DirEntry[str]) -> None:
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError as error:
            self._faults.append(fault_of_opening(path, error))
            return
        if not stat.S_ISREG(status.st_mode):
            kind: FaultKind = "link" if stat.S_ISLNK(status.st_mode) else "special-file"
            self._blame(path, kind, describe_mode(status.st_mode))
            return
        self._files.append(CorpusFile(path, status.st_size))
        folder = self._folders.descriptor(path.rpartition("/")[0])
        if not os.access(entry.name, os.R_OK, dir_fd=folder, effective_ids=_AS_EFFECTIVE_USER):
            self._blame(path, "unreadable", "may not be read by this user")
        if status.st_size > CORPUS_MAX_FILE_BYTES:
            self._blame(path, "limit", f"holds more than {CORPUS_MAX_FILE_BYTES // MIB} MiB")

    def _sound_path(self, path: str) -> str | None:
        """Return `path`, or None where its name is a fault."""
        if strip_private(path) != path:
            self._blame(path, "name", "has a name that holds a private tag")
            return None
        if not is_utf8(path):
            self._blame(path, "name", "has a name that is not valid UTF-8")
            return None
        return path

    def _blame(self, path: str, kind: FaultKind, message: str) -> None:
        self._faults.append(fault(strip_private(printable(path)), None, kind, message))
