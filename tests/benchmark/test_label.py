"""`benchmark label`: a label comes from a real call and a person's word, and is one that `benchmark` takes."""

import io
import json
import os
import pty
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest
from support.labels import ROW, asking, encode
from support.stores import OPERATOR, Memory, Said
from support.terminals import at_a_terminal

from cortex.arguments import Host
from cortex.cli import answer

LABELLED = ("oak bridge", "a", "b")


def label(memory: Memory, path: Path, *options: str, query: tuple[str, ...] = LABELLED, yes: bool = True) -> Said:
    options += ("--yes",) if yes else ()
    words = ["benchmark", "label", "--labels", str(path), *OPERATOR, *options, "--", *query]
    output, status = answer(words, Host({}, lambda: memory.now, str(memory.root)))
    return Said(status, json.loads(output))


def rows(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def test_a_label_says_what_was_run_what_came_back_and_who_vouches(memory, tmp_path):
    path = tmp_path / "labels.jsonl"
    data = label(memory, path).data
    assert (data["appended"], data["labels"], [data["label"]]) == (True, str(path), rows(path))
    assert data["label"] == {
        "id": "q0001",
        "query": "oak bridge",
        "expected_ids": ["a", "b"],
        "provenance": {
            "schema": "lifeos-cortex-benchmark-label-provenance/v1",
            "query_execution": {
                "method": "live-cortex-cli",
                "command": ["cortex", "search", "--page-size=100", f"--memory-root={memory.root}", "--", "oak bridge"],
                "executed_at": "2026-08-01T12:00:00.000Z",
                "query": "oak bridge",
                "returned_ids": ["a", "b"],
            },
            "expected_ids_verification": {
                "method": "manual-corpus-verification",
                "verified_at": "2026-08-01T12:00:00.000Z",
                "verifier": "ada",
                "verified_ids": ["a", "b"],
            },
        },
    }


def test_the_command_of_a_label_returns_what_it_says(memory, tmp_path):
    execution = label(memory, tmp_path / "l", "--now", "2026-08-05").data["label"]["provenance"]["query_execution"]
    again = memory.call(*execution["command"][1:])
    assert [card["id"] for card in again.data["items"]] == execution["returned_ids"]
    assert "--now=2026-08-05" in execution["command"]


def test_labels_are_taken_by_the_benchmark_and_numbered(memory):
    path = memory.root / "BENCHMARKS" / "labels.jsonl"
    label(memory, path)
    label(memory, path, query=("мост", "d"))
    label(memory, path, query=("--pine", "c"))
    assert [row["id"] for row in rows(path)] == ["q0001", "q0002", "q0003"]
    report = memory.call("benchmark", "--labels", str(path)).data
    assert [each["recall_at_5"] for each in report["configurations"]] == [1.0, 1.0]


def test_a_number_that_is_taken_is_passed_over(memory, tmp_path):
    path = tmp_path / "labels.jsonl"
    path.write_bytes(encode(asking("q0002", "oak", "a")).rstrip())  # its line is not ended
    assert label(memory, path).data["label"]["id"] == "q0003"
    assert [row["id"] for row in rows(path)] == ["q0002", "q0003"]
    done = memory.rows("memory-writes.jsonl")[-1]
    assert (done["hash_after"], done["bytes_after"]) == (sha256(path.read_bytes()).hexdigest(), path.stat().st_size)


@pytest.mark.parametrize("place", ["inside", "outside"])
def test_both_states_of_a_label_are_in_the_audit(memory, tmp_path, place):
    path = tmp_path / "labels.jsonl" if place == "outside" else memory.root / "BENCHMARKS" / "labels.jsonl"
    label(memory, path)
    before = path.read_bytes()
    label(memory, path)
    audit = memory.rows("memory-writes.jsonl")
    assert [(row["act"], row["actor"], row["state"]) for row in audit] == [
        ("benchmark-label", "ada", state) for state in ("intent", "done") * 2
    ]
    assert {row["path"] for row in audit} == {str(path) if place == "outside" else "BENCHMARKS/labels.jsonl"}
    assert audit[-1]["hash_before"] == sha256(before).hexdigest()
    assert audit[-1]["hash_after"] == sha256(path.read_bytes()).hexdigest()
    assert audit[-1]["bytes_after"] == path.stat().st_size


@pytest.mark.parametrize("came_about", [True, False])
def test_a_label_that_was_cut_off_is_accounted_for_by_the_next(memory, came_about):
    path, log = memory.root / "BENCHMARKS" / "labels.jsonl", memory.root / "OBSERVABILITY" / "memory-writes.jsonl"
    label(memory, path)
    log.write_bytes(log.read_bytes().splitlines(keepends=True)[0])  # no row says that it was done
    if not came_about:
        path.unlink()
    label(memory, path)
    states = [(row["state"], row.get("recovered", False)) for row in memory.rows("memory-writes.jsonl")]
    closed = ("done" if came_about else "void", True)
    assert states == [("intent", False), closed, ("intent", False), ("done", False)]


REFUSED = {
    "no such record": (("oak", "ghost"), (3, "not_found"), "ghost"),
    "a record that did not come back": (("oak", "a", "c"), (4, "invalid_input"), "'c' is not among"),
    "an id twice": (("oak", "a", "a"), (4, "invalid_input"), "an id was given twice"),
    "no ids": (("oak",), (4, "invalid_input"), "takes a query"),
    "a query without terms": (("?!", "a"), (4, "invalid_input"), "no searchable terms"),
    "a private query": (("oak <private>x</private>", "a"), (4, "invalid_input"), "which a label would keep"),
    "a query that is no text": (("oak \udcff", "a"), (4, "invalid_input"), "row 1: "),
    "a control character": (("oak \x07", "a"), (4, "invalid_input"), "row 1: query: holds a control character"),
}


@pytest.mark.parametrize(("words", "refusal", "said"), REFUSED.values(), ids=REFUSED)
def test_what_would_be_no_honest_label_is_refused(memory, tmp_path, words, refusal, said):
    path = tmp_path / "labels.jsonl"
    refused = label(memory, path, query=words)
    assert refused.refusal == refusal
    assert said in refused.message
    assert not path.exists()


def test_an_agent_is_no_operator(memory, tmp_path):
    assert label(memory, tmp_path / "l", "--adapter", "claude").refusal == (5, "write_refused")


BAD_FILES = {
    "a link": (lambda path: path.symlink_to("elsewhere"), (4, "invalid_input"), "is a link"),
    "a folder": (Path.mkdir, (4, "invalid_input"), "is a folder"),
    "a bad row": (lambda path: path.write_bytes(encode(ROW) + b"{\n"), (4, "invalid_input"), "row 2: "),
    "a thousand rows": (
        lambda path: path.write_bytes(encode(*[asking(f"i{n}", "oak", "a") for n in range(1000)])),
        (4, "invalid_input"),
        "row 1001: a label file has at most 1000 rows",
    ),
}


@pytest.mark.parametrize(("make", "refusal", "said"), BAD_FILES.values(), ids=BAD_FILES)
def test_a_bad_label_file_is_left_as_it_is(memory, tmp_path, make, refusal, said):
    path = tmp_path / "labels.jsonl"
    make(path)
    before = path.read_bytes() if path.is_file() else None
    refused = label(memory, path)
    assert refused.refusal == refusal
    assert said in refused.message
    assert (path.read_bytes() if path.is_file() else None) == before


@pytest.mark.parametrize("place", ["labels.jsonl", "KNOWLEDGE/labels.jsonl", "OBSERVABILITY/labels.jsonl"])
def test_within_a_memory_labels_lie_in_one_folder(memory, place):
    refused = label(memory, memory.root / place)
    assert refused.refusal == (5, "governance_refused")
    assert "labels lie in BENCHMARKS/ alone" in refused.message
    assert not (memory.root / place).exists()


def test_a_folder_that_is_not_there_is_not_made_outside(memory, tmp_path):
    assert label(memory, tmp_path / "none" / "labels.jsonl").refusal == (5, "governance_refused")


# A person's word.


def test_without_a_terminal_nobody_can_be_asked(memory, tmp_path):
    refused = label(memory, tmp_path / "l", yes=False)
    assert refused.refusal == (4, "invalid_input")
    assert "--yes" in refused.message


@pytest.mark.parametrize(
    ("said", "appended"), [("y\n", True), ("YES\n", True), ("n\n", False), ("\n", False), ("", False)]
)
def test_a_person_is_shown_what_came_back_and_asked(memory, tmp_path, said, appended):
    path = tmp_path / "labels.jsonl"
    with at_a_terminal(said) as shown:
        data = label(memory, path, query=("oak bridge", "b"), yes=False).data
    assert (data["appended"], path.exists()) == (appended, appended)
    first, second, question = shown.getvalue().split("\n")
    assert first == "   1   a  memory  KNOWLEDGE/a.md"
    assert second == "   2 * b  memory  KNOWLEDGE/b.md"
    assert question.startswith("2 came back.")


def test_a_process_asks_on_a_real_terminal(memory, tmp_path):
    ours, theirs = pty.openpty()
    path = tmp_path / "labels.jsonl"
    cortex = Path(sys.executable).with_name("cortex")
    options = ["--labels", path, "--memory-root", memory.root, *OPERATOR]
    command = [cortex, "benchmark", "label", *LABELLED, *options]
    os.write(ours, b"y\n")
    finished = subprocess.run(command, stdin=theirs, stderr=theirs, stdout=subprocess.PIPE, timeout=60)
    shown = os.read(ours, 65_536).decode()
    os.close(ours)
    os.close(theirs)
    assert (finished.returncode, json.loads(finished.stdout)["data"]["appended"]) == (0, True)
    assert "[y/N]" in shown
    assert rows(path)[0]["expected_ids"] == ["a", "b"]


def test_many_results_are_shown_as_far_as_the_last_expected(memory, tmp_path):
    for number in range(30):
        (memory.root / "KNOWLEDGE" / f"n{number:02}.md").write_text(f"---\nid: n{number:02}\n---\nelm {'x ' * number}")
    for expected, lines in (("n03", 10), ("n14", 15)):
        with at_a_terminal("n\n") as shown:
            label(memory, tmp_path / "l", query=("elm", expected), yes=False)
        assert len(shown.getvalue().splitlines()) == lines + 1


def test_one_end_of_a_terminal_is_not_enough(memory, tmp_path, monkeypatch):
    with at_a_terminal("y\n"):
        monkeypatch.setattr(sys, "stderr", io.StringIO())
        assert label(memory, tmp_path / "l", yes=False).refusal == (4, "invalid_input")
    with at_a_terminal():
        monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
        assert label(memory, tmp_path / "l", yes=False).refusal == (4, "invalid_input")


def test_yes_asks_nothing(memory, tmp_path):
    with at_a_terminal("n\n") as shown:
        assert label(memory, tmp_path / "l").data["appended"]
    assert shown.getvalue() == ""
