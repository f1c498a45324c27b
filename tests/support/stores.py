"""A memory that is written to by the real commands, in this process: through the same code as the command line."""

import io
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple
from unittest.mock import patch

from cortex.arguments import Host
from cortex.cli import answer
from policies.timestamps import parse_timestamp

NOW = parse_timestamp("2026-08-01T12:00:00Z") or 0
AGENT = ("--adapter", "claude", "--allow-write")
OPERATOR = ("--operator", "ada", "--allow-write")
IDEA = {"type": "idea", "title": "Tide clock", "content": "One hand is enough."}
PERSON = {"type": "knowledge", "entity_type": "person", "name": "Ferry office", "content": "Opens at seven."}
RULE = {"type": "memory", "actor": "principal", "content": "RULE: answer first"}
PROPOSAL = {
    "type": "proposal",
    "target_file": "USER/DEFINITIONS.md",
    "edit": "Slack: the hour in which the tide stands.",
    "confidence": 0.5,
    "rationale": "It was asked for three times.",
}
# What every type needs, and the command that takes it.
ITEMS = {"memory": RULE, "idea": IDEA, "knowledge": PERSON, "proposal": PROPOSAL}


class Said(NamedTuple):
    """What a call answered."""

    exit: int
    envelope: dict[str, Any]

    @property
    def data(self) -> dict[str, Any]:
        """The data of a call that was done."""
        assert self.envelope["ok"], self.envelope["error"]
        return self.envelope["data"]

    @property
    def refusal(self) -> tuple[int, str]:
        """The exit status and the code of a call that was refused."""
        assert not self.envelope["ok"], self.envelope["data"]
        return self.exit, self.envelope["error"]["code"]

    @property
    def message(self) -> str:
        """What a refused call said."""
        return self.envelope["error"]["message"]


class Memory(NamedTuple):
    """A memory root, and home around it."""

    root: Path
    home: Path
    now: int = NOW

    def call(self, *words: str, environment: Mapping[str, str] | None = None, stdin: bytes = b"") -> Said:
        """Make one call; `now` stands still unless the words say otherwise."""
        host = Host({"HOME": "/nonexistent", **(environment or {})}, lambda: self.now, str(self.root))
        with patch.object(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(stdin))):
            output, status = answer(list(words), host)
        return Said(status, json.loads(output))

    def remember(self, item: object, *words: str) -> Said:
        """Remember an item as an agent that may."""
        return self.call("remember", json.dumps(item), *AGENT, *words)

    def propose(self, item: object, *words: str) -> Said:
        """Propose a change as an agent that may."""
        return self.call("propose", json.dumps(item), *AGENT, *words)

    def write(self, item: Mapping[str, Any], *words: str) -> Said:
        """Remember or propose, as the item's type has it."""
        return self.propose(item, *words) if item.get("type") == "proposal" else self.remember(item, *words)

    def decide(self, identity: str, verdict: str, *words: str) -> Said:
        """Decide a proposal as an operator who has just looked at it."""
        digest = self.call("proposals", "show", identity).data["digest"]
        return self.call("proposals", "decide", identity, verdict, "--digest", digest, *OPERATOR, *words)

    def records(self) -> int:
        """Return how many records `status` counts."""
        return int(self.call("status").data["canonical"]["records"])

    def rows(self, log: str) -> list[dict[str, Any]]:
        """Return the rows of a log below OBSERVABILITY; each of its lines is one."""
        path = self.root / "OBSERVABILITY" / log
        return [json.loads(line) for line in path.read_bytes().split(b"\n") if line] if path.exists() else []


def laid_out(folder: Path) -> Memory:
    """Lay out a memory by the real command, with home around it."""
    memory = Memory(folder / "MEMORY", folder)
    assert memory.call("init", str(memory.root), *OPERATOR).exit == 0
    return memory


def bare(folder: Path) -> Memory:
    """A folder that is a memory root and home at once, with nothing in it."""
    folder.mkdir(parents=True, exist_ok=True)
    return Memory(folder, folder)


def texts_below(folder: Path) -> str:
    """Return everything that lies below a folder as one text: names, links and bytes."""
    parts = []
    for path in sorted(folder.rglob("*")):
        parts.append(str(path))
        if path.is_file() and not path.is_symlink():
            parts.append(path.read_bytes().decode("utf-8", "replace"))
    return "\n".join(parts)
