"""What an index holds of a corpus: each section says what the files say, and no file passes for what it may not be."""

import os
from hashlib import sha256
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from index.corpora import indexed, laid_over, lexical_of, moment_of, note, put, row, write_rich
from support.records import record

from cortex.corpus.reader import Span
from cortex.corpus.root import pin
from cortex.corpus.walk import survey
from cortex.index import postings
from cortex.index.contents import NEVER_THE_SAME, Contents, KnownFile, Moment, make_index, read_contents
from cortex.index.layout import IndexDoubtError
from cortex.index.lexical import OPEN_END, OPEN_START, PRINT_BYTES, LexicalIndex, fingerprint
from cortex.index.memory import compare
from cortex.retrieval.analyzer import ascii_terms, unicode_terms
from cortex.retrieval.search import searched_text


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_rich(tmp_path)
    return tmp_path


def test_every_section_says_what_was_read(root: Path):
    contents, index = indexed(root)
    files, records = contents.files, contents.records
    assert (len(files), len(records)) == (12, 13)
    assert index.paths == [file.path for file in files]
    assert index.hashes == [sha256((root / path).read_bytes()).digest() for path in index.paths]
    status = [(root / path).stat() for path in index.paths]
    assert list(zip(*index.stats, strict=True)) == [
        (each.st_size, each.st_mtime_ns, each.st_ctime_ns, each.st_ino) for each in status
    ]
    assert index.ids == [each.id for each in records]
    assert [index.paths[index.file_of(n)] for n in range(len(records))] == [each.provenance.path for each in records]
    assert index.lengths("ascii") == [len(ascii_terms(searched_text(each))) for each in records]
    assert index.lengths("unicode") == [len(unicode_terms(searched_text(each))) for each in records]
    assert index.numbers("created", "q").tolist() == [each.created_ms for each in records]
    assert index.numbers("updated", "q").tolist() == [each.updated_ms for each in records]
    for name, values in {
        "types": [each.type for each in records],
        "sources": [each.provenance.source for each in records],
        "sessions": [each.provenance.session for each in records],
    }.items():
        assert [index.names[name][code] for code in index.numbers(name, "H")] == values
        assert len(set(values)) > 1
    assert index.notes == contents.notes
    assert {each.kind for each in index.notes} == {"withheld", "cut-by-untrusted-opener"}
    assert index.prints == b"".join(map(fingerprint, records))
    index.check()


def test_bounds_are_those_of_the_records_that_have_any(root: Path):
    contents, index = indexed(root)
    assert [(index.ids[bound.record], bound.start, bound.end) for bound in index.bounds] == [
        (
            each.id,
            OPEN_START if each.valid_from_ms is None else each.valid_from_ms,
            OPEN_END if each.valid_until_ms is None else each.valid_until_ms,
        )
        for each in contents.records
        if each.id in {"old", "new", "r2"}
    ]
    assert len(index.bounds) == 3


def test_a_span_is_the_line_or_the_whole_note(root: Path):
    _, index = indexed(root)
    spans = list(zip(index.spans[::2], index.spans[1::2], strict=True))
    for number, (offset, size) in enumerate(spans):
        path = index.paths[index.file_of(number)]
        data = (root / path).read_bytes()
        if path.endswith(".md"):
            assert (offset, size) == (0, len(data))
        else:
            line = data[offset : offset + size]
            assert line.startswith(b'{"id": "' + index.ids[number].encode() + b'"')
            assert data[offset + size : offset + size + 1] in (b"\n", b"")
            assert b"\n" not in line


def test_every_record_is_read_again_by_its_span(root: Path):
    contents, index = indexed(root)
    with laid_over(root, index) as memory:
        assert [memory.record(number) for number in range(len(contents.records))] == contents.records


