"""An index, read block by block; each block is checked against the table's hash of it before anything is made of it."""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, Final, Literal, NamedTuple, get_args

from cortex.corpus.faults import Note, NoteKind
from cortex.corpus.record import Record
from cortex.index.hashing import sha256_hex
from cortex.index.layout import Block, IndexDoubtError, Table
from cortex.index.terms import BOTH, OF, Posted, block_of, every, find
from cortex.retrieval.analyzer import AnalyzerName

OPEN_START: Final = -(2**63)
OPEN_END: Final = 2**63 - 1
PRINT_BYTES: Final = 16
_HASH_BYTES: Final = 32

Kind = Literal["I", "H", "q"]
_SIZES: Final[dict[Kind, int]] = {"I": 4, "H": 2, "q": 8}


class Stats(NamedTuple):
    """What tells files from others, a column each: bytes, nanoseconds since 1970, inodes."""

    sizes: tuple[int, ...]
    mtimes: tuple[int, ...]
    ctimes: tuple[int, ...]
    inodes: tuple[int, ...]


class Bounds(NamedTuple):
    """The validity of a record that has bounds: milliseconds since 1970, the start included, the end not."""

    record: int
    start: int
    end: int


class LexicalIndex:
    """An index. Records and files go by number, in the order of the corpus.

    Whatever is read raises `IndexDoubtError` where a block is not what the table says, and may raise anything where
    the table itself was made to mislead.

    Args:
        table: Its table of contents, known to be the adopted one.
        read: Returns the bytes of a block, unchecked.
    """

    def __init__(self, table: Table, read: Callable[[Block], bytes]) -> None:
        self.table = table
        self._read = read

    @cached_property
    def paths(self) -> list[str]:
        """The paths of the files, relative to the memory root."""
        return self._texts("paths", self.table.files)

    @cached_property
    def stats(self) -> Stats:
        """What tells the files from others."""
        files = self.table.files
        data = memoryview(self._section("stats", 4 * 8 * files))
        signed = data[: 3 * 8 * files].cast("q").tolist()
        inodes = data[3 * 8 * files :].cast("Q").tolist()
        return Stats(tuple(signed[:files]), tuple(signed[files : 2 * files]), tuple(signed[2 * files :]), tuple(inodes))

    @cached_property
    def hashes(self) -> list[bytes]:
        """The SHA-256 of each file's content."""
        data = self._section("hashes", _HASH_BYTES * self.table.files)
        return [data[at : at + _HASH_BYTES] for at in range(0, len(data), _HASH_BYTES)]

    @cached_property
    def starts(self) -> list[int]:
        """The number of the first record of each file, and that of all records."""
        starts = self.numbers("starts", "I", self.table.files + 1).tolist()
        if starts[0] or starts[-1] != self.table.records or starts != sorted(starts):
            raise IndexDoubtError("its files do not have as many records as it has")
        return starts

    @cached_property
    def ids(self) -> list[str]:
        """The ids of the records."""
        return self._texts("ids", self.table.records)

    @cached_property
    def bounds(self) -> list[Bounds]:
        """The validity of the records that have bounds."""
        flat = self.numbers("bounds", "q").tolist()
        if not all(0 <= record < self.table.records for record in flat[::3]):
            raise IndexDoubtError("a record that it does not have is bounded")
        return [Bounds(*flat[at : at + 3]) for at in range(0, len(flat), 3)]

    @cached_property
    def names(self) -> dict[str, list[str | None]]:
        """The values of types, sources and sessions."""
        names: dict[str, list[str | None]] = self._json("names")
        return names

    @cached_property
    def spans(self) -> Sequence[int]:
        """Offset and size of each record in its file, one behind the other."""
        return self.numbers("spans", "I", 2 * self.table.records)

    @cached_property
    def prints(self) -> bytes:
        """The fingerprints of the records, one behind the other."""
        return self._section("prints", PRINT_BYTES * self.table.records)

    @cached_property
    def notes(self) -> list[Note]:
        """What a reading notes beside records."""
        notes = [Note(*note) for note in self._json("notes")]
        if not all(note.kind in get_args(NoteKind) for note in notes):
            raise IndexDoubtError("it notes what no reading notes")
        return notes

    def numbers(self, name: str, kind: Kind, count: int | None = None) -> "memoryview[int]":
        """Return a section of numbers, so many of them (any number where None); `kind` is as in `struct`."""
        size = _SIZES[kind]
        return memoryview(self._section(name, None if count is None else size * count)).cast(kind)

    def lengths(self, analyzer: AnalyzerName) -> list[int]:
        """Return the lengths of the records, in terms."""
        return self.numbers(analyzer, "I", self.table.records).tolist()

    def posted(self, analyzer: AnalyzerName, term: str) -> list[Posted]:
        """Return the postings of a term, in one part or two; a record is in one of them at most."""
        found = [self._posted(space + term) for space in (BOTH, OF[analyzer])]
        return [posted for posted in found if posted is not None]

    def every_posting(self) -> Iterator[tuple[str, Posted]]:
        """Yield every key and its postings."""
        for block in self.table.terms:
            yield from every(self._checked(block))

    def file_of(self, record: int) -> int:
        """Return the number of the file that a record is in."""
        return bisect_right(self.starts, record) - 1

    def check(self) -> None:
        """Read every block; raise where one is not what the table says, or where there is anything but blocks."""
        end = 0
        for block in (*self.table.sections.values(), *self.table.terms):
            if block.offset != end:
                raise IndexDoubtError("its blocks do not lie one behind the other")
            end += len(self._checked(block))
        if self._read(Block(end, 1, "")):
            raise IndexDoubtError("there is more behind its last block")

    def _posted(self, key: str) -> Posted | None:
        at = block_of(self.table.keys, key)
        if at < 0 or self.table.keys[at][0] != key[0]:
            return None
        found = find(self._checked(self.table.terms[at]), key)
        if found is not None and max(found.records) >= self.table.records:
            raise IndexDoubtError("a term is in a record that it does not have")
        return found

    def _checked(self, block: Block) -> bytes:
        data = self._read(block)
        if len(data) != block.size or sha256_hex(data) != block.sha256:
            raise IndexDoubtError("a block of it is not what was adopted")
        return data

    def _section(self, name: str, size: int | None = None) -> bytes:
        data = self._checked(self.table.sections[name])
        if size is not None and len(data) != size:
            raise IndexDoubtError(f"the section {name} has another size than it should")
        return data

    def _texts(self, name: str, count: int) -> list[str]:
        texts = self._section(name).decode().split("\0") if count else []
        if len(texts) != count:
            raise IndexDoubtError(f"the section {name} has another size than it should")
        return texts

    def _json(self, name: str) -> Any:
        import json

        return json.loads(self._section(name))


def bounds_of(record: Record) -> tuple[int, int]:
    """Return the validity of a record as `bounds` have it, open where it is."""
    start, end = record.valid_from_ms, record.valid_until_ms
    return OPEN_START if start is None else start, OPEN_END if end is None else end


def fingerprint(record: Record) -> bytes:
    """Return what tells a record from any other, of everything that is exported of it. No field holds a control."""
    absent = "\1"
    fields: Sequence[str | None] = (
        *record[:5], *record.provenance, record.content, *record.related, record.valid_from, record.valid_until
    )  # fmt: skip
    text = "\0".join([absent if field is None else field for field in fields])
    return bytes.fromhex(sha256_hex(text.encode()))[:PRINT_BYTES]
