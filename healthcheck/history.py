"""The auditor's own log of verdicts, `OBSERVABILITY/memory-health.jsonl`: one row a run.

A row: `ts` (now), `overall`, `counts` of checks, `findings` (their `check::id`), `measures` (numbers and instants), and
for each evidence log its `size_bytes`, `modified_at`, `last_row_at` (the time in its last row, null where rows have
none), and `head_sha256` of its first `head_bytes` = min(size, 4096) bytes. A log that is not there or cannot be read
is null. Of the proposal queue, `ids_added` are digests of the ids that no row has yet. `marks` has the highest state
recorded of each log that the ratchet found below it. `audit_bytes` is how long the audit of writes was, and `reset`
names the logs that were, by that audit, lawfully shortened since the row before. Later runs compare (`ratchet`).

1. A row is one write of a whole line at the end of the file, so that runs at the same time do not mix.
2. A torn last line stays as it is; the row begins on a line of its own.
3. The folder is never created, no link is followed, an existing file keeps its mode, a new one is private (0600).
"""

import json
import os
import stat
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final

from msgspec import to_builtins

from cortex.layout import HEALTH_HISTORY, MEMORY_WRITES, PROPOSAL_QUEUE, RETRIEVAL_LOG, REVIEWER_LOG
from cortex.nofollow import NotRegularError, describe_mode, open_folder, open_regular
from cortex.places import Layout
from healthcheck.evidence import Observed, RatchetEvidence
from healthcheck.report import Report, measures
from policies.limits import HISTORY_HEAD_BYTES
from policies.timestamps import format_instant

_FLAGS: Final = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW_MODE: Final = 0o600
# Each evidence log, and the measure that is the time in its last row.
_LOGS: Final = ((REVIEWER_LOG, "reviewer_at"), (RETRIEVAL_LOG, "retrieval_at"), (PROPOSAL_QUEUE, None))


def append(layout: Layout, report: Report) -> bool:
    """Append this run's row. Return False where there is no folder for it.

    Raises:
        OSError: The row could not be written, or not as a whole.
    """
    try:
        folder = open_folder(str(layout.observability))
    except FileNotFoundError:
        return False
    try:
        audit_bytes = _size_of(folder, MEMORY_WRITES)
        _append_line(folder, encode(row(report, log_states(folder, report), audit_bytes)))
    finally:
        os.close(folder)
    return True


def row(report: Report, logs: Mapping[str, Mapping[str, Any] | None], audit_bytes: int = 0) -> dict[str, Any]:
    """Return the row of a run, in the order in which it is written."""
    return {
        "ts": format_instant(report.now),
        "overall": report.overall.word,
        "counts": {status.replace("-", "_"): count for status, count in report.counts().items()},
        "findings": [f"{found.check}::{found.id}" for found in report.assessment.findings],
        "measures": {name: _printed(name, number) for name, number in measures(report.evidence)._asdict().items()},
        "logs": logs,
        "audit_bytes": audit_bytes,
        "reset": list(_ratchet_of(report).reset),
        "marks": to_builtins(_ratchet_of(report).marks),
    }


def _printed(name: str, number: int | None) -> int | str | None:
    return format_instant(number) if number is not None and name.endswith("_at") else number


def encode(members: Mapping[str, Any]) -> bytes:
    """Return a row as one line of JSON in ASCII, with its newline."""
    return json.dumps(members, separators=(",", ":"), allow_nan=False).encode("ascii") + b"\n"


def log_states(folder: int, report: Report) -> dict[str, dict[str, Any] | None]:
    """Return the state of each evidence log in the folder opened as descriptor `folder`."""
    measured = measures(report.evidence)
    ratchet = _ratchet_of(report)
    states = {name: _log_state(folder, name, getattr(measured, at) if at else None) for name, at in _LOGS}
    return {name: state and state | _standing(name, ratchet) for name, state in states.items()}


def _ratchet_of(report: Report) -> RatchetEvidence:
    found = report.evidence.ratchet
    return found.value if isinstance(found, Observed) else RatchetEvidence()


def _standing(name: str, ratchet: RatchetEvidence) -> dict[str, Any]:
    """Return what the ratchet of the next run needs to know of a log, as far as there is anything to say."""
    standing: dict[str, Any] = {}
    if name == PROPOSAL_QUEUE and ratchet.new_digests:
        standing["ids_added"] = list(ratchet.new_digests)
    return standing


def _size_of(folder: int, name: str) -> int:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False).st_size
    except OSError:
        return 0


def _log_state(folder: int, name: str, last_row_at: int | None) -> dict[str, Any] | None:
    try:
        descriptor = open_regular(name, folder)
    except OSError:
        return None
    try:
        status = os.fstat(descriptor)
        head = os.pread(descriptor, min(status.st_size, HISTORY_HEAD_BYTES), 0)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return {
        "size_bytes": status.st_size,
        "modified_at": format_instant(status.st_mtime_ns // 1_000_000),
        "last_row_at": None if last_row_at is None else format_instant(last_row_at),
        "head_bytes": len(head),
        "head_sha256": sha256(head).hexdigest(),
    }


def _append_line(folder: int, line: bytes) -> None:
    descriptor = os.open(HEALTH_HISTORY, _FLAGS, _NEW_MODE, dir_fd=folder)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise NotRegularError(describe_mode(status.st_mode))
        torn = status.st_size > 0 and os.pread(descriptor, 1, status.st_size - 1) != b"\n"
        data = b"\n" + line if torn else line
        if os.write(descriptor, data) != len(data):
            raise OSError("only part of the row could be written")
    finally:
        os.close(descriptor)
