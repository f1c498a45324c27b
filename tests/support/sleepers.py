"""A memory that sleeps: transcripts made to measure, the hooks of a host, and what health says of it all."""

import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from support.running import run
from support.stores import AGENT, OPERATOR, Memory, Said

from cortex.arguments import Host
from cortex.cli import answer
from policies.timestamps import format_instant

MINUTE = 60_000
HOUR = 60 * MINUTE
DAY = 24 * HOUR
FIXTURE = Path(__file__).parent.parent / "data" / "transcripts"
REJECTED = "The user doesn't want to proceed with this tool use. The tool use was rejected"
REVIEWER = "reviewer-runs.jsonl"


def later(memory: Memory, milliseconds: int) -> Memory:
    """The same memory, so much later."""
    return memory._replace(now=memory.now + milliseconds)


def line(kind: str, uuid: str, t: int, content: Any, session: str = "s1", **more: Any) -> dict[str, Any]:
    """A line of a transcript."""
    message = {"content": content}
    return {
        "type": kind, "uuid": uuid, "sessionId": session, "timestamp": format_instant(t), "message": message, **more
    }  # fmt: skip


def calls(tool: str, count: int, t: int, error: str | None = None, name: str = "c") -> list[dict[str, Any]]:
    """Lines of so many calls of a tool, a second apart, all of them failing where there is an error."""
    lines = []
    for number in range(count):
        key, at = f"{name}-{tool}-{number}", t + 1000 * number
        lines.append(line("assistant", f"a-{key}", at, [{"type": "tool_use", "id": key, "name": tool, "input": {}}]))
        result: dict[str, Any] = {"type": "tool_result", "tool_use_id": key, "content": error or "fine"}
        if error is not None:
            result["is_error"] = True
        lines.append(line("user", f"u-{key}", at + 10, [result]))
    return lines


def write_lines(path: Path, *lines: dict[str, Any] | str) -> str:
    """Write a transcript; return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    texts = (text if isinstance(text, str) else json.dumps(text, ensure_ascii=False) for text in lines)
    path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return str(path)


def failing_session(folder: Path, t: int) -> str:
    """A transcript of one tool that fails three times."""
    return write_lines(folder / "session.jsonl", *calls("Fetch", 3, t, "no route to host"))


def consolidate(memory: Memory, *paths: str) -> Said:
    """Consolidate some transcripts by hand."""
    named = [word for path in paths for word in ("--transcripts", path)]
    return memory.call("sleep", "consolidate", *named, *OPERATOR)


def tick(memory: Memory, *words: str) -> dict[str, Any]:
    """Do what is due; return the answer's data."""
    return memory.call("sleep", "tick", *words, *AGENT).data


def configure(memory: Memory, key: str, value: str) -> None:
    """Set a parameter."""
    assert memory.call("sleep", "config", key, value, *OPERATOR).exit == 0


def move(memory: Memory) -> None:
    """Let the session move: the wake signal."""
    assert memory.call("sleep", "activity", "--why", "session-step", *AGENT).exit == 0


def hook(memory: Memory, event: str, message: object, *words: str) -> str:
    """Call a hook in this process; return what the host would inject. It exits 0 whatever happens."""
    data = message if isinstance(message, bytes) else json.dumps(message).encode()
    host = Host({"HOME": "/nonexistent"}, lambda: memory.now, str(memory.root))
    with patch.object(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data))):
        output, status = answer(["hook", event, *(words or AGENT)], host)
    assert status == 0
    return output.decode()


def cards(memory: Memory, *words: str) -> dict[str, dict[str, Any]]:
    """Return the cards by id."""
    return {card["id"]: card for card in memory.call("cards", "list", *words).data["items"]}


def state(memory: Memory) -> dict[str, Any]:
    """Return the state as it lies on the disk."""
    return json.loads((memory.root / "CORTEX" / "state.json").read_bytes())


def reviewer(memory: Memory) -> tuple[str, list[str]]:
    """Return what health says of the reviewer: the status, and its findings."""
    at = str(memory.now)
    report = run("--memory-root", memory.root, "--now", at, "--no-write", "--json").report
    status = next(check["status"] for check in report["checks"] if check["id"] == "reviewer")
    return status, [finding["id"] for finding in report["findings"] if finding["check"] == "reviewer"]


def run_folders(memory: Memory) -> list[str]:
    """Return the names of the run folders that are there."""
    folder = memory.root / "OBSERVABILITY" / "reviewer-runs"
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []
