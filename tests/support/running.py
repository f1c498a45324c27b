"""Runs memory-health, in this process or in one of its own.

No variable of the caller's environment reaches a run, except what makes Python find its packages.
"""

import io
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

from support.reports import checked_report

from healthcheck.cli import main

COMMAND = Path(sys.executable).with_name("memory-health")
KEPT_VARIABLES = ("PATH", "VIRTUAL_ENV", "PYTHONPATH")


class Run(NamedTuple):
    """What a run answered: its exit code and its two streams."""

    exit_code: int
    stdout: str
    stderr: str

    @property
    def report(self) -> dict[str, Any]:
        """The one JSON document on stdout, checked against the published schema."""
        return checked_report(self.stdout)

    @property
    def finding_ids(self) -> list[str]:
        """The ids of the report's findings, in its order."""
        return [finding["id"] for finding in self.report["findings"]]


def clean_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return an environment without anything that could change a verdict, with `extra` on top."""
    kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    return {**kept, "HOME": "/nonexistent", "LANG": "C.UTF-8", **(extra or {})}


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextmanager
def _signal_handlers() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def run(*arguments: str | Path, environment: Mapping[str, str] | None = None) -> Run:
    """Run the command in this process: fast, and as the user that this process is at the moment."""
    stdout, stderr = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    with (
        _environment(clean_environment(environment)),
        _signal_handlers(),
        redirect_stdout(stdout),
        redirect_stderr(stderr),
    ):
        code = main([str(argument) for argument in arguments])
    for stream in (stdout, stderr):
        stream.flush()
    out, err = (stream.buffer.getvalue().decode("utf-8") for stream in (stdout, stderr))  # type: ignore[attr-defined]
    return Run(int(code), out, err)


def run_process(
    *arguments: str | Path,
    environment: Mapping[str, str] | None = None,
    before: str | None = None,
    decode_errors: str = "strict",
) -> Run:
    """Run the command as a process of its own. `before` is bash to run first in the same process (`umask 077`)."""
    command = [str(COMMAND), *map(str, arguments)]
    if before is not None:
        command = ["bash", "-c", f'{before}; exec "$0" "$@"', *command]
    finished = subprocess.run(command, env=clean_environment(environment), capture_output=True, check=False, timeout=60)
    out, err = (stream.decode("utf-8", decode_errors) for stream in (finished.stdout, finished.stderr))
    return Run(finished.returncode, out, err)


# A small parent: what a process inherits before its exec counts as its own peak, and pytest is large.
MEASURING = """
import os, sys
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(child, 0)
print(usage.ru_maxrss * 1024, file=sys.stderr)
sys.exit(os.waitstatus_to_exitcode(status))
"""


def run_measured(*arguments: str | Path) -> tuple[Run, int]:
    """Run the command as a process of its own; return its answer and its peak resident memory in bytes."""
    finished = subprocess.run(
        [sys.executable, "-IS", "-c", MEASURING, str(COMMAND), *map(str, arguments)],
        env=clean_environment(),
        capture_output=True,
        check=False,
        timeout=60,
    )
    *lines, peak = finished.stderr.decode("utf-8").splitlines()
    return Run(finished.returncode, finished.stdout.decode("utf-8"), "\n".join(lines)), int(peak)


def run_sabotaged(prelude: str, *arguments: str | Path, environment: Mapping[str, str] | None = None) -> Run:
    """Run the command in a new interpreter, after Python code that breaks something of the operating system's."""
    program = f"{prelude}\nimport sys\nfrom healthcheck.cli import main\nsys.exit(main(sys.argv[1:]))\n"
    finished = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        env=clean_environment(environment), capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    return Run(finished.returncode, finished.stdout.decode("utf-8"), finished.stderr.decode("utf-8"))
