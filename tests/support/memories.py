"""Memories to audit, described by a few plain choices and written to a folder, every modification time set.

A `Recipe` says which evidence there is and in what condition; `write` makes `LIFEOS/` of it. All times count back from
NOW. The digest in the manifest is computed here, from the words of the contract, not by the code under test.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from support import health_tree
from support.health_tree import DAY, HOUR, MINUTE, NO_INDEX, NOW, retrieval_row, reviewer_row, run_id

from policies.timestamps import format_instant

REVIEWER_LOG: Final = "reviewer-runs.jsonl"
RETRIEVAL_LOG: Final = "memory-retrievals.jsonl"
PROPOSAL_QUEUE: Final = "pending-proposals.jsonl"


def ago(milliseconds: int) -> str:
    """Return the instant so long before NOW as logs write it."""
    return format_instant(NOW - milliseconds)


def reviewed(age: int, **changes: object) -> dict[str, Any]:
    """A reviewer row: a success of that age, or what `changes` make of it."""
    return reviewer_row(NOW + HOUR - age, **changes)


def skipped(age: int, **changes: object) -> dict[str, Any]:
    """A reviewer row: a run that had nothing to do."""
    row = {
        "ts": ago(age), "ok": True, "runId": run_id(NOW - age), "exchanges": 0, "inference_duration_ms": 0,
        "parse_ok": True, "skipped": True,
    }  # fmt: skip
    return {**row, **changes}


def retrieved(age: int, **changes: object) -> dict[str, Any]:
    """A retrieval row of that age."""
    return retrieval_row(NOW + 5 * MINUTE - age, **changes)


def proposed(number: int, status: object = "accepted") -> dict[str, Any]:
    """A row of the proposal queue."""
    return {"id": f"p{number}", "status": status}


ReviewerRow = Callable[[], dict[str, Any]]
REVIEWER_ROWS: Final[dict[str, ReviewerRow]] = {
    "ok": lambda: reviewed(HOUR),
    "at the limit": lambda: reviewed(7 * DAY),
    "stale": lambda: reviewed(7 * DAY + 1),
    "ahead": lambda: reviewed(-HOUR),
    "skipped": lambda: skipped(HOUR),
    "failed": lambda: reviewed(HOUR, ok=False, error="no answer"),
    "timed out": lambda: reviewed(HOUR, ok=False, error=["request", "timed out"]),
    "not parsed": lambda: reviewed(HOUR, parse_ok=False),
    "other shape": lambda: reviewed(HOUR, surprise=1),
}
RETRIEVAL_ROWS: Final[dict[str, ReviewerRow]] = {
    "ok": lambda: retrieved(5 * MINUTE),
    "scored": lambda: retrieved(5 * MINUTE, top_score=1.5),
    "stale": lambda: retrieved(DAY + 1),
    "ahead": lambda: retrieved(-1),
    "other shape": lambda: retrieved(5 * MINUTE, surprise=1),
}
PROPOSAL_STATUSES: Final = ("accepted", "pending", "rejected", None)
INDEX_STATES: Final = ("none", "marker", "manifest", "manifest and marker", "stale manifest", "other index")


class RunFolder(NamedTuple):
    """A folder of a run that began `age` ms before NOW."""

    age: int
    parse_error: bool = False


class Log(NamedTuple):
    """Another log below OBSERVABILITY/."""

    path: str
    size: int
    age: int


class Recipe(NamedTuple):
    """What a memory holds; None for a file that is not there."""

    reviewer: tuple[str, ...] | None = ("ok",)
    run_folders: tuple[RunFolder, ...] = ()
    retrieval: tuple[str, ...] | None = ("ok",)
    proposals: tuple[str | None, ...] | None = ("accepted",)
    logs: tuple[Log, ...] = ()
    index: str = "marker"
    notes: int = 0


class Places(NamedTuple):
    """Where the parts of a written memory lie, below the folder that holds `LIFEOS/`."""

    root: Path

    @property
    def home(self) -> Path:
        return self.root / "LIFEOS"

    @property
    def memory_root(self) -> Path:
        return self.home / "MEMORY"

    @property
    def observability(self) -> Path:
        return self.memory_root / "OBSERVABILITY"

    @property
    def reviewer_log(self) -> Path:
        return self.observability / REVIEWER_LOG

    @property
    def retrieval_log(self) -> Path:
        return self.observability / RETRIEVAL_LOG

    @property
    def proposal_queue(self) -> Path:
        return self.observability / PROPOSAL_QUEUE

    @property
    def marker(self) -> Path:
        return self.home / "CORTEX_INDEX_POLICY.json"

    @property
    def manifest(self) -> Path:
        return self.memory_root / "INDEX" / "index-manifest.json"

    @property
    def index(self) -> Path:
        return self.memory_root / "INDEX" / "index.bin"

    @property
    def history(self) -> Path:
        return self.observability / "memory-health.jsonl"


def write_rows(path: Path, rows: Iterable[Mapping[str, object]], age: int = MINUTE) -> None:
    """Write a log of JSON rows that was last changed so long before NOW."""
    health_tree.write_rows(path, rows, NOW - age)


def set_age(path: Path, age: int) -> None:
    """Set a modification time to so many milliseconds before NOW."""
    health_tree.set_time(path, NOW - age)


def write(recipe: Recipe, root: Path) -> Places:
    """Write the memory that `recipe` describes below `root`, an existing folder."""
    places = Places(root)
    places.observability.mkdir(parents=True)
    if recipe.reviewer is not None:
        write_rows(places.reviewer_log, (REVIEWER_ROWS[name]() for name in recipe.reviewer))
    if recipe.retrieval is not None:
        write_rows(places.retrieval_log, (RETRIEVAL_ROWS[name]() for name in recipe.retrieval))
    if recipe.proposals is not None:
        write_rows(places.proposal_queue, (proposed(n, status) for n, status in enumerate(recipe.proposals)))
    for folder in recipe.run_folders:
        _write_run(places, folder)
    for log in recipe.logs:
        path = places.observability / log.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"\n" * log.size)
        set_age(path, log.age)
    _write_notes(places, recipe.notes)
    _write_index(places, recipe)
    return places


def _write_run(places: Places, folder: RunFolder) -> None:
    path = places.observability / "reviewer-runs" / run_id(NOW - folder.age)
    path.mkdir(parents=True, exist_ok=True)
    if folder.parse_error:
        (path / "parse-error.txt").write_text("s", encoding="utf-8")


def _write_notes(places: Places, count: int) -> None:
    folder = places.memory_root / "KNOWLEDGE" / "Ideas"
    if count:
        folder.mkdir(parents=True)
    for number in range(count):
        (folder / f"n{number}.md").write_text(_note(number), encoding="utf-8")


def _note(number: int) -> str:
    return f"---\nid: n{number}\ntype: idea\ntitle: Grün {number}\ncreated: 2026-01-01\n---\nText.\n"


def canonical_digest(count: int) -> str:
    """Return the digest of `count` notes as `write` writes them."""
    records = [
        {
            "id": f"n{n}", "type": "idea", "title": f"Grün {n}", "created": "2026-01-01", "updated": "2026-01-01",
            "provenance": {"source": "canonical", "session": None, "path": f"KNOWLEDGE/Ideas/n{n}.md"},
            "content": _note(n), "related": [], "valid_from": None, "valid_until": None,
        }
        for n in sorted(range(count), key=str)
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(records, ensure_ascii=False, separators=(",", ":")).encode()).hexdigest()


def manifest_of(places: Places, notes: int, indexed_age: int = HOUR) -> dict[str, Any]:
    """Return the manifest of the index file as it lies there now, over so many notes."""
    return {
        "schema": "lifeos-cortex-index/v1",
        "canonical_sha256": canonical_digest(notes),
        "index_path": places.index.name,
        "index_sha256": hashlib.sha256(places.index.read_bytes()).hexdigest(),
        "indexed_at": ago(indexed_age),
    }


def _write_index(places: Places, recipe: Recipe) -> None:
    if "marker" in recipe.index:
        places.marker.write_text(json.dumps(NO_INDEX), encoding="utf-8")
    if "manifest" not in recipe.index and recipe.index != "other index":
        return
    places.manifest.parent.mkdir()
    places.index.write_bytes(b"\x00index\xff")
    age = 8 * DAY if recipe.index == "stale manifest" else HOUR
    places.manifest.write_text(json.dumps(manifest_of(places, recipe.notes, age)), encoding="utf-8")
    if recipe.index == "other index":
        places.index.write_bytes(b"another index")
