"""Faults that people reported against tools of this kind, the parts that the writing commands can show."""

import errno
import json
import os
import resource
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256

import pytest
from support.health_tree import MINUTE, NOW, set_time
from support.memories import Recipe, proposed, write, write_rows
from support.running import Run, clean_environment, run
from support.stores import AGENT, IDEA, ITEMS, OPERATOR, PERSON, PROPOSAL, RULE, Memory, laid_out, texts_below
from support.trees import fingerprint


def audited(places) -> Run:
    for path in places.home.rglob("OBSERVABILITY/*.jsonl"):
        set_time(path, NOW - MINUTE)
    return run("--root", places.root, "--now", str(NOW), "--json", "--no-write")


def memory_at(places) -> Memory:
    return Memory(places.home / "MEMORY", places.home, NOW - MINUTE)


class TestEvidenceWithoutAProducer:
    """F04: what the auditor asks for can be made with a command that we ship, and only when it is asked to."""

    def test_a_recorded_search_brings_the_retrieval_check_back(self, tmp_path):
        places = write(Recipe(retrieval=None, notes=1), tmp_path)
        assert (audited(places).exit_code, audited(places).finding_ids) == (1, ["retrieval-missing"])
        assert memory_at(places).call("search", "note", "--record").exit == 0
        assert audited(places).exit_code == 0

    @pytest.mark.parametrize(
        ("words", "environment", "rows"),
        [
            ((), {}, 0),
            ((), {"CORTEX_RECORD_RETRIEVALS": "0"}, 0),
            ((), {"CORTEX_RECORD_RETRIEVALS": "1"}, 1),
            (("--record",), {}, 1),
        ],
    )
    def test_search_writes_nothing_unless_it_is_asked_to(self, tmp_path, words, environment, rows):
        memory = laid_out(tmp_path)
        before = fingerprint(tmp_path)
        memory.call("search", "tide", *words, environment=environment)
        assert len(memory.rows("memory-retrievals.jsonl")) == rows
        assert (fingerprint(tmp_path) == before) == (not rows)

    def test_the_row_says_how_much_and_how_well_and_never_what(self, tmp_path):
        memory = laid_out(tmp_path)
        memory.remember(IDEA)
        found = memory.call("search", "tide", "--record")
        memory.call("search", "nothing <private>s3cret</private>", "--record")
        first, second = memory.rows("memory-retrievals.jsonl")
        assert first == {
            "ts": "2026-08-01T12:00:00.000Z", "query_hash": sha256(b"tide").hexdigest()[:16], "returned_count": 1,
            "duration_ms": 0, "top_score": found.data["items"][0]["score"],
        }  # fmt: skip
        assert list(second) == ["ts", "query_hash", "returned_count", "duration_ms"]
        assert second["query_hash"] == sha256(b"nothing ").hexdigest()[:16]

    @pytest.mark.parametrize("obstacle", ["link", "folder", "locks"])
    def test_a_row_that_cannot_be_written_is_a_warning_and_the_answer_stands(self, tmp_path, obstacle, capsys):
        memory = laid_out(tmp_path)
        if obstacle == "locks":
            (memory.root / "CORTEX").rename(memory.root / "other")
            (memory.root / "CORTEX").symlink_to(memory.root / "other")
        elif obstacle == "link":
            (memory.root / "OBSERVABILITY/memory-retrievals.jsonl").symlink_to(tmp_path / "outside")
        else:
            (memory.root / "OBSERVABILITY/memory-retrievals.jsonl").mkdir()
        assert memory.call("search", "tide", "--record").exit == 0
        assert "was not recorded" in capsys.readouterr().err
        assert not (tmp_path / "outside").exists()

    def test_a_search_that_fails_leaves_no_row(self, tmp_path):
        memory = laid_out(tmp_path)
        assert memory.call("search", "tide", "--record", "--page", "0").exit == 4
        assert memory.rows("memory-retrievals.jsonl") == []


