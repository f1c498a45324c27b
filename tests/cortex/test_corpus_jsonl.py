"""A JSONL line as a record, the strict way and the fast way."""

import json
from typing import Any

import pytest

from cortex.corpus.jsonl import parse_row
from cortex.corpus.jsonl_bulk import quick_reader
from cortex.corpus.record import Parsed, Record

PATH = "KNOWLEDGE/r.jsonl"
ROW: dict[str, Any] = {
    "id": "r1", "type": "note", "title": "T", "created": "2024-01-01", "updated": "2024-01-02", "content": "c",
}  # fmt: skip
FULL = {
    **ROW, "source_kind": "k", "source": "s", "source_session": "x", "related": ["a", "b"],
    "valid_from": "2024-01-01", "valid_until": "2025-01-01",
}  # fmt: skip


def line(**changes: object) -> str:
    return json.dumps({**ROW, **changes}, ensure_ascii=False)


def quick(text: str) -> Record | None:
    data = text.encode("utf-8", "surrogatepass")
    return quick_reader(PATH, data)(data)


def test_a_row_of_every_key_is_a_record() -> None:
    expected = Record(
        "r1", "note", "T", "2024-01-01", "2024-01-02", ("k", "x", PATH), "c", ("a", "b"), "2024-01-01", "2025-01-01",
        1704067200000, 1704153600000, 1704067200000, 1735689600000,
    )  # fmt: skip
    assert parse_row(PATH, json.dumps(FULL)) == Parsed(expected, "r1")
    assert quick(json.dumps(FULL)) == expected


@pytest.mark.parametrize(
    ("changes", "field", "value"),
    [
        ({"source": "s"}, "provenance", ("s", None, PATH)),
        ({"source_session": None, "valid_from": None}, "provenance", ("canonical", None, PATH)),
        ({"related": []}, "related", ()),
        ({"valid_until": None}, "valid_until", None),
        ({"content": 'a "quoted": b'}, "content", 'a "quoted": b'),
        ({"content": "a\n\tb\r\n"}, "content", "a\n\tb\r\n"),
        ({"content": "a\u2028b漢😀"}, "content", "a\u2028b漢😀"),
        ({"id": "\u00a0r1"}, "id", "\u00a0r1"),
        ({"id": "\u200b"}, "id", "\u200b"),
        ({"content": "1 < 2 <b> ＞"}, "content", "1 < 2 <b> ＞"),
    ],
)
def test_a_sound_row_reads_the_same_the_fast_way(changes: dict[str, object], field: str, value: object) -> None:
    for text in (line(**changes), f" {line(**changes)}\r"):
        record = parse_row(PATH, text).result
        assert isinstance(record, Record)
        assert getattr(record, field) == value
        assert quick(text) == record


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("bad", "json"),
        ("{'id': 1}", "json"),
        ("// x", "json"),
        (line() + line(), "json"),
        (line() + " x", "json"),
        ("\u00a0" + line(), "json"),
        (line()[:-1], "json"),
        ("[" * 100_000, "json"),
        (line().replace('"c"', '"\\x"'), "json"),
        (line().replace('"c"', '"a\tb"'), "json"),
        (line().replace('"c"', "NaN"), "json"),
        (line().replace('"c"', "Infinity"), "json"),
        (line().replace('"c"', "9" * 5000), "json"),
        (line().replace('"c"', "1e400"), "json"),
        (line().replace('"c"', '"c", "content": "d"'), "json"),
        (line().replace('"c"', '"c", "content": "c"'), "json"),
        (line().replace('"c"', '"a\\u0022b", "valid_from": null, "valid_from": null'), "json"),
        (json.dumps(FULL)[:-1] + ', "related": []}', "json"),
        (json.dumps(FULL)[:-1] + ', "valid\\u005ffrom": null}', "json"),
        (f"<private>{line()}</private>", "json"),
        (f"[{line()}]", "json"),
        ('"x"', "json"),
        ("1", "json"),
        ("null", "json"),
        (line(tags=[]), "field"),
        (line(path="x"), "field"),
        (line(source_kind=None), "field"),
        (line(source=""), "field"),
        (line(source=1), "field"),
        (line(source_kind="\u3000"), "field"),
        (line(source_session=1), "field"),
        (line(source_session={}), "field"),
        (line(related="a"), "field"),
        (line(related={}), "field"),
        (line(related=["a", ""]), "field"),
        (line(related=["a", None]), "field"),
        (line(related=[1]), "field"),
        (line(related=None), "field"),
        (line(valid_from=1), "field"),
        (line(valid_until={}), "field"),
        (line(content="a\0b"), "control-character"),
        (line(content="\\x").replace("\\\\x", "\\u0000"), "control-character"),
        (line(title="\x7f"), "control-character"),
        (line(source="\x85"), "control-character"),
        (line(related=["a\b"]), "control-character"),
        (line(created="\f"), "field"),
        (line(created="2024-01-01\f"), "control-character"),
        (line(content="X").replace("X", "\\ud800"), "encoding"),
        (line(content="X").replace("X", "\\udc00\\ud800"), "encoding"),
        (line(created="soon"), "timestamp"),
        (line(updated="2024-00-10"), "timestamp"),
        (line(valid_from=""), "timestamp"),
        (line(valid_until="2024"), "timestamp"),
        (line(updated="2023-12-31"), "order-of-times"),
        (line(valid_from="2024-01-01", valid_until="2024-01-01"), "order-of-times"),
        *[(json.dumps({k: v for k, v in ROW.items() if k != key}), "field") for key in ROW],
        *[(line(**{key: value}), "field") for key in ROW for value in (None, "", " ", "\u00a0", 1, True, [], {})],
    ],
)
def test_a_row_that_is_not_sound_is_a_flaw_and_the_fast_way_never_takes_it(text: str, kind: str) -> None:
    flaws = parse_row(PATH, text).result
    assert not isinstance(flaws, Record)
    assert flaws is not None
    assert flaws[0].kind == kind
    assert quick(text) is None


