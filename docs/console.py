"""Runs the `cortex` examples in a page of documentation, so that it shows what they print.

An example is a `console` block in which every command begins with `$ cortex `; what follows a command is its output,
and `# exit N` where it was refused. Commands run in the repository's root, in process, in an empty environment, by
one clock.
"""

import os
import re
import shlex
from pathlib import Path

from cortex.arguments import Host
from cortex.cli import answer

ROOT = Path(__file__).parent.parent
NOW = 1_786_363_200_000  # 2026-08-10T12:00:00Z
_BLOCK = re.compile(r"^```console\n(\$ cortex .*?)^```$", re.DOTALL | re.MULTILINE)
_PROMPT = "$ cortex "


def with_outputs(page: str) -> str:
    """Return the text of a page with every example's output as it is today."""
    return _BLOCK.sub(lambda block: f"```console\n{_run_block(block[1])}```", page)


def _run_block(block: str) -> str:
    commands = [line.removeprefix(_PROMPT) for line in block.splitlines() if line.startswith(_PROMPT)]
    return "".join(f"{_PROMPT}{command}\n{_run(command)}" for command in commands)


def _run(command: str) -> str:
    here = Path.cwd()
    os.chdir(ROOT)
    try:
        output, status = answer(shlex.split(command), Host({"HOME": "/home/you"}, lambda: NOW))
    finally:
        os.chdir(here)
    text = output.decode().replace(f"{ROOT}/", "/home/you/memory-health/")
    return text + (f"# exit {int(status)}\n" if status else "")