class TestADeadStateMachine:
    """F05: a backlog that nobody can work off. Deciding moves a row out of pending."""

    def test_a_backlog_is_worked_off_by_deciding(self, tmp_path):
        places = write(Recipe(proposals=("pending",) * 11), tmp_path)
        assert audited(places).finding_ids == ["proposal-backlog-high"]
        memory = memory_at(places)
        assert memory.decide("p0", "reject").exit == 0
        assert (audited(places).exit_code, audited(places).finding_ids) == (0, [])

    def test_a_row_without_a_status_is_mended_away_and_kept(self, tmp_path):
        places = write(Recipe(proposals=()), tmp_path)
        queue = places.home / "MEMORY/OBSERVABILITY/pending-proposals.jsonl"
        others = [proposed(20, status) for status in ("Pending", "pending ", "sent", None)]
        write_rows(queue, [*(proposed(number, "pending") for number in range(10)), *others, {"id": "p30"}])
        assert (audited(places).exit_code, audited(places).finding_ids) == (1, ["proposal-evidence-malformed"])
        moved = memory_at(places).call("mend", "pending-proposals.jsonl", *OPERATOR).data
        assert moved["lines"] == [14, 15]
        assert '"p30"' in (places.home / "MEMORY" / moved["moved_to"]).read_text()
        assert audited(places).exit_code == 0


class TestOneIngestionPathMissed:
    """F34: private text leaves no trace, whatever field it comes in."""

    PRIVATE = "<private>s3cret</private>"

    @pytest.mark.parametrize("opener", ["<private>s3cret</private>", "<ｐrivate>s3cret", "＜private>s3cret"])
    def test_private_text_in_every_field_leaves_no_trace_anywhere(self, tmp_path, opener):
        memory = laid_out(tmp_path)
        hidden = [
            {**IDEA, "title": f"a{opener}", "content": f"b{opener}", "source_session": f"s{opener}",
             "related": [{"slug": f"x{opener}", "type": f"related{opener}"}]},
            {**PERSON, "entity_type": f"person{opener}", "name": f"c{opener}", "content": f"d{opener}"},
            {**RULE, "actor": f"principal{opener}", "content": f"RULE: e{opener}", "provenance": f"explicit{opener}"},
            {**RULE, "op": f"set{opener}", "entries": [f"RULE: f{opener}"]},
            {**PROPOSAL, "edit": f"g{opener}", "rationale": f"h{opener}", "source_session": f"t{opener}",
             "target_kind": f"definition{opener}"},
        ]  # fmt: skip
        del hidden[3]["content"]
        for item in hidden:
            for _ in range(2):  # a second time, so that files grow and snapshots are taken
                assert memory.write(item).exit == 0, item
        assert memory.write({**PROPOSAL, "target_file": f"USER/DEFINITIONS.md{opener}"}).exit == 4
        assert memory.write({**IDEA, opener: 1}).exit == 4
        identity = memory.rows("pending-proposals.jsonl")[0]["id"]
        assert memory.decide(identity, "edit", "--edit", f"i{opener}").exit == 0
        assert memory.decide(identity, "accept").exit == 0
        other = memory.rows("pending-proposals.jsonl")[1]["id"]
        digest = memory.call("proposals", "show", other).data["digest"]
        words = ("--digest", digest, "--operator", f"ada{opener}", "--allow-write")
        assert memory.call("proposals", "decide", other, "reject", *words).exit == 0
        memory.call("search", f"tide {opener}", "--record")
        assert "s3cret" not in texts_below(tmp_path)