def test_a_flaw_repeats_no_unknown_key_and_no_malformed_text() -> None:
    for text in (line(s3cret=1), "s3cret", line() + "s3cret", line(content={"s3cret": 1}), line(related=["s3cret", 1])):
        flaws = parse_row(PATH, text).result
        assert isinstance(flaws, tuple)
        assert "s3cret" not in repr(flaws)


def test_every_flaw_of_a_row_is_told() -> None:
    flaws = parse_row(PATH, line(id="", updated=5, more=1, content="a\u0007b")).result
    assert isinstance(flaws, tuple)
    assert [flaw[0] for flaw in flaws] == ["field", "field", "field", "control-character"]


SPAN = "<private>s3cret</private>"


@pytest.mark.parametrize(
    ("changes", "field", "value"),
    [
        ({"content": f"a {SPAN} b"}, "content", "a  b"),
        ({"title": f"T{SPAN}"}, "title", "T"),
        ({"id": f"{SPAN}r9"}, "id", "r9"),
        ({"created": f"2024-01-01{SPAN}"}, "created", "2024-01-01"),
        ({"related": ["a", SPAN, f"b{SPAN}"]}, "related", ("a", "b")),
        ({"source_kind": SPAN, "source": "s"}, "provenance", ("s", None, PATH)),
        ({"source": SPAN}, "provenance", ("canonical", None, PATH)),
        ({"source_session": SPAN}, "provenance", ("canonical", None, PATH)),
        ({"valid_from": SPAN}, "valid_from", None),
        ({"content": "a <private>", "source": "x</private> b"}, "content", "a "),
        ({"content": "a </private> b"}, "content", "a  b"),
        ({"content": "a <private-x> b"}, "content", "a "),
    ],
)
def test_every_string_is_stripped_after_decoding(changes: dict[str, object], field: str, value: object) -> None:
    plain = line(**changes)
    for text in (plain, plain.replace("<", "\\u003c"), plain.replace("/", "\\/"), plain.replace("p", "\\u0070")):
        record = parse_row(PATH, text).result
        assert isinstance(record, Record)
        assert getattr(record, field) == value
        assert "s3cret" not in repr(record)
        assert quick(text) is None


@pytest.mark.parametrize("key", ROW)
def test_a_row_of_which_privacy_leaves_nothing_to_tell_is_withheld(key: str) -> None:
    assert parse_row(PATH, line(**{key: SPAN})) == Parsed(None, "" if key == "id" else "r1")


@pytest.mark.parametrize("key", ["created", "updated"])
def test_a_time_that_privacy_broke_withholds_the_row(key: str) -> None:
    assert parse_row(PATH, line(**{key: "2024<private>-01-01</private>"})) == Parsed(None, "r1")


def test_a_cut_is_told() -> None:
    assert parse_row(PATH, line(related=["a <privateer>"])).cut
    assert not parse_row(PATH, line(content="a <private> b")).cut


def test_a_tag_that_an_escape_hides_from_the_raw_line_is_seen_the_fast_way_too() -> None:
    assert quick(line(content="x <\n/private> y")) is None
    assert quick(line(content="x </private> y").replace("/", "\\/")) is None
