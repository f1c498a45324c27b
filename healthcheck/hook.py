"""`memory-health hook`: one line for people at an agent's stop event, where something changed since the last run.

1. It never holds an agent up: not done in time, or already within a stop that a hook continued, it says nothing.
2. What is news the noise ledger decides, as for `--quiet`: what one of them has told, neither tells again.
3. It publishes neither textfile nor report: those belong to timed runs.
"""

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from select import select
from typing import Any, Final, get_args

from healthcheck.audit import audit
from healthcheck.clock import Clock
from healthcheck.news import Kind, key_of
from healthcheck.options import Options
from healthcheck.renderers.printable import one_line
from healthcheck.renderers.text import cut
from healthcheck.report import Report
from healthcheck.request import request_of
from healthcheck.signals import Stopped, stop
from policies.limits import MIB

# Of the 1.5 seconds that a stop event may take, the interpreter's own start and end need some.
ANSWER_WITHIN_S: Final = 1.3
LINE_WIDTH: Final = 400
_EVENT_MAX_BYTES: Final = 4 * MIB
# How long the host may take to write the event; where stdin is left open and empty there is none.
_EVENT_WITHIN_S: Final = 0.2


def answer(options: Options, environment: Mapping[str, str], clock: Clock) -> str:
    """Judge, and return what is printed: a JSON object or a line, with its newline; nothing where nothing changed."""
    request = request_of(options, environment)._replace(notify=True, textfile=None, report=None)
    try:
        with _deadline(ANSWER_WITHIN_S - clock.elapsed_s()) as met:
            if _event().get("stop_hook_active") is True:
                return ""
            report = audit(request, clock, collected=met)
    except Stopped:
        return ""
    line = message(report)
    if line is None:
        return ""
    return f"{line if options.plain else json.dumps({'systemMessage': line})}\n"


def message(report: Report) -> str | None:
    """Return in one line of ASCII what is news of a run; None where nothing is."""
    if not report.notices.speaks:
        return None
    line = "; ".join([f"Memory {report.name} is {report.overall.word}", *_news(report)]) + "."
    return cut(one_line(line).encode("ascii", "backslashreplace").decode("ascii"), LINE_WIDTH)


def _news(report: Report) -> Iterator[str]:
    """Yield what is told of each kind, the worst of it with its message, and what has cleared."""
    findings = {key_of(found): found for found in report.assessment.findings}
    told = {key: standing.kind for key, standing in report.notices.standings.items() if standing.told}
    for kind in get_args(Kind):
        same = [found for key, found in findings.items() if told.get(key) == kind]
        if same:
            others = f", and {', '.join(found.id for found in same[1:])}" if same[1:] else ""
            yield f"{kind}: {same[0].id}: {same[0].message.removesuffix('.')}{others}"
    if report.notices.recovered:
        yield f"cleared: {', '.join(key.rpartition('::')[2] for key in report.notices.recovered)}"


@contextmanager
def _deadline(seconds: float) -> Iterator[Callable[[], object]]:
    """Raise `Stopped` in the block once the time is over; the function that is handed out calls that off.

    Raises:
        Stopped: The time is over.
    """
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.001))
    try:
        yield lambda: signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _event() -> dict[str, Any]:
    """Return the event that the host writes to stdin, as soon as it is whole; nothing where there is none."""
    if sys.stdin is None or sys.stdin.isatty():
        return {}
    data = b""
    while len(data) <= _EVENT_MAX_BYTES and select([sys.stdin], [], [], _EVENT_WITHIN_S)[0]:
        read = os.read(sys.stdin.fileno(), MIB)
        if not read:
            break
        data += read
        event = _decoded(data)
        if event is not None:
            return event
    return {}


def _decoded(data: bytes) -> dict[str, Any] | None:
    try:
        event = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) else None
