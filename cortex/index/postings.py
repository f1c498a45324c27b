"""Postings as they are gathered, record by record, and written into blocks (cortex/index/terms.py). Pure."""

from __future__ import annotations

from array import array
from collections import Counter
from itertools import compress
from typing import TYPE_CHECKING, Final, NamedTuple

from cortex.index.terms import BOTH, LARGEST_COUNT, OF, Posted
from cortex.retrieval.analyzer import ascii_terms, unicode_terms

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# Postings after which a block ends; a key is never split, and keys of two kinds are never in one block.
POSTINGS_A_BLOCK: Final = 8192


class Lengths(NamedTuple):
    """How many terms a record has, by each analyzer."""

    ascii: int
    unicode: int


class Postings:
    """The postings of all terms, as they are gathered record by record."""

    def __init__(self) -> None:
        self._of: dict[str, tuple[array[int], array[int]]] = {}

    def add(self, record: int, text: str) -> Lengths:
        """Take in the text of a record; records come in order. Return its lengths."""
        by_ascii = ascii_terms(text)
        if text.isascii():
            self._count(record, BOTH, by_ascii)
            return Lengths(len(by_ascii), len(by_ascii))
        by_unicode = unicode_terms(text)
        self._count(record, OF["ascii"], by_ascii)
        self._count(record, OF["unicode"], by_unicode)
        return Lengths(len(by_ascii), len(by_unicode))

    def take_over(self, key: str, posted: Posted, place_of: Sequence[int]) -> None:
        """Take in what an earlier index says of a key.

        Args:
            key: The key.
            posted: Its postings there.
            place_of: The number that each of its records has now, -1 for one that is not taken over.
        """
        places = [place_of[record] for record in posted.records]
        kept = [place >= 0 for place in places]
        records, counts = self._entry(key)
        records.extend(compress(places, kept))
        counts.extend(compress(posted.counts, kept))

    def blocks(self) -> Iterator[tuple[str, bytes]]:
        """Yield the blocks in order of their keys, each with its first."""
        batch: list[tuple[str, array[int], array[int]]] = []
        size = 0
        for key in sorted(self._of):
            if batch and (size >= POSTINGS_A_BLOCK or batch[0][0][0] != key[0]):
                yield batch[0][0], _encode(batch)
                batch, size = [], 0
            records, counts = _in_order(*self._of[key])
            if records:
                batch.append((key, records, counts))
                size += len(records)
        if batch:
            yield batch[0][0], _encode(batch)

    def _count(self, record: int, space: str, terms: list[str]) -> None:
        for term, count in Counter(terms).items():
            records, counts = self._entry(space + term)
            records.append(record)
            counts.append(count)

    def _entry(self, key: str) -> tuple[array[int], array[int]]:
        entry = self._of.get(key)
        if entry is None:
            entry = self._of[key] = (array("H"), array("I"))
        return entry


def _in_order(records: array[int], counts: array[int]) -> tuple[array[int], array[int]]:
    """Return postings by record: what was taken over stands in front of what was counted anew."""
    numbers = records.tolist()
    if all(map(int.__lt__, numbers, numbers[1:])):
        return records, counts
    pairs = sorted(zip(numbers, counts, strict=True))
    return array("H", [record for record, _ in pairs]), array("I", [count for _, count in pairs])


def _encode(batch: Sequence[tuple[str, array[int], array[int]]]) -> bytes:
    keys = "\0".join([key for key, _, _ in batch]).encode()
    counts = [count for _, _, counts in batch for count in counts]
    wide = [number for place, count in enumerate(counts) if count > LARGEST_COUNT for number in (place, count)]
    parts = (
        array("I", [len(batch), len(keys)]).tobytes(),
        keys,
        array("I", [len(records) for _, records, _ in batch]).tobytes(),
        array("I", [len(wide) // 2, *wide]).tobytes(),
        b"".join([records.tobytes() for _, records, _ in batch]),
        bytes(counts if not wide else [min(count, LARGEST_COUNT) for count in counts]),
    )
    return b"".join(parts)
