"""What a judge answers with: findings, or why it did not look, or one sentence that all is well.

1. Within one report a finding is known by its check and id: no judge gives the same id twice.
2. Instants are integer milliseconds since 1970 in fields named `..._at`; durations end in `_ms`, sizes in `_bytes`.
3. Nothing of the memory's content: paths, line numbers, times, numbers, hashes.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from msgspec import Struct

from healthcheck.checks import CATALOGUE, CheckId, Severity
from policies.thresholds import EffectiveThreshold

Limits = Mapping[str, EffectiveThreshold]


class Facts(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a finding rests on. `since_at` is the instant from which on it held, as far as the evidence shows."""

    path: str | None = None
    paths: tuple[str, ...] | None = None
    reason: str | None = None
    subjects: tuple[str, ...] | None = None
    line: int | None = None
    lines: tuple[int, ...] | None = None
    count: int | None = None
    error: str | None = None
    evidence_at: int | None = None
    since_at: int | None = None
    age_ms: int | None = None
    limit_ms: float | None = None
    size_bytes: int | None = None
    limit_bytes: float | None = None
    pending: int | None = None
    limit: float | None = None
    complete: bool | None = None
    expected_sha256: str | None = None
    measured_sha256: str | None = None


NO_FACTS: Final = Facts()


class Finding(NamedTuple):
    """One thing that is not green. `message` is full sentences with the numbers in human units and the path."""

    id: str
    check: CheckId
    severity: Severity
    message: str
    facts: Facts


class Judged(NamedTuple):
    """A judge's answer. `summary` says what was found good; `skipped` and `not_enabled` say why nobody looked."""

    findings: tuple[Finding, ...] = ()
    summary: str = ""
    skipped: str | None = None
    not_enabled: str | None = None


def finding(finding_id: str, message: str, facts: Facts = NO_FACTS, check: CheckId | None = None) -> Finding:
    """Return a finding of the catalogue; `check` only where it is not the catalogue's.

    Raises:
        KeyError: The catalogue has no such finding.
    """
    spec = CATALOGUE[finding_id]
    return Finding(finding_id, check or spec.check, spec.severity, message, facts)


def bad(finding_id: str, message: str, facts: Facts = NO_FACTS) -> Judged:
    """Return the answer of a judge that found this one thing."""
    return Judged((finding(finding_id, message, facts),))


def good(summary: str) -> Judged:
    """Return the answer of a judge that found nothing amiss."""
    return Judged(summary=summary)
