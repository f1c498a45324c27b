"""Many processes write at once, readers beside them, and some are killed: nothing is lost, nothing is there twice."""

import json
import os
import random
import signal
from contextlib import suppress
from pathlib import Path

import pytest
from support.stores import IDEA, PROPOSAL, Memory, laid_out

from cortex.adapter import create_adapter

SHARED = {**IDEA, "title": "Shared"}
ALLOWED = {"allow_write": True}


def write_all(root: Path, writer: int, count: int, told: int) -> None:
    """Write `count` of each kind, and tell of each through a pipe once it was acknowledged."""
    adapter = create_adapter("claude", str(root))
    for number in range(count):
        mark = f"w{writer}n{number}z"  # none is part of another
        kinds = (
            ("note", adapter.remember, {**IDEA, "title": f"Note {mark}", "content": mark}),
            ("shared", adapter.remember, {**SHARED, "content": f"part {mark}."}),
            ("entry", adapter.remember, {"type": "memory", "actor": "assistant", "content": f"RULE: {mark}"}),
            ("proposal", adapter.propose, {**PROPOSAL, "edit": f"edit {mark}."}),
        )
        for kind, act, item in kinds:
            status, envelope = patiently(act, item)
            if kind == "entry" and status == 5 and "more than 48" in envelope["error"]["message"]:
                continue
            if status != 0:
                os.write(told, f"failed {kind} {mark} {json.dumps(envelope)}\n".encode())
                continue
            os.write(told, f"{kind} {mark}\n".encode())


def patiently(act, item):
    """Do a write; where a lock was busy for too long (on a loaded machine), nothing was written: do it again."""
    while True:
        status, envelope = act(item, ALLOWED)
        if status != 5 or "busy" not in envelope["error"]["message"]:
            return status, envelope


def read_all(root: Path, told: int) -> None:
    """Read until the parent is done with us; tell of every corpus that was not sound."""
    adapter = create_adapter("codex", str(root))
    while os.getppid() != 1:
        status, envelope = adapter.search("note")
        if status != 0:
            os.write(told, f"unsound {json.dumps(envelope)}\n".encode())


def start(act, *arguments) -> int:
    child = os.fork()
    if child == 0:
        try:
            act(*arguments)
        finally:
            os._exit(0)
    return child


def at_once(root: Path, writers: int, count: int, kills: int, seed: int) -> list[str]:
    """Run writers and two readers; kill a random writer `kills` times and start another in its place."""
    pipe = os.pipe()
    readers = [start(read_all, root, pipe[1]) for _ in range(2)]
    running = {start(write_all, root, writer, count, pipe[1]): writer for writer in range(writers)}
    os.set_blocking(pipe[0], False)
    lines = bytearray()
    choose, following = random.Random(seed), writers
    while running:
        child, _ = os.waitpid(-1, os.WNOHANG)
        running.pop(child, None)
        before = len(lines)
        with suppress(BlockingIOError):
            lines += os.read(pipe[0], 1 << 16)
        if kills and len(lines) > before and running:
            kills -= 1
            victim = choose.choice(sorted(running))
            os.kill(victim, signal.SIGKILL)
            running[start(write_all, root, following, count, pipe[1])] = following
            following += 1
    for reader in readers:
        os.kill(reader, signal.SIGKILL)
        os.waitpid(reader, 0)
    os.close(pipe[1])
    os.set_blocking(pipe[0], True)
    while part := os.read(pipe[0], 1 << 16):
        lines += part
    os.close(pipe[0])
    return lines.decode().splitlines()


def check(memory: Memory, lines: list[str]) -> None:
    """What was acknowledged is there, once."""
    faults = [line for line in lines if line.startswith(("failed", "unsound"))]
    assert faults == [], faults[0]
    acknowledged = {kind: {line.split()[1] for line in lines if line.startswith(kind)} for kind in _PARTS}
    for kind, parts in _PARTS.items():
        text = parts(memory)
        for mark in acknowledged[kind]:
            assert text.count(mark) == 1, f"{kind} {mark} is there {text.count(mark)} times"
    assert memory.call("check").exit == 0
    for log in ("pending-proposals.jsonl", "memory-writes.jsonl", "tier-b-writes.jsonl"):
        assert memory.rows(log)


def _notes(memory: Memory) -> str:
    texts = (path.read_text() for path in (memory.root / "KNOWLEDGE/Ideas").glob("note-*.md"))
    return "".join(f"[{text.splitlines()[-1]}]" for text in texts)


# Of each kind, the text in which each acknowledged mark stands once.
_PARTS = {
    "note": _notes,
    "shared": lambda memory: (memory.root / "KNOWLEDGE/Ideas/shared.md").read_text(),
    "entry": lambda memory: (memory.home / "USER/DIGITAL_ASSISTANT/DA_MEMORY.md").read_text(),
    "proposal": lambda memory: "".join(row["edit"] for row in memory.rows("pending-proposals.jsonl")),
}


def test_eight_writers_and_two_readers_lose_nothing(tmp_path):
    memory = laid_out(tmp_path)
    check(memory, at_once(memory.root, 8, 3, 0, 1))


def test_writers_that_are_killed_lose_nothing_that_was_acknowledged(tmp_path):
    memory = laid_out(tmp_path)
    check(memory, at_once(memory.root, 4, 3, 6, 2))


@pytest.mark.proof
def test_eight_writers_of_two_hundred_each_lose_nothing(tmp_path):
    memory = laid_out(tmp_path)
    check(memory, at_once(memory.root, 8, 200, 0, 3))


@pytest.mark.proof
def test_two_hundred_kills_lose_nothing_that_was_acknowledged(tmp_path):
    memory = laid_out(tmp_path)
    check(memory, at_once(memory.root, 8, 20, 200, 4))
