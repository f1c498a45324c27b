"""The commands of sleep: who wakes, what tick does and does not, what is shown, what may be set."""

import fcntl
import os
from hashlib import sha256
from pathlib import Path

import pytest
from support.indexes import adopt
from support.sleepers import (
    DAY,
    HOUR,
    MINUTE,
    REVIEWER,
    calls,
    cards,
    configure,
    consolidate,
    failing_session,
    later,
    line,
    move,
    reviewer,
    run_folders,
    state,
    tick,
    write_lines,
)
from support.stores import AGENT, NOW, OPERATOR, Memory

from cortex.sleep.consolidate import RUNNING


def phase(memory: Memory) -> str:
    return memory.call("sleep", "status").data["phase"]


@pytest.mark.parametrize(
    ("silence", "expected"), [(119_000, "awake"), (120_000, "light"), (299_000, "light"), (300_000, "deep")]
)
def test_after_a_step_silence_makes_the_phase(memory: Memory, silence: int, expected: str):
    move(memory)
    assert phase(later(memory, silence)) == expected


@pytest.mark.parametrize(("why", "counted"), [("tool", "tools"), ("heartbeat", "beats")])
def test_tools_and_heartbeats_are_counted_and_never_wake(memory: Memory, why: str, counted: str):
    move(memory)
    night = later(memory, HOUR)
    assert night.call("sleep", "activity", "--why", why, *AGENT).data["phase"] == "deep"
    status = night.call("sleep", "status").data
    assert (status["phase"], status[counted], status["silence_ms"]) == ("deep", 1, HOUR)


def test_the_status_says_who_keeps_the_memory_awake(memory: Memory, tmp_path: Path):
    move(memory)
    assert memory.call("sleep", "status").data["last_wake"]["source"] == "session-step"
    path = write_lines(tmp_path / "t.jsonl", line("user", "u", NOW + HOUR, "hello"))
    configure(memory, "transcripts", path)
    status = later(memory, HOUR).call("sleep", "status").data
    assert (status["phase"], status["last_wake"]["source"]) == ("awake", "transcript")
    memory.call("sleep", "wake", *OPERATOR)
    assert memory.call("sleep", "status").data["last_wake"]["source"] == "hand"


def test_the_status_changes_nothing(memory: Memory, tmp_path: Path):
    configure(memory, "transcripts", failing_session(tmp_path, NOW - HOUR))
    before = sorted(path.stat().st_mtime_ns for path in tmp_path.rglob("*"))
    assert memory.call("sleep", "status").data["unread_events"] == 3
    assert sorted(path.stat().st_mtime_ns for path in tmp_path.rglob("*")) == before


def test_entering_consolidates_at_once_and_a_step_closes_the_report(memory: Memory, tmp_path: Path):
    move(memory)
    entered = memory.call("sleep", "enter", "--transcripts", failing_session(tmp_path, NOW - HOUR), *OPERATOR).data
    assert (entered["phase"], "pitfall:fetch" in entered["created"]) == ("deep", True)
    move(later(memory, 9 * MINUTE))
    (report,) = memory.call("sleep", "history").data["items"]
    assert (report["deepest"], report["length_ms"], report["created"]) == ("deep", 9 * MINUTE, 2)
    assert (report["asleep_at"], report["woke_at"]) == ("2026-08-01T12:00:00.000Z", "2026-08-01T12:09:00.000Z")


def test_waking_by_hand_wakes(memory: Memory):
    move(memory)
    assert later(memory, HOUR).call("sleep", "wake", *OPERATOR).data["phase"] == "awake"


@pytest.mark.parametrize(
    ("silence", "settings", "why"),
    [(MINUTE, {}, "the memory is awake"), (3 * MINUTE, {}, "the memory is light"),
     (HOUR, {"auto_sleep": "false"}, "sleep is not automatic (auto_sleep is false)"), (HOUR, {}, None)],
)  # fmt: skip
def test_a_tick_consolidates_in_deep_automatic_sleep_alone(memory: Memory, tmp_path: Path, silence, settings, why):
    move(memory)
    for key, value in settings.items():
        configure(memory, key, value)
    path = write_lines(tmp_path / "t.jsonl", *calls("Fetch", 3, NOW - HOUR, "no"))
    done = tick(later(memory, silence), "--transcripts", path)
    assert (done["skipped"], done["consolidated"]) == (why, why is None)
    assert bool(cards(memory)) is (why is None)
    assert run_folders(memory) == []


def test_a_tick_sees_in_a_transcript_that_the_session_still_moves(memory: Memory, tmp_path: Path):
    path = write_lines(tmp_path / "t.jsonl", *calls("Fetch", 3, NOW - MINUTE, "no"))
    done = tick(memory, "--transcripts", path)
    assert (done["skipped"], cards(memory), run_folders(memory)) == ("the memory is awake", {}, [])
    assert tick(later(memory, HOUR), "--transcripts", path)["consolidated"]


