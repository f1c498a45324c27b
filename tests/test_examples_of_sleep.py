"""The examples of hooks and timers do what they say: each command in them is run."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.running import clean_environment
from support.sleepers import calls, cards, write_lines
from support.stores import Memory, laid_out

from cortex.cli import process_clock
from cortex.commands import COMMANDS
from policies.rhythm import LONGEST_MS, Rhythm

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
SETTINGS = json.loads((EXAMPLES / "agent-hooks/settings.json").read_text())
# What a host sends at each event, beside the session.
MESSAGES = {
    "UserPromptSubmit": {"prompt": "Fetch it."},
    "PostToolUse": {"tool_name": "Read", "tool_response": {}},
    "PostToolUseFailure": {"tool_name": "Fetch", "error": "no route"},
    "Stop": {"stop_hook_active": False},
}


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return laid_out(tmp_path)._replace(now=process_clock())


def commands() -> Iterator[tuple[str, str]]:
    for event, groups in SETTINGS["hooks"].items():
        for group in groups:
            for each in group["hooks"]:
                yield event, each["command"]


def shell(command: str, memory: Memory, stdin: str = "") -> subprocess.CompletedProcess[str]:
    environment = clean_environment({"CORTEX_MEMORY_ROOT": str(memory.root), "LOGNAME": "ada"})
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    return subprocess.run(
        ["sh", "-c", command], input=stdin, env=environment, capture_output=True, text=True, timeout=30
    )


def test_every_command_of_the_settings_does_its_part(memory: Memory, tmp_path: Path):
    path = write_lines(tmp_path / "t.jsonl", *calls("Fetch", 3, memory.now, "no"))
    memory.call("cards", "add", "Fetch", "--body", "Ask the ferry office.", "--adapter", "claude", "--allow-write")
    printed = {}
    for event, command in commands():
        message = {"session_id": "s", "hook_event_name": event, "transcript_path": path, **MESSAGES[event]}
        finished = shell(command, memory, json.dumps(message))
        assert (finished.returncode, finished.stderr) == (0, "")
        printed[command.split()[2]] = finished.stdout
    assert "ferry office" in printed.pop("prompt")
    assert set(printed.values()) == {""}
    assert memory.call("sleep", "status").data["last_wake"]["source"] == "session-step"
    assert (len(memory.rows("tool-activity.jsonl")), len(memory.rows("tool-failures.jsonl"))) == (1, 1)
    assert not (memory.root / "OBSERVABILITY/hook-errors.log").exists()


def test_every_hook_is_wired():
    assert {command.split()[2] for _, command in commands()} == {"prompt", "step", "tool", "stop"}
    assert set(SETTINGS["hooks"]) == set(MESSAGES)


@pytest.mark.parametrize("fails", [False, True])
def test_the_crontab_line_mails_only_what_was_refused(memory: Memory, tmp_path: Path, fails: bool):
    (line,) = [line for line in (EXAMPLES / "cron/crontab").read_text().splitlines() if not line.startswith("#")]
    *fields, command = line.split(None, 5)
    assert fields == ["*/5", "*", "*", "*", "*"]
    assert "%" not in command  # which cron takes for a line end
    path = write_lines(tmp_path / "t.jsonl", *calls("Fetch", 3, memory.now - 10**7, "no"))
    text = "[" if fails else json.dumps({"transcripts": [path]})
    (memory.root / "CORTEX/config.json").write_text(text)
    finished = shell(command, memory)
    assert ("invalid_input" in finished.stdout) is fails
    assert (finished.stdout == "") is not fails
    assert "pitfall:fetch" in cards(memory) if not fails else True


def unit(name: str) -> dict[str, str]:
    lines = (EXAMPLES / "systemd" / name).read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))


def test_the_unit_runs_a_tick(memory: Memory):
    command = unit("cortex-sleep.service")["ExecStart"].replace("%u", "ada")
    assert "skipped: no new experience" in shell(command, memory).stdout


@pytest.mark.realpart
def test_systemd_takes_the_units(tmp_path: Path):
    verify = shutil.which("systemd-analyze")
    if verify is None:
        pytest.skip("systemd-analyze is not installed")
    for name in ("cortex-sleep.service", "cortex-sleep.timer"):
        text = (EXAMPLES / "systemd" / name).read_text()
        (tmp_path / name).write_text(
            text.replace("ExecStart=cortex", f"ExecStart={Path(sys.executable).with_name('cortex')}")
        )
    finished = subprocess.run(
        [verify, "verify", "--man=no", *map(str, sorted(tmp_path.iterdir()))],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "cortex-sleep" not in finished.stderr


# The document.

PAGE = (ROOT / "docs" / "sleep.md").read_text(encoding="utf-8")


def test_the_page_of_sleep_names_every_parameter_with_its_default():
    for key, value in Rhythm()._asdict().items():
        shown = {"transcripts": "none", True: "true", False: "false"}.get(key if value == () else value, value)
        assert re.search(rf"^\| `{key}` \| {shown} \|", PAGE, re.MULTILINE), key
    assert str(LONGEST_MS) in PAGE


def test_the_page_of_sleep_names_every_command():
    for name in COMMANDS:
        if name.startswith(("sleep ", "cards ")):
            assert f"`{name}" in PAGE, name
