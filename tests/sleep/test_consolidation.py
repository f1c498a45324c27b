"""Consolidation through the command line: real sessions, field cases, private text, damaged files, evidence."""

import importlib.util
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import pytest
from support.running import MEASURING, clean_environment
from support.sleepers import (
    DAY,
    FIXTURE,
    HOUR,
    MINUTE,
    REJECTED,
    REVIEWER,
    calls,
    cards,
    configure,
    consolidate,
    failing_session,
    later,
    line,
    reviewer,
    run_folders,
    state,
    tick,
    write_lines,
)
from support.stores import AGENT, NOW, OPERATOR, Memory, texts_below

from cortex.sleep.transcripts import Seen, read_transcripts
from policies.shapes import reviewer_status

LOG = "OBSERVABILITY/reviewer-runs.jsonl"


def test_the_real_sessions_become_cards_and_a_second_run_adds_nothing(memory: Memory):
    first = consolidate(memory, str(FIXTURE)).data
    before = (memory.root / "CORTEX/memory.jsonl").read_bytes()
    second = consolidate(later(memory, HOUR), str(FIXTURE)).data

    paths = sorted(str(path) for path in FIXTURE.glob("*.jsonl"))
    counts = read_transcripts(paths, Seen(), 400).counts
    assert first["transcripts"] == {key: getattr(counts, key) for key in counts.__struct_fields__}
    assert first["created"]
    assert (first["fresh"], first["scanned"]) == (counts.successes + counts.failures - counts.undated, 400)
    assert (second["fresh"], second["created"], second["reinforced"], second["row"]) == (0, [], [], None)
    assert set(second["transcripts"].values()) == {0}
    assert (memory.root / "CORTEX/memory.jsonl").read_bytes() == before
    assert len(memory.rows(REVIEWER)) == 1


def test_all_real_sessions_together_take_less_than_a_second_of_work(memory: Memory):
    begin = time.process_time()
    consolidate(memory, str(FIXTURE))
    assert time.process_time() - begin < 1


# Evidence.


def test_a_consolidation_leaves_a_row_of_the_exact_success_shape_and_no_folder(memory: Memory, tmp_path: Path):
    path = failing_session(tmp_path, NOW - HOUR)
    done = consolidate(memory, path).data
    (row,) = memory.rows(REVIEWER)
    assert reviewer_status(row) == "ok"
    assert (row["ts"], row["transcript"], row["exchanges"]) == ("2026-08-01T12:00:00.000Z", path, done["scanned"])
    assert row["dispatch_summary"]["by_type"] == {"memory": len(done["created"])} == {"memory": 2}
    assert (done["row"], run_folders(memory)) == ("success", [])
    assert reviewer(memory) == ("ok", [])
    assert reviewer(later(memory, 8 * DAY)) == ("warn", ["reviewer-stale"])


def test_a_consolidation_of_logs_alone_names_the_log(memory: Memory):
    row = {"timestamp": "2026-08-01T11:00:00Z", "tool_name": "Bash", "session_id": "s"}
    (memory.root / "OBSERVABILITY/tool-activity.jsonl").write_text(json.dumps(row) + "\n")
    assert consolidate(memory).data["logs"]["taken"] == 1
    assert memory.rows(REVIEWER)[0]["transcript"] == "OBSERVABILITY/tool-activity.jsonl"


def test_nothing_at_all_is_no_evidence_and_moves_no_mark(memory: Memory, tmp_path: Path):
    configure(memory, "transcripts", str(tmp_path / "gone"))
    done = consolidate(memory).data
    assert (done["row"], done["empty"], memory.rows(REVIEWER)) == (None, [str(tmp_path / "gone")], [])
    assert (state(memory)["mark"], state(memory)["consolidated_at"]) == (0, None)
    assert reviewer(memory)[1] == ["reviewer-evidence-missing"]


def test_a_named_path_that_is_not_there_is_not_found_and_leaves_nothing(memory: Memory, tmp_path: Path):
    assert consolidate(memory, str(tmp_path / "gone")).refusal == (3, "not_found")
    assert (memory.rows(REVIEWER), run_folders(memory)) == ([], [])


