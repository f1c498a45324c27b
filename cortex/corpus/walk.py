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
    """A file of the corpus: its path relative to the root, with `/`, its size in bytes, and what tells it from others.

    Times are nanoseconds since 1970. A file whose size, times and inode are the same is the same, as far as the system
    tells (cortex/index/contents.py says how far that is).
    """

    path: str
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    device: int


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
    with Folders(root.descriptor) as folders:
        walk = _Walk(folders)
        folder = walk.find_corpus()
        walk.go_through(folder)
    return walk.survey(folder)


class _Walk:
    """The state of one walk: what was found so far."""

    def __init__(self, folders: Folders) -> None:
        self._folders = folders
        self._user = os.geteuid()
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
        for entry in self._entries(""):
            path = self._sound_path(to_utf8(entry.name)) if entry.name.endswith(HOT_SUFFIX) else None
            if path is not None:
                self._take_file(path, entry)

    def _list(self, folder: str) -> list[str]:
        """Note the files of a folder; return the folders in it."""
        prefix = f"{folder}/" if folder else ""
        below = [self._take(prefix, entry) for entry in self._entries(folder)]
        return [path for path in below if path is not None]

    def _entries(self, folder: str) -> list[os.DirEntry[str]]:
        """Return what lies in a folder and is not passed over; look at it before the next folder."""
        try:
            with os.scandir(self._folders.descriptor(folder)) as entries:
                return [entry for entry in entries if not entry.name.startswith(_PASSED_OVER)]
        except OSError as error:
            self._faults.append(fault_of_opening(folder or ".", error))
            return []

    def _take(self, prefix: str, entry: os.DirEntry[str]) -> str | None:
        """Note a file, or a fault; return the path of a folder."""
        name = to_utf8(entry.name)
        if not prefix and name in NOT_CORPUS:
            return None
        path = prefix + name
        if entry.is_symlink():
            self._blame(path, "link", "is a link")
            return None
        is_folder = entry.is_dir(follow_symlinks=False)
        if not is_folder and not name.endswith(SUFFIXES):
            return None
        sound = self._sound_path(path)
        if sound is None or is_folder:
            return sound
        self._take_file(sound, entry)
        return None

    def _take_file(self, path: str, entry: os.DirEntry[str]) -> None:
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError as error:
            self._faults.append(fault_of_opening(path, error))
            return
        mode, size = status.st_mode, status.st_size
        if not stat.S_ISREG(mode):
            kind: FaultKind = "link" if stat.S_ISLNK(mode) else "special-file"
            self._blame(path, kind, describe_mode(mode))
            return
        self._files.append(CorpusFile(path, size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_dev))
        # Its owner may read what says so; for anyone else it takes another call to know.
        is_owners = status.st_uid == self._user and mode & stat.S_IRUSR
        if not is_owners and not self._may_read(path, entry.name):
            self._blame(path, "unreadable", "may not be read by this user")
        if size > CORPUS_MAX_FILE_BYTES:
            self._blame(path, "limit", f"holds more than {CORPUS_MAX_FILE_BYTES // MIB} MiB")

    def _may_read(self, path: str, name: str) -> bool:
        descriptor = self._folders.descriptor(path.rpartition("/")[0])
        return os.access(name, os.R_OK, dir_fd=descriptor, effective_ids=_AS_EFFECTIVE_USER)

    def _sound_path(self, path: str) -> str | None:
        """Return `path`, or None where its name is a fault."""
        if path.isascii() and "<" not in path:
            return path
        if strip_private(path) != path:
            self._blame(path, "name", "has a name that holds a private tag")
            return None
        if not is_utf8(path):
            self._blame(path, "name", "has a name that is not valid UTF-8")
            return None
        return path

    def _blame(self, path: str, kind: FaultKind, message: str) -> None:
        self._faults.append(fault(strip_private(printable(path)), None, kind, message))
