"""Reading whole corpora: what stops it, what it goes on past, and files that do not hold still."""

import json
import os
from pathlib import Path

import pytest

from cortex.corpus import reader, walk
from cortex.corpus.faults import CorpusError
from cortex.corpus.reader import Reading, iter_records, read_corpus
from cortex.corpus.root import pin

SECRET = "s3cret"


def write(root: Path, path: str, data: str | bytes) -> None:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data if isinstance(data, bytes) else data.encode())


def row(identity: str, **changes: object) -> str:
    fields = {"id": identity, "type": "note", "title": "T", "created": "2024-01-01", "updated": "2024-01-01"}
    return json.dumps({**fields, "content": "c", **changes})


def read(root: Path) -> Reading:
    with pin(root) as pinned:
        return read_corpus(pinned, stop_at_first_fault=False)


def faults(root: Path) -> list[tuple[str, int | None, str]]:
    return [(fault.path, fault.line, fault.kind) for fault in read(root).faults]


def stopped(root: Path) -> str:
    with pin(root) as pinned, pytest.raises(CorpusError) as caught:
        read_corpus(pinned, stop_at_first_fault=True)
    with pin(root) as pinned, pytest.raises(CorpusError) as streamed:
        list(iter_records(pinned))
    assert streamed.value.fault == caught.value.fault
    return str(caught.value)


@pytest.fixture(params=["strict", "bulk"])
def _both_ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "BULK_BYTES", 0 if request.param == "bulk" else 1 << 40)


pytestmark = pytest.mark.usefixtures("_both_ways")


def test_records_come_in_the_order_of_paths_and_lines(tmp_path: Path) -> None:
    write(tmp_path, "KNOWLEDGE/b.md", "---\nid: b\n---\n")
    write(tmp_path, "KNOWLEDGE/a.jsonl", f"{row('a2')}\n\n \n\u00a0\r\n\t\u2028\n{row('a1')}\r\n")
    write(tmp_path, "Z_MEMORY.md", "---\nid: z\n---\n")
    reading = read(tmp_path)
    assert [record.id for record in reading.records] == ["a2", "a1", "b", "z"]
    assert reading[1:] == ((), (), 3, 0)


def test_backwards_the_files_come_in_the_other_order(tmp_path: Path) -> None:
    for name in "abc":
        write(tmp_path, f"KNOWLEDGE/{name}.md", f"---\nid: {name}\n---\n")
    with pin(tmp_path) as pinned:
        assert [record.id for record in iter_records(pinned, backwards=True)] == ["c", "b", "a"]


@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_byte_order_mark_and_the_kind_of_line_end_change_no_field(tmp_path: Path, start: bytes, end: str) -> None:
    note = "---\nid: r1\ntitle: T\ncreated: 2024-01-01\n---\nwindy\n".replace("\n", end)
    write(tmp_path, "KNOWLEDGE/a.md", start + note.encode())
    write(tmp_path, "KNOWLEDGE/b.jsonl", start + f"{row('b1')}{end}{row('b2')}{end}".encode())
    reading = read(tmp_path)
    assert reading.faults == ()
    assert [(record.id, record.created_ms) for record in reading.records] == [
        ("r1", 1704067200000),
        ("b1", 1704067200000),
        ("b2", 1704067200000),
    ]
    assert reading.records[0].content == note


def test_only_one_byte_order_mark_is_dropped(tmp_path: Path) -> None:
    write(tmp_path, "KNOWLEDGE/a.md", b"\xef\xbb\xbf\xef\xbb\xbfx")
    assert read(tmp_path).records[0].content == "\ufeffx"


def test_junk_of_another_system_beside_the_notes_changes_nothing(tmp_path: Path) -> None:
    write(tmp_path, "KNOWLEDGE/Ideas/note.md", "windy")
    before = read(tmp_path)
    write(tmp_path, "KNOWLEDGE/Ideas/._note.md", b"\0\x05\x16\x07\0\x02\0\0Mac OS X\xb0")
    assert read(tmp_path) == before


