"""Counting on two cores: the same numbers, whatever becomes of the child."""

import json
import os

import pytest
from support.asking import write
from support.records import record

from cortex import second_core
from cortex.arguments import Host
from cortex.cli import answer
from cortex.retrieval import two_cores
from cortex.retrieval.analyzer import Profile, Profiler, analyse_query
from cortex.retrieval.search import profile_each
from cortex.retrieval.two_cores import profile_on_two_cores

RECORDS = [record(f"r{number}", "oak elm " * number + "橡树") for number in range(9)]


@pytest.fixture
def forks(monkeypatch):
    """Fork whatever the size and the load; return the pids of the children."""
    children = []
    fork = os.fork

    def counted():
        child = fork()
        if child:
            children.append(child)
        return child

    monkeypatch.setattr(two_cores, "WORTH_A_FORK", 0)
    monkeypatch.setattr(second_core, "is_there", lambda: True)
    monkeypatch.setattr(os, "fork", counted)
    return children


@pytest.mark.parametrize("query", ["oak", "oak elm fir", "橡树 oak"])
@pytest.mark.parametrize("count", [2, 3, 9])
def test_two_cores_count_what_one_counts(forks, query, count):
    profiler = Profiler(analyse_query(query, "auto"))
    assert profile_on_two_cores(profiler, RECORDS[:count]) == profile_each(profiler, RECORDS[:count])
    assert len(forks) == 1


@pytest.mark.parametrize("count", [0, 1])
def test_what_has_no_halves_is_counted_here(forks, count):
    profiler = Profiler(analyse_query("oak", "auto"))
    assert profile_on_two_cores(profiler, RECORDS[:count]) == profile_each(profiler, RECORDS[:count])
    assert forks == []


class _OnlyInTheParent(Profiler):
    """A profiler that fails in any process but the one that made it."""

    def __init__(self, query):
        super().__init__(query)
        self._home = os.getpid()

    def __call__(self, text) -> Profile:
        if os.getpid() != self._home:
            os._exit(3)
        return super().__call__(text)


def test_the_parent_counts_both_halves_where_the_child_fails(forks):
    query = analyse_query("oak", "auto")
    counted = profile_on_two_cores(_OnlyInTheParent(query), RECORDS)
    assert counted == profile_each(Profiler(query), RECORDS)
    assert len(forks) == 1


def test_a_small_memory_is_not_worth_a_fork(monkeypatch):
    monkeypatch.setattr(os, "fork", lambda: pytest.fail("it forked"))
    profile_on_two_cores(Profiler(analyse_query("oak", "auto")), RECORDS)


@pytest.mark.parametrize("may_fork", [True, False])
def test_a_rebuild_is_the_same_with_a_child_and_without(forks, tmp_path, may_fork):
    write(tmp_path, a_md="---\nid: a\n---\noak\n")
    output, status = answer(
        ["rebuild", "--from-canonical", "--memory-root", str(tmp_path)], Host({}, lambda: 0, may_fork=may_fork)
    )
    assert (status, json.loads(output)["data"]["equivalent"]) == (0, True)
    assert len(forks) == may_fork


def test_a_rebuild_of_an_unsound_memory_refuses_and_leaves_no_child(forks, tmp_path):
    write(tmp_path, a_md="---\ncreated: soon\n---\n")
    words = ["rebuild", "--from-canonical", "--memory-root", str(tmp_path)]
    output, _ = answer(words, Host({}, lambda: 0, may_fork=True))
    assert json.loads(output)["error"]["code"] == "integrity_error"
    for child in forks:
        with pytest.raises(ChildProcessError):
            os.waitpid(child, 0)
