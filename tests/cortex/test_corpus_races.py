"""Reading while another process swaps files and folders for links and FIFOs: nothing outside is read, nothing hangs."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest

from cortex.corpus.reader import read_corpus
from cortex.corpus.root import pin

OUTSIDE = "s3cret from outside"
# What is swapped comes last, so that the walk has long seen it when it is read.
NAMES = [*[f"{number:02d}.md" for number in range(20)], "z.md"]
# Each goes on until it is killed; between two states there is a moment in which nothing is there.
SWAPS = {
    "a file for a link": """
def swap():
    os.symlink(outside + "/z.md", "other")
    os.replace("other", "KNOWLEDGE/d/z.md")
    dwell()
    with open("other", "w") as file:
        file.write("inside")
    os.replace("other", "KNOWLEDGE/d/z.md")
    dwell()
""",
    "a file for a FIFO": """
def swap():
    os.mkfifo("other")
    os.replace("other", "KNOWLEDGE/d/z.md")
    dwell()
    with open("other", "w") as file:
        file.write("inside")
    os.replace("other", "KNOWLEDGE/d/z.md")
    dwell()
""",
    "a folder for a link": """
def swap():
    os.rename("KNOWLEDGE/d", "other")
    os.symlink(outside, "KNOWLEDGE/d")
    dwell()
    os.unlink("KNOWLEDGE/d")
    os.rename("other", "KNOWLEDGE/d")
    dwell()
""",
    "the corpus for a link": """
def swap():
    os.rename("KNOWLEDGE", "other")
    os.symlink(outside, "KNOWLEDGE")
    dwell()
    os.unlink("KNOWLEDGE")
    os.rename("other", "KNOWLEDGE")
    dwell()
""",
}
PROGRAM = """
import os, sys
os.chdir(sys.argv[1])
outside = sys.argv[2]

def dwell():
    for _ in range(os.urandom(1)[0] * 30):
        pass
{swap}
swap()
print("swapping", flush=True)
while True:
    swap()
"""


@contextmanager
def swapping(swap: str, root: Path, outside: Path) -> Iterator[None]:
    program = [sys.executable, "-IS", "-c", PROGRAM.format(swap=swap), str(root), str(outside)]
    with subprocess.Popen(program, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"swapping\n"
        try:
            yield
            assert process.poll() is None
        finally:
            process.kill()


@contextmanager
def no_hang(seconds: int) -> Iterator[None]:
    def give_up(_signal: int, _frame: FrameType | None) -> None:
        pytest.fail("the reader hangs")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("times", [200, pytest.param(10_000, marks=pytest.mark.proof)])
@pytest.mark.parametrize("swap", SWAPS.values(), ids=SWAPS.keys())
def test_whatever_is_swapped_nothing_outside_the_root_is_read_and_nothing_hangs(
    tmp_path: Path, swap: str, times: int
) -> None:
    outside, root = tmp_path / "outside", tmp_path / "root"
    for folder, text in ((outside, OUTSIDE), (outside / "d", OUTSIDE), (root / "KNOWLEDGE/d", "inside")):
        folder.mkdir(parents=True)
        for name in NAMES:
            (folder / name).write_text(text, encoding="utf-8")
    open_before = sum(1 for _ in Path("/proc/self/fd").iterdir())
    contents, kinds, done = set(), set(), 0
    with no_hang(60 + times // 10), swapping(swap, root, outside), pin(root) as pinned:
        while done < times or not kinds:  # until the swapper was seen at work, too
            done += 1
            reading = read_corpus(pinned, stop_at_first_fault=False)
            contents.update(record.content for record in reading.records)
            kinds.update(fault.kind for fault in reading.faults)
    assert contents <= {"inside"}
    assert kinds <= {"link", "special-file", "unreadable"}
    assert sum(1 for _ in Path("/proc/self/fd").iterdir()) <= open_before + 1


def test_the_signal_that_ends_a_hang_reaches_this_process() -> None:
    with pytest.raises(pytest.fail.Exception), no_hang(60):
        os.kill(os.getpid(), signal.SIGALRM)
