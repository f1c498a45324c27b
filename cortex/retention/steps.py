"""The steps that plans are made of: each knows whether it was done, how to do it, and how to take it back.

    write   a file's bytes change: a header, a row of the index of addresses
    move    a file goes elsewhere; what it says stays
    pack    files are compressed into a new file, without a time stamp, and read back
    remove  a file goes whose bytes a compressed one holds, once they were compared
    rotate  the older rows of a log go into a new compressed file; the log is written anew

A step is judged by hashes alone: `before` (not done), `after` (done), `between` (cut off in the middle, and safe to go
on with in either direction), or a sentence saying what differs. Nothing is ever put over a file that is in the way.
"""

import base64
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, NamedTuple

from cortex.retention import packing, rotating
from cortex.retention.base import Base, read
from cortex.retention.doing import (
    AFTER,
    BEFORE,
    BETWEEN,
    Doing,
    Step,
    audit_of,
    differs,
    hash_at,
    hash_bytes,
    place_new,
    remove_known,
    sync_name,
)
from cortex.store.files import read_state, refused
from cortex.store.governor import Change, govern, settled_state


def write_step(address: str, path: str, before: bytes, after: bytes, **more: object) -> Step:
    """Return the step that turns one content of a file into another. `more` is for people: changes, a reason."""
    at, old, new = _difference(before, after)
    patch = {"at": at, "before": _encode(old), "after": _encode(new)}
    hashes = {"hash_before": hash_bytes(before), "hash_after": hash_bytes(after)}
    return {"kind": "write", "id": address, "path": path, **hashes, **more, "patch": patch}


def move_step(address: str, path: str, to: str, data: bytes, reason: str) -> Step:
    """Return the step that moves a file."""
    hashed = hash_bytes(data)
    hashes = {"hash_before": hashed, "hash_after": None, "hash_to": hashed}
    return {"kind": "move", "id": address, "path": path, "to": to, **hashes, "reason": reason}


def probe(base: Base, step: Step) -> str:
    """Return where a step stands: `before`, `after`, `between`, or a sentence that names what differs."""
    return _KINDS[step["kind"]].probe(base, step)


def do(doing: Doing, step: Step) -> tuple[str, ...]:
    """Do a step that is not done; return warnings.

    Raises:
        CortexError: `governance_refused`: the file is as it was.
    """
    return _KINDS[step["kind"]].do(doing, step)


def take_back(doing: Doing, step: Step) -> tuple[str, ...]:
    """Take a step back that was done; otherwise as `do`."""
    return _KINDS[step["kind"]].take_back(doing, step)


def settle(doing: Doing, step: Step) -> None:
    """Clear up behind a step that is not going to be done now, where it was cut off: staged files, open audit rows."""
    for path in (step["path"], step.get("to")):
        if path:
            settle_path(doing, path)
    tidy(doing.base, step)


def settle_path(doing: Doing, path: str) -> None:
    """Clear up behind a write of one file that was cut off."""
    if (hash_at(doing.base, path) or "").startswith("odd: "):
        return
    with doing.base.store.locks.hold(path) as lock:
        if lock.was_cut_off:
            settled_state(doing.base.store, doing.act(path), lock)
            lock.end()


def shown(step: Step) -> Step:
    """Return a step as people read it: without the bytes."""
    return {key: value for key, value in step.items() if key not in ("patch", "older")}


def _difference(before: bytes, after: bytes) -> tuple[int, bytes, bytes]:
    """Return where two contents begin to differ, and what stands there in each up to their common end."""
    at = _common(before, after)
    end = _common(before[at:][::-1], after[at:][::-1])
    return at, before[at : len(before) - end], after[at : len(after) - end]


def _common(one: bytes, other: bytes) -> int:
    """Return how many bytes two contents begin with alike."""
    least, most = 0, min(len(one), len(other))
    while least < most:
        middle = (least + most + 1) // 2
        if one[least:middle] == other[least:middle]:
            least = middle
        else:
            most = middle - 1
    return least


