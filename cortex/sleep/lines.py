"""Growing JSONL files, read from where the last run ended, in blocks of whole lines and in bounded memory.

Rules:

1. Only LF ends a line. A file is known by device and inode, and is the same while its first bytes are.
2. A file that shrank or was replaced is read anew; one that did not grow is not read at all.
3. A last line without its LF is handed out too, and stays unread until it is complete, unless the reader takes it.
4. A line past `ROW_MAX_BYTES` is handed out as None, so that it can be counted.
"""

import os
from collections.abc import Iterator
from typing import Final

import msgspec

from policies.limits import MIB, ROW_MAX_BYTES

BLOCK_BYTES: Final = MIB
HEAD_BYTES: Final = 4096


class Cursor(msgspec.Struct, frozen=True):
    """How far a file was read: to the end of which line, to which byte at all, and a hash of its first bytes."""

    offset: int
    seen: int
    head: str


def file_key(stat: os.stat_result) -> str:
    """Return what a file is known by, whatever its name."""
    return f"{stat.st_dev}:{stat.st_ino}"


class GrowingFile:
    """What is new in an open file since `cursor`. The descriptor stays the caller's."""

    def __init__(self, descriptor: int, size: int, cursor: Cursor | None) -> None:
        self._descriptor = descriptor
        same = cursor is not None and cursor.seen <= size and self._head(cursor.offset) == cursor.head
        self._before = cursor if same else None
        self._offset = self._seen = self._before.offset if self._before else 0
        self.has_grown = self._before is None or self._before.seen < size

    def blocks(self) -> Iterator[bytes | None]:
        """Yield blocks of whole lines, each with its LF but perhaps the last one's; None for a line that is too long.

        Raises:
            OSError: The file cannot be read on.
        """
        if not self.has_grown:
            return
        os.lseek(self._descriptor, self._seen, os.SEEK_SET)
        rest = b""
        too_long = False
        while data := os.read(self._descriptor, BLOCK_BYTES):
            self._seen += len(data)
            cut = data.rfind(b"\n") + 1
            if cut:
                begin = data.find(b"\n") + 1 if too_long else 0
                yield rest + data[begin:cut]
                rest, too_long = data[cut:], False
                self._offset = self._seen - len(rest)
            elif not too_long:
                rest += data
            if len(rest) > ROW_MAX_BYTES:
                yield None
                rest, too_long = b"", True
        if rest:
            yield rest

    def take_rest(self) -> None:
        """Count the last line as read although its LF is missing."""
        self._offset = self._seen

    def cursor(self) -> Cursor:
        """Return how far the file is read now."""
        if self._before and not self.has_grown:
            return self._before
        return Cursor(self._offset, self._seen, self._head(self._offset))

    def _head(self, offset: int) -> str:
        from hashlib import sha256

        return sha256(os.pread(self._descriptor, min(HEAD_BYTES, offset), 0)).hexdigest()
