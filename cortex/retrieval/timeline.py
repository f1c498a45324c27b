"""The neighbourhood of a record or an instant, in the order (created, id)."""

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from cortex.corpus.record import Record


class Window(NamedTuple):
    """How many records to take in front of the anchor and behind it."""

    before: int
    after: int


def around_record(ordered: Sequence[Record], anchor: Record, window: Window) -> list[Record]:
    """Return the anchor's neighbours among `ordered`, and the anchor itself where it is one of them."""
    keys = [_key(record) for record in ordered]
    start = bisect_left(keys, _key(anchor))
    itself = start < len(ordered) and ordered[start].id == anchor.id
    return list(ordered[max(0, start - window.before) : start + itself + window.after])


def around_instant(ordered: Sequence[Record], instant: int, window: Window) -> list[Record]:
    """Return the last records created before `instant` (milliseconds since 1970) and the first from it on."""
    start = bisect_left([record.created_ms for record in ordered], instant)
    return list(ordered[max(0, start - window.before) : start + window.after])


def in_order(records: Sequence[Record]) -> list[Record]:
    """Return `records` by creation, ties by id."""
    return sorted(records, key=_key)


def _key(record: Record) -> tuple[int, str]:
    return record.created_ms, record.id
