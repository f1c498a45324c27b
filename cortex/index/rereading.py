"""Taking a record from its canonical file again, to be stripped again: nothing else of a record leaves the program."""

import os
from codecs import BOM_UTF8
from collections.abc import Callable
from typing import Final, NamedTuple

from cortex.corpus.folders import Folders
from cortex.corpus.record import Parsed, Record
from cortex.index.layout import IndexDoubtError
from cortex.index.lexical import fingerprint

_NOTE: Final = ".md"


class Whereabouts(NamedTuple):
    """Where an index says that a record is: its file, what tells that file from others, offset and size in it."""

    path: str
    stat: tuple[int, int, int, int]
    offset: int
    size: int
    fingerprint: bytes


def reread(folders: Folders, place: Whereabouts) -> Record:
    """Return a record as its file has it now.

    Raises:
        IndexDoubtError: Its file has changed, or what stands there is not what the index says.
        OSError, ValueError: It cannot be read, or is no text.
    """
    text = _bytes(folders, place).removeprefix(BOM_UTF8).decode()
    record = _parser(place.path)(place.path, text).result
    if not isinstance(record, Record) or fingerprint(record) != place.fingerprint:
        raise IndexDoubtError(f"a record in {place.path} is not what it says")
    return record


def _parser(path: str) -> Callable[[str, str], Parsed]:
    if path.endswith(_NOTE):
        from cortex.corpus.markdown import parse_note

        return parse_note
    from cortex.corpus.jsonl import parse_row

    return parse_row


def _bytes(folders: Folders, place: Whereabouts) -> bytes:
    descriptor = folders.open_file(place.path)
    try:
        status = os.fstat(descriptor)
        if (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino) != place.stat:
            raise IndexDoubtError(f"{place.path} changed while it was asked")
        if place.path.endswith(_NOTE) and (place.offset, place.size) != (0, status.st_size):
            raise IndexDoubtError(f"{place.path} is no record as a whole")  # a part could begin in a private span
        return os.pread(descriptor, place.size, place.offset)
    finally:
        os.close(descriptor)
