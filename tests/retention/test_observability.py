"""`compact --observability`: logs that made the auditor warn are brought back, and no evidence is lost."""

import gzip
import json
import os

import pytest
from support.health_tree import HOUR, MINUTE, NOW
from support.memories import Recipe, set_age, write, write_rows
from support.running import run
from support.stores import OPERATOR, Memory

from policies.timestamps import format_instant

DAY = 24 * HOUR
PLAIN = ("--json", "--no-write")


@pytest.fixture
def memory(tmp_path):
    """A memory in which all is well, by the auditor's own word."""
    places = write(Recipe(), tmp_path)
    assert audited(places).exit_code == 0
    return places


def audited(places):
    return run("--root", places.root, "--now", str(NOW), *PLAIN)


def verdicts(places):
    report = audited(places).report
    return {check["id"]: (check["status"], check["summary"]) for check in report["checks"] if check["id"] in SAME}


SAME = ("reviewer", "retrieval", "proposals")


def caller(places, now=NOW):
    return Memory(places.memory_root, places.home, now)


def compact(places, *words, **variables):
    said = caller(places).call("compact", "--observability", *(words or OPERATOR), environment=variables)
    settle(places)
    return said.data


def settle(places):
    """What was written just now was written at NOW, as far as the auditor can tell."""
    for path in places.observability.rglob("*"):
        if path.is_file() and path.stat().st_mtime_ns > NOW * 1_000_000:
            set_age(path, MINUTE)


@pytest.mark.parametrize(("age", "warned"), [(30 * DAY, False), (30 * DAY + MINUTE, True), (40 * DAY, True)])
def test_a_log_that_nobody_writes_any_more_is_compressed_and_the_verdict_is_ok_again(memory, age, warned):
    old = memory.observability / "old.jsonl"
    old.write_bytes(b'{"a":1}\n' * 100)
    set_age(old, age)
    answer = audited(memory)
    assert (answer.exit_code, "old.jsonl" in answer.stdout) == (
        int(warned),
        True if warned else "old.jsonl" in answer.stdout,
    )
    before = verdicts(memory)
    data = compact(memory)
    assert old.exists() != warned
    if warned:
        assert gzip.decompress(old.with_name("old.jsonl.gz").read_bytes()) == b'{"a":1}\n' * 100
        assert data["removed"] == ["OBSERVABILITY/old.jsonl"]
    assert audited(memory).exit_code == 0
    assert verdicts(memory) == before


def test_a_name_that_comes_back_gets_another_compressed_file(memory):
    old = memory.observability / "old.log"
    for text in (b"one\n", b"two\n"):
        old.write_bytes(text)
        set_age(old, 40 * DAY)
        compact(memory)
    kept = sorted(gzip.decompress(path.read_bytes()) for path in memory.observability.glob("old*.gz"))
    assert kept == [b"one\n", b"two\n"]


def aged_rows(places, log, key, days):
    rows = [json.loads(line) for line in getattr(places, log).read_bytes().splitlines()]
    old = [{**rows[-1], key: format_instant(NOW - day * DAY)} for day in days]
    write_rows(getattr(places, log), [*old, *rows])
    return len(old)


def test_a_live_log_over_the_size_is_shortened_under_an_audit_and_keeps_what_counts(memory):
    before = verdicts(memory)
    aged_rows(memory, "retrieval_log", "ts", range(100, 7, -1))
    aged_rows(memory, "reviewer_log", "ts", range(100, 7, -1))
    whole = memory.retrieval_log.read_bytes()
    data = compact(memory, CORTEX_OBSERVABILITY_MAX_BYTES="100")
    rotated = {one["path"]: one for one in data["rotated"]}
    one = rotated["OBSERVABILITY/memory-retrievals.jsonl"]
    assert one["rows"] == 93
    aside = gzip.decompress((memory.memory_root / one["to"]).read_bytes())
    assert aside + memory.retrieval_log.read_bytes() == whole
    rows = [json.loads(line) for line in (memory.observability / "memory-writes.jsonl").read_text().splitlines()]
    told = [row for row in rows if row["path"] == one["path"] and row["state"] == "done"]
    assert (told[-1]["act"], told[-1]["rows_removed"]) == ("compact", 93)
    assert told[-1]["bytes_after"] < told[-1]["bytes_before"] == len(whole)
    assert verdicts(memory) == before
    assert audited(memory).exit_code == 0


def test_a_live_log_that_is_only_old_is_renewed_without_losing_a_row(memory):
    rows = [{"id": str(n), "status": status} for n, status in enumerate(["pending", "accepted", "pending"])]
    write_rows(memory.proposal_queue, [{**row, "ts": format_instant(NOW - 50 * DAY)} for row in rows])
    set_age(memory.proposal_queue, 50 * DAY)
    assert audited(memory).finding_ids == ["observability-age-exceeded"]
    before = verdicts(memory)
    compact(memory)
    left = [json.loads(line)["id"] for line in memory.proposal_queue.read_bytes().splitlines()]
    assert left == ["0", "2"]
    assert audited(memory).exit_code == 0
    assert verdicts(memory)["proposals"][0] == before["proposals"][0]
    set_age(memory.proposal_queue, 50 * DAY)
    held = memory.proposal_queue.read_bytes()
    assert compact(memory)["rotated"] == [{"path": "OBSERVABILITY/pending-proposals.jsonl", "rows": 0, "to": None}]
    assert memory.proposal_queue.read_bytes() == held
    assert audited(memory).exit_code == 0


