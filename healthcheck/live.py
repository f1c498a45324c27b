"""`memory-health explain FINDING --live`: how this memory stands to a finding now. Pure.

1. Rows are named by path and line; nothing that stands in them is shown.
2. The next change is found by judging the same evidence again, at each instant at which anything in it passes now or a
   limit: as if nobody wrote another row.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from healthcheck.checks import CATALOGUE, Severity
from healthcheck.evaluate import evaluate
from healthcheck.evidence import Evidence, Malformed, Observed, ProposalEvidence, RetrievalEvidence, ReviewerEvidence
from healthcheck.renderers.printable import one_line
from healthcheck.report import Report, measures
from healthcheck.words import duration, lines, size
from policies.limits import ARCHIVE_OVERDUE_DAYS
from policies.timestamps import format_instant
from policies.units import DAY_MS

# What is held against which threshold.
_MEASURED: Final[Mapping[str, tuple[str, str]]] = {
    "reviewer-stale": ("reviewer_at", "reviewer_stale_ms"),
    "retrieval-stale": ("retrieval_at", "retrieval_stale_ms"),
    "proposal-backlog-high": ("proposals_pending", "proposal_backlog"),
    "observability-bytes-exceeded": ("observability_bytes", "observability_max_bytes"),
    "observability-age-exceeded": ("observability_oldest_at", "observability_max_age_ms"),
    "index-stale": ("index_at", "index_stale_ms"),
}


def explain(report: Report, finding: str) -> str:
    """Return, after a blank line, what holds now, which rows say so, the number, and when it next changes by itself."""
    return "\n" + "".join(f"{one_line(line)}\n" for line in _told(report, finding))


def _told(report: Report, finding: str) -> Iterator[str]:
    found = [one for one in report.assessment.findings if one.id == finding]
    yield f"Now:      {format_instant(report.now)}, {'found' if found else 'not found'}"
    yield from (f"          {one.message}" for one in found)
    yield from (f"Row:      {row}" for row in _rows(report.evidence, CATALOGUE[finding].check))
    if finding in _MEASURED:
        yield f"Number:   {_number(report, *_MEASURED[finding])}"
    yield f"Next:     {_next(report, finding, is_found=bool(found))}"


def _rows(evidence: Evidence, check: str) -> Iterator[str]:
    """Yield the rows that a check's verdict rests on, as path and line."""
    collected = getattr(evidence, check, None)
    match collected:
        case Observed(value=ReviewerEvidence() as value):
            yield from _lines(value.log, value.last, value.malformed)
        case Observed(value=RetrievalEvidence() as value):
            yield from _lines(value.log, value.last, value.malformed)
        case Observed(value=ProposalEvidence() as value):
            yield from _lines(value.queue, None, value.malformed)
            yield from _lines(value.queue, None, value.without_status)
        case _:
            return


def _lines(log: str, last: Any, malformed: Malformed) -> Iterator[str]:
    if malformed.count:
        yield f"{log}, {lines(malformed.lines, malformed.count)}"
    if last is not None:
        yield f"{log}, line {last.line}"


def _number(report: Report, measure: str, threshold: str) -> str:
    number, limit = getattr(measures(report.evidence), measure), report.thresholds[threshold].value
    if number is None:
        return f"not measured; the limit is {limit} ({threshold})"
    if measure.endswith("_at"):
        return f"{duration(report.now - number)}, the limit is {duration(limit)} ({threshold})"
    words = size if measure.endswith("_bytes") else str
    return f"{words(number)}, the limit is {words(limit)} ({threshold})"


def _next(report: Report, finding: str, *, is_found: bool) -> str:
    """Return when the finding comes or goes and when the verdict changes, if nothing is written meanwhile."""
    told = []
    pending = {"finding", "verdict"}
    for instant in _instants(report):
        then = evaluate(report.evidence, report.thresholds, instant)
        if "finding" in pending and any(one.id == finding for one in then.findings) is not is_found:
            pending.remove("finding")
            told.append(f"{'gone' if is_found else 'found'} from {format_instant(instant)}")
        if "verdict" in pending and then.overall is not report.overall:
            pending.remove("verdict")
            told.append(f"the verdict is {_worded(then.overall)} from {format_instant(instant)}")
    return f"{', '.join(told)}, if nothing is written meanwhile" if told else "nothing changes by itself"


def _worded(severity: Severity) -> str:
    return severity.word


def _instants(report: Report) -> list[int]:
    """Return every instant after now at which anything in the evidence is reached, or older than a limit."""
    limits = {
        0,
        ARCHIVE_OVERDUE_DAYS * DAY_MS,
        *(int(limit.value) for limit in report.thresholds.values() if limit.value < _FAR),
    }
    times = set(_times(msgspec.to_builtins(report.evidence)))
    after = {at + limit + later for at in times for limit in limits for later in (0, 1)}
    return sorted(instant for instant in after if report.now < instant < _FAR)


# The last instant that can be printed: the end of the year 9999.
_FAR: Final = 253_402_300_800_000


def _times(value: Any, name: str = "") -> Iterator[int]:
    match value:
        case dict():
            for key, member in value.items():
                yield from _times(member, key)
        case list() | tuple():
            for member in value:
                yield from _times(member, name)
        case int() if name.endswith("_at"):
            yield value
        case _:
            return
