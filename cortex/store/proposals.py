"""The queue of proposals: rows, what a proposal would change, and its digest. Pure but for `read_queue` and `look`.

A *sheet* shows what accepting a proposal would do: a unified diff of its target, headed by the hashes of the file
before and after, so that the digest of the sheet stands for every byte of both. A proposal that cannot be applied has
a sheet that says why, and can still be rejected by that sheet's digest.
"""

import json
from collections.abc import Iterator, Mapping
from difflib import unified_diff
from hashlib import sha256
from pathlib import PurePosixPath
from typing import Any, Final, NamedTuple

from cortex.corpus.faults import CorpusError
from cortex.errors import CortexError, not_found
from cortex.layout import OBSERVABILITY, PROPOSAL_QUEUE, USER
from cortex.nofollow import NotRegularError
from cortex.privacy import strip_private
from cortex.store.audit import WRITES_LOG, last_row
from cortex.store.files import read_state, refused
from cortex.store.governor import hash_of
from cortex.store.items import ProposalItem
from cortex.store.store import Store
from cortex.strict_json import StrictJSONError, loads
from policies.tiers import TARGETS, TargetKind, kind_of, target_of

QUEUE: Final = f"{OBSERVABILITY}/{PROPOSAL_QUEUE}"
STATUSES: Final = ("pending", "sent", "accepted", "rejected", "edited", "applied-elsewhere", "auto-applied")
# What a person may still decide about.
OPEN: Final = ("pending", "sent", "edited")
_NOTHING: Final = "none"

Row = dict[str, Any]


class Target(NamedTuple):
    """Where a proposal is for."""

    path: str
    kind: TargetKind


class Sheet(NamedTuple):
    """What accepting would do. `after` is the target's content then; None where nothing can or need be applied."""

    text: str
    target: Target | None = None
    before: bytes | None = None
    after: bytes | None = None
    is_applied: bool = False

    @property
    def digest(self) -> str:
        """The SHA-256 that a decision must quote."""
        return sha256(self.text.encode(errors="surrogatepass")).hexdigest()


def find_target(store: Store, sent: str, kind: TargetKind | None) -> Target:
    """Return where a proposal is for.

    Args:
        store: The memory.
        sent: The path as sent: `USER/...`, or absolute and in this memory's USER folder.
        kind: The kind as sent, if it was.

    Raises:
        CortexError: `governance_refused` where nothing may be proposed for it.
    """
    path = _within(store, sent)
    found = kind or kind_of(path)
    target = target_of(found, path) if found else None
    if found is None or target is None:
        allowed = ", ".join(TARGETS[found] if found else [path for paths in TARGETS.values() for path in paths])
        raise refused(f"nothing may be proposed for that target_file; it is one of: {allowed}")
    if store.tier(target) == "D":
        raise refused(f"{target} is not to be touched")
    return Target(target, found)


def new_row(item: ProposalItem, target: Target, ts: str, queue: bytes) -> Row:
    """Return the row of a new proposal; its id is none that the queue holds."""
    seed = f"{ts} {target.path} {item.edit}"
    identity = next(name for name in _ids(seed) if name.encode() not in queue)
    sessions, session = item.observed_across_sessions, item.source_session
    return {
        "id": identity,
        "ts": ts,
        "status": "pending",
        "target_file": target.path,
        "target_kind": target.kind,
        "edit": item.edit,
        "confidence": item.confidence,
        "rationale": item.rationale,
        "observed_across_sessions": sessions if isinstance(sessions, int) else None,
        "source_session": session if isinstance(session, str) else None,
    }


def rows_of(data: bytes) -> Iterator[tuple[int, Row]]:
    """Yield every row of a queue and the index of its line, from 0; what is no row is passed over."""
    for index, line in enumerate(data.split(b"\n")):
        try:
            row = loads(line) if line.strip() else None
        except StrictJSONError:
            continue
        if isinstance(row, dict):
            yield index, row


