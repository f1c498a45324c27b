"""What an index is made of, and how its blocks are made.

Sections, a block each; what is said of records and files stands in the order of the corpus (path, then line):

    paths, ids           UTF-8, joined by NUL
    stats                the sizes, mtimes, ctimes and inodes of all files: 64-bit numbers, the last unsigned
    hashes               SHA-256 of each file's content, 32 bytes
    starts               the number of the first record of each file, and that of all records: 32-bit numbers
    ascii, unicode       the lengths in terms by each analyzer: 32-bit numbers
    created, updated     milliseconds since 1970: 64-bit numbers
    bounds               record, valid from, valid until of those that have such bounds: 64-bit numbers
    types, sources, sessions   places in the lists of `names`: 16-bit numbers
    names                those lists, as JSON
    spans                offset and size in the file: 32-bit numbers
    prints               a fingerprint of the record, 16 bytes
    notes                what a reading notes beside records, as JSON

All of it is made from stripped text.
"""

import json
from array import array
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Final, NamedTuple

from cortex.corpus.faults import CorpusError, Note
from cortex.corpus.reader import Reader, ReadFile, Span
from cortex.corpus.record import Record
from cortex.corpus.root import PinnedRoot
from cortex.index.layout import Block, Table
from cortex.index.lexical import OPEN_END, OPEN_START, LexicalIndex, bounds_of, fingerprint
from cortex.index.postings import Lengths, Postings
from cortex.retrieval.search import searched_text

# A size that no file has: what bears it is read anew each time.
NEVER_THE_SAME: Final = -1


class KnownFile(NamedTuple):
    """A file whose content is known. Times are nanoseconds since 1970, `sha256` is 32 bytes."""

    path: str
    mode: int
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    device: int
    sha256: bytes


class Contents(NamedTuple):
    """A corpus, read. `starts` has the number of the first record of each file, and that of all records."""

    files: list[KnownFile]
    starts: list[int]
    records: list[Record]
    spans: list[Span]
    notes: list[Note]


class Moment(NamedTuple):
    """When, by the clock of the index's file system (`device`), the files were begun to be read; nanoseconds."""

    taken_at_ns: int
    device: int


def read_contents(root: PinnedRoot) -> Contents:
    """Read the corpus below a pinned root.

    Raises:
        CorpusError: It is not sound.
    """
    contents = Contents([], [], [], [], [])

    def take(read: ReadFile) -> None:
        status = read.status
        times = (status.st_mtime_ns, status.st_ctime_ns)
        known = KnownFile(
            read.path, status.st_mode, len(read.data), *times, status.st_ino, status.st_dev, sha256(read.data).digest()
        )
        contents.files.append(known)
        contents.starts.append(len(contents.records))

    reader = Reader(root, on_read=take)
    for item in reader.items():
        if isinstance(item, Record):
            contents.records.append(item)
            contents.spans.append(reader.span)
        elif isinstance(item, Note):
            contents.notes.append(item)
        else:
            raise CorpusError(item)
    contents.starts.append(len(contents.records))
    return contents


def make_index(contents: Contents, moment: Moment, previous: LexicalIndex | None = None) -> tuple[Table, bytes]:
    """Return the table and the blocks of an index.

    Args:
        contents: The corpus.
        moment: When it was begun to be read.
        previous: An earlier index, whose postings are taken over for files whose content is the same.
    """
    postings, lengths = _count(contents, previous)
    writer = _Writer()
    sections = {name: writer.add(data) for name, data in _sections(contents, moment, lengths)}
    blocks = [(key, writer.add(data)) for key, data in postings.blocks()]
    table = Table(
        len(contents.files),
        len(contents.records),
        moment.taken_at_ns,
        sections,
        [key for key, _ in blocks],
        [block for _, block in blocks],
    )
    return table, b"".join(writer.parts)


