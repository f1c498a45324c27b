"""A record, and the rules that hold for it whatever file it comes from. Pure.

Texts are stripped of private parts before they get here. Instants are whole milliseconds since 1970 (UTC), kept beside
the timestamps as written so that nobody parses them again.
"""

from typing import NamedTuple

from cortex.corpus.faults import FaultKind
from policies.timestamps import parse_timestamp

# What a message repeats of a value, at most; in characters.
_QUOTED_AT_MOST = 40


class Provenance(NamedTuple):
    """Where a record comes from; `path` is relative to the memory root."""

    source: str
    session: str | None
    path: str


class Record(NamedTuple):
    """One remembered thing. The first ten fields are what is exported, in that order."""

    id: str
    type: str
    title: str
    created: str
    updated: str
    provenance: Provenance
    content: str
    related: tuple[str, ...]
    valid_from: str | None
    valid_until: str | None
    created_ms: int
    updated_ms: int
    valid_from_ms: int | None
    valid_until_ms: int | None


class Flaw(NamedTuple):
    """Why a text is no sound record: the kind of fault, and a clause."""

    kind: FaultKind
    message: str


class Parsed(NamedTuple):
    """What a text came to: a record, every flaw that keeps it from being one, or None: it is withheld as private.

    `identity` is the id that it goes by, also where it is no record; None where it has none that may be told.
    `cut` says that an untrusted opener hid the rest of one of its texts.
    """

    result: Record | tuple[Flaw, ...] | None
    identity: str | None = None
    cut: bool = False


class Instants(NamedTuple):
    """The four timestamps of a record in milliseconds."""

    created: int
    updated: int
    valid_from: int | None
    valid_until: int | None


def exported(record: Record) -> dict[str, object]:
    """Return a record's public keys in their order, as `get` and `export` print them and the digest hashes them."""
    return {
        "id": record.id,
        "type": record.type,
        "title": record.title,
        "created": record.created,
        "updated": record.updated,
        "provenance": {
            "source": record.provenance.source,
            "session": record.provenance.session,
            "path": record.provenance.path,
        },
        "content": record.content,
        "related": list(record.related),
        "valid_from": record.valid_from,
        "valid_until": record.valid_until,
    }


def read_instants(
    created: str, updated: str, valid_from: str | None, valid_until: str | None
) -> Instants | tuple[Flaw, ...]:
    """Return the instants of a record's timestamps, or everything that is wrong with them."""
    created_ms = parse_timestamp(created)
    updated_ms = created_ms if updated == created else parse_timestamp(updated)
    from_ms = None if valid_from is None else parse_timestamp(valid_from)
    until_ms = None if valid_until is None else parse_timestamp(valid_until)
    flaws = []
    if created_ms is None:
        flaws.append(_no_timestamp("created", created))
    if updated_ms is None and updated != created:
        flaws.append(_no_timestamp("updated", updated))
    if valid_from is not None and from_ms is None:
        flaws.append(_no_timestamp("valid_from", valid_from))
    if valid_until is not None and until_ms is None:
        flaws.append(_no_timestamp("valid_until", valid_until))
    if created_ms is not None and updated_ms is not None and updated_ms < created_ms:
        flaws.append(Flaw("order-of-times", "is updated before it was created"))
    if from_ms is not None and until_ms is not None and from_ms >= until_ms:
        flaws.append(Flaw("order-of-times", "is valid from a time that is not before the end of its validity"))
    if flaws or created_ms is None or updated_ms is None:
        return tuple(flaws)
    return Instants(created_ms, updated_ms, from_ms, until_ms)


def _no_timestamp(field: str, value: str) -> Flaw:
    shown = value if len(value) <= _QUOTED_AT_MOST else value[:_QUOTED_AT_MOST] + "…"
    return Flaw("timestamp", f'{field} is no timestamp: "{shown}"')
