"""Measures `memory-health --json` as a whole process: a large memory over the floor, a small one over bare Python.

    make bench
    python benchmarks/health.py [--tree DIR --now TIME]    on another large memory

How it is measured is said in measure.py. Nothing is written into the memory.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from measure import HERE, Measured, floor, in_turn, make, mebibytes, milliseconds, show_table

COMMAND = str(Path(sys.executable).with_name("memory-health"))
DEMO_NOW = "2026-08-01T12:00:00Z"


class Compared(NamedTuple):
    """One line of the result: a command, and what it was compared with."""

    title: str
    command: Measured
    base_title: str
    base: Measured


def audit(tree: Path, now: str) -> list[str]:
    """The command line that audits a tree and changes nothing."""
    return [COMMAND, "--json", "--no-write", "--root", str(tree), "--now", now]


def large(tree: Path, now: str) -> Compared:
    """The large memory, against the floor."""
    command, base = in_turn([audit(tree, now), floor(tree)], allowed=(0, 1))  # a warning is a verdict too
    return Compared("large memory", command, "floor", base)


def start(tree: Path) -> Compared:
    """The demo's living memory, against an interpreter that does nothing."""
    command, base = in_turn([audit(tree, DEMO_NOW), [sys.executable, "-I", "-c", "pass"]])
    return Compared("demo memory", command, "bare Python", base)


def show(lines: Sequence[Compared]) -> None:
    """Print the result as a table."""
    rows = [
        (
            title,
            milliseconds(command.seconds),
            mebibytes(command.peak_mib),
            base_title,
            milliseconds(base.seconds),
            f"{command.seconds / base.seconds:.2f}",
            milliseconds(command.seconds - base.seconds),
        )
        for title, command, base_title, base in lines
    ]
    headings = ("memory-health --json on", "time", "peak", "compared with", "its time", "ratio", "more")
    show_table(headings, rows, words={"compared with"})


def main() -> None:
    """Make the memories where none is given, measure, print."""
    parser = argparse.ArgumentParser(description="Measure memory-health on a large and on a small memory.")
    parser.add_argument("--tree", type=Path, help="a large, healthy memory: the folder that holds LIFEOS/")
    parser.add_argument("--now", default="2026-08-01T12:00:00Z", help="the time at which that memory is healthy")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="memory-health-bench-") as folder:
        tree = options.tree or Path(folder) / "large"
        if options.tree is None:
            make(HERE / "make_health_tree.py", str(tree))
        small = Path(folder) / "small"
        make(HERE.parent / "examples" / "demo.py", "build", str(small))
        show([large(tree, options.now), start(small)])


if __name__ == "__main__":
    main()
