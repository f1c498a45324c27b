"""From a block of JSONL lines to the records of a transcript: all at once where all is well, line by line where not.

Rules:

1. Only LF ends a line. A blank line is nothing; a line that is no single JSON object is malformed.
2. Of a malformed line whatever parses is used: objects glued together, or one that follows a torn one to the line's
   end. Of a last line without its LF nothing but whole objects, since what ends it may be a part of a cut one.
3. The time is linear in the block, whatever it holds: a block that is not all well is halved, down to a few lines.
"""

import json
import re
from typing import Any, Final, NamedTuple

import msgspec

from policies.limits import KIB

Content = msgspec.Raw


class Part(msgspec.Struct, gc=False):
    """A block of a message's content: a call (`id`, `name`) or a result (`tool_use_id`, `is_error`, `content`)."""

    type: str = ""
    id: str = ""
    name: str = ""
    tool_use_id: str = ""
    is_error: bool | None = None
    content: Content = Content(b"null")


class Message(msgspec.Struct, gc=False):
    """What an assistant or user line says."""

    content: list[Part] | str | None = None


class Record(msgspec.Struct, gc=False, rename={"session": "sessionId"}):
    """A line, as far as it is of use. Fields of another shape than expected count as missing.

    Transcripts have the fields down to `message`; tool logs have `timestamp`, `tool_name`, `session_id` and `error`;
    generic rows the last five.
    """

    type: str = ""
    uuid: str | None = None
    timestamp: str | None = None
    session: str | None = None
    message: Message | str | None = None
    tool_name: str | None = None
    session_id: str | None = None
    error: str | None = None
    t: int | float | None = None
    tool: str | None = None
    ok: bool | None = None
    ms: int | float | None = None
    err: str | None = None


class Block(NamedTuple):
    """The records of some lines, and how many of those lines were malformed."""

    records: list[Record]
    malformed: int


# A longer block is halved before it is tried, a shorter one is not halved any more.
AT_ONCE_BYTES: Final = 128 * KIB
LINE_BY_LINE_BYTES: Final = 4 * KIB
_RECORDS: Final = msgspec.json.Decoder(Record)
_LENIENT: Final = json.JSONDecoder(parse_int=float)  # an integer of any length, as the fast decoder has it
_STRINGS: Final = ("tool_name", "session_id", "error", "tool", "err")
_NUMBERS: Final = ("t", "ms")
_BLANK: Final = re.compile(r"[ \t\r\n]*")


def records_of(block: bytes) -> Block:
    """Return what stands in a block of lines, the last one perhaps without its LF."""
    middle = block.find(b"\n", len(block) // 2) + 1
    can_be_halved = 0 < middle < len(block)
    records = None if can_be_halved and len(block) > AT_ONCE_BYTES else _all_at_once(block)
    if records is not None:
        return Block(records, 0)
    if can_be_halved and len(block) > LINE_BY_LINE_BYTES:
        first, second = records_of(block[:middle]), records_of(block[middle:])
        return Block(first.records + second.records, first.malformed + second.malformed)
    return _line_by_line(block)


def _line_by_line(block: bytes) -> Block:
    records = []
    malformed = 0
    *lines, rest = block.split(b"\n")
    for line in [*lines, rest]:
        if not line or line.isspace():
            continue
        objects, is_sound = _objects(line, is_whole=line is not rest)
        records += [_record(members) for members in objects]
        malformed += not is_sound
    return Block(records, malformed)


def text_of(content: Content) -> str:
    """Return the text of a result: a string, or the texts of a list of blocks one a line; else nothing."""
    value = json.loads(bytes(content))
    if isinstance(value, str):
        return value
    parts = value if isinstance(value, list) else []
    texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
    return "\n".join(text for text in texts if isinstance(text, str))


def _all_at_once(block: bytes) -> list[Record] | None:
    """Return the records of a block where each of its lines holds one of the usual shape, else None.

    The decoder takes glued objects and objects over several lines too. No line end between `}` and `{` can lie inside
    of an object; so where every line end is of that kind, and there are as many objects as lines, each line is one.
    """
    lines = block.count(b"\n")
    if not (block.startswith(b"{") and block.endswith(b"}\n") and block.count(b"}\n{") == lines - 1):
        return None
    try:
        str(block, "utf-8")
        records = _RECORDS.decode_lines(block)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return records if len(records) == lines else None


def _objects(line: bytes, *, is_whole: bool) -> tuple[list[dict[str, Any]], bool]:
    """Return the objects of a line, and whether it is sound: one object and nothing else."""
    try:
        text = line.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError:
        return [], False
    found: list[dict[str, Any]] = []
    at = _skip_blank(text, 0)
    while at < len(text):
        try:
            value, end = _LENIENT.raw_decode(text, at)
        except json.JSONDecodeError as error:
            return [*found, *(_after_torn(text, at, error.pos) if is_whole else [])], False
        except RecursionError:
            return found, False
        if not isinstance(value, dict):
            return found, False
        found.append(value)
        at = _skip_blank(text, end)
    return found, len(found) == 1


def _skip_blank(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return match.end() if match else at


def _after_torn(text: str, begin: int, failed: int) -> list[dict[str, Any]]:
    """Return the object that was appended to a torn one: it begins about where parsing failed, and ends the line."""
    for at in (text.rfind("{", begin + 1, failed + 1), text.find("{", max(failed, begin + 1))):
        if at < 0:
            continue
        try:
            value, end = _LENIENT.raw_decode(text, at)
        except (RecursionError, ValueError):
            continue
        if isinstance(value, dict) and _skip_blank(text, end) == len(text):
            return [value]
    return []


def _record(members: dict[str, Any]) -> Record:
    """Return an object as a record, however odd its shape."""
    message = members.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    parts = [_part(part) for part in content if isinstance(part, dict)] if isinstance(content, list) else None
    return Record(
        _string(members, "type"),
        _string(members, "uuid") or None,
        _string(members, "timestamp") or None,
        _string(members, "sessionId") or None,
        Message(parts),
        **{key: members[key] for key in _STRINGS if isinstance(members.get(key), str)},
        **{key: members[key] for key in _NUMBERS if _is_number(members.get(key))},
        ok=members["ok"] if isinstance(members.get("ok"), bool) else None,
    )


def _part(members: dict[str, Any]) -> Part:
    return Part(
        _string(members, "type"),
        _string(members, "id"),
        _string(members, "name"),
        _string(members, "tool_use_id"),
        members.get("is_error") is True,
        Content(json.dumps(members.get("content")).encode()),
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _string(members: dict[str, Any], key: str) -> str:
    value = members.get(key)
    return value if isinstance(value, str) else ""
