"""Does what was marked to be archived wait too long?"""

from healthcheck.evidence import RetentionEvidence
from healthcheck.judgement import Facts, Judged, Limits, bad, good
from healthcheck.words import counted, duration
from policies.limits import ARCHIVE_OVERDUE_DAYS
from policies.units import DAY_MS

LIMIT_MS = ARCHIVE_OVERDUE_DAYS * DAY_MS


def judge_retention(evidence: RetentionEvidence, limits: Limits, now: int) -> Judged:  # noqa: ARG001  (as all judges)
    """Judge the marks by their age. A mark without a date, or dated ahead, proves nothing and is told as well."""
    if evidence.unclear:
        named = ", ".join(evidence.first_unclear)
        message = f"{counted(evidence.unclear, 'mark')} to archive cannot be dated: {named}."
        return bad("retention-archive-overdue", message, Facts(paths=evidence.first_unclear, count=evidence.unclear))
    if evidence.newest_at is not None and evidence.newest_at > now:
        message = f"{evidence.newest} is marked to be archived at a time ahead of the clock."
        return bad("retention-archive-overdue", message, Facts(path=evidence.newest, evidence_at=evidence.newest_at))
    if evidence.oldest_at is not None and now - evidence.oldest_at > LIMIT_MS:
        age_ms = now - evidence.oldest_at
        message = (
            f"{evidence.oldest} was marked to be archived {duration(age_ms)} ago, longer than {duration(LIMIT_MS)}"
            f" ({counted(evidence.pending, 'note')} wait{'s' if evidence.pending == 1 else ''} in all)."
        )
        since_at = evidence.oldest_at + LIMIT_MS + 1
        facts = Facts(
            path=evidence.oldest,
            count=evidence.pending,
            evidence_at=evidence.oldest_at,
            since_at=since_at,
            age_ms=age_ms,
            limit_ms=LIMIT_MS,
        )
        return bad("retention-archive-overdue", message, facts)
    return good(f"{counted(evidence.levelled, 'levelled note')}, {evidence.pending} marked to be archived")
