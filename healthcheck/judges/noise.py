"""Is every silence still in force? One that ran out says so, for as long as what it silenced is there."""

from collections.abc import Collection

from healthcheck.evidence import NoiseEvidence
from healthcheck.judgement import Facts, Judged, bad, good
from healthcheck.words import counted
from policies.timestamps import format_instant


def judge_noise(evidence: NoiseEvidence, found: Collection[str], now: int) -> Judged:
    """Judge the silences. `found` are the keys of this run's other findings: what healed needs no silence."""
    standing = [one for one in evidence.silences if one.ingested or one.key in found]
    expired = [one for one in standing if one.until_at <= now]
    if not expired:
        return good(f"{counted(len(standing), 'silence')} in force")
    ended = ", ".join(f"{one.key} (until {format_instant(one.until_at)})" for one in expired)
    return bad(
        "noise-silence-expired",
        f"{counted(len(expired), 'silence')} in {evidence.ledger} ran out: {ended}.",
        Facts(path=evidence.ledger, subjects=tuple(one.key for one in expired), evidence_at=expired[0].until_at),
    )
