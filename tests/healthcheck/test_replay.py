"""`replay FILE` gives the same report, byte for byte, from the file alone."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from support.evidences import reports
from support.health_tree import DAY, NOW, observability, write_h0, write_rows
from support.running import Run, run, run_process

from healthcheck.renderers import json_v1
from healthcheck.replay import replay
from healthcheck.report import Report

FEW = settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A memory in which all is well."""
    return write_h0(tmp_path / "R")


def frozen(root: Path, *more: str | Path, **variables: str) -> tuple[Path, Run]:
    path = root.parent / "report.json"
    return path, run("--root", root, "--now", str(NOW + 3 * DAY), "--report", path, *more, environment=variables)


@FEW
@given(case=reports())
def test_any_report_gives_the_same_bytes(tmp_path_factory: pytest.TempPathFactory, case: Report) -> None:
    """`--report` freezes everything that was judged: `replay FILE` gives the same report, byte for byte."""
    path = tmp_path_factory.getbasetemp() / "replayed.json"
    path.write_text(json_v1.render(case), "ascii")
    replayed = replay(str(path))
    assert json_v1.render(replayed.report) == path.read_text("ascii")
    assert replayed.is_same


def test_on_another_machine_it_is_the_same(root: Path) -> None:
    """Another clock, locale, time zone, home and set of variables; and the memory is gone."""
    write_rows(observability(root) / "pending-proposals.jsonl", [{"status": "pending"}] * 11)
    path, told = frozen(root, "--json", CORTEX_PROPOSAL_BACKLOG="10.5", CORTEX_INDEX_STALE_MS="30s")
    assert told.exit_code == 2
    root.rename(root.parent / "elsewhere")
    other = {"LC_ALL": "C", "TZ": "Pacific/Auckland", "PYTHONIOENCODING": "ascii", "CORTEX_RETRIEVAL_STALE_MS": "1"}
    replayed = run_process("--now", "0", "replay", path, environment=other)
    assert replayed == Run(2, path.read_text("ascii"), "")
    assert replayed.stdout == told.stdout


def test_what_was_silenced_and_what_recovered_is_told_as_it_was(root: Path) -> None:
    frozen(root)
    run("--root", root, "--now", str(NOW + 3 * DAY), "noise", "silence", "retrieval::retrieval-stale", "--reason", "x")
    path, _ = frozen(root)
    assert run("replay", path).stdout == path.read_text("ascii")
    assert json.loads(path.read_text("ascii"))["findings"][0]["silenced"] is True


def test_a_format_that_is_named_is_taken_and_so_is_the_gate(root: Path) -> None:
    path, _ = frozen(root)
    assert run("--format", "nagios", "replay", path).stdout.startswith("MEMORY WARNING - retrieval-stale: ")
    assert run("--block-on", "critical", "replay", path).exit_code == 0


def test_a_file_that_says_otherwise_than_its_evidence_is_not_believed(root: Path) -> None:
    path, _ = frozen(root)
    report = json.loads(path.read_text("ascii"))
    report["findings"], report["overall"], report["exit_code"] = [], "ok", 0
    path.write_text(json.dumps(report, indent=2) + "\n", "ascii")
    replayed = run("replay", path)
    assert (replayed.exit_code, replayed.finding_ids) == (1, ["retrieval-stale"])
    assert "says otherwise" in replayed.stderr


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b'{"schema":"memory-health/v1"}', b"\xff"])
def test_what_is_no_report_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "report.json"
    path.write_bytes(content)
    refused = run("replay", path)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert str(path) in refused.stderr


def test_a_report_of_a_crash_and_a_file_that_is_not_there_are_refused(root: Path, tmp_path: Path) -> None:
    path, _ = frozen(root)
    report = json.loads(path.read_text("ascii"))
    path.write_text(json.dumps(report | {"evidence": {}, "thresholds": {}}), "ascii")
    assert run("replay", path).exit_code == 2
    assert "cannot be read" in run("replay", tmp_path / "none.json").stderr