def foreign_row(memory: Memory, **more: object) -> None:
    row = {
        "ts": "2026-07-31T12:00:00Z", "ok": True, "runId": "another-1", "transcript": "t", "exchanges": 3,
        "inference_duration_ms": 900, "parse_ok": True,
        "dispatch_summary": {"total": 0, "by_type": {}, "succeeded": 0, "failed": 0, "failures": [], "skipped_guard": 0,
                             "skips": [], "proposals_auto_applied": 0, "proposals_auto_apply_failed": 0},
        **more,
    }  # fmt: skip
    with (memory.root / LOG).open("a") as log:
        log.write(json.dumps(row) + "\n")


@pytest.mark.parametrize("more", [{}, {"runId": 7}, {"runId": None}, {"runId": "2026-07-31T12-00-00-000Z"}])
def test_beside_another_reviewer_no_row_is_written_and_its_death_is_seen(memory: Memory, tmp_path: Path, more):
    foreign_row(memory, **more)
    done = consolidate(memory, failing_session(tmp_path, NOW - HOUR)).data
    assert (done["created"] != [], done["row"], len(memory.rows(REVIEWER))) == (True, None, 1)
    assert memory.call("sleep", "status").data["reviewer"]["is"] == "another"
    for day in range(1, 9):
        assert tick(later(memory, day * DAY))["row"] is None
    assert len(memory.rows(REVIEWER)) == 1
    if not more:
        assert reviewer(later(memory, 8 * DAY)) == ("warn", ["reviewer-stale"])


def test_no_run_folder_is_made_beside_another_reviewer(memory: Memory, tmp_path: Path):
    foreign_row(memory)
    consolidate(memory, failing_session(tmp_path, NOW - HOUR))
    assert not (memory.root / "OBSERVABILITY/reviewer-runs").exists()


def test_reviewer_evidence_can_be_switched_on_beside_another_and_off(memory: Memory, tmp_path: Path):
    foreign_row(memory)
    configure(memory, "reviewer_evidence", "true")
    assert consolidate(memory, failing_session(tmp_path, NOW - HOUR)).data["row"] == "success"
    configure(memory, "reviewer_evidence", "false")
    path = write_lines(tmp_path / "more.jsonl", *calls("Other", 3, NOW, "no"))
    assert consolidate(later(memory, HOUR), path).data["row"] is None


def test_a_consolidation_that_fails_leaves_a_failure_row_and_the_next_one_heals(memory: Memory, tmp_path: Path):
    path = failing_session(tmp_path, NOW - HOUR)
    (memory.root / "OBSERVABILITY/memory-writes.jsonl").rename(tmp_path / "log")
    (memory.root / "OBSERVABILITY/memory-writes.jsonl").mkdir()
    assert consolidate(memory, path).refusal == (5, "governance_refused")
    (row,) = memory.rows(REVIEWER)
    assert (reviewer_status(row), run_folders(memory)) == ("failed", [])
    assert "memory-writes.jsonl" in row["error"]
    assert reviewer(memory)[1] == ["reviewer-latest-failed"]
    assert state(memory)["run"]["outcome"] == "failed"

    (memory.root / "OBSERVABILITY/memory-writes.jsonl").rmdir()
    done = consolidate(later(memory, MINUTE), path).data
    assert (done["row"], set(cards(memory))) == ("success", {"pitfall:fetch", "unresolved:fetch"})
    assert reviewer(later(memory, MINUTE)) == ("ok", [])


# Field cases.


def test_f11_a_torn_and_a_glued_line_are_counted_and_the_rest_is_used(memory: Memory, tmp_path: Path):
    lines = [json.dumps(each) for each in calls("Fetch", 4, NOW - HOUR, "no")]
    path = write_lines(
        tmp_path / "t.jsonl", lines[0], '{"type":"user","uuid"' + lines[1], lines[2] + lines[3], *lines[4:]
    )
    done = consolidate(memory, path).data
    assert (done["transcripts"]["malformed"], done["transcripts"]["failures"]) == (2, 4)


