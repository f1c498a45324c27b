"""The health policy, the corpus's shape, and the guard in front of every collector."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from support import damage
from support.memories import Places, Recipe, write

from cortex.places import Layout, layout_of
from healthcheck.collectors import collect, guarded
from healthcheck.collectors.corpus import FAULTS_LISTED, collect_corpus
from healthcheck.collectors.policy import collect_policy
from healthcheck.evidence import (
    CorpusEvidence,
    Missing,
    NotEnabled,
    Observed,
    ProbeFailed,
    SetupEvidence,
    SetupFault,
    Unreadable,
)
from policies.limits import MANIFEST_MAX_BYTES

POLICY_NAME: Final = "CORTEX_HEALTH_POLICY.json"
REASONS: Final = {"reviewer": "nobody reviews here", "proposals": "no queue"}
POLICY: Final = json.dumps({"schema": "memory-health-policy/v1", "not_enabled": REASONS})


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return write(Recipe(notes=2), tmp_path)


def layout(places: Places) -> Layout:
    return layout_of(places.memory_root)


# The health policy.


def test_a_memory_without_a_health_policy_uses_every_part(places: Places) -> None:
    assert collect_policy(layout(places)) == Missing(f"no {POLICY_NAME}")


def test_a_health_policy_says_which_parts_are_not_enabled(places: Places) -> None:
    (places.home / POLICY_NAME).write_text(POLICY, encoding="utf-8")
    assert collect_policy(layout(places)) == Observed(NotEnabled(POLICY_NAME, REASONS))


def test_a_bare_memory_root_is_its_own_home(tmp_path: Path) -> None:
    (tmp_path / POLICY_NAME).write_text(POLICY, encoding="utf-8")
    assert isinstance(collect_policy(layout_of(tmp_path)), Observed)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is no strict JSON (not valid JSON)"),
        (b"\xef\xbb\xbf" + POLICY.encode(), "is no strict JSON (not valid JSON)"),
        (POLICY.encode() + b"\xff", "is no strict JSON (not valid UTF-8)"),
        (b'{"schema":1,"schema":2}', "is no strict JSON (a key stands twice)"),
        (b"[" * 100_000, "is no strict JSON (nested too deep)"),
        (POLICY.encode() + b" " * MANIFEST_MAX_BYTES, f"is larger than {MANIFEST_MAX_BYTES} bytes"),
        (b"{}", "has not exactly the known fields, or declares more than two parts not enabled"),
    ],
)
def test_a_damaged_health_policy_is_named(places: Places, content: bytes, reason: str) -> None:
    (places.home / POLICY_NAME).write_bytes(content)
    assert collect_policy(layout(places)) == Unreadable(POLICY_NAME, reason)


@pytest.mark.parametrize(
    ("replace", "reason"),
    [
        (damage.replace_by_folder, "is a folder"),
        (damage.replace_by_link, "is a link"),
        (damage.replace_by_dangling_link, "is a link"),
        (damage.replace_by_fifo, "is a FIFO"),
    ],
)
def test_what_lies_in_the_place_of_the_health_policy_is_named(
    places: Places, replace: damage.Damage, reason: str
) -> None:
    (places.home / POLICY_NAME).write_text(POLICY, encoding="utf-8")
    replace(places.home / POLICY_NAME)
    assert collect_policy(layout(places)) == Unreadable(POLICY_NAME, reason)


# The corpus.


def test_a_sound_corpus_is_counted(places: Places) -> None:
    size = sum(path.stat().st_size for path in places.memory_root.rglob("*.md"))
    assert collect_corpus(layout(places)) == Observed(CorpusEvidence("MEMORY/KNOWLEDGE", 2, size, 0))


def test_the_corpus_may_lie_below_memory_in_a_bare_root(places: Places) -> None:
    found = collect_corpus(layout_of(places.home))
    assert isinstance(found, Observed)
    assert (found.value.folder, found.value.files) == ("MEMORY/KNOWLEDGE", 2)


@pytest.mark.parametrize("top", ["KNOWLEDGE", "."])
def test_a_memory_without_knowledge_has_no_corpus_to_check(places: Places, top: str) -> None:
    damage.delete(places.memory_root / top)
    assert collect_corpus(layout(places)) == Missing("no MEMORY" if top == "." else "no MEMORY/KNOWLEDGE")


SPOIL: Final[dict[str, tuple[Callable[[Path], Any], str, str]]] = {
    "a link": (lambda folder: (folder / "x.md").symlink_to("n0.md"), "MEMORY/KNOWLEDGE/Ideas/x.md", "link"),
    "a FIFO": (lambda folder: os.mkfifo(folder / "x.md"), "MEMORY/KNOWLEDGE/Ideas/x.md", "special-file"),
    "KNOWLEDGE a link": (lambda folder: damage.replace_by_link(folder.parent), "MEMORY/KNOWLEDGE", "link"),
    "KNOWLEDGE a link to nowhere": (
        lambda folder: damage.replace_by_dangling_link(folder.parent),
        "MEMORY/KNOWLEDGE",
        "link",
    ),
    "KNOWLEDGE a file": (lambda folder: damage.replace_by_file(folder.parent), "MEMORY/KNOWLEDGE", "special-file"),
}


@pytest.mark.parametrize("name", SPOIL)
def test_a_fault_of_shape_is_named_relative_to_home(places: Places, name: str) -> None:
    spoil, path, kind = SPOIL[name]
    spoil(places.memory_root / "KNOWLEDGE" / "Ideas")
    found = collect_corpus(layout(places))
    assert isinstance(found, Observed)
    assert [(fault.path, fault.kind) for fault in found.value.first_faults] == [(path, kind)]
    assert found.value.faults == 1


def test_the_first_faults_are_listed_and_all_are_counted(places: Places) -> None:
    for number in range(FAULTS_LISTED + 5):
        (places.memory_root / "KNOWLEDGE" / f"x{number:02}.md").symlink_to("nowhere")
    found = collect_corpus(layout(places))
    assert isinstance(found, Observed)
    assert (found.value.faults, len(found.value.first_faults)) == (FAULTS_LISTED + 5, FAULTS_LISTED)


# The guard, and all together.


@pytest.mark.parametrize("error", [ValueError, OSError, MemoryError, RecursionError, ImportError, AssertionError])
def test_a_collector_that_crashes_is_told_by_the_kind_of_its_exception_alone(error: type[Exception]) -> None:
    def crash() -> Missing:
        raise error("s3cret")

    assert guarded(crash) == ProbeFailed(error.__name__)


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_passes_the_guard(error: type[BaseException]) -> None:
    def interrupt() -> Missing:
        raise error

    with pytest.raises(error):
        guarded(interrupt)


def test_all_evidence_is_collected_and_nothing_is_changed(places: Places) -> None:
    before = sorted((path, path.lstat().st_mtime_ns) for path in places.root.rglob("*"))
    fault = SetupFault("health-clock-invalid", "no time", "CORTEX_HEALTH_NOW")
    evidence = collect(layout(places), None, (fault,))
    assert sorted((path, path.lstat().st_mtime_ns) for path in places.root.rglob("*")) == before
    assert evidence.setup == SetupEvidence((fault,))
    absent = {name for name in evidence.__struct_fields__ if isinstance(getattr(evidence, name), Missing)}
    assert absent == {"policy", "hot_memory", "retention", "noise", "history"}
    observed = {name for name in evidence.__struct_fields__ if isinstance(getattr(evidence, name), Observed)}
    assert observed == {"reviewer", "retrieval", "proposals", "observability", "index", "corpus", "ratchet"}


def test_of_a_memory_that_is_not_there_everything_is_missing(tmp_path: Path) -> None:
    evidence = collect(layout_of(tmp_path / "LIFEOS" / "MEMORY"), None, ())
    missing = {name for name in evidence.__struct_fields__ if isinstance(getattr(evidence, name), Missing)}
    assert missing == set(evidence.__struct_fields__) - {"setup", "ratchet"}
    assert list(tmp_path.iterdir()) == []
