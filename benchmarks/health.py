"""Measures `memory-health --json` as a whole process: a large memory over the floor, a small one over bare Python.

    make bench
    python benchmarks/health.py [--tree DIR --now TIME]    on another large memory

Runs of the command and of what it is compared with take turns, and medians of seven are compared, so that other work on
the machine slows both alike. Peak memory is the largest of the seven. Nothing is written into the memory.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

HERE = Path(__file__).parent
COMMAND = str(Path(sys.executable).with_name("memory-health"))
RUNS = 7
DEMO_NOW = "2026-08-01T12:00:00Z"


class Measured(NamedTuple):
    """Of several runs of one command: median seconds, and the largest peak memory in MiB."""

    seconds: float
    peak_mib: float


class Compared(NamedTuple):
    """One line of the result: a command, and what it was compared with."""

    title: str
    command: Measured
    base_title: str
    base: Measured


def run(command: list[str]) -> Measured:
    """Run a command once, its output thrown away.

    Raises:
        SystemExit: It gave no verdict (2 may be a crash), so its time means nothing.
    """
    output = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CORTEX_")}
    began = time.perf_counter()
    process = os.posix_spawn(command[0], command, environment, file_actions=output)
    _, status, usage = os.wait4(process, 0)
    seconds = time.perf_counter() - began
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        message = f"{' '.join(command)}: exit {os.waitstatus_to_exitcode(status)}"
        raise SystemExit(message)
    # Linux counts in KiB, macOS in bytes.
    return Measured(seconds, usage.ru_maxrss / (1024 if sys.platform == "linux" else 1024 * 1024))


def compare(title: str, command: list[str], base_title: str, base: list[str]) -> Compared:
    """Measure two commands in turn, after one run of each that does not count."""
    run(command)
    run(base)
    pairs = [(run(command), run(base)) for _ in range(RUNS)]
    first, second = (
        Measured(median(each.seconds for each in runs), max(each.peak_mib for each in runs))
        for runs in zip(*pairs, strict=True)
    )
    return Compared(title, first, base_title, second)


def audit(tree: Path, now: str) -> list[str]:
    """The command line that audits a tree and changes nothing."""
    return [COMMAND, "--json", "--no-write", "--root", str(tree), "--now", now]


def large(tree: Path, now: str) -> Compared:
    """The large memory, against the floor."""
    floor = [sys.executable, "-IS", str(HERE / "floor.py"), str(tree)]
    return compare("large memory", audit(tree, now), "floor", floor)


def start(tree: Path) -> Compared:
    """The demo's living memory, against an interpreter that does nothing."""
    return compare("demo memory", audit(tree, DEMO_NOW), "bare Python", [sys.executable, "-I", "-c", "pass"])


def show(lines: Sequence[Compared]) -> None:
    """Print the result as a table."""
    from rich.box import SIMPLE_HEAD  # after the runs: what this process holds counts towards a child's peak
    from rich.console import Console
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("memory-health --json on")
    for heading in ("time", "peak", "compared with", "its time", "ratio", "more"):
        table.add_column(heading, justify="left" if heading == "compared with" else "right")
    milliseconds: Callable[[float], str] = lambda seconds: f"{seconds * 1000:.0f} ms"  # noqa: E731 - one local format
    for title, command, base_title, base in lines:
        table.add_row(
            title,
            milliseconds(command.seconds),
            f"{command.peak_mib:.0f} MiB",
            base_title,
            milliseconds(base.seconds),
            f"{command.seconds / base.seconds:.2f}",
            milliseconds(command.seconds - base.seconds),
        )
    Console(width=100, highlight=False).print(table)


def make_tree(script: Path, *arguments: str) -> None:
    """Run one of our own generators in a process of its own."""
    subprocess.run([sys.executable, script, *arguments], check=True)


def main() -> None:
    """Make the memories where none is given, measure, print."""
    parser = argparse.ArgumentParser(description="Measure memory-health on a large and on a small memory.")
    parser.add_argument("--tree", type=Path, help="a large, healthy memory: the folder that holds LIFEOS/")
    parser.add_argument("--now", default="2026-08-01T12:00:00Z", help="the time at which that memory is healthy")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="memory-health-bench-") as folder:
        tree = options.tree or Path(folder) / "large"
        if options.tree is None:
            make_tree(HERE / "make_health_tree.py", str(tree))
        small = Path(folder) / "small"
        make_tree(HERE.parent / "examples" / "demo.py", "build", str(small))
        show([large(tree, options.now), start(small)])


if __name__ == "__main__":
    main()
