"""Is this verdict remembered? The auditor's own log: that it is there, and that its last whole row is one."""

import os
from typing import Final

from cortex.layout import HEALTH_HISTORY
from cortex.places import Layout
from cortex.strict_json import StrictJSONError, loads
from healthcheck.collectors.folder import describe, open_log, shown
from healthcheck.evidence import Collected, HistoryEvidence, Observed, Unreadable
from policies.limits import MIB

# A row is a few KiB: where this much of the end holds no newline, it is no log of verdicts.
TAIL_BYTES: Final = MIB


def collect_history(layout: Layout) -> Collected[HistoryEvidence]:
    """Look at the end of the history, however long it is."""
    descriptor = open_log(layout, HEALTH_HISTORY)
    if not isinstance(descriptor, int):
        return descriptor
    path = shown(layout, layout.observability / HEALTH_HISTORY)
    try:
        size = os.fstat(descriptor).st_size
        tail = os.pread(descriptor, TAIL_BYTES, max(0, size - TAIL_BYTES))
    except OSError as error:
        return Unreadable(path, describe(error))
    finally:
        os.close(descriptor)
    if not _ends_in_a_row(tail, is_whole=size <= TAIL_BYTES):
        return Unreadable(path, "holds no JSON object as its last whole line")
    return Observed(HistoryEvidence(path, size))


def _ends_in_a_row(tail: bytes, *, is_whole: bool) -> bool:
    """Judge the last line that has its newline; what a killed writer left behind it is for the next writer to mend."""
    end = tail.rfind(b"\n")
    if end < 0:
        return is_whole
    begin = tail.rfind(b"\n", 0, end) + 1
    if not begin and not is_whole:
        return False
    try:
        return isinstance(loads(tail[begin:end]), dict)
    except StrictJSONError:
        return False