class _Writer:
    """Blocks, one behind the other."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self._size = 0

    def add(self, data: bytes) -> Block:
        block = Block(self._size, len(data), sha256(data).hexdigest())
        self.parts.append(data)
        self._size += len(data)
        return block


def _count(contents: Contents, previous: LexicalIndex | None) -> tuple[Postings, list[Lengths]]:
    """Count the terms of every record that the earlier index does not know."""
    postings = Postings()
    known: dict[int, Lengths] = {}
    if previous:
        place_of = _places(contents, previous)
        before = zip(place_of, previous.lengths("ascii"), previous.lengths("unicode"), strict=True)
        known = {place: Lengths(*lengths) for place, *lengths in before if place >= 0}
        for key, posted in previous.every_posting():
            postings.take_over(key, posted, place_of)
    lengths = [
        known.get(place) or postings.add(place, searched_text(record)) for place, record in enumerate(contents.records)
    ]
    return postings, lengths


def _places(contents: Contents, previous: LexicalIndex) -> list[int]:
    """Return the number that each record of an earlier index has now, -1 where its file has changed or is gone."""
    now = {(file.path, file.sha256): start for file, start in zip(contents.files, contents.starts, strict=False)}
    places: list[int] = []
    for number, name in enumerate(zip(previous.paths, previous.hashes, strict=True)):
        count = previous.starts[number + 1] - previous.starts[number]
        start = now.get(name)
        places += [-1] * count if start is None else range(start, start + count)
    return places


def _sections(contents: Contents, moment: Moment, lengths: Sequence[Lengths]) -> Iterator[tuple[str, bytes]]:
    files, records = contents.files, contents.records
    yield "paths", _joined([file.path for file in files])
    yield "stats", _stats(files, moment)
    yield "hashes", b"".join([file.sha256 for file in files])
    yield "starts", _numbers("I", contents.starts)
    yield "ids", _joined([record.id for record in records])
    yield "ascii", _numbers("I", [length.ascii for length in lengths])
    yield "unicode", _numbers("I", [length.unicode for length in lengths])
    yield "created", _numbers("q", [record.created_ms for record in records])
    yield "updated", _numbers("q", [record.updated_ms for record in records])
    yield "bounds", _numbers("q", [number for bounds in _bounds(records) for number in bounds])
    names: dict[str, list[str | None]] = {}
    for name, values in _named(records).items():
        codes = {value: code for code, value in enumerate(dict.fromkeys(values))}
        names[name] = list(codes)
        yield name, _numbers("H", [codes[value] for value in values])
    yield "names", json.dumps(names, ensure_ascii=False).encode()
    yield "spans", _numbers("I", [number for span in contents.spans for number in span])
    yield "prints", b"".join([fingerprint(record) for record in records])
    yield "notes", json.dumps(contents.notes, ensure_ascii=False).encode()


def _stats(files: Sequence[KnownFile], moment: Moment) -> bytes:
    """Return what tells each file from others, as far as that can be relied on.

    A file that was written in the tick of the clock in which the reading began, or since, may be written again with
    nothing to show for it; so may one that another clock stamps.
    """
    sizes = [
        file.size
        if max(file.mtime_ns, file.ctime_ns) < moment.taken_at_ns and file.device == moment.device
        else NEVER_THE_SAME
        for file in files
    ]
    times = [file.mtime_ns for file in files] + [file.ctime_ns for file in files]
    # A time that 64 bits do not hold becomes one that no file has: such a file is read anew each time.
    times = [max(OPEN_START, min(written, OPEN_END)) for written in times]
    return _numbers("q", sizes + times) + _numbers("Q", [file.inode for file in files])


def _bounds(records: Sequence[Record]) -> Iterator[tuple[int, int, int]]:
    for number, record in enumerate(records):
        start, end = bounds_of(record)
        if (start, end) != (OPEN_START, OPEN_END):
            yield number, start, end


def _named(records: Sequence[Record]) -> Mapping[str, Sequence[str | None]]:
    return {
        "types": [record.type for record in records],
        "sources": [record.provenance.source for record in records],
        "sessions": [record.provenance.session for record in records],
    }


def _joined(texts: Sequence[str]) -> bytes:
    return "\0".join(texts).encode()


def _numbers(kind: str, numbers: Sequence[int]) -> bytes:
    return array(kind, numbers).tobytes()
