"""The last verdicts of the history, read from its end in bounded memory.

A picture is drawn of them, and nothing is judged by them: a line that is no row is counted and passed over.
"""

import os
from collections import deque
from typing import Final, Literal

import msgspec

from cortex.layout import HEALTH_HISTORY
from cortex.places import Layout
from healthcheck.checks import Severity
from healthcheck.collectors.folder import describe, open_log, shown
from healthcheck.course import PAST_RUNS, Course, PastRun
from healthcheck.evidence import Missing, Unreadable
from policies.limits import MIB
from policies.timestamps import parse_instant

# A row is a few KiB: the last PAST_RUNS fit.
TAIL_BYTES: Final = 16 * MIB


class _Row(msgspec.Struct):
    """What is taken of a row."""

    ts: str
    overall: Literal["ok", "warn", "critical"]
    findings: list[str] = []


_ROW: Final = msgspec.json.Decoder(_Row)
_SEVERITIES: Final = {severity.word: severity for severity in Severity}


def read_course(layout: Layout, most: int = PAST_RUNS) -> Course:
    """Return the last runs that are remembered, at most `most` of them; none where there is no history."""
    descriptor = open_log(layout, HEALTH_HISTORY)
    if isinstance(descriptor, Missing):
        return Course()
    if isinstance(descriptor, Unreadable):
        return Course(problem=f"{descriptor.path} {descriptor.reason}")
    try:
        return _read(descriptor, most)
    except OSError as error:
        return Course(problem=f"{shown(layout, layout.observability / HEALTH_HISTORY)} {describe(error)}")


def _read(descriptor: int, most: int) -> Course:
    """Read the end of the file opened as `descriptor`, which is closed, up to where it ends now."""
    lines: deque[bytes] = deque(maxlen=most + 1)
    with os.fdopen(descriptor, "rb") as file:
        size = os.fstat(descriptor).st_size
        start = max(0, size - TAIL_BYTES)
        if start:
            file.seek(start)
            file.readline()  # the middle of a row
        while (room := size - file.tell()) > 0:
            line = file.readline(room)
            if not line:
                break
            if line.strip():
                lines.append(line)
    older = start > 0 or len(lines) > most
    runs = [_run(line) for line in list(lines)[-most:]]
    return Course(tuple(run for run in runs if run is not None), older, runs.count(None))


def _run(line: bytes) -> PastRun | None:
    try:
        row = _ROW.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    at = parse_instant(row.ts)
    return None if at is None else PastRun(at, _SEVERITIES[row.overall], tuple(row.findings))
