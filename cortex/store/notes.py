"""Notes: what a new one looks like, and how an existing one grows. Pure: texts in, texts out.

A new note has frontmatter and a heading. An existing one keeps every byte but two things of its frontmatter (`updated`
is brought up to date, `related` gains what is new) and gains a section at its end. Either must read back as a sound
record that says what was meant, before anybody writes it.
"""

import re
from collections.abc import Sequence
from hashlib import sha256
from typing import Final, NamedTuple

from cortex.corpus.markdown import parse_note
from cortex.corpus.record import Record
from cortex.errors import CortexError
from cortex.store.items import IdeaItem, KnowledgeItem, Relation
from cortex.text import BYTE_ORDER_MARK, find_control
from policies.limits import CORPUS_MAX_FILE_BYTES, MIB, SLUG_CHARACTERS
from policies.timestamps import format_instant

_NO_SLUG = re.compile(r"[^a-z0-9]+")
_NO_YAML = re.compile("[\ufffe\uffff]")
_UPDATED = re.compile(r"\nupdated:[^\r\n]*")
_RELATED = re.compile(r"\nrelated:([^\r\n]*)")
_SCALAR = re.compile(r"\n[A-Za-z0-9_]+:")
_CLOSING = re.compile(r"\n---(?=\r?\n|\Z)")
_MARK: Final = BYTE_ORDER_MARK.encode()

NoteItem = IdeaItem | KnowledgeItem


class Source(NamedTuple):
    """Who wrote a part of a note, and when (milliseconds since 1970)."""

    adapter: str
    now: int


class Place(NamedTuple):
    """Where a note lies within the memory, and its slug."""

    path: str
    slug: str


def name_of(item: NoteItem) -> str:
    """Return what a note is called."""
    return item.title if isinstance(item, IdeaItem) else item.name


def slug_of(name: str) -> str:
    """Return the file name of a note's name, without suffix: `[a-z0-9-]`, distinct for names without such letters."""
    slug = _NO_SLUG.sub("-", name.lower()).strip("-")[:SLUG_CHARACTERS].rstrip("-")
    return slug or f"u-{_hash(name)[:12]}"


def slugs_of(name: str) -> tuple[str, ...]:
    """Return the slugs to try in turn, each where the one before is taken by another name."""
    slug, digits = slug_of(name), _hash(name)
    return slug, f"{slug}-{digits[:6]}", f"{slug}-{digits[:12]}"


def id_of(slug: str, created: str) -> str:
    """Return the id of a note of this slug that was created at this time."""
    return f"kb_{_hash(f'{slug} {created}')[:12]}"


def read(path: str, data: bytes) -> Record:
    """Return the record of an existing note.

    Raises:
        CortexError: `integrity_error` where it is not sound or withheld; there is no telling what it says then.
    """
    text = _decode(data)
    parsed = None if text is None else parse_note(path, text).result
    if isinstance(parsed, Record):
        return parsed
    what = f"is not sound: it {parsed[0].message}" if parsed else "leaves no record that can be read"
    raise CortexError("integrity_error", f"{path} {what}; `cortex check --list` says more")


def is_named(record: Record, name: str) -> bool:
    """Tell whether an existing note carries a name; names are compared as they read back from a note."""
    written = parse_note(record.provenance.path, f"---\ntitle: {quoted(name)}\n---\n").result
    return isinstance(written, Record) and written.title == record.title


def new_note(item: NoteItem, place: Place, source: Source) -> bytes:
    """Return the content of a new note.

    Raises:
        CortexError: `governance_refused` where it would not read back as what it is meant to be.
    """
    created = format_instant(source.now)
    name = name_of(item)
    lines = (
        "---",
        f"id: {id_of(place.slug, created)}",
        f"type: {'idea' if isinstance(item, IdeaItem) else item.entity_type}",
        f"title: {quoted(name)}",
        "tags: []",
        "status: active",
        _field("confidence", item.confidence),
        f"source_kind: {source.adapter}",
        _field("source_session", item.source_session),
        f"created: {created}",
        f"updated: {created}",
        *(["related:", *_related_lines(item.related)] if item.related else ["related: []"]),
        "---",
        "",
        f"# {name}",
        "",
        item.content,
    )
    text = "\n".join(lines).rstrip("\n") + "\n"
    return _sound(place.path, text, text)


