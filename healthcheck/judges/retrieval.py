"""Is the memory still being asked? The first that holds, and the last row decides."""

from healthcheck.evidence import RetrievalEvidence, RetrievalRow
from healthcheck.judgement import Facts, Judged, Limits, bad, good
from healthcheck.words import duration, lines


def judge_retrieval(evidence: RetrievalEvidence, limits: Limits, now: int) -> Judged:
    """Judge the retrieval log."""
    log, malformed, row = evidence.log, evidence.malformed, evidence.last
    if malformed.count:
        where = lines(malformed.lines, malformed.count)
        return bad(
            "retrieval-evidence-malformed",
            f"{log} is not JSON objects alone: {where} cannot be read as one.",
            Facts(path=log, lines=malformed.lines, count=malformed.count),
        )
    if row is None:
        message = f"Nothing shows that the memory was ever asked: no row in {log}."
        return bad("retrieval-missing", message, Facts(path=log))
    if not row.valid or row.retrieved_at is None:
        return bad(
            "retrieval-evidence-malformed",
            f"The last row of {log} (line {row.line}) has an unknown shape, so it proves nothing.",
            Facts(path=log, line=row.line),
        )
    return _time_of(log, row, row.retrieved_at, limits["retrieval_stale_ms"].value, now)


def _time_of(log: str, row: RetrievalRow, asked: int, limit: float, now: int) -> Judged:
    age = now - asked
    if age < 0:
        return bad(
            "retrieval-future",
            f"The last row of {log} (line {row.line}) is dated {duration(-age)} ahead of the clock, "
            "so it proves nothing.",
            Facts(path=log, line=row.line, evidence_at=asked, age_ms=age),
        )
    if age > limit:
        return bad(
            "retrieval-stale",
            f"The last retrieval in {log} was {duration(age)} ago; the limit is {duration(limit)}.",
            Facts(path=log, evidence_at=asked, since_at=int(asked + limit), age_ms=age, limit_ms=limit),
        )
    return good(f"the memory was last asked {duration(age)} ago")
