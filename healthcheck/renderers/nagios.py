"""The report as one line of a Nagios plugin: `MEMORY OK|WARNING|CRITICAL - text|performance data`.

Performance data in base units (s, B), with our thresholds as the upper end of the warning range, which also begins at
0: an age below it is dated ahead of the clock. What was not measured is `U`, so that every label is always there.
"""

from collections.abc import Iterator
from typing import Final

from healthcheck.checks import CheckId, Severity
from healthcheck.renderers.printable import one_line
from healthcheck.report import Measures, Report, measures
from healthcheck.words import counted

_STATES: Final = {Severity.OK: "OK", Severity.WARN: "WARNING", Severity.CRITICAL: "CRITICAL"}
# Label, the instant it is the age of, its threshold.
_AGES: Final = (
    ("reviewer_age", "reviewer_at", "reviewer_stale_ms"),
    ("retrieval_age", "retrieval_at", "retrieval_stale_ms"),
    ("observability_oldest_age", "observability_oldest_at", "observability_max_age_ms"),
    ("index_age", "index_at", "index_stale_ms"),
)
# Label (and the measure of that name), unit, its threshold.
_NUMBERS: Final = (
    ("proposals_pending", "", "proposal_backlog"),
    ("observability_bytes", "B", "observability_max_bytes"),
    ("observability_files", "", None),
)


def render(report: Report) -> str:
    """Return the line, with its final newline."""
    performance = " ".join(_performance(report, measures(report.evidence)))
    return f"MEMORY {_STATES[report.overall]} - {_text(report)}|{performance}\n"


def _text(report: Report) -> str:
    """Return the worst problem, how many more there are, and what nobody looked at."""
    findings = report.assessment.findings
    text = f"{counted(report.counts()['ok'], 'check')} ok"
    if findings:
        more = f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
        text = f"{findings[0].id}: {findings[0].message}{more}"
    unlooked = "".join(f"; {words}: {', '.join(checks)}" for words, checks in _not_looked_at(report) if checks)
    return one_line(text + unlooked).replace("|", "/")  # a bar would begin the performance data


def _not_looked_at(report: Report) -> Iterator[tuple[str, list[CheckId]]]:
    for wanted, words in (("not-enabled", "not enabled"), ("skipped", "skipped")):
        yield words, [result.check for result in report.assessment.checks if result.status == wanted]


def _performance(report: Report, measured: Measures) -> Iterator[str]:
    for label, instant, threshold in _AGES:
        at = getattr(measured, instant)
        age = None if at is None else (report.now - at) / 1000
        yield _datum(label, age, "s", report.thresholds[threshold].value / 1000)
    for label, unit, limit_name in _NUMBERS:
        limit = None if limit_name is None else report.thresholds[limit_name].value
        yield _datum(label, getattr(measured, label), unit, limit)


def _datum(label: str, value: float | None, unit: str, limit: float | None) -> str:
    if value is None:
        return f"{label}=U"
    warning = "" if limit is None else f";{_number(limit)}"
    return f"{label}={_number(value)}{unit}{warning}"


def _number(value: float) -> str:
    """Return a number in plain digits, as the protocol wants them: no exponent."""
    return str(int(value)) if value == int(value) else f"{value:.3f}"
