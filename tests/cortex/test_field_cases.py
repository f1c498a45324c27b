"""Faults that people reported against tools of this kind, as small memories; each stands for its kind."""

import json
import os

import pytest
from support.asking import READS, ask, data, ids, write

NOTE = "---\nid: a\ncreated: 2026-08-01\n---\n{}\n"


def test_f13_a_note_with_a_tail_of_nul_bytes_is_named(tmp_path):
    write(tmp_path, a_md=NOTE.format("oak").encode() + bytes(4096))
    for words in READS:
        status, envelope = ask(tmp_path, *words)
        assert (status, envelope["error"]["code"]) == (4, "integrity_error")
        assert "KNOWLEDGE/a.md" in envelope["error"]["message"]


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\u0085", "\v", "\f", "\r"])
def test_f14_only_a_line_feed_ends_a_row(tmp_path, separator):
    row = {"id": "a", "type": "t", "title": "t", "created": "2026-01-01", "updated": "2026-01-01"}
    text = json.dumps({**row, "content": "SEP <private>aSEPs3cret</private> oak"}, ensure_ascii=False)
    write(tmp_path, rows_jsonl=text.replace("SEP", separator) + "\n")
    status, envelope = ask(tmp_path, "get", "a")
    assert "s3cret" not in json.dumps(envelope)
    if separator in "\u2028\u2029":
        assert (status, envelope["data"]["items"][0]["content"]) == (0, f"{separator}  oak")
    else:
        assert (status, envelope["error"]["code"]) == (4, "integrity_error")


@pytest.mark.parametrize("zone", ["UTC", "Asia/Kathmandu", "America/St_Johns"])
def test_f22_dates_and_instants_stand_in_order_in_every_zone(tmp_path, monkeypatch, zone):
    monkeypatch.setenv("TZ", zone)
    write(
        tmp_path,
        date_md="---\nid: date\ncreated: 2026-08-01\n---\n",
        instant_md="---\nid: instant\ncreated: 2026-08-01T10:00:00Z\n---\n",
        offset_md="---\nid: offset\ncreated: 2026-08-01T11:30:00+02:00\n---\n",
    )
    assert ids(tmp_path, "timeline", "--anchor", "2026-07-01") == ["date", "offset", "instant"]


@pytest.mark.parametrize(
    "created",
    ["'2026-08-01T10:00:00'", "2026-08-01 10:00:00+02:00", "2026-02-30", "1786363200000", "2026-02-16 05:27:54 PST"],
)
def test_f22_any_other_form_of_a_date_is_named_and_never_read_as_a_wrong_instant(tmp_path, created):
    write(tmp_path, a_md=f"---\nid: a\ncreated: {created}\n---\n")
    status, envelope = ask(tmp_path, "timeline", "--anchor", "2026-01-01")
    assert (status, envelope["error"]["code"]) == (4, "integrity_error")
    assert "KNOWLEDGE/a.md" in envelope["error"]["message"]
    assert created.strip("'") in envelope["error"]["message"]


def test_f26_line_ends_and_byte_order_marks_change_nothing(tmp_path):
    text = "---\nid: ID\ntype: idea\ncreated: 2026-08-01\n---\nwindy oak\n"
    forms = {
        "lf": text.encode(),
        "crlf": text.replace("\n", "\r\n").encode(),
        "bom": b"\xef\xbb\xbf" + text.encode(),
        "bomcrlf": b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode(),
    }
    for name, content in forms.items():
        write(tmp_path, **{f"{name}_md": content.replace(b"ID", name.encode())})
    row = '{"id":"ID","type":"idea","title":"t","created":"2026-08-01","updated":"2026-08-01","content":"windy"}'
    write(tmp_path, rows_jsonl=("\ufeff" + row.replace("ID", "r1") + "\r\n" + row.replace("ID", "r2") + "\r\n"))
    cards = data(tmp_path, "search", "windy")["items"]
    assert {card["id"] for card in cards} == {*forms, "r1", "r2"}
    assert {(card["type"], card["created"]) for card in cards} == {("idea", "2026-08-01")}
    assert data(tmp_path, "check")["records"] == 6