class TestInjection:
    """F35: a name that would be more than a name."""

    @pytest.mark.parametrize(
        "name",
        ["A\ntype: proposal\nid: x", "---", "<!-- x", "\a", "a\u2028b", "a\u2029b", "x" * 1025, "a\rb", "a\x85b"],
    )
    def test_a_name_that_breaks_out_of_its_line_is_refused_and_nothing_changes(self, tmp_path, name):
        memory = laid_out(tmp_path)
        before = fingerprint(tmp_path)
        for item in ({**PERSON, "name": name}, {**IDEA, "title": name}):
            assert memory.remember(item).refusal == (4, "invalid_input")
        assert fingerprint(tmp_path) == before

    @pytest.mark.parametrize(
        "name", ['"', "'", "a: b", "# x", "[x]", "{x}", "&x", "*x", "id: x", "\\", '\\"', "'\"", "- x"]
    )
    def test_a_name_that_yaml_could_misread_is_a_name_and_nothing_else(self, tmp_path, name):
        memory = laid_out(tmp_path)
        data = memory.remember({**PERSON, "name": name}).data
        record = memory.call("get", data["id"]).data["items"][0]
        assert (record["type"], record["provenance"]["path"]) == ("person", data["path"])
        assert memory.remember({**PERSON, "name": name}).data["outcome"] == "appended"

    def test_content_that_looks_like_frontmatter_stays_content(self, tmp_path):
        memory = laid_out(tmp_path)
        text = "---\nid: stolen\ntype: proposal\n---\n<!-- BEGIN ENTRIES -->"
        data = memory.remember({**IDEA, "content": text}).data
        memory.remember({**IDEA, "content": text})
        record = memory.call("get", data["id"]).data["items"][0]
        assert (record["id"], record["type"]) == (data["id"], "idea")
        assert record["content"].count(text) == 2


class TestNotAtomic:
    """F37: a disk without room. The old content is intact, nothing is left over, the exit says so."""

    @pytest.mark.parametrize("kind", ITEMS)
    def test_a_file_that_may_not_grow_is_a_refusal(self, tmp_path, kind):
        memory = laid_out(tmp_path)
        item = {**ITEMS[kind], **({"content": "y" * 20_000} if kind in ("idea", "knowledge") else {})}
        if kind == "memory":
            for number in range(30):
                memory.remember({**RULE, "content": f"RULE: {number} {'x' * 200}"})
        if kind == "proposal":
            item["edit"] = "y" * 20_000
        before = [texts_below(folder) for folder in (memory.root / "KNOWLEDGE", tmp_path / "USER")]
        finished = in_a_process(memory, item, limit=4096)
        assert finished.returncode == 5
        assert json.loads(finished.stdout)["error"]["code"] == "governance_refused"
        assert os.strerror(errno.EFBIG) in json.loads(finished.stdout)["error"]["message"]
        assert [texts_below(folder) for folder in (memory.root / "KNOWLEDGE", tmp_path / "USER")] == before
        assert not list(tmp_path.rglob(".cortex-*"))
        assert memory.write(item).exit == 0


class TestConcurrency:
    """F38: many at once. All are there, or said that they are not."""

    def test_twenty_at_once_are_twenty(self, tmp_path):
        memory = laid_out(tmp_path)
        items = [{**IDEA, "title": f"Idea {number}", "content": f"c{number}"} for number in range(20)]
        with ThreadPoolExecutor(4) as pool:
            done = list(pool.map(lambda item: in_a_process(memory, item).returncode, items))
        assert done == [0] * 20
        assert memory.records() == 20
        rows = memory.rows("tier-b-writes.jsonl")
        assert len({row["path"] for row in rows if row["state"] == "done"}) == 20


def in_a_process(memory, item, limit=None):
    """Remember or propose in a process of its own, which may not write more than so many bytes into a file."""
    command = "propose" if item["type"] == "proposal" else "remember"
    words = [sys.executable, "-B", "-m", "cortex", command, "-", *AGENT, "--memory-root", str(memory.root)]

    def limited():
        if limit:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return subprocess.run(
        words, input=json.dumps(item).encode(), env=clean_environment(), capture_output=True, preexec_fn=limited
    )
