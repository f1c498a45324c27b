"""A line of a JSONL file as a record: strict JSON, known keys, every string sound and then stripped. Pure."""

from collections.abc import Sequence
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
        return Parsed(Flaw("json", f"is no strict JSON: {error}"), cut=False)
    if not isinstance(value, dict):
        return Parsed(Flaw("json", "is no JSON object"), cut=False)
    flaw = _find_flaw(value)
    return Parsed(flaw, cut=False) if flaw else parse_fields(path, Fields(**value))


def parse_fields(path: str, fields: Fields) -> Parsed:
    """Strip every string of a row, and return what is left: a record, a flaw, or nothing that may be told."""
    stripped = [_strip(value) for value in fields]
    cut = any(was_cut for _, was_cut in stripped)
    public = Fields(*[value for value, _ in stripped])
    if any(is_blank(text) for text in (public.id, public.type, public.title, public.created, public.updated)):
        return Parsed(None, cut)
    if is_blank(public.content):
        return Parsed(None, cut)
    for before, after in ((fields.created, public.created), (fields.updated, public.updated)):
        if after != before and parse_timestamp(after) is None:
            return Parsed(None, cut)
    emptied: dict[str, Any] = {
        name: None
        for name, before, after in zip(Fields._fields, fields, public, strict=True)
        if isinstance(after, str) and after != before and is_blank(after)
    }
    related = [name for name in public.related if not is_blank(name)]
    return Parsed(record_of(path, public._replace(related=related, **emptied)), cut)


def record_of(path: str, fields: Fields) -> Record | Flaw:
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


def _find_flaw(row: dict[str, object]) -> Flaw | None:
    """Return what is wrong with the keys and values of a row before it is stripped, or None."""
    if not row.keys() <= KEYS:
        return Flaw("field", "has a key that no record has")
    for key in STRINGS:
        value = row.get(key, "" if key in NEEDED else key)
        if not isinstance(value, str) or is_blank(value):
            return Flaw("field", f"{key} is no string that says something")
    for key in STRINGS_OR_NULL:
        if not isinstance(row.get(key), str | None):
            return Flaw("field", f"{key} is neither a string nor null")
    related = row.get("related", [])
    if not (isinstance(related, list) and all(isinstance(item, str) and not is_blank(item) for item in related)):
        return Flaw("field", "related is no list of strings that say something")
    return _find_unsound_string(row)


def _find_unsound_string(row: dict[str, object]) -> Flaw | None:
    for key, value in row.items():
        text = value if isinstance(value, str) else "".join(value) if isinstance(value, list) else ""
        if find_control(text) is not None:
            return Flaw("control-character", f"{key} holds a control character")
        if holds_surrogate(text):
            return Flaw("encoding", f"{key} holds half of a surrogate pair")
    return None
