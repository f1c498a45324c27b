"""What a tick makes of an index: fresh is left, changed is refreshed, damaged is said and left."""

import json
import os

import pytest
from index.corpora import note, put
from support.indexes import NOTE, adopt, say
from support.sleepers import DAY, HOUR, configure, later, tick
from support.stores import AGENT, NOW, OPERATOR, Memory
from support.trees import fingerprint

MANIFEST = "INDEX/index-manifest.json"


def manifest(memory: Memory) -> dict[str, str]:
    return json.loads((memory.root / MANIFEST).read_bytes())


def allowed(memory: Memory) -> Memory:
    configure(memory, "index_refresh", "true")
    return memory


def index_of(memory: Memory) -> dict[str, tuple[int, int, str]]:
    return {name: what for name, what in fingerprint(memory.root).items() if name.startswith("INDEX/")}


def told(memory: Memory, *words: str) -> tuple[str, list[str]]:
    """Do what is due; return what became of the index, and the warnings."""
    done = tick(memory, *words)
    return done["index"], done["warnings"]


def test_a_tick_that_may_not_does_nothing_and_says_nothing(adopted: Memory):
    put(adopted.root, "KNOWLEDGE/late.md", note("Late.", id="late"))
    before = index_of(adopted)
    done = tick(later(adopted, 2 * DAY))
    assert ("index" in done, done["warnings"], index_of(adopted)) == (False, [], before)


def test_where_it_was_taken_back_a_tick_does_nothing_again(adopted: Memory):
    allowed(adopted)
    assert told(adopted)[0] == "fresh"
    configure(adopted, "index_refresh", "false")
    assert "index" not in tick(later(adopted, 2 * DAY))


@pytest.mark.parametrize("how", ["no index", "built and not adopted", "dropped"])
def test_without_an_adopted_index_a_tick_says_that_none_is_adopted(memory: Memory, how: str):
    if how == "built and not adopted":
        memory.call("index", "build", *OPERATOR)
    if how == "dropped":
        adopt(memory.root)
        memory.call("index", "drop", *OPERATOR)
    before = index_of(memory)
    assert told(later(allowed(memory), 2 * DAY)) == ("none is adopted", [])
    assert index_of(memory) == before


def test_an_index_that_nothing_has_changed_since_is_left(adopted: Memory):
    before = index_of(adopted)
    for hours in (0, 1, 23):
        assert told(later(allowed(adopted), hours * HOUR)) == ("fresh", [])
    assert index_of(adopted) == before


CHANGES = {
    "a new file": lambda root: put(root, "KNOWLEDGE/late.md", note("Late.", id="late")),
    "another content": lambda root: put(root, "KNOWLEDGE/elm.md", note("An elm no more.", id="elm")),
    "another time": lambda root: os.utime(root / "KNOWLEDGE/elm.md", ns=(7, 7)),
    "a file that is gone": lambda root: (root / "KNOWLEDGE/elm.md").unlink(),
    "another name": lambda root: (root / "KNOWLEDGE/elm.md").rename(root / "KNOWLEDGE/tree.md"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_an_index_is_refreshed_after_a_change_and_then_fresh(adopted: Memory, change):
    adoption = (adopted.root / "INDEX/adoption.json").read_bytes()
    change(adopted.root)
    hour = later(allowed(adopted), HOUR)
    assert told(hour) == ("refreshed", [])
    assert manifest(adopted)["indexed_at"] == "2026-08-01T13:00:00.000Z"
    assert adopted.call("index", "verify").data["adopted"]
    assert (adopted.root / "INDEX/adoption.json").read_bytes() == adoption
    assert told(hour) == ("fresh", [])
    rows = [row for row in adopted.rows("memory-writes.jsonl") if row["path"] == MANIFEST]
    assert [(row["act"], row["actor"]) for row in rows[-2:]] == [("index refresh", "claude")] * 2


@pytest.mark.parametrize(("age", "outcome"), [(DAY - 1, "fresh"), (DAY, "refreshed"), (9 * DAY, "refreshed")])
def test_an_index_is_proven_anew_when_it_is_a_day_old(adopted: Memory, age: int, outcome: str):
    assert told(later(allowed(adopted), age)) == (outcome, [])


def test_an_index_of_the_future_is_refreshed_so_that_it_proves_something(memory: Memory):
    adopt(memory.root, now=NOW + 3 * DAY)
    assert told(allowed(memory)) == ("refreshed", [])
    assert manifest(memory)["indexed_at"] == "2026-08-01T12:00:00.000Z"


@pytest.mark.parametrize("ahead", [2, 400], ids=["days", "years"])
def test_a_file_that_no_index_can_rely_on_is_refreshed_for_only_once_it_has_changed(adopted: Memory, ahead: int):
    path = adopted.root / "KNOWLEDGE/elm.md"
    future = (NOW + ahead * DAY) * 10**6 + 10**18
    os.utime(path, ns=(future, future))
    assert [told(allowed(adopted))[0] for _ in range(3)] == ["refreshed", "fresh", "fresh"]
    path.write_bytes(path.read_bytes().replace(b"elm", b"ash"))
    os.utime(path, ns=(future, future))
    assert [told(adopted)[0] for _ in range(2)] == ["refreshed", "fresh"]


DAMAGES = {
    "a manifest that is none": lambda root: (root / MANIFEST).write_text("{"),
    "a table that is cut": lambda root: os.truncate(root / "INDEX/lexical-1.json", 9),
    "a table that is gone": lambda root: (root / "INDEX/lexical-1.json").unlink(),
    "blocks that are gone": lambda root: (root / "INDEX/lexical-1.blocks").unlink(),
    "blocks that are empty": lambda root: os.truncate(root / "INDEX/lexical-1.blocks", 0),
    "an adoption that is none": lambda root: (root / "INDEX/adoption.json").write_text("{}"),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_an_index_that_is_damaged_is_left_and_said(adopted: Memory, damage):
    damage(adopted.root)
    before = index_of(adopted)
    put(adopted.root, "KNOWLEDGE/late.md", note("Late.", id="late"))
    outcome, warnings = told(later(allowed(adopted), HOUR))
    assert (outcome, len(warnings), index_of(adopted)) == ("refused", 1, before)
    assert warnings[0].startswith("the index was not refreshed: ")
    assert say(adopted.root, "search", "oak").notes.startswith(NOTE)


def test_a_memory_that_is_not_sound_does_not_fail_the_tick(adopted: Memory):
    put(adopted.root, "KNOWLEDGE/bad.jsonl", "{")
    before = index_of(adopted)
    said = later(allowed(adopted), HOUR).call("sleep", "tick", *AGENT)
    assert (said.exit, said.data["index"]) == (0, "refused")
    assert said.data["warnings"] == [
        "the index was not refreshed: KNOWLEDGE/bad.jsonl, line 1: is no strict JSON: not valid JSON"
    ]
    assert index_of(adopted) == before
    (adopted.root / "KNOWLEDGE/bad.jsonl").unlink()
    assert told(later(adopted, HOUR))[0] in {"fresh", "refreshed"}


def test_what_a_tick_says_of_its_index_stands_beside_the_rest(adopted: Memory):
    plain = tick(adopted)
    said = tick(allowed(adopted))
    assert {key: value for key, value in said.items() if key != "index"} == plain
    assert list(said)[-1] == "index"
