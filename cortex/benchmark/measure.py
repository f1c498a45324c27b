"""Putting labelled queries to the ranking of `search`, often enough to say how long it takes.

One ranking a sample, shared by both ways of disclosing what it found, so that they differ in nothing else:

    bm25-baseline   the first five records in full, as `get` prints them
    progressive     the cards of the first five, as `search` prints them, and the first record in full
"""

import json
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from cortex.benchmark.labels import NumberedLabel, broken
from cortex.corpus.record import exported
from cortex.errors import CortexError
from cortex.memory import Memory
from cortex.retrieval.analyzer import Query
from cortex.retrieval.cards import CHARACTERS_PER_TOKEN, card
from cortex.retrieval.filters import Filters
from cortex.retrieval.search import Hit
from cortex.searching import read_query
from policies.limits import BENCHMARK_SAMPLES, BENCHMARK_TOP_K


class Measured(NamedTuple):
    """One label's query: the ids that it ranks, best first, and of each disclosure its tokens and its samples (ns).

    `cards` is what the progressive disclosure comes to.
    """

    ranking: tuple[str, ...]
    tokens: dict[str, int]
    latencies: dict[str, list[int]]
    cards: bytes


def in_full(hits: Sequence[Hit]) -> bytes:
    """Return records in full, as they reach an agent that pulls what it found."""
    return _encode([exported(hit.record) for hit in hits])


def cards_first(hits: Sequence[Hit]) -> bytes:
    """Return cards and the first record in full, as they reach an agent that reads what it chooses."""
    return _encode([card(hit.record, hit.score) for hit in hits]) + in_full(hits[:1])


CARDS: Final = "progressive"
DISCLOSURES: Final[dict[str, Callable[[Sequence[Hit]], bytes]]] = {
    "bm25-baseline": in_full,
    CARDS: cards_first,
}


def read_queries(labels: Sequence[NumberedLabel]) -> list[Query]:
    """Return the labels' queries, analysed as `search` analyses them.

    Raises:
        CortexError: `invalid_input` naming the row whose query `search` would refuse.
    """
    return [_read_query(row, label.query) for row, label in labels]


def measure(
    text: str, memory: Memory, now: int, timer: Callable[[], int], samples: int = BENCHMARK_SAMPLES
) -> Measured:
    """Rank and disclose so many times.

    Args:
        text: A query that `read_queries` has let through.
        memory: The memory that is asked.
        now: The time to judge validity by, in milliseconds since 1970.
        timer: Nanoseconds from any moment on.
        samples: How often; at least once.
    """
    latencies: dict[str, list[int]] = {name: [] for name in DISCLOSURES}
    disclosed: dict[str, bytes] = {}
    ranking: tuple[str, ...] = ()
    for _ in range(samples):
        began = timer()
        hits = memory.rank(read_query(text, "auto"), Filters(), 0.0, now).hits
        best = hits[:BENCHMARK_TOP_K]
        ranked = timer() - began
        for name, disclose in DISCLOSURES.items():
            began = timer()
            disclosed[name] = disclose(best)
            latencies[name].append(ranked + timer() - began)
        ranking = ranking or tuple(hits.ids())
    tokens = {name: -(-len(shown) // CHARACTERS_PER_TOKEN) for name, shown in disclosed.items()}
    return Measured(ranking, tokens, latencies, disclosed[CARDS])


def _read_query(row: int, text: str) -> Query:
    try:
        return read_query(text, "auto")
    except CortexError as error:
        raise broken(row, "query", error.message) from error


def _encode(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
