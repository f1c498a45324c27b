"""The report for people."""

import pytest
from support.green_evidence import logs, proposals, report, retrieval, retrieved, reviewed, reviewer
from support.health_tree import DAY

from healthcheck.checks import FINDINGS
from healthcheck.evidence import Missing, NotEnabled, Observed, SetupEvidence, SetupFault, Unreadable
from healthcheck.renderers import text
from healthcheck.report import Report

BAD = Unreadable("a\x1b[31m\nb\u202e\udcff", "is a link")


def test_all_is_well() -> None:
    assert text.render(report(corpus=Missing("no KNOWLEDGE"))) == (
        "OK: 11 checks ok, 1 skipped\n"
        "memory default: /r/LIFEOS/MEMORY, judged by 2026-08-10T12:00:00.000Z\n"
        "\n"
        "skipped: corpus (no KNOWLEDGE)\n"
        "ok: reviewer, retrieval, proposals, observability, index, hot_memory, retention, ratchet, noise, setup, "
        "history\n"
    )


def test_findings_come_worst_first_with_remedy_and_since_when() -> None:
    rendered = text.render(
        report(
            reviewer=reviewer(last=reviewed("failed", error="no answer")),
            retrieval=retrieval(last=retrieved(DAY + 60_000)),
            policy=Observed(NotEnabled("P", {"proposals": "by hand"})),
        )
    )
    assert rendered == (
        "CRITICAL: reviewer-latest-failed: The last row of O/reviewer.jsonl (line 7) s...\n"
        "memory default: /r/LIFEOS/MEMORY, judged by 2026-08-10T12:00:00.000Z\n"
        "\n"
        "critical reviewer-latest-failed (reviewer)\n"
        "  The last row of O/reviewer.jsonl (line 7) says that the run failed: no answer.\n"
        "  since: 2026-08-10T11:00:00.000Z, 1 hour ago\n"
        "  remedy: Read the row's error, mend its cause, run the reviewer again.\n"
        "  way back: Only a new reviewer run that succeeds helps: "
        "start the reviewer by hand and look at what it says.\n"
        "\n"
        "warn retrieval-stale (retrieval)\n"
        "  The last retrieval in O/retrievals.jsonl was 1 day 1 minute ago; the limit is 1 day.\n"
        "  since: 2026-08-10T11:59:00.000Z, 1 minute ago\n"
        "  remedy: See whether agents still use the memory, and whether retrievals are still recorded.\n"
        "  way back: Only a new retrieval helps: ask the memory something, recorded (`cortex search QUERY --record`).\n"
        "\n"
        "not enabled: proposals (by hand)\n"
        "ok: observability, index, hot_memory, retention, corpus, ratchet, noise, setup, history\n"
    )


CASES = [
    report(),
    report(index=BAD),
    report(index=BAD, proposals=proposals(pending=11)),
    report(reviewer=Missing("x" * 500)),
]


@pytest.mark.parametrize("case", CASES)
def test_the_first_line_holds_verdict_and_worst_problem_within_80_characters(case: Report) -> None:
    first = text.render(case).split("\n")[0]
    assert len(first) <= 80
    assert first.startswith(f"{case.overall.word.upper()}: ")
    assert all(finding.id in first for finding in case.assessment.findings[:1])


def test_what_names_of_files_hold_neither_commands_the_terminal_nor_breaks_the_line() -> None:
    rendered = text.render(report(index=BAD, observability=logs(unreadable=("c\rd",))))
    assert "a\\x1b[31m\\x0ab\\u202e\ufffd" in rendered
    assert "c\\x0dd" in rendered
    assert not set("\x1b\r\u202e") & set(rendered)


def test_the_first_line_is_one_line_whatever_stands_in_it() -> None:
    setup = SetupEvidence((SetupFault("health-root-invalid", "a\x1b\nb", "--root"),))
    assert text.render(report(setup=setup)).startswith("CRITICAL: health-root-invalid: a\\x1b\\x0ab\nmemory ")


def test_colour_is_put_on_verdict_and_severities_alone() -> None:
    plain, coloured = text.render(report(index=BAD)), text.render(report(index=BAD), colour=True)
    assert coloured.startswith("\x1b[1;31mCRITICAL: ")
    assert coloured.replace("\x1b[1;31m", "").replace("\x1b[0m", "") == plain


@pytest.mark.parametrize("spec", FINDINGS, ids=lambda spec: spec.id)
def test_a_finding_is_explained_in_ascii_with_rule_remedy_and_way_back(spec: object) -> None:
    explained = text.explain(spec)  # type: ignore[arg-type]
    assert explained.isascii()
    assert all(sentence in explained for sentence in spec[3:])  # type: ignore[index]
