"""Postings: what is gathered is what is found again, block by block."""

from collections import Counter
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from index.forging import posting_block

from cortex.index import postings as gathering
from cortex.index.postings import Lengths, Postings
from cortex.index.terms import BOTH, OF, Posted, block_of, every, find
from cortex.retrieval.analyzer import ascii_terms, unicode_terms

KEYS = st.builds(str.__add__, st.sampled_from("=au"), st.sampled_from(["a", "b1", "zz", "桥樑", "мост", "x" * 40]))
COUNTS = st.sampled_from([1, 2, 254, 255, 256, 257, 70_000])
GATHERED = st.dictionaries(KEYS, st.dictionaries(st.integers(0, 65_535), COUNTS, min_size=1, max_size=6), min_size=1)
TEXTS = st.lists(
    st.lists(st.sampled_from(["oak", "Elm", "K", "ﬁr", "桥樑", "мост", "'", "1", "İ"]), max_size=8).map(" ".join),
    max_size=8,
)


def gather(gathered: dict[str, dict[int, int]]) -> Postings:
    """Return postings as an earlier index gave them, each key's records in order."""
    postings, same = Postings(), range(65_536)
    for key, counts in gathered.items():
        records = sorted(counts)
        postings.take_over(key, Posted(records, [counts[record] for record in records]), same)
    return postings


def read(blocks: list[tuple[str, bytes]]) -> dict[str, dict[int, int]]:
    return {key: dict(zip(*posted, strict=True)) for _, block in blocks for key, posted in every(block)}


@settings(max_examples=150, deadline=None)
@given(GATHERED, st.integers(1, 12))
def test_blocks_say_what_was_gathered(gathered, size):
    """Every key is found in the block that its order says, with its records and counts; blocks are of one kind."""
    with patch.object(gathering, "POSTINGS_A_BLOCK", size):
        blocks = list(gather(gathered).blocks())
    assert read(blocks) == gathered
    firsts = [first for first, _ in blocks]
    assert firsts == sorted(firsts)
    for first, block in blocks:
        keys = [key for key, _ in every(block)]
        assert (keys[0], keys) == (first, sorted(keys))
        assert len({key[0] for key in keys}) == 1
    for key, counts in gathered.items():
        posted = find(blocks[block_of(firsts, key)][1], key)
        assert posted is not None
        assert (posted.records, posted.counts) == (sorted(counts), [counts[record] for record in sorted(counts)])


@settings(max_examples=100, deadline=None)
@given(TEXTS)
def test_every_term_of_every_text_is_counted_by_both_analyzers(texts):
    """A term's postings under `=` and under an analyzer's own kind are the counts of that analyzer's terms."""
    postings = Postings()
    for number, text in enumerate(texts):
        assert postings.add(number, text) == Lengths(len(ascii_terms(text)), len(unicode_terms(text)))
    said = read(list(postings.blocks()))
    for name, analyse in (("ascii", ascii_terms), ("unicode", unicode_terms)):
        expected: dict[str, dict[int, int]] = {}
        for number, text in enumerate(texts):
            for term, count in Counter(analyse(text)).items():
                expected.setdefault(term, {})[number] = count
        found: dict[str, dict[int, int]] = {}
        for kind in (BOTH, OF[name]):
            for key, counts in said.items():
                if key[0] == kind:
                    assert not found.get(key[1:], {}).keys() & counts.keys()
                    found.setdefault(key[1:], {}).update(counts)
        assert found == expected


def test_a_block_of_the_format_by_its_letter_is_what_is_written():
    gathered = {"=a": {0: 1, 7: 300}, "=b": {3: 255}}
    ((first, block),) = gather(gathered).blocks()
    assert first == "=a"
    assert block == posting_block(("=a", [0, 7], [1, 300]), ("=b", [3], [255]))


def test_a_block_ends_at_its_size_and_a_key_is_never_split():
    many = dict.fromkeys(range(gathering.POSTINGS_A_BLOCK + 5), 1)
    blocks = list(gather({"=a": {1: 1}, "=b": many, "=c": {1: 1}, "=d": {2: 1}, "ua": {1: 1}}).blocks())
    assert [[key for key, _ in every(block)] for _, block in blocks] == [["=a", "=b"], ["=c", "=d"], ["ua"]]


def test_a_key_without_postings_is_not_kept():
    postings = gather({"=a": {1: 1}, "=b": {2: 1}})
    postings.take_over("=c", Posted([0, 1], [5, 5]), [-1, -1])
    assert list(read(list(postings.blocks()))) == ["=a", "=b"]


def test_what_is_taken_over_is_put_in_order_with_what_is_counted():
    postings = Postings()
    postings.take_over("=oak", Posted([0, 1, 2], [300, 1, 2]), [4, -1, 2])
    postings.add(3, "oak oak")
    ((_, block),) = postings.blocks()
    assert find(block, "=oak") == Posted([2, 3, 4], [2, 2, 300])


@pytest.mark.parametrize("key", ["=a", "=c", "=e", "=", "", "ub", "=b\0=d", "b"])
def test_a_key_that_is_not_in_a_block_is_none(key):
    assert find(posting_block(("=b", [0], [1]), ("=d", [1], [1])), key) is None


@pytest.mark.parametrize(
    ("key", "block"), [("", -1), ("=a", -1), ("=b", 0), ("=c", 0), ("=d", 1), ("ub", 2), ("uz", 2)]
)
def test_the_block_of_a_key_is_the_last_that_begins_no_later(key, block):
    assert block_of(["=b", "=d", "ub"], key) == block


WHOLE = posting_block(("=a", [0, 7], [1, 300]), ("=b", [3], [255]))
DAMAGED = {
    **{f"cut to {size}": WHOLE[:size] for size in range(len(WHOLE))},
    "a byte more": WHOLE + b"\0",
    "a key more than there are": b"\3" + WHOLE[1:],
    "a key less": b"\1" + WHOLE[1:],
    "keys that are longer than the block": WHOLE[:4] + b"\xff\xff" + WHOLE[6:],
    "keys that are no text": WHOLE.replace(b"=a", b"\xff\xfe"),
    "more counts that do not fit than there are": WHOLE.replace(
        b"\2\0\0\0\1\0\0\0\1\0\0\0", b"\2\0\0\0\1\0\0\0\xff\0\0\0"
    ),
}


@pytest.mark.parametrize("block", DAMAGED.values(), ids=DAMAGED)
def test_what_is_no_block_is_refused(block):
    assert block != WHOLE
    with pytest.raises((ValueError, TypeError)):
        find(block, "=a")
    with pytest.raises((ValueError, TypeError)):
        list(every(block))
