"""The retention commands: forget, archive, compact, recalled, undo, and `check --fix dates`.

Each makes a plan first. `--dry-run` shows it and writes nothing; without it, plans of the same command that were cut
off are finished, then the new one is carried out.
"""

from contextlib import ExitStack, suppress
from typing import Any, Final

from cortex.arguments import Call
from cortex.corpus.faults import CorpusError
from cortex.envelope import JSONObject
from cortex.errors import CortexError, invalid
from cortex.privacy import strip_private
from cortex.retention.base import Base, open_base
from cortex.retention.doing import Doing
from cortex.retention.plan import Done, Epilogue, Plan, carry_out, find_plan, finish, load_plan, unfinished
from cortex.retention.policy_file import Policy, find_policy
from cortex.retention.steps import shown
from cortex.retention.telling import alert_of_plan
from cortex.store.items import check_metadata
from cortex.store.store import open_store

_LEVEL_FIX: Final = "dates"


def forget(call: Call) -> JSONObject:
    """Mark what the policy lets go, or what the user names."""
    from cortex.retention import forget as forgetting

    if call.has("--explain"):
        _refuse_beside(call, "--explain", "--level", "--match", "--user-signature", "--allow-mass", "--dry-run")
        with open_base(call) as base:
            doing = _doing(call, base, "forget")
            return forgetting.explain(doing, _policy(call, base), call.options["--explain"])
    request = _request(call)
    with open_base(call) as base:
        doing = _doing(call, base, "forget")
        policy = _policy(call, base)
        resumed = _resume(call, doing, alert_of_plan)
        planned = forgetting.plan_forgetting(doing, policy, request)
        data = {**planned.data, "needs_allow_mass": planned.is_mass}
        if planned.is_mass and not (request.allow_mass or call.has("--dry-run")):
            forgetting.refuse_mass(planned, data["entries_in_all"])
        data["alerts"] = base.alerts if planned.plan.steps else None
        data["next"] = _next(call, planned.plan, "cortex archive", "moves what is marked")
        return _carried_out(call, doing, planned.plan, data, resumed, alert_of_plan)


def archive(call: Call) -> JSONObject:
    """Move what is marked to where it is kept."""
    from cortex.retention.archive import plan_archiving, tell, tell_protected

    with open_base(call) as base:
        doing = _doing(call, base, "archive")
        resumed = _resume(call, doing, tell)
        planned = plan_archiving(doing)
        answer = _carried_out(call, doing, planned.plan, planned.data, resumed, tell)
        if not call.has("--dry-run"):
            tell_protected(doing, planned.data["protected"])
        return answer


def compact(call: Call) -> JSONObject:
    """Compress raw events by age; with --observability, logs over the auditor's thresholds."""
    if call.has("--observability"):
        _refuse_beside(call, "--observability", "--vault")
    with open_base(call) as base:
        doing = _doing(call, base, "compact")
        resumed = _resume(call, doing, _nothing_more)
        if call.has("--observability"):
            from cortex.retention.observability import plan_shortening

            planned = plan_shortening(doing, call.host.environment)
        else:
            from cortex.retention.compact import plan_compacting

            planned = plan_compacting(doing, _policy(call, base))
        return _carried_out(call, doing, planned.plan, planned.data, resumed, _nothing_more)


def recalled(call: Call) -> JSONObject:
    """Count that notes were used."""
    from cortex.retention.recalled import plan_recall

    with open_base(call) as base:
        doing = _doing(call, base, "recalled")
        wanted = sorted(set(call.positionals))
        resumed = _resume(call, doing, _nothing_more)
        same = [done for done in resumed if done.plan.told.get("asked") == wanted]
        if same:
            return _recall_told(same[-1].plan, same[-1].warnings, already=True)
        plan = plan_recall(doing, call.positionals)
        if call.has("--dry-run"):
            return {"ids": wanted, **_shown(plan), "warnings": []}
        earlier = find_plan(base, plan.id)
        if earlier is not None and earlier.state == "done":
            return _recall_told(earlier, (), already=True)
        done = carry_out(doing, plan, _nothing_more, whole=True)
        return _recall_told(done.plan, done.warnings, already=False)


def undo(call: Call) -> JSONObject:
    """Take back what a plan did, or a part of it."""
    from cortex.retention.undo import plan_of_undoing, take_back

    plan_id, *more = call.positionals
    if more and not call.has("--only"):
        raise invalid("undo takes exactly one plan; ids of steps follow --only")
    only = (call.options["--only"], *more) if call.has("--only") else ()
    with open_base(call) as base:
        doing = _doing(call, base, "undo")
        plan = load_plan(base, plan_id)
        if call.has("--dry-run"):
            return {**plan_of_undoing(base, plan, only), "dry_run": True, "warnings": []}
        done = take_back(doing, plan, only)
        answer: JSONObject = {"plan": plan.id, "command": plan.command, "state": done.plan.state, "undone": done.done}
        return {**answer, "dry_run": False, "warnings": list(done.warnings)}