@pytest.mark.parametrize(
    ("path", "data", "line", "kind"),
    [
        ("a.md", b"a\nb\xff", 2, "encoding"),
        ("a.md", b"\xff\xfea\0", 1, "encoding"),
        ("a.md", b"a\xed\xa0\x80", 1, "encoding"),
        ("a.md", b"\xc0\xaf", 1, "encoding"),
        ("a.md", b"\xf4\x90\x80\x80", 1, "encoding"),
        ("a.md", b"note\n" + b"\0" * 4096, 2, "control-character"),
        ("a.md", b"a\x1b[0m", 1, "control-character"),
        ("a.md", b"a\x0bb", 1, "control-character"),
        ("a.md", b"a\x7f", 1, "control-character"),
        ("a.md", "a\n\nb\x80".encode(), 3, "control-character"),
        ("a.md", "\x9f<private>x".encode(), 1, "control-character"),
        ("a.md", b"<private>\0</private>", 1, "control-character"),
        ("a.md", b"---\ncreated: soon\n---\n", None, "timestamp"),
        ("a.jsonl", row("a").encode() + b"\n\xff\n", 2, "encoding"),
        ("a.jsonl", row("a").encode() + b"\n" + b"\0" * 300 + b"\n", 2, "control-character"),
        ("a.jsonl", row("a").encode() + b"\n\x1e" + row("b").encode(), 2, "control-character"),
        ("a.jsonl", row("a", title="\x85", content="é").replace("\\u0085", "\x85").encode(), 1, "control-character"),
        ("a.jsonl", row("a", title="\x7f").encode(), 1, "control-character"),
        ("a.jsonl", (row("a") + "\r" + row("b")).encode(), 1, "json"),
        ("a.jsonl", (row("a") + "\u2028" + row("b")).encode(), 1, "json"),
        ("a.jsonl", (row("a")[:-1] + "\n}").encode(), 1, "json"),
        ("a.jsonl", b"\n\n\nbad\n", 4, "json"),
        ("a.jsonl", (row("a") + "\n" + row("a")).encode(), 2, "duplicate-id"),
    ],
)
def test_a_fault_names_its_file_and_line(tmp_path: Path, path: str, data: bytes, line: int | None, kind: str) -> None:
    write(tmp_path, f"KNOWLEDGE/{path}", data)
    assert faults(tmp_path)[0] == (f"KNOWLEDGE/{path}", line, kind)
    where = f"KNOWLEDGE/{path}" if line is None else f"KNOWLEDGE/{path}, line {line}"
    assert stopped(tmp_path).startswith(f"{where}: ")


@pytest.mark.parametrize("data", ["a\tb\nc\rd\r\n", "a\u00a0b", "a\u2028b\u202e", "a\ufffd", "😀\ue000\ufdd0"])
def test_other_characters_are_taken_as_they_are(tmp_path: Path, data: str) -> None:
    write(tmp_path, "KNOWLEDGE/a.md", data)
    assert read(tmp_path).records[0].content == data


def test_faults_of_shape_come_before_any_content_is_read(tmp_path: Path) -> None:
    write(tmp_path, "KNOWLEDGE/a.jsonl", "bad\n")
    (tmp_path / "KNOWLEDGE/z.md").symlink_to("a.jsonl")
    assert stopped(tmp_path) == "KNOWLEDGE/z.md: is a link"
    assert faults(tmp_path) == [("KNOWLEDGE/a.jsonl", 1, "json"), ("KNOWLEDGE/z.md", None, "link")]


def test_every_fault_is_listed_in_the_order_of_paths_and_lines_and_the_rest_is_read(tmp_path: Path) -> None:
    write(tmp_path, "KNOWLEDGE/b.jsonl", f"bad\n{row('r1')}\n{row('r2', created='x')}\n{row('r3', tags=1)}\n")
    write(tmp_path, "KNOWLEDGE/a.md", "---\nid: r1\n---\n")
    write(tmp_path, "KNOWLEDGE/c.md", b"\xff")
    write(tmp_path, "KNOWLEDGE/d.md", "---\nid: r4\n---\n")
    (tmp_path / "KNOWLEDGE/bb").symlink_to(".")
    os.mkfifo(tmp_path / "KNOWLEDGE/0.md")
    assert faults(tmp_path) == [
        ("KNOWLEDGE/0.md", None, "special-file"),
        ("KNOWLEDGE/b.jsonl", 1, "json"),
        ("KNOWLEDGE/b.jsonl", 2, "duplicate-id"),
        ("KNOWLEDGE/b.jsonl", 3, "timestamp"),
        ("KNOWLEDGE/b.jsonl", 4, "field"),
        ("KNOWLEDGE/bb", None, "link"),
        ("KNOWLEDGE/c.md", 1, "encoding"),
    ]
    assert [record.id for record in read(tmp_path).records] == ["r1", "r4"]


