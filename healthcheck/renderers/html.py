"""The report as one HTML page that needs nothing else: no script, no font, no picture, no address.

1. Whatever comes from outside is escaped by `_text`, and is text alone: never a tag, an attribute's name or an address.
2. The page is ASCII; other characters are written as references, so that it is the same in every locale.
3. Headings, tables and landmarks carry the meaning; colour and the picture only repeat it.
"""

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Any, Final

from msgspec import to_builtins

from healthcheck.checks import CATALOGUE, CHECKS
from healthcheck.course import Change, Course, PastRun, changes
from healthcheck.judgement import Finding
from healthcheck.news import key_of
from healthcheck.renderers.html_chart import chart, minute
from healthcheck.renderers.html_style import STYLE
from healthcheck.renderers.printable import one_line
from healthcheck.report import Measures, Report, as_past_run, measures
from healthcheck.words import counted, duration, size
from policies import __version__
from policies.timestamps import format_instant

_NO_COURSE: Final = Course()
# Changes of the verdict that are listed.
LISTED_CHANGES: Final = 30
_HEAD: Final = (
    '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    '<meta name="referrer" content="no-referrer">\n'
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
)
# What is measured, the measure, its threshold. An instant is measured by its age.
_MEASURED: Final = (
    ("Last reviewer run", "reviewer_at", "reviewer_stale_ms"),
    ("Last retrieval", "retrieval_at", "retrieval_stale_ms"),
    ("Proposals pending", "proposals_pending", "proposal_backlog"),
    ("Bytes of all logs", "observability_bytes", "observability_max_bytes"),
    ("Oldest log", "observability_oldest_at", "observability_max_age_ms"),
    ("Newest log", "observability_newest_at", None),
    ("Number of logs", "observability_files", None),
    ("Adopted index", "index_at", "index_stale_ms"),
    ("Canonical files", "corpus_files", None),
    ("Bytes of canonical files", "corpus_bytes", None),
)


def render(report: Report, course: Course = _NO_COURSE) -> str:
    """Return the page, with a final newline; `course` is what the history tells, with or without this run."""
    word = report.overall.word
    page = (
        f"{_HEAD}<title>{word.upper()} - memory {_text(report.name)}</title>\n<style>{STYLE}</style>\n</head>\n"
        f'<body>\n<a class="skip" href="#findings">Skip to the findings</a>\n{_header(report)}<main>\n'
        + _section("findings", "Findings", _findings(report))
        + _section("checks", "Checks", _checks(report))
        + _section("evidence", "Evidence beside thresholds", _evidence(report))
        + _section("history", "History", _history(report, course))
        + f"</main>\n<footer><p>memory-health {__version__}. Missing evidence is never green.</p></footer>\n"
        + "</body>\n</html>\n"
    )
    return page.encode("ascii", "xmlcharrefreplace").decode("ascii")


def _text(value: object) -> str:
    """Return a value as text of the page: on one line, control characters spelled, nothing of it markup."""
    return escape(one_line(str(value)))


def _time(instant: int) -> str:
    text = format_instant(instant)
    return f'<time datetime="{text}">{text}</time>'


def _badge(word: str) -> str:
    return f'<span class="badge {word}">{word}</span>'


def _section(name: str, title: str, parts: Iterable[str]) -> str:
    return (
        f'<section aria-labelledby="{name}">\n<h2 id="{name}" tabindex="-1">{title}</h2>\n{"".join(parts)}</section>\n'
    )


def _table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; cells are HTML, and the first of a row is its heading."""
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    body = "".join(
        f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in others)}</tr>\n'
        for first, *others in rows
    )
    return f"<table>\n<caption>{caption}</caption>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>\n"


def _header(report: Report) -> str:
    findings = report.assessment.findings
    worst = f"{findings[0].id}: {findings[0].message}" if findings else "Nothing was found amiss."
    counts = ", ".join(f"{count} {status}" for status, count in report.counts().items() if count)
    return (
        f'<header>\n<div class="verdict {report.overall.word}">\n'
        f"<h1>{_badge(report.overall.word)} Memory {_text(report.name)}</h1>\n<p>{_text(worst)}</p>\n"
        f'<p class="faint">Judged by {_time(report.now)}. Checks: {counts}. Exit code {int(report.overall)}.</p>\n'
        f'<p class="faint">Memory root: <code>{_text(report.memory_root)}</code></p>\n</div>\n</header>\n'
    )


def _findings(report: Report) -> Iterator[str]:
    if not report.assessment.findings:
        yield "<p>None.</p>\n"
    for found in sorted(report.assessment.findings, key=report.notices.is_silenced):
        yield _finding(found, report)


def _finding(found: Finding, report: Report) -> str:
    spec, word = CATALOGUE[found.id], found.severity.word
    rows = [("Check", _text(found.check))]
    if found.facts.since_at is not None:
        rows.append(("Since", f"{_time(found.facts.since_at)}, {duration(report.now - found.facts.since_at)} ago"))
    standing = report.notices.standings.get(key_of(found))
    if standing is not None and standing.silenced_until is not None:
        rows.append(("Silenced", f"until {_time(standing.silenced_until)}"))
    rows += [("Remedy", _text(spec.remedy)), ("Way back", _text(spec.way_back)), ("Rule", _text(spec.rule))]
    rows += [(_label(name), f"<code>{value}</code>") for name, value in _facts(found)]
    pairs = "".join(f"<dt>{name}</dt><dd>{value}</dd>\n" for name, value in rows)
    return (
        f'<article class="finding {word}" aria-labelledby="{found.check}-{found.id}">\n'
        f'<h3 id="{found.check}-{found.id}">{_badge(word)} {_text(found.id)}</h3>\n'
        f"<p>{_text(found.message)}</p>\n<dl>\n{pairs}</dl>\n</article>\n"
    )


def _label(name: str) -> str:
    """Return a fact's name in words; its unit stands beside its value."""
    return name.removesuffix("_ms").removesuffix("_bytes").replace("_", " ")