def test_a_tick_waits_for_the_gap_and_says_so(memory: Memory, tmp_path: Path):
    consolidate(memory, failing_session(tmp_path, NOW - HOUR))
    path = write_lines(tmp_path / "b.jsonl", *calls("Other", 3, NOW - HOUR, "no"))
    assert "a moment ago" in tick(later(memory, 119_000), "--transcripts", path)["skipped"]
    assert tick(later(memory, 120_000), "--transcripts", path)["consolidated"]


def test_a_tick_that_finds_talk_and_no_calls_remembers_what_it_read(memory: Memory, tmp_path: Path):
    path = write_lines(tmp_path / "t.jsonl", line("user", "u", NOW - HOUR, "hello"))
    assert tick(memory, "--transcripts", path)["skipped"] == "no new experience"
    assert len(state(memory)["seen"]["cursors"]) == 1


def test_two_ticks_at_once_one_works_and_the_other_says_so(memory: Memory, tmp_path: Path):
    path = failing_session(tmp_path, NOW - HOUR)
    tick(memory)
    name = sha256(RUNNING.encode()).hexdigest()[:32]
    lock = os.open(memory.root / "CORTEX/locks" / f"{name}.lock", os.O_RDWR)
    fcntl.flock(lock, fcntl.LOCK_EX)
    try:
        said = memory.call("sleep", "tick", "--transcripts", path, *AGENT)
        assert (said.exit, said.data["skipped"]) == (0, "another consolidation is under way")
    finally:
        os.close(lock)
    assert tick(memory, "--transcripts", path)["consolidated"]


def test_an_idle_week_stays_healthy_by_at_most_one_skip_row_a_day(memory: Memory, tmp_path: Path):
    consolidate(memory, failing_session(tmp_path, NOW - HOUR))
    configure(memory, "transcripts", str(tmp_path / "session.jsonl"))
    for minutes in range(5, 7 * 24 * 60 + 1, 5):
        quiet = later(memory, minutes * MINUTE)
        assert tick(quiet)["consolidated"] is False
        if minutes % (12 * 60) == 0:
            assert reviewer(quiet) == ("ok", [])
    rows = memory.rows(REVIEWER)
    assert [row.get("skipped", False) for row in rows] == [False] + [True] * 7
    assert [row["ts"][8:10] for row in rows] == ["01", "02", "03", "04", "05", "06", "07", "08"]
    assert (run_folders(memory), reviewer(later(memory, 9 * DAY))) == ([], ("ok", []))


def test_a_consolidation_that_failed_is_not_covered_by_skips(memory: Memory, tmp_path: Path):
    path = failing_session(tmp_path, NOW - HOUR)
    audit = memory.root / "OBSERVABILITY/memory-writes.jsonl"
    audit.rename(tmp_path / "log")
    audit.mkdir()
    assert consolidate(memory, path).exit == 5
    for day in range(1, 6):
        assert later(memory, day * DAY).call("sleep", "tick", *AGENT).exit == 5
    assert not [row for row in memory.rows(REVIEWER) if row.get("skipped")]
    assert reviewer(later(memory, 5 * DAY))[1] == ["reviewer-latest-failed"]


def test_a_failed_consolidation_is_not_covered_by_a_skip_while_asleep_by_hand_only(memory: Memory, tmp_path: Path):
    path = failing_session(tmp_path, NOW - HOUR)
    consolidate(memory, path)
    audit = memory.root / "OBSERVABILITY/memory-writes.jsonl"
    audit.rename(tmp_path / "log")
    audit.mkdir()
    write_lines(tmp_path / "b.jsonl", *calls("Other", 3, NOW, "no"))
    assert consolidate(later(memory, MINUTE), str(tmp_path / "b.jsonl")).exit == 5
    audit.rmdir()
    configure(memory, "auto_sleep", "false")
    assert tick(later(memory, 3 * DAY))["row"] is None


def test_a_run_that_was_killed_is_finished_by_the_next_tick_and_not_covered_by_a_skip(memory: Memory, tmp_path: Path):
    consolidate(memory, failing_session(tmp_path, NOW - HOUR))
    killed = later(memory, DAY)
    pid = os.fork()
    if pid == 0:
        from cortex.sleep import consolidate as module

        module.gather = lambda *_: os._exit(9)  # type: ignore[attr-defined]
        consolidate(killed, write_lines(tmp_path / "b.jsonl", *calls("Other", 3, NOW, "no")))
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 9
    assert run_folders(memory) == ["2026-08-02T12-00-00-000Z"]
    assert reviewer(later(killed, 9 * MINUTE)) == ("ok", [])
    assert reviewer(later(killed, 11 * MINUTE))[1] == ["reviewer-latest-timed-out"]

    done = tick(later(killed, 12 * MINUTE))
    assert (done["row"], run_folders(memory)) == ("success", [])
    assert reviewer(later(killed, 12 * MINUTE)) == ("ok", [])


def test_parameters_are_shown_and_set(memory: Memory):
    shown = memory.call("sleep", "config").data["parameters"]
    assert (shown["sleep_after_ms"], shown["reviewer_evidence"], shown["transcripts"]) == (120_000, "auto", [])
    configure(memory, "sleep_after_ms", "60000")
    configure(memory, "transcripts", "/a\n/b c")
    shown = memory.call("sleep", "config").data["parameters"]
    assert (shown["sleep_after_ms"], shown["transcripts"]) == (60_000, ["/a", "/b c"])


