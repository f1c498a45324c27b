"""The report as a page for a browser."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.evidences import reports, texts
from support.green_evidence import logs, report, retrieval, retrieved, reviewed, reviewer
from support.health_tree import DAY, HOUR, NOW
from support.pages import Page

from healthcheck.checks import CATALOGUE, Severity
from healthcheck.course import Course, PastRun, changes
from healthcheck.evidence import SetupEvidence, SetupFault, Unreadable
from healthcheck.renderers import html
from healthcheck.renderers.html_chart import COLUMNS, chart
from healthcheck.renderers.html_style import STYLE
from healthcheck.renderers.printable import one_line
from healthcheck.report import Report

OK, WARN, CRITICAL = Severity
SCRIPT = '</title><script>alert("1")</script><img src=x onerror=alert(1)>'
STALE = report(reviewer=reviewer(last=reviewed("failed")), retrieval=retrieval(last=retrieved(DAY + 60_000)))


def runs(*verdicts: Severity) -> tuple[PastRun, ...]:
    """Runs an hour apart, each with a finding of its verdict."""
    findings = {OK: (), WARN: ("retrieval::retrieval-stale",), CRITICAL: ("reviewer::reviewer-latest-failed",)}
    return tuple(
        PastRun(NOW - (len(verdicts) - place) * HOUR, verdict, findings[verdict])
        for place, verdict in enumerate(verdicts)
    )


def bands(drawn: str) -> dict[str, list[tuple[float, float]]]:
    """Where the marks of each severity begin and end, of 1200."""
    found = re.findall(r'<path class="runs-(\w+)" d="([^"]*)"', drawn)
    return {
        word: [
            (float(begin), float(begin) + float(width)) for begin, width in re.findall(r"M([\d.]+) \d+h([\d.]+)v", path)
        ]
        for word, path in found
    }  # fmt: skip


def test_the_verdict_and_the_worst_problem_come_first() -> None:
    page = Page(html.render(STALE))
    before_findings = page.text.partition("Skip to the findings")[2].partition("Findings")[0]
    assert before_findings.split("\n")[3:5] == [
        "critical Memory default",
        "reviewer-latest-failed: The last row of O/reviewer.jsonl (line 7) says that the run failed.",
    ]
    assert "Judged by 2026-08-10T12:00:00.000Z. Checks: 10 ok, 1 warn, 1 critical. Exit code 2." in before_findings


def test_findings_come_worst_first_each_with_its_remedy_way_back_and_since_when() -> None:
    page = Page(html.render(STALE))
    ids = [found.id for found in STALE.assessment.findings]
    places = [page.text.index(f"{CATALOGUE[found].severity.word} {found}\n") for found in ids]
    assert places == sorted(places)
    for found in STALE.assessment.findings:
        spec = CATALOGUE[found.id]
        assert all(sentence in page.text for sentence in (found.message, spec.remedy, spec.way_back, spec.rule))
    assert "Since2026-08-10T11:59:00.000Z, 1 minute ago" in page.text


def test_what_was_measured_stands_beside_its_threshold() -> None:
    text = Page(html.render(STALE)).text
    assert "Last retrieval1 day 1 minute ago, 2026-08-09T11:59:00.000Z1 day (default)" in text
    assert "Bytes of all logs600 bytes268435456 bytes (256.0 MiB) (default)" in text
    assert "Proposals pending110 (default)" in text


@pytest.mark.parametrize(
    ("pending_age", "kind", "width"),
    [(0, "used", "0"), (DAY // 2, "used", "50"), (DAY, "used", "100"), (DAY + 1, "over", "100"), (-1, "over", "100")],
)
def test_a_bar_is_full_at_the_limit_and_of_another_colour_past_it(pending_age: int, kind: str, width: str) -> None:
    page = html.render(report(retrieval=retrieval(last=retrieved(pending_age))))
    row = page.partition(">Last retrieval<")[2].partition("</tr>")[0]
    assert f'<rect class="{kind}" width="{width}"' in row


def test_what_nobody_measured_has_no_bar() -> None:
    page = html.render(report(retrieval=Unreadable("O/retrievals.jsonl", "is a link")))
    row = page.partition(">Last retrieval<")[2].partition("</tr>")[0]
    assert "not measured" in row
    assert "<svg" not in row


PLACES = [
    report(SCRIPT),
    report(index=Unreadable(SCRIPT, "is a link")),
    report(observability=logs(oldest=SCRIPT, oldest_at=NOW - 40 * DAY)),
    report(setup=SetupEvidence((SetupFault("health-root-invalid", SCRIPT, SCRIPT),))),
    report(reviewer=reviewer(last=reviewed("failed", error=SCRIPT))),
    report()._replace(memory_root=SCRIPT),
]


@pytest.mark.parametrize("case", PLACES)
def test_a_script_in_a_value_is_text(case: Report) -> None:
    rendered = html.render(case, Course((PastRun(NOW - 1, WARN, (f"index::{SCRIPT}",)),), problem=SCRIPT))
    page = Page(rendered)
    assert page.text.count(SCRIPT) >= 3
    assert not {"script", "img"} & {tag for tag, _ in page.tags}
    assert "<script" not in rendered


@given(reports(), st.lists(st.builds(PastRun, st.integers(0, NOW), st.sampled_from(Severity), st.tuples(texts))))
def test_any_report_is_a_whole_page_that_loads_nothing(case: Report, before: list[PastRun]) -> None:
    """One self-contained page, no script, no outside resource, every value escaped."""
    rendered = html.render(case, Course(tuple(before), unreadable=2))
    page = Page(rendered)
    assert rendered.isascii()
    assert not {"script", "link", "img", "iframe", "object", "base", "form"} & {tag for tag, _ in page.tags}
    assert {attributes["href"] for tag, attributes in page.tags if "href" in attributes} == {"#findings"}
    assert not any(name.startswith("on") or name in {"src", "style"} for _, found in page.tags for name in found)
    assert all(one_line(found.message) in page.text for found in case.assessment.findings)
    names = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(names) == len(set(names))


def test_the_style_sheet_loads_nothing() -> None:
    assert not re.search(r"url\(|@import|<", STYLE)
    assert all(f"@media {kind}" in STYLE for kind in ("print", "(prefers-color-scheme: dark)"))


def test_it_can_be_read_by_ear_and_walked_by_keyboard() -> None:
    page = Page(html.render(STALE))
    assert page.tags[0] == ("html", {"lang": "en"})
    assert [tag for tag, _ in page.tags if re.fullmatch("h[1-3]", tag)] == ["h1", "h2", "h3", "h3", "h2", "h2", "h2"]
    (_, skip) = next(element for element in page.tags if element[0] == "a")
    assert page.having("id", str(skip["href"])[1:])
    for tag, attributes in page.tags:
        for target in str(attributes.get("aria-labelledby", "")).split():
            assert page.having("id", target), (tag, target)


def test_a_few_runs_have_a_column_each() -> None:
    assert bands(chart(runs(OK, OK, WARN, CRITICAL))) == {
        "ok": [(0, 600)], "warn": [(600, 900)], "critical": [(900, 1200)]
    }  # fmt: skip


def test_one_bad_run_in_five_thousand_still_shows() -> None:
    many = list(runs(*[OK] * 5000))
    many[2500] = many[2500]._replace(overall=CRITICAL)
    drawn = bands(chart(many))
    ((begin, end),) = drawn["critical"]
    assert end - begin >= 1200 / COLUMNS - 0.02
    assert drawn["ok"] == [(0, 1200)]
    assert "5000 runs, oldest at the left: 1 critical, 0 warn, 4999 ok. A column is 21 runs" in chart(many)
    assert len(chart(many)) < 2000


def test_the_longest_silence_is_told() -> None:
    before = PastRun(NOW - 3 * DAY, OK)
    assert "The longest time between two runs was 3 days." in html.render(report(), Course((before,)))


def test_this_run_is_the_last_whether_or_not_it_left_a_row() -> None:
    this = PastRun(NOW, OK)
    assert html.with_this_run(report(), Course()) == (this,)
    assert html.with_this_run(report(), Course((PastRun(NOW - 1, OK), this))) == (PastRun(NOW - 1, OK), this)


def test_changes_are_listed_newest_first() -> None:
    page = Page(html.render(report(), Course(runs(OK, WARN, WARN, CRITICAL), older=True, unreadable=1)))
    table = page.text.partition("The last changes, newest first: 3 of 3")[2]
    assert table.index("12:00 UTCoknonereviewer-latest-failed") < table.index("11:00 UTCcritical")
    assert "11:00 UTCcriticalreviewer-latest-failedretrieval-stale" in table
    assert "Older runs are not shown. 1 line of the history could not be read." in page.text


def test_a_history_that_cannot_be_read_is_told() -> None:
    page = Page(html.render(report(), Course(problem="O/memory-health.jsonl is a link")))
    assert "The history cannot be read: O/memory-health.jsonl is a link." in page.text


def test_a_change_of_verdict_alone_is_a_change() -> None:
    (changed,) = changes(
        (PastRun(1, WARN, ("a::b",)), PastRun(2, CRITICAL, ("a::b",)), PastRun(3, CRITICAL, ("a::b",)))
    )
    assert (changed.run.at, changed.new, changed.cleared) == (2, (), ())
