"""Reading an evidence log row by row: JSONL of any size, in bounded memory, every line judged.

1. Lines end at LF alone. Lines of only space, tab and CR are passed over; one leading byte-order mark is dropped.
2. A block of whole lines is proven sound as a whole where that is cheap and certain; at the least doubt its lines are
   judged one by one by the strict reader. Both ways give the same counts, so the size of a block changes nothing.
3. A key that stands twice is looked for in the rows that decide: the last, or all of them where `each` is given.
4. A last line without its newline that does not parse may be a writer in mid-append: it gets time to finish.
"""

import os
import re
import time
from collections.abc import Callable
from typing import Final, NamedTuple

import msgspec

from cortex.strict_json import StrictJSONError, loads
from healthcheck.evidence import Malformed
from policies.limits import KIB, MALFORMED_LINES_LISTED, ROW_MAX_BYTES, TORN_ROW_ATTEMPTS, TORN_ROW_WAIT_MS
from policies.units import SECOND_MS

RowHandler = Callable[[int, dict[str, object]], None]

# Small enough that memory is used again for the next block: from 128 KiB on the C library maps it anew for each, which
# costs a third of the time.
BLOCK_BYTES: Final = 64 * KIB
BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_BLANKS: Final = b" \t\r"


class Row(NamedTuple):
    """A row and the number of its line, from 1."""

    line: int
    value: dict[str, object]


class Log(NamedTuple):
    """A log as read. `last` is None where the last line that is not blank holds no row."""

    rows: int
    malformed: Malformed
    last: Row | None


class ShrunkError(OSError):
    """The file lost bytes while it was read, so what was read is no state that it ever had."""


def _wait() -> None:
    time.sleep(TORN_ROW_WAIT_MS / SECOND_MS)


def read_log(
    descriptor: int, *, each: RowHandler | None = None, wait: Callable[[], None] = _wait, block_bytes: int = BLOCK_BYTES
) -> Log:
    """Read the whole file behind `descriptor`; call `each` with the line number and value of every row, if given.

    Raises:
        OSError: It cannot be read, or it shrank meanwhile (`ShrunkError`).
    """
    tally = _Tally(each)
    start = len(BYTE_ORDER_MARK) if os.pread(descriptor, len(BYTE_ORDER_MARK), 0) == BYTE_ORDER_MARK else 0
    attempts_left = TORN_ROW_ATTEMPTS
    while True:
        end = _size_of(descriptor, at_least=start)
        start = _read_whole_lines(descriptor, start, end, tally, block_bytes)
        rest = _read_exactly(descriptor, start, min(end - start, ROW_MAX_BYTES + 1))
        if not (attempts_left and _may_be_torn(rest)):
            break
        attempts_left -= 1
        wait()
    if rest:
        tally.add_line(rest)
    _size_of(descriptor, at_least=end)
    return tally.result()


def _size_of(descriptor: int, *, at_least: int) -> int:
    size = os.fstat(descriptor).st_size
    if size < at_least:
        raise ShrunkError("shrank while it was read")
    return size


def _read_whole_lines(descriptor: int, start: int, end: int, tally: "_Tally", block_bytes: int) -> int:
    """Tally the lines that end between two offsets; return where the unfinished last one begins."""
    while start < end:
        block = _read_exactly(descriptor, start, min(block_bytes, end - start))
        length = block.rfind(b"\n") + 1
        if length:
            tally.add_block(block[:length])
        else:
            length = _line_length(descriptor, start, start + len(block), end)
            if not length:
                break
            if length - 1 > ROW_MAX_BYTES:
                tally.add_malformed()
            else:
                tally.add_block(_read_exactly(descriptor, start, length))
        start += length
    return start


def _line_length(descriptor: int, start: int, position: int, end: int) -> int:
    """Length of the line from `start` with its newline, looked for from `position` on; 0 where none ends it."""
    while position < end:
        block = _read_exactly(descriptor, position, min(BLOCK_BYTES, end - position))
        found = block.find(b"\n")
        if found >= 0:
            return position + found + 1 - start
        position += len(block)
    return 0


def _read_exactly(descriptor: int, offset: int, size: int) -> bytes:
    data = os.pread(descriptor, size, offset) if size > 0 else b""
    while len(data) < size:
        more = os.pread(descriptor, size - len(data), offset + len(data))
        if not more:
            raise ShrunkError("shrank while it was read")
        data += more
    return data


