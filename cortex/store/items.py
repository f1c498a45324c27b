"""Items: what an agent may ask to have remembered, field by field. Pure.

Private text is taken out of every string first; then each field is held against its rule. The first rule that is
broken refuses the item, by the field's name; no message repeats a value, or a key that is not ours.
"""

import re
from collections.abc import Callable
from typing import Annotated, Final, Literal

from msgspec import UNSET, Meta, Struct, UnsetType, ValidationError, convert

from cortex.errors import invalid
from cortex.privacy import strip_private
from cortex.text import WHITE_SPACE, find_control, is_blank
from policies import limits
from policies.tiers import Actor, EntityType, TargetKind

RelationType = Literal[
    "supports", "contradicts", "extends", "part-of", "instance-of", "caused-by", "preceded-by", "related"
]
Confidence = Annotated[float, Meta(ge=0, le=1)]
Sessions = Annotated[int, Meta(ge=0, le=limits.LARGEST_INTEGER)]


class Relation(Struct, frozen=True, forbid_unknown_fields=True):
    """What another note is to this one."""

    slug: str
    type: RelationType


Related = Annotated[tuple[Relation, ...], Meta(max_length=limits.RELATED_MOST)]


class MemoryItem(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag_field="type", tag="memory"):
    """Hot memory: one entry to add, or all of an actor's entries anew."""

    actor: Actor
    op: Literal["add", "set"] = "add"
    content: str | UnsetType = UNSET
    entries: tuple[str, ...] | UnsetType = UNSET
    provenance: Literal["explicit", "deduced", "inferred"] | UnsetType = UNSET
    confidence: Confidence | UnsetType = UNSET


class IdeaItem(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag_field="type", tag="idea"):
    """A note about a thought."""

    title: str
    content: str
    source_session: str | UnsetType = UNSET
    confidence: Confidence | UnsetType = UNSET
    related: Related = ()


class KnowledgeItem(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag_field="type", tag="knowledge"):
    """A note about somebody or something."""

    entity_type: EntityType
    name: str
    content: str
    source_session: str | UnsetType = UNSET
    confidence: Confidence | UnsetType = UNSET
    related: Related = ()


class ProposalItem(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, tag_field="type", tag="proposal"):
    """A change to a file that people decide about."""

    target_file: str
    edit: str
    confidence: Confidence
    rationale: str
    target_kind: TargetKind | UnsetType = UNSET
    observed_across_sessions: Sessions | UnsetType = UNSET
    source_session: str | UnsetType = UNSET


Item = MemoryItem | IdeaItem | KnowledgeItem | ProposalItem
TYPES: Final[dict[str, type[Item]]] = {
    "memory": MemoryItem,
    "idea": IdeaItem,
    "knowledge": KnowledgeItem,
    "proposal": ProposalItem,
}
ENTRY_PREFIXES: Final = ("NAME: ", "ROLE: ", "RELATION: ", "PREFERENCE: ", "RULE: ")
BEGIN_ENTRIES: Final = "<!-- BEGIN ENTRIES -->"
END_ENTRIES: Final = "<!-- END ENTRIES -->"

