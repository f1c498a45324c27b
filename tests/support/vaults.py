"""Vaults and levelled memories to forget in, made and asked through the real commands."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from support.stores import NOW, OPERATOR, Memory, Said

from policies.timestamps import format_instant

DAY = 86_400_000
# Of each language: the folder of the levels, the folders' suffixes, the archive.
NAMES = {
    "记忆": ("-核心", "-长期", "-语义", "-情节", "-账本"),
    "memory": ("_core", "_long", "_semantic", "_episodic", ""),
}


def ago(days: float, now: int = NOW) -> str:
    """Return the instant so many days before `now`, as written."""
    return format_instant(now - int(days * DAY))


def note(header: str, body: str = "Text.\n") -> bytes:
    """Return a note with this header, a line end behind each of its lines."""
    return f"---\n{header}---\n{body}".encode()


class Vault(NamedTuple):
    """A vault on the disk, in one of the two languages."""

    path: Path
    language: str = "记忆"
    now: int = NOW

    def level(self, level: str) -> Path:
        """Return the folder of a level."""
        return self.path / self.language / f"{level}{NAMES[self.language][int(level[1])]}"

    def put(self, level: str, name: str, data: bytes | str) -> Path:
        """Write a note; text is its header."""
        path = self.level(level) / f"{name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(note(data) if isinstance(data, str) else data)
        return path

    def call(self, *words: str, operator: bool = True, environment: Mapping[str, str] | None = None) -> Said:
        """Call a command on the vault, as an operator who may."""
        memory = Memory(self.path.parent / "no-memory", self.path.parent, self.now)
        identity = OPERATOR if operator else ()
        return memory.call(*words, *identity, "--vault", str(self.path), environment=environment)

    def forget(self, *words: str) -> dict[str, Any]:
        """Forget, and return what it said."""
        return self.call("forget", *words).data


def files(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder that is not the store's own: no locks, no audit, no plans."""
    own = ("CORTEX/", "OBSERVABILITY/memory-writes", "OBSERVABILITY/tier-b", "_meta/plans/", "OBSERVABILITY/alerts.md")
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_file() and not name.startswith(own) and "views/alerts.md" not in name:
            found[name] = path.read_bytes()
    return found


def plans(folder: Path) -> list[str]:
    """Return the ids of the plans of a vault or memory root, in their order."""
    found = [*folder.glob("_meta/plans/*.json"), *folder.glob("CORTEX/plans/*.json")]
    return sorted(path.stem for path in found)