def test_f13_padding_of_nul_bytes_is_counted_and_passed_over(memory: Memory, tmp_path: Path):
    lines = calls("Fetch", 3, NOW - HOUR, "no")
    done = consolidate(memory, write_lines(tmp_path / "t.jsonl", *lines[:3], "\0" * 300, *lines[3:])).data
    assert (done["transcripts"]["malformed"], done["transcripts"]["failures"]) == (1, 3)
    assert "1 malformed lines" in memory.call("sleep", "history").data["items"][0]["notes"]


def test_f48_three_declined_calls_make_no_card_and_three_failures_make_one(memory: Memory, tmp_path: Path):
    declined = consolidate(memory, write_lines(tmp_path / "a.jsonl", *calls("Bash", 3, NOW - HOUR, REJECTED))).data
    assert (declined["created"], declined["transcripts"]["declined"]) == ([], 3)
    failed = write_lines(tmp_path / "b.jsonl", *calls("Bash", 3, NOW - MINUTE, "Exit code 1", name="d"))
    assert "pitfall:bash" in consolidate(memory, failed).data["created"]


def test_f50_a_copy_with_one_more_failure_gives_one_card_whose_weight_a_second_run_leaves(memory, tmp_path: Path):
    original, copy = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    write_lines(original, *calls("X", 3, NOW - HOUR, "no"))
    write_lines(copy, *calls("X", 4, NOW - HOUR, "no"))
    done = consolidate(memory, str(original), str(copy)).data
    assert (done["transcripts"]["failures"], [i for i in done["created"] if "pitfall" in i]) == (4, ["pitfall:x"])
    weight = cards(memory)["pitfall:x"]["weight"]
    consolidate(memory, str(original), str(copy))
    assert cards(memory)["pitfall:x"]["weight"] == weight == round(1 + 4 / 3, 6)


def test_f52_a_long_line_streams_and_a_file_that_was_replaced_is_read_anew(memory: Memory, tmp_path: Path):
    path = tmp_path / "t.jsonl"
    big = line("user", "u-big", NOW - HOUR, [{"type": "tool_result", "tool_use_id": "c0", "content": "A" * 2_000_000}])
    call = line("assistant", "a-big", NOW - HOUR, [{"type": "tool_use", "id": "c0", "name": "Shot", "input": {}}])
    assert consolidate(memory, write_lines(path, call, big)).data["transcripts"]["successes"] == 1
    write_lines(path, *calls("Fetch", 3, NOW - MINUTE, "no"))
    done = consolidate(later(memory, MINUTE), str(path)).data
    assert (done["transcripts"]["failures"], "pitfall:fetch" in done["created"]) == (3, True)


# Privacy.

SECRET = "s3cret"
PRIVATE = f"<private>{SECRET}</private>"
SPLIT = f"<private>a\u2028{SECRET}</private>"


def everywhere(secret: str) -> list[dict]:
    """A transcript with a private text in every field that can hold one."""
    result = {
        "type": "tool_result",
        "tool_use_id": "l",
        "is_error": True,
        "content": [{"type": "text", "text": secret}],
    }
    thought = [{"type": "text", "text": secret}, {"type": "thinking", "thinking": secret}]
    said = f"no {secret} route"
    failures = [
        each
        for number in range(3)
        for each in calls(f"Fetch{secret}", 1, NOW - HOUR + number * 1000, said, name=f"{secret}{number}")
    ]
    return [
        *failures,
        line("user", f"u1{secret}", NOW - HOUR, secret, session=secret, cwd=secret, gitBranch=secret),
        line("assistant", "a9", NOW - HOUR, thought),
        line("assistant", "a10", NOW - HOUR, [{"type": "tool_use", "id": "l", "name": "List", "input": {"q": secret}}]),
        line("user", "u10", NOW - HOUR + 9000, [result], toolUseResult={"stdout": secret, "stderr": secret}),
        {"type": "queue-operation", "content": secret, "timestamp": "2026-08-01T11:00:00.000Z"},
        {"type": "summary", "summary": secret, "leafUuid": secret},
        {"type": secret, "whatever": {secret: secret}},
        {"t": NOW - MINUTE, "tool": f"Row{secret}", "ok": False, "ms": 3, "err": secret},
    ]  # fmt: skip