def _encode(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _apply_patch(data: bytes, patch: dict[str, Any], old: str, new: str) -> bytes:
    at, gone = patch["at"], base64.b64decode(patch[old])
    return data[:at] + base64.b64decode(patch[new]) + data[at + len(gone) :]


def _probe_write(base: Base, step: Step) -> str:
    current = hash_at(base, step["path"])
    if current == step["hash_after"]:
        return AFTER
    return BEFORE if current == step["hash_before"] else differs(step["path"], current)


def _rewrite(doing: Doing, step: Step, old: str, new: str) -> tuple[str, ...]:
    """Write one of a step's two contents where the other one is."""

    def plan(data: bytes | None) -> Change:
        if data is None or hash_bytes(data) != step[f"hash_{old}"]:
            raise refused(f"{step['path']} was changed meanwhile; nothing of it was")
        written = _apply_patch(data, step["patch"], old, new)
        if hash_bytes(written) != step[f"hash_{new}"]:
            raise refused(f"the plan does not lead to what it says of {step['path']}")
        return Change(written, audit=audit_of(step))

    return govern(doing.base.store, doing.act(step["path"]), plan).warnings


def _do_write(doing: Doing, step: Step) -> tuple[str, ...]:
    return _rewrite(doing, step, BEFORE, AFTER)


def _undo_write(doing: Doing, step: Step) -> tuple[str, ...]:
    return _rewrite(doing, step, AFTER, BEFORE)


def _probe_move(base: Base, step: Step) -> str:
    here, there = hash_at(base, step["path"]), hash_at(base, step["to"])
    states = {
        (step["hash_before"], None): BEFORE,
        (None, step["hash_to"]): AFTER,
        (step["hash_before"], step["hash_to"]): BETWEEN,
    }
    if (here, there) in states:
        return states[here, there]
    if here == step["hash_before"]:
        return f"{step['to']} is in the way"
    return differs(step["path"] if there is None else step["to"], here if there is None else there)


def _move(doing: Doing, source: str, target: str, hashed: str, audit: dict[str, object]) -> tuple[str, ...]:
    """Copy a file to where nothing is, and let the source go once the copy is on the disk."""
    store = doing.base.store
    with store.place(source) as place:
        state = read_state(place.folder, place.name) if place else None
    data, status = (state.data, state.status) if state else (None, None)
    if data is None or hash_bytes(data) != hashed:
        raise refused(f"{source} was changed meanwhile; it was not moved")
    warnings = place_new(doing, target, data, status, audit)
    sync_name(doing, target)
    return (*warnings, *remove_known(doing, source, hashed, audit))


def _do_move(doing: Doing, step: Step) -> tuple[str, ...]:
    audit = {**audit_of(step), "moved_to": step["to"]}
    return _move(doing, step["path"], step["to"], step["hash_before"], audit)


def _undo_move(doing: Doing, step: Step) -> tuple[str, ...]:
    audit = {**audit_of(step), "moved_to": step["path"]}
    return _move(doing, step["to"], step["path"], step["hash_to"], audit)


def _probe_pack(base: Base, step: Step) -> str:
    there = hash_at(base, step["path"])
    if there == step["hash_after"]:
        return AFTER
    if there is not None:
        return f"{step['path']} is in the way"
    for member in step["members"]:
        current = hash_at(base, member["path"])
        if current != member["hash"]:
            return differs(member["path"], current)
    return BEFORE


def _do_pack(doing: Doing, step: Step) -> tuple[str, ...]:
    packed = packing.pack(doing.base, step["form"], step["members"])
    if hash_bytes(packed) != step["hash_after"]:
        raise refused(f"what {step['path']} is made of was changed meanwhile; it was not made")
    warnings = place_new(doing, step["path"], packed, None, audit_of(step))
    written = read(doing.base, step["path"])
    for member in step["members"]:
        if packing.unpacked_hash(written, step["form"], member["name"]) != member["hash"]:
            raise refused(f"{step['path']} does not read back as {member['path']}")
    return warnings


def _undo_pack(doing: Doing, step: Step) -> tuple[str, ...]:
    for member in step["members"]:
        if hash_at(doing.base, member["path"]) != member["hash"]:
            raise refused(f"{step['path']} stays: {member['path']} is not there as it was")
    return remove_known(doing, step["path"], step["hash_after"], audit_of(step))


def _probe_remove(base: Base, step: Step) -> str:
    current = hash_at(base, step["path"])
    if current is None:
        return AFTER
    return BEFORE if current == step["hash_before"] else differs(step["path"], current)


def _do_remove(doing: Doing, step: Step) -> tuple[str, ...]:
    held = read(doing.base, step["kept_in"])
    if packing.unpacked_hash(held, step["form"], step["member"]) != step["hash_before"]:
        raise refused(f"{step['path']} stays: {step['kept_in']} does not hold it")
    sync_name(doing, step["kept_in"])
    warnings = remove_known(doing, step["path"], step["hash_before"], {**audit_of(step), "kept_in": step["kept_in"]})
    tidy(doing.base, step)
    return warnings


def tidy(base: Base, step: Step) -> None:
    """Remove the folders that a removed session leaves empty."""
    top = step.get("folder")
    folder = step["path"].rpartition("/")[0]
    while top and (folder == top or folder.startswith(f"{top}/")):
        with base.store.place(folder) as place, suppress(OSError):
            if place is not None:
                os.rmdir(place.name, dir_fd=place.folder)
        folder = folder.rpartition("/")[0]


def _undo_remove(doing: Doing, step: Step) -> tuple[str, ...]:
    data = packing.unpacked(read(doing.base, step["kept_in"]), step["form"], step["member"])
    if data is None or hash_bytes(data) != step["hash_before"]:
        raise refused(f"{step['kept_in']} does not hold {step['path']} any more")
    with doing.base.store.place(step["kept_in"]) as place:
        status = None if place is None else read_state(place.folder, place.name).status
    return place_new(doing, step["path"], data, packing.with_mode(status, step["mode"]), audit_of(step))


class _Kind(NamedTuple):
    probe: Callable[[Base, Step], str]
    do: Callable[[Doing, Step], tuple[str, ...]]
    take_back: Callable[[Doing, Step], tuple[str, ...]]


_KINDS: Final = {
    "write": _Kind(_probe_write, _do_write, _undo_write),
    "move": _Kind(_probe_move, _do_move, _undo_move),
    "pack": _Kind(_probe_pack, _do_pack, _undo_pack),
    "remove": _Kind(_probe_remove, _do_remove, _undo_remove),
    "rotate": _Kind(rotating.probe, rotating.do, rotating.take_back),
}