@pytest.mark.parametrize("tail", [b"", b'{"ts":"2026-0', b"not json\n", b"\n\n"])
def test_what_cannot_be_read_or_dated_stays(memory, tail):
    old = json.dumps({"timestamp": format_instant(NOW - 50 * DAY), "tool_name": "x"}).encode() + b"\n"
    undated = b'{"tool_name":"y"}\n[1]\n{"timestamp":17}\n'
    log = memory.observability / "tool-activity.jsonl"
    log.write_bytes(old + undated + old + tail)
    set_age(log, 50 * DAY)
    compact(memory)
    kept = log.read_bytes()
    assert undated in kept
    assert kept.endswith(tail or old)
    assert kept.count(b'"x"') == (1 if tail in (b"", b"\n\n") else 0)


def test_an_intent_that_is_open_stays_in_the_audit(memory):
    old = format_instant(NOW - 50 * DAY)
    rows = [
        {"ts": old, "path": path, "state": state} for path, state in (("a", "intent"), ("b", "intent"), ("b", "done"))
    ]
    log = memory.observability / "memory-writes.jsonl"
    write_rows(log, [*rows, {"ts": old, "path": "c", "state": "done"}])
    set_age(log, 50 * DAY)
    compact(memory)
    kept = [json.loads(line) for line in log.read_bytes().splitlines()]
    assert [(row["path"], row["state"]) for row in kept if row["path"] in "abc"] == [("a", "intent"), ("c", "done")]


def test_it_can_be_taken_back_unless_somebody_wrote_the_log_since(memory):
    old = memory.observability / "old.jsonl"
    old.write_bytes(b"{}\n")
    set_age(old, 40 * DAY)
    aged_rows(memory, "retrieval_log", "ts", range(60, 40, -1))
    set_age(memory.retrieval_log, 40 * DAY)
    whole = memory.retrieval_log.read_bytes()
    plan = compact(memory)["plan"]
    held = memory.retrieval_log.read_bytes()
    with memory.retrieval_log.open("ab") as log:
        log.write(held.splitlines(keepends=True)[-1])
    said = caller(memory).call("undo", plan, *OPERATOR)
    assert said.refusal == (5, "governance_refused")
    assert "memory-retrievals.jsonl was changed since" in said.message
    memory.retrieval_log.write_bytes(held)
    assert caller(memory).call("undo", plan, *OPERATOR).data["state"] == "undone"
    assert memory.retrieval_log.read_bytes() == whole
    assert old.read_bytes() == b"{}\n"
    assert not list(memory.observability.rglob("*.gz"))


def test_a_dry_run_and_a_memory_in_order_change_nothing(memory):
    old = memory.observability / "old.jsonl"
    old.write_bytes(b"{}\n")
    before = {path: path.stat().st_mtime_ns for path in memory.root.rglob("*")}
    data = compact(memory)
    assert (data["plan"], data["rotated"], data["removed"]) == (None, [], [])
    set_age(old, 40 * DAY)
    before[old] = old.stat().st_mtime_ns
    assert compact(memory, "--dry-run")["removed"] == ["OBSERVABILITY/old.jsonl"]
    assert {path: path.stat().st_mtime_ns for path in memory.root.rglob("*") if path in before} == before


def test_a_link_among_the_logs_is_left_alone(memory, tmp_path):
    (tmp_path / "target").write_bytes(b"{}\n")
    os.utime(tmp_path / "target", ns=((NOW - 40 * DAY) * 1_000_000,) * 2)
    (memory.observability / "x.jsonl").symlink_to(tmp_path / "target")
    assert compact(memory)["removed"] == []
    assert (memory.observability / "x.jsonl").is_symlink()


def test_after_forget_the_auditor_warns_only_once_the_mark_is_overdue(memory):
    note = memory.memory_root / "KNOWLEDGE/x.md"
    note.parent.mkdir(exist_ok=True)
    note.write_text(f"---\nid: x\nlevel: L3\ncreated: {format_instant(NOW - 400 * DAY)}\n---\n")
    assert caller(memory, NOW - 45 * DAY).call("forget", *OPERATOR).data["marked"] == 1
    settle(memory)
    assert "retention-archive-overdue" not in audited(memory).finding_ids
    later = run("--root", memory.root, "--now", str(NOW + 1), *PLAIN)
    assert "retention-archive-overdue" in later.finding_ids
    caller(memory).call("archive", *OPERATOR)
    assert "retention-archive-overdue" not in run("--root", memory.root, "--now", str(NOW + 1), *PLAIN).finding_ids
