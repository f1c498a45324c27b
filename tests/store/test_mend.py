"""`mend`: what proves nothing moves aside, what is evidence stays, and the health check is back where it was."""

import json

import pytest
from support.health_tree import MINUTE, NOW, set_time
from support.memories import Recipe, write
from support.running import run
from support.stores import AGENT, OPERATOR, Memory, laid_out

GOOD = b'{"ts":"2026-08-01T11:00:00Z","query_hash":"x","returned_count":0,"duration_ms":1}'
LOG = "OBSERVABILITY/memory-retrievals.jsonl"


def with_log(folder, data, name=LOG):
    memory = laid_out(folder)
    (memory.root / name).write_bytes(data)
    return memory


@pytest.mark.parametrize(
    ("data", "kept", "lines"),
    [
        (GOOD + b"\n", GOOD + b"\n", []),
        (GOOD, GOOD, []),
        (b"", b"", []),
        (b" \t\r\n\n" + GOOD + b"\n", b" \t\r\n\n" + GOOD + b"\n", []),
        (GOOD + b'\n{"ts":', GOOD + b"\n", [2]),
        (b"{torn\n" + GOOD + b"\r\n", GOOD + b"\r\n", [1]),
        (GOOD + b"\n" + b"\0" * 300 + b"\n" + GOOD + b"\n", GOOD + b"\n" + GOOD + b"\n", [2]),
        (GOOD + b"\n" + GOOD + GOOD + b"\n", GOOD + b"\n", [2]),
        (b"[]\n5\nnull\n\xff\n" + GOOD + b"\n", GOOD + b"\n", [1, 2, 3, 4]),
        (b'{"a":1,"a":2}\n{"a":NaN}\n{"a":1e999}\n' + GOOD + b"\n", GOOD + b"\n", [1, 2, 3]),
        (b"\xef\xbb\xbf" + GOOD + b"\nx", b"\xef\xbb\xbf" + GOOD + b"\n", [2]),
        (b"[" * 100_000 + b"\n" + GOOD, GOOD, [1]),
        (b"x", b"", [1]),
    ],
)
def test_malformed_lines_move_aside_and_every_other_byte_stays(tmp_path, data, kept, lines):
    memory = with_log(tmp_path, data)
    preview = memory.call("mend", LOG, "--dry-run", *AGENT[:2]).data
    assert (memory.root / LOG).read_bytes() == data
    done = memory.call("mend", LOG, *OPERATOR).data
    assert (memory.root / LOG).read_bytes() == kept
    assert done["lines"] == preview["lines"] == lines
    if lines:
        moved = (memory.root / done["moved_to"]).read_bytes()
        numbered = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
        assert moved == b"".join(numbered[number - 1] + b"\n" for number in lines)
        row = memory.rows("memory-writes.jsonl")[-1]
        assert (row["act"], row["actor"], row["path"], row["state"]) == ("mend", "ada", LOG, "done")
        assert (row["rows_removed"], row["bytes_before"], row["bytes_after"]) == (len(lines), len(data), len(kept))
    else:
        assert done["moved_to"] is None
    assert memory.call("mend", LOG, *OPERATOR).data["moved"] == 0


@pytest.mark.parametrize(
    "name", ["memory-retrievals.jsonl", LOG, "MEMORY/" + LOG, "{root}/" + LOG, "{home}/MEMORY/" + LOG]
)
def test_a_log_is_named_as_people_and_reports_name_it(tmp_path, name):
    memory = with_log(tmp_path, b"x")
    said = memory.call("mend", name.format(root=memory.root, home=memory.home), "--dry-run")
    assert said.data["log"] == LOG


@pytest.mark.parametrize(
    "name", ["KNOWLEDGE/log.jsonl", "OBSERVABILITY/../KNOWLEDGE/log.jsonl", "/etc/passwd", "OBSERVABILITY/x.txt", "x"]
)
def test_what_is_no_log_of_evidence_is_refused(tmp_path, name):
    memory = laid_out(tmp_path)
    assert memory.call("mend", name, *OPERATOR).refusal == (4, "invalid_input")


def test_a_log_that_is_not_there_or_a_link_is_not_mended(tmp_path):
    memory = laid_out(tmp_path)
    assert memory.call("mend", LOG, *OPERATOR).refusal == (3, "not_found")
    (memory.root / LOG).symlink_to(tmp_path / "elsewhere")
    assert memory.call("mend", LOG, *OPERATOR).refusal == (5, "governance_refused")


SKIP = {"ts": "2026-08-01T11:00:00Z", "ok": True, "runId": "r", "exchanges": 0, "inference_duration_ms": 0,
        "parse_ok": True, "skipped": True}  # fmt: skip


