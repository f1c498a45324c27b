"""A memory that can be asked: what `search`, `timeline` and the benchmark need of it, wherever it takes that from."""

from collections.abc import Callable, Sequence
from typing import Protocol, cast

from cortex.corpus.faults import Note
from cortex.corpus.record import Record
from cortex.envelope import JSONObject
from cortex.retrieval.analyzer import Profile, Profiler, Query
from cortex.retrieval.filters import Filters, Listed, valid_records
from cortex.retrieval.search import Ranking, profile_each, rank


class Memory(Protocol):
    """A sound memory. Times are milliseconds since 1970."""

    @property
    def root(self) -> str:
        """The resolved memory root."""

    @property
    def notes(self) -> Sequence[Note]:
        """What its owner may want to know."""

    @property
    def indexes(self) -> Sequence[JSONObject]:
        """The indexes that it is asked through."""

    def __len__(self) -> int:
        """Return how many records there are, valid or not."""

    def find(self, record_id: str) -> Record | None:
        """Return the record of that id, valid or not; None where there is none."""

    def listed(self, now: int) -> Sequence[Listed]:
        """Return what a listing goes by of every record that is valid at `now`."""

    def load(self, listed: Listed) -> Record:
        """Return the record of which something was listed."""

    def rank(self, query: Query, filters: Filters, recency: float, now: int) -> Ranking:
        """Rank the records that are valid at `now` and let through by the filters."""


class ReadMemory:
    """A memory whose files were all read."""

    def __init__(self, root: str, records: Sequence[Record], notes: Sequence[Note], *, may_fork: bool = False) -> None:
        self.root = root
        self.records = records
        self.notes = notes
        self.indexes: Sequence[JSONObject] = ()
        self._may_fork = may_fork

    def __len__(self) -> int:
        """Return how many records there are, valid or not."""
        return len(self.records)

    def find(self, record_id: str) -> Record | None:
        """Return the record of that id, valid or not; None where there is none."""
        return next((record for record in self.records if record.id == record_id), None)

    def listed(self, now: int) -> Sequence[Record]:
        """Return every record that is valid at `now`."""
        return valid_records(self.records, now)

    def load(self, listed: Listed) -> Record:
        """Return the record, which is what was listed."""
        return cast("Record", listed)

    def rank(self, query: Query, filters: Filters, recency: float, now: int) -> Ranking:
        """Rank the records that are valid at `now` and let through by the filters."""
        return rank(self.listed(now), query, filters, recency, self._profiling())

    def _profiling(self) -> Callable[[Profiler, Sequence[Record]], list[Profile]]:
        if not self._may_fork:
            return profile_each
        from cortex.retrieval.two_cores import profile_on_two_cores

        return profile_on_two_cores
