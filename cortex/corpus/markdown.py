"""A Markdown file as a record: its frontmatter gives the fields, the whole file is the content. Pure.

The frontmatter is no YAML: a block between two lines `---`, in it lines `name: value`. A line ends with LF or CRLF and
with nothing else. Every pattern is possessive, so no text makes it slow.
"""

import re
from typing import Final

from cortex.corpus.record import Flaw, Instants, Parsed, Provenance, Record, read_instants
from cortex.privacy import strip_and_tell
from cortex.text import WHITE_SPACE, is_blank
from policies.timestamps import parse_timestamp

EPOCH: Final = "1970-01-01T00:00:00.000Z"
WORK_FOLDER: Final = "WORK"
_QUOTES: Final = ("'", '"')
_RELATED: Final = "\nrelated:"

# The names that may give each field that a private span must not silently replace, in order of preference.
_ALTERNATIVES: Final = (("id",), ("type",), ("title", "name"), ("created", "date", "ts"), ("updated", "last_updated"))
_TIMES: Final = _ALTERNATIVES[3:]

_CLOSING = re.compile(r"\n---(?=\r?\n|\Z)")
_SCALAR = re.compile(r"\n([A-Za-z0-9_]++):(.*)")
# A line of a `related:` block: `slug: V`, `- slug: V`, or `- V` where V is no `name: …` of another kind.
_RELATED_LINE = re.compile(
    r"\n[ \t]*+(?:(?:-[ \t]++)?slug:(.*)|-(?=[ \t])(?![ \t]++[A-Za-z0-9_]++:(?:[ \t\r\n]|\Z))(.*))"
)
# These are compiled when they are first needed, which most notes do without.
_LINK_OR_QUOTED: Final = r"""(?:\[\[[^\[\]]*+\]\]|"[^"]*+"|'[^']*+')"""
_PROTECTED: Final = rf"[ \t]*+{_LINK_OR_QUOTED}"
_ITEM: Final = rf"(?=[^,])(?:[ \t]*+{_LINK_OR_QUOTED})?+[^,]*+"
_COMMENT: Final = r"[ \t]#"
_LINK: Final = r"\[\[([^\[\]|#]++)[^\[\]]*+\]\]"


def parse_note(path: str, text: str) -> Parsed:
    """Return what the text of a Markdown file comes to. `text` is sound, decoded, without a byte-order mark."""
    public, cut = strip_and_tell(text)
    block = _frontmatter(public)
    scalars = _scalars(block)
    identity = scalars.get("id") or _id_of_path(path)
    if public != text and _is_withheld(text, public, scalars):
        return Parsed(None, identity, cut)
    related = _related(block) if "related" in scalars else ()
    return Parsed(_record(path, identity, public, scalars, related), identity, cut)


def _record(
    path: str, identity: str, content: str, scalars: dict[str, str], related: tuple[str, ...]
) -> Record | tuple[Flaw, ...]:
    get = scalars.get
    created = get("created") or get("date") or get("ts") or EPOCH
    updated = get("updated") or get("last_updated") or created
    valid_from, valid_until = get("valid_from") or None, get("valid_until") or None
    instants = read_instants(created, updated, valid_from, valid_until)
    if is_blank(identity):
        return (Flaw("field", "id is blank"), *(() if isinstance(instants, Instants) else instants))
    if not isinstance(instants, Instants):
        return instants
    return Record(
        identity,
        get("type") or _default_type(path),
        get("title") or get("name") or path,
        created,
        updated,
        Provenance(get("source_kind") or get("source") or "canonical", get("source_session") or None, path),
        content,
        related,
        valid_from,
        valid_until,
        *instants,
    )


def _id_of_path(path: str) -> str:
    from hashlib import sha256

    return f"path:{sha256(path.encode()).hexdigest()[:16]}"


def _default_type(path: str) -> str:
    return "work" if f"/{WORK_FOLDER}/" in f"/{path}" else "memory"


def _frontmatter(text: str) -> str:
    """Return the lines between the two `---`, each with its line end in front of it; "" where there is no block."""
    if not text.startswith(("---\n", "---\r\n")):
        return ""
    closing = _CLOSING.search(text, 3)
    return text[3 : closing.start()] if closing else ""


def _scalars(block: str) -> dict[str, str]:
    """Return every scalar of a block by name, empty ones too; the last of a name wins."""
    return {name: _unquote(value.strip(WHITE_SPACE)) for name, value in _SCALAR.findall(block)}


def _unquote(value: str) -> str:
    if value.startswith(_QUOTES):
        value = value[1:]
    return value[:-1] if value.endswith(_QUOTES) else value


def _is_withheld(text: str, public: str, scalars: dict[str, str]) -> bool:
    """Tell whether privacy leaves no record: its content, or what its id, type, title or times say, was private.

    A line that is private as a whole is simply not there; a line that is there and has lost its value is not replaced
    by a default.
    """
    if is_blank(public) and not is_blank(text):
        return True
    before = _scalars(_frontmatter(text))
    for names in _ALTERNATIVES:
        name = next((name for name in names if before.get(name)), None)
        if name is None or name not in scalars:
            continue
        value = scalars[name]
        if is_blank(value) and not is_blank(before[name]):
            return True
        if names in _TIMES and value != before[name] and parse_timestamp(value) is None:
            return True
    return False


def _related(block: str) -> tuple[str, ...]:
    """Return what the last `related:` of a block names: an inline list, or the lines up to the next scalar."""
    start = block.rindex(_RELATED) + len(_RELATED)
    end = block.find("\n", start)
    end = len(block) if end < 0 else end
    inline = _without_comment(block[start:end])
    if inline:
        values = _split_list(inline)
    else:
        following = _SCALAR.search(block, end)
        lines = _RELATED_LINE.finditer(block, end, following.start() if following else len(block))
        values = [match[1] or match[2] or "" for match in lines]
    named = [_entry(value) for value in values if not is_blank(value)]
    return tuple([name for name in named if not is_blank(name)])


def _split_list(inline: str) -> list[str]:
    """Return the items of `[a, "b, c", [[d]]]`, or of links without brackets around them; nothing for another text."""
    if inline.startswith("[") and inline.endswith("]"):
        is_bare = inline.startswith("[[") and not inline.startswith("[[[")
        return re.findall(_ITEM, inline if is_bare else inline[1:-1])
    return []


def _entry(text: str) -> str:
    """Return what one entry names: without comment and quotes; of a link, the page."""
    value = _unquote(_without_comment(text))
    link = re.fullmatch(_LINK, value) if value.startswith("[[") else None
    return link[1].strip(WHITE_SPACE) if link else value


def _without_comment(text: str) -> str:
    """Return a value up to ` #`, trimmed; a `#` in a link or in quotes at its start is part of it."""
    if "#" in text:
        protected = re.match(_PROTECTED, text)
        start = protected.end() if protected else 0
        comment = re.search(_COMMENT, text[start:])
        text = text[: start + comment.start()] if comment else text
    return text.strip(WHITE_SPACE)
