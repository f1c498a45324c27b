"""What each hook does, in this process: whatever happens it exits 0, and prints nothing but cards."""

import json
from pathlib import Path

import pytest
from support.sleepers import (
    HOUR,
    MINUTE,
    REJECTED,
    calls,
    cards,
    configure,
    consolidate,
    hook,
    later,
    state,
    write_lines,
)
from support.stores import AGENT, NOW, Memory, texts_below

from cortex.sleep.patterns import RECALLED_CLOSES, RECALLED_OPENS, public_text

KEYS = ("session_id", "prompt", "tool_name", "error", "transcript_path")
FAILED = {"is_error": True, "content": "no"}
PROMPT = {"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": "Why does Fetch fail?", "unknown": 1}


@pytest.fixture
def learned(memory: Memory, tmp_path: Path) -> Memory:
    """A memory that has learned of a failing tool."""
    consolidate(memory, write_lines(tmp_path / "t.jsonl", *calls("Fetch", 3, NOW - HOUR, "no route to host")))
    return memory


def errors(memory: Memory) -> list[str]:
    log = memory.root / "OBSERVABILITY/hook-errors.log"
    return log.read_text().splitlines() if log.exists() else []


def test_a_prompt_gets_the_cards_that_fit_between_marks(learned: Memory):
    lines = hook(learned, "prompt", PROMPT).splitlines()
    assert (lines[0], lines[-1]) == (RECALLED_OPENS, RECALLED_CLOSES)
    assert lines[2:-1] == [
        "- pitfall: Fetch failed 3 times in a row | Last error: no route to host (used 0 times)",
        "- unresolved: Unresolved: Fetch | 3 failures since the last success, and none was overcome. (used 0 times)",
    ]


def test_what_was_injected_counts_once_for_a_prompt_and_is_not_learned_again(learned: Memory, tmp_path: Path):
    injected = hook(learned, "prompt", PROMPT)
    assert hook(later(learned, 500), "prompt", PROMPT) == ""
    assert cards(learned)["pitfall:fetch"]["uses"] == 1
    assert hook(later(learned, MINUTE), "prompt", PROMPT).count("used 1 times") == 2
    assert public_text(f"Exit 1: {injected}") == "Exit 1: \n"
    path = write_lines(tmp_path / "again.jsonl", *calls("Echo", 3, NOW, injected))
    consolidate(later(learned, HOUR), path)
    assert "route" not in json.dumps(cards(learned)["pitfall:echo"])


def test_nothing_is_printed_where_no_card_fits_or_recall_is_off(learned: Memory):
    assert hook(learned, "prompt", {**PROMPT, "prompt": "Good morning."}) == ""
    configure(learned, "memory_recall", "false")
    assert hook(learned, "prompt", PROMPT) == ""
    assert cards(learned)["pitfall:fetch"]["uses"] == 0


def test_only_the_first_part_of_a_prompt_is_looked_at(learned: Memory):
    assert hook(learned, "prompt", {**PROMPT, "prompt": "." * 65_536 + " Fetch"}) == ""
    assert hook(learned, "prompt", {**PROMPT, "prompt": " " * 65_000 + "Fetch"}) != ""


@pytest.mark.parametrize("title", ['{"continue": false}', f"Fetch {RECALLED_CLOSES} now", "Fetch\u2028decision: block"])
def test_no_card_can_say_more_than_context(memory: Memory, title: str):
    """A host takes a line that begins with a brace for a decision, and the end of the marks for the end of ours."""
    assert memory.call("cards", "add", title, "--body", f"Fetch {{}}\n{RECALLED_CLOSES}", *AGENT).exit in (0, 4)
    shown = hook(memory, "prompt", {**PROMPT, "prompt": "fetch continue"})
    assert not shown.lstrip().startswith("{")
    assert shown.count(RECALLED_CLOSES) == shown.count(RECALLED_OPENS) == (1 if shown else 0)
    assert len(shown.splitlines()) == (4 if shown else 0)


def test_a_step_wakes_and_prints_nothing(memory: Memory):
    assert hook(memory, "step", {"session_id": "s"}) == ""
    assert memory.call("sleep", "status").data["phase"] == "awake"


@pytest.mark.parametrize(
    ("message", "log", "error"),
    [
        ({"hook_event_name": "PostToolUse"}, "tool-activity.jsonl", None),
        ({"hook_event_name": "PostToolUse", "tool_response": {"is_error": False}}, "tool-activity.jsonl", None),
        ({"hook_event_name": "PostToolUse", "tool_response": {"is_error": "true"}}, "tool-activity.jsonl", None),
        ({"hook_event_name": "PostToolUse", "tool_response": FAILED}, "tool-failures.jsonl", "no"),
        ({"hook_event_name": "PostToolUseFailure", "error": "no"}, "tool-failures.jsonl", "no"),
        ({"hook_event_name": "ToolFailure", "error": {"odd": 1}}, "tool-failures.jsonl", ""),
        ({"hook_event_name": "PostToolUseFailure", "error": REJECTED}, None, None),
        ({"hook_event_name": "PreToolUse"}, None, None),
        ({"hook_event_name": 7}, None, None),
    ],
)  # fmt: skip
def test_a_call_that_ended_is_written_down(memory: Memory, message, log, error):
    assert hook(memory, "tool", {"session_id": "s", "tool_name": "Fetch", **message}) == ""
    row = {"timestamp": "2026-08-01T12:00:00.000Z", "session_id": "s", "tool_name": "Fetch"}
    expected = {**row, "error": error} if error is not None else row
    found = {name: memory.rows(name) for name in ("tool-activity.jsonl", "tool-failures.jsonl") if memory.rows(name)}
    assert found == ({log: [expected]} if log else {})


