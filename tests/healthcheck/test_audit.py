"""One run, wired, without a process: the order of its work, and what fails on the way out."""

import json
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from support.health_tree import HOUR, NOW, observability, retrieval_row, write_h0, write_rows

from cortex.places import layout_of
from healthcheck.audit import audit
from healthcheck.clock import Clock
from healthcheck.request import Request
from policies.thresholds import effective_thresholds

STILL = Clock(wall_ms=lambda: NOW, elapsed_s=lambda: 0.5)


@pytest.fixture
def request_(tmp_path: Path) -> Request:
    """A request for a memory in which all is well."""
    memory = write_h0(tmp_path / "R")
    return Request(layout_of(memory / "LIFEOS" / "MEMORY"), effective_thresholds({})[0])


def found(request: Request, clock: Clock = STILL) -> list[str]:
    return [finding.id for finding in audit(request, clock).assessment.findings]


def history(request: Request) -> list[list[str]]:
    log = request.layout.observability / "memory-health.jsonl"
    return [json.loads(line)["findings"] for line in log.read_text().splitlines()]


def samples(textfile: Path) -> dict[str, float]:
    families = text_string_to_metric_families(textfile.read_text())
    return {sample.name: sample.value for family in families for sample in family.samples}


def test_the_clock_is_read_after_the_evidence_was_collected(request_: Request) -> None:
    """A row written while the run is on its way is not in the future."""
    times = iter((NOW - HOUR, NOW))
    report = audit(request_, Clock(lambda: next(times), lambda: 0.0))
    assert report.now == NOW
    assert report.assessment.findings == ()


def test_a_time_that_is_given_beats_the_clock(request_: Request) -> None:
    assert audit(request_._replace(now=NOW + 1), STILL).now == NOW + 1


def test_metrics_tell_the_real_clock_whatever_time_is_judged_by(request_: Request, tmp_path: Path) -> None:
    textfile = tmp_path / "m.prom"
    audit(request_._replace(now=NOW + HOUR, textfile=str(textfile)), STILL)
    assert samples(textfile)["memory_health_last_run_timestamp_seconds"] == NOW / 1000
    assert samples(textfile)["memory_health_run_duration_seconds"] == 0.5


def test_each_run_adds_its_verdict_to_the_history(request_: Request) -> None:
    audit(request_, STILL)
    write_rows(
        observability(request_.layout.home.parent) / "memory-retrievals.jsonl",
        [retrieval_row(), retrieval_row(NOW + HOUR)],
    )
    audit(request_, STILL)
    assert history(request_) == [[], ["retrieval::retrieval-future"]]


def test_no_write_leaves_no_history(request_: Request) -> None:
    report = audit(request_._replace(no_write=True), STILL)
    assert not (request_.layout.observability / "memory-health.jsonl").exists()
    assert report.counts()["skipped"] == 4


def test_what_fails_on_the_way_out_shows_in_what_comes_after(request_: Request, tmp_path: Path) -> None:
    """History, textfile, report, in this order: each knows of those before it."""
    (request_.layout.observability / "memory-health.jsonl").symlink_to("nowhere")
    textfile, report = tmp_path / "m.prom", tmp_path / "r.json"
    asked = request_._replace(textfile=str(textfile), report=str(report))
    assert found(asked) == ["health-history-unreadable", "health-history-write-failed"]
    assert samples(textfile)["memory_health_status"] == 1
    assert json.loads(report.read_text())["exit_code"] == 1

    asked = asked._replace(textfile=str(tmp_path / "none" / "m.prom"))
    assert found(asked) == ["textfile-write-failed", "health-history-unreadable", "health-history-write-failed"]
    assert json.loads(report.read_text())["exit_code"] == 2


def test_metrics_say_so_too_where_the_report_fails_after_them(request_: Request, tmp_path: Path) -> None:
    textfile = tmp_path / "m.prom"
    asked = request_._replace(textfile=str(textfile), report=str(tmp_path / "none" / "r.json"))
    assert found(asked) == ["report-write-failed"]
    assert samples(textfile)["memory_health_status"] == 2


def test_a_textfile_that_fails_twice_is_one_fault(request_: Request, tmp_path: Path) -> None:
    asked = request_._replace(textfile=str(tmp_path / "m.txt"), report=str(tmp_path / "none" / "r.json"))
    messages = [finding.message for finding in audit(asked, STILL).assessment.findings]
    assert messages == [
        f"The report could not be written to {tmp_path}/none/r.json: No such file or directory.",
        f"The metrics could not be written to {tmp_path}/m.txt: node_exporter reads only names that end in .prom.",
    ]


@pytest.mark.parametrize("path", ["", "\0", "a\udcff\0", "/"])
def test_a_path_that_can_be_no_file_is_a_finding(request_: Request, path: str) -> None:
    assert found(request_._replace(report=path)) == ["report-write-failed"]
    assert found(request_._replace(textfile=f"{path}.prom" if "\0" in path else path)) == ["textfile-write-failed"]
