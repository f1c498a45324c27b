"""The levelled notes of a vault or a memory root, and what each says of itself.

1. In a vault the folder `L<n>...` gives the level, in a memory root the frontmatter; where both speak they must agree.
2. In a memory root a note without a level is no entry: it is never touched.
3. Headers are read by line where that leaves no doubt. What would be marked or moved is always parsed first.
4. A note that cannot be trusted (a broken header, a contradicting level, a link) is told, and left as it is.
"""

import os
import re
from collections.abc import Iterator
from hashlib import sha256
from typing import Any, Final, NamedTuple

from cortex.corpus.folders import Folders, fault_of_opening
from cortex.corpus.markdown import parse_note
from cortex.corpus.record import Record
from cortex.corpus.walk import survey
from cortex.errors import CortexError
from cortex.nofollow import NotRegularError
from cortex.privacy import strip_private
from cortex.retention.base import Base, Seen, files_below, folders_in
from cortex.retention.frontmatter import FrontmatterError, glance, read_frontmatter
from cortex.store.files import read_all
from policies.limits import CORPUS_MAX_FILE_BYTES
from policies.retention import LEVELS, MISSING, Entry

LEVEL_FOLDER: Final = re.compile(r"(L[0-9]+)(?![0-9])")
# In a memory root people name folders as they like: `L10n` and `L2TP` claim no level.
_CLAIMED_LEVEL = re.compile(r"(L[0-4])(?![0-9A-Za-z])")
PENDING: Final = "archive_pending"
REASON: Final = "archive_reason"
MARKED_AT: Final = "archive_marked_at"
_FIELDS: Final = ("level", "created", "last_recalled", "recall_count", PENDING)
_COUNT = re.compile(r"0|[1-9][0-9]{0,15}")
_FLAGS: Final = {"true": True, "false": False}
_SUFFIX: Final = ".md"
_CLOSING: Final = b"\n---"


class Note(NamedTuple):
    """A file that may be an entry: its path in the store, its content, and the level of the folder that it lies in.

    `inner` is its path in the folder of its level, without `.md`; None in a memory root, where folders give no level.
    """

    path: str
    data: bytes
    folder_level: str | None
    inner: str | None


class Levelled(NamedTuple):
    """An entry: its note, its level, what its header says, and whether it is marked to be archived."""

    note: Note
    level: str
    entry: Entry
    is_pending: bool


class Untrusted(NamedTuple):
    """A file that is kept because it cannot be trusted, and why."""

    path: str
    reason: str


def iter_notes(base: Base) -> Iterator[Note | Untrusted]:
    """Yield every note that may be an entry, in path order.

    Raises:
        CortexError: `integrity_error` where a memory root's corpus has a fault of shape.
    """
    files = _vault_files(base) if base.is_vault else _corpus_files(base)
    with Folders(base.store.root.descriptor) as folders:
        for path, folder_level, inner, odd in files:
            yield Untrusted(path, odd) if odd else _read(folders, path, folder_level, inner)


def levelled(note: Note, *, exactly: bool = False) -> Levelled | Untrusted | None:
    """Return what a note is as an entry; None where it has no level. `exactly` parses the header, whatever it shows."""
    try:
        fields = _parsed(note.data) if exactly else _fields(note.data)
    except FrontmatterError as error:
        return Untrusted(note.path, str(error)) if exactly or _may_have_level(note) else None
    level = fields.get("level", MISSING)
    if level is MISSING:
        if note.inner is None:
            return None
        level = note.folder_level
    elif level not in LEVELS:
        return Untrusted(note.path, "its level is none of L0 to L4")
    elif note.folder_level not in (None, level):
        return Untrusted(note.path, "its level contradicts its folder")
    get = fields.get
    entry = Entry(level, get("created", MISSING), get("last_recalled", MISSING), get("recall_count", MISSING))
    return Levelled(note, str(level), entry, get(PENDING) is True)


