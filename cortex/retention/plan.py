"""Plans: what a command is going to do, written down before the first change, and how it ended.

1. Every step is judged by its hash before the first change; where one differs the whole plan is refused, naming all.
2. Then step follows step. A crash leaves each file whole; the same command goes on with what was not done yet, and
   `undo` takes back what was.
3. One plan at a time in a memory: a lock is held from the first look to the last word.
4. The state stands first in the file, so that looking for plans that were cut off reads no more than that.
"""

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from hashlib import sha256
from typing import Any, Final, NamedTuple

from cortex.errors import CortexError, not_found
from cortex.nofollow import NotRegularError
from cortex.retention.base import Base, read
from cortex.retention.doing import AFTER, BEFORE, BETWEEN, Doing, Step
from cortex.retention.rotating import written_since
from cortex.retention.steps import do, probe, settle, settle_path, take_back
from cortex.store.files import names_in, refused
from cortex.store.governor import Act, Change, govern
from cortex.strict_json import StrictJSONError, loads
from policies.timestamps import format_instant

SCHEMA: Final = "lifeos-cortex-plan/v1"
NAMED_AT_MOST: Final = 20
_HEAD: Final = b'{"schema":"' + SCHEMA.encode() + b'","state":"'
_encode = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode


class Plan(NamedTuple):
    """A plan: its id, where it stands (`applying`, `done`, `undoing`, `undone`), whose it is, and its steps.

    `told` is what the command adds: the line for the alerts, what was asked. `outcome` is there once it has ended.
    """

    id: str
    state: str
    command: str
    actor: str
    created_at: str
    steps: tuple[Step, ...]
    told: dict[str, Any]
    outcome: dict[str, Any]


class Done(NamedTuple):
    """What became of a plan: how many steps were done now, and the warnings."""

    plan: Plan
    done: int
    warnings: tuple[str, ...]


Epilogue = Callable[[Doing, Plan], tuple[str, ...]]


def new_plan(doing: Doing, steps: Iterable[Step], told: dict[str, Any], identity: object = None) -> Plan:
    """Return a plan for steps. Its id is made of the command, the time and `identity` (the steps, unless said)."""
    listed = tuple(steps)
    at = format_instant(doing.now)
    said = json.dumps([identity or [[step["path"], step["hash_before"]] for step in listed], told.get("asked")])
    digest = sha256(said.encode()).hexdigest()[:8]
    plan_id = f"{doing.command}-{at.replace(':', '-').replace('.', '-')}-{digest}"
    return Plan(plan_id, "applying", doing.command, doing.actor, at, listed, told, {})


def plan_path(base: Base, plan_id: str) -> str:
    """Return where a plan lies."""
    return f"{base.plans}/{plan_id}.json"


def load_plan(base: Base, plan_id: str) -> Plan:
    """Return a plan that was made.

    Raises:
        CortexError: `not_found` where there is none of that id; `integrity_error` where it cannot be trusted.
    """
    found = find_plan(base, plan_id)
    if found is None:
        raise not_found(f"there is no plan {plan_id!r}")
    return found


def find_plan(base: Base, plan_id: str) -> Plan | None:
    """Return a plan, None where there is none of that id; otherwise as `load_plan`."""
    if not plan_id or "/" in plan_id or "\0" in plan_id or plan_id.startswith("."):
        return None
    path = plan_path(base, plan_id)
    try:
        data = read(base, path)
        return None if data is None else _decode(loads(data))
    except (NotRegularError, StrictJSONError, KeyError, TypeError) as error:
        raise CortexError("integrity_error", f"{path} is no plan that can be trusted") from error


def unfinished(base: Base, command: str) -> list[Plan]:
    """Return the plans of a command that were cut off, the oldest first."""
    with base.store.place(f"{base.plans}/_") as place:
        names = [] if place is None else sorted(names_in(place.folder))
    own = [name.removesuffix(".json") for name in names if name.startswith(f"{command}-") and name.endswith(".json")]
    return [load_plan(base, plan_id) for plan_id in own if _stands_at(base, plan_id, b"applying")]


def carry_out(doing: Doing, plan: Plan, epilogue: Epilogue, *, whole: bool = False) -> Done:
    """Do what a plan says, all or nothing of each file; with `whole` a failure takes back what was done before it.

    Raises:
        CortexError: `governance_refused` before the first change, naming every file that differs; or in the middle,
            saying how to go on.
    """
    if not plan.steps:
        return Done(plan, 0, ())
    with doing.base.store.locks.hold(f"{doing.base.plans}/"):
        states = [probe(doing.base, step) for step in plan.steps]
        _refuse_differing(state for state in states if state not in (BEFORE, AFTER, BETWEEN))
        _save(doing, plan)
        return _go_through(doing, plan, epilogue, whole=whole)


def finish(doing: Doing, plan: Plan, epilogue: Epilogue) -> Done:
    """Go on with a plan that was cut off. Steps whose files somebody changed since are left out, and told."""
    with doing.base.store.locks.hold(f"{doing.base.plans}/"):
        found = load_plan(doing.base, plan.id)
        if found.state != "applying":  # whoever held the lock before has finished it, or taken it back
            return Done(found, 0, ())
        return _go_through(doing, found, epilogue, whole=False, resumed=True)