def test_an_index_is_kept_fresh_where_that_was_set_and_not_before(memory: Memory):
    assert memory.call("sleep", "config").data["parameters"]["index_refresh"] is False
    assert "index" not in tick(memory)
    configure(memory, "index_refresh", "true")
    assert memory.call("sleep", "config").data["parameters"]["index_refresh"] is True
    assert (tick(memory)["index"], tick(memory)["warnings"]) == ("none is adopted", [])


def test_a_tick_that_consolidates_keeps_the_index_fresh_too(memory: Memory, tmp_path: Path):
    adopt(memory.root)
    configure(memory, "index_refresh", "true")
    (memory.root / "KNOWLEDGE" / "late.md").write_text("---\nid: late\n---\nLate.\n")
    done = tick(memory, "--transcripts", failing_session(tmp_path, NOW - HOUR))
    assert (done["consolidated"], done["index"], done["warnings"]) == (True, "refreshed", [])
    assert memory.call("index", "verify").data["records"] == 1


def test_of_two_ticks_at_once_the_one_that_waits_leaves_the_index_alone(memory: Memory):
    configure(memory, "index_refresh", "true")
    tick(memory)
    name = sha256(RUNNING.encode()).hexdigest()[:32]
    lock = os.open(memory.root / "CORTEX/locks" / f"{name}.lock", os.O_RDWR)
    fcntl.flock(lock, fcntl.LOCK_EX)
    try:
        assert "index" not in tick(memory)
    finally:
        os.close(lock)


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        (("sleep_after_ms", "0", *OPERATOR), (4, "invalid_input")),
        (("sleep_after_ms", "31536000001", *OPERATOR), (4, "invalid_input")),
        (("recall_limit", "1.5", *OPERATOR), (4, "invalid_input")),
        (("auto_sleep", "yes", *OPERATOR), (4, "invalid_input")),
        (("index_refresh", "yes", *OPERATOR), (4, "invalid_input")),
        (("index_refresh", "true", *AGENT), (5, "write_refused")),
        (("tick_ms", "5", *OPERATOR), (4, "invalid_input")),
        (("sleep_after_ms", *OPERATOR), (4, "invalid_input")),
        (("sleep_after_ms", "60000"), (5, "write_refused")),
        (("sleep_after_ms", "60000", *AGENT), (5, "write_refused")),
    ],
)
def test_what_is_no_parameter_or_not_permitted_is_refused(memory: Memory, words, refusal):
    assert memory.call("sleep", "config", *words).refusal == refusal
    assert not (memory.root / "CORTEX/config.json").exists()


@pytest.mark.parametrize(
    "text", ["[", "[]", '{"sleep_after_ms": "soon"}', '{"sleep_after_ms": 1, "sleep_after_ms": 2}']
)
def test_parameters_that_are_none_are_refused_by_name(memory: Memory, text: str):
    (memory.root / "CORTEX/config.json").write_text(text)
    said = memory.call("sleep", "tick", *AGENT)
    assert (said.refusal, "config.json" in said.message) == ((4, "invalid_input"), True)


@pytest.mark.parametrize(
    ("command", "words", "code"),
    [
        (("activity", "--why", "session-step"), (), "write_refused"),
        (("activity", "--why", "session-step"), OPERATOR, "invalid_input"),
        (("activity", "--why", "boredom"), AGENT, "invalid_input"),
        (("tick",), (), "write_refused"),
        (("tick",), ("--operator", "ada"), "write_refused"),
        (("tick",), (*AGENT, "--operator", "ada"), "write_refused"),
        (("enter",), (), "write_refused"),
        (("wake",), (), "write_refused"),
        (("consolidate",), (), "write_refused"),
        (("consolidate",), ("--operator", "", "--allow-write"), "invalid_input"),
        (("nap",), (), "invalid_input"),
    ],
)
def test_each_command_is_for_whom_it_is(memory: Memory, command, words, code):
    assert memory.call("sleep", *command, *words).refusal[1] == code


def test_people_see_phase_source_hours_and_reports(memory: Memory, tmp_path: Path):
    from cortex.text_output import render_text

    move(memory)
    memory.call("sleep", "enter", "--transcripts", failing_session(tmp_path, NOW - HOUR), *OPERATOR)
    night = later(memory, 65 * MINUTE)
    shown = render_text(night.call("sleep", "status").envelope)
    assert "phase: deep\n" in shown
    assert "silence_ms: 1 h 5 min\n" in shown
    assert "  source: session-step\n" in shown
    assert f"hours_of_day: {'·' * 12}█{'·' * 11}\n" in shown
    history = render_text(night.call("sleep", "history").envelope)
    assert history.splitlines()[0].startswith("asleep at")
    assert "still" in history.splitlines()[1]
    listed = render_text(night.call("cards", "list").envelope)
    assert listed.splitlines()[0].split() == ["weight", "uses", "kind", "title", "id"]
    assert "Fetch failed 3 times in a row" in listed
