"""The page on the index shows what its commands print: they are run, in order, on a copy of the example memory."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/index.md"
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
# A command with its continued lines, and what it prints.
SAID = re.compile(r"^\$ ((?:[^\n]*\\\n)*[^\n]*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
# An index bears the times of its files, so its hash is another one on every copy.
HASH = re.compile(r"[0-9a-f]{64}")
LEFT_OUT = "[…]\n"


def pattern(text: str) -> str:
    """Return what matches an output; the mark for lines that are left out stands for any."""
    return "".join(".*" if line == LEFT_OUT else re.escape(line) for line in text.splitlines(keepends=True))


def test_the_page_shows_what_the_commands_print(tmp_path: Path) -> None:
    environment = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "LC_ALL": "C.UTF-8",
        "CORTEX_MEMORY_ROOT": str(tmp_path / "notes"),
        "CORTEX_HEALTH_NOW": "2026-08-10T12:00:00Z",
    }
    examples = [SAID.findall(block) for block in BLOCK.findall(PAGE.read_text("utf-8"))]
    assert sum(map(len, examples)) > 10
    for command, shown in (each for block in examples for each in block):
        finished = subprocess.run(
            ["bash", "-c", command], cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            encoding="utf-8", timeout=60,
        )  # fmt: skip
        printed = HASH.sub("#", finished.stdout.replace(str(tmp_path), "/home/you"))
        assert re.fullmatch(pattern(HASH.sub("#", shown)), printed, re.DOTALL), f"{command}\n{printed}"