def address(base: Base, note: Note) -> str:
    """Return what people call an entry: `L2://semantic/x` in a vault, the id of its record in a memory root."""
    if base.is_vault:
        return f"{note.folder_level}://{note.inner}"
    record = record_of(note)
    return record.id if record else f"path:{sha256(note.path.encode(errors='surrogateescape')).hexdigest()[:16]}"


def record_of(note: Note) -> Record | None:
    """Return a note as the record that reading makes of it; None where it makes none."""
    try:
        result = parse_note(note.path, note.data.removeprefix(b"\xef\xbb\xbf").decode()).result
    except UnicodeDecodeError:
        return None
    return result if isinstance(result, Record) else None


def is_named(base: Base, note: Note, name: str) -> bool:
    """Tell whether a name means this note: its address, or its path."""
    return name in (note.path, address(base, note))


def level_folders(base: Base) -> Iterator[tuple[str, str]]:
    """Yield each folder of a level, and its level: a vault's; in a memory root those beside and in its corpus."""
    parents = base.memory if base.is_vault else dict.fromkeys(("", base.store.corpus_folder()))
    for parent in parents:
        for name in folders_in(base, parent):
            match = LEVEL_FOLDER.match(name)
            if match:
                yield (f"{parent}/{name}" if parent else name), match[1]


def _vault_files(base: Base) -> Iterator[tuple[str, str | None, str | None, str | None]]:
    for folder, level in level_folders(base):
        for seen in files_below(base, folder):
            public = strip_private(seen.path)
            if public != seen.path:
                yield public, level, public, "has a name that holds a private tag"
            elif seen.path.endswith(_SUFFIX):
                yield seen.path, level, seen.path[len(folder) + 1 : -len(_SUFFIX)], _odd(seen)


def _odd(seen: Seen) -> str | None:
    if seen.odd is None and seen.size > CORPUS_MAX_FILE_BYTES:
        return "is too large to be a note"
    return seen.odd


def _corpus_files(base: Base) -> Iterator[tuple[str, str | None, str | None, str | None]]:
    found = survey(base.store.root)
    if found.faults:
        first = found.faults[0]
        raise CortexError("integrity_error", f"{first.path} {first.message}; see: cortex check --list")
    for file in found.files:
        if file.path.endswith(_SUFFIX):
            yield file.path, _folder_level(file.path), None, None


def _folder_level(path: str) -> str | None:
    """Return the level that a folder on a path in a memory root claims; the frontmatter alone gives one there."""
    levels = [match[1] for part in path.split("/")[:-1] if (match := _CLAIMED_LEVEL.match(part))]
    return levels[-1] if levels else None


def _read(folders: Folders, path: str, folder_level: str | None, inner: str | None) -> Note | Untrusted:
    try:
        descriptor = folders.open_file(path)
        try:
            return Note(path, read_all(descriptor), folder_level, inner)
        finally:
            os.close(descriptor)
    except (OSError, NotRegularError) as error:
        return Untrusted(path, fault_of_opening(path, error).message)


def _fields(data: bytes) -> dict[str, Any]:
    """Return the fields that a header gives, by line where that leaves no doubt."""
    end = data.find(_CLOSING, 3)
    header = data[: end if end > 0 else None]
    named = [name for name in _FIELDS if name.encode() in header]
    if not named:
        return {}
    seen: dict[str, Any] = {**glance(data)}
    if not all(name in seen and _settle(seen, name) for name in named):
        return _parsed(data)
    return seen


def _settle(seen: dict[str, Any], name: str) -> bool:
    """Turn a scalar's text into its value; tell whether it was clear."""
    text = seen[name]
    if name == "recall_count":
        if not _COUNT.fullmatch(text):
            return False
        seen[name] = int(text)
    elif name == PENDING:
        if text not in _FLAGS:
            return False
        seen[name] = _FLAGS[text]
    return True


def _parsed(data: bytes) -> dict[str, Any]:
    return read_frontmatter(data) or {}


def _may_have_level(note: Note) -> bool:
    """Tell whether a note with a broken header would be an entry if it could be read."""
    return note.inner is not None or b"level" in note.data[: note.data.find(_CLOSING, 3)]
