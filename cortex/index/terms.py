"""A block of postings, read: which records hold a term, and how often. Pure.

A *key* is a term with one character in front that says for which texts and which analyzer it stands:

    =  texts of ASCII characters, of which both analyzers make the same terms
    a  other texts, by the ascii analyzer
    u  other texts, by the unicode analyzer

A block holds some keys in order, with their postings:

    count, bytes of keys                two 32-bit numbers
    keys                                joined by NUL
    records a key                       32-bit numbers
    how many counts do not fit          one 32-bit number, and a pair (place, count) of 32-bit numbers for each
    records                             16-bit numbers, key after key
    counts                              a byte each

Numbers are in the byte order of the machine that made the index.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from cortex.retrieval.analyzer import AnalyzerName

BOTH: Final = "="
OF: Final[dict[AnalyzerName, str]] = {"ascii": "a", "unicode": "u"}
# The largest count that a byte holds; larger ones stand apart.
LARGEST_COUNT: Final = 255


class Posted(NamedTuple):
    """The records that hold a term, and how often each does."""

    records: Sequence[int]
    counts: Sequence[int]


def find(block: bytes, key: str) -> Posted | None:
    """Return the postings of a key in its block, None where there are none.

    Raises:
        ValueError, TypeError: It is no such block.
    """
    keys, sizes, wide, start = _head(block)
    if key not in keys:
        return None
    at = keys.index(key)
    first = sum(sizes[:at])
    return _posted(block, sizes, wide, start, first, first + sizes[at])


def every(block: bytes) -> Iterator[tuple[str, Posted]]:
    """Yield every key of a block with its postings; raises as `find`."""
    keys, sizes, wide, start = _head(block)
    first = 0
    for key, size in zip(keys, sizes, strict=True):
        yield key, _posted(block, sizes, wide, start, first, first + size)
        first += size


def block_of(first_keys: Sequence[str], key: str) -> int:
    """Return the number of the block that a key would be in, -1 where it stands before all of them."""
    return bisect_right(first_keys, key) - 1


def _head(block: bytes) -> tuple[list[str], list[int], list[int], int]:
    """Return a block's keys, how many records each has, its pairs (place, count), and where its records begin."""
    count, width = _numbers(block, 0, 2)
    keys = block[8 : 8 + width].decode().split("\0")
    at = 8 + width
    sizes = _numbers(block, at, count)
    at += 4 * count
    (pairs,) = _numbers(block, at, 1)
    wide = _numbers(block, at + 4, 2 * pairs)
    start = at + 4 + 8 * pairs
    if len(keys) != count or len(block) != start + 3 * sum(sizes):
        raise ValueError("is no block of postings")
    return keys, sizes, wide, start


def _posted(block: bytes, sizes: Sequence[int], wide: Sequence[int], start: int, first: int, last: int) -> Posted:
    total = sum(sizes)
    records = memoryview(block)[start + 2 * first : start + 2 * last].cast("H").tolist()
    counts = list(block[start + 2 * total + first : start + 2 * total + last])
    for place, count in zip(wide[::2], wide[1::2], strict=True):
        if first <= place < last:
            counts[place - first] = count
    return Posted(records, counts)


def _numbers(block: bytes, at: int, count: int) -> list[int]:
    return memoryview(block)[at : at + 4 * count].cast("I").tolist()
