"""`memory-health history`: the last verdicts as a table, their course as a sparkline, and the last change.

The log is read once, row by row, and only the last rows are kept: its length costs time, not memory.
"""

import json
import os
from collections import deque
from collections.abc import Iterator
from typing import Final, NamedTuple

import msgspec

from cortex.layout import HEALTH_HISTORY
from cortex.places import Layout
from healthcheck.collectors.folder import describe, open_log, shown
from healthcheck.evidence import Missing, Unreadable
from healthcheck.renderers.printable import one_line
from policies.limits import ROW_MAX_BYTES

ROWS_SHOWN: Final = 30
_BLOCK: Final = 1 << 20
# One character a verdict: what every terminal can show, and what most can.
SPARKS: Final = {
    "ascii": {"ok": "_", "warn": "=", "critical": "#"},
    "blocks": {"ok": "▁", "warn": "▄", "critical": "█"},
}


class PastRun(msgspec.Struct, frozen=True):
    """A verdict that is remembered, as far as a table shows it."""

    ts: str
    overall: str
    findings: tuple[str, ...] = ()


class Past(NamedTuple):
    """What is remembered: the last runs, how many there are in all, and the run since which the verdict is the same.

    `not_rows` counts lines that hold no verdict.
    """

    runs: tuple[PastRun, ...]
    total: int
    changed: PastRun | None
    not_rows: int


class PastError(Exception):
    """The history cannot be read. `str()` says why."""


def read(layout: Layout, last: int = ROWS_SHOWN) -> Past:
    """Read the history; of one that is not there, nothing is remembered.

    Raises:
        PastError: It cannot be read.
    """
    descriptor = open_log(layout, HEALTH_HISTORY)
    if isinstance(descriptor, Missing):
        return Past((), 0, None, 0)
    if isinstance(descriptor, Unreadable):
        raise PastError(f"{descriptor.path} {descriptor.reason}")
    try:
        return _gather(_lines(descriptor), last)
    except OSError as error:
        raise PastError(f"{shown(layout, layout.observability / HEALTH_HISTORY)} {describe(error)}") from error


def _lines(descriptor: int) -> Iterator[bytes]:
    with os.fdopen(descriptor, "rb", _BLOCK) as file:
        while line := file.readline(ROW_MAX_BYTES):
            yield line


def _gather(lines: Iterator[bytes], last: int) -> Past:
    decoder = msgspec.json.Decoder(PastRun)
    runs: deque[PastRun] = deque(maxlen=last)
    total = not_rows = 0
    changed = None
    for line in lines:
        try:
            run = decoder.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            not_rows += bool(line.strip())
            continue
        if changed is None or run.overall != runs[-1].overall:
            changed = run
        runs.append(run)
        total += 1
    return Past(tuple(runs), total, changed, not_rows)


def as_text(past: Past, sparks: str = "ascii") -> str:
    """Return the table, the newest verdict last, and below it the course and the last change."""
    return "".join(f"{one_line(line)}\n" for line in _told(past, SPARKS[sparks]))


def _told(past: Past, sparks: dict[str, str]) -> Iterator[str]:
    if past.changed is None:
        yield "no verdict is remembered"
    for run in past.runs:
        yield f"{run.ts}  {run.overall:8}  {', '.join(run.findings)}".rstrip()
    if past.changed is not None:
        yield f"{''.join(sparks.get(run.overall, '?') for run in past.runs)}  the last {len(past.runs)} of {past.total}"
        yield f"{past.changed.overall} since {past.changed.ts}"
    if past.not_rows:
        yield f"{past.not_rows} of its lines hold no verdict"


def as_json(past: Past) -> str:
    """Return the same as one JSON document."""
    members = {
        "runs": [msgspec.to_builtins(run) for run in past.runs],
        "total": past.total,
        "changed": msgspec.to_builtins(past.changed),
        "not_rows": past.not_rows,
    }
    return json.dumps(members, indent=2) + "\n"
