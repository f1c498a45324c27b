"""Cards and pages: what a listing shows of a record, which is never its title or content."""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, Protocol, TypeVar

from cortex.corpus.record import Record

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

SCORE_DECIMALS: Final = 6
CHARACTERS_PER_TOKEN: Final = 4

JSONObject = dict[str, object]


class Page(NamedTuple):
    """One page of a listing: `number` from 1, `size` cards at most."""

    number: int
    size: int


class Budget(NamedTuple):
    """How far an expansion may go: so many records, so many estimated tokens."""

    nodes: int
    tokens: int


def estimate_tokens(content: str) -> int:
    """Return the UTF-16 length of `content` / 4, rounded up: a host's rule of thumb for what a record will cost."""
    units = len(content) if content.isascii() else len(content.encode("utf-16-le")) // 2
    return -(-units // CHARACTERS_PER_TOKEN)


def card(record: Record, score: float) -> JSONObject:
    """Return the card of a record: where it is from, how well it matches, what reading it would cost."""
    rounded = round(score, SCORE_DECIMALS)
    return {
        "id": record.id,
        "type": record.type,
        "created": record.created,
        "updated": record.updated,
        "provenance": record.provenance._asdict(),
        "score": int(rounded) if rounded.is_integer() else rounded,
        "est_tokens": estimate_tokens(record.content),
    }


class Rows(Protocol[T_co]):
    """What is listed: only the rows of a page are asked for."""

    def __len__(self) -> int:
        """Return how many there are."""

    def __getitem__(self, rows: slice, /) -> Sequence[T_co]:
        """Return some of them."""


def listing(rows: Rows[T], page: Page, show: Callable[[T], JSONObject]) -> JSONObject:
    """Return one page of `rows`, only its own rows shown; a page past the end is empty."""
    start = (page.number - 1) * page.size
    return {
        "items": [show(row) for row in rows[start : start + page.size]],
        "total": len(rows),
        "page": page.number,
        "page_size": page.size,
    }