def find_row(data: bytes, identity: str) -> tuple[int, Row]:
    """Return the row of a proposal, and the index of its line.

    Raises:
        CortexError: `not_found`; `integrity_error` where two rows have that id.
    """
    found = [(index, row) for index, row in rows_of(data) if row.get("id") == identity]
    if not found:
        raise not_found("no proposal has that id; `cortex proposals list` shows those there are")
    if len(found) > 1:
        raise CortexError("integrity_error", f"{QUEUE}: {len(found)} rows have that id")
    return found[0]


def with_row(data: bytes, index: int, row: Mapping[str, object]) -> bytes:
    """Return a queue with one line replaced; every other byte stays."""
    lines = data.split(b"\n")
    line_end = b"\r" if lines[index].endswith(b"\r") else b""
    lines[index] = json.dumps(row, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode() + line_end
    return b"\n".join(lines)


def read_queue(store: Store) -> bytes:
    """Return the queue's content, empty where there is none.

    Raises:
        CortexError: `integrity_error` where it is a link or no file.
    """
    return _read(store, QUEUE) or b""


def look(store: Store, row: Row) -> Sheet:
    """Return the sheet of a proposal as its target is now."""
    edit, sent, kind = row.get("edit"), row.get("target_file"), row.get("target_kind")
    if not (isinstance(edit, str) and isinstance(sent, str)):
        return Sheet("nothing to apply: the row has no target_file or no edit\n")
    try:
        target = find_target(store, sent, kind if kind in TARGETS else None)
        before = _read(store, target.path)
    except CortexError as error:
        return Sheet(f"nothing to apply: {error.message}\n")
    if _is_applied(store, row, target.path, before):
        return Sheet(f"{target.path} holds the edit already\n", target, before, is_applied=True)
    return _diff(target, before, strip_private(edit).rstrip("\n"))


def _diff(target: Target, before: bytes | None, edit: str) -> Sheet:
    old = before or b""
    gap = b"" if not old else b"\n" if old.endswith(b"\n") else b"\n\n"
    after = old + gap + edit.encode() + b"\n"
    shown_before, shown_after = (strip_private(text.decode(errors="replace")) for text in (old, after))
    if not edit.strip() or not shown_after.endswith(edit + "\n"):
        return Sheet(f"nothing to apply: the edit is empty, or {target.path} ends in an open private part\n", target)
    lines = unified_diff(
        shown_before.splitlines(keepends=True),
        shown_after.splitlines(keepends=True),
        f"{target.path} {hash_of(before) or _NOTHING}",
        f"{target.path} {hash_of(after)}",
    )
    shown = (line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
    return Sheet("".join(shown), target, before, after)


def _is_applied(store: Store, row: Row, path: str, current: bytes | None) -> bool:
    """Tell whether an earlier call applied the edit and was cut off before it could say so in the queue."""
    written = last_row(store, WRITES_LOG, "applied_proposal", str(row.get("id")))
    if written is None or written.get("path") != path:
        return False
    state = written.get("state")
    return state == "done" or (state == "intent" and written.get("hash_after") == hash_of(current))


def _read(store: Store, path: str) -> bytes | None:
    try:
        with store.place(path) as place:
            return None if place is None else read_state(place.folder, place.name).data
    except NotRegularError as error:
        raise CortexError("integrity_error", f"{path} {error}") from error
    except (OSError, CorpusError) as error:
        raise CortexError("integrity_error", f"{path} cannot be read") from error


def _within(store: Store, sent: str) -> str:
    """Return a path as a name within the memory; what lies elsewhere stays as it is, and is then no target."""
    for folder in (PurePosixPath(store.home, USER), store.resolved_user()):
        if folder is not None and sent.startswith(f"{folder}/"):
            return f"{USER}/{sent.removeprefix(f'{folder}/')}"
    return sent


def _ids(seed: str) -> Iterator[str]:
    number = 0
    while True:
        yield f"prop_{sha256(f'{seed} {number}'.encode(errors='surrogatepass')).hexdigest()[:12]}"
        number += 1
