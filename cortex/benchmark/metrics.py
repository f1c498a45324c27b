"""What a ranking is worth, as numbers between 0 and 1. Pure: a ranking is a list of distinct ids, best first.

Recall, reciprocal rank and nDCG are those of trec_eval (`recall.N`, `recip_rank`, `ndcg_cut.N`): an id that is not in
the ranking was not found, and gains nothing. Where there is nothing to find a metric is not defined, and is not asked
for.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations
from math import ceil, log2


def recall(ranking: Sequence[str], relevant: Collection[str], cut: int) -> float:
    """Return the share of `relevant` (distinct, not empty) among the first `cut` of the ranking."""
    return len(set(relevant).intersection(ranking[:cut])) / len(relevant)


def reciprocal_rank(ranking: Sequence[str], relevant: Collection[str], cut: int | None = None) -> float:
    """Return 1 / the place of the first relevant id, 0.0 where none is among the first `cut` (None: all)."""
    return next((1 / place for place, found in enumerate(ranking[:cut], 1) if found in relevant), 0.0)


def ndcg(ranking: Sequence[str], gains: Mapping[str, float], cut: int) -> float:
    """Return the discounted gain of the first `cut`, as a share of the best that any ranking could have.

    Args:
        ranking: The ids, best first.
        gains: What each relevant id is worth, above 0; at least one.
        cut: How many places count.
    """
    gained = _discounted(gains.get(found, 0.0) for found in ranking[:cut])
    return gained / _discounted(sorted(gains.values(), reverse=True)[:cut])


def pairs_in_order(ranking: Sequence[str], order: Sequence[str]) -> tuple[int, int]:
    """Return how many pairs of `order` stand in the ranking, both, in that order; and how many pairs there are."""
    place = {found: number for number, found in enumerate(ranking)}
    pairs = list(combinations(order, 2))
    return sum(1 for a, b in pairs if a in place and b in place and place[a] < place[b]), len(pairs)


def mean(values: Sequence[float]) -> float | None:
    """Return the arithmetic mean; None of nothing."""
    return sum(values) / len(values) if values else None


def percentile(values: Sequence[float], percent: int) -> float:
    """Return the smallest of `values` (not empty) that `percent` per cent of them do not exceed (nearest rank)."""
    return sorted(values)[max(1, ceil(len(values) * percent / 100)) - 1]


def _discounted(gains: Iterable[float]) -> float:
    return sum(gain / log2(place + 1) for place, gain in enumerate(gains, 1))