def test_a_fingerprint_differs_where_anything_that_is_exported_differs():
    plain = record("a", "text", related=("b", "c"), session="s")
    others = [
        plain._replace(id="b"),
        plain._replace(type="x"),
        plain._replace(title="x"),
        plain._replace(created="2026-01-02"),
        plain._replace(updated="2026-01-02"),
        plain._replace(content="text "),
        plain._replace(related=("b",)),
        plain._replace(related=("b c",)),
        plain._replace(related=("c", "b")),
        plain._replace(related=()),
        plain._replace(valid_from="2026-01-01"),
        plain._replace(valid_until="2026-01-01"),
        plain._replace(content="b", related=("text", "c")),
        *(
            plain._replace(provenance=plain.provenance._replace(**{name: "x"}))
            for name in ("source", "session", "path")
        ),
        plain._replace(provenance=plain.provenance._replace(session=None)),
    ]
    prints = {fingerprint(each) for each in [plain, *others]}
    assert len(prints) == len(others) + 1
    assert {len(each) for each in prints} == {PRINT_BYTES}


# Which file may pass for unchanged.


def passes(index: LexicalIndex, root: Path) -> list[bool]:
    with pin(root) as pinned:
        return list(compare(index, survey(pinned))[0])


@pytest.mark.parametrize(
    ("taken_after_ns", "same_device", "is_known"),
    [(1, True, True), (0, True, False), (-1, True, False), (-(10**9), True, False), (1, False, False)],
    ids=["before the tick", "in the tick of the build", "after it", "ahead of the clock", "by another clock"],
)
def test_a_file_is_known_where_it_was_surely_written_before(tmp_path: Path, taken_after_ns, same_device, is_known):
    path = put(tmp_path, "KNOWLEDGE/a.md", note("Oak.", id="a"))
    put(tmp_path, "KNOWLEDGE/b.md", note("Fir.", id="b"))
    os.utime(tmp_path / "KNOWLEDGE/b.md", ns=(0, 0))
    written = max(path.stat().st_mtime_ns, path.stat().st_ctime_ns)
    with pin(tmp_path) as pinned:
        device = moment_of(pinned).device + (not same_device)
        index = lexical_of(*make_index(read_contents(pinned), Moment(written + taken_after_ns, device)))
    assert (index.stats.sizes[0] != NEVER_THE_SAME) is is_known
    assert passes(index, tmp_path)[0] is is_known
    assert index.hashes[0] == sha256(path.read_bytes()).digest()


@pytest.mark.parametrize("kind", ["mtime", "ctime"])
def test_either_time_makes_a_file_too_young(tmp_path: Path, kind: str):
    # The clock of the system stamps ctime; mtime is set beside it, older or younger.
    path = put(tmp_path, "KNOWLEDGE/a.md", note("Oak.", id="a"))
    changed = path.stat().st_ctime_ns
    mtime = changed - 10**12 if kind == "ctime" else changed + 10**12
    os.utime(path, ns=(mtime, mtime))
    taken = path.stat().st_ctime_ns if kind == "ctime" else mtime
    assert passes(indexed(tmp_path, taken)[1], tmp_path) == [False]
    assert passes(indexed(tmp_path, taken + 1)[1], tmp_path) == [True]


