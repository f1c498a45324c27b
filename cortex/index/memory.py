"""A memory answered from its index, with what has changed since laid over.

A file is as the index knows it where size, times and inode are the same (contents.py says which files that cannot be
said of). Any other is read live; what is gone drops out. Where something is not sound there is no such memory: reading
everything finds the first fault, in order.
"""

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import NamedTuple, cast

from cortex.corpus.faults import Fault, Note
from cortex.corpus.folders import Folders
from cortex.corpus.record import Provenance, Record
from cortex.corpus.root import PinnedRoot
from cortex.corpus.walk import CorpusFile, Survey, survey
from cortex.envelope import JSONObject
from cortex.errors import not_found
from cortex.index.layout import FORMAT, IndexDoubtError
from cortex.index.lexical import OPEN_END, OPEN_START, PRINT_BYTES, LexicalIndex, Stats, bounds_of
from cortex.index.opening import OpenIndex, open_index
from cortex.index.rereading import Whereabouts, reread
from cortex.layout import INDEX
from cortex.retrieval.analyzer import Query
from cortex.retrieval.filters import Filters, Listed, is_valid
from cortex.retrieval.search import Ranking
from policies.limits import CORPUS_MAX_RECORDS


class Entry(NamedTuple):
    """What an index says of a record, by which it is listed. `number` is its place in the corpus that was indexed."""

    id: str
    type: str
    provenance: Provenance
    created_ms: int
    number: int


class Live(NamedTuple):
    """What was read beside the index: records, notes, and the files that they are from."""

    records: Sequence[Record]
    notes: Sequence[Note]
    paths: frozenset[str]


class IndexedMemory:
    """A sound memory that is asked through its index. Records go by number; live ones follow the indexed ones.

    Args:
        root: The pinned root.
        opened: Its index.
        known: Of each file of the index, whether it still is as the index knows it.
        live: What was read beside it.
    """

    def __init__(self, root: PinnedRoot, opened: OpenIndex, known: Sequence[bool], live: Live) -> None:
        self.root = root.path
        self.manifest = opened.manifest
        self.index: LexicalIndex = opened.lexical
        self.live = live
        self.known = known
        self.is_whole = all(known)
        self._folders = Folders(root.descriptor)

    def close(self) -> None:
        """Let go of the folders."""
        self._folders.close()

    def __len__(self) -> int:
        """Return how many records there are, valid or not."""
        kept = self.index.table.records if self.is_whole else sum(self.there)
        return kept + len(self.live.records)

    @property
    def notes(self) -> Sequence[Note]:
        """What its owner may want to know."""
        kept = dict(zip(self.index.paths, self.known, strict=True))
        return [*(note for note in self.index.notes if kept[note.path]), *self.live.notes]

    @property
    def indexes(self) -> Sequence[JSONObject]:
        """The index that it is asked through, and how many files are read beside it."""
        manifest = self.manifest
        return [
            {
                "path": f"{INDEX}/{manifest.index_path}",
                "format": FORMAT,
                "sha256": manifest.index_sha256,
                "indexed_at": manifest.indexed_at,
                "files_read_beside_it": len(self.live.paths),
            }
        ]

    @cached_property
    def there(self) -> bytes:
        """A byte a record of the index: 1 where its file still is as the index knows it, else 0."""
        starts = self.index.starts
        sizes = [after - before for before, after in itertools.pairwise(starts)]
        return b"".join([bytes([known]) * size for known, size in zip(self.known, sizes, strict=True)])

    def find(self, record_id: str) -> Record:
        """Return the record of that id, valid or not.

        Raises:
            CortexError: `not_found`: an index does not say why something is not there; the files do.
        """
        number = self.number_of(record_id)
        if number is None:
            raise not_found("the index has no record of that id")
        record = self.record(number)
        if record.id != record_id:
            raise IndexDoubtError(f"a record in {record.provenance.path} has another id than it says")
        return record

    def listed(self, now: int) -> Sequence[Listed]:
        """Return what a listing goes by of every record that is valid at `now`."""
        index = self.index
        types, sources, sessions = (self._named(name) for name in ("types", "sources", "sessions"))
        created, paths = index.numbers("created", "q", index.table.records), self._paths()
        valid = self.valid(now)
        entries: list[Listed] = [
            Entry(record_id, types[n] or "", Provenance(sources[n] or "", sessions[n], paths[n]), created[n], n)
            for n, record_id in enumerate(index.ids)
            if valid[n]
        ]
        return entries + [record for record in self.live.records if is_valid(record, now)]

    def load(self, listed: Listed) -> Record:
        """Return the record of which something was listed."""
        if isinstance(listed, Record):
            return listed
        *told, number = cast("Entry", listed)
        record = self.record(number)
        if told != [record.id, record.type, record.provenance, record.created_ms]:
            raise IndexDoubtError(f"a record in {record.provenance.path} is not what it says")
        return record

    def rank(self, query: Query, filters: Filters, recency: float, now: int) -> Ranking:
        """Rank the records that are valid at `now` and let through by the filters."""
        from cortex.index.ranking import rank

        return rank(self, query, filters, recency, now)

    def valid(self, now: int) -> bytearray:
        """Return a byte a record of the index: 1 where it is there and valid at `now`, else 0."""
        valid = bytearray(b"\1" * self.index.table.records if self.is_whole else self.there)
        for record, start, end in self.index.bounds:
            if not start <= now < end:
                valid[record] = 0
        return valid

    def id_of(self, number: int) -> str:
        """Return the id of a record."""
        records = self.index.table.records
        return self.index.ids[number] if number < records else self.live.records[number - records].id

    def number_of(self, record_id: str) -> int | None:
        """Return the number of the record of that id, None where there is none."""
        for number, record in enumerate(self.live.records, self.index.table.records):
            if record.id == record_id:
                return number
        try:
            number = self.index.ids.index(record_id)
        except ValueError:
            return None
        return number if self.there[number] else None

    def record(self, number: int) -> Record:
        """Return a record, taken from its file again where it is not live."""
        index = self.index
        if number >= index.table.records:
            return self.live.records[number - index.table.records]
        file = index.file_of(number)
        offset, size = index.spans[2 * number : 2 * number + 2]
        stat = cast("tuple[int, int, int, int]", tuple(column[file] for column in index.stats))
        fingerprint = index.prints[PRINT_BYTES * number : PRINT_BYTES * (number + 1)]
        record = reread(self._folders, Whereabouts(index.paths[file], stat, offset, size, fingerprint))
        # The index chose it as one that is valid: it must not leave where the file says otherwise.
        if self._bounds.get(number, (OPEN_START, OPEN_END)) != bounds_of(record):
            raise IndexDoubtError(f"a record in {record.provenance.path} has another validity than it says")
        return record

    @cached_property
    def _bounds(self) -> dict[int, tuple[int, int]]:
        return {record: (start, end) for record, start, end in self.index.bounds}

    def _named(self, name: str) -> list[str | None]:
        values = self.index.names[name]
        return [values[code] for code in self.index.numbers(name, "H", self.index.table.records)]

    def _paths(self) -> list[str]:
        """Return the path of each record of the index."""
        starts = self.index.starts
        return [
            path
            for path, start, end in zip(self.index.paths, starts, starts[1:], strict=False)
            for _ in range(start, end)
        ]


