"""A memory whose files were all read answers as `search` and `timeline` always did."""

import pytest
from support.records import record

from cortex.memory import Memory, ReadMemory
from cortex.retrieval import two_cores
from cortex.retrieval.analyzer import analyse_query
from cortex.retrieval.filters import Filters
from cortex.retrieval.search import rank
from policies.timestamps import parse_timestamp

NOW = parse_timestamp("2026-08-01") or 0
RECORDS = [
    record("a", "oak oak"),
    record("b", "oak and elm", type="idea", updated="2026-05-01"),
    record("old", "oak", valid_until="2026-08-01"),
    record("new", "oak", valid_from="2026-08-01"),
    record("late", "oak", valid_from="2026-08-02"),
]
QUERY = analyse_query("oak elm", "auto")


def test_it_holds_what_was_read():
    memory: Memory = ReadMemory("/root", RECORDS, ())
    assert (memory.root, len(memory), memory.notes, memory.indexes) == ("/root", 5, (), ())


@pytest.mark.parametrize("name", [each.id for each in RECORDS])
def test_a_record_is_found_whether_it_is_valid_or_not(name: str):
    found = ReadMemory("/root", RECORDS, ()).find(name)
    assert (found and found.id) == name


def test_what_is_not_there_is_none():
    assert ReadMemory("/root", RECORDS, ()).find("ghost") is None
    assert ReadMemory("/root", (), ()).find("") is None


def test_what_is_listed_is_what_is_valid_and_is_the_record_itself():
    memory = ReadMemory("/root", RECORDS, ())
    listed = memory.listed(NOW)
    assert [each.id for each in listed] == ["a", "b", "new"]
    assert all(memory.load(each) is each for each in listed)


@pytest.mark.parametrize("filters", [Filters(), Filters(type="idea"), Filters(source="none")], ids=str)
@pytest.mark.parametrize("recency", [0.0, 1e6])
def test_its_ranking_is_that_of_its_valid_records(filters: Filters, recency: float):
    ranking = ReadMemory("/root", RECORDS, ()).rank(QUERY, filters, recency, NOW)
    expected = rank([RECORDS[0], RECORDS[1], RECORDS[3]], QUERY, filters, recency)
    assert (list(ranking.hits), ranking.statistics) == (list(expected.hits), expected.statistics)
    assert ranking.hits.ids() == [hit.id for hit in expected.hits]
    for place, hit in enumerate(expected.hits, 1):
        assert ranking.hits.place_of(hit.id) == (place, hit.score)


def test_a_second_core_is_asked_only_where_the_process_may_fork(monkeypatch: pytest.MonkeyPatch):
    asked: list[int] = []
    real = two_cores.profile_on_two_cores

    def counting(profiler, records):
        asked.append(len(records))
        return real(profiler, records)

    monkeypatch.setattr(two_cores, "profile_on_two_cores", counting)
    rankings = [
        ReadMemory("/root", RECORDS, (), may_fork=may).rank(QUERY, Filters(), 0.0, NOW).hits.ids()
        for may in (False, True)
    ]
    assert (rankings[0], asked) == (rankings[1], [3])
