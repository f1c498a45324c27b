"""The reading commands as a whole: what each says, in which order it refuses, and what it never says."""

import os

import pytest
from support.asking import READS, ask, data, ids, write

OAK = "---\nid: {}\ncreated: 2026-01-01\n{}---\noak\n"


@pytest.fixture
def memory(tmp_path):
    return write(
        tmp_path,
        a_md=OAK.format("a", ""),
        old_md=OAK.format("old", "valid_until: 2026-08-10T12:00:00Z\n"),
        soon_md=OAK.format("soon", "valid_from: 2026-08-10T12:00:01Z\n"),
        hidden_md="---\nid: hidden\ntitle: <private>t</private>\n---\noak\n",
        cut_md=OAK.format("cut", "") + "more <private-x> of it\n",
    )


def test_status_counts_all_records_and_what_privacy_did(memory):
    assert data(memory, "status") == {
        "canonical": {"root": str(memory), "records": 4},
        "mode": "local-read-only",
        "indexes": [],
        "notes": {"cut-by-untrusted-opener": 1, "withheld": 1},
    }


def test_only_what_is_valid_now_takes_part(memory):
    assert "old" not in ids(memory, "search", "oak")
    assert "soon" not in ids(memory, "timeline", "--anchor", "2026-01-01", "--after", "100")
    assert set(ids(memory, "search", "oak", "--now", "2026-08-10T12:00:01Z")) == {"a", "cut", "soon"}
    assert set(ids(memory, "search", "oak", "--now", "2026-08-10T11:59:59.999Z")) == {"a", "cut", "old"}
    for command in ("get", "export"):
        assert ask(memory, command, "a", "old")[0] == 3
    assert ask(memory, "search", "oak", "--expand", "soon")[0] == 3


@pytest.mark.parametrize(("subject", "reason"), [("old", "validity"), ("hidden", "withheld"), ("a", None)])
def test_a_search_explains_what_is_not_found(memory, subject, reason):
    explained = data(memory, "search", "oak", "--explain", subject)["explain"]
    assert (explained["found"], explained.get("reason")) == (reason is None, reason)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["search", "oak", "--explain", "none"], "not_found", "explain"),
        (["search", "oak", "--expand", "none"], "not_found", "expand"),
        (["search", "oak", "--expand", "none", "--page", "0"], "invalid_input", "--page"),
        (["search", "oak", "--max-nodes", "0"], "invalid_input", "--max-nodes"),
        (["search", "oak", "--max-tokens", "50001"], "invalid_input", "--max-tokens"),
        (["search", "oak", "--recency", "1000001"], "invalid_input", "--recency"),
        (["search", "oak", "--recency", "nan"], "invalid_input", "--recency"),
        (["search", "oak", "--from", "2026-08-01T00:00"], "invalid_input", "--from"),
        (["search", "oak", "--analyzer", "porter"], "invalid_input", "--analyzer"),
        (["search", "oak", "--now", "noon"], "invalid_input", "--now"),
        (["search", "!"], "invalid_input", "no searchable terms"),
        (["search", "a " * 65], "invalid_input", "at most 64 terms"),
        (["search", "a" * 2049], "invalid_input", "at most 2048 characters"),
        (["timeline", "--anchor", "none"], "not_found", "anchor"),
        (["timeline", "--anchor", "none", "--before", "101"], "invalid_input", "--before"),
        (["get", "a", "none", "nil"], "not_found", "'none' and 1 more"),
    ],
)
def test_a_bad_value_comes_before_what_is_not_there(memory, words, code, said):
    _, envelope = ask(memory, *words)
    assert envelope["error"]["code"] == code
    assert said in envelope["error"]["message"]


@pytest.mark.parametrize("weight", ["0", "0.5", ".5", "5.", "1e6", "1E-3"])
def test_recency_takes_plain_numbers(memory, weight):
    assert ids(memory, "search", "oak", "--recency", weight)