def _facts(found: Finding) -> Iterator[tuple[str, str]]:
    """Yield what the finding rests on, by the names of the report; the age is told by `since` already."""
    facts: dict[str, Any] = to_builtins(found.facts)
    for name, value in facts.items():
        if name == "since_at":
            continue
        if name.endswith("_at"):
            yield name, _time(value)
        elif isinstance(value, list | tuple):
            yield name, _text(", ".join(map(str, value)))
        else:
            yield name, _text(_in_words(name, value))


def _in_words(name: str, value: object) -> object:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return value
    return duration(value) if name.endswith("_ms") else size(value) if name.endswith("_bytes") else value


def _checks(report: Report) -> Iterator[str]:
    titles = {check.id: check.title for check in CHECKS}
    yield _table(
        "Every check of this run",
        ("Check", "Status", "What was found"),
        (
            (
                f"<code>{_text(check)}</code>",
                _badge(status),
                f'{_text(summary)}<br><span class="faint">{_text(titles[check])}</span>',
            )
            for check, status, summary in report.assessment.checks
        ),
    )


def _evidence(report: Report) -> Iterator[str]:
    found = measures(report.evidence)
    yield _table(
        "What was measured, and how much of its limit it takes",
        ("Evidence", "Measured", "Limit"),
        (_measure(report, found, title, name, limit) for title, name, limit in _MEASURED),
    )
    grace = report.thresholds["reviewer_run_grace_ms"]
    yield f"<p>A reviewer run may take {duration(grace.value)} ({_text(grace.source)}).</p>\n"


def _measure(report: Report, found: Measures, title: str, name: str, limit_name: str | None) -> tuple[str, ...]:
    value = getattr(found, name)
    number = report.now - value if value is not None and name.endswith("_at") else value
    measured = "not measured" if value is None else _measured(name, value, number)
    if limit_name is None:
        return title, measured, "none"
    limit = report.thresholds[limit_name]
    words = f"{_text(_in_words(limit_name, limit.value))} ({_text(limit.source)})"
    return title, measured, words + ("" if number is None else _share(number, limit.value))


def _measured(name: str, value: int, number: int) -> str:
    if name.endswith("_at"):
        ago = f"{duration(number)} ago" if number >= 0 else f"{duration(-number)} ahead of the clock"
        return f"{ago}, <span>{_time(value)}</span>"
    return _text(_in_words(name, value))


def _share(number: int, limit: float) -> str:
    """Return a bar that is full where the limit is reached; past it, or ahead of the clock, it has another colour."""
    used = min(max(number / limit, 0), 1) * 100
    kind = "used" if 0 <= number <= limit else "over"
    width = f"{used if kind == 'used' else 100:.4g}"
    return (
        '<svg class="share" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="room" width="100" height="8"/><rect class="{kind}" width="{width}" height="8"/></svg>'
    )


def _history(report: Report, course: Course) -> Iterator[str]:
    if course.problem is not None:
        yield f"<p>The history cannot be read: {_text(course.problem)}.</p>\n"
    runs = with_this_run(report, course)
    yield chart(runs)
    notes = ["Older runs are not shown."] if course.older else []
    if course.unreadable:
        notes.append(f"{counted(course.unreadable, 'line')} of the history could not be read.")
    if notes:
        yield f"<p>{' '.join(notes)}</p>\n"
    changed = list(changes(runs))
    if not changed:
        yield "<p>The verdict never changed in these runs.</p>\n"
        return
    yield _table(
        f"The last changes, newest first: {min(len(changed), LISTED_CHANGES)} of {len(changed)}",
        ("When", "Verdict", "New", "Cleared"),
        (_change(found) for found in reversed(changed[-LISTED_CHANGES:])),
    )


def with_this_run(report: Report, course: Course) -> tuple[PastRun, ...]:
    """Return the runs with this one as the last, whether or not it left a row."""
    before = course.runs[:-1] if course.runs and course.runs[-1].at == report.now else course.runs
    return (*before, as_past_run(report))


def _change(changed: Change) -> tuple[str, ...]:
    new, cleared = (
        ", ".join(f"<code>{_text(key.rpartition('::')[2])}</code>" for key in keys) or "none"
        for keys in (changed.new, changed.cleared)
    )
    return minute(changed.run.at), _badge(changed.run.overall.word), new, cleared
