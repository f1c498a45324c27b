"""The ranking from postings is the ranking of all the files: the same records, the same scores to the last bit."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from index.corpora import indexed, laid_over, note, put, row, write_rich
from support.indexes import adopt, both_ways
from support.stores import Memory

from cortex.corpus.reader import read_corpus
from cortex.corpus.record import Record
from cortex.corpus.root import pin
from cortex.errors import CortexError
from cortex.index import postings
from cortex.index.layout import IndexDoubtError
from cortex.index.memory import IndexedMemory
from cortex.memory import ReadMemory
from cortex.retrieval.analyzer import analyse_query
from cortex.retrieval.filters import Filters, is_valid

DAY = 86_400_000
START = 1_767_225_600_000  # 2026-01-01
NOW = START + 15 * DAY
WORDS = [
    "oak",
    "Oak",
    "elm",
    "elms",
    "fir",
    "桥",
    "桥樑",
    "橡树的",
    "мост",
    "Ünal",
    "K",
    "ﬁr",
    "1",
    "<private>s3cret</private>",
]
TEXT = st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join)
DATE = st.integers(1, 28).map(lambda day: f"2026-01-{day:02d}")
ROW = st.fixed_dictionaries(
    {"content": TEXT.map(lambda text: f". {text}"), "created": DATE, "type": st.sampled_from(["idea", "note"])},
    optional={
        "title": st.sampled_from(["oak", "Title", "桥樑"]),
        "source": st.sampled_from(["desk", "log"]),
        "source_session": st.sampled_from(["s1", "s2"]),
        "valid_from": st.sampled_from(["2026-01-10", "2026-01-16", "2026-01-16T00:00:00.001Z"]),
        "valid_until": st.sampled_from(["2026-01-17", "2026-01-20", "2027-01-01"]),
    },
)
CORPUS = st.lists(st.lists(ROW, max_size=4), max_size=5)
FILTERS = st.builds(
    Filters,
    st.sampled_from([None, None, "idea", "note", "none"]),
    st.sampled_from([None, None, None, "desk", "canonical"]),
    st.sampled_from([None, None, None, "s1"]),
    st.sampled_from([None, None, START + 5 * DAY]),
    st.sampled_from([None, None, START + 20 * DAY]),
)
QUERY = st.lists(st.sampled_from([word for word in WORDS if "<" not in word]), min_size=1, max_size=4).map(" ".join)


def write(root: Path, number: int, rows: list[dict[str, Any]], *, anew: bool = False) -> None:
    """Write a file of the corpus: a note where it holds one record of an even number, else rows."""
    rows = [{"updated": each["created"], **each} for each in rows]
    if number % 2 == 0 and len(rows) == 1:
        fields = {key: value for key, value in rows[0].items() if key != "content"}
        put(
            root,
            f"KNOWLEDGE/{number}.md",
            note(rows[0]["content"] + (" oak" if anew else ""), id=f"n{number}", **fields),
        )
        return
    lines = [row(f"r{number}-{at}", **each) for at, each in enumerate(rows)]
    put(root, f"KNOWLEDGE/{number}.jsonl", "\n".join(lines[::-1] if anew else lines))


def read(root: Path) -> ReadMemory:
    with pin(root) as pinned:
        reading = read_corpus(pinned, stop_at_first_fault=True)
        return ReadMemory(pinned.path, reading.records, reading.notes)


def assert_same(memory: IndexedMemory, other: ReadMemory, text: str, filters: Filters, recency: float) -> None:
    """Compare everything that a ranking can be asked."""
    for analyzer in ("ascii", "unicode"):
        query = analyse_query(text, analyzer)
        if not query.terms:
            continue
        mine, theirs = (each.rank(query, filters, recency, NOW) for each in (memory, other))
        assert mine.statistics == theirs.statistics
        assert len(mine.hits) == len(theirs.hits)
        expected = list(theirs.hits)
        assert list(mine.hits) == expected
        assert mine.hits.ids() == [hit.id for hit in expected]
        for size in (1, 2, 5):
            for start in range(0, len(expected) + size, size):
                assert list(mine.hits[start : start + size]) == expected[start : start + size]
        for place, hit in enumerate(expected, 1):
            assert mine.hits.place_of(hit.id) == (place, hit.score)


def check(corpus, changed, query, filters, recency, size) -> None:
    with TemporaryDirectory() as folder, patch.object(postings, "POSTINGS_A_BLOCK", size):
        root = Path(folder)
        for number, rows in enumerate(corpus):
            write(root, number, rows)
        _, index = indexed(root)
        for number, how in changed.items():
            files = list(root.glob(f"KNOWLEDGE/{number}.*"))
            if how == "gone":
                [file.unlink() for file in files]
            elif number < len(corpus):
                write(root, number, corpus[number], anew=True)
            else:
                write(root, number, [{"content": "oak 桥樑", "created": "2026-01-03", "type": "idea"}])
        with laid_over(root, index) as memory:
            other = read(root)
            assert len(memory) == len(other)
            assert sorted(memory.notes) == sorted(other.notes)
            assert_same(memory, other, query, filters, recency)


CHANGED = st.dictionaries(st.integers(0, 6), st.sampled_from(["gone", "written anew"]), max_size=3)
ARGUMENTS = (CORPUS, CHANGED, QUERY, FILTERS, st.sampled_from([0.0, 0.0, 1.0, 1e6, 0.1]), st.sampled_from([1, 4, 8192]))


@settings(max_examples=120, deadline=None)
@given(*ARGUMENTS)
def test_a_ranking_by_index_is_the_ranking_of_all_files(corpus, changed, query, filters, recency, size):
    """Hits, scores, ids, places, pages and statistics are equal bit for bit, whatever has changed since."""
    check(corpus, changed, query, filters, recency, size)


@pytest.mark.proof
@settings(max_examples=1500, deadline=None)
@given(*ARGUMENTS)
def test_a_ranking_by_index_is_the_ranking_of_all_files_at_length(corpus, changed, query, filters, recency, size):
    """As above, more often."""
    check(corpus, changed, query, filters, recency, size)


def test_ties_go_by_id_whatever_the_order_of_the_files(tmp_path: Path):
    for place, name in enumerate(["c", "a", "é", "Z", "b", "aa"] * 5):
        put(tmp_path, f"KNOWLEDGE/{place:02d}.md", note("oak", id=f"{name}{place % 7}{place}", title="T"))
    _, index = indexed(tmp_path)
    with laid_over(tmp_path, index) as memory:
        hits = memory.rank(analyse_query("oak", "auto"), Filters(), 0.0, NOW).hits
        assert hits.ids() == sorted(read_id for read_id in index.ids)
        assert [hit.id for hit in hits[:3]] == list(hits.ids())[:3]
        assert_same(memory, read(tmp_path), "oak", Filters(), 0.0)


@pytest.mark.parametrize("recency", [0.0, 1e6])
def test_a_page_far_down_is_the_page_of_the_whole_order(tmp_path: Path, recency: float):
    lines = [row(f"r{n}", "oak " * (1 + n % 5), updated=f"2026-03-{2 + n % 20:02d}") for n in range(200)]
    put(tmp_path, "KNOWLEDGE/rows.jsonl", "\n".join(lines))
    _, index = indexed(tmp_path)
    with laid_over(tmp_path, index) as memory:
        query = analyse_query("oak", "auto")
        hits = memory.rank(query, Filters(), recency, NOW).hits
        expected = list(read(tmp_path).rank(query, Filters(), recency, NOW).hits)
        for start in (0, 1, 20, 24, 25, 26, 150, 195, 200, 10**9):
            assert list(hits[start : start + 5]) == expected[start : start + 5]


def test_only_what_is_shown_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in "abc":
        put(tmp_path, f"KNOWLEDGE/{name}.md", note("oak", id=name))
    _, index = indexed(tmp_path)
    opened: list[int] = []
    load = IndexedMemory.record

    def counting(self: IndexedMemory, number: int) -> Record:
        opened.append(number)
        return load(self, number)

    monkeypatch.setattr(IndexedMemory, "record", counting)
    with laid_over(tmp_path, index) as memory:
        hits = memory.rank(analyse_query("oak", "auto"), Filters(), 0.0, NOW).hits
        assert (len(hits), hits.ids(), hits.place_of("b")[0]) == (3, ["a", "b", "c"], 2)
        assert opened == []
        assert [hit.id for hit in hits[1:2]] == ["b"]
        assert hits[3:9] == []
        assert opened == [1]


def found(memory: IndexedMemory, record_id: str) -> Record | None:
    """Return what an indexed memory finds; it does not say why something is not there, and refuses instead."""
    if memory.number_of(record_id) is not None:
        return memory.find(record_id)
    with pytest.raises(CortexError, match="the index has no record of that id"):
        memory.find(record_id)
    return None


def test_a_listing_is_what_a_listing_of_all_files_is(tmp_path: Path):
    write_rich(tmp_path)
    _, index = indexed(tmp_path)
    put(tmp_path, "KNOWLEDGE/elm.md", note("An elm.", id="elm", type="tree", created="2026-04-04"))
    put(tmp_path, "KNOWLEDGE/late.md", note("Late.", id="late"))
    other = read(tmp_path)
    with laid_over(tmp_path, index) as memory:
        assert (memory.is_whole, len(memory)) == (False, len(other))
        for now in (NOW, 0, 10**13):
            mine, theirs = (
                sorted((each.id, each.type, each.provenance, each.created_ms) for each in which.listed(now))
                for which in (memory, other)
            )
            assert mine == theirs
            assert sorted(map(memory.load, memory.listed(now))) == sorted(other.listed(now))
        for name in [*index.ids, "late", "ghost", ""]:
            assert found(memory, name) == other.find(name)
            assert (memory.number_of(name) is None) is (other.find(name) is None)


def test_a_record_whose_file_has_changed_since_is_found_anew_or_not_at_all(tmp_path: Path):
    path = put(tmp_path, "KNOWLEDGE/rows.jsonl", "\n".join([row("a", "oak"), row("b", "oak")]))
    put(tmp_path, "KNOWLEDGE/other.md", note("oak", id="o"))
    _, index = indexed(tmp_path)
    put(tmp_path, "KNOWLEDGE/rows.jsonl", row("b", "oak and elm"))
    with laid_over(tmp_path, index) as memory:
        assert (found(memory, "a"), memory.number_of("a"), len(memory)) == (None, None, 2)
        assert memory.find("b") == read(tmp_path).find("b")
        assert memory.live.paths == {"KNOWLEDGE/rows.jsonl"}
        # The file changes once more, under the open memory: what was read of it stays as it was.
        path.write_text(row("b", "fir"), encoding="utf-8")
        assert memory.find("b") is not None
        (tmp_path / "KNOWLEDGE/other.md").write_text(note("elm!", id="o"), encoding="utf-8")
        with pytest.raises(IndexDoubtError, match="changed while it was asked"):
            memory.find("o")


QUERIES = [
    ("search", "oak"),
    ("search", "oak bridge", "--page-size", "2", "--page", "2"),
    ("search", "oak", "--recency", "1e6"),
    ("search", "橡树 桥樑 oak"),
    ("search", "мост", "--analyzer", "unicode"),
    ("search", "oak 桥", "--analyzer", "ascii"),
    ("search", "oak", "--type", "idea"),
    ("search", "oak", "--source", "log"),
    ("search", "oak", "--session", "s1"),
    ("search", "oak", "--session", "s9"),
    ("search", "oak", "--from", "2026-01-02", "--to", "2026-03-01"),
    *[("search", "oak", "--explain", name) for name in ("oak", "p2", "old", "new", "w1", "ghost", "r2")],
    ("search", "oak", "--explain", "oak", "--type", "x"),
    ("search", "oak", "--expand", "elm", "--max-nodes", "2"),
    ("search", "oak", "--expand", "r4"),
    ("search", "oak", "--expand", "old"),
    ("search", "?!"),
    ("search", "zebra"),
    ("timeline", "--anchor", "elm"),
    ("timeline", "--anchor", "2026-03-01", "--before", "3", "--after", "3", "--type", "note"),
    ("timeline", "--anchor", "old"),
    ("timeline", "--anchor", "ghost"),
    ("timeline", "--anchor", "r1", "--page-size", "2", "--page", "2"),
]


@pytest.mark.parametrize("words", QUERIES, ids=" ".join)
@pytest.mark.parametrize("is_changed", [False, True], ids=["whole", "changed"])
def test_every_answer_is_the_same_and_nothing_is_said(memory: Memory, words: tuple[str, ...], is_changed: bool):
    adopt(memory.root)
    if is_changed:
        put(memory.root, "KNOWLEDGE/fir.md", note("Another fir, an oak.", id="fir"))
        put(memory.root, "KNOWLEDGE/late.md", note("Late oak <private>x</private>", id="late"))
        (memory.root / "KNOWLEDGE/plain.jsonl").unlink()
    through, without = both_ways(memory.root, *words)
    assert (through.output, through.exit) == (without.output, without.exit)
    assert (through.notes, without.notes) == ("", "")


def test_validity_is_judged_at_the_time_of_the_call(adopted: Memory):
    for now in ("1960-01-01", "2026-01-31T23:59:59.999Z", "2026-02-01", "2027-02-01", "2030-01-01"):
        through, without = both_ways(adopted.root, "search", "oak", "--now", now, "--page-size", "100")
        assert through == without
        shown = {card["id"] for card in json.loads(through.output)["data"]["items"]}
        assert ("old" in shown, "new" in shown) == (now < "2026-02-01", now >= "2027-02-01")


def test_the_records_that_are_let_through_are_those_of_the_filters(tmp_path: Path):
    write_rich(tmp_path)
    _, index = indexed(tmp_path)
    other = read(tmp_path)
    with laid_over(tmp_path, index) as memory:
        for filters in (
            Filters(type="idea"),
            Filters(session="s2"),
            Filters(created_from=START, created_to=START + DAY),
        ):
            hits = memory.rank(analyse_query("oak", "auto"), filters, 0.0, NOW).hits
            assert len(hits) > 0
            for hit in hits:
                assert filters.let_through(hit.record)
                assert is_valid(hit.record, NOW)
            assert_same(memory, other, "oak", filters, 0.5)