def test_a_file_with_a_fault_of_shape_is_not_read_and_not_blamed_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "KNOWLEDGE/a.md", b"\xff" * 11)
    monkeypatch.setattr(walk, "CORPUS_MAX_FILE_BYTES", 10)
    assert faults(tmp_path) == [("KNOWLEDGE/a.md", None, "limit")]


@pytest.mark.parametrize(
    ("files", "place", "first"),
    [
        ({"a.md": "---\nid: x\n---\n", "b/c.md": "---\nid: x\n---\n"}, "b/c.md", "a.md"),
        ({"a.jsonl": row("x"), "z.md": "---\nid: x\n---\n"}, "z.md", "a.jsonl"),
        ({"a.md": "x", "b.jsonl": row("path:eff112e5569df787")}, "b.jsonl, line 1", "a.md"),
        ({"a.jsonl": row("x", valid_until="2001-01-01"), "b.jsonl": row("x")}, "b.jsonl, line 1", "a.jsonl"),
    ],
)
def test_ids_are_unique_over_the_corpus(tmp_path: Path, files: dict[str, str], place: str, first: str) -> None:
    for path, data in files.items():
        write(tmp_path, f"KNOWLEDGE/{path}", data)
    assert stopped(tmp_path) == f"KNOWLEDGE/{place}: has the id of another record, in KNOWLEDGE/{first}"


def test_ids_that_differ_in_case_are_two_and_a_withheld_one_is_none(tmp_path: Path) -> None:
    write(tmp_path, "KNOWLEDGE/a.jsonl", f"{row('x')}\n{row('X')}\n{row('x', content='<private>y</private>')}\n")
    reading = read(tmp_path)
    assert ([record.id for record in reading.records], reading.faults, reading.withheld) == (["x", "X"], (), 1)


def test_withheld_records_and_cut_texts_are_noted_with_their_place(tmp_path: Path) -> None:
    write(tmp_path, "KNOWLEDGE/a.md", f"<private>{SECRET}</private>")
    write(tmp_path, "KNOWLEDGE/b.md", f"a <private-repo> {SECRET}")
    write(
        tmp_path,
        "KNOWLEDGE/c.jsonl",
        f"{row('r1')}\n{row('r2', title='<privateer>')}\n{row('r3', content='x<private')}",
    )
    reading = read(tmp_path)
    assert [note[:3] for note in reading.notes] == [
        ("KNOWLEDGE/a.md", None, "withheld"),
        ("KNOWLEDGE/b.md", None, "cut-by-untrusted-opener"),
        ("KNOWLEDGE/c.jsonl", 2, "cut-by-untrusted-opener"),
        ("KNOWLEDGE/c.jsonl", 2, "withheld"),
        ("KNOWLEDGE/c.jsonl", 3, "cut-by-untrusted-opener"),
    ]
    assert (len(reading.records), reading.withheld, reading.faults) == (3, 2, ())
    assert SECRET not in repr(reading)


@pytest.mark.parametrize(
    "body",
    [
        "a <private>s3cret",
        "<private>x<private>y</private>s3cret</private>tail",
        '<PRIVATE\n k="v" >s3cret</private >tail',
        "ok</private>tail",
        "<private-repo> s3cret",
    ],
)
def test_malformed_markup_lets_no_secret_into_any_record(tmp_path: Path, body: str) -> None:
    write(tmp_path, "KNOWLEDGE/a.md", f"---\ntitle: <private>{SECRET}</private>T\n---\nseen {body}")
    write(tmp_path, "KNOWLEDGE/b.jsonl", row("b", title=f"T {body}", content=f"seen {body}"))
    reading = read(tmp_path)
    assert (len(reading.records), reading.faults) == (2, ())
    assert SECRET not in repr(reading)
    assert all(("tail" in body) == ("tail" in record.content) for record in reading.records)


def test_a_bare_root_of_nothing_is_an_empty_corpus(tmp_path: Path) -> None:
    assert read(tmp_path) == ((), (), (), 0, 0)