@pytest.mark.parametrize("private", [PRIVATE, SPLIT], ids=["spaces", "line separators"])
def test_private_text_in_any_field_appears_nowhere(memory: Memory, tmp_path: Path, private: str):
    """Also not in what a killed process could leave: every byte that is ever written is looked at."""
    outside = tmp_path.parent / f"{tmp_path.name}-transcripts"
    path = write_lines(outside / "t.jsonl", *everywhere(private))
    rows = [{"timestamp": "2026-08-01T11:30:00Z", "tool_name": "Log", "session_id": private, "error": private}]
    log = memory.root / "OBSERVABILITY/tool-failures.jsonl"
    log.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with written_bytes() as written:
        done = consolidate(memory, path)
        said = memory.call("sleep", "status"), memory.call("cards", "list"), memory.call("sleep", "history")
    log.unlink()  # what the host wrote is the host's
    assert done.data["transcripts"]["failures"] == 5
    assert any("fetch" in name for name in done.data["created"])
    assert SECRET not in texts_below(tmp_path)
    assert SECRET.encode() not in b"".join(written)
    assert SECRET not in json.dumps([done.envelope, *(each.envelope for each in said)])


def test_a_private_path_is_in_no_state_and_no_row(memory: Memory, tmp_path: Path):
    path = write_lines(tmp_path.parent / f"{tmp_path.name}-<private>{SECRET}<" / "t.jsonl", *calls("X", 3, NOW, "no"))
    consolidate(memory, path)
    assert SECRET not in texts_below(tmp_path)


@contextmanager
def written_bytes() -> Iterator[list[bytes]]:
    """Collect whatever is written to any file meanwhile."""
    collected: list[bytes] = []
    real = os.write

    def write(descriptor: int, data: bytes) -> int:
        collected.append(bytes(data))
        return real(descriptor, data)

    with patch.object(os, "write", write):
        yield collected


# Damage.


@pytest.mark.parametrize("garbage", [b"{", b"", b"\0" * 40, b'{"schema":"other"}', b"\xff\xfe"])
def test_a_damaged_state_is_set_aside_and_said_and_its_cards_are_not_counted_twice(memory, tmp_path: Path, garbage):
    path = failing_session(tmp_path, NOW - HOUR)
    consolidate(memory, path)
    weight = cards(memory)["pitfall:fetch"]["weight"]
    (memory.root / "CORTEX/state.json").write_bytes(garbage)

    assert "damaged" in memory.call("sleep", "status").data["warnings"][0]
    done = consolidate(later(memory, HOUR), path).data

    aside = memory.root / "CORTEX/state.json.corrupt-2026-08-01T13-00-00-000Z"
    assert aside.read_bytes() == garbage
    assert aside.name in done["warnings"][0]
    assert (done["created"], done["reinforced"], cards(memory)["pitfall:fetch"]["weight"]) == ([], [], weight)


def test_a_torn_state_still_tells_which_runs_were_ours(memory: Memory, tmp_path: Path):
    path = failing_session(tmp_path, NOW - HOUR)
    consolidate(memory, path)
    file = memory.root / "CORTEX/state.json"
    file.write_bytes(file.read_bytes()[:-9])
    write_lines(tmp_path / "more.jsonl", *calls("Other", 3, NOW, "no"))
    done = consolidate(later(memory, HOUR), str(tmp_path / "more.jsonl")).data
    assert (done["row"], "pitfall:other" in done["created"]) == ("success", True)


def test_damaged_lines_of_cards_are_kept_and_said(memory: Memory, tmp_path: Path):
    file = memory.root / "CORTEX/memory.jsonl"
    file.write_bytes(b'{"id": torn\n')
    done = consolidate(memory, failing_session(tmp_path, NOW - HOUR)).data
    assert "line 1 is no card" in done["warnings"][0]
    assert file.read_bytes().startswith(b'{"id": torn\n{"id":"pitfall:fetch"')


@pytest.mark.parametrize("name", ["state.json", "memory.jsonl", "config.json"])
def test_a_link_in_the_place_of_a_file_of_ours_is_refused(memory: Memory, tmp_path: Path, name: str):
    (tmp_path / "elsewhere").write_text("{}")
    (memory.root / "CORTEX" / name).symlink_to(tmp_path / "elsewhere")
    assert consolidate(memory, failing_session(tmp_path, NOW - HOUR)).refusal == (5, "governance_refused")
    assert (tmp_path / "elsewhere").read_text() == "{}"


