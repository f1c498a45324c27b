"""The metrics agree with a second computation of trec_eval's definitions, over scores instead of lists."""

from fractions import Fraction
from math import isclose, log, log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex.benchmark.metrics import mean, ndcg, pairs_in_order, percentile, recall, reciprocal_rank


class Second:
    """trec_eval's definitions over a run (id to score) and judgements (id to relevance, above 0).

    A place is counted, not looked up: one more than how many stand before. Ties go by id, as in our rankings.
    """

    def __init__(self, run: dict[str, float], judged: dict[str, int]) -> None:
        self.run = run
        self.judged = judged

    def place(self, name: str) -> int | None:
        if name not in self.run:
            return None
        key = (-self.run[name], name)
        return 1 + len([other for other, score in self.run.items() if (-score, other) < key])

    def recall(self, cut: int) -> float:
        hits = sum((self.place(name) or cut + 1) <= cut for name in self.judged)
        return float(Fraction(hits, len(self.judged)))

    def reciprocal_rank(self) -> float:
        places = [place for name in self.judged if (place := self.place(name))]
        return 1 / min(places) if places else 0.0

    def ndcg(self, cut: int) -> float:
        gained = 0.0
        for name, worth in self.judged.items():
            place = self.place(name)
            if place is not None and place <= cut:
                gained += worth * log(2) / log(place + 1)
        best = 0.0
        left = list(self.judged.values())
        for place in range(1, min(cut, len(left)) + 1):
            best += max(left) * log(2) / log(place + 1)
            left.remove(max(left))
        return gained / best


def ranked(run: dict[str, float]) -> list[str]:
    return [name for _, name in sorted((-score, name) for name, score in run.items())]


# name: scores, judgements, and by hand: recall at 5, reciprocal rank, nDCG at 10
BY_HAND = {
    "first": ({"a": 3, "b": 2, "c": 1}, {"a": 1}, 1.0, 1.0, 1.0),
    "second": ({"b": 3, "a": 2, "c": 1}, {"a": 1}, 1.0, 0.5, 1 / log2(3)),
    "a tie that the id decides": ({"a": 2, "b": 2, "c": 2}, {"c": 1}, 1.0, 1 / 3, 0.5),
    "missing": ({"b": 2, "c": 1}, {"a": 1}, 0.0, 0.0, 0.0),
    "half missing": ({"a": 2, "c": 1}, {"a": 1, "b": 1}, 0.5, 1.0, 1 / (1 + 1 / log2(3))),
    "nothing came back": ({}, {"a": 1}, 0.0, 0.0, 0.0),
    "false ids before it": ({"x": 9, "y": 8, "z": 7, "a": 1}, {"a": 1}, 1.0, 0.25, 1 / log2(5)),
    "past the cut of five": ({**dict.fromkeys("bcdef", 5), "z": 1}, {"z": 1}, 0.0, 1 / 6, 1 / log2(7)),
    "past the cut of ten": ({**dict.fromkeys("bcdefghijk", 5), "z": 1}, {"z": 1}, 0.0, 1 / 11, 0.0),
    "grades in the wrong order": ({"a": 2, "b": 1}, {"a": 1, "b": 3}, 1.0, 1.0, (1 + 3 / log2(3)) / (3 + 1 / log2(3))),
}  # fmt: skip


@pytest.mark.parametrize(("run", "judged", "at_5", "first", "gain"), BY_HAND.values(), ids=BY_HAND)
def test_metrics_are_what_they_are_by_hand(run, judged, at_5, first, gain):
    ranking, second = ranked(run), Second(run, judged)
    assert isclose(recall(ranking, judged, 5), at_5)
    assert isclose(reciprocal_rank(ranking, judged), first)
    assert isclose(ndcg(ranking, judged, 10), gain)
    assert isclose(second.recall(5), at_5)
    assert isclose(second.reciprocal_rank(), first)
    assert isclose(second.ndcg(10), gain)


IDS = [f"d{number:02}" for number in range(20)]


@given(
    st.dictionaries(st.sampled_from(IDS), st.integers(0, 3).map(float)),
    st.dictionaries(st.sampled_from(IDS), st.integers(1, 3), min_size=1),
    st.integers(1, 12),
)
def test_metrics_agree_with_the_second_computation(run, judged, cut):
    """Ties, missing ids and ids that nobody judged, over any ranking and any cut."""
    ranking, second = ranked(run), Second(run, judged)
    assert isclose(recall(ranking, judged, cut), second.recall(cut))
    assert isclose(reciprocal_rank(ranking, judged), second.reciprocal_rank())
    assert isclose(ndcg(ranking, judged, cut), second.ndcg(cut), abs_tol=1e-12)


def test_a_reciprocal_rank_may_be_cut():
    assert reciprocal_rank(["x", "y", "a"], {"a"}, 3) == 1 / 3
    assert reciprocal_rank(["x", "y", "a"], {"a"}, 2) == 0.0


@pytest.mark.parametrize(
    ("ranking", "order", "right", "pairs"),
    [
        (["a", "b"], ["a", "b"], 1, 1),
        (["b", "a"], ["a", "b"], 0, 1),
        (["a", "x", "b"], ["a", "b"], 1, 1),
        (["a"], ["a", "b"], 0, 1),
        ([], ["a", "b", "c"], 0, 3),
        (["a", "b", "c"], ["a", "b", "c"], 3, 3),
        (["c", "a", "b"], ["a", "b", "c"], 1, 3),
        (["a", "c"], ["a", "b", "c"], 1, 3),
    ],
)
def test_pairs_count_where_both_stand_in_order(ranking, order, right, pairs):
    assert pairs_in_order(ranking, order) == (right, pairs)


@pytest.mark.parametrize(
    ("values", "percent", "expected"),
    [
        ([7], 95, 7),
        (range(1, 101), 95, 95),
        (range(1, 21), 95, 19),
        ([3, 1, 2], 50, 2),
        (range(1, 26), 95, 24),
        ([2, 1], 0, 1),
    ],
)
def test_a_percentile_is_a_value_that_was_measured(values, percent, expected):
    assert percentile(list(values), percent) == expected


def test_the_mean_of_nothing_is_not_defined():
    assert mean([]) is None
    assert mean([1.0, 0.0]) == 0.5
