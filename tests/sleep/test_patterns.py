"""The consolidation kernel, beyond the vectors: its boundaries, as tables."""

import pytest

from cortex.sleep.patterns import Event, extract_patterns, public_text

NOW = 1_786_363_200_000


def events(word: str) -> list[Event]:
    """A letter a call, one second apart, the last one now: lower-case succeeds, upper-case fails."""
    first = NOW - 1000 * (len(word) - 1)
    return [Event(first + 1000 * n, letter.lower(), ok=letter.islower(), ms=10) for n, letter in enumerate(word)]


def ids(word: str, since: int = 0) -> dict[str, list[str]]:
    found = extract_patterns(events(word), since, NOW)._asdict()
    return {
        kind: [pattern.id.partition(":")[2] for pattern in patterns] for kind, patterns in found.items() if patterns
    }


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("AA", {}),
        ("AAA", {"pitfalls": ["a"], "unresolved": ["a"]}),
        ("AAAb", {"pitfalls": ["a"]}),
        ("AAbA", {}),
        ("AABA", {"unresolved": ["a、b"]}),
        ("AAAbAAAb", {"pitfalls": ["a", "a"]}),
        ("abab", {"playbooks": ["a → b"]}),
        ("aaaa", {}),
        ("aXbaXb", {"playbooks": ["a → b"]}),
        ("aaaaaaBB", {}),
        ("aaaaabbbAAA", {"pitfalls": ["a"], "hotspots": ["a"], "unresolved": ["a"]}),
        ("bbAAA" + "a" * 57, {"pitfalls": ["a"]}),
    ],
)
def test_patterns_begin_at_their_limits(word, found):
    assert ids(word) == found


@pytest.mark.parametrize("word", ["AAA", "abcabc"])
def test_a_pitfall_or_playbook_not_newer_than_the_last_look_is_old(word):
    assert {"pitfalls", "playbooks"} & ids(word, NOW - 1).keys()
    assert not {"pitfalls", "playbooks"} & ids(word, NOW).keys()


@pytest.mark.parametrize(
    ("text", "public"),
    [
        ("plain", "plain"),
        ("x" * 300, "x" * 240),
        ("a<private>b</private>c", "ac"),
        ("cut \ud83d", "cut ?"),
    ],
)
def test_what_an_event_keeps_is_public_and_can_be_written(text, public):
    assert public_text(text) == public
