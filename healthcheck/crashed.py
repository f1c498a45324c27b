"""The report of a run that crashed, for the metrics: every check unknown, which is not green."""

from typing import Final

from healthcheck.checks import CHECKS
from healthcheck.evaluate import Assessment, CheckResult
from healthcheck.evidence import Evidence, ProbeFailed, SetupEvidence
from healthcheck.judgement import finding
from healthcheck.report import Report
from policies.thresholds import effective_thresholds

_FINDING: Final = "health-internal-error"


def crashed_report(name: str, reason: str) -> Report:
    """Return a report in which nothing was judged but the run itself, which is critical."""
    unknown = ProbeFailed(reason)
    found = finding(_FINDING, reason)
    results = (CheckResult(check.id, "critical" if check.id == found.check else "skipped", reason) for check in CHECKS)
    evidence = Evidence(
        setup=SetupEvidence(),
        policy=unknown,
        reviewer=unknown,
        retrieval=unknown,
        proposals=unknown,
        observability=unknown,
        index=unknown,
        hot_memory=unknown,
        retention=unknown,
        corpus=unknown,
        ratchet=unknown,
        noise=unknown,
        history=unknown,
    )
    thresholds, _ = effective_thresholds({})
    return Report(name, "", "", 0, thresholds, evidence, Assessment(tuple(results), (found,)))
