"""The ratchet: evidence that was there is there, or a write that says so made it less."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from support.health_tree import (
    DAY,
    HOUR,
    MINUTE,
    NOW,
    observability,
    retrieval_row,
    reviewer_row,
    set_time,
    write_h0,
    write_rows,
)
from support.running import Run, run
from support.stores import Memory, Said

from healthcheck.evidence import KeptMark
from healthcheck.ratchet import AuditRow, LogNow, Mark, RecordedLog, RecordedRun, accounted, below, raised

REVIEWER, RETRIEVAL, QUEUE = "reviewer-runs.jsonl", "memory-retrievals.jsonl", "pending-proposals.jsonl"
FEW = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A memory in which all is well, with two rows in each log, once judged."""
    root = write_h0(tmp_path / "R")
    folder = observability(root)
    write_rows(folder / REVIEWER, [reviewer_row(NOW - DAY), reviewer_row()])
    write_rows(folder / RETRIEVAL, [retrieval_row(NOW - HOUR), retrieval_row()])
    write_rows(folder / QUEUE, [{"id": "p1", "status": "accepted"}, {"id": "p2", "status": "pending"}])
    assert health(root).exit_code == 0
    return root


def health(root: Path, now: int = NOW, *more: str) -> Run:
    return run("--root", root, "--now", str(now), "--json", *more)


def ways(answer: Run) -> dict[str, list[str]]:
    losses = answer.report["evidence"]["ratchet"]["losses"]
    assert ("evidence-vanished" in answer.finding_ids) is bool(losses)
    return {loss["log"]: loss["ways"] for loss in losses}


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def keep_last_row(path: Path) -> None:
    write_rows(path, rows_of(path)[1:])


def keep_first_row(path: Path) -> None:
    write_rows(path, rows_of(path)[:1])


def replace_and_grow(path: Path) -> None:
    row = rows_of(path)[-1]
    write_rows(path, [row] * 40)


def back_date(path: Path) -> None:
    """The last row is of an earlier hour, in as many bytes."""
    first, last = rows_of(path)
    write_rows(path, [first, {**last, "ts": last["ts"].replace("2026-08-10T11", "2026-08-10T09")}])


def replace_by(make: Callable[[Path], object]) -> Callable[[Path], None]:
    def loss(path: Path) -> None:
        path.unlink()
        make(path)

    return loss


LOSSES = [
    (name, loss)
    for name in (REVIEWER, RETRIEVAL, QUEUE)
    for loss in (
        keep_last_row,
        keep_first_row,
        replace_and_grow,
        lambda path: os.truncate(path, 0),
        lambda path: path.unlink(),
        replace_by(lambda path: path.mkdir()),
        replace_by(os.mkfifo),
        replace_by(lambda path: path.symlink_to("x")),
    )
] + [(name, back_date) for name in (REVIEWER, RETRIEVAL)]


@pytest.mark.parametrize(("name", "loss"), LOSSES)
def test_a_loss_is_critical_and_stays_so_until_an_operator_accepts_it(
    root: Path, name: str, loss: Callable[[Path], None]
) -> None:
    path = observability(root) / name
    loss(path)
    for later in range(1, 4):
        answer = health(root, NOW + later)
        assert answer.exit_code == 2
        assert list(ways(answer)) == [name]
    if path.is_symlink() or (path.exists() and not path.is_file()):
        return  # what proves nothing is first put right
    assert mend(root, name, "--accept-loss").exit == 0
    assert ways(health(root, NOW + 4)) == {}
    assert ways(health(root, NOW + 5)) == {}
    if path.exists():
        path.unlink()
        assert ways(health(root, NOW + 6)) == {name: ["gone"]}


def mend(root: Path, *words: str) -> Said:
    home = root / "LIFEOS"
    return Memory(home / "MEMORY", home, NOW).call("mend", *words, "--operator", "ada", "--allow-write")


def test_a_log_that_is_restored_is_whole_again(root: Path) -> None:
    log = observability(root) / REVIEWER
    before = log.read_bytes()
    keep_last_row(log)
    assert health(root).exit_code == 2
    log.write_bytes(before)
    set_time(log, NOW)
    assert health(root).exit_code == 0


