"""Makes a large, healthy memory to measure on: a retrieval log of 100 MB, and 2,000 other logs.

    python benchmarks/make_health_tree.py DIR [SEED]

DIR becomes the folder that holds `LIFEOS/`. Same seed, same bytes. All times count back from NOW, which is to be
given to `memory-health --now`; the memory has no index, on purpose, and says so.
"""

import json
import os
import random
import sys
from collections.abc import Iterator
from pathlib import Path

NOW_S = 1_785_585_600  # 2026-08-01T12:00:00Z
NOW = "2026-08-01T12:00:00Z"
RETRIEVAL_BYTES = 100_000_000
LOGS = 2_000
LOG_ROWS = 20
DAY_S = 86_400


def stamp(seconds: int) -> str:
    """The timestamp of an instant within the 24 hours before NOW."""
    hours, rest = divmod(DAY_S - seconds + 12 * 3600, 3600)
    day = 31 if hours < 24 else 1
    month = 7 if day == 31 else 8
    return f"2026-{month:02}-{day:02}T{hours % 24:02}:{rest // 60:02}:{rest % 60:02}.000Z"


def retrieval_rows(chance: random.Random) -> Iterator[str]:
    """Rows of the retrieval log up to its size, the last of them an hour old."""
    written = 0
    while written < RETRIEVAL_BYTES:
        age = 3600 if written + 200 >= RETRIEVAL_BYTES else chance.randrange(3600, DAY_S)
        row = json.dumps(
            {
                "ts": stamp(age),
                "query_hash": f"{chance.getrandbits(256):064x}",
                "returned_count": chance.randrange(20),
                "duration_ms": round(chance.uniform(5, 90), 3),
                "top_score": round(chance.uniform(0, 30), 4),
            }
        )
        written += len(row) + 1
        yield row + "\n"


def reviewer_row() -> dict[str, object]:
    """A run that had nothing to review, an hour ago."""
    return {
        "ts": stamp(3600), "ok": True, "runId": "2026-08-01T10-59-00-000Z", "exchanges": 0,
        "inference_duration_ms": 0, "parse_ok": True, "skipped": True,
    }  # fmt: skip


def log_rows(chance: random.Random, number: int) -> str:
    """Rows of a log of no known kind."""
    row = {
        "log": number,
        "event": chance.choice(("read", "write", "noop")),
        "detail": f"{chance.getrandbits(400):0100x}",
    }
    return (json.dumps(row) + "\n") * LOG_ROWS


def make(root: Path, seed: int) -> None:
    """Write the memory below `root`, which must not be there yet."""
    chance = random.Random(seed)  # noqa: S311 - the same bytes again, no secret
    logs = root / "LIFEOS" / "MEMORY" / "OBSERVABILITY"
    logs.mkdir(parents=True)
    marker = {"schema": "lifeos-cortex-index-policy/v1", "policy": "no-index-v1"}
    (root / "LIFEOS" / "CORTEX_INDEX_POLICY.json").write_text(json.dumps(marker), encoding="utf-8")
    (logs / "reviewer-runs.jsonl").write_text(json.dumps(reviewer_row()) + "\n", encoding="utf-8")
    (logs / "pending-proposals.jsonl").write_text('{"id": "one", "status": "accepted"}\n', encoding="utf-8")
    with (logs / "memory-retrievals.jsonl").open("w", encoding="utf-8") as retrievals:
        retrievals.writelines(retrieval_rows(chance))
    for number in range(LOGS):
        log = logs / f"part-{number % 40:02}" / f"log-{number:04}.{('jsonl', 'log')[number % 2]}"
        log.parent.mkdir(exist_ok=True)
        log.write_text(log_rows(chance, number), encoding="utf-8")
    for path in logs.rglob("*.*l*"):
        changed = NOW_S - chance.randrange(3600, 20 * DAY_S)
        os.utime(path, (changed, changed))


if __name__ == "__main__":
    make(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
