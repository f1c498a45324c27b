"""Reading the corpus: from a pinned root to records, faults and notes, file by file in path order.

No file is opened by a path that could mean another one by then: folders are opened by descriptor without following
links, files relative to them, and what was opened is checked. A file is read to one byte past its size; one that
changes while it is read is read again, and is a fault if it does not come to rest.
"""

import os
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from cortex.corpus.faults import CorpusError, Fault, Note, fault
from cortex.corpus.folders import Folders, fault_of_opening
from cortex.corpus.markdown import parse_note
from cortex.corpus.record import Parsed, Record
from cortex.corpus.root import PinnedRoot
from cortex.corpus.walk import CorpusFile, Survey, survey
from cortex.text import find_control, holds_control, is_blank
from policies.limits import CORPUS_MAX_BYTES, CORPUS_MAX_FILE_BYTES, CORPUS_MAX_RECORDS, MIB

# So often a file that changes under the reader is read anew.
READ_ATTEMPTS: Final = 5
# From here on the fast decoder wins back what importing it costs.
BULK_BYTES: Final = 4 * MIB
_EMPTY_LINES: Final = (b"", b"\r")
_TOO_MANY_RECORDS: Final = f"brings the corpus to more than {CORPUS_MAX_RECORDS} records"

QuickReader = Callable[[bytes], Record | None]


class Reading(NamedTuple):
    """Everything that reading the corpus came to. `records` are the sound ones, `withheld` counts the private ones."""

    records: tuple[Record, ...]
    faults: tuple[Fault, ...]
    notes: tuple[Note, ...]
    files: int
    withheld: int


def read_corpus(root: PinnedRoot, *, stop_at_first_fault: bool) -> Reading:
    """Read the corpus below a pinned root.

    Raises:
        CorpusError: With `stop_at_first_fault`, at the first fault: those of shape first, then in path and line order.
    """
    reader = Reader(root)
    records, faults, notes = [], [], []
    for item in reader.items():
        if isinstance(item, Record):
            records.append(item)
        elif isinstance(item, Note):
            notes.append(item)
        elif stop_at_first_fault:
            raise CorpusError(item)
        else:
            faults.append(item)
    faults.sort(key=_place)
    withheld = sum([note.kind == "withheld" for note in notes])
    return Reading(tuple(records), tuple(faults), tuple(notes), len(reader.survey.files), withheld)


def iter_records(root: PinnedRoot, *, backwards: bool = False) -> Iterator[Record]:
    """Yield the records one by one, so that only one file's are held; with `backwards` from the last file to the first.

    Raises:
        CorpusError: At the first fault. What was yielded before it is of no use then: the corpus is not sound.
    """
    for item in Reader(root, backwards=backwards).items():
        if isinstance(item, Record):
            yield item
        elif isinstance(item, Fault):
            raise CorpusError(item)


class Span(NamedTuple):
    """Where a record stands in its file: the offset and the size of its bytes; of a note, the whole file."""

    offset: int
    size: int


class ReadFile(NamedTuple):
    """A file as it was read: its path, its bytes, and its status before that."""

    path: str
    data: bytes
    status: os.stat_result