@contextmanager
def open_memory(root: PinnedRoot) -> Iterator[IndexedMemory | None]:
    """Open the memory below a pinned root through its index; None where none is adopted, or the memory is not sound.

    Raises:
        IndexDoubtError: The index cannot be relied on.
        Exception: It was made to mislead.
    """
    with open_index(root.descriptor) as opened:
        if opened is None or opened.adoption is None:
            yield None
            return
        memory = lay_over(root, opened)
        try:
            yield memory
        finally:
            if memory is not None:
                memory.close()


def lay_over(root: PinnedRoot, opened: OpenIndex) -> IndexedMemory | None:
    """Return the memory with what has changed laid over its index; None where it is not sound. The caller closes it."""
    found, index = survey(root), opened.lexical
    if found.faults:
        return None
    known, changed = compare(index, found)
    live = _read_live(root, found, changed)
    if live is None:
        return None
    memory = IndexedMemory(root, opened, known, live)
    is_new = bool(live.records or live.notes)
    is_sound = not is_new or (_is_within_limit(memory) and not _is_taken_twice(memory))
    return memory if is_sound else None


def compare(index: LexicalIndex, found: Survey) -> tuple[Sequence[bool], Sequence[CorpusFile]]:
    """Return of each file of an index whether it is as the index knows it, and the files that it does not know so."""
    stats = index.stats
    columns = tuple(zip(*found.files, strict=True)) or ((),) * 6
    if list(columns[0]) == index.paths and Stats(*columns[1:5]) == stats:
        return [True] * len(index.paths), ()
    rows = dict(zip(index.paths, zip(*stats, strict=True), strict=True))
    changed = [file for file in found.files if rows.get(file.path) != file[1:5]]
    lost = {file.path for file in changed}
    there = {file.path for file in found.files} - lost
    return [path in there for path in index.paths], changed


def _read_live(root: PinnedRoot, found: Survey, files: Sequence[CorpusFile]) -> Live | None:
    """Read some files; None where one is not sound."""
    if not files:
        return Live((), (), frozenset())
    from cortex.corpus.reader import Reader

    records, notes = [], []
    for item in Reader(root, seen=found, files=files).items():
        if isinstance(item, Fault):
            return None
        if isinstance(item, Record):
            records.append(item)
        else:
            notes.append(item)
    return Live(records, notes, frozenset(file.path for file in files))


def _is_within_limit(memory: IndexedMemory) -> bool:
    withheld = sum(note.kind == "withheld" for note in memory.notes)
    return len(memory) + withheld <= CORPUS_MAX_RECORDS


def _is_taken_twice(memory: IndexedMemory) -> bool:
    """Tell whether a live record has the id of one that the index has and that is still there."""
    there = memory.there
    numbers = {record_id: number for number, record_id in enumerate(memory.index.ids)}
    return any(record.id in numbers and there[numbers[record.id]] for record in memory.live.records)
