"""What retention writes for people and for other readers beside the notes: alerts, and the index of addresses."""

import json
from typing import Any, Final

from cortex.nofollow import NotRegularError
from cortex.retention.base import URI_INDEX, Base, read
from cortex.retention.doing import Doing, Step
from cortex.retention.plan import Plan
from cortex.retention.steps import write_step
from cortex.store.governor import Act, Change, govern
from cortex.strict_json import StrictJSONError, loads

_MAPS: Final = ("entries", "uris", "index")
ARCHIVED_KEYS: Final = ("archived", "archived_at", "archived_path")


def alert(doing: Doing, line: str, key: str) -> tuple[str, ...]:
    """Add a line to the alerts, unless one that holds `key` stands there; return warnings."""

    def plan(data: bytes | None) -> Change | None:
        before = data or b""
        if key.encode() in before:
            return None
        gap = b"" if not before or before.endswith(b"\n") else b"\n"
        return Change(before + gap + f"- {line}\n".encode(errors="backslashreplace"))

    path = doing.base.alerts
    act = Act(doing.command, doing.actor, path, doing.now, log=None, with_snapshot=False)
    return govern(doing.base.store, act, plan).warnings


def alert_of_plan(doing: Doing, plan: Plan) -> tuple[str, ...]:
    """Add the line that a plan carries, once."""
    line = plan.told.get("alert")
    return alert(doing, f"{plan.created_at} {line}; plan {plan.id}", plan.id) if line else ()


def index_step(base: Base, archived: dict[str, str], at: str) -> tuple[Step | None, str | None]:
    """Return the step that says in the index of addresses what goes where, and a warning where that cannot be.

    Args:
        base: Where the index is.
        archived: Of each address, its path in the archive.
        at: The time, as written.
    """
    try:
        data = read(base, URI_INDEX)
        if data is None or not archived:
            return None, None
        document = loads(data)
        entries = entries_of(document)
    except (NotRegularError, StrictJSONError, TypeError) as error:
        return None, f"{URI_INDEX} was left as it is: {error}"
    for address, path in archived.items():
        there = entries.get(address, {})
        known = there if isinstance(there, dict) else {"path": there}
        entries[address] = {**known, "archived": True, "archived_at": at, "archived_path": path}
    written = json.dumps(document, ensure_ascii=False, indent=indent_of(data)).encode()
    return write_step(URI_INDEX, URI_INDEX, data, written + (b"\n" if data.endswith(b"\n") else b"")), None


def entries_of(document: Any) -> dict[str, Any]:
    """Return the mapping from addresses within the index: below one of the known keys, else the whole."""
    if not isinstance(document, dict):
        raise TypeError("it is no JSON object")
    for key in _MAPS:
        if isinstance(document.get(key), dict):
            entries: dict[str, Any] = document[key]
            return entries
    return document


def indent_of(data: bytes) -> int | None:
    """Return how far the index is indented, so that it is written as it was."""
    _, newline, rest = data.partition(b"\n")
    return (len(rest) - len(rest.lstrip(b" ")) or None) if newline and rest.strip() else None
