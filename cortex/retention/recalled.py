"""`recalled`: an agent says that it used what it was given. Each note counts it, all of them or none.

It is a plan as well: the same call at the same time, and a call that goes on after a crash, count once.
"""

from collections.abc import Sequence
from typing import Any

from cortex.errors import not_found
from cortex.retention.base import Base
from cortex.retention.doing import Doing, Step
from cortex.retention.entries import Note, iter_notes, record_of
from cortex.retention.frontmatter import FrontmatterError, Value, edit, read_frontmatter
from cortex.retention.plan import Plan, new_plan
from cortex.retention.steps import write_step
from cortex.store.files import refused
from policies.timestamps import format_instant

COUNT, LAST = "recall_count", "last_recalled"


def plan_recall(doing: Doing, ids: Sequence[str]) -> Plan:
    """Return the plan that counts one recall of each note.

    Raises:
        CortexError: `not_found` where no note has one of the ids; `governance_refused` for a note whose header cannot
            be edited or counts something else than recalls.
    """
    wanted = list(dict.fromkeys(ids))
    notes = _notes(doing.base, wanted)
    missing = [name for name in wanted if name not in notes]
    if missing:
        raise not_found(f"no note has the id {missing[0]!r}; nothing was counted")
    steps = [_step(doing, name, notes[name]) for name in wanted]
    return new_plan(doing, steps, {"asked": sorted(wanted)}, identity=sorted(wanted))


def _notes(base: Base, wanted: Sequence[str]) -> dict[str, Note]:
    found = {}
    for note in iter_notes(base):
        record = record_of(note) if isinstance(note, Note) else None
        if record is not None and record.id in wanted and isinstance(note, Note):
            found[record.id] = note
    return found


def _step(doing: Doing, name: str, note: Note) -> Step:
    try:
        count = _count(name, read_frontmatter(note.data) or {})
        changes: dict[str, Value | None] = {COUNT: count + 1, LAST: format_instant(doing.now)}
        after = edit(note.data, changes).data
    except FrontmatterError as error:
        raise refused(f"{name} cannot count its recalls: {error}; nothing was counted") from error
    return write_step(name, note.path, note.data, after, reason="recalled", changes=changes)


def _count(name: str, fields: dict[str, Any]) -> int:
    count = fields.get(COUNT, 0)
    if not isinstance(count, int) or isinstance(count, bool) or count < 0:
        raise refused(f"{name} has a recall_count that is no integer of at least 0; nothing was counted")
    return count
