"""Frontmatter, read as YAML and edited as text: only the lines of the named keys change, every other byte stays.

Rules:

1. The header is the block between a first line exactly `---` and the next line exactly `---`; a line ends with LF or
   CRLF. A note without one gets none: there is nothing to add to.
2. A header that is no plain mapping (broken YAML, a key twice, tags, aliases, one line for all) is refused untouched.
3. After an edit the header is parsed again and must differ in the named keys alone, else the edit is refused.
4. `revert` with what an edit gives brings the bytes back.
5. Dates stay text: what a date is, the memory's own timestamps decide.

PyYAML is slow to load and to parse: `glance` reads plain scalars by line, to tell which notes are worth parsing.
"""

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final, NamedTuple

from policies.timestamps import parse_timestamp

Value = str | int | bool

_BOM: Final = b"\xef\xbb\xbf"
_HEADER = re.compile(rb"---(\r?\n)((?:(?!---\r?(?:\n|\Z))[^\n]*\n)*+)---\r?(?:\n|\Z)")
_PLAIN = re.compile(r"([A-Za-z0-9_]+):(?:[ \t]+(.*?))?[ \t\r]*")
# Beyond these a scalar's text may not be its value.
_SIMPLE = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.+_/ -]|:(?=[A-Za-z0-9]))*")
_COMMENT_OR_BLANK = re.compile(r"[ \t]*(?:#.*)?[\r\n]*")
_FLUSH_COMMENT_OR_BLANK = re.compile(r"(?:[ \t]*|#.*)[\r\n]*")
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_DEEPEST: Final = 100
_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


class FrontmatterError(ValueError):
    """A header that cannot be read or edited. `str()` says why, and never repeats the note."""


class Patch(NamedTuple):
    """What takes one change back: at this byte of the edited note, so many bytes were these before."""

    at: int
    length: int
    before: bytes


class Edited(NamedTuple):
    """A note after an edit, and what takes it back, in the order of the note."""

    data: bytes
    undo: tuple[Patch, ...]


class _Header(NamedTuple):
    """Where the text between the two lines `---` lies in a note, the text, and how its lines end."""

    start: int
    text: str
    line_end: str


class _Span(NamedTuple):
    """The lines of one key within the header's text."""

    start: int
    end: int


def read_frontmatter(data: bytes) -> dict[str, Any] | None:
    """Return the values in a note's header, dates as text; None where it has no header.

    Raises:
        FrontmatterError: The header is no plain mapping.
    """
    header = _header(data)
    return None if header is None else dict(_values(header.text))


def glance(data: bytes) -> dict[str, str]:
    """Return the scalars in a note's header that can be read by line without doubt, as text; the last of a name wins.

    A name that is missing here may stand in the header all the same: only parsing tells.
    """
    try:
        header = _header(data)
    except FrontmatterError:
        return {}
    lines = header.text.split("\n") if header else []
    found = {}
    for line, following in pairwise(lines):  # behind the last line end there is one more, empty
        match = _PLAIN.fullmatch(line)
        if match and match[2] and _SIMPLE.fullmatch(match[2]) and not following.startswith((" ", "\t")):
            found[match[1]] = match[2]
    return found


def edit(data: bytes, changes: Mapping[str, Value | None]) -> Edited:
    """Set keys of a note's header to one-line values, or take them out (None). New keys go before the closing `---`.

    Raises:
        FrontmatterError: There is no header, it is no plain mapping, or the edit would change more than the named keys.
    """
    header = _header(data)
    if header is None:
        raise FrontmatterError("there is no frontmatter")
    lines = {key: _line(key, value, header.line_end).encode() for key, value in changes.items()}
    edited = _replace(data, header, lines)
    _verify(header.text, edited.data, changes)
    return edited


def revert(data: bytes, undo: Sequence[Patch]) -> bytes:
    """Return the note as it was before the edit that gave `data` and `undo`; that `data` is that, the caller checks."""
    for patch in reversed(undo):
        data = data[: patch.at] + patch.before + data[patch.at + patch.length :]
    return data


def _header(data: bytes) -> _Header | None:
    skipped = len(_BOM) if data.startswith(_BOM) else 0
    match = _HEADER.match(data, skipped)
    if match is None:
        return None
    try:
        return _Header(match.start(2), match[2].decode("utf-8"), match[1].decode("ascii"))
    except UnicodeDecodeError as error:
        raise FrontmatterError("the frontmatter is no UTF-8") from error


def _replace(data: bytes, header: _Header, lines: Mapping[str, bytes]) -> Edited:
    """Put lines in the place of those of their keys, or at the end; an empty one takes the key's lines out."""
    spans = _spans(header.text)
    ends = _Span(len(header.text), len(header.text))
    places = sorted(((spans.get(key, ends), line) for key, line in lines.items()), key=lambda place: place[0])
    undo = []
    grown = 0
    for span, line in places:
        at = header.start + len(header.text[: span.start].encode()) + grown
        before = header.text[span.start : span.end].encode()
        data = data[:at] + line + data[at + len(before) :]
        grown += len(line) - len(before)
        if line != before:
            undo.append(Patch(at, len(line), before))
    return Edited(data, tuple(undo))


