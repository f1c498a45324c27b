"""What every kind of step is done with: on what, in whose name, and the two acts that all of them come to.

A file is made only where nothing is, and goes only while it is what the plan knows.
"""

import os
from hashlib import sha256
from typing import Any, NamedTuple

from cortex.nofollow import NotRegularError
from cortex.retention.base import Base, read
from cortex.store.audit import NOTES_LOG, WRITES_LOG
from cortex.store.files import refused
from cortex.store.governor import Act, Change, govern

Step = dict[str, Any]
BEFORE, AFTER, BETWEEN = "before", "after", "between"


class Doing(NamedTuple):
    """On what, in whose name, by which command and when steps are done or taken back."""

    base: Base
    actor: str
    command: str
    now: int

    def act(self, path: str, guard: str | None = None) -> Act:
        """Return the act on a path. The audit of the audit's own log is in the notes'."""
        log = NOTES_LOG if path == WRITES_LOG else WRITES_LOG
        return Act(self.command, self.actor, path, self.now, log=log, guard=guard, with_snapshot=False)


def hash_bytes(data: bytes) -> str:
    """Return the SHA-256 of bytes as plans have it."""
    return sha256(data).hexdigest()


def hash_at(base: Base, path: str) -> str | None:
    """Return the SHA-256 of a file, None where there is none; `odd: ...` where something else lies there."""
    try:
        data = read(base, path)
    except (NotRegularError, OSError) as error:
        return f"odd: {error}"
    return None if data is None else hash_bytes(data)


def differs(path: str, current: str | None) -> str:
    """Return a sentence on a file that is not as a plan knows it; `current` is its hash as `hash_at` has it."""
    if current is None:
        return f"{path} is gone"
    return f"{path} {current[5:]}" if current.startswith("odd: ") else f"{path} was changed since"


def audit_of(step: Step) -> dict[str, object]:
    """Return what the audit adds of a step."""
    return {name: step[name] for name in ("id", "reason", "signature") if name in step}


def place_new(
    doing: Doing, path: str, data: bytes, like: os.stat_result | None, audit: dict[str, object]
) -> tuple[str, ...]:
    """Make a file where nothing is; one that says the same already is taken for it."""

    def plan(there: bytes | None) -> Change | None:
        if there is None:
            return Change(data, audit=audit, new_only=True, like=like)
        if there != data:
            raise refused(f"{path} is in the way; nothing is put over it")
        return None

    return govern(doing.base.store, doing.act(path), plan).warnings


def sync_name(doing: Doing, path: str) -> None:
    """Wait until the name of a file is on the disk, before what it is a copy of goes.

    Raises:
        CortexError: `governance_refused` where that cannot be known.
    """
    with doing.base.store.place(path) as place:
        try:
            if place is not None:
                os.fsync(place.folder)
        except OSError as error:
            raise refused(f"{path} may not be on the disk yet ({error.strerror}), so nothing goes for it") from error


def remove_known(doing: Doing, path: str, hashed: str, audit: dict[str, object]) -> tuple[str, ...]:
    """Let a file go that is as the plan knows it."""

    def plan(there: bytes | None) -> Change | None:
        if there is None:
            return None
        if hash_bytes(there) != hashed:
            raise refused(f"{path} was changed meanwhile; it was not removed")
        return Change(None, audit=audit)

    return govern(doing.base.store, doing.act(path), plan).warnings
