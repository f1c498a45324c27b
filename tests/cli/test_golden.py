"""Golden cases: each file in `cases/` is a transcript of commands on the all-green memory, compared to the last byte.

    # why
    ! bash that prepares the memory (folder R) and prints nothing
    $ command
    > stdout, a line each
    2> stderr, a line each
    exit code

Every case begins with a fresh memory in R, below a temporary folder that is shown as {TMP}. `NOW`, `O` and `HOME` are
set. UPDATE_GOLDEN=1 writes anew what the commands say: read the difference before committing it.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.health_tree import NOW_TEXT, write_h0

CASES = sorted(Path(__file__).with_name("cases").glob("*.case"))


def run(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder / "nobody"),
        "LC_ALL": "C.UTF-8",
        "COLUMNS": "100",
        "TZ": "Pacific/Auckland",
        "NOW": NOW_TEXT,
        "O": "R/LIFEOS/MEMORY/OBSERVABILITY",
    }
    return subprocess.run(["bash", "-c", line], cwd=folder, env=environment, capture_output=True, text=True, timeout=60)


def replay(case: str, folder: Path) -> Iterator[str]:
    """Yield the transcript that the commands of a case make now."""
    for line in case.splitlines():
        if line.startswith("! "):
            prepared = run(line[2:], folder)
            assert (prepared.returncode, prepared.stdout, prepared.stderr) == (0, "", "")
        if line.startswith("$ "):
            yield line
            finished = run(line[2:], folder)
            for mark, stream in (("> ", finished.stdout), ("2> ", finished.stderr)):
                yield from (f"{mark}{said}".rstrip() for said in stream.replace(str(folder), "{TMP}").splitlines())
            yield f"exit {finished.returncode}"
        elif not line.startswith((">", "2>", "exit ")):
            yield line


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_a_command_says_what_it_said(path: Path, tmp_path: Path) -> None:
    write_h0(tmp_path / "R")
    expected = path.read_text("utf-8")
    transcript = "".join(f"{line}\n" for line in replay(expected, tmp_path))
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(transcript, "utf-8")
    assert transcript == expected


def test_there_are_cases() -> None:
    assert len(CASES) >= 10
