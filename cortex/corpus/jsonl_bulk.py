"""The fast way through much JSONL: msgspec decodes a line, and any doubt sends the line back to the strict way.

It answers only for lines in which nothing is odd: one object of known keys and right types, no key twice, no character
written as an escape, no control character, nothing that could be private. For any other line it returns None, and
`jsonl.parse_row` finds the fault or strips what is private. Both ways come to the same records.
"""

import re
from collections.abc import Callable
from typing import Final

from msgspec import UNSET, DecodeError, Struct, UnsetType
from msgspec.json import Decoder

from cortex.corpus.record import Instants, Provenance, Record, read_instants
from cortex.privacy import may_hold_opener
from cortex.text import holds_control, is_blank


class _Row(Struct, forbid_unknown_fields=True, gc=False):
    id: str
    type: str
    title: str
    created: str
    updated: str
    content: str
    source_kind: str | UnsetType = UNSET
    source: str | UnsetType = UNSET
    source_session: str | UnsetType | None = UNSET
    related: tuple[str, ...] | UnsetType = UNSET
    valid_from: str | UnsetType | None = UNSET
    valid_until: str | UnsetType | None = UNSET


_NEEDED_QUOTES: Final = 2 * 2 * 6  # a key and a string each
_decode: Final = Decoder(_Row).decode
_odd_escape: Final = re.compile(rb"\\[ubf]").search


def quick_reader(path: str, data: bytes) -> Callable[[bytes], Record | None]:
    """Return what reads a line of a file of this content: a record, or None where the strict way has to judge."""
    look_closer = b"<" in data or not data.isascii() or holds_control(data)

    def read(line: bytes) -> Record | None:
        try:
            row = None if _odd_escape(line) else _decode(line)
        except DecodeError:
            return None
        if row is None or _holds_key_twice(row, line) or (look_closer and _is_doubtful(row, line)):
            return None
        return _record(path, row)

    return read


def _holds_key_twice(row: _Row, line: bytes) -> bool:
    """Tell by the number of quote marks whether a line says more than its row; none of them is written as an escape."""
    quotes = _NEEDED_QUOTES
    for value in (row.source_kind, row.source, row.source_session, row.valid_from, row.valid_until):
        if value is not UNSET:
            quotes += 2 if value is None else 4
    if row.related is not UNSET:
        quotes += 2 + 2 * len(row.related)
    found = line.count(b'"')
    return found != quotes and found != quotes + sum([text.count('"') for text in _texts(row)])


def _is_doubtful(row: _Row, line: bytes) -> bool:
    """Tell whether a line holds a control character, or anything that could open or close a private span."""
    return holds_control(line.rstrip(b"\r")) or any(may_hold_opener(text) for text in _texts(row))


def _texts(row: _Row) -> list[str]:
    optional = (row.source_kind, row.source, row.source_session, row.valid_from, row.valid_until)
    related = () if row.related is UNSET else row.related
    return [
        row.id,
        row.type,
        row.title,
        row.created,
        row.updated,
        row.content,
        *related,
        *[text for text in optional if isinstance(text, str)],
    ]


def _record(path: str, row: _Row) -> Record | None:
    related = row.related or ()
    source_kind, source = row.source_kind, row.source
    said = [row.id, row.type, row.title, row.content, *related]
    said += [source for source in (source_kind, source) if source is not UNSET]
    if any(map(is_blank, said)):
        return None
    instants = read_instants(row.created, row.updated, _plain(row.valid_from), _plain(row.valid_until))
    if not isinstance(instants, Instants):
        return None
    return Record(
        row.id,
        row.type,
        row.title,
        row.created,
        row.updated,
        Provenance(source_kind or source or "canonical", _plain(row.source_session), path),
        row.content,
        related,
        _plain(row.valid_from),
        _plain(row.valid_until),
        *instants,
    )


def _plain(value: str | UnsetType | None) -> str | None:
    return None if value is UNSET else value
