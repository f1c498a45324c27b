"""What the benchmarks share: run one process, compare commands in turn, take medians, print a table.

Rules:
- A whole process is measured, from spawn to exit: wall time, CPU time (its children's too) and peak memory.
- Runs of what is compared take turns, after one of each that does not count, so that other work on the machine slows
  all alike. Times are medians, peak memory is the largest.
- The run that does not count leaves the bytecode that an installed program has, also where the environment forbids it.
- This process stays small: on Linux, what a parent holds counts towards the peak of what it starts. Heavy libraries
  are imported after the runs.
"""

import os
import subprocess
import sys
import time
from collections.abc import Collection, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

HERE = Path(__file__).parent
FLOOR = HERE / "floor.py"
RUNS = 7
# Linux counts a peak in KiB, macOS in bytes.
_PEAKS_A_MIB = 1024 if sys.platform == "linux" else 1024 * 1024


class Measured(NamedTuple):
    """One run, or several in one: wall seconds, the largest peak memory in MiB, CPU seconds, the last exit status.

    The peak is that of the largest single process: a child that was forked is not added to its parent.
    """

    seconds: float
    peak_mib: float
    cpu_seconds: float
    status: int


def run(command: list[str], allowed: Collection[int] = (0,)) -> Measured:
    """Run a command once, its output thrown away.

    Raises:
        SystemExit: Its exit status (a signal as a negative number) is none of `allowed`, so its time means nothing.
    """
    output = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    environment = {name: value for name, value in os.environ.items() if _is_kept(name)}
    began = time.perf_counter()
    process = os.posix_spawn(command[0], command, environment, file_actions=output)
    _, status, usage = os.wait4(process, 0)
    seconds = time.perf_counter() - began
    code = os.waitstatus_to_exitcode(status)
    if code not in allowed:
        message = f"{' '.join(command)}: exit {code}"
        raise SystemExit(message)
    return Measured(seconds, usage.ru_maxrss / _PEAKS_A_MIB, usage.ru_utime + usage.ru_stime, code)


def _is_kept(name: str) -> bool:
    """Tell whether a variable of the environment is handed on: those that change what is measured are not."""
    return name != "PYTHONDONTWRITEBYTECODE" and not name.startswith("CORTEX_")


def in_turn(commands: Sequence[list[str]], runs: int = RUNS, allowed: Collection[int] = (0,)) -> list[Measured]:
    """Measure several commands in turn; return one result for each, in order. `allowed` is as for `run`."""
    for command in commands:
        run(command, allowed)
    rounds = [[run(command, allowed) for command in commands] for _ in range(runs)]
    return [summarise(results) for results in zip(*rounds, strict=True)]


def summarise(results: Sequence[Measured]) -> Measured:
    """Return several runs of one command as one: medians of the times, the largest peak."""
    return Measured(
        median(each.seconds for each in results),
        max(each.peak_mib for each in results),
        median(each.cpu_seconds for each in results),
        results[-1].status,
    )


def floor(root: Path) -> list[str]:
    """Return the command that starts Python, reads every note and row below `root`, hashes and decodes it."""
    return [sys.executable, "-IS", str(FLOOR), str(root)]


def make(script: Path, *arguments: str) -> None:
    """Run one of our own generators in a process of its own."""
    subprocess.run([sys.executable, script, *arguments], check=True)


def milliseconds(seconds: float) -> str:
    """Return a time as the tables show it."""
    return f"{seconds * 1000:.0f} ms"


def mebibytes(size: float) -> str:
    """Return a size in MiB as the tables show it."""
    return f"{size:.0f} MiB"


def show_table(headings: Sequence[str], rows: Sequence[Sequence[str]], words: Collection[str] = ()) -> None:
    """Print a table: the first column and those of `words` to the left, figures to the right."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for number, heading in enumerate(headings):
        table.add_column(heading, justify="left" if number == 0 or heading in words else "right")
    for row in rows:
        table.add_row(*row)
    Console(width=120, highlight=False, markup=False).print(table)