@pytest.mark.parametrize(
    ("log", "row", "moves"),
    [
        ("memory-retrievals.jsonl", json.loads(GOOD), False),
        ("memory-retrievals.jsonl", {**json.loads(GOOD), "colour": "red"}, True),
        ("memory-retrievals.jsonl", {"ts": "yesterday"}, True),
        ("reviewer-runs.jsonl", SKIP, False),
        ("reviewer-runs.jsonl", {"ts": "2026-08-01T11:00:00Z", "ok": False}, False),
        ("reviewer-runs.jsonl", {"ts": "2026-08-01T11:00:00Z", "ok": False, "error": "timed out"}, False),
        ("reviewer-runs.jsonl", {**SKIP, "exchanges": 1}, True),
        ("reviewer-runs.jsonl", {**SKIP, "ts": "yesterday"}, True),
        ("pending-proposals.jsonl", {"id": "p", "status": "pending"}, False),
        ("pending-proposals.jsonl", {"id": "p", "status": None}, True),
        ("memory-writes.jsonl", {"any": "row"}, False),
    ],
)
def test_a_row_is_moved_by_its_number_only_where_its_shape_proves_nothing(tmp_path, log, row, moves):
    """A sound row never moves: evidence of a failure is evidence."""
    line = json.dumps(row).encode() + b"\n"
    memory = with_log(tmp_path, line * 2, f"OBSERVABILITY/{log}")
    said = memory.call("mend", log, "--row", "2", *OPERATOR)
    if moves:
        assert 2 in said.data["lines"]
    else:
        assert said.refusal == (5, "governance_refused")
        assert (memory.root / "OBSERVABILITY" / log).read_bytes() == line * 2
    assert memory.call("mend", log, "--row", "7", *OPERATOR).refusal == (3, "not_found")


def test_a_loss_that_is_accepted_is_a_row_of_the_audit_and_nothing_else(tmp_path):
    memory = with_log(tmp_path, b"x\n")
    assert memory.call("mend", LOG, "--accept-loss", "--dry-run").data["accepted_loss"] is False
    before = (memory.root / LOG).read_bytes()
    assert memory.call("mend", LOG, "--accept-loss", *OPERATOR).data["accepted_loss"] is True
    row = memory.rows("memory-writes.jsonl")[-1]
    assert (row["act"], row["reason"], row["path"], row["bytes_after"]) == ("mend", "accept-loss", LOG, 2)
    assert (memory.root / LOG).read_bytes() == before
    assert memory.call("mend", LOG, "--accept-loss", "--row", "1", *OPERATOR).refusal == (4, "invalid_input")


@pytest.mark.parametrize("log", ["memory-writes.jsonl", "tier-b-writes.jsonl"])
def test_the_audit_itself_can_be_mended_and_the_other_log_says_so(tmp_path, log):
    memory = with_log(tmp_path, b'{"a":1}\n{torn', f"OBSERVABILITY/{log}")
    assert memory.call("mend", log, *OPERATOR).data["lines"] == [2]
    assert (memory.root / "OBSERVABILITY" / log).read_bytes() == b'{"a":1}\n'
    other = "tier-b-writes.jsonl" if log == "memory-writes.jsonl" else "memory-writes.jsonl"
    assert memory.rows(other)[-1]["path"] == f"OBSERVABILITY/{log}"


DAMAGES = {
    "torn": lambda data: data + b'{"ts":"2026-08-10T11:',
    "two on a line": lambda data: data + data.splitlines()[-1] + data.splitlines()[-1] + b"\n",
    "zeros": lambda data: b"\0" * 300 + b"\n" + data,
    "no UTF-8": lambda data: b"\xff\xfe\n" + data,
    "no object": lambda data: data + b"[]\n",
    "a key twice": lambda data: data + b'{"status":"pending","status":"sent"}\n',
    "no JSON number": lambda data: data + b'{"a":NaN}\n',
    "nested": lambda data: data + b"[" * 100_000 + b"\n",
}


@pytest.mark.parametrize("log", ["reviewer-runs.jsonl", "memory-retrievals.jsonl", "pending-proposals.jsonl"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_after_mending_each_kind_of_damage_the_health_check_is_back_where_it_was(tmp_path, log, damage):
    home = write(Recipe(), tmp_path).home
    root = home / "MEMORY"
    audited = ("--memory-root", str(root), "--now", str(NOW), "--no-write", "--json")
    before = run(*audited)
    path = root / "OBSERVABILITY" / log
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    set_time(path, NOW - MINUTE)
    assert run(*audited).exit_code > before.exit_code
    assert Memory(root, home, NOW).call("mend", log, *OPERATOR).exit == 0
    for written in root.glob("OBSERVABILITY/*.jsonl"):
        set_time(written, NOW - MINUTE)
    after = run(*audited)
    assert after.exit_code == before.exit_code
    assert after.finding_ids == before.finding_ids