def take_plan_back(doing: Doing, plan: Plan, chosen: Sequence[Step], epilogue: Epilogue, *, whole: bool) -> Done:
    """Take back steps of a plan; `whole` says that nothing of it remains then.

    Raises:
        CortexError: `governance_refused` before the first change, naming every file that was changed since.
    """
    with doing.base.store.locks.hold(f"{doing.base.plans}/"):
        states = [probe(doing.base, step) for step in chosen]
        since = [written_since(doing.base, step) for step, state in zip(chosen, states, strict=True) if state == AFTER]
        differing = [state for state in states if state not in (BEFORE, AFTER, BETWEEN)]
        _refuse_differing([*differing, *(what for what in since if what)])
        _save(doing, plan._replace(state="undoing") if whole else plan)
        warnings: list[str] = []
        done = [step for step, state in zip(chosen, states, strict=True) if state != BEFORE]
        for step in reversed(done):
            warnings += take_back(doing, step)
        for step in chosen:
            if step not in done:
                settle(doing, step)
        settle_path(doing, doing.base.alerts)
        warnings += epilogue(doing, plan)
        outcome = {**plan.outcome, "undone_at": format_instant(doing.now)}
        ended = plan._replace(state="undone" if whole else plan.state, outcome=outcome)
        warnings += _save(doing, ended)
        return Done(ended, len(done), tuple(warnings))


def chosen_steps(plan: Plan, only: Collection[str]) -> list[Step]:
    """Return the steps that ids or paths name; all of them where none is named.

    Raises:
        CortexError: `not_found` for a name that the plan does not know.
    """
    known = {name for step in plan.steps for name in (step["id"], step["path"])}
    unknown = [name for name in only if name not in known]
    if unknown:
        raise not_found(f"the plan {plan.id} has no step for {unknown[0]!r}")
    return [step for step in plan.steps if not only or step["id"] in only or step["path"] in only]


def _go_through(doing: Doing, plan: Plan, epilogue: Epilogue, *, whole: bool, resumed: bool = False) -> Done:
    warnings: list[str] = []
    skipped: list[str] = []
    finished: list[Step] = []
    for step in plan.steps:
        state = probe(doing.base, step)
        if state == AFTER:
            settle(doing, step)
        elif state not in (BEFORE, BETWEEN) and resumed:
            settle(doing, step)
            skipped.append(state)
        else:
            warnings += _do(doing, plan, step, finished, whole=whole)
            finished.append(step)
    warnings += epilogue(doing, plan)
    outcome = {"finished_at": format_instant(doing.now), "done": len(plan.steps) - len(skipped), "skipped": skipped}
    ended = plan._replace(state="done", outcome=outcome)
    warnings += _save(doing, ended)
    warnings += [f"{what}; that step of {plan.id} was left out" for what in skipped]
    return Done(ended, len(finished), tuple(warnings))


def _do(doing: Doing, plan: Plan, step: Step, finished: list[Step], *, whole: bool) -> tuple[str, ...]:
    try:
        return do(doing, step)
    except CortexError as error:
        if whole:
            for earlier in reversed(finished):
                take_back(doing, earlier)
            _save(doing, plan._replace(state="undone"))
            raise refused(f"{error.message} (nothing of it was done)") from error
        place = f"{len(finished)} of {len(plan.steps)} steps are done"
        way = f"the same command finishes it, `cortex undo {plan.id}` takes it back"
        raise refused(f"{error.message}; {place}; {way}") from error


def _refuse_differing(states: Iterable[str]) -> None:
    differing = [state for state in states if state]
    if not differing:
        return
    named = "; ".join(differing[:NAMED_AT_MOST])
    more = f"; and {len(differing) - NAMED_AT_MOST} more" if len(differing) > NAMED_AT_MOST else ""
    raise refused(f"nothing was done: {named}{more}")


def _save(doing: Doing, plan: Plan) -> tuple[str, ...]:
    path = plan_path(doing.base, plan.id)
    act = Act(doing.command, doing.actor, path, doing.now, log=None, with_snapshot=False)
    fields = plan._asdict()
    data = _encode({"schema": SCHEMA, "state": fields.pop("state"), **fields}).encode()
    return govern(doing.base.store, act, lambda _: Change(data + b"\n")).warnings


def _stands_at(base: Base, plan_id: str, state: bytes) -> bool:
    from cortex.nofollow import open_regular

    with base.store.place(plan_path(base, plan_id)) as place:
        if place is None:
            return False
        with suppress(OSError), open(open_regular(place.name, place.folder), "rb") as file:  # noqa: PTH123
            return file.read(len(_HEAD) + len(state) + 1) == _HEAD + state + b'"'
    return False


def _decode(value: Any) -> Plan:
    fields = {name: value[name] for name in Plan._fields}
    if value["schema"] != SCHEMA or not isinstance(value["steps"], list):
        raise TypeError(SCHEMA)
    return Plan(**{**fields, "steps": tuple(value["steps"])})
