"""Where things lie in a memory. Names only: nothing here touches a file.

`memory root` is the pinned directory. `home` is where `USER/` and the policy markers lie: the memory root's
parent (before links are resolved) where the root is named `MEMORY`, else the memory root itself.
"""

from typing import Final

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

INDEX_MANIFEST: Final = f"{INDEX}/index-manifest.json"

# Below home.
USER: Final = "USER"
INDEX_POLICY: Final = "CORTEX_INDEX_POLICY.json"
HEALTH_POLICY: Final = "CORTEX_HEALTH_POLICY.json"

# Top-level folders of a bare memory root that are ours or hold no notes: no part of its corpus.
NOT_CORPUS: Final = frozenset({OBSERVABILITY, INDEX, CORTEX, BENCHMARKS, USER, "archive", "归档"})