def _may_be_torn(line: bytes) -> bool:
    """Tell whether a last line without newline could become a row if its writer were given time."""
    return 0 < len(line) <= ROW_MAX_BYTES and not _is_blank(line) and _parse(line, unique_keys=False) is None


def _is_blank(line: bytes) -> bool:
    return not line.strip(_BLANKS)


def _parse(line: bytes, *, unique_keys: bool) -> dict[str, object] | None:
    """Return the object on a line, or None where there is none."""
    if not line.lstrip(_BLANKS).startswith(b"{"):
        return None  # without the exception, which is what a log of other lines would spend its time on
    try:
        value = loads(line, unique_keys=unique_keys)
    except StrictJSONError:
        return None
    return value if isinstance(value, dict) else None


class _Tally:
    """What has been counted so far of one log."""

    def __init__(self, each: RowHandler | None) -> None:
        self._each = each
        self._lines = 0
        self._rows = 0
        self._malformed = 0
        self._malformed_lines: list[int] = []
        self._last = b""  # the last line that is not blank, if it holds a row
        self._last_line = 0

    def add_block(self, block: bytes) -> None:
        """Count the lines of a block, the last one ended by its newline too."""
        lines = block[:-1].split(b"\n")
        if self._each or not are_sound(block, lines):
            for line in lines:
                self.add_line(line)
            return
        self._lines += len(lines)
        self._rows += len(lines)
        self._last = lines[-1]
        self._last_line = self._lines

    def add_line(self, line: bytes) -> None:
        """Count one line, given without its newline."""
        if _is_blank(line):
            self._lines += 1
            return
        value = None if len(line) > ROW_MAX_BYTES else _parse(line, unique_keys=self._each is not None)
        if value is None:
            self.add_malformed()
            return
        self._lines += 1
        self._rows += 1
        self._last = line
        self._last_line = self._lines
        if self._each:
            self._each(self._lines, value)

    def add_malformed(self) -> None:
        """Count one line that is no row."""
        self._lines += 1
        self._last = b""
        self._note_malformed(self._lines)

    def _note_malformed(self, line: int) -> None:
        self._malformed += 1
        if len(self._malformed_lines) < MALFORMED_LINES_LISTED:
            self._malformed_lines.append(line)

    def result(self) -> Log:
        """Judge the last row strictly, since it decides, and return all that was counted."""
        value = _parse(self._last, unique_keys=True) if self._last else None
        if self._last and value is None:
            self._rows -= 1
            self._note_malformed(self._last_line)
        last = None if value is None else Row(self._last_line, value)
        return Log(self._rows, Malformed(self._malformed, tuple(self._malformed_lines)), last)


class _AnyObject(msgspec.Struct, gc=False):
    """Decoding into it checks the grammar of an object and keeps none of its members."""


_DECODER: Final = msgspec.json.Decoder(_AnyObject)

# Digits and the plus become 0, E becomes e, and whatever can follow a number becomes a comma; the rest is blotted out.
_NUMBERS_ONLY: Final = bytes.maketrans(
    bytes(range(256)),
    bytes(
        ord("0") if byte in b"0123456789+" else ord("e") if byte in b"eE" else ord(",") if byte in b",]} \t\r\n" else 0
        for byte in range(256)
    ),
)
_LONG_EXPONENT: Final = re.compile(b"e000+,")
# With fewer digits and an exponent of two more, a number stays below the largest float, 1.8e308.
_MANY_DIGITS: Final = b"0" * 200


def are_sound(block: bytes, lines: list[bytes]) -> bool:
    """Tell whether each line of a block is certainly one strict object, equal keys aside; False means doubt, no more.

    msgspec checks the grammar, but lets through bad UTF-8 in what it skips and numbers that overflow, which are looked
    for in the whole block at once; and it refuses lone surrogates, which are no fault here.
    """
    try:
        for _ in map(_DECODER.decode, lines):
            pass
        if not block.isascii():
            block.decode()
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    numbers = block.translate(_NUMBERS_ONLY)
    return _MANY_DIGITS not in numbers and not _LONG_EXPONENT.search(numbers)
