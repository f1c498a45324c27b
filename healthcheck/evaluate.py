"""The verdict: evidence, thresholds and now go in, findings and a status for each check come out. Pure.

1. Missing evidence is never green; what could not be looked at is critical, and says so.
2. A part declared not enabled has a status of its own and no finding.
3. The order of what goes in changes nothing: findings are ordered by severity (worst first), check and id.
4. The worst of nothing is critical, not ok.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple, TypeVar, assert_never

from healthcheck.checks import CAN_BE_NOT_ENABLED, CATALOGUE, CheckId, CheckStatus, Severity
from healthcheck.evidence import (
    Collected,
    Evidence,
    Missing,
    NoiseEvidence,
    NotEnabled,
    Observed,
    ProbeFailed,
    SetupFault,
    Unreadable,
)
from healthcheck.judgement import Facts, Finding, Judged, Limits, bad, finding, good
from healthcheck.judges.corpus import judge_corpus
from healthcheck.judges.hot_memory import judge_hot_memory
from healthcheck.judges.index import judge_index
from healthcheck.judges.noise import judge_noise
from healthcheck.judges.observability import judge_observability
from healthcheck.judges.proposals import judge_proposals
from healthcheck.judges.ratchet import judge_ratchet
from healthcheck.judges.retention import judge_retention
from healthcheck.judges.retrieval import judge_retrieval
from healthcheck.judges.reviewer import judge_reviewer

T = TypeVar("T")


class CheckResult(NamedTuple):
    """A check's status, and one sentence on it: the worst finding, what was found good, or why nobody looked."""

    check: CheckId
    status: CheckStatus
    summary: str


class Assessment(NamedTuple):
    """The verdict: every check in the catalogue's order, every finding in its order."""

    checks: tuple[CheckResult, ...]
    findings: tuple[Finding, ...]

    @property
    def overall(self) -> Severity:
        """The worst severity."""
        return worst(_SEVERITIES[result.status] for result in self.checks if result.status in _SEVERITIES)


_SEVERITIES: Final[Mapping[CheckStatus, Severity]] = {
    "ok": Severity.OK,
    "warn": Severity.WARN,
    "critical": Severity.CRITICAL,
}


def worst(severities: Iterable[Severity]) -> Severity:
    """Return the worst; of none at all CRITICAL, since nothing was looked at."""
    return max(severities, default=Severity.CRITICAL)


def evaluate(evidence: Evidence, limits: Limits, now: int, history_skipped: str | None = None) -> Assessment:
    """Judge all of it by `now` (milliseconds since 1970).

    `history_skipped` says why this run writes no history row, where it does not.
    """
    judged: dict[CheckId, Judged] = {
        "reviewer": _settle("reviewer", evidence.reviewer, judge_reviewer, limits, now),
        "retrieval": _settle("retrieval", evidence.retrieval, judge_retrieval, limits, now),
        "proposals": _settle("proposals", evidence.proposals, judge_proposals, limits, now),
        "observability": _settle("observability", evidence.observability, judge_observability, limits, now),
        "index": _settle("index", evidence.index, judge_index, limits, now),
        "hot_memory": _settle("hot_memory", evidence.hot_memory, judge_hot_memory, limits, now),
        "retention": _settle("retention", evidence.retention, judge_retention, limits, now),
        "corpus": _settle("corpus", evidence.corpus, judge_corpus, limits, now),
        "ratchet": _settle("ratchet", evidence.ratchet, judge_ratchet, limits, now),
        "noise": Judged(),
        "setup": _judge_policy(evidence.policy),
        "history": _judge_history(evidence, history_skipped),
    }
    _leave_out(judged, evidence.policy)
    judged["noise"] = _judge_noise(evidence.noise, judged, now)
    _add_faults(judged, evidence.setup.faults)
    findings = (found for answer in judged.values() for found in answer.findings)
    return Assessment(
        tuple(_result(check, answer) for check, answer in judged.items()),
        tuple(sorted(findings, key=_rank)),
    )


def _rank(found: Finding) -> tuple[int, str, str]:
    return -found.severity, found.check, found.id


def _settle(
    check: CheckId, collected: Collected[T], judge: Callable[[T, Limits, int], Judged], limits: Limits, now: int
) -> Judged:
    match collected:
        case Observed(value=value):
            return judge(value, limits, now)
        case Missing(reason=reason):
            return _missing(check, reason)
        case Unreadable():
            return _unreadable(check, collected)
        case ProbeFailed():
            return _crashed(check, collected)
        case _:
            assert_never(collected)


# What a check's missing evidence leads to. A memory without a corpus folder has none to look at: that is no fault.
_MISSING: Final[Mapping[CheckId, tuple[str, str]]] = {
    "reviewer": ("reviewer-evidence-missing", "Nothing shows that a reviewer ever ran"),
    "retrieval": ("retrieval-missing", "Nothing shows that the memory was ever asked"),
    "proposals": ("proposal-evidence-missing", "There is no proposal queue"),
    "observability": ("observability-evidence-missing", "There are no logs at all"),
    "index": ("index-evidence-missing", "Nothing says whether this memory has an index or does without one on purpose"),
}


