"""`compact --observability`: brings logs over the health thresholds back, with no evidence lost.

1. A log nobody writes any more is compressed beside itself and, once that verifies, removed in the same run.
2. A live log is never taken away: its older rows go into `OBSERVABILITY/archive/`, and it is written anew.
3. Over the age threshold is every log whose last change is older. Over the size threshold the largest logs follow,
   until the rest fits; one that was written within the last seven days counts as live, whoever writes it.
"""

from collections.abc import Mapping
from itertools import chain, count
from typing import Any, Final

from cortex.layout import HEALTH_HISTORY, OBSERVABILITY
from cortex.nofollow import NotRegularError
from cortex.retention import packing, rotation
from cortex.retention.base import Seen, files_below, read
from cortex.retention.compact import Compacting, Gathering, Unit
from cortex.retention.doing import Doing, Step, hash_at, hash_bytes
from cortex.retention.entries import Untrusted
from cortex.retention.plan import new_plan
from policies.thresholds import effective_thresholds
from policies.timestamps import format_instant

ARCHIVE: Final = f"{OBSERVABILITY}/archive"
_SUFFIXES: Final = (".jsonl", ".log")
_HISTORY: Final = f"{OBSERVABILITY}/{HEALTH_HISTORY}"


def plan_shortening(doing: Doing, environment: Mapping[str, str]) -> Compacting:
    """Return what is to be compressed and shortened. The thresholds are the auditor's, with its variables."""
    thresholds, invalid = effective_thresholds(environment)
    age, size = (thresholds[f"observability_max_{name}"].value for name in ("age_ms", "bytes"))
    logs = [seen for seen in _logs(doing) if not seen.odd]
    due = _due(logs, doing.now, age, size)
    gathering = Gathering(doing)
    rotated: list[dict[str, Any]] = []
    for seen in due:
        if _is_live(seen):
            step = _rotation(doing, seen, gathering.corrupted)
            if step is not None:
                gathering.steps.append(step)
                rotated.append({"path": step["path"], "rows": step["rows_removed"], "to": step["to"]})
        else:
            gathering.take(Unit((seen,), None, seen.modified_at, _beside(doing, seen)), "archive")
    data = {
        "scanned": len(logs),
        "size_bytes": sum(seen.size for seen in logs if seen.path != _HISTORY),
        **gathering.told(),
        "rotated": rotated,
        "warnings": [f"{one.variable} is no threshold; the default was used" for one in invalid],
    }
    return Compacting(new_plan(doing, gathering.steps, {}), data)


def _logs(doing: Doing) -> list[Seen]:
    with doing.base.store.place(f"{OBSERVABILITY}/_") as place:
        if place is None:
            return []
    return [seen for seen in files_below(doing.base, OBSERVABILITY, hidden=True) if seen.path.endswith(_SUFFIXES)]


def _due(logs: list[Seen], now: int, age: float, size: float) -> list[Seen]:
    """Return the logs that are over a threshold: by age all of them, by size the largest until the rest fits."""
    due = [seen for seen in logs if now - seen.modified_at > age]
    rest = sum(seen.size for seen in logs if seen.path != _HISTORY) - sum(seen.size for seen in due)
    settled = [seen for seen in logs if seen not in due and (_is_live(seen) or _is_quiet(seen, now))]
    for seen in sorted(settled, key=lambda seen: (_is_live(seen), -seen.size, seen.path)):
        if rest <= size:
            break
        due.append(seen)
        rest -= seen.size
    return sorted(due)


def _is_live(seen: Seen) -> bool:
    folder, _, name = seen.path.rpartition("/")
    return folder == OBSERVABILITY and name in rotation.LIVE_LOGS


def _is_quiet(seen: Seen, now: int) -> bool:
    return now - seen.modified_at > rotation.STAYS_MS


def _rotation(doing: Doing, seen: Seen, corrupted: list[Untrusted]) -> Step | None:
    """Return the step that shortens a live log and renews it, also where no row may go."""
    try:
        data = read(doing.base, seen.path)
    except NotRegularError as error:
        corrupted.append(Untrusted(seen.path, str(error)))
        return None
    if data is None:
        return None
    name = seen.path.rpartition("/")[2]
    ranges = rotation.older_rows(name, data, doing.now)
    kept, older = rotation.split_at(data, ranges)
    packed = packing.gzipped(older) if older else None
    return {
        "kind": "rotate",
        "id": seen.path,
        "path": seen.path,
        "hash_before": hash_bytes(data),
        "hash_after": hash_bytes(kept),
        "size_before": len(data),
        "size_after": len(kept),
        "to": _free_name(doing, name, packed) if packed else None,
        "hash_to": hash_bytes(packed) if packed else None,
        "rows_removed": sum(end - start for start, end in ranges),
        "older": [list(one) for one in ranges],
        "reason": "rotated" if packed else "renewed: no row may go",
    }


def _beside(doing: Doing, seen: Seen) -> str:
    """Return a name beside a log that is free, or holds just this already: a log may come back under its old name."""
    stem, _, suffix = seen.path.rpartition(".")
    day = format_instant(doing.now)[:10]
    names = chain((f"{seen.path}.gz",), (f"{stem}-{day}-{number}.{suffix}.gz" for number in count(1)))
    data = read(doing.base, seen.path)
    return next(path for path in names if _holds(doing, path, data))


def _holds(doing: Doing, path: str, data: bytes | None) -> bool:
    there = hash_at(doing.base, path)
    if there is None:
        return True
    return not there.startswith("odd: ") and packing.gunzipped(read(doing.base, path)) == data


def _free_name(doing: Doing, name: str, packed: bytes) -> str:
    """Return a name in the archive that is free, or holds just this already."""
    stem, _, suffix = name.rpartition(".")
    day = format_instant(doing.now)[:10]
    names = (f"{ARCHIVE}/{stem}-{day}{f'-{number}' if number > 1 else ''}.{suffix}.gz" for number in count(1))
    return next(path for path in names if hash_at(doing.base, path) in (None, hash_bytes(packed)))
