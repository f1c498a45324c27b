"""A label file is exactly so, or refused in one line that names the row and the field, and repeats no value."""

import json

import pytest
from support.labels import EXECUTION, ROW, VERIFICATION, asking, changed, encode, without

from cortex.benchmark.labels import check_known, read_labels
from cortex.errors import CortexError


def refusal(data: bytes) -> str:
    with pytest.raises(CortexError) as caught:
        check_known(read_labels(data), ["a", "b", "c"])
    assert caught.value.code == "invalid_input"
    assert "\n" not in caught.value.message
    return caught.value.message


LONG = "x" * 257
TIMES = (f"{EXECUTION}.executed_at", f"{VERIFICATION}.verified_at")
ARRAYS = ("expected_ids", "false_ids", f"{EXECUTION}.returned_ids", f"{VERIFICATION}.verified_ids")
TEXTS = ("id", "query", f"{EXECUTION}.query", f"{VERIFICATION}.verifier")
METHODS = ("provenance.schema", f"{EXECUTION}.method", f"{VERIFICATION}.method")
NEEDED = (
    "id", "query", "expected_ids", "provenance", *METHODS, "provenance.query_execution", f"{EXECUTION}.command",
    f"{EXECUTION}.executed_at", f"{EXECUTION}.query", f"{EXECUTION}.returned_ids",
    "provenance.expected_ids_verification", f"{VERIFICATION}.verified_at", f"{VERIFICATION}.verifier",
    f"{VERIFICATION}.verified_ids",
)  # fmt: skip
BROKEN = [
    *[(field, without(field)) for field in NEEDED],
    *[(field, changed(field, 7)) for field in (*NEEDED, "temporal_expected_order", "false_ids")],
    *[(field, changed(field, None)) for field in (*NEEDED, "temporal_expected_order", "false_ids")],
    *[(field, changed(field, "")) for field in ("id", f"{VERIFICATION}.verifier", *TIMES)],
    *[(field, changed(field, " \t")) for field in ("id", f"{VERIFICATION}.verifier")],
    *[(field, changed(field, "other")) for field in METHODS],
    *[(field, changed(field, [])) for field in (*ARRAYS, f"{EXECUTION}.command", "temporal_expected_order")],
    *[(field, changed(field, ["a", 7])) for field in (*ARRAYS, f"{EXECUTION}.command", "temporal_expected_order")],
    *[(field, changed(field, ["a", LONG])) for field in (*ARRAYS, "temporal_expected_order")],
    *[(field, changed(field, ["a", "b", ""])) for field in (*ARRAYS, "temporal_expected_order")],
    *[(field, changed(field, ["a", "b", "b"])) for field in (*ARRAYS, "temporal_expected_order")],
    *[(field, changed(field, [f"i{n}" for n in range(101)])) for field in (*ARRAYS, "temporal_expected_order")],
    *[
        (field, changed(field, text))
        for field in TIMES
        for text in (
            "2026-08-01", "2026-08-01T10:00:00Z", "2026-08-01T10:00:00.00Z", "2026-08-01T10:00:00.0000Z",
            "2026-08-01T10:00:00.000+00:00", "2026-02-30T10:00:00.000Z", "2026-08-01T24:00:00.000Z",
            "2026-08-01t10:00:00.000Z", "2026-08-01T10:00:00.000Z\n",
        )
    ],
    ("id", changed("id", LONG)),
    ("id", changed("id", "a\x00b")),
    ("id", changed("id", "a<private>b")),
    ("id", changed("id", "a\ud800")),
    ("query", changed("query", "q" * 2049)),
    (f"{EXECUTION}.query", changed("query", "another query")),
    ("query", changed("query", "oak <private>bridge</private>")),
    ("temporal_expected_order", changed("temporal_expected_order", ["a"])),
    ("temporal_expected_order", changed("temporal_expected_order", ["a", "ghost"])),
    ("false_ids", changed("false_ids", ["ghost"])),
    ("false_ids", changed("false_ids", ["a"])),
    ("the label", changed("surprise", 1)),
    ("provenance", changed("provenance.surprise", 1)),
    (EXECUTION, changed(f"{EXECUTION}.surprise", 1)),
    (VERIFICATION, changed(f"{VERIFICATION}.surprise", 1)),
    (f"{EXECUTION}.command", changed(f"{EXECUTION}.command", ["x"] * 33)),
    (f"{EXECUTION}.command", changed(f"{EXECUTION}.command", ["x" * 16_385])),
    (f"{EXECUTION}.command", changed(f"{EXECUTION}.command", ["я" * 8_193])),
    (f"{EXECUTION}.command", changed(f"{EXECUTION}.command", ["cortex", ""])),
    (f"{EXECUTION}.query", changed(f"{EXECUTION}.query", "oak  bridge")),
    (f"{EXECUTION}.returned_ids", changed(f"{EXECUTION}.returned_ids", ["a", "c"])),
    (f"{EXECUTION}.returned_ids", changed(f"{EXECUTION}.returned_ids", ["a", "b", "ghost"])),
    (f"{VERIFICATION}.verified_ids", changed(f"{VERIFICATION}.verified_ids", ["a"])),
    (f"{VERIFICATION}.verified_ids", changed(f"{VERIFICATION}.verified_ids", ["a", "b", "c"])),
    ("expected_ids", asking("q", "oak", "ghost")),
    (f"{VERIFICATION}.verifier", changed(f"{VERIFICATION}.verifier", "v" * 1025)),
]  # fmt: skip


