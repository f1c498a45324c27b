"""Asking a memory in process, as the command line does."""

import json
from pathlib import Path

from cortex.arguments import Host
from cortex.cli import answer

NOW = 1_786_363_200_000  # 2026-08-10T12:00:00Z
READS = (
    ("status",),
    ("search", "oak"),
    ("timeline", "--anchor", "2026-01-01"),
    ("get", "a"),
    ("export", "a"),
    ("rebuild", "--from-canonical"),
    ("check",),
)


def ask(root, *words):
    """Return (exit status, envelope) of one call on the memory at `root`, at NOW."""
    output, status = answer([*words, "--memory-root", str(root)], Host({}, lambda: NOW))
    return int(status), json.loads(output)


def data(root, *words):
    """Return the data of a call that succeeds."""
    status, envelope = ask(root, *words)
    assert (status, envelope["error"]) == (0, None)
    return envelope["data"]


def ids(root, *words):
    """Return the ids of the items of a call that succeeds."""
    return [item["id"] for item in data(root, *words)["items"]]


def write(root: Path, **files) -> Path:
    """Write files below KNOWLEDGE/, `a_md` as a.md; text or bytes. Return the root."""
    for name, content in files.items():
        path = root / "KNOWLEDGE" / name.replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return root
