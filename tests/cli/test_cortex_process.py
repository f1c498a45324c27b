"""`cortex` as a process: what its streams carry and how it ends, also when the world around it is broken."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

ROOT = Path(__file__).parents[2]
SCHEMA = Draft202012Validator(json.loads((ROOT / "cortex/schemas/lifeos-cortex-v1.schema.json").read_text()))


@pytest.fixture
def memory(tmp_path):
    """A memory with one note."""
    note = tmp_path / "memory" / "KNOWLEDGE" / "oak.md"
    note.parent.mkdir(parents=True)
    note.write_text("---\nid: oak\ncreated: 2026-01-01\n---\nAn oak.\n")
    return tmp_path / "memory"


def cortex(*words, **options):
    environment = {"PATH": os.environ["PATH"], "HOME": "/nowhere"} | options.pop("env", {})
    command = [sys.executable, "-m", "cortex", *map(str, words)]
    return subprocess.run(command, capture_output=True, env=environment, cwd=ROOT, timeout=60, **options)


def envelope(done):
    (line,) = done.stdout.splitlines()
    answer = json.loads(line)
    SCHEMA.validate(answer)
    return answer


def test_an_answer_is_one_compact_line_and_nothing_else(memory):
    done = cortex("search", "oak", "--memory-root", memory)
    assert (done.returncode, done.stderr) == (0, b"")
    assert envelope(done)["data"]["items"][0]["id"] == "oak"
    assert b'{"schema":"lifeos-cortex/v1","ok":true,"command":"search","data":{' in done.stdout


@pytest.mark.parametrize(
    ("words", "status", "code"),
    [
        ([], 4, "invalid_input"),
        (["get", "nothing"], 3, "not_found"),
        (["search", "!"], 4, "invalid_input"),
        (["remember", "{}"], 5, "write_refused"),
    ],
)
def test_a_refusal_is_an_envelope_too(memory, words, status, code):
    done = cortex(*words, env={"CORTEX_MEMORY_ROOT": str(memory)})
    assert (done.returncode, envelope(done)["error"]["code"]) == (status, code)


def test_text_is_the_same_for_people(memory):
    done = cortex("status", "--text", "--memory-root", memory)
    assert b"records: 1" in done.stdout
    refused = cortex("status", "--text", "--memory-root", memory / "none")
    assert (refused.returncode, refused.stdout.startswith(b"status: integrity_error: ")) == (4, True)


@pytest.mark.parametrize("words", [["--help"], ["search", "x", "--help"], ["frob", "--help"]])
def test_help_is_plain_text(words):
    done = cortex(*words)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"usage: cortex ")


def test_version_is_told():
    assert cortex("--version").stdout.startswith(b"cortex ")


@pytest.mark.parametrize("variables", [{"LC_ALL": "C"}, {"PYTHONIOENCODING": "ascii"}, {"TZ": "Asia/Tokyo"}])
def test_the_bytes_are_the_same_in_every_locale(memory, variables):
    (memory / "KNOWLEDGE" / "栎.md").write_text("---\nid: 栎树\n---\noak 栎\n")
    plain = cortex("get", "栎树", "--memory-root", memory)
    assert "栎树" in plain.stdout.decode()
    assert cortex("get", "栎树", "--memory-root", memory, env=variables).stdout == plain.stdout


def test_an_argument_that_is_no_utf8_is_answered_with_an_escape(memory):
    done = cortex("search", os.fsdecode(b"\xff"), "--memory-root", memory)
    assert done.returncode == 4
    assert envelope(done)["error"]["code"] == "invalid_input"


def test_a_reader_that_goes_away_ends_it_quietly(memory):
    (memory / "KNOWLEDGE" / "big.md").write_text("x" * 4_000_000)
    command = f"{sys.executable} -m cortex export path:$ID --memory-root {memory} | head -c 10"
    found = envelope(cortex("timeline", "--anchor", "2026-01-01", "--memory-root", memory))["data"]["items"][0]["id"]
    done = subprocess.run(["bash", "-c", command.replace("path:$ID", found)], capture_output=True, cwd=ROOT)
    assert (done.stdout, done.stderr) == (b'{"schema":', b"")


def test_ten_megabytes_arrive_whole_through_a_slow_pipe_that_does_not_block(memory):
    content = "x" * 5_000_000
    for name in "ab":
        (memory / "KNOWLEDGE" / f"{name}.md").write_text(f"---\nid: {name}\n---\n{content}")
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    command = [sys.executable, "-m", "cortex", "export", "a", "b", "--memory-root", str(memory)]
    process = subprocess.Popen(command, stdout=writing, cwd=ROOT)
    os.close(writing)
    received = bytearray()
    while chunk := os.read(reading, 50_000):
        received += chunk
    os.close(reading)
    assert process.wait() == 0
    assert [item["content"].count("x") for item in json.loads(received)["data"]["items"]] == [5_000_000, 5_000_000]


def test_a_full_disk_behind_stdout_is_one_line_on_stderr(memory):
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-m", "cortex", "status", "--memory-root", str(memory)]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, cwd=ROOT)
    assert done.returncode == 1
    assert done.stderr == b"cortex: cannot write the answer: No space left on device\n"


def test_a_closed_stdout_is_one_line_on_stderr(memory):
    command = f"{sys.executable} -m cortex status --memory-root {memory} >&-"
    done = subprocess.run(["bash", "-c", command], capture_output=True, cwd=ROOT)
    assert done.returncode == 1
    assert done.stderr.count(b"\n") == 1


def test_an_interrupt_ends_with_130_and_no_trace():
    command = [sys.executable, "-m", "cortex", "remember", "-", "--adapter", "claude", "--allow-write"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT)
    _wait_until_it_reads(process.pid)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=30)
    assert (process.returncode, output, errors) == (130, b"", b"")


def _wait_until_it_reads(pid):
    """Wait until a process sleeps in a read of its standard input."""
    for _ in range(3000):
        state = Path(f"/proc/{pid}/wchan").read_text()
        if "pipe" in state:
            return
        time.sleep(0.01)
    pytest.fail("it never read its standard input")


@pytest.mark.parametrize("module", ["arguments", "reading", "envelope"])
def test_a_broken_installation_still_answers_with_an_envelope(memory, tmp_path, module):
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "sitecustomize.py").write_text(
        "import sys\n"
        "class Broken:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == 'cortex.{module}': raise ImportError('s3cret')\n"
        "sys.meta_path.insert(0, Broken())\n"
    )
    done = cortex("status", "--memory-root", memory, env={"PYTHONPATH": str(broken)})
    assert (done.returncode, done.stderr) == (1, b"")
    assert envelope(done)["error"]["code"] == "internal_error"
    assert b"s3cret" not in done.stdout
    traced = cortex("status", "--memory-root", memory, env={"PYTHONPATH": str(broken), "CORTEX_DEBUG": "1"})
    assert b"Traceback" in traced.stderr
