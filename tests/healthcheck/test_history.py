"""The row that a run leaves, and how it is appended."""

import json
import os
import stat
from hashlib import sha256
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from support.green_evidence import proposals, report
from support.health_tree import NOW, observability, set_time, write_h0

from cortex.places import Layout, layout_of
from healthcheck import history

OLD_ROW = b'{"ts":"2026-08-09T12:00:00.000Z"}\n'


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    """The layout of a memory in which all is well."""
    return layout_of(write_h0(tmp_path / "R") / "LIFEOS" / "MEMORY")


def log_of(layout: Layout) -> Path:
    return layout.observability / "memory-health.jsonl"


def rows(layout: Layout) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log_of(layout).read_bytes().splitlines()]


def test_a_row_holds_verdict_numbers_and_the_state_of_each_log(layout: Layout) -> None:
    assert history.append(layout, report(proposals=proposals(pending=11)))
    (row,) = rows(layout)
    content = (layout.observability / "memory-retrievals.jsonl").read_bytes()
    assert list(row) == ["ts", "overall", "counts", "findings", "measures", "logs", "audit_bytes", "reset", "marks"]
    assert row["ts"] == "2026-08-10T12:00:00.000Z"
    assert row["overall"] == "warn"
    assert row["counts"] == {"ok": 11, "warn": 1, "critical": 0, "not_enabled": 0, "skipped": 0}
    assert row["findings"] == ["proposals::proposal-backlog-high"]
    assert row["measures"]["proposals_pending"] == 11
    assert row["measures"]["reviewer_at"] == "2026-08-10T11:00:00.000Z"
    assert row["logs"]["memory-retrievals.jsonl"] == {
        "size_bytes": len(content),
        "modified_at": "2026-08-10T12:00:00.000Z",
        "last_row_at": "2026-08-10T11:55:00.000Z",
        "head_bytes": len(content),
        "head_sha256": sha256(content).hexdigest(),
    }
    assert row["logs"]["pending-proposals.jsonl"]["last_row_at"] is None


def test_the_head_of_a_long_log_is_its_first_4096_bytes(layout: Layout) -> None:
    log = layout.observability / "pending-proposals.jsonl"
    log.write_bytes(b"x" * 4096 + b"y")
    history.append(layout, report())
    state = rows(layout)[0]["logs"]["pending-proposals.jsonl"]
    assert (state["size_bytes"], state["head_bytes"]) == (4097, 4096)
    assert state["head_sha256"] == sha256(b"x" * 4096).hexdigest()


def test_a_log_that_is_gone_or_a_link_is_null(layout: Layout) -> None:
    (layout.observability / "pending-proposals.jsonl").unlink()
    (layout.observability / "reviewer-runs.jsonl").rename(layout.observability / "r")
    (layout.observability / "reviewer-runs.jsonl").symlink_to("r")
    history.append(layout, report())
    logs = rows(layout)[0]["logs"]
    assert (logs["pending-proposals.jsonl"], logs["reviewer-runs.jsonl"]) == (None, None)


def test_a_new_history_is_private_and_an_old_one_keeps_its_mode(layout: Layout) -> None:
    history.append(layout, report())
    assert stat.S_IMODE(log_of(layout).stat().st_mode) == 0o600
    log_of(layout).chmod(0o640)
    history.append(layout, report())
    assert stat.S_IMODE(log_of(layout).stat().st_mode) == 0o640
    assert len(rows(layout)) == 2


@pytest.mark.parametrize(("before", "kept"), [(b"", b""), (OLD_ROW, OLD_ROW), (OLD_ROW + b'{"ts', OLD_ROW + b'{"ts\n')])
def test_a_row_begins_on_a_line_of_its_own(layout: Layout, before: bytes, kept: bytes) -> None:
    log_of(layout).write_bytes(before)
    history.append(layout, report())
    after = log_of(layout).read_bytes()
    assert after.startswith(kept)
    assert json.loads(after[len(kept) :])["overall"] == "ok"
    assert after.endswith(b"\n")


def test_the_folder_is_never_created(tmp_path: Path) -> None:
    layout = layout_of(tmp_path / "MEMORY")
    assert history.append(layout, report()) is False
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["link", "folder", "fifo"])
def test_what_is_no_regular_file_is_not_written_to(layout: Layout, tmp_path: Path, kind: str) -> None:
    target = tmp_path / "target"
    target.write_bytes(b"")
    match kind:
        case "link":
            log_of(layout).symlink_to(target)
        case "folder":
            log_of(layout).mkdir()
        case _:
            os.mkfifo(log_of(layout))
    with pytest.raises(OSError):  # noqa: PT011 - which one depends on the system
        history.append(layout, report())
    assert target.read_bytes() == b""


def test_a_link_in_the_place_of_the_folder_is_not_followed(layout: Layout) -> None:
    real = layout.observability.rename(layout.memory_root / "elsewhere")
    layout.observability.symlink_to(real)
    with pytest.raises(OSError, match="is a link"):
        history.append(layout, report())
    assert not (real / "memory-health.jsonl").exists()


def test_runs_at_the_same_time_do_not_mix_their_rows(layout: Layout) -> None:
    threads = [Thread(target=history.append, args=(layout, report())) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [row["overall"] for row in rows(layout)] == ["ok"] * 16


def test_a_modification_time_is_told_in_whole_milliseconds(layout: Layout) -> None:
    set_time(observability(layout.home.parent) / "pending-proposals.jsonl", NOW - 1)
    history.append(layout, report())
    assert rows(layout)[0]["logs"]["pending-proposals.jsonl"]["modified_at"] == "2026-08-10T11:59:59.999Z"
