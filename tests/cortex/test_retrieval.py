"""Filters, validity, cards, paging, ranking, expansion and timeline, over records made by hand."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.records import record

from cortex.retrieval.analyzer import analyse_query
from cortex.retrieval.cards import Budget, Page, card, estimate_tokens, listing
from cortex.retrieval.filters import Filters, is_valid
from cortex.retrieval.graph import Graph, expand
from cortex.retrieval.search import explain, rank
from cortex.retrieval.timeline import Window, around_instant, around_record, in_order
from policies.timestamps import parse_timestamp

DAY = 86_400_000
NO_FILTERS = Filters()


def ids(records):
    return [found.id for found in records]


def found(records, query, *, filters=NO_FILTERS, recency=0.0):
    return ids(hit.record for hit in rank(records, analyse_query(query, "auto"), filters, recency).hits)


@pytest.mark.parametrize(
    ("content", "tokens"),
    [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("汉字汉字", 1), ("😀😀", 1), ("😀😀a", 2), ("éé", 1)],
)
def test_tokens_are_a_quarter_of_the_utf16_length_rounded_up(content, tokens):
    assert estimate_tokens(content) == tokens


def test_a_card_holds_neither_title_nor_content():
    shown = card(record("a", "the content", title="the title", source="feed", session="s"), 1 / 3)
    assert shown == {
        "id": "a",
        "type": "note",
        "created": "2026-01-01",
        "updated": "2026-01-01",
        "provenance": {"source": "feed", "session": "s", "path": "KNOWLEDGE/a.md"},
        "score": 0.333333,
        "est_tokens": 3,
    }


@given(st.lists(st.integers(), max_size=30), st.integers(1, 7))
def test_pages_partition_the_rows(rows, size):
    pages = [listing(rows, Page(number, size), lambda row: {"row": row}) for number in range(1, len(rows) + 2)]
    assert [item["row"] for page in pages for item in page["items"]] == rows
    assert all(page["total"] == len(rows) for page in pages)


@pytest.mark.parametrize(
    ("valid_from", "valid_until", "now", "valid"),
    [
        (None, None, "2026-01-01", True),
        ("2026-01-01", None, "2026-01-01", True),
        ("2026-01-02", None, "2026-01-01", False),
        (None, "2026-01-01", "2026-01-01", False),
        (None, "2026-01-02", "2026-01-01", True),
    ],
)
def test_a_window_includes_its_start_and_not_its_end(valid_from, valid_until, now, valid):
    assert is_valid(record("a", valid_from=valid_from, valid_until=valid_until), parse_timestamp(now)) is valid


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(), ["a", "b"]),
        (Filters(type="idea"), ["b"]),
        (Filters(type="Idea"), []),
        (Filters(source="feed"), ["a"]),
        (Filters(session="s"), ["b"]),
        (Filters(created_from=DAY), ["b"]),
        (Filters(created_to=DAY - 1), ["a"]),
        (Filters(created_from=0, created_to=DAY), ["a", "b"]),
        (Filters(created_from=DAY, created_to=0), []),
    ],
)
def test_filters_match_exactly_and_include_both_ends(filters, expected):
    a = record("a", created="1970-01-01", source="feed")
    b = record("b", created="1970-01-02", type="idea", session="s")
    assert [r.id for r in (a, b) if filters.let_through(r)] == expected


def test_the_best_match_comes_first_whatever_the_order_of_the_records():
    records = [record("a", "oak"), record("b", "oak oak"), record("c", "elm"), record("d", "oak")]
    assert {tuple(found(order, "oak")) for order in permutations(records)} == {("b", "a", "d")}


def test_ties_go_by_id_by_code_point():
    records = [record(name, "oak") for name in ("é", "b", "B", "a10", "a9")]
    assert found(records, "oak") == ["B", "a10", "a9", "b", "é"]


def test_the_title_is_searched_too():
    assert found([record("a", "x", title="Oak tree"), record("b", "x")], "oak") == ["a"]


def test_recency_prefers_what_was_updated_lately_and_finds_nothing_more():
    records = [
        record("old", "oak oak oak oak", created="1970-01-02"),
        record("new", "oak", created="2026-01-01"),
        record("none", "elm", created="2026-01-01"),
    ]
    assert found(records, "oak") == ["old", "new"]
    assert found(records, "oak", recency=100.0) == ["new", "old"]


def test_an_explanation_accounts_for_the_score_term_by_term():
    records = [record("a", "oak elm oak"), record("b", "oak")]
    query = analyse_query("oak elm fir", "auto")
    ranking = rank(records, query, NO_FILTERS, 0.0)
    explained = explain(records[0], query, NO_FILTERS, ranking)
    assert (explained["found"], explained["rank"], explained["length"]) == (True, 1, 4)
    assert [(row["term"], row["tf"], row["df"]) for row in explained["terms"]] == [
        ("oak", 2, 2),
        ("elm", 1, 1),
        ("fir", 0, 0),
    ]
    assert sum(row["share"] for row in explained["terms"]) == pytest.approx(explained["score"], abs=2e-6)


@pytest.mark.parametrize(
    ("query", "filters", "reason"), [("fir", Filters(), "no term"), ("oak", Filters(type="idea"), "filter")]
)
def test_an_explanation_says_why_a_record_is_not_found(query, filters, reason):
    subject = record("a", "oak")
    analysed = analyse_query(query, "auto")
    ranking = rank([subject], analysed, filters, 0.0)
    assert explain(subject, analysed, filters, ranking) == {"id": "a", "found": False, "reason": reason}


def itself(subject):
    return subject


GRAPH = [
    record("a", "x" * 40, related=["b", "c", "a"]),
    record("b", "x" * 40, related=["d"]),
    record("c", "x" * 40, related=["d", "lost"]),
    record("d", "x" * 40, related=["a", "stem"]),
    record("e", "x" * 40, path="KNOWLEDGE/deep/stem.md"),
]


@pytest.mark.parametrize(
    ("nodes", "tokens", "expected", "truncated"),
    [
        (10, 2000, "abcde", False),
        (5, 50, "abcde", False),
        (4, 2000, "abcd", True),
        (1, 2000, "a", True),
        (10, 49, "abcd", True),
        (10, 9, "", True),
    ],
)
def test_an_expansion_is_breadth_first_within_both_budgets(nodes, tokens, expected, truncated):
    graph = Graph(GRAPH, itself)
    expansion = expand(graph, GRAPH[0], Budget(nodes, tokens))
    assert "".join(item["id"] for item in expansion["items"]) == expected
    assert expansion["truncated"] is truncated
    assert expansion["est_tokens"] == 10 * len(expected)


def test_a_stem_that_two_notes_share_names_neither():
    root = record("r", related=["same"])
    twins = [record("x", path="KNOWLEDGE/1/same.md"), record("y", path="KNOWLEDGE/2/same.md")]
    assert ids(Graph([root, *twins], itself).walk(root)) == ["r"]


def test_an_id_beats_a_stem_and_a_jsonl_file_has_none():
    root = record("r", related=["b", "rows"])
    records = [root, record("b"), record("c", path="KNOWLEDGE/b.md"), record("j", path="KNOWLEDGE/rows.jsonl")]
    assert ids(Graph(records, itself).walk(root)) == ["r", "b"]


DAYS = in_order([record(name, created=f"2026-01-0{day}") for name, day in zip("abcde", (1, 2, 2, 2, 5), strict=True)])


@pytest.mark.parametrize(
    ("anchor", "before", "after", "expected"),
    [("c", 1, 1, "bcd"), ("c", 0, 0, "c"), ("a", 5, 1, "ab"), ("e", 2, 5, "cde"), ("b", 1, 2, "abcd")],
)
def test_a_record_stands_between_its_neighbours_also_those_of_the_same_instant(anchor, before, after, expected):
    subject = next(r for r in DAYS if r.id == anchor)
    assert "".join(ids(around_record(DAYS, subject, Window(before, after)))) == expected


def test_an_anchor_that_the_filters_drop_leaves_its_neighbours():
    assert ids(around_record([r for r in DAYS if r.id != "c"], DAYS[2], Window(1, 1))) == ["b", "d"]


@pytest.mark.parametrize(
    ("instant", "before", "after", "expected"),
    [("2026-01-02", 5, 1, "ab"), ("2026-01-03", 2, 2, "cde"), ("2025-01-01", 3, 0, ""), ("2026-01-02", 0, 0, "")],
)
def test_an_instant_stands_in_front_of_what_was_created_then(instant, before, after, expected):
    assert "".join(ids(around_instant(DAYS, parse_timestamp(instant), Window(before, after)))) == expected
