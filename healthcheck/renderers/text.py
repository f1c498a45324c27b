"""The report for people at a terminal.

The first line is the verdict and the worst problem within 80 characters; then findings, worst first; then what is not
enabled or was skipped; then, on one line, what is ok; what an operator silenced comes last, marked. Our own words are
ASCII, so that any terminal can show them.
"""

from collections.abc import Iterator
from typing import Final

from healthcheck.checks import CATALOGUE, CheckStatus, FindingSpec, Severity
from healthcheck.judgement import Finding
from healthcheck.news import Standing, key_of
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
    silenced = [found for found in report.assessment.findings if report.notices.is_silenced(found)]
    for found in report.assessment.findings:
        if found not in silenced:
            yield ""
            yield from _finding(found, report, colour)
    yield ""
    if report.notices.recovered:
        yield f"cleared: {', '.join(report.notices.recovered)}"
    yield from _not_looked_at(report)
    good = [result.check for result in report.assessment.checks if result.status == "ok"]
    if good:
        yield f"ok: {', '.join(good)}"
    for found in silenced:
        yield ""
        yield from _finding(found, report, colour)


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


def _finding(found: Finding, report: Report, colour: bool) -> Iterator[str]:
    standing = report.notices.standings.get(key_of(found))
    mark = f", {_mark(standing)}" if standing else ""
    yield f"{_paint(found.severity.word, found.severity, colour)} {found.id} ({found.check}){mark}"
    yield f"  {one_line(found.message)}"
    if found.facts.since_at is not None:
        ago = duration(report.now - found.facts.since_at)
        yield f"  since: {format_instant(found.facts.since_at)}, {ago} ago"
    yield f"  remedy: {CATALOGUE[found.id].remedy}"
    yield f"  way back: {CATALOGUE[found.id].way_back}"


def _mark(standing: Standing) -> str:
    """Return what is news of a finding: `new`, `worse`, or since when it is unchanged; and whether it is told."""
    if standing.silenced_until is not None:
        return f"silenced until {format_instant(standing.silenced_until)}"
    if standing.broke_silence:
        return "worse: its silence is broken"
    if standing.kind != "unchanged":
        return standing.kind
    known = ", a known deviation" if standing.converged else ""
    return f"unchanged since {format_instant(standing.since)}{known}"


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