def _spans(text: str) -> dict[str, _Span]:
    """Return the lines of each top-level key: from its own line to the last one of its value."""
    root = _compose(text)
    if root is None:
        return {}
    starts = [key.start_mark.index - key.start_mark.column for key, _ in root.value]
    if len(set(starts)) != len(starts) or any(text[start - 1 : start] not in ("", "\n") for start in starts):
        raise FrontmatterError("the frontmatter's keys do not stand on lines of their own")
    ends = [*starts[1:], len(text)]
    return {
        key.value: _Span(start, _end_of_value(text, start, end, is_block=getattr(value, "style", None) in ("|", ">")))
        for (key, value), start, end in zip(root.value, starts, ends, strict=True)
    }


def _end_of_value(text: str, start: int, end: int, *, is_block: bool) -> int:
    """Leave comments and blank lines after a value to themselves; in a block scalar an indented `#` is no comment."""
    loose = _FLUSH_COMMENT_OR_BLANK if is_block else _COMMENT_OR_BLANK
    while True:
        last = text.rfind("\n", start, end - 1) + 1
        if last <= start or not loose.fullmatch(text, last, end):
            return end
        end = last


def _verify(before: str, after: bytes, changes: Mapping[str, Value | None]) -> None:
    header = _header(after)
    expected = {key: value for key, value in _values(before).items() if key not in changes}
    expected |= {key: value for key, value in changes.items() if value is not None}
    if header is None or not _same(_values(header.text), expected):
        raise FrontmatterError("the edit would change more than the named keys")


def _same(left: object, right: object) -> bool:
    """Compare as JSON has it: `1`, `1.0` and `true` differ."""
    return repr(_sorted(left)) == repr(_sorted(right))


def _sorted(value: object) -> object:
    return sorted(value.items(), key=repr) if isinstance(value, dict) else value


def _line(key: str, value: Value | None, line_end: str) -> str:
    if not _KEY.fullmatch(key):
        raise FrontmatterError(f"no key can be named {key!r}")
    return "" if value is None else f"{key}: {_spell(value)}{line_end}"


def _spell(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) or parse_timestamp(value) is not None:
        return str(value)
    # A JSON string is a YAML one, but for what YAML does not print.
    return _UNPRINTABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(value, ensure_ascii=False))


@lru_cache(maxsize=2)  # of the note at hand, before and after
def _values(text: str) -> dict[str, Any]:
    import yaml

    root = _compose(text)
    if root is None:
        return {}
    try:
        values: dict[str, Any] = _loader("").construct_document(root)
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        raise FrontmatterError("the frontmatter is no plain YAML") from error
    return values


@lru_cache(maxsize=2)  # likewise
def _compose(text: str) -> Any:
    """Return the mapping node of a header's text, None where it is empty.

    Raises:
        FrontmatterError: It is anything else, or has tags, aliases, or a key twice.
    """
    import yaml

    try:
        loader = _loader(text)
        root = loader.get_single_node()
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise FrontmatterError("the frontmatter is no plain YAML") from error
    if root is None:
        return None
    if not isinstance(root, yaml.MappingNode) or root.flow_style:
        raise FrontmatterError("the frontmatter is no mapping of one key a line")
    _refuse_aliases(yaml, root, set())
    names = [key.value for key, _ in root.value if isinstance(key, yaml.ScalarNode)]
    if len(names) != len(root.value) or len(set(names)) != len(names):
        raise FrontmatterError("the frontmatter has a key twice, or one that is no word")
    return root


def _refuse_aliases(yaml: Any, node: Any, seen: set[int], depth: int = 0) -> None:
    """Refuse a node that stands in two places (an alias, which can make a small header huge), and endless nesting."""
    if id(node) in seen or depth > _DEEPEST:
        raise FrontmatterError("the frontmatter has an alias, or is nested too deep")
    seen.add(id(node))
    if isinstance(node, yaml.ScalarNode):
        return
    for member in node.value:
        for part in member if isinstance(member, tuple) else (member,):
            _refuse_aliases(yaml, part, seen, depth + 1)


def _loader(text: str) -> Any:
    import yaml

    return _loader_class(yaml)(text)


def _loader_class(yaml: Any) -> Any:
    """Return PyYAML's safe loader (the one in C where it is there), without the guess that a scalar is a date."""
    global _LOADER  # noqa: PLW0603 # made once, where PyYAML is first needed
    if _LOADER is None:

        class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc] # no type before it is imported
            """The safe loader of headers."""

        Loader.yaml_implicit_resolvers = {
            first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith(":timestamp")]
            for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
        }
        _LOADER = Loader
    return _LOADER


_LOADER: Any = None
