"""Are proposals being decided? Every row of the proposal queue, since any of them may be pending."""

from cortex.layout import PROPOSAL_QUEUE
from cortex.places import Layout
from healthcheck.collectors.folder import read_evidence_log, shown
from healthcheck.collectors.rows import Log
from healthcheck.evidence import Collected, Malformed, Observed, ProposalEvidence
from healthcheck.ratchet import digest_of
from policies.limits import MALFORMED_LINES_LISTED
from policies.shapes import proposal_status

PENDING = "pending"


def collect_proposals(layout: Layout) -> Collected[ProposalEvidence]:
    """Read the proposal queue."""
    pending = 0
    without_status = 0
    lines: list[int] = []
    digests: list[str | None] = []

    def count(line: int, row: dict[str, object]) -> None:
        nonlocal pending, without_status
        status = proposal_status(row)
        pending += status == PENDING
        if status is None:
            without_status += 1
            lines.extend([line] * (len(lines) < MALFORMED_LINES_LISTED))
        else:
            digests.append(digest_of(row.get("id")))

    log = read_evidence_log(layout, PROPOSAL_QUEUE, each=count)
    if not isinstance(log, Log):
        return log
    path = shown(layout, layout.observability / PROPOSAL_QUEUE)
    nameless = Malformed(without_status, tuple(lines))
    return Observed(ProposalEvidence(path, log.rows, pending, log.malformed, nameless, tuple(filter(None, digests))))
