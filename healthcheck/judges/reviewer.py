"""Does something still review sessions into memory?

In this order: malformed lines; run folders newer than the last row; the last row; its time. The latest run outweighs
any number of earlier successes, and one run that never ended is critical.
"""

from typing import assert_never

from healthcheck.evidence import ReviewerEvidence, ReviewerRow, RunFolders
from healthcheck.judgement import Facts, Judged, Limits, bad, good
from healthcheck.words import counted, duration, lines


def judge_reviewer(evidence: ReviewerEvidence, limits: Limits, now: int) -> Judged:
    """Judge the reviewer's log and run folders."""
    return (
        _malformed_lines(evidence)
        or _newer_runs(evidence, limits["reviewer_run_grace_ms"].value, now)
        or _last_row(evidence, limits["reviewer_stale_ms"].value, now)
    )


def _malformed_lines(evidence: ReviewerEvidence) -> Judged | None:
    malformed = evidence.malformed
    if not malformed.count:
        return None
    where = lines(malformed.lines, malformed.count)
    return bad(
        "reviewer-latest-parse-failed",
        f"{evidence.log} is not JSON objects alone: {where} cannot be read as one.",
        Facts(path=evidence.log, lines=malformed.lines, count=malformed.count),
    )


def runs_after_last_row(evidence: ReviewerEvidence, now: int) -> RunFolders:
    """Return the run folders that began after the last row; all of them where its time proves nothing."""
    last = evidence.last
    if last is None or last.ended_at is None or last.ended_at > now:
        return evidence.all_runs
    return evidence.newer_runs


def _newer_runs(evidence: ReviewerEvidence, grace: float, now: int) -> Judged | None:
    runs = runs_after_last_row(evidence, now)
    if runs.with_parse_error:
        return bad(
            "reviewer-latest-parse-failed",
            f"{counted(runs.with_parse_error, 'run folder')} in {evidence.runs}, newer than the last row of "
            f"{evidence.log}, with parse-error.txt: the reviewer's answer did not parse.",
            Facts(path=evidence.runs, count=runs.with_parse_error, evidence_at=runs.newest_at),
        )
    if runs.oldest_at is None or now - runs.oldest_at <= grace:
        return None
    age = now - runs.oldest_at
    return bad(
        "reviewer-latest-timed-out",
        f"A reviewer run in {evidence.runs} began {duration(age)} ago and has not ended; "
        f"it may take {duration(grace)}.",
        Facts(
            path=evidence.runs,
            count=runs.count,
            evidence_at=runs.oldest_at,
            since_at=int(runs.oldest_at + grace),
            age_ms=age,
            limit_ms=grace,
        ),
    )


def _last_row(evidence: ReviewerEvidence, limit: float, now: int) -> Judged:
    row = evidence.last
    if row is None:
        return _no_row(evidence, now)
    match row.status:
        case "failed" | "parse-failed" | "timed-out":
            return _failed(evidence, row)
        case "invalid":
            return _invalid(evidence, row, "has an unknown shape")
        case "ok" | "skipped":
            return _time_of(evidence, row, limit, now)
        case _:
            assert_never(row.status)


def _no_row(evidence: ReviewerEvidence, now: int) -> Judged:
    begun = evidence.all_runs.newest_at
    if begun is not None and begun > now:
        return _run_ahead(evidence, begun, now)
    running = "" if begun is None else f"; the first run began {duration(now - begun)} ago and has not ended yet"
    return bad(
        "reviewer-evidence-missing",
        f"Nothing shows that a reviewer ever ran to its end: no row in {evidence.log}{running}.",
        Facts(path=evidence.log, evidence_at=begun),
    )


_FAILED = {
    "failed": ("reviewer-latest-failed", "says that the run failed"),
    "parse-failed": ("reviewer-latest-parse-failed", "says that the reviewer's answer did not parse"),
    "timed-out": ("reviewer-latest-timed-out", "says that the run ran out of time"),
}


def _failed(evidence: ReviewerEvidence, row: ReviewerRow) -> Judged:
    finding_id, says = _FAILED[row.status]
    because = "" if row.error is None else f": {row.error}"
    facts = Facts(path=evidence.log, line=row.line, error=row.error, evidence_at=row.ended_at, since_at=row.ended_at)
    return bad(finding_id, f"The last row of {evidence.log} (line {row.line}) {says}{because}.", facts)


def _invalid(evidence: ReviewerEvidence, row: ReviewerRow, what: str) -> Judged:
    return bad(
        "reviewer-evidence-invalid",
        f"The last row of {evidence.log} (line {row.line}) {what}, so it proves nothing.",
        Facts(path=evidence.log, line=row.line, evidence_at=row.ended_at),
    )


def _time_of(evidence: ReviewerEvidence, row: ReviewerRow, limit: float, now: int) -> Judged:
    if row.ended_at is None:
        return _invalid(evidence, row, "has no time that can be read")
    age = now - row.ended_at
    if age < 0:
        return bad(
            "reviewer-future",
            f"The last row of {evidence.log} (line {row.line}) is dated {duration(-age)} ahead of the clock, "
            "so it proves nothing.",
            Facts(path=evidence.log, line=row.line, evidence_at=row.ended_at, age_ms=age),
        )
    begun = evidence.newer_runs.newest_at
    if begun is not None and begun > now:
        return _run_ahead(evidence, begun, now)
    if age > limit:
        return _stale(evidence, row.ended_at, limit, now)
    return good(f"the last reviewer run {_ENDED[row.status]} {duration(age)} ago")


_ENDED = {"ok": "succeeded", "skipped": "had nothing to review"}


def _run_ahead(evidence: ReviewerEvidence, begun: int, now: int) -> Judged:
    return bad(
        "reviewer-future",
        f"A run folder in {evidence.runs} is dated {duration(begun - now)} ahead of the clock, so it proves nothing.",
        Facts(path=evidence.runs, evidence_at=begun, age_ms=now - begun),
    )


def _stale(evidence: ReviewerEvidence, ended: int, limit: float, now: int) -> Judged:
    age = now - ended
    return bad(
        "reviewer-stale",
        f"The last healthy reviewer run in {evidence.log} ended {duration(age)} ago; the limit is {duration(limit)}.",
        Facts(path=evidence.log, evidence_at=ended, since_at=int(ended + limit), age_ms=age, limit_ms=limit),
    )
