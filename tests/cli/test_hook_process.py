"""Hooks as a host calls them: processes that exit 0 and answer in time, whatever is wrong, and what they start.

Time limits are those of the host's patience (2 s), generous on purpose: what must not happen is to hang.
"""

import fcntl
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import pytest
from support.running import clean_environment
from support.sleepers import calls, cards, configure, line, reviewer, run_folders, state, write_lines
from support.stores import AGENT, Memory, laid_out

from cortex.cli import process_clock
from cortex.sleep.keeping import GUARD
from cortex.text_output import sparkline

EVENTS = ("prompt", "step", "tool", "stop")
PATIENCE_S = 2.0
NOW = process_clock()
MESSAGE = {
    "session_id": "s", "hook_event_name": "PostToolUse", "tool_name": "Fetch", "prompt": "Why does Fetch fail?",
}  # fmt: skip


class Answer:
    """What a hook's process did."""

    def __init__(self, finished: subprocess.CompletedProcess[bytes], seconds: float) -> None:
        self.exit = finished.returncode
        self.out = finished.stdout.decode()
        self.err = finished.stderr.decode()
        self.seconds = seconds


def hook(root: Path, event: str, message: object, before: str = "") -> Answer:
    """Call a hook as a host does. `before` is Python to run first in its process."""
    data = message if isinstance(message, bytes) else json.dumps(message).encode()
    words = ["hook", event, "--memory-root", str(root), *AGENT]
    program = f"{before}\nimport sys\nfrom cortex.cli import main\nsys.exit(main({words!r}))"
    begin = time.monotonic()  # noqa: TID251 - the host's own watch
    finished = subprocess.run(
        [sys.executable, "-c", program], input=data, env=clean_environment(), capture_output=True, timeout=30
    )
    return Answer(finished, time.monotonic() - begin)  # noqa: TID251 - likewise


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return laid_out(tmp_path)._replace(now=NOW)


@contextmanager
def lock_held(memory: Memory, target: str) -> Iterator[None]:
    folder = memory.root / "CORTEX/locks"
    folder.mkdir(parents=True, exist_ok=True)
    lock = os.open(folder / f"{sha256(target.encode()).hexdigest()[:32]}.lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(lock, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(lock)


def eventually(holds: Callable[[], bool]) -> bool:
    """Wait until something holds that another process brings about; give up after a long time."""
    for _ in range(2000):
        if holds():
            return True
        time.sleep(0.01)
    return False


def check(answer: Answer) -> None:
    assert answer.exit == 0
    assert answer.seconds < PATIENCE_S
    assert answer.out == ""


FULL_DISK = """
import errno, os
real = os.write
def write(descriptor, data):
    if descriptor > 2:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    return real(descriptor, data)
os.write = write
"""


@pytest.mark.parametrize("event", EVENTS)
def test_a_missing_root_is_said_on_stderr_and_not_made(tmp_path: Path, event: str):
    answer = hook(tmp_path / "gone", event, MESSAGE)
    check(answer)
    assert "memory root is not there" in answer.err
    assert not (tmp_path / "gone").exists()


@pytest.mark.parametrize("event", EVENTS)
def test_a_full_disk_disturbs_no_host(memory: Memory, tmp_path: Path, event: str):
    path = write_lines(tmp_path / "t.jsonl", *calls("Fetch", 3, NOW, "no"))
    answer = hook(memory.root, event, {**MESSAGE, "transcript_path": path}, FULL_DISK)
    check(answer)
    assert ("No space left" in answer.err) is (event != "prompt")  # which has nothing to write: no card fits


@pytest.mark.parametrize("event", ["step", "stop"])
def test_a_held_lock_is_not_waited_for(memory: Memory, tmp_path: Path, event: str):
    path = write_lines(tmp_path / "t.jsonl", *calls("Fetch", 3, NOW, "no"))
    with lock_held(memory, GUARD):
        check(hook(memory.root, event, {**MESSAGE, "transcript_path": path}))
    assert "is busy" in (memory.root / "OBSERVABILITY/hook-errors.log").read_text()


def test_a_held_lock_of_a_log_is_not_waited_for(memory: Memory):
    with lock_held(memory, "OBSERVABILITY/tool-activity.jsonl"):
        check(hook(memory.root, "tool", MESSAGE))
    assert memory.rows("tool-activity.jsonl") == []


def test_a_held_lock_keeps_no_card_from_a_prompt(memory: Memory):
    assert memory.call("cards", "add", "Fetch", "--body", "Ask the ferry office.", *AGENT).exit == 0
    with lock_held(memory, GUARD):
        answer = hook(memory.root, "prompt", MESSAGE)
    assert (answer.exit, "ferry office" in answer.out) == (0, True)
    assert answer.seconds < PATIENCE_S


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("message", [b"", b"garbage", b"\xff" * 999])
def test_garbage_is_answered_by_nothing(memory: Memory, event: str, message: bytes):
    check(hook(memory.root, event, message))


@pytest.mark.parametrize("event", EVENTS)
def test_a_prompt_of_fifty_megabytes_is_answered_in_time(memory: Memory, event: str):
    check(hook(memory.root, event, {**MESSAGE, "prompt": "ü Fetch " * 5_600_000}))


def test_a_host_that_never_ends_its_message_is_left_in_time(memory: Memory):
    words = [sys.executable, "-m", "cortex", "hook", "step", "--memory-root", str(memory.root), *AGENT]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=clean_environment()
    ) as process:
        assert process.stdin is not None
        process.stdin.write(b'{"prompt": "')
        process.stdin.flush()
        assert process.wait(timeout=10) == 0
    assert "not done within 1.5 s" in (memory.root / "OBSERVABILITY/hook-errors.log").read_text()


