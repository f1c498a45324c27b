"""`undo`: the bytes that a plan changed come back, where nobody touched them since; else nothing does.

The index of addresses belongs to many plans at once. Where it changed since, or only a part is taken back, the entries
that are named lose what archiving said of them, and everything else in it stays.
"""

import json
from collections.abc import Collection
from typing import Any

from cortex.nofollow import NotRegularError
from cortex.retention.base import URI_INDEX, Base, read
from cortex.retention.doing import AFTER, BEFORE, Doing
from cortex.retention.plan import Done, Plan, chosen_steps, take_plan_back
from cortex.retention.steps import probe, shown
from cortex.retention.telling import ARCHIVED_KEYS, entries_of, indent_of
from cortex.store.governor import Change, govern
from cortex.strict_json import StrictJSONError, loads


def plan_of_undoing(base: Base, plan: Plan, only: Collection[str]) -> dict[str, Any]:
    """Return what would be taken back, and where each step stands. Writes nothing."""
    chosen = chosen_steps(plan, only)
    steps = [{**shown(step), "stands": probe(base, step)} for step in reversed(chosen)]
    return {"plan": plan.id, "command": plan.command, "state": plan.state, "steps": steps}


def take_back(doing: Doing, plan: Plan, only: Collection[str]) -> Done:
    """Take back a plan, or the steps that `only` names.

    Raises:
        CortexError: As `take_plan_back` does.
    """
    chosen = chosen_steps(plan, only)
    index = next((step for step in chosen if step["path"] == URI_INDEX), None)
    addresses = [step["id"] for step in chosen if step["kind"] == "move"]
    if index is not None and not only and probe(doing.base, index) in (BEFORE, AFTER):
        addresses = []
    chosen = [step for step in chosen if step is not index or not addresses]
    return take_plan_back(doing, plan, chosen, lambda doing, _: _unindex(doing, addresses), whole=not only)


def _unindex(doing: Doing, addresses: list[str]) -> tuple[str, ...]:
    """Take what archiving said of some entries out of the index; return warnings."""
    try:
        data = read(doing.base, URI_INDEX)
        if data is None or not addresses:
            return ()
        document = loads(data)
        entries = entries_of(document)
    except (NotRegularError, StrictJSONError, TypeError) as error:
        return (f"{URI_INDEX} was left as it is: {error}",)
    for address in addresses:
        entry = entries.get(address)
        if isinstance(entry, dict):
            entries[address] = {key: value for key, value in entry.items() if key not in ARCHIVED_KEYS}
    written = json.dumps(document, ensure_ascii=False, indent=indent_of(data)).encode()
    change = Change(written + (b"\n" if data.endswith(b"\n") else b""))
    return govern(doing.base.store, doing.act(URI_INDEX), lambda _: change).warnings