@pytest.mark.parametrize(("field", "row"), BROKEN, ids=lambda value: value if isinstance(value, str) else "")
def test_a_field_that_is_not_as_it_must_be_is_named_with_its_row(field, row):
    data = encode(asking("other", "oak", "a")) + json.dumps(row).encode() + b"\n"
    message = refusal(data)
    assert message.startswith("row 2: ")
    assert message.split(": ")[1].removesuffix("[1]") == field


def test_the_row_that_is_damaged_here_is_sound():
    labels = read_labels(encode(ROW))
    check_known(labels, ["a", "b", "c"])
    assert labels[0].label.expected_ids == ("a", "b")


AT_THE_BOUNDS = [
    changed("id", "x" * 256),
    changed(f"{EXECUTION}.command", ["x"] * 32),
    changed(f"{EXECUTION}.command", ["x" * 16_384]),
    changed(f"{VERIFICATION}.verifier", "v" * 1024),
    without("temporal_expected_order"),
    without("false_ids"),
    asking("q", "q" * 2048, *[f"i{n}" for n in range(100)]),
    asking("q", "oak", "x" * 256),
]


@pytest.mark.parametrize("row", AT_THE_BOUNDS)
def test_what_reaches_a_bound_is_taken(row):
    assert len(read_labels(encode(row))) == 1


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\xef\xbb\xbf" + encode(ROW), "row 1: begins with a byte-order mark"),
        (encode(ROW) + b"\0", "row 2: holds a NUL"),
        (encode(ROW).replace(b"oak", b"o\0k"), "row 1: holds a NUL"),
        (b"[]\n", "row 1: the label: "),
        (b"7\n", "row 1: the label: "),
        (b"{\n", "row 1: is no strict JSON"),
        (b'{"id":"a","id":"a"}\n', "row 1: is no strict JSON: a key stands twice"),
        (b'{"id":NaN}\n', "row 1: is no strict JSON"),
        (b"\xff\n", "row 1: is no strict JSON: not valid UTF-8"),
        (b"[" * 100_000, "row 1: is no strict JSON: nested too deep"),
        (encode(ROW) + b"\n \t\r\n" + encode(ROW), "row 4: id: stands in an earlier row too"),
        (b" " * (1024 * 1024 + 1), "at most 1048576 bytes"),
    ],
)
def test_a_file_that_is_not_as_it_must_be_is_refused(data, said):
    assert said in refusal(data)


def test_a_thousand_rows_are_taken_and_one_more_is_not():
    rows = [{"id": n} for n in range(1001)]
    assert "row 1001: a label file has at most 1000 rows" in refusal(encode(*rows))
    assert "row 1: " in refusal(encode(*rows[:1000]))


def test_blank_lines_and_a_missing_line_end_are_passed_over():
    data = b"\n\r\n" + encode(ROW).rstrip() + b"\r\n \n" + encode(changed("id", "q2")).rstrip()
    assert [row for row, _ in read_labels(data)] == [3, 5]


@pytest.mark.parametrize("field", ["id", "provenance.schema", f"{EXECUTION}.method", f"{EXECUTION}.command"])
def test_no_message_repeats_a_value_or_an_unknown_key(field):
    assert "secret" not in refusal(encode(changed(field, {"secret": "secret"})))
    assert "secret" not in refusal(encode(changed(f"{field.rpartition('.')[0]}.secret".lstrip("."), "secret")))
    assert "secret" not in refusal(encode(changed(field, "<private>secret")))