def test_a_log_that_grows_and_a_proposal_that_is_decided_lose_nothing(root: Path) -> None:
    for name, row in ((REVIEWER, reviewer_row(NOW + 2 * HOUR)), (RETRIEVAL, retrieval_row(NOW + HOUR))):
        with (observability(root) / name).open("a") as file:
            file.write(json.dumps(row) + "\n")
    write_rows(observability(root) / QUEUE, [{"id": "p2", "status": "sent"}, {"id": "p1", "status": "x"}])
    assert ways(health(root, NOW + HOUR)) == {}


def test_mend_accounts_for_what_it_moves_and_for_no_more(root: Path) -> None:
    log = observability(root) / RETRIEVAL
    sound = log.read_bytes()
    log.write_bytes(b"no row at all\n" + sound)
    assert ways(health(root)) == {RETRIEVAL: ["head"]}
    log.write_bytes(sound + b"no row at all\n")
    set_time(log, NOW)
    assert health(root).finding_ids == ["retrieval-evidence-malformed"]
    assert mend(root, RETRIEVAL).exit == 0
    assert log.read_bytes() == sound
    set_time(log, NOW)
    assert ways(health(root)) == {}
    assert ways(health(root)) == {}
    keep_last_row(log)
    assert ways(health(root)) == {RETRIEVAL: ["smaller"]}


def test_mend_after_a_loss_does_not_account_for_the_loss(root: Path) -> None:
    log = observability(root) / REVIEWER
    log.write_bytes(log.read_bytes().splitlines(keepends=True)[1] + b"no row at all\n")
    assert "smaller" in ways(health(root))[REVIEWER]
    assert mend(root, REVIEWER).exit == 0
    assert "smaller" in ways(health(root))[REVIEWER]
    assert "smaller" in ways(health(root))[REVIEWER]


@pytest.mark.parametrize("name", [REVIEWER, RETRIEVAL, QUEUE])
@pytest.mark.parametrize("loss", [keep_last_row, lambda path: path.unlink()])
def test_a_loss_outlives_the_rows_from_before_it(root: Path, name: str, loss: Callable[[Path], None]) -> None:
    """Old rows of the history are rotated away; what stays says what is missing."""
    loss(observability(root) / name)
    health(root)
    history = observability(root) / "memory-health.jsonl"
    history.write_bytes(history.read_bytes().splitlines(keepends=True)[1])
    assert list(ways(health(root))) == [name]
    assert list(ways(health(root))) == [name]


def test_an_archived_log_is_accounted_for(root: Path) -> None:
    """A log that a write removed lawfully (its rows are compressed elsewhere) is not missed."""
    log = observability(root) / RETRIEVAL
    size = log.stat().st_size
    log.unlink()
    path = f"OBSERVABILITY/{RETRIEVAL}"
    row = {"state": "done", "act": "compact", "path": path, "bytes_before": size, "bytes_after": 0, "hash_after": None}
    write_rows(observability(root) / "memory-writes.jsonl", [row])
    assert ways(health(root)) == {}
    assert ways(health(root)) == {}


def test_of_a_long_log_an_earlier_last_row_is_seen_though_its_head_is_the_same(root: Path) -> None:
    log = observability(root) / RETRIEVAL
    write_rows(log, [retrieval_row(NOW + number) for number in range(100)])
    assert log.stat().st_size > 2 * 4096
    assert ways(health(root)) == {RETRIEVAL: ["head"]}
    assert mend(root, RETRIEVAL, "--accept-loss").exit == 0
    assert ways(health(root)) == {}
    rows = rows_of(log)
    write_rows(log, [*rows[:-1], {**rows[-1], "ts": rows[0]["ts"]}])
    assert ways(health(root)) == {RETRIEVAL: ["earlier"]}


def test_mend_after_a_changed_beginning_does_not_account_for_it(root: Path) -> None:
    log = observability(root) / RETRIEVAL
    first, last = rows_of(log)
    write_rows(log, [{**first, "query_hash": "ffffffff"}, last])
    assert ways(health(root)) == {RETRIEVAL: ["head"]}
    log.write_bytes(log.read_bytes() + b"no row at all\n")
    health(root)
    assert mend(root, RETRIEVAL).exit == 0
    assert ways(health(root)) == {RETRIEVAL: ["head"]}
    assert ways(health(root)) == {RETRIEVAL: ["head"]}


