"""Speed and memory of reading agent transcripts, against a floor that reads, hashes and decodes the same file.

    python benchmarks/transcripts.py [MEGABYTES]

Three files are made of the fixture's sessions, with fresh ids: as they are (short lines), with results as long as real
ones, and one of a few lines of several megabytes. Each is read by a process of its own; medians of three runs, in turn.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

FIXTURE = Path(__file__).parent.parent / "tests" / "data" / "transcripts"
RUNS = 3
FLOOR = """
import sys
from hashlib import sha256
digest, characters = sha256(), 0
with open(sys.argv[1], "rb", buffering=0) as file:
    while data := file.read(1 << 20):
        digest.update(data)
        characters += len(data.decode("utf-8", "ignore"))
print(characters)
"""
OURS = """
import sys
from cortex.sleep.transcripts import Seen, read_transcripts
counts = read_transcripts(sys.argv[1:], Seen(), 400).counts
print(counts.records, counts.calls, counts.malformed)
"""
IDS = ("uuid", "parentUuid", "sessionId", "id", "tool_use_id", "sourceToolAssistantUUID", "messageId", "leafUuid")
Record = dict[str, Any]


def main() -> int:
    """Make the files, measure, print."""
    size = int(sys.argv[1] if len(sys.argv) > 1 else 300) * 1_000_000
    fixture = [str(path) for path in sorted(FIXTURE.glob("*.jsonl"))]
    seconds, _, answer = measure([sys.executable, "-c", OURS, *fixture])
    print(f"the fixture: {seconds:.3f} s with the interpreter's start ({answer})")
    with tempfile.TemporaryDirectory() as folder:
        for name, lengthen in SHAPES.items():
            report(name, make(Path(folder) / "session.jsonl", size, lengthen))
    return 0


def report(name: str, path: Path) -> None:
    """Measure floor and reader on one file, in turn, and print a line."""
    pairs = []
    for _ in range(RUNS):
        floor = measure([sys.executable, "-IS", "-c", FLOOR, str(path)])
        pairs.append((floor, measure([sys.executable, "-c", OURS, str(path)])))
    floor_s = median(floor[0] for floor, _ in pairs)
    ours_s = median(ours[0] for _, ours in pairs)
    peak = max(ours[1] for _, ours in pairs)
    megabytes = path.stat().st_size / 1e6
    print(
        f"{name}, {megabytes:.0f} MB: {ours_s:.2f} s, {ours_s / floor_s:.2f} x the floor of {floor_s:.2f} s, "
        f"{peak / 1024:.0f} MiB ({pairs[0][1][2]})"
    )


def measure(command: list[str]) -> tuple[float, int, str]:
    """Return seconds, peak KiB and output of a process."""
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=FIXTURE.parent.parent.parent)
    output = process.stdout.read() if process.stdout else ""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command[:3]} failed")
    return time.perf_counter() - begin, usage.ru_maxrss, output.strip()


def make(path: Path, size: int, lengthen: Callable[[Record, random.Random], None]) -> Path:
    """Write a transcript of about `size` bytes at `path`."""
    chance = random.Random(20)  # noqa: S311 # the same file every time
    templates = list(records())
    with path.open("w", encoding="utf-8") as file:
        copy = 0
        while file.tell() < size:
            copy += 1
            for template in templates:
                record = renamed(template, f"{copy:x}")
                lengthen(record, chance)
                file.write(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n")
                if file.tell() >= size:
                    break
    return path


def records() -> Iterator[Record]:
    """Yield the records of the fixture that parse."""
    for path in sorted(FIXTURE.glob("*.jsonl")):
        for line in path.read_bytes().split(b"\n"):
            try:
                yield json.loads(line)
            except ValueError:
                continue


def renamed(value: Any, suffix: str) -> Any:
    """Return a copy of a JSON value with ids of its own."""
    if isinstance(value, list):
        return [renamed(element, suffix) for element in value]
    if not isinstance(value, dict):
        return value
    return {
        key: f"{member}-{suffix}" if key in IDS and isinstance(member, str) else renamed(member, suffix)
        for key, member in value.items()
    }


def results(record: Record) -> Iterator[Record]:
    """Yield the results in a record."""
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    for part in content if isinstance(content, list) else []:
        if part.get("type") == "tool_result":
            yield part


def as_they_are(_record: Record, _chance: random.Random) -> None:
    """Short lines: nothing but what the fixture has kept."""


def as_real_ones(record: Record, chance: random.Random) -> None:
    """Results of a few kilobytes, twice: in the message and beside it; paths and versions in every line."""
    record.update(cwd="/home/somebody/projects/something", gitBranch="main", userType="external")
    for part in results(record):
        text = 'const value = "größe";\n' * int(chance.paretovariate(1.1) * 40 % 20_000)
        if not part.get("is_error"):
            part["content"] = text
            record["toolUseResult"] = {"stdout": text}


def with_images(record: Record, chance: random.Random) -> None:
    """One result in ten is an image of some megabytes."""
    for part in results(record):
        if not part.get("is_error") and chance.random() < 0.1:
            part["content"] = [{"type": "image", "source": {"data": "iVBORw0K" * chance.randrange(250_000, 800_000)}}]


SHAPES = {"short lines": as_they_are, "real lines": as_real_ones, "images": with_images}

if __name__ == "__main__":
    raise SystemExit(main())