def test_every_read_refuses_an_unsound_memory_alike_whatever_it_asks(memory):
    write(memory, bad_md="---\ncreated: soon\n---\n")
    for words in (*READS, ("search", "!", "--page", "0"), ("timeline", "--anchor", "none")):
        status, envelope = ask(memory, *words)
        assert (status, envelope["error"]["code"]) == (4, "integrity_error")
        assert "KNOWLEDGE/bad.md" in envelope["error"]["message"]


def test_a_date_bounds_its_whole_day(memory):
    write(memory, late_md="---\nid: late\ncreated: 2026-01-01T23:59:59.999Z\n---\noak\n")
    assert "late" in ids(memory, "search", "oak", "--to", "2026-01-01")
    assert "late" not in ids(memory, "search", "oak", "--to", "2026-01-01T23:59:59Z")
    assert ids(memory, "search", "oak", "--from", "2026-01-02") == []
    assert ids(memory, "search", "oak", "--from", "2026-01-02", "--to", "2026-01-01") == []


def test_a_page_past_the_end_is_empty(memory):
    listing = data(memory, "search", "oak", "--page", "9007199254740991")
    assert (listing["items"], listing["page"]) == ([], 9007199254740991)


def test_ids_come_back_in_the_order_asked_and_as_often(memory):
    assert ids(memory, "get", "cut", "a", "cut") == ["cut", "a", "cut"]


def test_a_rebuild_reads_twice_and_agrees(memory):
    rebuilt = data(memory, "rebuild", "--from-canonical")
    assert rebuilt["equivalent"] is True
    assert rebuilt["canonical_digest"] == rebuilt["rebuilt_digest"]


def test_a_check_is_a_gate_and_lists_every_fault_with_its_place(memory):
    assert data(memory, "check")["sound"] is True
    write(
        memory,
        bad_md="---\nid: a\ncreated: soon\n---\nx\n\x07y\n",
        rows_jsonl='{"id":"a"}\n{bad\n'
        '{"id":"r","type":"t","title":"t","created":"2026-01-01","updated":"2026-01-01","content":"c"}\n',
    )
    (memory / "KNOWLEDGE" / "link.md").symlink_to("a.md")
    os.mkfifo(memory / "KNOWLEDGE" / "pipe.md")
    status, envelope = ask(memory, "check")
    assert (status, envelope["error"]["code"]) == (4, "integrity_error")
    listed = data(memory, "check", "--list")
    assert envelope["error"]["message"].startswith(f"{listed['total']} faults, the first: KNOWLEDGE/bad.md")
    assert listed["sound"] is False
    assert listed["by_kind"]["field"] == 5
    places = [(fault["path"].removeprefix("KNOWLEDGE/"), fault["line"], fault["kind"]) for fault in listed["items"]]
    assert [place for place in places if place[2] != "field"] == [
        ("bad.md", None, "duplicate-id"),
        ("bad.md", None, "timestamp"),
        ("bad.md", 6, "control-character"),
        ("link.md", None, "link"),
        ("pipe.md", None, "special-file"),
        ("rows.jsonl", 2, "json"),
    ]
    assert all(fault["remedy"] and fault["message"] for fault in listed["items"])
    assert {note["kind"] for note in listed["notes"]} == {"withheld", "cut-by-untrusted-opener"}


def test_a_check_pages_its_faults(tmp_path):
    write(tmp_path, rows_jsonl="x\n" * 7)
    pages = [data(tmp_path, "check", "--list", "--page-size", "3", "--page", str(number)) for number in (1, 2, 3, 4)]
    assert [[fault["line"] for fault in page["items"]] for page in pages] == [[1, 2, 3], [4, 5, 6], [7], []]
    assert ask(tmp_path, "check", "--list", "--page-size", "101")[0] == 4


@pytest.mark.parametrize("kind", ["missing", "file", "dangling"])
def test_a_root_that_is_no_folder_is_an_integrity_error_for_every_read(tmp_path, kind):
    root = tmp_path / "root"
    if kind == "file":
        root.write_text("x")
    elif kind == "dangling":
        root.symlink_to("nowhere")
    for words in (*READS, ("check", "--list")):
        status, envelope = ask(root, *words)
        assert (status, envelope["error"]["code"]) == (4, "integrity_error")
        assert str(root) in envelope["error"]["message"]
