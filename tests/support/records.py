"""Records made by hand, for tests of what is done with them."""

from cortex.corpus.record import Provenance, Record
from policies.timestamps import parse_timestamp


def record(record_id: str, content: str = "", **fields) -> Record:
    """Return a sound record; `fields` override its type, title, times, provenance and related."""
    created = fields.get("created", "2026-01-01")
    updated = fields.get("updated", created)
    valid_from, valid_until = fields.get("valid_from"), fields.get("valid_until")
    return Record(
        id=record_id,
        type=fields.get("type", "note"),
        title=fields.get("title", "t"),
        created=created,
        updated=updated,
        provenance=Provenance(
            fields.get("source", "manual"), fields.get("session"), fields.get("path", f"KNOWLEDGE/{record_id}.md")
        ),
        content=content,
        related=tuple(fields.get("related", ())),
        valid_from=valid_from,
        valid_until=valid_until,
        created_ms=parse_timestamp(created),
        updated_ms=parse_timestamp(updated),
        valid_from_ms=valid_from and parse_timestamp(valid_from),
        valid_until_ms=valid_until and parse_timestamp(valid_until),
    )
