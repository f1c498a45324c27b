"""The evidence logs and the history: what is there is read, what proves nothing is named, what is absent is missing."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from support import damage
from support.health_tree import HOUR, MINUTE, NOW
from support.memories import Places, Recipe, RunFolder, proposed, retrieved, reviewed, skipped, write, write_rows
from support.nobody import as_nobody, give_to_nobody, open_folder, skip_where_modes_do_not_bind

from cortex.places import Layout, layout_of
from healthcheck.collectors.history import TAIL_BYTES, collect_history
from healthcheck.collectors.proposals import collect_proposals
from healthcheck.collectors.retrieval import collect_retrieval
from healthcheck.collectors.reviewer import collect_reviewer
from healthcheck.evidence import (
    HistoryEvidence,
    Malformed,
    Missing,
    Observed,
    RetrievalRow,
    ReviewerEvidence,
    ReviewerRow,
    RunFolders,
    Unreadable,
)
from policies.timestamps import format_instant

LOG_FOLDER: Final = "MEMORY/OBSERVABILITY"
LOGS: Final[dict[str, Callable[[Layout], Any]]] = {
    "reviewer-runs.jsonl": collect_reviewer,
    "memory-retrievals.jsonl": collect_retrieval,
    "pending-proposals.jsonl": collect_proposals,
    "memory-health.jsonl": collect_history,
}


def run_ago(age: int) -> str:
    """The name of the folder of a run that began so long before NOW."""
    return format_instant(NOW - age).replace(":", "-").replace(".", "-")


@pytest.fixture
def places(tmp_path: Path) -> Places:
    places = write(Recipe(), tmp_path)
    write_rows(places.history, [{"ts": "2026-08-10T11:00:00Z"}])
    return places


def layout(places: Places) -> Layout:
    return layout_of(places.memory_root)


# What every log has in common.


@pytest.mark.parametrize("name", LOGS)
def test_a_log_that_is_there_is_observed(places: Places, name: str) -> None:
    assert isinstance(LOGS[name](layout(places)), Observed)


@pytest.mark.parametrize("name", LOGS)
def test_a_log_that_is_not_there_is_missing_by_name(places: Places, name: str) -> None:
    (places.observability / name).unlink()
    assert LOGS[name](layout(places)) == Missing(f"no {LOG_FOLDER}/{name}")


REPLACED: Final = [
    (damage.replace_by_folder, "is a folder"),
    (damage.replace_by_link, "is a link"),
    (damage.replace_by_dangling_link, "is a link"),
    (damage.replace_by_fifo, "is a FIFO"),
]


@pytest.mark.parametrize("name", LOGS)
@pytest.mark.parametrize(("replace", "reason"), REPLACED)
def test_what_lies_in_a_logs_place_is_named_never_missing(
    places: Places, name: str, replace: damage.Damage, reason: str
) -> None:
    replace(places.observability / name)
    assert LOGS[name](layout(places)) == Unreadable(f"{LOG_FOLDER}/{name}", reason)


@pytest.mark.parametrize("name", LOGS)
@pytest.mark.parametrize(
    ("replace", "reason"),
    [
        (damage.replace_by_file, "is a file"),
        (damage.replace_by_link, "is a link"),
        (damage.replace_by_dangling_link, "is a link"),
        (damage.replace_by_fifo, "is a FIFO"),
    ],
)
def test_no_log_is_read_through_an_observability_that_is_no_folder(
    places: Places, name: str, replace: damage.Damage, reason: str
) -> None:
    replace(places.observability)
    assert LOGS[name](layout(places)) == Unreadable(LOG_FOLDER, reason)


@pytest.mark.parametrize("name", LOGS)
def test_a_missing_folder_makes_its_logs_missing(places: Places, name: str) -> None:
    damage.delete(places.observability)
    assert LOGS[name](layout(places)) == Missing(f"no {LOG_FOLDER}")
    damage.delete(places.memory_root)
    assert LOGS[name](layout(places)) == Missing("no MEMORY")
    places.memory_root.write_bytes(b"")
    assert LOGS[name](layout(places)) == Unreadable("MEMORY", "is no folder")


@pytest.mark.parametrize("name", LOGS)
def test_the_memory_root_itself_may_be_a_link(places: Places, name: str, tmp_path: Path) -> None:
    alias = tmp_path / "home" / "MEMORY"
    alias.parent.mkdir()
    alias.symlink_to(places.memory_root)
    assert isinstance(LOGS[name](layout_of(alias)), Observed)


@pytest.mark.parametrize("name", LOGS)
def test_a_log_without_permission_is_named(name: str) -> None:
    with open_folder() as folder:
        skip_where_modes_do_not_bind(folder)
        places = write(Recipe(), folder)
        write_rows(places.history, [{}])
        (places.observability / name).chmod(0)
        give_to_nobody(folder)
        with as_nobody():
            found = LOGS[name](layout(places))
            places.observability.chmod(0)
            closed = LOGS[name](layout(places))
    assert found == Unreadable(f"{LOG_FOLDER}/{name}", "cannot be read (permission denied)")
    assert closed == Unreadable(LOG_FOLDER, "cannot be read (permission denied)")


@pytest.mark.parametrize("name", ["reviewer-runs.jsonl", "memory-retrievals.jsonl", "pending-proposals.jsonl"])
@pytest.mark.parametrize("kind", damage.CORRUPTIONS)
def test_damaged_lines_are_counted(places: Places, name: str, kind: str) -> None:
    damage.CORRUPTIONS[kind](places.observability / name)
    assert LOGS[name](layout(places)).value.malformed.count > 0


# Retrieval.


def test_the_last_retrieval_decides(places: Places) -> None:
    write_rows(places.retrieval_log, [retrieved(HOUR, surprise=1), retrieved(MINUTE, top_score=2)])
    found = collect_retrieval(layout(places))
    assert isinstance(found, Observed)
    assert found.value.last == RetrievalRow(2, valid=True, retrieved_at=NOW - MINUTE)
    write_rows(places.retrieval_log, [retrieved(HOUR), retrieved(MINUTE, surprise=1)])
    found = collect_retrieval(layout(places))
    assert isinstance(found, Observed)
    assert found.value.last == RetrievalRow(2, valid=False)


def test_an_empty_retrieval_log_has_no_last_row(places: Places) -> None:
    places.retrieval_log.write_bytes(b"\n")
    found = collect_retrieval(layout(places))
    assert isinstance(found, Observed)
    assert (found.value.rows, found.value.last) == (0, None)


# Proposals.


def test_proposals_count_as_pending_by_their_exact_status(places: Places) -> None:
    statuses = ["pending", "Pending", "pending ", "sent", "", None, 1]
    rows = [proposed(number, status) for number, status in enumerate(statuses)]
    write_rows(places.proposal_queue, [*rows, {"id": "p8"}, proposed(9, "pending")])
    found = collect_proposals(layout(places))
    assert isinstance(found, Observed)
    assert (found.value.rows, found.value.pending) == (9, 2)
    assert found.value.without_status == Malformed(3, (6, 7, 8))
    assert found.value.malformed == Malformed()


def test_the_first_ten_proposals_without_status_are_numbered(places: Places) -> None:
    write_rows(places.proposal_queue, [{}] * 12)
    found = collect_proposals(layout(places))
    assert isinstance(found, Observed)
    assert found.value.without_status == Malformed(12, tuple(range(1, 11)))


def test_an_empty_queue_has_nothing_pending(places: Places) -> None:
    places.proposal_queue.write_bytes(b"")
    found = collect_proposals(layout(places))
    assert isinstance(found, Observed)
    assert (found.value.rows, found.value.pending, found.value.malformed.count) == (0, 0, 0)


def test_line_separators_within_a_string_end_no_proposal(places: Places) -> None:
    row = '{"id":"p1","status":"pending","note":"x\u2028y\u0085z"}'
    places.proposal_queue.write_text(row, encoding="utf-8")
    found = collect_proposals(layout(places))
    assert isinstance(found, Observed)
    assert (found.value.pending, found.value.malformed.count) == (1, 0)


# Reviewer.


def reviewer_of(places: Places) -> ReviewerEvidence:
    found = collect_reviewer(layout(places))
    assert isinstance(found, Observed)
    return found.value


def test_the_latest_reviewer_row_outweighs_all_before_it(places: Places) -> None:
    write_rows(places.reviewer_log, [reviewed(3 * HOUR), skipped(2 * HOUR), reviewed(HOUR, ok=False, error="boom")])
    assert reviewer_of(places).last == ReviewerRow(3, "failed", NOW - HOUR, "boom")


@pytest.mark.parametrize(
    ("error", "told"),
    [
        ("x" * 300, "x" * 240),
        ("boom <private>s3cret</private> end", "boom  end"),
        (["boom", "<private>s3cret</private>", 5], "boom"),
        ("<private>" + "s3cret" * 100, None),
        ("", None),
        ({"m": "boom"}, None),
    ],
)
def test_an_error_is_told_without_what_is_private_and_cut(places: Places, error: object, told: str | None) -> None:
    write_rows(places.reviewer_log, [reviewed(HOUR, ok=False, error=error)])
    last = reviewer_of(places).last
    assert last is not None
    assert (last.error.rstrip() if last.error else last.error) == told


def test_run_folders_are_newer_than_the_last_row_or_not(tmp_path: Path) -> None:
    folders = [
        RunFolder(2 * HOUR, parse_error=True),
        RunFolder(HOUR),
        RunFolder(HOUR - 1),
        RunFolder(MINUTE, parse_error=True),
    ]
    found = reviewer_of(write(Recipe(run_folders=tuple(folders)), tmp_path))
    assert found.all_runs == RunFolders(4, NOW - 2 * HOUR, NOW - MINUTE, 2)
    assert found.newer_runs == RunFolders(2, NOW - HOUR + 1, NOW - MINUTE, 1)


@pytest.mark.parametrize("row", [reviewed(HOUR, ts="soon"), {"ok": False}, {"ok": False, "runId": "x"}])
def test_every_run_is_newer_where_the_last_row_has_no_readable_time(tmp_path: Path, row: dict[str, Any]) -> None:
    places = write(Recipe(run_folders=(RunFolder(2 * HOUR),)), tmp_path)
    write_rows(places.reviewer_log, [row])
    assert reviewer_of(places).newer_runs.count == 1


def test_a_row_without_ts_has_the_time_of_its_run(tmp_path: Path) -> None:
    places = write(Recipe(run_folders=(RunFolder(2 * HOUR), RunFolder(MINUTE))), tmp_path)
    write_rows(places.reviewer_log, [{"ok": False, "runId": run_ago(HOUR)}])
    assert reviewer_of(places).newer_runs == RunFolders(1, NOW - MINUTE, NOW - MINUTE, 0)


def test_runs_without_a_log_are_evidence(tmp_path: Path) -> None:
    places = write(Recipe(reviewer=None, run_folders=(RunFolder(HOUR),)), tmp_path)
    found = reviewer_of(places)
    assert (found.rows, found.last, found.newer_runs.count) == (0, None, 1)


def test_entries_that_are_no_runs_are_passed_over_and_counted(places: Places) -> None:
    runs = places.observability / "reviewer-runs"
    for name in ("latest", "2026-08-10T11-30Z", ".tmp", "2026-08-10", run_ago(MINUTE)):
        (runs / name).mkdir(parents=True)
    (runs / run_ago(2 * MINUTE)).write_bytes(b"")
    (runs / "gone").symlink_to("nowhere")
    found = reviewer_of(places)
    assert (found.all_runs.count, found.ignored_folders) == (2, 5)


def test_only_other_entries_beside_no_log_are_no_evidence(tmp_path: Path) -> None:
    places = write(Recipe(reviewer=None), tmp_path)
    (places.observability / "reviewer-runs" / "latest").mkdir(parents=True)
    assert collect_reviewer(layout(places)) == Missing(f"no {LOG_FOLDER}/reviewer-runs.jsonl")


def test_a_link_named_after_a_run_proves_nothing(places: Places) -> None:
    runs = places.observability / "reviewer-runs"
    runs.mkdir()
    (runs / "2026-08-10").symlink_to(places.home)
    assert collect_reviewer(layout(places)) == Unreadable(f"{LOG_FOLDER}/reviewer-runs/2026-08-10", "is a link")


@pytest.mark.parametrize("make", [lambda path: path.mkdir(), lambda path: path.symlink_to("nowhere")])
def test_a_parse_error_that_is_no_file_counts_as_one(tmp_path: Path, make: Callable[[Path], None]) -> None:
    places = write(Recipe(run_folders=(RunFolder(MINUTE),)), tmp_path)
    make(places.observability / "reviewer-runs" / run_ago(MINUTE) / "parse-error.txt")
    assert reviewer_of(places).newer_runs.with_parse_error == 1


@pytest.mark.parametrize(("replace", "reason"), [(damage.replace_by_file, "is a file"), *REPLACED[1:]])
def test_what_lies_in_the_place_of_the_run_folders_is_named(
    tmp_path: Path, replace: damage.Damage, reason: str
) -> None:
    places = write(Recipe(run_folders=(RunFolder(2 * HOUR),)), tmp_path)
    replace(places.observability / "reviewer-runs")
    assert collect_reviewer(layout(places)) == Unreadable(f"{LOG_FOLDER}/reviewer-runs", reason)


def test_a_run_folder_without_permission_is_named() -> None:
    with open_folder() as folder:
        skip_where_modes_do_not_bind(folder)
        places = write(Recipe(run_folders=(RunFolder(2 * HOUR),)), folder)
        (places.observability / "reviewer-runs" / run_ago(2 * HOUR)).chmod(0)
        give_to_nobody(folder)
        with as_nobody():
            found = collect_reviewer(layout(places))
    path = f"{LOG_FOLDER}/reviewer-runs/{run_ago(2 * HOUR)}"
    assert found == Unreadable(path, "cannot be read (permission denied)")


# History.

ROW: Final = json.dumps({"ts": "2026-08-10T11:00:00Z"}).encode() + b"\n"
HISTORIES: Final = [
    (b"", True),
    (ROW, True),
    (b"damaged\n" + ROW, True),
    (ROW + b'{"ts":', True),
    (b'{"ts":', True),
    (ROW * (TAIL_BYTES // len(ROW) + 1), True),
    (ROW + b"damaged\n", False),
    (ROW + b"[]\n", False),
    (ROW + b"\n", False),
    (b"\0" * 300 + b"\n", False),
    (b'{"ts":"\xff"}\n', False),
    (b" " * TAIL_BYTES + ROW, False),
    (b" " * (TAIL_BYTES + 1), False),
]


@pytest.mark.parametrize("number", range(len(HISTORIES)))
def test_a_history_is_as_good_as_its_last_whole_line(places: Places, number: int) -> None:
    content, sound = HISTORIES[number]
    places.history.write_bytes(content)
    found = collect_history(layout(places))
    if sound:
        assert found == Observed(HistoryEvidence(f"{LOG_FOLDER}/memory-health.jsonl", len(content)))
    else:
        assert found == Unreadable(f"{LOG_FOLDER}/memory-health.jsonl", "holds no JSON object as its last whole line")