def test_a_step_keeps_the_memory_awake(memory: Memory):
    check(hook(memory.root, "step", MESSAGE))
    assert memory.call("sleep", "status").data["phase"] == "awake"
    hours = memory.call("sleep", "status").data["hours_of_day"]
    assert (sum(hours), sparkline(hours).count("█")) == (1, 1)


def consolidated(memory: Memory, card: str) -> bool:
    return card in cards(memory) and not run_folders(memory)


def test_with_hooks_alone_a_session_that_stops_is_consolidated_and_the_host_does_not_wait(memory: Memory, tmp_path):
    path = write_lines(tmp_path / "t.jsonl", *calls("Fetch", 3, NOW, "no"))
    check(hook(memory.root, "stop", {**MESSAGE, "transcript_path": path}))
    assert eventually(lambda: consolidated(memory, "pitfall:fetch"))
    assert reviewer(memory._replace(now=process_clock())) == ("ok", [])


def test_a_stop_within_the_gap_is_consolidated_once_it_has_passed(memory: Memory, tmp_path: Path):
    configure(memory, "consolidate_gap_ms", "700")
    path = write_lines(tmp_path / "t.jsonl", *calls("Fetch", 3, NOW, "no"))
    hook(memory.root, "stop", {**MESSAGE, "transcript_path": path})
    assert eventually(lambda: consolidated(memory, "pitfall:fetch"))
    first = state(memory)["consolidated_at"]
    write_lines(tmp_path / "t.jsonl", *calls("Fetch", 3, NOW, "no"), *calls("Other", 3, NOW + 9000, "no"))
    check(hook(memory.root, "stop", {**MESSAGE, "transcript_path": path}))
    assert eventually(lambda: consolidated(memory, "pitfall:other"))
    assert state(memory)["consolidated_at"] - first >= 700


def test_a_stop_outlives_the_hosts_process_group_and_holds_none_of_its_pipes(memory: Memory, tmp_path: Path):
    """A host kills the group of its hook, and waits until the pipes of the hook are closed."""
    configure(memory, "consolidate_gap_ms", "700")
    first = write_lines(tmp_path / "a.jsonl", *calls("Other", 3, NOW, "no"))
    hook(memory.root, "stop", {**MESSAGE, "transcript_path": first})
    assert eventually(lambda: consolidated(memory, "pitfall:other"))
    path = write_lines(tmp_path / "t.jsonl", *calls("Fetch", 3, NOW + 9000, "no"))
    words = [sys.executable, "-m", "cortex", "hook", "stop", "--memory-root", str(memory.root), *AGENT]
    process = subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=clean_environment(), start_new_session=True
    )
    out, _ = process.communicate(json.dumps({**MESSAGE, "transcript_path": path}).encode(), timeout=PATIENCE_S)
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 9)
    assert (out, process.returncode) == (b"", 0)
    assert eventually(lambda: consolidated(memory, "pitfall:fetch"))


def test_a_stop_with_nothing_new_starts_nothing(memory: Memory, tmp_path: Path):
    path = write_lines(tmp_path / "t.jsonl", line("user", "u", NOW, "hello"))
    before = "import os\nos.posix_spawn = lambda *_, **__: os.write(2, b'started')\n"
    assert hook(memory.root, "stop", {**MESSAGE, "transcript_path": path}, before).err == "started"
    memory.call("sleep", "consolidate", "--transcripts", path, "--operator", "ada", "--allow-write")
    assert hook(memory.root, "stop", {**MESSAGE, "transcript_path": path}, before).err == ""
