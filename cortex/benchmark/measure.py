"""Putting labelled queries to the ranking of `search`, often enough to say how long it takes.

One ranking a sample, shared by both ways of disclosing what it found, so that they differ in nothing else:

    bm25-baseline   the first five records in full, as `get` prints them
    progressive     the cards of the first five, as `search` prints them, and the first record in full
"""

import json
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from cortex.benchmark.labels import NumberedLabel, broken
from cortex.corpus.record import Record, exported
from cortex.errors import CortexError
from cortex.retrieval.analyzer import Query
from cortex.retrieval.cards import CHARACTERS_PER_TOKEN, card
from cortex.retrieval.filters import Filters
from cortex.retrieval.search import Hit, rank
from cortex.searching import read_query
from policies.limits import BENCHMARK_SAMPLES, BENCHMARK_TOP_K


class Measured(NamedTuple):
    """One label's query: the ids that it ranks, best first, and of each disclosure its tokens and its samples (ns)."""

    ranking: tuple[str, ...]
    tokens: dict[str, int]
    latencies: dict[str, list[int]]


def in_full(hits: Sequence[Hit]) -> bytes:
    """Return records in full, as they reach an agent that pulls what it found."""
    return _encode([exported(hit.record) for hit in hits])


def cards_first(hits: Sequence[Hit]) -> bytes:
    """Return cards and the first record in full, as they reach an agent that reads what it chooses."""
    return _encode([card(hit.record, hit.score) for hit in hits]) + in_full(hits[:1])


DISCLOSURES: Final[dict[str, Callable[[Sequence[Hit]], bytes]]] = {
    "bm25-baseline": in_full,
    "progressive": cards_first,
}


def read_queries(labels: Sequence[NumberedLabel]) -> list[Query]:
    """Return the labels' queries, analysed as `search` analyses them.

    Raises:
        CortexError: `invalid_input` naming the row whose query `search` would refuse.
    """
    return [_read_query(row, label.query) for row, label in labels]


def measure(text: str, records: Sequence[Record], timer: Callable[[], int]) -> Measured:
    """Rank and disclose `BENCHMARK_SAMPLES` times.

    Args:
        text: A query that `read_queries` has let through.
        records: The records that take part.
        timer: Nanoseconds from any moment on.
    """
    latencies: dict[str, list[int]] = {name: [] for name in DISCLOSURES}
    tokens: dict[str, int] = {}
    hits: list[Hit] = []
    for _ in range(BENCHMARK_SAMPLES):
        began = timer()
        hits = rank(records, read_query(text, "auto"), Filters(), 0.0).hits
        ranked = timer() - began
        for name, disclose in DISCLOSURES.items():
            began = timer()
            disclosed = disclose(hits[:BENCHMARK_TOP_K])
            latencies[name].append(ranked + timer() - began)
            tokens[name] = -(-len(disclosed) // CHARACTERS_PER_TOKEN)
    return Measured(tuple(hit.id for hit in hits), tokens, latencies)


def _read_query(row: int, text: str) -> Query:
    try:
        return read_query(text, "auto")
    except CortexError as error:
        raise broken(row, "query", error.message) from error


def _encode(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