def _missing(check: CheckId, reason: str) -> Judged:
    if check not in _MISSING:
        return Judged(skipped=reason)
    finding_id, lead = _MISSING[check]
    return bad(finding_id, f"{lead}: {reason}.", Facts(reason=reason))


_UNREADABLE: Final[Mapping[CheckId, tuple[str, str]]] = {
    "reviewer": ("reviewer-evidence-invalid", "The reviewer's evidence cannot be read"),
    "retrieval": ("retrieval-evidence-invalid", "The retrieval log cannot be read"),
    "proposals": ("proposal-evidence-malformed", "The proposal queue cannot be read"),
    "observability": ("observability-evidence-invalid", "The logs cannot be measured"),
    "index": ("index-manifest-invalid", "The index, or what says that there is none, cannot be trusted"),
    "hot_memory": ("hot-memory-markers", "Hot memory cannot be read"),
    "retention": ("retention-archive-overdue", "What waits for the archive cannot be told"),
    "corpus": ("corpus-unsound", "The canonical files cannot be walked"),
    "setup": ("health-policy-invalid", "The policy of parts not enabled cannot be trusted, so all parts are judged"),
    "ratchet": ("evidence-vanished", "What was recorded of the evidence cannot be compared"),
    "noise": ("noise-ledger-damaged", "The noise ledger cannot be trusted, so everything is told"),
    "history": ("health-history-unreadable", "The history of verdicts cannot be read"),
}


def _unreadable(check: CheckId, found: Unreadable) -> Judged:
    finding_id, lead = _UNREADABLE[check]
    return bad(finding_id, f"{lead}: {found.path}: {found.reason}.", Facts(path=found.path, reason=found.reason))


def _crashed(check: CheckId, probe: ProbeFailed) -> Judged:
    message = f"Collecting the evidence of the check {check} crashed ({probe.reason}), so nothing is known of it."
    return Judged((finding("health-internal-error", message, Facts(reason=probe.reason), check),))


def _judge_policy(policy: Collected[NotEnabled]) -> Judged:
    match policy:
        case Observed() | Missing():
            return good("this run was asked something sensible")
        case Unreadable():
            return _unreadable("setup", policy)
        case ProbeFailed():
            return _crashed("setup", policy)
        case _:
            assert_never(policy)


def _judge_noise(noise: Collected[NoiseEvidence], judged: Mapping[CheckId, Judged], now: int) -> Judged:
    """Judge the ledger last: whether a silence matters depends on what was found."""
    if isinstance(noise, Missing):
        return good("nothing is silenced")
    keys = {f"{found.check}::{found.id}" for answer in judged.values() for found in answer.findings}
    return _settle("noise", noise, lambda value, _limits, at: judge_noise(value, keys, at), {}, now)


def _judge_history(evidence: Evidence, skipped: str | None) -> Judged:
    history = evidence.history
    match history:
        case Observed() | Missing():
            return Judged(skipped=skipped, summary="verdicts are remembered")
        case Unreadable():
            return _unreadable("history", history)
        case ProbeFailed():
            return _crashed("history", history)
        case _:
            assert_never(history)


def _leave_out(judged: dict[CheckId, Judged], policy: Collected[NotEnabled]) -> None:
    """Put `not-enabled` in the place of whatever was judged of a part that the policy declares unused."""
    if isinstance(policy, Observed):
        for check in CAN_BE_NOT_ENABLED:
            if check in policy.value.reasons:
                judged[check] = Judged(not_enabled=policy.value.reasons[check])


def _add_faults(judged: dict[CheckId, Judged], faults: Iterable[SetupFault]) -> None:
    """Add what went wrong with this run: one finding an id, whatever the number of faults."""
    grouped: dict[str, list[SetupFault]] = {}
    for fault in sorted(faults, key=lambda fault: (fault.finding, fault.subject, fault.message)):
        grouped.setdefault(fault.finding, []).append(fault)
    for finding_id, group in grouped.items():
        message = " ".join(fault.message for fault in group if fault.message)
        found = finding(finding_id, message, Facts(subjects=tuple(fault.subject for fault in group)))
        check = CATALOGUE[finding_id].check
        judged[check] = judged[check]._replace(findings=(*judged[check].findings, found))


def _result(check: CheckId, answer: Judged) -> CheckResult:
    if answer.findings:
        leading = min(answer.findings, key=_rank)
        return CheckResult(check, leading.severity.word, leading.message)
    if answer.not_enabled is not None:
        return CheckResult(check, "not-enabled", answer.not_enabled)
    if answer.skipped is not None:
        return CheckResult(check, "skipped", answer.skipped)
    return CheckResult(check, "ok", answer.summary)
