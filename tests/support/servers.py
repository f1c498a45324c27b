"""Servers of others, on the loopback, for as long as a test needs them."""

import json
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from support.programs import program

T = TypeVar("T")

PATIENCE_S = 40


def free_port() -> int:
    """Return a port that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


@contextmanager
def serving(command: Sequence[str | Path]) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server until the block ends."""
    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(timeout=PATIENCE_S)


@contextmanager
def exporter(folder: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Run a node_exporter that reads textfiles alone; give its address (host and port)."""
    command = program("prometheus-node-exporter", "node_exporter")
    address = f"127.0.0.1:{free_port()}"
    textfiles = ("--collector.textfile", f"--collector.textfile.directory={folder}")
    with serving([
        command, "--collector.disable-defaults", *textfiles, f"--web.listen-address={address}"
    ]) as process:  # fmt: skip
        yield address, process


def fetch(address: str, process: subprocess.Popen[bytes]) -> str:
    """Return what a server answers, as soon as it does."""
    return until(lambda: _fetch(address), process, "the server does not answer")


def fetch_json(address: str, process: subprocess.Popen[bytes]) -> Any:
    """Return what a server answers in JSON, as soon as it does."""
    return json.loads(fetch(address, process))


def _fetch(address: str) -> str | None:
    try:
        with urllib.request.urlopen(address, timeout=5) as answer:
            return str(answer.read().decode("utf-8"))
    except urllib.error.URLError:
        return None


def until(ask: Callable[[], T | None], process: subprocess.Popen[bytes], otherwise: str) -> T:
    """Return the first answer that is not None; a bound for programs that are not ours."""
    deadline = time.monotonic() + PATIENCE_S  # noqa: TID251
    while (answer := ask()) is None:
        assert process.poll() is None, "the server ended"
        assert time.monotonic() < deadline, otherwise  # noqa: TID251
        time.sleep(0.05)
    return answer