_LINE_BREAK = re.compile("[\t\n\r\u2028\u2029]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_OUR_KIND_OF_KEY = re.compile(r"[a-z_]{1,64}")
# What YAML reads as a number, a date, a boolean, nothing, or a merge, though nobody quoted it.
_NO_PLAIN_STRING = re.compile(
    r"""[-+]?(0b[01_]+|0x[0-9a-f_]+|[0-9][0-9_]*(:[0-5]?[0-9])*(\.[0-9_]*)?(e[-+]?[0-9]+)?|\.[0-9][0-9_]*(e[-+]?[0-9]+)?
    |\.inf)|\.nan|[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(t|\ +)[0-9]{1,2}:.*
    |y|n|yes|no|true|false|on|off|null|none|~|<<|=""",
    re.IGNORECASE | re.VERBOSE,
)
_INDICATORS: Final = "-?:,[]{}#&*!|>'\"%@`"
_ENDS: Final = ":'\""
_INSIDE: Final = (": ", " #", "\ufffe", "\uffff")


def read_item(payload: dict[str, object]) -> Item:
    """Return the item that a payload spells, stripped of private text.

    Args:
        payload: A decoded JSON object whose `type` is one of `TYPES`.

    Raises:
        CortexError: `invalid_input`, naming the field whose rule it breaks.
    """
    _refuse_private_target(payload)
    try:
        stripped = {key: _strip(value) for key, value in payload.items()}
    except RecursionError as error:
        raise invalid("the payload is nested too deep") from error
    shape = TYPES[str(stripped["type"])]
    _check_keys(stripped, shape)
    try:
        item = convert(stripped, shape)
    except ValidationError as error:
        raise invalid(_explain(str(error))) from error
    _check_texts(item)
    return item


def check_free_text(field: str, text: str) -> None:
    """Refuse a text that has no content, is too long, or holds a character that no canonical text may hold."""
    _check_text(field, text, limits.FREE_TEXT_CHARACTERS)


def check_metadata(field: str, text: str, most: int = limits.METADATA_CHARACTERS) -> None:
    """Refuse a text that could break out of the line it is written on, beside what `check_free_text` refuses."""
    _check_text(field, text, most)
    if _LINE_BREAK.search(text):
        raise invalid(f"{field} holds a tab or a line break")
    if text.startswith("---") or "<!--" in text or "-->" in text:
        raise invalid(f"{field} begins with --- or holds a comment mark")


def check_session(field: str, text: str) -> None:
    """Refuse a session that YAML would not read back as that very string."""
    check_metadata(field, text)
    reads_back = (
        text.strip(WHITE_SPACE) == text
        and text[0] not in _INDICATORS
        and text[-1] not in _ENDS
        and not any(mark in text for mark in _INSIDE)
        and not _NO_PLAIN_STRING.fullmatch(text)
    )
    if not reads_back:
        raise invalid(f"{field} is no plain word: YAML would read it as something else")


def check_entry(field: str, text: str) -> None:
    """Refuse what is no entry of hot memory: one line, a known prefix, no marker, something said."""
    check_free_text(field, text)
    prefix = next((known for known in ENTRY_PREFIXES if text.startswith(known)), None)
    if prefix is None:
        raise invalid(f"{field} begins with none of: {', '.join(known.strip() for known in ENTRY_PREFIXES)}")
    if is_blank(text[len(prefix) :]):
        raise invalid(f"{field} says nothing after its prefix")
    if _LINE_BREAK.search(text):
        raise invalid(f"{field} is more than one line, or holds a tab")
    if BEGIN_ENTRIES in text or END_ENTRIES in text:
        raise invalid(f"{field} holds a marker of the list of entries")
    if len(text) > limits.HOT_ENTRY_CHARACTERS:
        raise invalid(f"{field} has {len(text)} characters, an entry at most {limits.HOT_ENTRY_CHARACTERS}")


def _strip(value: object) -> object:
    if isinstance(value, str):
        return strip_private(value)
    if isinstance(value, list):
        return [_strip(element) for element in value]
    if isinstance(value, dict):
        return {key: _strip(member) for key, member in value.items()}
    return value


def _refuse_private_target(payload: dict[str, object]) -> None:
    """Refuse rather than strip: a path without a part of it is another path."""
    target = payload.get("target_file")
    if isinstance(target, str) and strip_private(target) != target:
        raise invalid("target_file holds private markup")


def _check_keys(payload: dict[str, object], shape: type[Item]) -> None:
    known = shape.__struct_fields__
    for key in payload:
        if key != "type" and key not in known:
            named = f"the field {key}" if _OUR_KIND_OF_KEY.fullmatch(key) else "a field"
            raise invalid(f"{named} is not known; {payload['type']} has: {', '.join(known)}")


def _explain(message: str) -> str:
    """Say what msgspec found without repeating an unknown key."""
    what, _, where = message.partition(" - at ")
    if "unknown field" in what:
        what = "a field that is not known"
    return f"{where.strip('`').removeprefix('$.') or 'the item'}: {what}"


def _check_texts(item: Item) -> None:
    if isinstance(item, MemoryItem):
        _check_memory(item)
        return
    for field, check in _TEXT_RULES.items():
        text = getattr(item, field, UNSET)
        if isinstance(text, str):
            check(field, text)
    if isinstance(item, IdeaItem | KnowledgeItem):
        _check_related(item.related)


def _check_memory(item: MemoryItem) -> None:
    wanted, other = ("entries", "content") if item.op == "set" else ("content", "entries")
    if getattr(item, wanted) is UNSET:
        raise invalid(f"{wanted} is missing: op {item.op} needs it")
    if getattr(item, other) is not UNSET:
        raise invalid(f"{other} does not belong to op {item.op}")
    if isinstance(item.content, str):
        check_entry("content", item.content)
    if isinstance(item.entries, tuple):
        for number, entry in enumerate(item.entries):
            check_entry(f"entries[{number}]", entry)
        if len(set(item.entries)) < len(item.entries):
            raise invalid("entries holds one entry twice")


def _check_related(related: tuple[Relation, ...]) -> None:
    for number, relation in enumerate(related):
        field = f"related[{number}].slug"
        check_metadata(field, relation.slug, limits.RELATED_SLUG_CHARACTERS)
        if not _SLUG.fullmatch(relation.slug):
            raise invalid(f"{field} is letters, digits, dots, dashes and underscores, a letter or digit first")


def _check_text(field: str, text: str, most: int) -> None:
    if is_blank(text):
        raise invalid(f"{field} is empty")
    if len(text) > most:
        raise invalid(f"{field} has {len(text)} characters, at most {most} are allowed")
    if find_control(text) is not None:
        raise invalid(f"{field} holds a control character")
    if _SURROGATE.search(text):
        raise invalid(f"{field} holds half a character (a lone surrogate)")


def _check_target(field: str, text: str) -> None:
    check_metadata(field, text, limits.TARGET_PATH_CHARACTERS)


_TEXT_RULES: Final[dict[str, Callable[[str, str], None]]] = {
    "title": check_metadata,
    "name": check_metadata,
    "content": check_free_text,
    "source_session": check_session,
    "target_file": _check_target,
    "edit": check_free_text,
    "rationale": check_free_text,
}