def test_an_accepted_loss_accounts_for_no_later_one(root: Path) -> None:
    log = observability(root) / RETRIEVAL
    keep_first_row(log)
    accepted = log.read_bytes()
    assert mend(root, RETRIEVAL, "--accept-loss").exit == 0
    assert ways(health(root)) == {}
    with log.open("a") as file:
        file.write(json.dumps(retrieval_row()) + "\n")
    assert ways(health(root)) == {}
    log.write_bytes(accepted)
    assert ways(health(root)) == {RETRIEVAL: ["smaller", "earlier"]}


def test_a_row_ahead_of_the_clock_raises_no_mark(root: Path) -> None:
    log = observability(root) / RETRIEVAL
    with log.open("a") as file:
        file.write(json.dumps(retrieval_row(NOW + 90 * DAY)) + "\n")
    health(root)
    with log.open("a") as file:
        file.write(json.dumps(retrieval_row(NOW + MINUTE)) + "\n")
    assert ways(health(root, NOW + HOUR)) == {}


def test_no_write_judges_and_records_nothing(root: Path) -> None:
    (observability(root) / REVIEWER).unlink()
    assert ways(health(root, NOW, "--no-write")) == {REVIEWER: ["gone"]}
    assert len(rows_of(observability(root) / "memory-health.jsonl")) == 1


def test_rows_of_an_older_version_and_lines_that_are_none_are_taken_for_what_they_say(root: Path) -> None:
    history = observability(root) / "memory-health.jsonl"
    (row,) = rows_of(history)
    del row["audit_bytes"], row["reset"], row["logs"][QUEUE]["ids_added"]
    history.write_bytes(b"{torn\n[]\n" + json.dumps(row).encode() + b"\n")
    assert ways(health(root)) == {}
    keep_last_row(observability(root) / REVIEWER)
    assert ways(health(root)) == {REVIEWER: ["smaller"]}


def test_no_report_shows_what_stands_for_ids(root: Path) -> None:
    (row,) = rows_of(observability(root) / "memory-health.jsonl")
    added = row["logs"][QUEUE]["ids_added"]
    assert len(added) == 2
    assert not any(digest in health(root).stdout for digest in added)
    assert "ids_added" not in rows_of(observability(root) / "memory-health.jsonl")[1]["logs"][QUEUE]


RECORDED = RecordedLog(size_bytes=100, last_row_at="2026-08-10T11:00:00.000Z", head_bytes=100, head_sha256="a" * 64)
RUN = RecordedRun(ts="2026-08-10T12:00:00.000Z", logs={REVIEWER: RECORDED})
MARK = raised({}, RUN)[REVIEWER]
DONE = AuditRow(state="done", path=f"OBSERVABILITY/{REVIEWER}", hash_after="b", bytes_before=120, bytes_after=90)


@pytest.mark.parametrize(
    ("row", "size"),
    [
        (DONE, 90),
        (replace(DONE, state="intent"), 100),
        (replace(DONE, state="void"), 100),
        (replace(DONE, path="KNOWLEDGE/x.md"), 100),
        (replace(DONE, bytes_before=95), 95),
        (replace(DONE, reason="accept-loss"), 90),
    ],
)
def test_an_audited_write_lowers_the_mark_by_what_it_removed(row: AuditRow, size: int) -> None:
    marks, _ = accounted({REVIEWER: MARK}, [row])
    assert marks[REVIEWER].size_bytes == size


@FEW
@given(st.lists(st.tuples(st.integers(0, 200), st.booleans()), min_size=1, max_size=12))
def test_the_mark_is_the_highest_size_that_was_not_below_it(states: list[tuple[int, bool]]) -> None:
    marks: dict[str, Mark] = {}
    for size, vanished in states:
        kept_marks = {REVIEWER: KeptMark(size_bytes=-1)} if vanished else {}
        marks = raised(marks, RecordedRun(logs={REVIEWER: RecordedLog(size_bytes=size)}, marks=kept_marks))
    sound = [size for size, vanished in states if not vanished]
    assert marks.get(REVIEWER, Mark(-1)).size_bytes == max(sound, default=-1)
    for size in range(0, 200, 20):
        found = below(REVIEWER, marks.get(REVIEWER, Mark(-1)), LogNow(size, "", None, frozenset()))
        assert ("smaller" in found.ways) is (size < max(sound, default=-1))
