"""How long a write takes: `remember` as a process, and many in one process beside what the disk itself can do.

    python benchmarks/writes.py

Prints a table: a new note as a process over a bare interpreter of the same environment, and writes a second through the
adapter beside a bare loop of write, fsync, rename, fsync.
"""

import json
import os
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from measure import run

from cortex.adapter import create_adapter

PROCESSES, WRITES = 15, 1000
RUN_CORTEX = "import sys; sys.path.insert(0, sys.argv.pop(1)); from cortex.cli import main; sys.exit(main())"
ROOT = str(Path(__file__).parent.parent)
ALLOWED = {"allow_write": True}


def process_ms(memory: Path) -> tuple[float, float]:
    """Return the medians of a bare interpreter and of `remember` of a new note, in milliseconds."""
    bare, notes = [], []
    for number in range(PROCESSES):
        item = json.dumps({"type": "idea", "title": f"Process {number}", "content": "x" * 500})
        words = ["remember", item, "--adapter", "claude", "--allow-write", "--memory-root", str(memory)]
        first = run([sys.executable, "-I", "-c", "pass"])
        second = run([sys.executable, "-I", "-c", RUN_CORTEX, ROOT, *words])
        bare.append(first.seconds * 1000)
        notes.append(second.seconds * 1000)
    return median(bare), median(notes)


def adapter_rate(memory: Path) -> float:
    """Return new notes a second, through the adapter in this process."""
    adapter = create_adapter("claude", str(memory))
    began = time.perf_counter()
    for number in range(WRITES):
        status, envelope = adapter.remember({"type": "idea", "title": f"Note {number}", "content": "x" * 500}, ALLOWED)
        if status:
            raise SystemExit(str(envelope["error"]))
    return WRITES / (time.perf_counter() - began)


def disk_rate(folder: Path) -> float:
    """Return bare atomic writes a second: write, fsync, rename, fsync of the folder."""
    parent = os.open(folder, os.O_RDONLY)
    began = time.perf_counter()
    for number in range(WRITES):
        file = os.open(folder / ".new", os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        os.write(file, b"x" * 700)
        os.fsync(file)
        os.close(file)
        (folder / ".new").rename(folder / str(number))
        os.fsync(parent)
    seconds = time.perf_counter() - began
    os.close(parent)
    return WRITES / seconds


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as temporary:
        memory, bare = Path(temporary, "MEMORY"), Path(temporary, "bare")
        memory.joinpath("KNOWLEDGE").mkdir(parents=True)
        bare.mkdir()
        floor, note = process_ms(memory)
        disk, ours = disk_rate(bare), adapter_rate(memory)
    print("| what | figure |\n| --- | --- |")
    print(f"| bare interpreter | {floor:.0f} ms |")
    print(f"| `remember` of a new note | {note:.0f} ms (+{note - floor:.0f} ms) |")
    print(f"| bare write, fsync, rename, fsync | {disk:.0f} a second |")
    print(f"| `remember` through the adapter | {ours:.0f} a second ({ours / disk:.2f} of it) |")


if __name__ == "__main__":
    main()
