"""Terms: what a query is cut into, and that counting over bytes agrees with cutting the whole document."""

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex.retrieval.analyzer import Profile, Profiler, analyse_query, ascii_terms, unicode_terms

TEXTS = st.text(st.sampled_from("ab AB1-_.é中文カなKİſß\n\u0301ท한ｆ²Ⅷ़ु😀"), max_size=40)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("", []),
        ("Alpha-beta_2", ["alpha", "beta", "2"]),
        ("café", ["caf"]),
        ("\u212aelvin", ["kelvin"]),
        ("部署 v2", ["v2"]),
        ("a\x00b", ["a", "b"]),
    ],
)
def test_the_ascii_analyzer_takes_runs_of_letters_and_digits(text, terms):
    assert ascii_terms(text) == terms


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("部署 回滚策略", ["部署", "回滚", "滚策", "策略"]),
        ("策", ["策"]),
        ("BBDown视频", ["bbdown", "视频"]),
        ("云工开物 300 元学生券", ["云工", "工开", "开物", "300", "元学", "学生", "生券"]),
        ("カタカナ ひら", ["カタ", "タカ", "カナ", "ひら"]),
        ("ﾊﾝｶｸ", ["ハン", "ンカ", "カク"]),
        ("한국어", ["한국", "국어"]),
        ("ไทย", ["ไท", "ทย"]),
        ("café CAFE\u0301", ["café", "café"]),
        ("Straße", ["strasse"]),
        ("snake_case", ["snake", "case"]),
        ("हिन्दी", ["हिन्दी"]),
        ("ｆｕｌｌ", ["full"]),
        ("😀!", []),
    ],
)
def test_the_unicode_analyzer_takes_words_and_pairs(text, terms):
    assert unicode_terms(text) == terms


@pytest.mark.parametrize(
    ("text", "analyzer", "expected"),
    [
        ("a b a", "auto", ("ascii", ("a", "b"), 3)),
        ("学生券 a", "auto", ("unicode", ("学生", "生券", "a"), 2)),
        ("学生券 a", "ascii", ("ascii", ("a",), 1)),
        ("A_b", "unicode", ("unicode", ("a", "b"), 2)),
    ],
)
def test_a_query_knows_its_analyzer_its_distinct_terms_and_its_words(text, analyzer, expected):
    assert analyse_query(text, analyzer) == expected


@given(TEXTS)
def test_ascii_terms_are_those_of_the_rule(text):
    assert ascii_terms(text) == re.findall("[a-z0-9]+", text.lower())


@given(TEXTS, st.sampled_from(["ascii", "unicode"]))
def test_a_profile_counts_what_cutting_the_whole_document_counts(text, analyzer):
    query = analyse_query("a ab b aa é 中文 中 a1 1 なカ", analyzer)
    terms = ascii_terms(text) if analyzer == "ascii" else unicode_terms(text)
    found = Counter(terms)

    assert Profiler(query)(text) == Profile(len(terms), tuple(found[term] for term in query.terms))


@pytest.mark.parametrize("text", ["a a", "a a a", "a-a", "aa a a aa", "a\na"])
def test_adjacent_repeats_are_all_counted(text):
    profile = Profiler(analyse_query("a", "ascii"))(text)

    assert profile.counts == (ascii_terms(text).count("a"),)
