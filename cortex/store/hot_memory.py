"""Hot memory: the short list of entries that an agent has before it every time. Pure.

Reading is lenient: every line that is an entry counts, wherever it stands after the frontmatter. Writing has one
shape: frontmatter, body, markers, entries. So one write heals any damage, and a second one changes nothing.

    ---
    last_updated: 2026-08-01T12:00:00.000Z
    last_updated_by: claude
    ---

    what people wrote

    <!-- BEGIN ENTRIES -->
    RULE: answer first, then explain
    <!-- END ENTRIES -->
"""

import re
from typing import Final, NamedTuple

from cortex.errors import CortexError
from cortex.privacy import strip_private
from cortex.store.items import BEGIN_ENTRIES, END_ENTRIES, ENTRY_PREFIXES, MemoryItem
from cortex.text import is_blank
from policies.limits import (
    HOT_ENTRIES_MOST,
    HOT_ENTRY_CHARACTERS,
    SHRINK_EROSION,
    SHRINK_FLOOR,
    SHRINK_GUARD_FROM,
)

_FENCE: Final = "---"
_MARKERS: Final = (BEGIN_ENTRIES, END_ENTRIES)
_UPDATED = re.compile(r"last_updated(_by)?:")
_BYTE_ORDER_MARK: Final = "\ufeff"


class HotMemory(NamedTuple):
    """A hot file in its parts. Lines are without their line end; `entries` are distinct, in the file's order."""

    frontmatter: tuple[str, ...]
    body: tuple[str, ...]
    entries: tuple[str, ...]


class Turnover(NamedTuple):
    """What a rewrite does to the entries."""

    dropped: tuple[str, ...]
    added: tuple[str, ...]


def parse(data: bytes) -> HotMemory:
    """Read a hot file, however it was damaged; bytes that are no UTF-8 stay as they are in the body."""
    lines = data.decode(errors="surrogateescape").removeprefix(_BYTE_ORDER_MARK).split("\n")
    end = _end_of_frontmatter(lines)
    rest = [line.removesuffix("\r") for line in lines[end:]]
    entries = dict.fromkeys(line for line in rest if is_entry(line))
    body = _trimmed([line for line in rest if line not in entries and line not in _MARKERS])
    frontmatter = [line.removesuffix("\r") for line in lines[1 : end - 1]] if end else []
    return HotMemory(tuple(frontmatter), tuple(body), tuple(entries))


def render(memory: HotMemory) -> bytes:
    """Write a hot file in its one shape."""
    body = ("", *memory.body, "") if memory.body else ("",)
    lines = (_FENCE, *memory.frontmatter, _FENCE, *body, BEGIN_ENTRIES, *memory.entries, END_ENTRIES, "")
    return "\n".join(lines).encode(errors="surrogateescape")


def has_sound_markers(data: bytes) -> bool:
    """Tell whether the markers are one pair, each a whole line, in their order."""
    lines = (line.removesuffix(b"\r").decode(errors="replace") for line in data.split(b"\n"))
    return tuple(line for line in lines if line in _MARKERS) == _MARKERS


def is_entry(line: str) -> bool:
    """Tell whether a line has the shape of an entry."""
    return (
        len(line) <= HOT_ENTRY_CHARACTERS
        and line.startswith(ENTRY_PREFIXES)
        and not is_blank(line.partition(": ")[2])
        and BEGIN_ENTRIES not in line
        and END_ENTRIES not in line
    )


def updated(memory: HotMemory, entries: tuple[str, ...], ts: str, actor: str) -> HotMemory:
    """Return a hot file with other entries, and with when and by whom it was changed."""
    kept = [line for line in memory.frontmatter if not _UPDATED.match(line)]
    return memory._replace(frontmatter=(*kept, f"last_updated: {ts}", f"last_updated_by: {actor}"), entries=entries)


def entries_after(memory: HotMemory, item: MemoryItem) -> tuple[str, ...]:
    """Return the entries that an item leaves.

    Raises:
        CortexError: `governance_refused` where they would be too many, or too many would go at once.
    """
    if isinstance(item.content, str):
        entries = memory.entries if item.content in memory.entries else (*memory.entries, item.content)
    else:
        entries = item.entries if isinstance(item.entries, tuple) else ()
    if len(entries) > HOT_ENTRIES_MOST:
        listed = _listed(entries)
        raise _refused(f"{len(entries)} entries are more than {HOT_ENTRIES_MOST}; the entries would be: {listed}")
    reason = shrinks_too_much(len(memory.entries), turnover(memory.entries, entries))
    if reason:
        gone = _listed(turnover(memory.entries, entries).dropped)
        raise _refused(f"{reason}; the entries that would go: {gone}")
    return entries


def turnover(before: tuple[str, ...], after: tuple[str, ...]) -> Turnover:
    """Compare two lists of entries."""
    old, new = set(before), set(after)
    return Turnover(
        tuple(entry for entry in before if entry not in new), tuple(entry for entry in after if entry not in old)
    )


def shrinks_too_much(entries: int, change: Turnover) -> str:
    """Return why a rewrite of so many entries drops too many of them, or "" where it does not."""
    dropped, added = len(change.dropped), len(change.added)
    left = entries - dropped + added
    if entries < SHRINK_GUARD_FROM:
        return ""
    if left < SHRINK_FLOOR:
        return f"of {entries} entries only {left} would be left"
    if dropped * 2 > entries and not added:
        return f"more than half of {entries} entries would go and none would come"
    if dropped - added >= SHRINK_EROSION:
        return f"{dropped} of {entries} entries would go for {added} that come: erosion"
    return ""


def _end_of_frontmatter(lines: list[str]) -> int:
    """Return how many lines the frontmatter block has, fences included; 0 where there is none."""
    if lines[0].removesuffix("\r") != _FENCE:
        return 0
    for number, line in enumerate(lines[1:], 1):
        text = line.removesuffix("\r")
        if text in _MARKERS:
            return 0
        if text == _FENCE:
            return number + 1
    return 0


def _trimmed(lines: list[str]) -> list[str]:
    """Return lines without blank ones at either end."""
    while lines and is_blank(lines[-1]):
        lines.pop()
    start = next((number for number, line in enumerate(lines) if not is_blank(line)), 0)
    return lines[start:]


def _listed(entries: tuple[str, ...]) -> str:
    return " | ".join(strip_private(entry) for entry in entries)


def _refused(message: str) -> CortexError:
    return CortexError("governance_refused", message)
