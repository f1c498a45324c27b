"""`memory-health hook`: one line where something changed, in time, and exit 0 whatever happens."""

import argparse
import json
import os
import subprocess
from pathlib import Path

import pytest
from support.green_evidence import report, retrieval, retrieved, reviewed, reviewer
from support.health_tree import DAY, NOW, NOW_TEXT, observability, write_h0
from support.running import COMMAND, clean_environment, run_sabotaged

from healthcheck.cli import VALUED, command_of
from healthcheck.hook import LINE_WIDTH, message
from healthcheck.news import Kind, Notices, Standing, key_of
from healthcheck.options import build_parser
from healthcheck.report import Report

SETTINGS = Path(__file__).parents[2] / "examples" / "agent-hook" / "settings.json"
STOP = {"session_id": "s", "hook_event_name": "Stop", "stop_hook_active": False}
STALE = report(retrieval=retrieval(last=retrieved(2 * DAY)))
FAILED = report("grün\n", reviewer=reviewer(last=reviewed("failed")), retrieval=retrieval(last=retrieved(2 * DAY)))


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    """A memory in which all is well, and whose last run said so."""
    root = write_h0(tmp_path / "R")
    assert hook(root) == ""
    return root


def call(root: Path, *more: str, event: object = STOP, **variables: str) -> subprocess.CompletedProcess[str]:
    sent = event if isinstance(event, str) else json.dumps(event)
    return subprocess.run(
        [COMMAND, "--root", root, "--now", NOW_TEXT, "hook", *more], input=sent, capture_output=True, encoding="utf-8",
        env=clean_environment(variables), timeout=60,
    )  # fmt: skip


def hook(root: Path, *more: str, event: object = STOP, **variables: str) -> str:
    ended = call(root, *more, event=event, **variables)
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout


def marker(root: Path) -> Path:
    return root / "LIFEOS" / "CORTEX_INDEX_POLICY.json"


def damage(root: Path) -> None:
    marker(root).unlink()


LINE = (
    "Memory default is warn; new: index-evidence-missing: "
    "Nothing says whether this memory has an index or does without one on purpose: "
    "neither MEMORY/INDEX/index-manifest.json nor CORTEX_INDEX_POLICY.json."
)


def test_a_change_is_told_once_as_one_json_object(memory: Path) -> None:
    damage(memory)
    assert json.loads(hook(memory)) == {"systemMessage": LINE}
    assert hook(memory) == ""


def test_what_cleared_is_told_once(memory: Path) -> None:
    aside = marker(memory).rename(memory / "aside")
    hook(memory)
    aside.rename(marker(memory))
    assert hook(memory, "--plain") == "Memory default is ok; cleared: index-evidence-missing.\n"
    assert hook(memory, "--plain") == ""


def test_plain_prints_the_line_itself(memory: Path) -> None:
    damage(memory)
    assert hook(memory, "--plain") == f"{LINE}\n"


