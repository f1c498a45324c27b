"""The writing commands: remember, propose, proposals list, show and decide, init, mend.

Permission was judged with the arguments. What follows, in this order: the payload (bytes, then strict JSON), the
binding of its type to the command, the item's fields; only then is the memory opened.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, cast

from cortex.arguments import Call
from cortex.envelope import JSONObject
from cortex.errors import CortexError, invalid
from cortex.privacy import strip_private
from cortex.store.governor import explained
from cortex.store.items import (
    IdeaItem,
    Item,
    KnowledgeItem,
    MemoryItem,
    ProposalItem,
    check_free_text,
    check_metadata,
    read_item,
)
from cortex.store.store import Store, open_store
from cortex.strict_json import StrictJSONError, loads
from policies.limits import LARGEST_INTEGER, PAYLOAD_MAX_BYTES

# Which types of item each command takes.
TYPES: Final = {
    "remember": frozenset({"memory", "idea", "knowledge"}),
    "propose": frozenset({"proposal"}),
}


def remember(call: Call) -> JSONObject:
    """Add an item to the memory."""
    from cortex.store.remember import remember_entries, remember_note

    item = cast("MemoryItem | IdeaItem | KnowledgeItem", _item(call))
    adapter, now = call.options["--adapter"], call.now()
    with _store(call) as store:
        if isinstance(item, MemoryItem):
            done = remember_entries(store, item, adapter, now)
        else:
            done = remember_note(store, item, adapter, now)
    data: JSONObject = {"type": item.__struct_config__.tag, "path": done.path, "outcome": done.outcome}
    if done.id is not None:
        data["id"] = done.id
    return {**data, "warnings": list(done.warnings)}


def propose(call: Call) -> JSONObject:
    """Put a proposal into the queue, for a person to decide about."""
    from cortex.store.propose import propose as put

    item = cast("ProposalItem", _item(call))
    with _store(call) as store:
        done = put(store, item, call.options["--adapter"], call.now())
    keys = ("id", "status", "target_file", "target_kind")
    return {**{key: done.row[key] for key in keys}, "warnings": list(done.warnings)}


def proposals_list(call: Call) -> JSONObject:
    """List the proposals, in the order in which they came."""
    from cortex.store.propose import listed

    with _store(call) as store:
        rows = listed(store, call.options.get("--status"))
    return {"items": rows, "total": len(rows)}


def proposals_show(call: Call) -> JSONObject:
    """Show what a proposal would change, and the digest that a decision must quote."""
    from cortex.store.propose import shown

    with _store(call) as store:
        return shown(store, call.positionals[0])


def proposals_decide(call: Call) -> JSONObject:
    """Accept, reject or edit a proposal."""
    from cortex.store.propose import VERDICTS, Decision, decide

    identity, verdict = call.positionals
    if verdict not in VERDICTS:
        raise invalid(f"a proposal is decided by one of: {', '.join(VERDICTS)}")
    if call.has("--edit") != (verdict == "edit"):
        raise invalid("edit takes --edit TEXT, and accept and reject do not")
    edit = _stripped(call, "--edit")
    if edit is not None:
        check_free_text("--edit", edit)
    digest = call.options["--digest"].lower()
    decision = Decision(identity, verdict, digest, edit, operator_of(call), call.now())
    with _store(call) as store:
        done = decide(store, decision)
    return {"id": identity, "status": done.status, "applied_to": done.path, "warnings": list(done.warnings)}


def init(call: Call) -> JSONObject:
    """Lay out a memory; what is there stays as it is."""
    from cortex.store.init import lay_out

    if call.positionals and call.has("--memory-root"):
        raise invalid("init takes DIR or --memory-root, not both")
    folder = call.positionals[0] if call.positionals else call.memory_root()
    operator, now = operator_of(call), call.now()
    with explained():
        os.makedirs(folder, exist_ok=True)  # noqa: PTH103 - a Path would read a name of "" as this folder
        with open_store(folder) as store:
            done = lay_out(store, operator, now)
            return {
                "root": store.root.path,
                "created": done.created,
                "kept": done.kept,
                "warnings": list(done.warnings),
            }


def mend(call: Call) -> JSONObject:
    """Move what proves nothing out of a log, or write down that a log is shorter for a good reason."""
    from cortex.store import mend as mending
    from cortex.store.governor import Act

    row = call.integer("--row", 0, 1, LARGEST_INTEGER) or None
    if call.has("--accept-loss") and row is not None:
        raise invalid("--accept-loss takes no --row: it touches no line")
    is_preview = call.has("--dry-run")
    operator = "" if is_preview else operator_of(call)
    with _store(call) as store:
        act = Act(mending.ACT, operator, mending.find_log(store, call.positionals[0]), call.now())
        if call.has("--accept-loss"):
            if not is_preview:
                mending.accept_loss(store, act)
            return {"log": act.path, "accepted_loss": not is_preview}
        done = (mending.preview if is_preview else mending.mend)(store, act, row)
    moved: JSONObject = {
        "log": done.log,
        "moved": len(done.lines),
        "lines": list(done.lines),
        "moved_to": done.moved_to,
    }
    return {**moved, "dry_run": is_preview, "warnings": list(done.warnings)}


def bound_item(call: Call) -> dict[str, object]:
    """Return the payload of a write as an object whose type the command takes.

    Raises:
        CortexError: `invalid_input` for a payload that is too large or no strict JSON, `write_refused` for any value
            but an object of one of the command's types.
    """
    payload = _payload(call)
    if len(payload) > PAYLOAD_MAX_BYTES:
        raise invalid(f"a payload has at most {PAYLOAD_MAX_BYTES} bytes")
    try:
        item = loads(payload)
    except StrictJSONError as error:
        raise invalid(f"the payload is no strict JSON: {error}") from error
    types = TYPES[call.command.name]
    if not (isinstance(item, dict) and isinstance(item.get("type"), str) and item["type"] in types):
        raise CortexError("write_refused", f"{call.command.name} takes an object of type {' or '.join(sorted(types))}")
    return item


def _item(call: Call) -> Item:
    return read_item(bound_item(call))


def _payload(call: Call) -> bytes:
    text = call.positionals[0]
    if text != "-":
        return text.encode(errors="surrogatepass")
    return sys.stdin.buffer.read(PAYLOAD_MAX_BYTES + 1)


@contextmanager
def _store(call: Call) -> Iterator[Store]:
    """Open the call's memory; what the operating system refuses is refused by us, with its reason."""
    with explained(), open_store(call.memory_root()) as store:
        yield store


def operator_of(call: Call) -> str:
    """Return who acts, as the audit has it."""
    operator = _stripped(call, "--operator") or ""
    check_metadata("--operator", operator)
    return operator


def _stripped(call: Call, option: str) -> str | None:
    text = call.options.get(option)
    return None if text is None else strip_private(text)
