"""The commands of cards: recall counts, search does not, nothing is removed, and what is printed is marked."""

import pytest
from support.sleepers import DAY, cards, configure, later
from support.stores import AGENT, OPERATOR, Memory, texts_below

from cortex.sleep.patterns import public_text


def add(memory: Memory, title: str, body: str = "It does.", *words: str):
    return memory.call("cards", "add", title, "--body", body, *words, *AGENT)


def test_a_fact_is_written_and_found(memory: Memory):
    card = add(memory, "Tide tables", "The ferry office keeps them.").data["card"]
    assert (card["id"], card["weight"], card["source"]) == ("fact:tide tables", 2.0, "manual")
    assert [item["id"] for item in memory.call("cards", "search", "where are the tables").data["items"]] == [card["id"]]


def test_recall_counts_and_search_does_not(memory: Memory):
    add(memory, "Tide tables")
    memory.call("cards", "search", "tide")
    assert cards(memory)["fact:tide tables"]["uses"] == 0
    memory.call("cards", "recall", "tide", *AGENT)
    card = cards(memory)["fact:tide tables"]
    assert (card["uses"], card["weight"], card["last_used"]) == (1, 2.2, "2026-08-01T12:00:00.000Z")


def test_recall_takes_the_best_few_and_search_eight(memory: Memory):
    for number in range(10):
        add(memory, f"Tide {number}")
    assert len(memory.call("cards", "recall", "tide", *AGENT).data["items"]) == 3
    assert len(memory.call("cards", "search", "tide").data["items"]) == 8
    configure(memory, "recall_limit", "5")
    assert len(memory.call("cards", "recall", "tide", *AGENT).data["items"]) == 5


def test_what_recall_prints_is_marked_and_never_learned(memory: Memory):
    add(memory, "Tide tables", "Unmistakable words.")
    host = memory.call("cards", "recall", "tide", *AGENT)
    import json

    assert "Unmistakable" in json.dumps(host.envelope)
    assert "Unmistakable" not in public_text(f"it failed: {json.dumps(host.envelope)}")


def test_a_recall_that_finds_nothing_writes_nothing(memory: Memory):
    assert memory.call("cards", "recall", "tide", *AGENT).data["items"] == []
    assert not (memory.root / "CORTEX/memory.jsonl").exists()


def test_a_forgotten_card_is_archived_and_can_be_revived(memory: Memory):
    add(memory, "Tide tables")
    assert memory.call("cards", "forget", "fact:tide tables", *OPERATOR).data["card"]["archived"]
    assert (cards(memory), list(cards(memory, "--archived"))) == ({}, ["fact:tide tables"])
    assert memory.call("cards", "search", "tide").data["items"] == []
    back = later(memory, 30 * DAY).call("cards", "revive", "fact:tide tables", *OPERATOR).data["card"]
    assert (back["archived"], back["weight"]) == (False, 1.0)


@pytest.mark.parametrize("act", ["forget", "revive"])
def test_a_card_that_is_not_there_is_not_found(memory: Memory, act: str):
    assert memory.call("cards", act, "fact:none", *OPERATOR).refusal == (3, "not_found")


def test_a_fact_told_again_takes_the_new_text_comes_back_and_weighs_more(memory: Memory):
    add(memory, "Tide tables", "Old.")
    memory.call("cards", "forget", "fact:tide tables", *OPERATOR)
    told = add(memory, "TIDE tables", "New.").data
    assert told["outcome"] == "changed"
    assert (told["card"]["body"], told["card"]["archived"], told["card"]["weight"]) == ("New.", False, 3.0)
    assert "Old." in texts_below(memory.root / "OBSERVABILITY/memory-snapshots")


def test_cards_are_listed_by_kind_and_counted(memory: Memory):
    add(memory, "Tide")
    add(memory, "Chain", "Read then edit.", "--kind", "playbook")
    assert list(cards(memory, "--kind", "playbook")) == ["playbook:chain"]
    stats = memory.call("cards", "stats").data
    assert (stats["cards"], stats["by_kind"], stats["by_source"]) == (2, {"fact": 1, "playbook": 1}, {"manual": 2})


def test_private_text_is_on_no_card(memory: Memory):
    add(memory, "Tide <private>s3cret</private>", "Body <private>s3cret</private> here.")
    assert cards(memory)["fact:tide"]["body"] == "Body  here."
    assert "s3cret" not in texts_below(memory.home)


@pytest.mark.parametrize(
    ("title", "body", "words", "code"),
    [("<private>all</private>", "b", AGENT, "invalid_input"), ("t", "<private>all</private>", AGENT, "invalid_input"),
     ("t\nu", "b", AGENT, "invalid_input"), ("t", "b\0", AGENT, "invalid_input"),
     ("t" * 1025, "b", AGENT, "invalid_input"),
     ("t", "b", (*AGENT, "--kind", "song"), "invalid_input"), ("t", "b", (), "write_refused"),
     ("t", "b", OPERATOR, "invalid_input")],
)  # fmt: skip
def test_what_is_no_fact_is_refused(memory: Memory, title, body, words, code):
    assert memory.call("cards", "add", title, "--body", body, *words).refusal[1] == code
    assert not (memory.root / "CORTEX/memory.jsonl").exists()


@pytest.mark.parametrize(
    ("words", "code"),
    [(("recall", "x"), "write_refused"), (("recall", "x", *OPERATOR), "invalid_input"),
     (("forget", "x", *AGENT), "write_refused"), (("forget", "x"), "write_refused"),
     (("add", "x", *AGENT), "invalid_input"),
     (("list", "--kind", "song"), "invalid_input")],
)  # fmt: skip
def test_each_command_is_for_whom_it_is(memory: Memory, words, code):
    assert memory.call("cards", *words).refusal[1] == code