def test_within_a_stop_that_a_hook_continued_nothing_is_said_and_nothing_done(memory: Path) -> None:
    damage(memory)
    before = (observability(memory) / "memory-health.jsonl").read_bytes()
    assert hook(memory, event={**STOP, "stop_hook_active": True}) == ""
    assert (observability(memory) / "memory-health.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    "event", ["", "{", "[]", "null", '{"stop_hook_active": "true"}', '{"stop_hook_active": 1}', "[" * 99_999]
)
def test_any_other_event_is_no_reason_to_be_silent(memory: Path, event: str) -> None:
    damage(memory)
    assert json.loads(hook(memory, event=event)) == {"systemMessage": LINE}


def test_a_host_that_leaves_stdin_open_is_not_waited_for(memory: Path) -> None:
    damage(memory)
    command = [COMMAND, "--root", memory, "--now", NOW_TEXT, "hook"]
    reading, writing = os.pipe()
    try:
        ended = subprocess.run(command, stdin=reading, capture_output=True, env=clean_environment(), timeout=60)
    finally:
        os.close(reading)
        os.close(writing)
    assert json.loads(ended.stdout) == {"systemMessage": LINE}


def test_not_done_in_time_it_prints_nothing_and_leaves_the_change_to_the_next_run(memory: Path) -> None:
    """Answers within 1.5 seconds: a collector that never ends is ended by the alarm."""
    damage(memory)
    prelude = "import signal, healthcheck.collectors as c\nc.collect_index = lambda *a: signal.pause()"
    arguments = ("--root", memory, "--now", NOW_TEXT, "hook", "--plain")
    late = run_sabotaged(prelude, *arguments)
    assert (late.exit_code, late.stdout, late.stderr) == (0, "", "")
    assert hook(memory, "--plain") == f"{LINE}\n"


def test_once_the_evidence_is_in_the_alarm_is_off_so_that_what_is_remembered_is_also_told(memory: Path) -> None:
    """A verdict that is remembered and not told would never be."""
    damage(memory)
    prelude = (
        "import signal, healthcheck.history as h\n"
        "h.append = lambda *a: print(signal.getitimer(signal.ITIMER_REAL)[0]) is None"
    )
    ended = run_sabotaged(prelude, "--root", memory, "--now", NOW_TEXT, "hook", "--plain")
    assert (ended.exit_code, ended.stdout) == (0, f"0.0\n{LINE}\n")


def test_the_timed_run_is_left_what_it_publishes(memory: Path, tmp_path: Path) -> None:
    published = {"CORTEX_HEALTH_TEXTFILE": str(tmp_path / "m.prom"), "CORTEX_HEALTH_REPORT_PATH": str(tmp_path / "r")}
    damage(memory)
    assert hook(memory, "--plain", **published) == f"{LINE}\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["R"]


@pytest.mark.parametrize(
    "prelude",
    [
        "import sys; sys.modules['msgspec'] = None",
        "import healthcheck.audit as a; a.evaluate = None",
        "import os, signal, healthcheck.audit as a; a.collect = lambda *x: os.kill(os.getpid(), signal.SIGTERM)",
        "import os, signal, healthcheck.audit as a; a.collect = lambda *x: os.kill(os.getpid(), signal.SIGINT)",
        "import os; os.dup2(os.open('/dev/full', os.O_WRONLY), 1)",
        "import os; os.close(0); os.close(1); os.close(2)",
    ],
)
def test_whatever_goes_wrong_is_exit_0(memory: Path, prelude: str) -> None:
    """Exits 0 always: 2 would block the stop."""
    damage(memory)
    ended = run_sabotaged(prelude, "--root", memory, "--now", NOW_TEXT, "hook")
    assert (ended.exit_code, ended.stdout) == (0, "")
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("arguments", [("hook", "--bad"), ("--bad", "hook"), ("--json", "--format", "text", "hook")])
def test_a_usage_error_is_exit_0_and_told_on_stderr(arguments: tuple[str, ...]) -> None:
    ended = subprocess.run([COMMAND, *arguments], capture_output=True, encoding="utf-8", env=clean_environment())
    assert (ended.returncode, ended.stdout) == (0, "")
    assert "error: " in ended.stderr


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        ([], None), (["--json"], None),
        (["hook"], "hook"), (["--json", "hook"], "hook"), (["--name=x", "hook"], "hook"),
        (["--name", "hook"], None), (["--name", "hook", "hook"], "hook"), (["explain", "hook"], "explain"),
        (["--name", "--root", "hook"], "hook"),
    ],
)  # fmt: skip
def test_a_value_is_not_taken_for_the_command(arguments: list[str], command: str | None) -> None:
    """A crash of `--name hook` is exit 2: only the hook itself is never."""
    assert command_of(arguments) == command


def test_the_guard_knows_every_option_that_takes_a_value() -> None:
    actions = [action for action in build_parser()._actions if not isinstance(action, argparse._SubParsersAction)]
    assert {flag for action in actions if action.nargs is None for flag in action.option_strings} == VALUED


def test_a_memory_called_hook_is_judged_as_any_other(tmp_path: Path) -> None:
    ended = run_sabotaged("import sys; sys.modules['msgspec'] = None", "--root", tmp_path, "--name", "hook")
    assert ended.exit_code == 2


def news(case: Report, *told: str, recovered: tuple[str, ...] = (), kind: Kind = "new") -> Report:
    """A report of whose findings these are told."""
    standings = {key_of(found): Standing(kind, NOW, found.id in told) for found in case.assessment.findings}
    return case._replace(notices=Notices(standings, recovered))


STALE_LINE = "retrieval-stale: The last retrieval in O/retrievals.jsonl was 2 days ago; the limit is 1 day."
FAILED_LINE = "reviewer-latest-failed: The last row of O/reviewer.jsonl (line 7) says that the run failed"
CASES: list[tuple[Report, str | None]] = [
    (report(), None),
    (news(STALE), None),
    (news(STALE, "retrieval-stale"), f"Memory default is warn; new: {STALE_LINE}"),
    (news(STALE, "retrieval-stale", kind="worse"), f"Memory default is warn; worse: {STALE_LINE}"),
    (news(FAILED, "reviewer-latest-failed"), f"Memory gr\\xfcn\\x0a is critical; new: {FAILED_LINE}."),
    (
        news(FAILED, "reviewer-latest-failed", "retrieval-stale"),
        f"Memory gr\\xfcn\\x0a is critical; new: {FAILED_LINE}, and retrieval-stale.",
    ),
    (
        news(STALE, recovered=("reviewer::reviewer-latest-failed",)),
        "Memory default is warn; cleared: reviewer-latest-failed.",
    ),
]


@pytest.mark.parametrize(("case", "line"), CASES)
def test_only_what_is_news_is_told_the_worst_with_its_message(case: Report, line: str | None) -> None:
    assert message(case) == line


def test_the_line_has_an_end() -> None:
    line = message(news(report("x" * 999, retrieval=retrieval(last=retrieved(2 * DAY))), "retrieval-stale"))
    assert line is not None
    assert (len(line), line[-3:]) == (LINE_WIDTH, "...")


def test_the_example_settings_call_the_hook() -> None:
    (entry,) = json.loads(SETTINGS.read_text())["hooks"]["Stop"]
    (command,) = entry["hooks"]
    assert command["command"].split()[1:] == ["hook"]
    assert command["timeout"] >= 2
