"""The consolidation vectors: 150 calls of the pure functions, all of which agree. Titles and bodies are our own."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from cortex.sleep.patterns import Event, Pattern, card_id, extract_patterns, tokens
from policies.noise import Alert, NoiseEntry, normalize_note, reduce_noise

LINES = (Path(__file__).parent / "vectors" / "consolidation.jsonl").read_text(encoding="utf-8").split("\n")
VECTORS = [json.loads(line) for line in LINES if line]


def _text(value):
    """The vectors hand in a flag too, as text: `true`."""
    return value if value is None or isinstance(value, str) else json.dumps(value)


def _card(pattern: Pattern) -> dict:
    return {
        "id": pattern.id,
        "t": pattern.t,
        "kind": pattern.kind,
        "tags": list(pattern.tags),
        "weight": pattern.weight,
    }


def _patterns(events, since, now):
    found = extract_patterns([Event(**event) for event in events], since, now)
    return {kind: [_card(pattern) for pattern in patterns] for kind, patterns in found._asdict().items()}


def _noise(ledger, alerts, now, window_ms, converge_at):
    before = {key: NoiseEntry(**entry) for key, entry in ledger.items()}
    given = [alert and Alert(alert.get("organ"), alert.get("note")) for alert in alerts or []]
    after = reduce_noise(before, given, now, window_ms, converge_at)
    return {
        "noise": {key: entry._asdict() for key, entry in after.ledger.items()},
        "suppressed": after.suppressed,
        "converged": list(after.converged),
    }


OURS = {
    "tokens": lambda text: list(tokens(_text(text))),
    "normalizeNote": normalize_note,
    "cardId": card_id,
    "extractPatterns": _patterns,
    "reduceNoise": _noise,
}
CARD_KEYS = ("id", "t", "kind", "tags", "weight")


def _comparable(result):
    """Theirs without texts and without the keys of a card that no pattern has yet."""
    if isinstance(result, dict) and "pitfalls" in result:
        return {kind: [{key: card[key] for key in CARD_KEYS} for card in cards] for kind, cards in result.items()}
    return result


@pytest.mark.parametrize("vector", VECTORS, ids=[f"{n}-{vector['fn']}" for n, vector in enumerate(VECTORS, 1)])
def test_a_pure_function_answers_as_the_vector_says(vector):
    assert OURS[vector["fn"]](*vector["args"]) == _comparable(vector["result"])


def test_the_vectors_are_all_there():
    assert Counter(vector["fn"] for vector in VECTORS) == {
        "extractPatterns": 66,
        "reduceNoise": 34,
        "tokens": 22,
        "normalizeNote": 16,
        "cardId": 12,
    }


def _numbers(text: str) -> Counter:
    return Counter(re.findall(r"(?<![a-z0-9_.])[0-9]+", re.sub("(错误：|Last error: ).*", "", text)))


@pytest.mark.parametrize("vector", [vector for vector in VECTORS if vector["fn"] == "extractPatterns"])
def test_our_texts_give_the_numbers_that_theirs_give(vector):
    events, since, now = vector["args"]
    found = extract_patterns([Event(**event) for event in events], since, now)._asdict()
    for kind, theirs in vector["result"].items():
        ours = [_numbers(f"{pattern.title}\n{pattern.body}") for pattern in found[kind]]
        assert ours == [_numbers(f"{card['title']}\n{card['body']}") for card in theirs]
