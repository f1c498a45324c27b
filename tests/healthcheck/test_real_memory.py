"""A real memory as it was found: what is missing is said, nothing else is, and what is asked for leads to green."""

import json
import subprocess
from pathlib import Path
from typing import Final

import pytest
from support.health_tree import MINUTE, NO_INDEX, NOW
from support.memories import Places, manifest_of, proposed, retrieved, reviewed, set_age, write_rows
from support.reports import statuses
from support.running import Run, run, run_process

ARCHIVE: Final = Path(__file__).parents[1] / "data" / "real-memory.tar.gz"
TEXT: Final = """\
WARN: index-evidence-missing: Nothing says whether this memory has an index o...
memory default: {ROOT}/LIFEOS/MEMORY, judged by 2026-08-10T12:00:00.000Z

warn index-evidence-missing (index), new
  Nothing says whether this memory has an index or does without one on purpose: neither MEMORY/INDEX/index-manifest.json nor CORTEX_INDEX_POLICY.json.
  remedy: Write the marker, or build an index.
  way back: `cortex init --operator NAME --allow-write` or `cortex index drop --operator NAME --allow-write` writes the marker CORTEX_INDEX_POLICY.json; `cortex index build --operator NAME --allow-write` builds an index.

warn proposal-evidence-missing (proposals), new
  There is no proposal queue: no MEMORY/OBSERVABILITY/pending-proposals.jsonl.
  remedy: Restore the queue, or create an empty file where proposals are used; else declare the part not enabled.
  way back: Restore the file, or let `cortex init --operator NAME --allow-write` create it; or declare the part not enabled.

warn retrieval-missing (retrieval), new
  Nothing shows that the memory was ever asked: no MEMORY/OBSERVABILITY/memory-retrievals.jsonl.
  remedy: Let what retrieves from the memory record it in OBSERVABILITY/memory-retrievals.jsonl (`cortex search --record`, or CORTEX_RECORD_RETRIEVALS=1), or declare the part not enabled.
  way back: Only a new retrieval helps: ask the memory something, recorded (`cortex search QUERY --record`). Or declare the part not enabled.

warn reviewer-evidence-missing (reviewer), new
  Nothing shows that a reviewer ever ran: no MEMORY/OBSERVABILITY/reviewer-runs.jsonl.
  remedy: Start the reviewer, or declare it not enabled in CORTEX_HEALTH_POLICY.json.
  way back: Only a new reviewer run that succeeds helps: start the reviewer by hand and look at what it says. Or declare the part not enabled.

skipped: hot_memory (no hot memory in USER)
skipped: retention (no note has a level)
ok: observability, corpus, ratchet, noise, setup, history
"""  # noqa: E501 - as it is printed
MISSING: Final = {
    "index-evidence-missing": "MEMORY/INDEX/index-manifest.json",
    "proposal-evidence-missing": "MEMORY/OBSERVABILITY/pending-proposals.jsonl",
    "retrieval-missing": "MEMORY/OBSERVABILITY/memory-retrievals.jsonl",
    "reviewer-evidence-missing": "MEMORY/OBSERVABILITY/reviewer-runs.jsonl",
}
LOGS: Final = ("tool-activity.jsonl", "tool-failures.jsonl")


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real memory, its logs written lately. Nobody changes it."""
    folder = tmp_path_factory.mktemp("unpacked")
    subprocess.run(["tar", "-xzf", str(ARCHIVE), "-C", str(folder)], check=True)
    for name in LOGS:
        set_age(Places(folder).observability / name, MINUTE)
    return folder


@pytest.fixture
def memory(unpacked: Path, tmp_path: Path) -> Places:
    """A copy to which files may be added (its own files are the same ones by hard links)."""
    root = tmp_path / "root"
    subprocess.run(["cp", "-al", str(unpacked), str(root)], check=True)
    return Places(root)


def audited(places: Places, *options: str) -> Run:
    return run("--root", places.root, "--now", str(NOW), *options)


def test_as_text_it_says_exactly_what_is_missing(memory: Places) -> None:
    answer = run_process("--root", memory.root, "--now", str(NOW))
    assert (answer.exit_code, answer.stderr) == (1, "")
    assert answer.stdout == TEXT.replace("{ROOT}", str(memory.root))


def test_as_json_it_says_exactly_what_is_missing_and_what_is_not(memory: Places) -> None:
    answer = audited(memory, "--json")
    report = answer.report
    assert answer.exit_code == 1
    assert {found["id"]: found["severity"] for found in report["findings"]} == dict.fromkeys(MISSING, "warn")
    assert all(MISSING[found["id"]] in found["message"] for found in report["findings"])
    assert statuses(report) == {
        "reviewer": "warn", "retrieval": "warn", "proposals": "warn", "observability": "ok", "index": "warn",
        "hot_memory": "skipped", "retention": "skipped", "corpus": "ok", "ratchet": "ok", "noise": "ok", "setup": "ok",
        "history": "ok",
    }  # fmt: skip
    assert report["evidence"]["observability"]["files"] == len(LOGS)
    assert report["evidence"]["corpus"] == {
        "state": "observed", "folder": "MEMORY/KNOWLEDGE", "files": 1_016, "size_bytes": 2_148_087, "faults": 0,
        "first_faults": [],
    }  # fmt: skip


def provide_evidence(memory: Places) -> None:
    """Put there what the findings ask for."""
    memory.marker.write_text(json.dumps(NO_INDEX), encoding="utf-8")
    write_rows(memory.reviewer_log, [reviewed(MINUTE)])
    write_rows(memory.retrieval_log, [retrieved(MINUTE)])
    write_rows(memory.proposal_queue, [proposed(1)])


def test_after_what_it_asks_for_is_there_it_is_green(memory: Places) -> None:
    provide_evidence(memory)
    answer = audited(memory, "--json")
    assert (answer.exit_code, answer.finding_ids, answer.report["overall"]) == (0, [], "ok")


def test_what_is_declared_not_enabled_is_not_asked_for(memory: Places) -> None:
    provide_evidence(memory)
    for path in (memory.reviewer_log, memory.retrieval_log):
        path.unlink()
    policy = {"schema": "memory-health-policy/v1", "not_enabled": {"reviewer": "by hand", "retrieval": "not recorded"}}
    (memory.home / "CORTEX_HEALTH_POLICY.json").write_text(json.dumps(policy), encoding="utf-8")
    answer = audited(memory, "--json")
    assert (answer.exit_code, statuses(answer.report)["reviewer"]) == (0, "not-enabled")


def test_an_index_over_notes_that_cannot_be_trusted_is_invalid_and_names_one(memory: Places) -> None:
    provide_evidence(memory)
    memory.manifest.parent.mkdir()
    memory.index.write_bytes(b"index")
    memory.manifest.write_text(json.dumps(manifest_of(memory, 0)), encoding="utf-8")
    answer = audited(memory, "--json")
    assert (answer.exit_code, answer.finding_ids) == (2, ["index-manifest-invalid"])
    (finding,) = answer.report["findings"]
    assert "KNOWLEDGE/playbooks/templates/dendron.template.release.md" in finding["message"]


def test_its_notes_are_as_they_were_after_all_of_it(memory: Places) -> None:
    notes = {path: path.read_bytes() for path in memory.memory_root.rglob("*.md")}
    audited(memory, "--json")
    assert {path: path.read_bytes() for path in memory.memory_root.rglob("*.md")} == notes
    assert len(notes) == 1_017