CHANGES = {
    "another size": lambda path: path.write_bytes(path.read_bytes() + b"!"),
    "the same size": lambda path: path.write_bytes(path.read_bytes().replace(b"Oak", b"Ash")),
    "another mtime": lambda path: os.utime(path, ns=(7, 7)),
    "the mtime put back": lambda path: (
        before := path.stat().st_mtime_ns,
        path.write_bytes(path.read_bytes().replace(b"Oak", b"Ash")),
        os.utime(path, ns=(before, before)),
    ),
    "another file of its name": lambda path: (
        path.with_name("other").write_bytes(path.read_bytes()),
        path.with_name("other").rename(path),
    ),
    "gone": lambda path: path.unlink(),
    "another name": lambda path: path.rename(path.with_name("z.md")),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_of_any_kind_is_seen(tmp_path: Path, change):
    path = put(tmp_path, "KNOWLEDGE/a.md", note("Oak.", id="a"))
    put(tmp_path, "KNOWLEDGE/b.md", note("Fir.", id="b"))
    _, index = indexed(tmp_path)
    assert passes(index, tmp_path) == [True, True]
    before = path.stat().st_ctime_ns
    while put(tmp_path, "tick", "").stat().st_ctime_ns == before:
        pass  # a change within one tick of the clock is what Moment is for
    change(path)
    assert passes(index, tmp_path) == [False, True]


@pytest.mark.parametrize("second", [2**33, 2**34 - 2**32, -(2**31)])
def test_a_time_that_no_64_bits_of_nanoseconds_hold_is_one_to_read_live(tmp_path: Path, second: int):
    path = put(tmp_path, "KNOWLEDGE/a.md", note("Oak.", id="a"))
    os.utime(path, (second, second))
    if path.stat().st_mtime != second:
        pytest.skip("this file system does not keep such a time")
    contents, index = indexed(tmp_path)
    assert passes(index, tmp_path) == [second < 0]
    with laid_over(tmp_path, index) as memory:
        assert memory.find("a") == contents.records[0]


# What is damaged.


@pytest.mark.parametrize(
    "section",
    ["paths", "stats", "hashes", "starts", "ids", "ascii", "created", "types", "spans", "prints"],
)
@pytest.mark.parametrize(
    "change", [lambda data: data.rpartition(b"\0")[0], lambda data: data + b"\0" * 8], ids=["short", "long"]
)
def test_a_section_of_another_size_is_a_doubt_though_its_hash_fits(root: Path, section: str, change):
    with pin(root) as pinned:
        table, blocks = make_index(read_contents(pinned), moment_of(pinned))
    block = table.sections[section]
    data = change(blocks[block.offset : block.offset + block.size])
    forged = block._replace(offset=len(blocks), size=len(data), sha256=sha256(data).hexdigest())
    index = lexical_of(table._replace(sections={**table.sections, section: forged}), blocks + data)
    with pytest.raises(IndexDoubtError, match=r"another size|as many records"):
        _ = {
            "paths": lambda: index.paths,
            "stats": lambda: index.stats,
            "hashes": lambda: index.hashes,
            "starts": lambda: index.starts,
            "ids": lambda: index.ids,
            "ascii": lambda: index.lengths("ascii"),
            "created": lambda: index.numbers("created", "q", table.records),
            "types": lambda: index.numbers("types", "H", table.records),
            "spans": lambda: index.spans,
            "prints": lambda: index.prints,
        }[section]()


SHARES = {
    "the first begins later": lambda starts: [1, *starts[1:]],
    "not in order": lambda starts: [0, 2, 1, *starts[3:]],
    "more than there are": lambda starts: [*starts[:-1], starts[-1] + 1],
    "fewer than there are": lambda starts: [*starts[:-1], starts[-1] - 1],
}


@pytest.mark.parametrize("change", SHARES.values(), ids=SHARES)
def test_files_that_do_not_share_out_the_records_are_a_doubt(root: Path, change):
    with pin(root) as pinned:
        table, blocks = make_index(read_contents(pinned), moment_of(pinned))
    wrong = change(lexical_of(table, blocks).starts)
    data = b"".join(number.to_bytes(4, "little") for number in wrong)
    block = table.sections["starts"]._replace(offset=len(blocks), sha256=sha256(data).hexdigest())
    forged = lexical_of(table._replace(sections={**table.sections, "starts": block}), blocks + data)
    with pytest.raises(IndexDoubtError):
        _ = forged.starts


def test_no_block_is_read_past_its_hash(root: Path):
    with pin(root) as pinned:
        table, blocks = make_index(read_contents(pinned), moment_of(pinned))
    places = {
        **table.sections,
        **{f"terms from {key}": block for key, block in zip(table.keys, table.terms, strict=True)},
    }
    for name, block in places.items():
        if block.size:
            spoilt = bytearray(blocks)
            spoilt[block.offset + block.size // 2] ^= 1
            with pytest.raises(IndexDoubtError, match="not what was adopted"):
                lexical_of(table, bytes(spoilt)).check()
            assert name


# What is taken over.

WORDS = ["oak", "elm", "fir", "Ünal", "桥樑", "мост", "K"]
TEXT = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
FILES = st.dictionaries(
    st.sampled_from(["a.md", "b.jsonl", "c.jsonl", "d/e.md", "f.jsonl"]), st.lists(TEXT, max_size=4)
)


def contents_of(files: dict[str, list[str]]) -> Contents:
    """Return a corpus as it would be read: of each file, the texts of its records."""
    contents = Contents([], [], [], [], [])
    for path, texts in sorted(files.items()):
        data = repr(texts).encode()
        contents.starts.append(len(contents.records))
        contents.files.append(KnownFile(path, 0o100644, len(data), 1, 1, 1, 1, sha256(data).digest()))
        for number, text in enumerate(texts):
            contents.records.append(record(f"{path}-{number}", text, title="", path=path))
            contents.spans.append(Span(number, len(text)))
    contents.starts.append(len(contents.records))
    return contents


def refresh_again_and_again(versions: list[dict[str, list[str]]], size: int) -> None:
    moment = Moment(2, 1)
    with patch.object(postings, "POSTINGS_A_BLOCK", size):
        previous = lexical_of(*make_index(contents_of(versions[0]), moment))
        for version in versions[1:]:
            contents = contents_of(version)
            made = make_index(contents, moment, previous)
            assert made == make_index(contents, moment)
            previous = lexical_of(*made)


VERSIONS = (st.lists(FILES, min_size=2, max_size=4), st.sampled_from([1, 3, 8192]))


@settings(max_examples=150, deadline=None)
@given(*VERSIONS)
def test_an_index_made_from_an_earlier_one_is_the_index_made_from_nothing(versions, size):
    """Byte for byte, over whatever was edited, added, removed and renamed, through any number of refreshes."""
    refresh_again_and_again(versions, size)


@pytest.mark.proof
@settings(max_examples=2000, deadline=None)
@given(*VERSIONS)
def test_an_index_made_from_an_earlier_one_is_the_index_made_from_nothing_at_length(versions, size):
    """As above, more often."""
    refresh_again_and_again(versions, size)


def test_only_what_has_changed_is_counted_anew(monkeypatch: pytest.MonkeyPatch):
    counted: list[str] = []
    add = postings.Postings.add
    monkeypatch.setattr(
        postings.Postings, "add", lambda self, n, text: (counted.append(text.strip()), add(self, n, text))[1]
    )
    moment = Moment(2, 1)
    previous = lexical_of(*make_index(contents_of({"a.md": ["oak"], "b.jsonl": ["elm", "fir"]}), moment))
    counted.clear()
    make_index(contents_of({"a.md": ["oak"], "b.jsonl": ["elm", "ash"], "c.md": ["oak"]}), moment, previous)
    assert counted == ["elm", "ash", "oak"]


def test_a_corpus_with_nothing_in_it_has_an_index(tmp_path: Path):
    contents, index = indexed(tmp_path)
    assert (contents.files, contents.records) == ([], [])
    assert (index.paths, index.ids, index.starts, index.bounds, list(index.every_posting())) == ([], [], [0], [], [])
    assert index.posted("ascii", "oak") == []
    index.check()


def test_a_row_that_is_blank_or_carries_a_mark_shifts_no_span(tmp_path: Path):
    # A byte-order mark in front, blank lines of three kinds, both line ends, no line end at the end.
    lines = [
        b"",
        b"\r",
        b"  \t",
        row("a", "oak").encode(),
        row("b", "橡树").encode() + b"\r",
        b"",
        row("c", "x").encode(),
    ]
    put(tmp_path, "KNOWLEDGE/a.jsonl", b"\xef\xbb\xbf" + b"\n".join(lines))
    contents, index = indexed(tmp_path)
    data = (tmp_path / "KNOWLEDGE/a.jsonl").read_bytes()
    spans = zip(index.spans[::2], index.spans[1::2], strict=True)
    assert [data[at : at + size] for at, size in spans] == [lines[3], lines[4], lines[6]]
    with laid_over(tmp_path, index) as memory:
        found = [memory.find(name) for name in "abc"]
    assert found == contents.records
