"""`drill`: every kind of evidence, damaged in a copy, shows in the verdict and in the textfile."""

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from support.health_tree import DAY, NOW, observability, write_h0
from support.memories import Places, manifest_of
from support.running import Run, run

from healthcheck import drill


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A memory in which all is well."""
    return write_h0(tmp_path / "R")


def drilled(root: Path, *more: str | Path, now: int = NOW) -> Run:
    return run("--root", root, "--now", str(now), *more, "drill")


def turns(answer: Run) -> list[dict[str, Any]]:
    return json.loads(answer.stdout)["turns"]


def state_of(root: Path) -> dict[str, tuple[int, int]]:
    return {str(path): (path.lstat().st_mtime_ns, path.lstat().st_size) for path in [root, *root.rglob("*")]}


def test_each_kind_goes_red_and_the_memory_stays_as_it_is(root: Path) -> None:
    before = state_of(root)
    answer = drilled(root, "--json")
    assert answer.exit_code == 0
    assert {turn["check"] for turn in turns(answer)} == {
        "reviewer", "retrieval", "proposals", "index", "observability", "ratchet",
    }  # fmt: skip
    assert {turn["outcome"] for turn in turns(answer)} == {"red"}
    assert {(turn["after"] == turn["textfile"], turn["before"]) for turn in turns(answer)} == {(True, "ok")}
    assert state_of(root) == before
    assert list(Path(tempfile.gettempdir()).glob("memory-health-drill-*")) == []


def test_an_adopted_index_is_drilled_with_its_sources(tmp_path: Path) -> None:
    places = Places(write_h0(tmp_path / "R"))
    note = places.memory_root / "KNOWLEDGE" / "Ideas" / "locks" / "a.md"
    note.parent.mkdir(parents=True)
    note.write_text("# A\n\nText.\n", encoding="utf-8")
    places.manifest.parent.mkdir()
    places.index.write_bytes(b"index")
    places.manifest.write_text(json.dumps(manifest_of(places, 0)), encoding="utf-8")
    kinds = {turn["kind"]: turn["before"] for turn in turns(drilled(places.root, "--json")) if turn["check"] == "index"}
    before = [one["status"] for one in run("--root", places.root, "--now", str(NOW), "--json").report["checks"]]
    assert set(kinds) == {"index manifest", "index"}
    assert set(kinds.values()) == {before[4]}


def test_what_was_not_ok_before_proves_nothing_and_says_so(root: Path) -> None:
    outcomes = {turn["check"]: turn["outcome"] for turn in turns(drilled(root, "--json", now=NOW + 2 * DAY))}
    assert (outcomes["retrieval"], outcomes["reviewer"]) == ("red before", "red")


def test_what_is_not_there_or_not_enabled_is_left_out(root: Path) -> None:
    (observability(root) / "pending-proposals.jsonl").unlink()
    policy = {"schema": "memory-health-policy/v1", "not_enabled": {"retrieval": "by hand"}}
    (root / "LIFEOS" / "CORTEX_HEALTH_POLICY.json").write_text(json.dumps(policy), encoding="utf-8")
    left_out = [turn["kind"] for turn in turns(drilled(root, "--json")) if turn["outcome"] == "left out"]
    assert left_out == ["retrieval log", "proposal queue"]


def test_nothing_outside_of_the_copy_is_ever_damaged(root: Path, tmp_path: Path) -> None:
    """A link on the way, a manifest outside of the memory, an index that it names outside of everything."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "index").write_bytes(b"index")
    members = {"schema": "lifeos-cortex-index/v1", "index_path": str(outside / "index")}
    (outside / "index-manifest.json").write_text(json.dumps(members), encoding="utf-8")
    (root / "LIFEOS" / "MEMORY" / "INDEX").symlink_to(outside)
    before = state_of(tmp_path)
    drilled(root)
    drilled(root, "--index-manifest", outside / "index-manifest.json")
    assert state_of(tmp_path) == before


def test_logs_that_nobody_reads_cost_no_space(root: Path) -> None:
    log = observability(root) / "large.log"
    log.touch()
    os.truncate(log, 1 << 40)
    os.utime(log, ns=(NOW * 1_000_000, NOW * 1_000_000))
    found = {turn["check"]: turn["before"] for turn in turns(drilled(root, "--json"))}
    assert found["observability"] == "warn"


def test_text_has_a_line_a_damage_and_a_sum(root: Path) -> None:
    lines = drilled(root).stdout.splitlines()
    assert " ".join(lines[0].split()) == "red reviewer log, deleted reviewer: ok -> warn, textfile warn"
    assert lines[-1] == f"{len(lines) - 1} of {len(lines) - 1} damages show"


def test_a_damage_that_does_not_show_is_exit_2(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def spare(path: Path, before: Path) -> None:
        path.write_bytes(before.read_bytes() if before.is_file() else b"")

    monkeypatch.setitem(drill._DAMAGES, "deleted", spare)
    answer = drilled(root, "--json")
    assert answer.exit_code == 2
    assert "NOT RED" in {turn["outcome"] for turn in turns(answer) if turn["damage"] == "deleted"}


def test_where_there_is_no_memory_nothing_was_shown(tmp_path: Path) -> None:
    answer = drilled(tmp_path)
    assert answer.exit_code == 2
    assert answer.stdout.splitlines()[-1] == "0 of 0 damages show"
    assert list(tmp_path.iterdir()) == []
