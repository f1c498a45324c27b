"""BM25 that can be reproduced: a few lines of arithmetic over counts, in a fixed order of operations.

    idf(term)   = ln(1 + (n - df + 0.5) / (df + 0.5))
    score       = sum over the query's distinct terms, in order of first sight, of
                  idf * tf * 2.5 / (tf + 1.5 * (0.25 + 0.75 * length / average))

n is the number of documents that are ranked, df of those that hold the term, average their mean length in terms, at
least 1. (k1 = 1.5, b = 0.75; Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009.)
"""

from collections.abc import Sequence
from math import log
from typing import Final, NamedTuple

from cortex.retrieval.analyzer import Profile

K1: Final = 1.5
B: Final = 0.75


class Statistics(NamedTuple):
    """What all documents say about the query's terms."""

    documents: int
    average_length: float
    frequencies: tuple[int, ...]
    idf: tuple[float, ...]


def collect_statistics(profiles: Sequence[Profile], terms: int) -> Statistics:
    """Return the statistics over `profiles`, each with `terms` counts."""
    frequencies = [0] * terms
    for _, counts in profiles:
        for position, count in enumerate(counts):
            if count:
                frequencies[position] += 1
    return make_statistics(len(profiles), sum(length for length, _ in profiles), frequencies)


def make_statistics(documents: int, length: int, frequencies: Sequence[int]) -> Statistics:
    """Return the statistics of so many documents, of `length` terms together, by the frequency of each query term."""
    average = max(1.0, length / documents) if documents else 1.0
    idf = tuple(log(1 + (documents - df + 0.5) / (df + 0.5)) for df in frequencies)
    return Statistics(documents, average, tuple(frequencies), idf)


def shares(profile: Profile, statistics: Statistics) -> list[float]:
    """Return what each query term adds to the score of one document."""
    length, counts = profile
    norm = norm_of(length, statistics.average_length)
    return [
        weight_of(idf, count) / (count + norm) if count else 0.0
        for idf, count in zip(statistics.idf, counts, strict=True)
    ]


def score(profile: Profile, statistics: Statistics) -> float:
    """Return the BM25 score of one document; 0.0 where it holds no term."""
    total = 0.0
    for share in shares(profile, statistics):  # one by one, since what `sum` does with floats depends on the Python
        total += share
    return total


def norm_of(length: int, average: float) -> float:
    """Return how much the length of a document dampens the counts of its terms."""
    return K1 * (1 - B + B * length / average)


def weight_of(idf: float, count: int) -> float:
    """Return what a term that stands `count` times in a document weighs, before length dampens it."""
    return idf * count * (K1 + 1)