def appended(item: NoteItem, record: Record, data: bytes, source: Source) -> bytes:
    """Return the content of an existing note with a section at its end.

    Raises:
        CortexError: `governance_refused` where it would not read back with that section.
    """
    text = _decode(data) or ""
    ts = format_instant(source.now)
    line_end = "\r\n" if text.startswith("---\r\n") else "\n"
    origin = [source.adapter]
    if isinstance(item.source_session, str):
        origin.append(f"session {item.source_session}")
    if isinstance(item.confidence, float | int):
        origin.append(f"confidence {item.confidence}")
    section = line_end.join((f"## Appended {ts}", "", f"_{' · '.join(origin)}_", "", item.content)).rstrip("\n")
    updated = max(record.updated_ms, source.now)
    text = _with_updated(text, record.updated if updated == record.updated_ms else ts, line_end)
    known = set(record.related)
    text = _with_related(text, [relation for relation in item.related if relation.slug not in known], line_end)
    gap = line_end if text.endswith("\n") else line_end * 2
    grown = _sound(record.provenance.path, f"{text}{gap}{section}{line_end}", section + line_end)
    return data[: len(_MARK)] + grown if data.startswith(_MARK) else grown


def quoted(text: str) -> str:
    """Return a string as YAML in quotes, spelled so that it needs no escapes where that is possible."""
    if _NO_YAML.search(text) is None:
        if '"' not in text and "\\" not in text:
            return f'"{text}"'
        if "'" not in text:
            return f"'{text}'"
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + _NO_YAML.sub(lambda match: f"\\u{ord(match[0]):04x}", escaped) + '"'


def _field(name: str, value: object) -> str:
    return f"{name}: {value}" if isinstance(value, str | float | int) else f"{name}:"


def _related_lines(related: Sequence[Relation]) -> list[str]:
    return [line for relation in related for line in (f'  - slug: "{relation.slug}"', f"    type: {relation.type}")]


def _with_updated(text: str, updated: str, line_end: str) -> str:
    """Bring the last `updated:` of the frontmatter up to date, or add one before its end."""
    end = _end_of_frontmatter(text)
    found = list(_UPDATED.finditer(text, 0, end))
    if not found:
        return _insert(text, end, [f"updated: {updated}"], line_end)
    return f"{text[: found[-1].start()]}\nupdated: {updated}{text[found[-1].end() :]}"


def _with_related(text: str, related: Sequence[Relation], line_end: str) -> str:
    """Add relations to the frontmatter's list, whatever form it has; the ones that are there stay."""
    if not related:
        return text
    end = _end_of_frontmatter(text)
    lines = _related_lines(related)
    found = list(_RELATED.finditer(text, 0, end))
    if not found:
        return _insert(text, end, ["related:", *lines], line_end)
    last = found[-1]
    inline = last[1].strip()
    if inline and not inline.startswith("#"):
        head = f"{text[: last.start()]}\nrelated:"
        return _insert(head + text[last.end() :], len(head), [*_as_block(inline), *lines], line_end)
    following = _SCALAR.search(text, last.end(), end)
    return _insert(text, following.start() if following else end, lines, line_end)


def _as_block(inline: str) -> list[str]:
    """Return the lines of a block that names what an inline list names."""
    read_back = parse_note("", f"---\nrelated: {inline}\n---\n").result
    named = read_back.related if isinstance(read_back, Record) else ()
    if not named and not inline.startswith("[]"):
        raise _refused("the note's related is in a form that cannot be added to; make it a list with one entry a line")
    return [f'  - "{value}"' for value in named]


def _insert(text: str, at: int, lines: Sequence[str], line_end: str) -> str:
    """Insert lines at the end of a line, before its line end."""
    head = text[:at].removesuffix("\r")
    tail = text[len(head) :]
    return head + "".join(f"{line_end}{line}" for line in lines) + tail


def _end_of_frontmatter(text: str) -> int:
    """Return where the line break before the closing fence stands; 0 where there is no frontmatter."""
    closing = _CLOSING.search(text, 3) if text.startswith(("---\n", "---\r\n")) else None
    return closing.start() if closing else 0


def _sound(path: str, text: str, said: str) -> bytes:
    """Return a note's bytes, if it reads back as a sound record that ends with what was said."""
    data = text.encode()
    if len(data) > CORPUS_MAX_FILE_BYTES:
        raise _refused(f"{path} would hold more than {CORPUS_MAX_FILE_BYTES // MIB} MiB")
    result = parse_note(path, text).result
    if isinstance(result, Record) and result.content.endswith(said):
        return data
    what = "something in it opens a private part" if result is None or isinstance(result, Record) else result[0].message
    raise _refused(f"{path} would not read back: {what}")


def _decode(data: bytes) -> str | None:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    return None if find_control(text) is not None else text.removeprefix(BYTE_ORDER_MARK)


def _hash(text: str) -> str:
    return sha256(text.encode(errors="surrogatepass")).hexdigest()


def _refused(message: str) -> CortexError:
    return CortexError("governance_refused", message)
