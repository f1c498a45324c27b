"""The corpus, a property for each sentence of its rules, over generated notes and logs."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from cortex.corpus.digest import canonical_digest
from cortex.corpus.jsonl import parse_row
from cortex.corpus.jsonl_bulk import quick_reader
from cortex.corpus.markdown import parse_note
from cortex.corpus.reader import Reading, iter_records, read_corpus
from cortex.corpus.record import Flaw, Record, exported
from cortex.corpus.root import pin

PATH = "KNOWLEDGE/a.jsonl"
TEXT = st.text(
    st.one_of(
        st.sampled_from('ab"\\/:,{}[]# \t\n\r<>\u0085\u2028漢😀\0\x7f\ud800'),
        st.sampled_from("private"),
        st.characters(),
    ),
    max_size=8,
)
MARKUP = st.sampled_from(["<private>", "</private>", "<privateer>", "<b>", "\\u003c", "＜private>"])
STRINGS = st.one_of(TEXT, st.lists(st.one_of(TEXT, MARKUP), max_size=4).map("".join))
TIMES = st.sampled_from(["2024-01-01", "2024-01-01T10:00Z", "2024-06-01T10:00:00.5+02:00", "2025-01-01", "soon", ""])
VALUES = st.one_of(STRINGS, st.none(), st.integers(), st.booleans(), st.lists(STRINGS, max_size=2))
ROWS = st.fixed_dictionaries(
    {"id": STRINGS, "type": STRINGS, "title": STRINGS, "created": TIMES, "updated": TIMES, "content": STRINGS},
    optional={
        "source_kind": VALUES, "source": STRINGS, "source_session": VALUES, "related": st.lists(STRINGS, max_size=3),
        "valid_from": st.one_of(TIMES, st.none()), "valid_until": VALUES, "other": VALUES,
    },
)  # fmt: skip
SOUND = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="<＜﹤"), min_size=1, max_size=6)
SOUND_ROWS = st.fixed_dictionaries(
    {
        "id": SOUND.map(lambda text: f"i{text}"), "type": SOUND.map(lambda text: f"t{text}"),
        "title": SOUND.map(lambda text: f"T{text}"), "created": st.just("2024-01-01"),
        "updated": st.sampled_from(["2024-01-01", "2024-01-02"]), "content": SOUND.map(lambda text: f"c{text}\n"),
    },
    optional={
        "source": SOUND.map(lambda text: f"s{text}"), "source_session": st.one_of(st.none(), SOUND),
        "related": st.lists(SOUND.map(lambda text: f"r{text}"), max_size=2),
        "valid_from": st.sampled_from([None, "2024-01-01"]),
    },
)  # fmt: skip
CORPORA = st.lists(SOUND_ROWS, max_size=6, unique_by=lambda row: row["id"])


@st.composite
def lines(draw: st.DrawFn) -> str:
    """A line of a log: a row as JSON, in one of several spellings, sometimes damaged."""
    row = draw(ROWS)
    text = json.dumps(row, ensure_ascii=draw(st.booleans()), separators=draw(st.sampled_from([None, (",", ":")])))
    if draw(st.booleans()):
        text = text.replace("/", "\\/")
    match draw(st.integers(0, 9)):
        case 0:
            key = draw(st.sampled_from(sorted(row)))
            return text[:-1] + f", {json.dumps(key)}: {json.dumps(row[key])}}}"
        case 1:
            position = draw(st.integers(0, len(text)))
            return text[:position] + draw(TEXT) + text[position:]
        case 2:
            return text + draw(st.sampled_from(["\r", " ", "x", text]))
    return text


class TestRows:
    @given(lines())
    @settings(max_examples=400)
    def test_the_fast_way_takes_only_what_the_strict_way_takes_and_reads_it_the_same(self, line: str) -> None:
        """Both ways come to the same records."""
        data = line.encode("utf-8", "surrogatepass")
        record = quick_reader(PATH, data)(data)
        if record is not None:
            assert parse_row(PATH, line) == (record, record.id, False)

    @given(SOUND_ROWS)
    def test_the_fast_way_takes_every_plain_sound_row(self, row: dict[str, Any]) -> None:
        """Only doubt sends a line back."""
        data = json.dumps(row, ensure_ascii=False).encode()
        assert quick_reader(PATH, data)(data) == parse_row(PATH, data.decode()).result
        assert isinstance(parse_row(PATH, data.decode()).result, Record)

    @given(ROWS)
    def test_nothing_private_is_in_a_record_or_a_flaw_however_it_is_escaped(self, row: dict[str, Any]) -> None:
        """JSONL is decoded first and every string in it stripped."""
        hidden = {
            key: f"{value}<private>s3cret</private>" if isinstance(value, str) else value for key, value in row.items()
        }
        text = json.dumps(hidden)
        for line in (text, text.replace("<", "\\u003C"), text.replace("</p", "<\\/\\u0070")):
            assert "s3cret" not in repr(parse_row(PATH, line))


class TestNotes:
    @given(st.lists(st.one_of(STRINGS, st.sampled_from(["---\n", "---\r\n", "id: ", "\n", "related:\n", "- a\n"]))))
    def test_any_text_is_a_record_a_flaw_or_withheld(self, parts: list[str]) -> None:
        """A Markdown file is one record."""
        text = "".join(parts)
        result = parse_note("a.md", text).result
        if isinstance(result, Record):
            assert result.id.strip()
            assert result.updated_ms >= result.created_ms
        else:
            assert result is None or all(isinstance(flaw, Flaw) for flaw in result)

    @given(st.text(alphabet="abc \n-:#'\"[]", max_size=60))
    def test_a_note_says_the_same_with_either_line_end(self, text: str) -> None:
        """A line ends with LF or CRLF; nothing else ends a line."""
        unix, dos = parse_note("a.md", text).result, parse_note("a.md", text.replace("\n", "\r\n")).result
        assert isinstance(unix, Record)
        assert isinstance(dos, Record)
        assert dos._replace(content=unix.content) == unix

    @given(st.text(alphabet="ab\n", max_size=20), st.text(max_size=10))
    def test_what_is_private_in_the_frontmatter_is_in_no_field(self, public: str, inside: str) -> None:
        """Frontmatter is read from the stripped text."""
        hidden = inside.replace("<", "") + "s3cret"
        span = f"<private>{hidden}</private>"
        text = f"---\nid: r1\nrelated: [a, {span}]\nsource: x{span}\n---\n{public}"
        result = parse_note("a.md", text).result
        assert isinstance(result, Record)
        assert (result.related, result.provenance.source) == (("a",), "x")
        assert "s3cret" not in repr(result)


def read(rows: list[dict[str, Any]], files: int) -> Reading:
    """The corpus of these rows, dealt out to so many files."""
    with TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "KNOWLEDGE").mkdir()
        for number in range(files):
            text = "\n".join(json.dumps(row) for row in rows[number::files])
            (root / f"KNOWLEDGE/{number}.jsonl").write_text(text, encoding="utf-8")
        with pin(root) as pinned:
            reading = read_corpus(pinned, stop_at_first_fault=False)
            assert sorted(iter_records(pinned, backwards=True)) == sorted(reading.records)
            return reading


class TestDigest:
    @given(CORPORA, CORPORA)
    @settings(max_examples=50)
    def test_digests_are_equal_exactly_if_the_records_are(
        self, one: list[dict[str, Any]], other: list[dict[str, Any]]
    ) -> None:
        """Two corpora have the same digest exactly if their records are the same."""
        mine, theirs = read(one, 1).records, read(other, 1).records
        same = sorted(map(exported, mine), key=str) == sorted(map(exported, theirs), key=str)
        assert (canonical_digest(mine) == canonical_digest(theirs)) == same

    @given(CORPORA, st.randoms(use_true_random=False))
    @settings(max_examples=50)
    def test_the_order_of_the_rows_changes_nothing(self, rows: list[dict[str, Any]], random: Any) -> None:
        """All records sorted by id."""
        shuffled = random.sample(rows, len(rows))
        assert canonical_digest(read(rows, 1).records) == canonical_digest(read(shuffled, 1).records)