class Reader:
    """One reading of the corpus, or of some of its files.

    `survey` is what the walk saw. While the items are gone through, `span` is where the last record stands in its file.

    Args:
        root: The pinned root.
        backwards: From the last file to the first.
        seen: A walk that was made already.
        files: The files of that walk to read, all of them where None.
        on_read: Told of each file once it is read, before its items.
    """

    def __init__(
        self,
        root: PinnedRoot,
        *,
        backwards: bool = False,
        seen: Survey | None = None,
        files: Sequence[CorpusFile] | None = None,
        on_read: Callable[[ReadFile], None] | None = None,
    ) -> None:
        self.survey: Survey = seen or survey(root)
        self.span = Span(0, 0)
        self._root = root
        self._on_read = on_read
        chosen = self.survey.files if files is None else files
        self._files = chosen[::-1] if backwards else chosen
        self._first_path: dict[str, str] = {}  # of each id
        self._is_bulk = _jsonl_bytes(self._files) >= BULK_BYTES
        self._bytes = 0
        self._records = 0  # sound, withheld and faulty ones: each is one that the limit counts
        self._is_over_limit = False

    def items(self) -> Iterator[Record | Fault | Note]:
        """Yield what the files hold, faults of shape first; past a limit nothing more than the fault that says so."""
        yield from self.survey.faults
        faulty = {found.path for found in self.survey.faults}
        with Folders(self._root.descriptor) as folders:
            for file in self._files:
                if file.path not in faulty:
                    yield from self._file(folders, file.path)
                if self._is_over_limit:
                    return

    def _file(self, folders: Folders, path: str) -> Iterator[Record | Fault | Note]:
        read = read_file(folders, path)
        if isinstance(read, Fault):
            yield read
            return
        if self._on_read:
            self._on_read(read)
        data = read.data
        self._bytes += len(data)
        if self._bytes > CORPUS_MAX_BYTES:
            yield self._stop(path, None, f"brings the corpus to more than {CORPUS_MAX_BYTES // MIB} MiB")
            return
        self.span = Span(0, len(data))
        text = data.removeprefix(BOM_UTF8)
        yield from self._note(path, text) if path.endswith(".md") else self._lines(path, text, len(data) - len(text))

    def _note(self, path: str, data: bytes) -> Iterator[Record | Fault | Note]:
        if self._records == CORPUS_MAX_RECORDS:
            yield self._stop(path, None, _TOO_MANY_RECORDS)
            return
        self._records += 1
        yield from self._parse(path, None, data, parse_note)

    def _lines(self, path: str, data: bytes, start: int) -> Iterator[Record | Fault | Note]:
        from cortex.corpus.jsonl import parse_row  # with it comes json, which a memory of notes does without

        quick = self._quick_reader(path, data)
        end = start - 1
        for number, line in enumerate(data.split(b"\n"), 1):
            start, end = end + 1, end + 1 + len(line)
            if line in _EMPTY_LINES or _is_blank(line):
                continue
            if self._records == CORPUS_MAX_RECORDS:
                yield self._stop(path, number, _TOO_MANY_RECORDS)
                return
            self._records += 1
            self.span = Span(start, len(line))
            record = quick(line) if quick else None
            if record is not None:
                yield self._admit(record, number)
            else:
                yield from self._parse(path, number, line, parse_row)

    def _parse(
        self, path: str, line: int | None, data: bytes, parse: Callable[[str, str], Parsed]
    ) -> Iterator[Record | Fault | Note]:
        """Yield what the bytes of a note (`line` None) or of a row come to; of an unsound text, only its faults."""
        text = _decode(path, line, data)
        if isinstance(text, Fault):
            yield text
            return
        controls = _find_controls(path, line, text) if holds_control(data) else []
        yield from controls
        for item in self._take(path, line, parse(path, text)):
            if not (controls and isinstance(item, Record)):
                yield item

    def _stop(self, path: str, line: int | None, message: str) -> Fault:
        self._is_over_limit = True
        return fault(path, line, "limit", f"{message}; what comes after it was not read")

    def _take(self, path: str, line: int | None, parsed: Parsed) -> Iterator[Record | Fault | Note]:
        result, identity, cut = parsed
        if cut:
            yield Note(path, line, "cut-by-untrusted-opener", "is cut where something like a private tag opens")
        if result is None:
            yield Note(path, line, "withheld", "leaves no record: what it would say of itself is private", identity)
        elif isinstance(result, Record):
            yield self._admit(result, line)
        else:
            yield from (fault(path, line, flaw.kind, flaw.message) for flaw in result)
            if identity is not None and (taken := self._claim(identity, path, line)):
                yield taken

    def _admit(self, record: Record, line: int | None) -> Record | Fault:
        """Return a record, or a fault where its id is taken."""
        return self._claim(record.id, record.provenance.path, line) or record

    def _claim(self, identity: str, path: str, line: int | None) -> Fault | None:
        """Take an id for what lies at a place; return a fault where it is taken."""
        first = self._first_path.get(identity)
        if first is not None:
            return fault(path, line, "duplicate-id", f"has the id of another record, in {first}")
        self._first_path[identity] = path
        return None

    def _quick_reader(self, path: str, data: bytes) -> QuickReader | None:
        if not self._is_bulk:
            return None
        from cortex.corpus.jsonl_bulk import quick_reader

        return quick_reader(path, data)


def _jsonl_bytes(files: Sequence[CorpusFile]) -> int:
    return sum([file.size for file in files if file.path.endswith(".jsonl")])


def read_file(folders: Folders, path: str) -> ReadFile | Fault:
    """Return a file's bytes, or the fault that keeps it from being read."""
    try:
        descriptor = folders.open_file(path)
        try:
            return _read_settled(descriptor, path)
        finally:
            os.close(descriptor)
    except OSError as error:
        return fault_of_opening(path, error)


def _read_settled(descriptor: int, path: str) -> ReadFile | Fault:
    """Return the bytes of an open file once two looks at it agree."""
    for _ in range(READ_ATTEMPTS):
        status = os.fstat(descriptor)
        size = status.st_size
        if size > CORPUS_MAX_FILE_BYTES:
            return fault(path, None, "limit", f"holds more than {CORPUS_MAX_FILE_BYTES // MIB} MiB")
        data = os.pread(descriptor, size + 1, 0)
        if len(data) == size:
            return ReadFile(path, data, status)
    return fault(path, None, "unreadable", "kept changing while it was read")


def _decode(path: str, line: int | None, data: bytes) -> str | Fault:
    """Return the text of a note (`line` None) or row, or a fault with the line at which it is none."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        return fault(path, (line or 1) + data.count(b"\n", 0, error.start), "encoding", "is not valid UTF-8")


def _find_controls(path: str, line: int | None, text: str) -> list[Fault]:
    """Return a fault for each line of a note or row that holds a control character, naming its first."""
    return [
        fault(path, number, "control-character", f"holds the control character U+{ord(row[position]):04X}")
        for number, row in enumerate(text.split("\n"), line or 1)
        if (position := find_control(row)) is not None
    ]


def _is_blank(line: bytes) -> bool:
    return not line.startswith(b"{") and is_blank(line.decode("utf-8", "replace"))


def _place(found: Fault) -> tuple[str, int]:
    return found.path, found.line or 0
