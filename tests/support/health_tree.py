"""The all-green memory `H0`, from which the field cases depart: markers, logs, rows, every modification time at now.

`R` is the folder that holds `LIFEOS/`. Rows are plain dicts: change one, write the log anew, and the case is made.
"""

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from policies.timestamps import format_instant

NOW: Final = 1_786_363_200_000  # 2026-08-10T12:00:00Z
SECOND: Final = 1000
MINUTE: Final = 60 * SECOND
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR
NOW_TEXT: Final = "2026-08-10T12:00:00Z"

NO_INDEX: Final = {"schema": "lifeos-cortex-index-policy/v1", "policy": "no-index-v1"}


def observability(root: Path) -> Path:
    """The folder of all evidence."""
    return root / "LIFEOS" / "MEMORY" / "OBSERVABILITY"


def reviewer_row(now: int = NOW, **changes: object) -> dict[str, Any]:
    """REV: a reviewer run that succeeded an hour ago."""
    summary = {
        "total": 1, "by_type": {"memory": 1}, "succeeded": 1, "failed": 0, "failures": [], "skipped_guard": 0,
        "skips": [], "proposals_auto_applied": 0, "proposals_auto_apply_failed": 0,
    }  # fmt: skip
    row = {
        "ts": format_instant(now - HOUR), "ok": True, "runId": run_id(now - HOUR - MINUTE), "transcript": "t.jsonl",
        "exchanges": 3, "inference_duration_ms": 900, "parse_ok": True, "dispatch_summary": summary,
    }  # fmt: skip
    return {**row, **changes}


def retrieval_row(now: int = NOW, **changes: object) -> dict[str, Any]:
    """RET: a retrieval five minutes ago."""
    row = {"ts": format_instant(now - 5 * MINUTE), "query_hash": "ab12cd34", "returned_count": 1, "duration_ms": 4}
    return {**row, **changes}


def run_id(instant: int) -> str:
    """The run id of a run that began at that instant."""
    return format_instant(instant).replace(":", "-").replace(".", "-")


def write_rows(path: Path, rows: Iterable[Mapping[str, object]], now: int = NOW) -> None:
    """Write a log, one row a line."""
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    set_time(path, now)


def set_time(path: Path, instant: int) -> None:
    """Set a modification time, in milliseconds since 1970."""
    os.utime(path, ns=(instant * 1_000_000, instant * 1_000_000))


def write_h0(root: Path, now: int = NOW) -> Path:
    """Write H0 below `root` (made where it is not there) and return `root`."""
    folder = observability(root)
    folder.mkdir(parents=True)
    (root / "LIFEOS" / "CORTEX_INDEX_POLICY.json").write_text(json.dumps(NO_INDEX), encoding="utf-8")
    write_rows(folder / "reviewer-runs.jsonl", [reviewer_row(now)], now)
    write_rows(folder / "memory-retrievals.jsonl", [retrieval_row(now)], now)
    write_rows(folder / "pending-proposals.jsonl", [{"id": "p1", "status": "accepted"}], now)
    for path in [root, *root.rglob("*")]:
        set_time(path, now)
    return root