def fix(call: Call) -> JSONObject:
    """Put right the dates of notes that can be known."""
    from cortex.retention.date_forms import parse_zone
    from cortex.retention.dates import Reading, plan_dates

    if call.options["--fix"] != _LEVEL_FIX:
        raise invalid(f"--fix takes: {_LEVEL_FIX}")
    _refuse_beside(call, "--fix", "--list", "--page", "--page-size")
    zone = parse_zone(call.options["--zone"]) if call.has("--zone") else None
    if call.has("--zone") and zone is None:
        raise invalid("--zone takes a name such as Europe/Berlin, or an offset such as +02:00")
    with open_base(call) as base:
        doing = _doing(call, base, "check-fix-dates")
        resumed = _resume(call, doing, _nothing_more)
        try:
            planned = plan_dates(doing, Reading(zone, call.has("--day-first")))
        except CorpusError as error:
            raise CortexError("integrity_error", str(error)) from error
        return _carried_out(call, doing, planned.plan, planned.data, resumed, _nothing_more)


def _request(call: Call) -> Any:
    from cortex.retention.forget import Request, check_levels, check_request

    levels = check_levels(call.options.get("--level"))
    signature = call.options.get("--user-signature")
    if signature is not None:
        check_metadata("--user-signature", signature)
        if levels != ("L0",):
            raise invalid("--user-signature goes with --level L0 alone")
    request = Request(levels, call.options.get("--match"), signature, call.has("--allow-mass"))
    check_request(request)
    return request


def _doing(call: Call, base: Base, command: str) -> Doing:
    """Return in whose name and when; a dry run has no name and needs none."""
    actor = strip_private(call.options.get("--operator") or call.options.get("--adapter") or "")
    if not call.has("--dry-run") and not call.has("--explain"):
        check_metadata("--operator", actor)
    return Doing(base, actor, command, call.now())


def _policy(call: Call, base: Base) -> Policy:
    """Return the policy of a vault, else of the memory root (where there is one), else the packaged one."""
    if not base.is_vault:
        return find_policy(base.store)
    with ExitStack() as stack:
        stores = [base.store]
        with suppress(CortexError):  # a vault needs no memory beside it
            stores.append(stack.enter_context(open_store(call.memory_root())))
        return find_policy(*stores)


def _refuse_beside(call: Call, option: str, *others: str) -> None:
    given = [other for other in others if call.has(other)]
    if given:
        raise invalid(f"{option} does not go with {', '.join(given)}")


def _resume(call: Call, doing: Doing, epilogue: Epilogue) -> list[Done]:
    """Finish what was cut off; a dry run looks and touches nothing."""
    if call.has("--dry-run"):
        return []
    return [finish(doing, plan, epilogue) for plan in unfinished(doing.base, doing.command)]


def _carried_out(
    call: Call, doing: Doing, plan: Plan, data: dict[str, Any], resumed: list[Done], epilogue: Epilogue
) -> JSONObject:
    """Show a plan, or carry it out and say what became of it."""
    if call.has("--dry-run"):
        cut_off = [one.id for one in unfinished(doing.base, doing.command)]
        return {**data, **_shown(plan), "unfinished": cut_off, "warnings": data["warnings"]}
    done = carry_out(doing, plan, epilogue)
    warnings = [*data.pop("warnings"), *(warning for one in (*resumed, done) for warning in one.warnings)]
    return {
        **data,
        "plan": plan.id if plan.steps else None,
        "finished": [one.plan.id for one in resumed],
        "dry_run": False,
        "warnings": warnings,
    }


def _shown(plan: Plan) -> dict[str, Any]:
    return {"plan": plan.id if plan.steps else None, "steps": [shown(step) for step in plan.steps], "dry_run": True}


def _recall_told(plan: Plan, warnings: tuple[str, ...], *, already: bool) -> JSONObject:
    items = [{"id": step["id"], **step["changes"]} for step in plan.steps]
    return {"items": items, "plan": plan.id, "already": already, "dry_run": False, "warnings": list(warnings)}


def _next(call: Call, plan: Plan, command: str, what: str) -> str:
    if not plan.steps:
        return "nothing"
    vault = f" --vault {call.options['--vault']}" if call.has("--vault") else ""
    if call.has("--dry-run"):
        return "the same without --dry-run, with --operator NAME --allow-write, does it"
    return f"{command}{vault} {what}; cortex undo {plan.id}{vault} takes it back"


def _nothing_more(_doing: Doing, _plan: Plan) -> tuple[str, ...]:
    return ()
