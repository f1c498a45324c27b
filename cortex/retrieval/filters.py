"""Which records take part: valid at the time of the call, and let through by the filters."""

from collections.abc import Iterable
from typing import NamedTuple, Protocol

from cortex.corpus.record import Provenance, Record


class Listed(Protocol):
    """What a listing goes by: less than a record. Times are milliseconds since 1970."""

    @property
    def id(self) -> str:
        """Its id."""

    @property
    def type(self) -> str:
        """Its type."""

    @property
    def provenance(self) -> Provenance:
        """Where it is from."""

    @property
    def created_ms(self) -> int:
        """When it was created."""


class Filters(NamedTuple):
    """Bounds of a listing; None is open. `created_from` and `created_to` are milliseconds since 1970, both included."""

    type: str | None = None
    source: str | None = None
    session: str | None = None
    created_from: int | None = None
    created_to: int | None = None

    def let_through(self, record: Listed) -> bool:
        """Tell whether `record` meets every filter that is set."""
        return (
            (self.type is None or record.type == self.type)
            and (self.source is None or record.provenance.source == self.source)
            and (self.session is None or record.provenance.session == self.session)
            and (self.created_from is None or record.created_ms >= self.created_from)
            and (self.created_to is None or record.created_ms <= self.created_to)
        )


def is_valid(record: Record, now: int) -> bool:
    """Tell whether a record is valid at `now`: its start is included, its end is not, a missing bound is open."""
    return (record.valid_from_ms is None or record.valid_from_ms <= now) and (
        record.valid_until_ms is None or now < record.valid_until_ms
    )


def valid_records(records: Iterable[Record], now: int) -> list[Record]:
    """Return the records that are valid at `now`, in their order."""
    return [record for record in records if is_valid(record, now)]
