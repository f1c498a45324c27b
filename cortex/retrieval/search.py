"""Ranking records by a query, and saying afterwards why one stands where it stands."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple, Protocol

from cortex.corpus.record import Record
from cortex.retrieval.analyzer import Profile, Profiler, Query
from cortex.retrieval.bm25 import Statistics, collect_statistics, score, shares
from cortex.retrieval.cards import SCORE_DECIMALS, JSONObject, Rows
from cortex.retrieval.filters import Filters

# A weight of 1 adds what separates two updates 317 years apart: recency nudges, it does not rule unless told to.
RECENCY_SCALE_MS: Final = 1e13


class Hit(NamedTuple):
    """A record that matches. Hits sort as they are: best first, ties by id."""

    negated_score: float
    id: str
    record: Record

    @property
    def score(self) -> float:
        """How well it matches, recency included."""
        return -self.negated_score


class Hits(Rows[Hit], Protocol):
    """What a search found, best first."""

    def __iter__(self) -> Iterator[Hit]:
        """Go through all of them."""

    def ids(self) -> Sequence[str]:
        """Return the ids of all, in order."""

    def place_of(self, record_id: str) -> tuple[int, float]:
        """Return where a record stands, from 1, and its score; it is one of them."""


class RecordHits(list[Hit]):
    """Hits that are all at hand, in order."""

    def ids(self) -> Sequence[str]:
        """Return the ids of all, in order."""
        return [hit.id for hit in self]

    def place_of(self, record_id: str) -> tuple[int, float]:
        """Return where a record stands, from 1, and its score; it is one of them."""
        return next((number, hit.score) for number, hit in enumerate(self, 1) if hit.id == record_id)


class Ranking(NamedTuple):
    """What a search found, and the statistics that it was judged by."""

    hits: Hits
    statistics: Statistics


def profile_each(profiler: Profiler, records: Sequence[Record]) -> list[Profile]:
    """Return the profile of each record, in order."""
    return [profiler(searched_text(record)) for record in records]


def rank(
    records: Sequence[Record],
    query: Query,
    filters: Filters,
    recency: float,
    profile: Callable[[Profiler, Sequence[Record]], list[Profile]] = profile_each,
) -> Ranking:
    """Rank the `records` that the filters let through. Ties go by id, by code point."""
    candidates = [record for record in records if filters.let_through(record)]
    profiles = profile(Profiler(query), candidates)
    statistics = collect_statistics(profiles, len(query.terms))
    hits = RecordHits(
        Hit(-(relevance + recency * record.updated_ms / RECENCY_SCALE_MS), record.id, record)
        for record, profile in zip(candidates, profiles, strict=True)
        if any(profile.counts) and (relevance := score(profile, statistics)) > 0
    )
    hits.sort()
    return Ranking(hits, statistics)


def searched_text(record: Record) -> str:
    """Return the text that ranking looks at, between blanks as the profiler likes it."""
    return f" {record.title} {record.content} "


def explain(record: Record, query: Query, filters: Filters, ranking: Ranking) -> JSONObject:
    """Return why a valid record is among the results, term by term, or why it is not."""
    profile = Profiler(query)(searched_text(record))
    if not filters.let_through(record):
        return {"id": record.id, "found": False, "reason": "filter"}
    if not any(profile.counts):
        return {"id": record.id, "found": False, "reason": "no term"}
    place, reached = ranking.hits.place_of(record.id)
    return {
        "id": record.id,
        "found": True,
        "rank": place,
        "score": round(reached, SCORE_DECIMALS),
        "length": profile.length,
        "average_length": round(ranking.statistics.average_length, SCORE_DECIMALS),
        "documents": ranking.statistics.documents,
        "terms": _term_rows(query, profile, ranking.statistics),
    }


def _term_rows(query: Query, profile: Profile, statistics: Statistics) -> list[JSONObject]:
    rows = zip(query.terms, profile.counts, statistics.frequencies, shares(profile, statistics), strict=True)
    return [
        {"term": term, "tf": count, "df": frequency, "share": round(share, SCORE_DECIMALS)}
        for term, count, frequency, share in rows
    ]