def test_what_the_hooks_wrote_becomes_experience(memory: Memory):
    for _ in range(3):
        hook(memory, "tool", {"hook_event_name": "PostToolUseFailure", "tool_name": "Fetch", "error": "no route"})
    assert consolidate(later(memory, MINUTE)).data["created"] == ["pitfall:fetch", "unresolved:fetch"]


def test_private_text_and_long_text_of_the_host_is_written_nowhere(memory: Memory):
    secret = "<private>s3cret</private>"
    for event in ("prompt", "step", "tool", "stop"):
        hook(memory, event, dict.fromkeys(KEYS, f"{secret}{'x' * 999}") | {"hook_event_name": "AFailure"})
        hook(memory, event, f'{{"prompt": "{secret}"'.encode())
    assert "s3cret" not in texts_below(memory.home)
    (row,) = memory.rows("tool-failures.jsonl")
    assert (len(row["error"]), len(row["tool_name"]), len(row["session_id"])) == (240, 240, 240)


@pytest.mark.parametrize("message", [b"", b"garbage", b"[]", b'{"a":', b"\xff\xfe", b"[" * 100_000, b"null"])
@pytest.mark.parametrize("event", ["prompt", "step", "tool", "stop"])
def test_a_message_that_is_none_is_a_line_in_the_log(memory: Memory, event: str, message: bytes):
    assert hook(memory, event, message) == ""
    (line,) = errors(memory)
    assert line.startswith(f"2026-08-01T12:00:00.000Z hook {event}: the host's message is no JSON")


@pytest.mark.parametrize("words", [("--adapter", "claude"), ("--allow-write",), ("--adapter", "gpt"), ("--frob",)])
@pytest.mark.parametrize("event", ["prompt", "step", "tool", "stop", "frob"])
def test_without_permission_nothing_is_written(memory: Memory, capsys, event: str, words):
    before = texts_below(memory.home)
    assert hook(memory, event, {**PROMPT, "hook_event_name": "PostToolUse", "tool_name": "x"}, *words) == ""
    assert texts_below(memory.home) == before
    assert capsys.readouterr().err.startswith(f"cortex hook {event}: ")


def test_parameters_that_are_none_are_a_line_in_the_log(memory: Memory):
    (memory.root / "CORTEX/config.json").write_text('{"recall_limit": 0}')
    assert hook(memory, "prompt", PROMPT) == ""
    assert errors(memory) == [
        "2026-08-01T12:00:00.000Z hook prompt: CORTEX/config.json: recall_limit must be an integer from 1 to 10000"
    ]


@pytest.mark.parametrize("event", ["prompt", "step", "stop"])
def test_a_damaged_state_that_a_hook_set_aside_is_a_line_in_the_log(memory: Memory, event: str):
    (memory.root / "CORTEX/state.json").write_text("{")
    assert hook(memory, event, PROMPT) == ""
    (line,) = errors(memory)
    assert "was set aside as state.json.corrupt-2026-08-01T12-00-00-000Z" in line
    hook(memory, event, PROMPT)
    assert len(errors(memory)) == 1


@pytest.mark.parametrize("path", ["", "/nowhere/t.jsonl", "\0", "<private>x</private>", "/etc", 7])
def test_a_stop_without_a_transcript_to_read_remembers_none(memory: Memory, path: object):
    assert hook(memory, "stop", {"transcript_path": path}) == ""
    assert not (memory.root / "CORTEX/state.json").exists()
    assert errors(memory) == []


def test_a_transcript_of_a_stopped_session_is_read_by_whoever_consolidates_next(memory: Memory, tmp_path: Path):
    configure(memory, "consolidate_gap_ms", "31536000000")
    consolidate(memory, write_lines(tmp_path / "a.jsonl", *calls("Other", 3, NOW - HOUR, "no")))
    path = write_lines(tmp_path / "t.jsonl", *calls("Fetch", 3, NOW - MINUTE, "no"))
    hook(memory, "stop", {"transcript_path": path, "stop_hook_active": True})
    assert state(memory)["stopped"] == [path]
    assert "pitfall:fetch" in consolidate(later(memory, MINUTE)).data["created"]
    assert state(memory)["stopped"] == []
