"""`memory-health history`: the last verdicts, their course, the last change."""

import json
from pathlib import Path

import pytest
from support.health_tree import DAY, NOW, observability, retrieval_row, write_h0, write_rows
from support.running import Run, run, run_measured, run_process

from policies.timestamps import format_instant


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A memory that was never judged."""
    return write_h0(tmp_path / "R")


def history(root: Path, *more: str) -> Run:
    return run("--root", root, *more, "history")


def log_of(root: Path) -> Path:
    return observability(root) / "memory-health.jsonl"


def test_it_shows_what_runs_left(root: Path) -> None:
    assert history(root) == Run(0, "no verdict is remembered\n", "")
    for days in (0, 1.5, 2):
        run("--root", root, "--now", str(NOW + int(days * DAY)))
    write_rows(observability(root) / "memory-retrievals.jsonl", [retrieval_row(), retrieval_row(NOW + 2 * DAY)])
    run("--root", root, "--now", str(NOW + 2 * DAY))
    assert history(root).stdout == (
        "2026-08-10T12:00:00.000Z  ok\n"
        "2026-08-12T00:00:00.000Z  warn      retrieval::retrieval-stale\n"
        "2026-08-12T12:00:00.000Z  warn      retrieval::retrieval-stale\n"
        "2026-08-12T12:00:00.000Z  ok\n"
        "▁▄▄▁  the last 4 of 4\n"
        "ok since 2026-08-12T12:00:00.000Z\n"
    )


def test_of_many_it_shows_the_last_thirty_and_the_last_change_before_them(root: Path) -> None:
    rows = [{"ts": format_instant(NOW + n * DAY), "overall": "ok" if n < 7 else "critical"} for n in range(50)]
    write_rows(log_of(root), rows)
    lines = history(root).stdout.splitlines()
    assert len(lines) == 32
    assert lines[0] == f"{format_instant(NOW + 20 * DAY)}  critical"
    assert lines[-2:] == [f"{30 * '█'}  the last 30 of 50", f"critical since {format_instant(NOW + 7 * DAY)}"]
    past = json.loads(history(root, "--json").stdout)
    assert (len(past["runs"]), past["total"], past["changed"]["ts"]) == (30, 50, format_instant(NOW + 7 * DAY))


def test_lines_that_hold_no_verdict_are_counted(root: Path) -> None:
    log_of(root).write_bytes(b'{"ts":"a\\u001b","overall":"odd"}\n\n[]\n{"ts"')
    assert history(root).stdout == (
        "a\\x1b  odd\n?  the last 1 of 1\nodd since a\\x1b\n2 of its lines hold no verdict\n"
    )


def test_a_terminal_without_utf_8_gets_ascii(root: Path) -> None:
    write_rows(log_of(root), [{"ts": "t", "overall": word} for word in ("ok", "warn", "critical")])
    shown = run_process("--root", root, "history", environment={"LC_ALL": "C", "PYTHONIOENCODING": "ascii"})
    assert "_=#  the last 3 of 3\n" in shown.stdout


def test_a_history_that_cannot_be_read_is_said_and_no_verdict(root: Path) -> None:
    log_of(root).mkdir()
    refused = history(root)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "memory-health.jsonl is a folder" in refused.stderr


@pytest.mark.proof
def test_its_length_costs_no_memory(root: Path) -> None:
    row = json.dumps({"ts": "t", "overall": "ok", "findings": ["x" * 1000]}) + "\n"
    log_of(root).write_text(row)
    _, small = run_measured("--root", root, "history")
    log_of(root).write_text(row * 100_000)
    _, large = run_measured("--root", root, "history")
    assert large < small + 16 * 2**20