def test_f28_the_root_may_be_a_link_and_is_shown_resolved(tmp_path):
    write(tmp_path / "real", a_md=NOTE.format("oak"))
    (tmp_path / "alias").symlink_to("real")
    assert data(tmp_path / "alias", "status")["canonical"] == {"root": str(tmp_path / "real"), "records": 1}


@pytest.mark.parametrize("target", ["/tmp", "nowhere", ".", "a.md", "../../outside"])
@pytest.mark.parametrize("name", ["ext", "ext.md"])
def test_f28_a_link_below_the_root_stops_every_read_alike(tmp_path, target, name):
    (tmp_path / "outside").mkdir()
    root = write(tmp_path / "real", a_md=NOTE.format("oak"))
    (root / "KNOWLEDGE" / name).symlink_to(target)
    answers = {json.dumps(ask(root, *words)[1]["error"]) for words in READS[:-1]}
    assert len(answers) == 1
    assert f"KNOWLEDGE/{name}: is a link" in answers.pop()
    assert ask(root, "check")[1]["error"]["code"] == "integrity_error"


@pytest.mark.parametrize(
    ("query", "analyzer", "found"),
    [
        ("学生券", "auto", ["a"]),
        ("云工开物 优惠券", "auto", ["a"]),
        ("BBDown 视频", "auto", ["b"]),
        ("BBDown 云工", "auto", ["a", "b"]),
        ("300", "auto", ["a"]),
        ("学生券", "ascii", None),
    ],
)
def test_f29_chinese_is_found_and_mixed_queries_match_by_both_kinds_of_term(tmp_path, query, analyzer, found):
    write(
        tmp_path,
        a_md="---\nid: a\n---\n云工开物 300 元学生券\n",
        b_md="---\nid: b\n---\n用 BBDown 下载视频\n",
        c_md="---\nid: c\n---\nnothing\n",
    )
    status, envelope = ask(tmp_path, "search", query, "--analyzer", analyzer)
    if found is None:
        assert (status, envelope["error"]["code"]) == (4, "invalid_input")
        assert "no searchable terms" in envelope["error"]["message"]
    else:
        assert sorted(item["id"] for item in envelope["data"]["items"]) == found


@pytest.mark.parametrize(
    ("bodies", "query", "found"),
    [
        (["windy", "calm"], "windy", ["n0"]),
        (["pink", "pink " * 10, "pink"], "pink", ["n1", "n0", "n2"]),
        (["lonely"], "lonely", ["n0"]),
    ],
)
def test_f30_a_match_always_scores_above_zero_and_more_of_it_ranks_first(tmp_path, bodies, query, found):
    for number, body in enumerate(bodies):
        write(tmp_path, **{f"n{number}_md": f"---\nid: n{number}\n---\n{body}\n"})
    cards = data(tmp_path, "search", query)["items"]
    assert [card["id"] for card in cards] == found
    assert all(card["score"] > 0 for card in cards)


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        ("a <private>s3cret", "a "),
        ("<private>x<private>y</private>s3cret</private>tail", "tail"),
        ('<PRIVATE\n k="v" >s3cret</private >tail', "tail"),
        ("ok</private>tail", "oktail"),
        ("kept <private-repo> s3cret", "kept "),
    ],
)
def test_f32_malformed_markup_lets_nothing_private_out(tmp_path, body, kept):
    write(tmp_path, a_md=f"---\nid: a\ntitle: T<private>s3cret</private>\n---\n{body}\n")
    for words in (*READS, ("check", "--list"), ("search", "s3cret"), ("search", "a", "--explain", "a")):
        assert "s3cret" not in json.dumps(ask(tmp_path, *words))
    assert kept in data(tmp_path, "get", "a")["items"][0]["content"]


def test_f32_a_cut_is_told_with_the_name_of_the_file(tmp_path):
    write(tmp_path, a_md=NOTE.format("<private-repo> cut from here"))
    (note,) = data(tmp_path, "check", "--list")["notes"]
    assert (note["path"], note["kind"]) == ("KNOWLEDGE/a.md", "cut-by-untrusted-opener")


def test_a_fifo_in_the_corpus_hangs_nothing(tmp_path):
    write(tmp_path, a_md=NOTE.format("oak"))
    os.mkfifo(tmp_path / "KNOWLEDGE" / "b.md")
    for words in READS:
        assert ask(tmp_path, *words)[1]["error"]["code"] == "integrity_error"