class TestLimits:
    @pytest.fixture(autouse=True)
    def _small(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(reader, "CORPUS_MAX_RECORDS", 3)

    def test_as_many_records_as_the_limit_are_fine(self, tmp_path: Path) -> None:
        write(
            tmp_path,
            "KNOWLEDGE/a.jsonl",
            "\n".join([row("1"), row("2", content="<private>x"), row("3")]) + "\n\u00a0\n",
        )
        write(tmp_path, "KNOWLEDGE/b.jsonl", "\n \n")
        assert read(tmp_path).faults == ()

    @pytest.mark.parametrize("fourth", [row("4"), row("1"), row("4", content="<private>x</private>"), "bad"])
    def test_one_more_ends_the_reading_whatever_it_is(self, tmp_path: Path, fourth: str) -> None:
        write(tmp_path, "KNOWLEDGE/a.jsonl", "\n".join([row("1"), row("2"), row("3"), fourth, row("5"), "bad"]))
        write(tmp_path, "KNOWLEDGE/b.md", "---\ncreated: x\n---\n")
        assert faults(tmp_path) == [("KNOWLEDGE/a.jsonl", 4, "limit")]
        assert len(read(tmp_path).records) == 3

    def test_a_note_may_be_the_one_too_many(self, tmp_path: Path) -> None:
        for number in range(5):
            write(tmp_path, f"KNOWLEDGE/{number}.md", "x")
        assert faults(tmp_path) == [("KNOWLEDGE/3.md", None, "limit")]


class TestFilesThatDoNotHoldStill:
    def test_a_file_that_grew_since_the_walk_is_read_as_it_is_now(self, tmp_path: Path) -> None:
        write(tmp_path, "KNOWLEDGE/a.md", "short")
        with pin(tmp_path) as pinned:
            reading = reader.Reader(pinned)
            write(tmp_path, "KNOWLEDGE/a.md", "much longer than before")
            (record,) = reading.items()
        assert record.content == "much longer than before"  # type: ignore[union-attr]

    def test_a_file_that_outgrew_a_limit_since_the_walk_is_a_fault(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(reader, "CORPUS_MAX_FILE_BYTES", 100)
        monkeypatch.setattr(reader, "CORPUS_MAX_BYTES", 120)
        for name in "abc":
            write(tmp_path, f"KNOWLEDGE/{name}.md", f"---\nid: {name}\n---\n")
        with pin(tmp_path) as pinned:
            reading = reader.Reader(pinned)
            write(tmp_path, "KNOWLEDGE/a.md", "x" * 101)
            write(tmp_path, "KNOWLEDGE/b.md", "x" * 100)
            write(tmp_path, "KNOWLEDGE/c.md", "x" * 100)
            items = list(reading.items())
        assert [getattr(item, "kind", "record") for item in items] == ["limit", "record", "limit"]

    def test_a_file_that_went_away_or_became_something_else_is_a_fault(self, tmp_path: Path) -> None:
        for name in "abcd":
            write(tmp_path, f"KNOWLEDGE/{name}/x.md", "x")
        with pin(tmp_path) as pinned:
            reading = reader.Reader(pinned)
            for name in "abc":
                (tmp_path / f"KNOWLEDGE/{name}/x.md").unlink()
            (tmp_path / "KNOWLEDGE/b/x.md").symlink_to("/etc/passwd")
            os.mkfifo(tmp_path / "KNOWLEDGE/c/x.md")
            (tmp_path / "KNOWLEDGE/d").rename(tmp_path / "d")
            (tmp_path / "KNOWLEDGE/d").symlink_to(tmp_path / "d")
            items = list(reading.items())
        assert [getattr(item, "kind", item) for item in items] == ["unreadable", "link", "special-file", "link"]

    def test_a_file_that_never_comes_to_rest_is_a_fault(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        write(tmp_path, "KNOWLEDGE/a.md", "x")
        pread = os.pread

        def growing(descriptor: int, size: int, offset: int) -> bytes:
            with (tmp_path / "KNOWLEDGE/a.md").open("a") as file:
                file.write("x")
            return pread(descriptor, size, offset)

        monkeypatch.setattr(os, "pread", growing)
        assert faults(tmp_path) == [("KNOWLEDGE/a.md", None, "unreadable")]

    def test_a_file_that_comes_to_rest_is_read_whole(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        write(tmp_path, "KNOWLEDGE/a.md", "x")
        pread = os.pread

        def growing_once(descriptor: int, size: int, offset: int) -> bytes:
            write(tmp_path, "KNOWLEDGE/a.md", "settled")
            return pread(descriptor, size, offset)

        monkeypatch.setattr(os, "pread", growing_once)
        assert read(tmp_path).records[0].content == "settled"
