"""Where things lie in a memory. Names only: nothing here touches a file.

`memory root` is the pinned directory. `home` is where `USER/` and the policy markers lie: the memory root's
parent (before links are resolved) where the root is named `MEMORY`, else the memory root itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

DEFAULT_HEALTH_ROOT: Final = "~/.claude"
MEMORY_BELOW_ROOT: Final = ("LIFEOS", "MEMORY")

KNOWLEDGE: Final = "KNOWLEDGE"
OBSERVABILITY: Final = "OBSERVABILITY"
INDEX: Final = "INDEX"

# Below OBSERVABILITY/.
REVIEWER_LOG: Final = "reviewer-runs.jsonl"
REVIEWER_RUNS: Final = "reviewer-runs"
RETRIEVAL_LOG: Final = "memory-retrievals.jsonl"
PROPOSAL_QUEUE: Final = "pending-proposals.jsonl"
HEALTH_HISTORY: Final = "memory-health.jsonl"
MEMORY_WRITES: Final = "memory-writes.jsonl"
NOTE_WRITES: Final = "tier-b-writes.jsonl"
SNAPSHOTS: Final = "memory-snapshots"
TOOL_ACTIVITY: Final = "tool-activity.jsonl"
TOOL_FAILURES: Final = "tool-failures.jsonl"
HOOK_ERRORS: Final = "hook-errors.log"

# Below the memory root.
CORTEX: Final = "CORTEX"
BENCHMARKS: Final = "BENCHMARKS"
LOCKS: Final = f"{CORTEX}/locks"
NOISE_LEDGER: Final = f"{CORTEX}/noise.json"
CARDS: Final = f"{CORTEX}/memory.jsonl"
SLEEP_STATE: Final = f"{CORTEX}/state.json"
SLEEP_CONFIG: Final = f"{CORTEX}/config.json"

# Below home.
USER: Final = "USER"
INDEX_POLICY: Final = "CORTEX_INDEX_POLICY.json"
HEALTH_POLICY: Final = "CORTEX_HEALTH_POLICY.json"

# Top-level folders of a bare memory root that are ours or hold no notes: no part of its corpus.
NOT_CORPUS: Final = frozenset({OBSERVABILITY, INDEX, CORTEX, BENCHMARKS, USER, "archive", "归档"})


class Layout(NamedTuple):
    """The two folders of a memory, absolute, links unresolved."""

    memory_root: Path
    home: Path

    @property
    def observability(self) -> Path:
        """The folder of all evidence."""
        return self.memory_root / OBSERVABILITY

    @property
    def index_manifest(self) -> Path:
        """The manifest of an adopted index, where none is named."""
        return self.memory_root / INDEX / "index-manifest.json"

    def relative(self, path: Path) -> str:
        """Return `path` as people and reports read it: relative to home where it lies below it."""
        return str(path.relative_to(self.home)) if path.is_relative_to(self.home) else str(path)


def layout_of(memory_root: Path) -> Layout:
    """Return the layout around an absolute memory root."""
    home = memory_root.parent if memory_root.name == MEMORY_BELOW_ROOT[-1] else memory_root
    return Layout(memory_root, home)
