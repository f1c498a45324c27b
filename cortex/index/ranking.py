"""The ranking of `search`, from postings: the same arithmetic in the same order, so the same scores to the last bit.

Records go by number, as in cortex/index/memory.py. What is shown of a hit is taken from its file when it is asked for.
"""

from collections.abc import Iterator, Sequence
from itertools import compress
from typing import Final

from cortex.index.memory import IndexedMemory
from cortex.index.terms import Posted
from cortex.retrieval.analyzer import Profile, Profiler, Query
from cortex.retrieval.bm25 import Statistics, make_statistics, norm_of, score, weight_of
from cortex.retrieval.filters import Filters, is_valid
from cortex.retrieval.search import RECENCY_SCALE_MS, Hit, Ranking, searched_text

# Where fewer than one hit in so many is asked for, finding the least of those beats putting all in order.
_WORTH_A_THRESHOLD: Final = 8


class IndexHits:
    """Hits by number and score; `scores` has 0.0 for what is no hit."""

    def __init__(self, memory: IndexedMemory, scores: Sequence[float], found: Sequence[int]) -> None:
        self._memory = memory
        self._scores = scores
        self._found = found

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._found)

    def __getitem__(self, rows: slice, /) -> Sequence[Hit]:
        """Return some of them, their records taken from the files."""
        start, stop, _ = rows.indices(len(self))
        best = self._best(stop)[start:stop] if start < stop else []
        records = [(negated, self._memory.record(number)) for negated, _, number in best]
        return [Hit(negated, record.id, record) for negated, record in records]

    def __iter__(self) -> Iterator[Hit]:
        """Go through all of them."""
        return iter(self[:])

    def ids(self) -> Sequence[str]:
        """Return the ids of all, in order."""
        return [self._memory.id_of(number) for _, _, number in self._best(len(self))]

    def place_of(self, record_id: str) -> tuple[int, float]:
        """Return where a record stands, from 1, and its score; it is one of them."""
        wanted = self._memory.number_of(record_id)
        in_order = self._best(len(self))
        return next((place, -negated) for place, (negated, _, number) in enumerate(in_order, 1) if number == wanted)

    def _best(self, count: int) -> list[tuple[float, str, int]]:
        """Return the first so many, and maybe more, in order: negated score, id where scores tie, number."""
        scores, found = self._scores, self._found
        if count * _WORTH_A_THRESHOLD < len(found):
            from heapq import nlargest

            least = nlargest(count, [scores[number] for number in found])[-1]
            found = [number for number in found if scores[number] >= least]
        ties = len({scores[number] for number in found}) < len(found)
        return sorted([(-scores[number], self._memory.id_of(number) if ties else "", number) for number in found])


def rank(memory: IndexedMemory, query: Query, filters: Filters, recency: float, now: int) -> Ranking:
    """Rank the records of an indexed memory, as `cortex.retrieval.search.rank` ranks records."""
    index = memory.index
    taking_part = _taking_part(memory, filters, now)
    lengths = index.lengths(query.analyzer)
    live = _profile_live(memory, query, filters, now)
    selection = None if all(taking_part) else taking_part
    postings = [_select(index.posted(query.analyzer, term), selection) for term in query.terms]
    statistics = make_statistics(
        sum(taking_part) + len(live),
        sum(compress(lengths, taking_part)) + sum(length for length, _ in live.values()),
        [
            sum(len(part.records) for part in parts) + sum(profile.counts[at] > 0 for profile in live.values())
            for at, parts in enumerate(postings)
        ],
    )
    scores = _scores(lengths, postings, statistics)
    scores += [score(live[number], statistics) if number in live else 0.0 for number in range(len(memory.live.records))]
    found = [number for number, reached in enumerate(scores) if reached > 0]
    if recency:
        updated = index.numbers("updated", "q", index.table.records).tolist()
        updated += [record.updated_ms for record in memory.live.records]
        for number in found:
            scores[number] += recency * updated[number] / RECENCY_SCALE_MS
    return Ranking(IndexHits(memory, scores, found), statistics)


def _scores(lengths: Sequence[int], postings: Sequence[Sequence[Posted]], statistics: Statistics) -> list[float]:
    """Return the score of each record of the index: term by term, in the order of the query."""
    scores = [0.0] * len(lengths)
    norms = {length: norm_of(length, statistics.average_length) for length in set(lengths)}
    for idf, parts in zip(statistics.idf, postings, strict=True):
        for records, counts in parts:
            weights = {count: weight_of(idf, count) for count in set(counts)}
            for number, count in zip(records, counts, strict=True):
                scores[number] += weights[count] / (count + norms[lengths[number]])
    return scores


def _select(parts: Sequence[Posted], selection: bytearray | None) -> Sequence[Posted]:
    """Return the postings of the records that are selected; of all where None."""
    if selection is None:
        return parts
    kept = [(part, [selection[number] for number in part.records]) for part in parts]
    return [Posted(list(compress(part.records, keep)), list(compress(part.counts, keep))) for part, keep in kept]


def _taking_part(memory: IndexedMemory, filters: Filters, now: int) -> bytearray:
    """Return a byte a record of the index: 1 where it is there, valid, and let through by the filters."""
    index, mask = memory.index, memory.valid(now)
    wanted = {"types": filters.type, "sources": filters.source, "sessions": filters.session}
    for name, value in wanted.items():
        if value is not None:
            names = index.names[name]
            code = names.index(value) if value in names else -1
            codes = index.numbers(name, "H", index.table.records)
            mask = bytearray([is_in and each == code for is_in, each in zip(mask, codes, strict=True)])
    first, last = filters.created_from, filters.created_to
    if first is not None or last is not None:
        created = index.numbers("created", "q", index.table.records)
        mask = bytearray(
            [
                is_in and (first is None or first <= at) and (last is None or at <= last)
                for is_in, at in zip(mask, created, strict=True)
            ]
        )
    return mask


def _profile_live(memory: IndexedMemory, query: Query, filters: Filters, now: int) -> dict[int, Profile]:
    """Return the profiles of the live records that take part, by their number among the live ones."""
    profiler = Profiler(query)
    return {
        number: profiler(searched_text(record))
        for number, record in enumerate(memory.live.records)
        if is_valid(record, now) and filters.let_through(record)
    }
