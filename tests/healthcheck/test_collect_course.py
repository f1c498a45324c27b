"""The last verdicts of the history, read from its end."""

import json
import tracemalloc
from pathlib import Path

import pytest
from support.health_tree import NOW, write_h0

from cortex.places import Layout, layout_of
from healthcheck.checks import Severity
from healthcheck.collectors import course
from healthcheck.collectors.course import read_course
from healthcheck.course import Course, PastRun
from policies.timestamps import format_instant


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    """The layout of a memory in which all is well."""
    return layout_of(write_h0(tmp_path / "R") / "LIFEOS" / "MEMORY")


def log_of(layout: Layout) -> Path:
    return layout.observability / "memory-health.jsonl"


def row(at: int, overall: str = "ok", **changes: object) -> bytes:
    members = {"ts": format_instant(at), "overall": overall, "counts": {"ok": 9}, "findings": ["a::b"], **changes}
    return json.dumps(members).encode() + b"\n"


def test_no_history_is_no_run(layout: Layout) -> None:
    assert read_course(layout) == Course()


def test_runs_come_oldest_first_with_verdict_and_findings(layout: Layout) -> None:
    log_of(layout).write_bytes(row(NOW - 1, "critical") + row(NOW, findings=[]))
    assert read_course(layout) == Course((PastRun(NOW - 1, Severity.CRITICAL, ("a::b",)), PastRun(NOW, Severity.OK)))


@pytest.mark.parametrize(
    ("line", "unreadable"),
    [
        (b"", 0), (b" \t\n", 0), (b"{\n", 1), (b"[]\n", 1), (b'{"ts":"x","overall":"ok"}\n', 1), (b"\xff\n", 1),
        (row(NOW, "green"), 1), (row(NOW, findings=[1]), 1), (row(NOW, findings="a"), 1), (b'{"ts', 1),
    ],
)  # fmt: skip
def test_a_line_that_is_no_row_is_counted_and_passed_over(layout: Layout, line: bytes, unreadable: int) -> None:
    log_of(layout).write_bytes(row(NOW - 2) + line)
    found = read_course(layout)
    assert ([run.at for run in found.runs], found.unreadable) == ([NOW - 2], unreadable)


def test_only_the_last_are_read(layout: Layout) -> None:
    log_of(layout).write_bytes(b"".join(row(NOW + place) for place in range(5)))
    found = read_course(layout, 3)
    assert [run.at - NOW for run in found.runs] == [2, 3, 4]
    assert (found.older, read_course(layout, 5).older) == (True, False)


def test_a_long_history_is_read_from_its_end_alone(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [row(NOW + place) for place in range(50)]
    log_of(layout).write_bytes(b"".join(rows))
    monkeypatch.setattr(course, "TAIL_BYTES", len(rows[0]) * 3 + 1)
    found = read_course(layout)
    assert [run.at - NOW for run in found.runs] == [47, 48, 49]
    assert (found.older, found.unreadable) == (True, 0)


def test_a_history_of_any_length_is_read_in_bounded_memory(layout: Layout) -> None:
    padded = row(NOW, logs={"x": "y" * 200_000})
    with log_of(layout).open("wb") as file:
        file.writelines(padded for _ in range(200))
    tracemalloc.start()
    found = read_course(layout)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (found.older, len(found.runs)) == (True, course.TAIL_BYTES // len(padded))
    assert peak < 24 * 1024 * 1024


def test_what_is_no_log_is_told(layout: Layout) -> None:
    log_of(layout).mkdir()
    assert read_course(layout).problem == "MEMORY/OBSERVABILITY/memory-health.jsonl is a folder"