# What consolidation does with time.


def test_a_card_is_reinforced_once_by_each_consolidation_that_saw_something_new_of_it(memory: Memory, tmp_path: Path):
    consolidate(memory, failing_session(tmp_path, NOW - HOUR))
    write_lines(tmp_path / "b.jsonl", *calls("Fetch", 3, NOW, "no", name="b"))
    done = consolidate(later(memory, HOUR), str(tmp_path / "b.jsonl")).data
    assert "pitfall:fetch" in done["reinforced"]
    assert cards(later(memory, HOUR))["pitfall:fetch"]["weight"] == pytest.approx(2 * 0.5 ** (1 / 168) + 1, abs=1e-6)


def test_a_session_that_ran_beside_another_is_learned_although_it_was_read_later(memory: Memory, tmp_path: Path):
    consolidate(memory, write_lines(tmp_path / "a.jsonl", *calls("Fetch", 3, NOW - MINUTE, "no")))
    weight = cards(memory)["pitfall:fetch"]["weight"]
    done = consolidate(memory, write_lines(tmp_path / "b.jsonl", *calls("Other", 3, NOW - HOUR, "no"))).data
    assert (done["created"], done["reinforced"]) == (["pitfall:other"], [])
    assert cards(memory)["pitfall:fetch"]["weight"] == weight


def test_faded_cards_are_archived_and_nothing_is_removed(memory: Memory, tmp_path: Path):
    consolidate(memory, failing_session(tmp_path, NOW - HOUR))
    done = consolidate(later(memory, 60 * DAY)).data
    assert sorted(done["archived"]) == ["pitfall:fetch", "unresolved:fetch"]
    assert (cards(memory), len(cards(memory, "--archived"))) == ({}, 2)


def test_an_event_ahead_of_the_clock_counts_once(memory: Memory, tmp_path: Path):
    consolidate(memory, write_lines(tmp_path / "a.jsonl", *calls("Fetch", 3, NOW + 9 * DAY, "no")))
    weight = cards(memory)["pitfall:fetch"]["weight"]
    consolidate(memory, write_lines(tmp_path / "b.jsonl", *calls("Read", 1, NOW)))
    assert cards(memory)["pitfall:fetch"]["weight"] == weight


@pytest.mark.parametrize(("words", "actor"), [(AGENT, "claude"), (OPERATOR, "ada")], ids=["an agent", "an operator"])
def test_an_operator_or_an_agent_may_consolidate_and_is_in_the_audit(memory: Memory, tmp_path: Path, words, actor):
    path = failing_session(tmp_path, NOW - HOUR)
    assert memory.call("sleep", "consolidate", "--transcripts", path, *words).exit == 0
    rows = [row for row in memory.rows("memory-writes.jsonl") if row["path"] == "CORTEX/memory.jsonl"]
    assert [(row["actor"], row["state"], row["created"]) for row in rows] == [(actor, "intent", 2), (actor, "done", 2)]


# Size.


@pytest.mark.proof
def test_a_transcript_of_300_megabytes_is_consolidated_in_at_most_150_mebibytes(memory: Memory, tmp_path: Path):
    spec = importlib.util.spec_from_file_location("transcripts", FIXTURE.parents[2] / "benchmarks" / "transcripts.py")
    assert spec is not None
    assert spec.loader is not None
    benchmark = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(benchmark)
    path = benchmark.make(tmp_path / "long.jsonl", 300_000_000, benchmark.as_real_ones)
    words = ["-m", "cortex", "sleep", "consolidate", "--memory-root", memory.root, "--transcripts", path, *OPERATOR]

    answered, peak = measured(sys.executable, *words)

    assert answered["data"]["fresh"] > 10_000
    assert peak <= 150 * 2**20


def measured(*command: object) -> tuple[dict, int]:
    """Run a command from a small parent; return its answer and its peak resident memory in bytes."""
    finished = subprocess.run(
        [sys.executable, "-IS", "-c", MEASURING, *map(str, command)], env=clean_environment(), capture_output=True
    )
    return json.loads(finished.stdout), int(finished.stderr)
