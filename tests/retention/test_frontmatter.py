"""Editing frontmatter as text: only the named keys' lines differ, and taking an edit back gives the bytes back."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex.retention.frontmatter import FrontmatterError, edit, glance, read_frontmatter, revert

MARK = {
    "archive_pending": True,
    "archive_reason": "expired: 90d unused, recall<3",
    "archive_marked_at": "2026-08-10T12:00:00.000Z",
}
ADDED = (
    b"archive_pending: true",
    b'archive_reason: "expired: 90d unused, recall<3"',
    b"archive_marked_at: 2026-08-10T12:00:00.000Z",
)
ODD = (
    b"---\r\n# kept\r\ntype: 'episodic'   # a comment\r\nwake: 10:00\r\ncreated: 2025-01-11T23:39:45-04:00\r\n"
    b'tags: [b, a]\r\nid: "x"\r\n---\r\nbody\r\n---\r\nno newline at the end'
)


def test_a_mark_adds_its_lines_before_the_end_of_the_header_and_nothing_else_changes():
    marked = edit(ODD, MARK).data

    head, rest = ODD.split(b'id: "x"\r\n')
    assert marked == head + b'id: "x"\r\n' + b"".join(line + b"\r\n" for line in ADDED) + rest


# Notes of every kind of header that is a plain mapping.

KEYS = ("title", "created", "wake", "名字", "a b", '"quoted key"', "x-1")
VALUES = (
    " plain",
    " 10:00",
    " 2025-01-11",
    " 'it''s' # comment",
    ' "a\\nb: c"',
    " [b, a,\n  c]",
    " {k: v}",
    "",
    " ~",
    " |\n  block\n\n  # no comment\n  end",
    " >-\n  folded\n  text",
    " |+\n  kept\n\n",
    "\n  - one\n  # inner\n  - two",
    "\n- flush\n- list",
    "\n  nested: 1\n  more:\n    deep: yes",
    ' "two\n  lines"',
    " plain over\n  two lines",
    " émoji 😀",
)
BETWEEN = ("", "# comment\n", "\n", "  # indented\n", "\n# two\n\n")
BODIES = ("", "body", "body\n", "---\nno header\n---\n", "archive_pending: false\n", "\ufeff\u2028")


@st.composite
def notes(draw) -> bytes:
    header = draw(st.sampled_from(BETWEEN))
    for key in draw(st.lists(st.sampled_from(KEYS), unique=True, max_size=5)):
        header += f"{key}:{draw(st.sampled_from(VALUES))}\n{draw(st.sampled_from(BETWEEN))}"
    text = f"---\n{header}---{draw(st.sampled_from(['', chr(10)]))}"
    text += draw(st.sampled_from(BODIES)) if text.endswith("\n") else ""
    text = text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))
    return draw(st.sampled_from([b"", b"\xef\xbb\xbf"])) + text.encode()


@given(notes())
def test_after_a_mark_only_the_named_keys_lines_differ_and_unmarking_gives_the_bytes_back(note):
    """Only the lines of the named keys change or are added before the closing `---`; every other byte stays."""
    edited = edit(note, MARK)

    left = [line for line in edited.data.splitlines(keepends=True) if line.rstrip(b"\r\n") not in ADDED]
    assert b"".join(left) == note
    assert read_frontmatter(edited.data) == (read_frontmatter(note) or {}) | MARK
    assert revert(edited.data, edited.undo) == note
    assert edit(edited.data, dict.fromkeys(MARK)).data == note
    assert edit(edited.data, MARK).data == edited.data


@given(
    notes(), st.lists(st.sampled_from(KEYS[:3]), unique=True, min_size=1), st.sampled_from([None, 7, "new: é", False])
)
def test_changing_and_taking_out_keys_leaves_all_others_and_can_be_taken_back(note, keys, value):
    """After an edit the file is parsed again and must differ in those keys alone, else the edit is undone."""
    before = read_frontmatter(note) or {}
    try:
        edited = edit(note, dict.fromkeys(keys, value))
    except FrontmatterError:
        assert b"|" in note or b">" in note  # a comment or blank line behind a block scalar would become a part of it
        return

    after = read_frontmatter(edited.data) or {}
    assert {key: after[key] for key in after if key not in keys} == {
        key: before[key] for key in before if key not in keys
    }
    assert [after.get(key) for key in keys] == [value] * len(keys)
    assert revert(edited.data, edited.undo) == note


@pytest.mark.parametrize(
    ("header", "changes", "edited"),
    [
        ("a: 1\nb: 2\n", {"a": 7}, "a: 7\nb: 2\n"),
        ("a: 1 # why\nb: 2\n", {"a": 7}, "a: 7\nb: 2\n"),
        ("a: 1\n# about b\nb: 2\n", {"a": None}, "# about b\nb: 2\n"),
        ("a: |\n  # text\n  b: no\n\n# about b\nb: 2\n", {"a": None}, "\n# about b\nb: 2\n"),
        ("a: |\n  text\n  # text\nb: 2\n", {"a": None}, "b: 2\n"),
        ("a:\n  - 1\n  # inner\n  - 2\nb: 2\n", {"a": 7}, "a: 7\nb: 2\n"),
        ("a: [1,\n 2]\nb: 2\n", {"b": None}, "a: [1,\n 2]\n"),
        ("a: 'x\n  b: no'\nb: 2\n", {"b": 7}, "a: 'x\n  b: no'\nb: 7\n"),
        ("recall_count: 4\nb: 2\n", {"recall_count": 5, "last_recalled": "2026-08-10"}, None),
        ("", {"a": "x"}, 'a: "x"\n'),
        ("a: 1\n", {}, "a: 1\n"),
        ("a: 1\n", {"b": None}, "a: 1\n"),
    ],
)
def test_a_key_is_changed_in_its_place(header, changes, edited):
    edited = "recall_count: 5\nb: 2\nlast_recalled: 2026-08-10\n" if edited is None else edited
    assert edit(f"---\n{header}---\nbody".encode(), changes).data == f"---\n{edited}---\nbody".encode()


@pytest.mark.parametrize(
    "value",
    [
        "",
        "true",
        "12",
        " a ",
        "a: b # c",
        '"',
        "\\",
        "é 😀",
        "a\nb\t\x00\x7f\x85\u2028\ufeff",
        "~",
        "2026-02-30",
        0,
        -5,
        True,
    ],
)
def test_a_value_reads_back_as_it_was_given(value):
    edited = edit(b"---\n---\n", {"k": value}).data

    assert edited.count(b"\n") == 3
    assert read_frontmatter(edited) == {"k": value}


BROKEN = [
    b"---\ntitle: A: B\ncreated: 2025-01-01\n---\nx",
    b"---\ntitle: 'open\n---\nx",
    b"---\n- a\n- b\n---\nx",
    b"---\nscalar\n---\nx",
    b"---\n{a: 1, b: 2}\n---\nx",
    b"---\na: 1\na: 2\n---\nx",
    b"---\na: &x [1]\nb: *x\n---\nx",
    b"---\na: !!python/object:os.system x\n---\nx",
    b"---\n? [a]\n: 1\n---\nx",
    b"---\na: 1\x07\n---\nx",
    b"---\na: \xff\n---\nx",
    b"---\na: 1\n--- # no end\n...\nb: 2\n---\nx",
    b"---\na: " + b"[" * 5000 + b"\n---\nx",
]
WITHOUT = [
    b"",
    b"body",
    b"--- \na: 1\n---\n",
    b"\n---\na: 1\n---\n",
    b"---\na: 1\n",
    b"---\na: 1\n --- \n",
    b"----\na: 1\n----\n",
]


@pytest.mark.parametrize("note", BROKEN)
def test_a_broken_header_is_refused(note):
    with pytest.raises(FrontmatterError):
        edit(note, MARK)
    with pytest.raises(FrontmatterError):
        read_frontmatter(note)


@pytest.mark.parametrize("note", WITHOUT)
def test_a_note_without_a_header_gets_none(note):
    assert read_frontmatter(note) is None
    assert glance(note) == {}
    with pytest.raises(FrontmatterError):
        edit(note, MARK)


@pytest.mark.parametrize("key", ["a b", "", "a:", "1a", "a\nb", "名字"])
def test_a_key_that_would_need_quoting_is_refused(key):
    with pytest.raises(FrontmatterError):
        edit(b"---\n---\n", {key: 1})


def test_a_refusal_repeats_nothing_of_the_note():
    with pytest.raises(FrontmatterError) as refused:
        read_frontmatter(b"---\ntitle: s3cret: s3cret\n---\n")
    assert "s3cret" not in str(refused.value)


def test_dates_stay_text_and_an_impossible_one_breaks_nothing():
    note = b"---\na: 2026-08-01\nb: 2026-02-30\nc: 2026-08-01 10:00:00+02:00\n---\n"
    assert read_frontmatter(note) == {"a": "2026-08-01", "b": "2026-02-30", "c": "2026-08-01 10:00:00+02:00"}


@pytest.mark.parametrize(
    ("line", "seen"),
    [
        ("level: L3", "L3"),
        ("level:   L3  ", "L3"),
        ("level: L3\r", "L3"),
        ("level: 2025-01-11T23:39:45-04:00", "2025-01-11T23:39:45-04:00"),
        ("level: L3 # note", None),
        ("level: 'L3'", None),
        ("level: [L3]", None),
        ("level: |", None),
        ("level:", None),
        (" level: L3", None),
        ("level:L3", None),
        ("level: a: b", None),
        ("level: L3\n  more", None),
    ],
)
def test_a_glance_reads_plain_scalars_alone(line, seen):
    assert glance(f"---\n{line}\n---\n".encode()).get("level") == seen


@given(notes())
def test_a_glance_says_nothing_that_parsing_does_not(note):
    """Plain scalars may be read by line where the file is not a candidate."""
    values = read_frontmatter(note) or {}
    for key, text in glance(note).items():
        assert key in values
        assert values[key] == text or not isinstance(values[key], str)


def test_pyyaml_is_loaded_where_it_is_needed_alone():
    code = (
        "import sys, cortex.retention.frontmatter as f; f.glance(b'---\\na: 1\\n---\\n'); print('yaml' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"
