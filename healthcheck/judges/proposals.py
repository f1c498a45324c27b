"""Are proposals being decided? A queue that cannot be trusted and a backlog may both hold at once."""

from healthcheck.evidence import Malformed, ProposalEvidence
from healthcheck.judgement import Facts, Finding, Judged, Limits, finding
from healthcheck.words import counted, lines


def judge_proposals(evidence: ProposalEvidence, limits: Limits, now: int) -> Judged:  # noqa: ARG001  (all judges look alike)
    """Judge the proposal queue. It has no times."""
    limit = limits["proposal_backlog"].value
    findings = [found for found in (_untrusted(evidence), _backlog(evidence, limit)) if found is not None]
    pending = counted(evidence.pending, "proposal")
    return Judged(tuple(findings), f"{pending} pending, the limit is {limit}")


def _untrusted(evidence: ProposalEvidence) -> Finding | None:
    malformed, without_status = evidence.malformed, evidence.without_status
    if not malformed.count and not without_status.count:
        return None
    faults = (_clause(malformed, "no JSON object"), _clause(without_status, "no status that is a string"))
    numbers = tuple(sorted({*malformed.lines, *without_status.lines}))
    return finding(
        "proposal-evidence-malformed",
        f"{evidence.queue} cannot be trusted: {'; '.join(filter(None, faults))}.",
        Facts(path=evidence.queue, lines=numbers, count=malformed.count + without_status.count),
    )


def _clause(rows: Malformed, what: str) -> str:
    return f"{what} in {lines(rows.lines, rows.count)}" if rows.count else ""


def _backlog(evidence: ProposalEvidence, limit: float) -> Finding | None:
    if evidence.pending <= limit:
        return None
    return finding(
        "proposal-backlog-high",
        f"{counted(evidence.pending, 'proposal')} in {evidence.queue} wait for a decision; the limit is {limit}.",
        Facts(path=evidence.queue, pending=evidence.pending, limit=limit),
    )
