"""`propose`, and what people do with proposals: list, show, decide. Nothing is applied by itself."""

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

from cortex.errors import CortexError, invalid
from cortex.privacy import strip_private
from cortex.store.audit import encode_row
from cortex.store.files import refused
from cortex.store.governor import Act, Change, Written, explained, govern, settled_state
from cortex.store.items import ProposalItem
from cortex.store.proposals import (
    OPEN,
    QUEUE,
    STATUSES,
    Row,
    Sheet,
    find_row,
    find_target,
    look,
    new_row,
    read_queue,
    rows_of,
    with_row,
)
from cortex.store.store import Store

Verdict = Literal["accept", "reject", "edit"]
VERDICTS: Final[dict[Verdict, str]] = {"accept": "accepted", "reject": "rejected", "edit": "edited"}
ACT: Final = "proposals decide"


class Decision(NamedTuple):
    """What an operator decided. `edit` is the new text for `edit`, None else; `digest` that of the sheet they saw."""

    identity: str
    verdict: Verdict
    digest: str
    edit: str | None
    operator: str
    now: int


class Proposed(NamedTuple):
    """A proposal that is in the queue now."""

    row: Row
    warnings: tuple[str, ...]


class Decided(NamedTuple):
    """What became of a proposal. `path` is the file that the edit was applied to, None where it was not."""

    status: str
    path: str | None
    warnings: tuple[str, ...]


def propose(store: Store, item: ProposalItem, adapter: str, now: int) -> Proposed:
    """Put a proposal into the queue.

    Raises:
        CortexError: `governance_refused` where nothing may be proposed for its target.
    """
    target = find_target(store, item.target_file, item.target_kind if isinstance(item.target_kind, str) else None)
    with store.place(target.path):
        pass  # nothing on the way there is a link
    act = Act("propose", adapter, QUEUE, now, with_snapshot=False)
    row: Row = {}

    def plan(data: bytes | None) -> Change:
        queue = data or b""
        row.update(new_row(item, target, act.ts, queue))
        torn = b"\n" if queue and not queue.endswith(b"\n") else b""
        return Change(queue + torn + encode_row(row), audit={"proposal": row["id"]})

    written = govern(store, act, plan)
    return Proposed(row, written.warnings)


def listed(store: Store, status: str | None) -> list[Row]:
    """Return what people see of each proposal, in the queue's order; only those of a status where one is given."""
    if status is not None and status not in STATUSES:
        raise invalid(f"--status takes one of: {', '.join(STATUSES)}")
    rows = (row for _, row in rows_of(read_queue(store)))
    keys = ("id", "ts", "status", "target_file", "target_kind", "confidence")
    return [_shown(row, keys) for row in rows if status is None or row.get("status") == status]


def shown(store: Store, identity: str) -> Row:
    """Return a proposal with its sheet.

    Raises:
        CortexError: `not_found`.
    """
    _, row = find_row(read_queue(store), identity)
    sheet = look(store, row)
    keys = ("id", "ts", "status", "target_file", "target_kind", "confidence", "rationale", "source_session")
    applicable = {"can_be_accepted": row.get("status") in OPEN and (sheet.after is not None or sheet.is_applied)}
    return {**_shown(row, keys), **applicable, "diff": sheet.text, "digest": sheet.digest}


def decide(store: Store, decision: Decision) -> Decided:
    """Carry out an operator's decision.

    Raises:
        CortexError: `not_found`; `governance_refused` where the proposal is decided already, cannot be applied, or is
            not what the operator saw.
    """
    act = Act(ACT, decision.operator, QUEUE, decision.now)
    with explained(), store.locks.hold(QUEUE) as lock:
        _, row = find_row(settled_state(store, act, lock).data or b"", decision.identity)
        if row.get("status") not in OPEN:
            raise refused(f"the proposal is {strip_private(str(row.get('status')))} already")
        sheet = look(store, row)
        if sheet.digest != decision.digest:
            raise refused("the digest is not that of the change as it would be made now; look again: proposals show")
        if decision.verdict != "accept":
            return _settle(store, act, decision, None, ())
        applied = _apply(store, act, decision, sheet)
        try:
            return _settle(store, act, decision, applied.path, applied.warnings)
        except CortexError as error:
            warning = f"the edit is in {applied.path}, but the queue does not say so; accept it again ({error.message})"
            return Decided(str(row["status"]), applied.path, (*applied.warnings, warning))


class _Applied(NamedTuple):
    path: str
    warnings: tuple[str, ...]


def _apply(store: Store, act: Act, decision: Decision, sheet: Sheet) -> _Applied:
    """Append the edit to its target, once."""
    if sheet.target is None or (sheet.after is None and not sheet.is_applied):
        raise refused(f"it cannot be accepted; {sheet.text.strip()}")
    if sheet.is_applied or sheet.after is None:
        return _Applied(sheet.target.path, ("the edit was applied by an earlier call",))
    after = sheet.after

    def plan(data: bytes | None) -> Change:
        if data != sheet.before:
            raise refused("the target was changed meanwhile; look again: proposals show")
        return Change(after, audit={"applied_proposal": decision.identity, "digest": decision.digest})

    written = govern(store, act._replace(path=sheet.target.path), plan)
    return _Applied(sheet.target.path, written.warnings)


def _settle(store: Store, act: Act, decision: Decision, path: str | None, warnings: tuple[str, ...]) -> Decided:
    """Set the status, and the text where it was edited."""
    changes: dict[str, object] = {"status": VERDICTS[decision.verdict]}
    if decision.edit is not None:
        changes["edit"] = decision.edit

    def plan(data: bytes | None) -> Change:
        index, row = find_row(data or b"", decision.identity)
        audit = {"proposal": decision.identity, "decision": decision.verdict, "digest": decision.digest}
        return Change(with_row(data or b"", index, {**row, **changes}), audit=audit)

    written: Written = govern(store, act, plan)
    return Decided(VERDICTS[decision.verdict], path, (*warnings, *written.warnings))


def _shown(row: Mapping[str, object], keys: tuple[str, ...]) -> Row:
    """Return some of a row's values for people; texts are stripped, since other writers may have put them there."""
    return {
        key: strip_private(value) if isinstance(value, str) else value
        for key in keys
        if (value := row.get(key)) or key in row
    }
