"""BM25: against a second, naive computation, and the cases that trip implementations."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex.retrieval.analyzer import Profiler, analyse_query, ascii_terms
from cortex.retrieval.bm25 import collect_statistics, score, shares

WORDS = st.lists(st.sampled_from(["pink", "windy", "oak", "a"]), max_size=12).map(" ".join)


def scores(query: str, documents: list[str]) -> list[float]:
    analysed = analyse_query(query, "ascii")
    profiles = [Profiler(analysed)(document) for document in documents]
    statistics = collect_statistics(profiles, len(analysed.terms))
    return [score(profile, statistics) for profile in profiles]


def naive(query: str, documents: list[str]) -> list[float]:
    tokens = [ascii_terms(document) for document in documents]
    average = max(1, sum(map(len, tokens)) / len(tokens))
    result = []
    for document in tokens:
        total = 0.0
        for term in dict.fromkeys(ascii_terms(query)):
            df = sum(term in other for other in tokens)
            tf = document.count(term)
            idf = math.log(1 + (len(tokens) - df + 0.5) / (df + 0.5))
            total += idf * tf * 2.5 / (tf + 1.5 * (0.25 + 0.75 * len(document) / average))
        result.append(total)
    return result


@given(st.sampled_from(["pink", "windy pink", "oak a a"]), st.lists(WORDS, min_size=1, max_size=8))
def test_scores_are_those_of_the_formula(query, documents):
    assert scores(query, documents) == pytest.approx(naive(query, documents), abs=1e-12)


def test_a_term_in_one_of_two_notes_scores_above_zero():
    assert scores("windy", ["windy day", "calm day"])[0] > 0


def test_a_term_in_every_note_still_scores_and_more_of_it_ranks_first():
    once, often, again = scores("pink", ["pink a b c d e f g h i", "pink " * 10, "pink a b c d e f g h i"])
    assert often > once > 0
    assert once == again


def test_a_single_note_can_be_found():
    assert scores("pink", ["pink"])[0] > 0


def test_no_documents_have_statistics_of_their_own():
    assert collect_statistics([], 2).documents == 0


def test_a_documents_shares_add_up_to_its_score():
    analysed = analyse_query("pink windy", "ascii")
    profiles = [Profiler(analysed)(text) for text in ("pink windy windy", "oak", "pink")]
    statistics = collect_statistics(profiles, 2)
    assert sum(shares(profiles[0], statistics)) == score(profiles[0], statistics)
