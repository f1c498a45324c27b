"""`archive`: moves what is marked to `{归档|archive}/<year>/<same path>`. L0 never moves.

No file is put over another.
An entry is called pending by its parsed header alone. One whose place in the archive is taken stays where it is.
"""

from typing import Any, NamedTuple

from cortex.privacy import strip_private
from cortex.retention.base import URI_INDEX, read
from cortex.retention.doing import Doing, Step, hash_at, hash_bytes
from cortex.retention.entries import PENDING, REASON, Levelled, Untrusted, address, iter_notes, levelled
from cortex.retention.frontmatter import FrontmatterError, read_frontmatter
from cortex.retention.plan import Plan, new_plan
from cortex.retention.steps import move_step
from cortex.retention.telling import alert, alert_of_plan, index_step
from policies.timestamps import format_instant


class Archiving(NamedTuple):
    """What is to be moved, and what is to be told."""

    plan: Plan
    data: dict[str, Any]


def plan_archiving(doing: Doing) -> Archiving:
    """Return what is to be moved.

    Raises:
        CortexError: `integrity_error` where a memory root's corpus has a fault of shape.
    """
    steps: list[Step] = []
    protected: list[str] = []
    blocked: list[dict[str, str]] = []
    corrupted: list[Untrusted] = []
    for note in iter_notes(doing.base):
        if not isinstance(note, Untrusted) and PENDING.encode() not in note.data:
            continue
        found = note if isinstance(note, Untrusted) else levelled(note, exactly=True)
        if isinstance(found, Untrusted):
            corrupted.append(found)
        elif found is not None and found.is_pending:
            _take(doing, found, steps, protected, blocked)
    data = {
        "moved": [{"id": step["id"], "path": step["path"], "to": step["to"]} for step in steps],
        "protected": protected,
        "blocked": blocked,
        "corrupted": [one._asdict() for one in corrupted],
        "warnings": [],
    }
    return Archiving(_plan(doing, steps, data), data)


def _take(
    doing: Doing, found: Levelled, steps: list[Step], protected: list[str], blocked: list[dict[str, str]]
) -> None:
    """Note where a marked entry goes, or why it does not."""
    base, note = doing.base, found.note
    name = address(base, note)
    if found.level == "L0":
        protected.append(name)
        return
    to = f"{base.archive}/{format_instant(doing.now)[:4]}/{note.path}"
    there = hash_at(base, to)
    if there is not None and there != hash_bytes(note.data):
        blocked.append({"id": name, "path": note.path, "to": to, "reason": f"{to} is in the way"})
        return
    step = move_step(name, note.path, to, note.data, _reason(note.data))
    steps.append({**step, "level": found.level})


def _reason(data: bytes) -> str:
    try:
        return strip_private(str((read_frontmatter(data) or {}).get(REASON, "marked")))
    except FrontmatterError:
        return "marked"


def _plan(doing: Doing, steps: list[Step], data: dict[str, Any]) -> Plan:
    at = format_instant(doing.now)
    index, warning = index_step(doing.base, {step["id"]: step["to"] for step in steps}, at)
    if warning:
        data["warnings"].append(warning)
    told: dict[str, Any] = {"alert": f"archive: moved {len(steps)} entries to {doing.base.archive}/{at[:4]}/"}
    if read(doing.base, URI_INDEX) is not None:
        data["index"] = URI_INDEX
    return new_plan(doing, [*steps, index] if index else steps, told)


def tell(doing: Doing, plan: Plan) -> tuple[str, ...]:
    """Add what a plan did to the alerts."""
    return alert_of_plan(doing, plan)


def tell_protected(doing: Doing, protected: list[str]) -> tuple[str, ...]:
    """Say once of each marked entry of L0 that it stays."""
    warnings: tuple[str, ...] = ()
    for name in protected:
        key = f"archive: {name} is of L0 and marked archive_pending"
        warnings += alert(doing, f"{format_instant(doing.now)} {key}: it is never moved; take the mark out", key)
    return warnings
