"""A line of a JSONL file as a record: strict JSON, known keys, every string sound and then stripped. Pure."""

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from cortex import strict_json
from cortex.corpus.record import Flaw, Instants, Parsed, Provenance, Record, read_instants
from cortex.privacy import strip_and_tell
from cortex.text import find_control, holds_surrogate, is_blank
from policies.timestamps import parse_timestamp

NEEDED: Final = ("id", "type", "title", "created", "updated", "content")
# Non-blank strings where they are present at all; null is no string.
STRINGS: Final = (*NEEDED, "source_kind", "source")
STRINGS_OR_NULL: Final = ("source_session", "valid_from", "valid_until")
KEYS: Final = frozenset({*STRINGS, *STRINGS_OR_NULL, "related"})


class Fields(NamedTuple):
    """The values of a row whose keys and types are known to be right."""

    id: str
    type: str
    title: str
    created: str
    updated: str
    content: str
    source_kind: str | None = None
    source: str | None = None
    source_session: str | None = None
    related: Sequence[str] = ()
    valid_from: str | None = None
    valid_until: str | None = None


def parse_row(path: str, line: str) -> Parsed:
    """Return what one non-blank line comes to."""
    try:
        value = strict_json.loads(line)
    except strict_json.StrictJSONError as error:
        return Parsed((Flaw("json", f"is no strict JSON: {error}"),))
    if not isinstance(value, dict):
        return Parsed((Flaw("json", "is no JSON object"),))
    flaws = tuple(_find_flaws(value))
    return Parsed(flaws) if flaws else parse_fields(path, Fields(**value))


def parse_fields(path: str, fields: Fields) -> Parsed:
    """Strip every string of a row, and return what is left: a record, a flaw, or nothing that may be told."""
    stripped = [_strip(value) for value in fields]
    cut = any(was_cut for _, was_cut in stripped)
    public = Fields(*[value for value, _ in stripped])
    if _is_withheld(fields, public):
        return Parsed(None, public.id, cut)
    emptied: dict[str, Any] = {
        name: None
        for name, before, after in zip(Fields._fields, fields, public, strict=True)
        if isinstance(after, str) and after != before and is_blank(after)
    }
    related = [name for name in public.related if not is_blank(name)]
    return Parsed(record_of(path, public._replace(related=related, **emptied)), public.id, cut)


def _is_withheld(fields: Fields, public: Fields) -> bool:
    """Tell whether privacy leaves no record: it emptied what every record needs, or broke one of its times."""
    needed = (public.id, public.type, public.title, public.created, public.updated, public.content)
    times = ((fields.created, public.created), (fields.updated, public.updated))
    return any(map(is_blank, needed)) or any(
        after != before and parse_timestamp(after) is None for before, after in times
    )


def record_of(path: str, fields: Fields) -> Record | tuple[Flaw, ...]:
    """Return the record that stripped fields make."""
    instants = read_instants(fields.created, fields.updated, fields.valid_from, fields.valid_until)
    if not isinstance(instants, Instants):
        return instants
    return Record(
        fields.id,
        fields.type,
        fields.title,
        fields.created,
        fields.updated,
        Provenance(fields.source_kind or fields.source or "canonical", fields.source_session, path),
        fields.content,
        tuple(fields.related),
        fields.valid_from,
        fields.valid_until,
        *instants,
    )


def _strip(value: str | Sequence[str] | None) -> tuple[Any, bool]:
    """Return a value of a row without its private parts, and whether an untrusted opener cut it."""
    if value is None:
        return None, False
    if isinstance(value, str):
        return strip_and_tell(value)
    items = [strip_and_tell(item) for item in value]
    return [item.text for item in items], any(item.cut for item in items)


def _find_flaws(row: dict[str, object]) -> Iterator[Flaw]:
    """Yield what is wrong with the keys and values of a row before it is stripped."""
    if not row.keys() <= KEYS:
        yield Flaw("field", "has a key that no record has")
    for key in STRINGS:
        value = row.get(key, "" if key in NEEDED else key)
        if not isinstance(value, str) or is_blank(value):
            yield Flaw("field", f"{key} is no string that says something")
    for key in STRINGS_OR_NULL:
        if not isinstance(row.get(key), str | None):
            yield Flaw("field", f"{key} is neither a string nor null")
    related = row.get("related", [])
    if not (isinstance(related, list) and all(isinstance(item, str) and not is_blank(item) for item in related)):
        yield Flaw("field", "related is no list of strings that say something")
    for key in [key for key in row if key in KEYS]:
        yield from _find_unsound_text(key, row[key])


def _find_unsound_text(key: str, value: object) -> Iterator[Flaw]:
    texts = value if isinstance(value, list) else [value]
    text = "".join([item for item in texts if isinstance(item, str)])
    if find_control(text) is not None:
        yield Flaw("control-character", f"{key} holds a control character")
    if holds_surrogate(text):
        yield Flaw("encoding", f"{key} holds half of a surrogate pair")
