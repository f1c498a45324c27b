"""The report for people at a terminal.

The first line is the verdict and the worst problem within 80 characters; then findings, worst first; then what is not
enabled or was skipped; then, on one line, what is ok. Our own words are ASCII, so that any terminal can show them.
"""

from collections.abc import Iterator
from typing import Final

from healthcheck.checks import CATALOGUE, CheckStatus, FindingSpec, Severity
from healthcheck.judgement import Finding
from healthcheck.renderers.printable import one_line
from healthcheck.report import Report
from healthcheck.words import counted, duration
from policies.timestamps import format_instant

WIDTH: Final = 80
_COLOURS: Final = {Severity.OK: "32", Severity.WARN: "33", Severity.CRITICAL: "1;31"}

_NOT_LOOKED_AT: Final[tuple[tuple[CheckStatus, str], ...]] = (("not-enabled", "not enabled"), ("skipped", "skipped"))


def render(report: Report, *, colour: bool = False) -> str:
    """Return the report as text, with a final newline; `colour` puts ANSI colours on verdict and severities."""
    return "".join(f"{line}\n" for line in _lines(report, colour))


def _lines(report: Report, colour: bool) -> Iterator[str]:
    yield _paint(headline(report), report.overall, colour)
    yield one_line(f"memory {report.name}: {report.memory_root}, judged by {format_instant(report.now)}")
    for found in report.assessment.findings:
        yield ""
        yield from _finding(found, report.now, colour)
    yield ""
    yield from _not_looked_at(report)
    good = [result.check for result in report.assessment.checks if result.status == "ok"]
    if good:
        yield f"ok: {', '.join(good)}"


def headline(report: Report) -> str:
    """Return the verdict and the worst problem, cut to 80 characters."""
    findings = report.assessment.findings
    word = report.overall.word.upper()
    if findings:
        return cut(one_line(f"{word}: {findings[0].id}: {findings[0].message}"), WIDTH)
    counts = report.counts()
    others = [f"{counts[status]} {words}" for status, words in _NOT_LOOKED_AT if counts[status]]
    return cut(f"{word}: {', '.join([counted(counts['ok'], 'check') + ' ok', *others])}", WIDTH)


def cut(text: str, width: int) -> str:
    """Return text of at most `width` characters; what was cut off shows as three dots."""
    return text if len(text) <= width else text[: width - 3].rstrip() + "..."


def _finding(found: Finding, now: int, colour: bool) -> Iterator[str]:
    yield f"{_paint(found.severity.word, found.severity, colour)} {found.id} ({found.check})"
    yield f"  {one_line(found.message)}"
    if found.facts.since_at is not None:
        ago = duration(now - found.facts.since_at)
        yield f"  since: {format_instant(found.facts.since_at)}, {ago} ago"
    yield f"  remedy: {CATALOGUE[found.id].remedy}"
    yield f"  way back: {CATALOGUE[found.id].way_back}"


def _not_looked_at(report: Report) -> Iterator[str]:
    for wanted, words in _NOT_LOOKED_AT:
        for check, status, reason in report.assessment.checks:
            if status == wanted:
                yield one_line(f"{words}: {check} ({reason})")


def _paint(text: str, severity: Severity, colour: bool) -> str:
    return f"\x1b[{_COLOURS[severity]}m{text}\x1b[0m" if colour else text


def explain(spec: FindingSpec) -> str:
    """Return what the catalogue says of a finding."""
    return (
        f"{spec.id}: {spec.severity.word}, of the check {spec.check}\n\n"
        f"{spec.meaning}\n\nRule:     {spec.rule}\nRemedy:   {spec.remedy}\nWay back: {spec.way_back}\n"
    )
