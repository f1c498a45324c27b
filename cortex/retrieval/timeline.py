"""The neighbourhood of a record or an instant, in the order (created, id)."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol, TypeVar


class Dated(Protocol):
    """What has a place in time: an id, and when it was created, in milliseconds since 1970."""

    @property
    def id(self) -> str:
        """Its id."""

    @property
    def created_ms(self) -> int:
        """When it was created."""


D = TypeVar("D", bound=Dated)


class Window(NamedTuple):
    """How many records to take in front of the anchor and behind it."""

    before: int
    after: int


def around_record(ordered: Sequence[D], anchor: Dated, window: Window) -> list[D]:
    """Return the anchor's neighbours among `ordered`, and the anchor itself where it is one of them."""
    keys = [_key(record) for record in ordered]
    start = bisect_left(keys, _key(anchor))
    itself = start < len(ordered) and ordered[start].id == anchor.id
    return list(ordered[max(0, start - window.before) : start + itself + window.after])


def around_instant(ordered: Sequence[D], instant: int, window: Window) -> list[D]:
    """Return the last records created before `instant` (milliseconds since 1970) and the first from it on."""
    start = bisect_left([record.created_ms for record in ordered], instant)
    return list(ordered[max(0, start - window.before) : start + window.after])


def in_order(records: Iterable[D]) -> list[D]:
    """Return `records` by creation, ties by id."""
    return sorted(records, key=_key)


def _key(record: Dated) -> tuple[int, str]:
    return record.created_ms, record.id
