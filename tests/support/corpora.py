"""Corpora to be drawn: notes and rows of every kind that a memory holds, where they lie, and what is asked of them.

What is drawn does not know the memory that it is for: an id stands in it as a `Ref`, a number that is counted off,
round and from the last, in a list of ids that is known by then.
"""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from hypothesis import strategies as st

# What is private, and so in no answer, wherever it stands.
SECRET: Final = "s3cret"
WORDS: Final = (
    "oak", "elm", "fir", "Oak", "oaks", "ash-tree", "_x_", "1", "oak oak", "Ünal", "straße", "STRASSE", "橡树林", "桥",
    "한국어", "ภาษาไทย", "\u212a", "ﬁr", "e\u0301lan", "élan", "İstanbul", "😀",
)  # fmt: skip
PRIVATE: Final = (
    f"<private>{SECRET} oak</private>",
    f"< PRIVATE >\n{SECRET}</private>",
    f"<private>{SECRET}",
    f"<privateer>{SECRET}",
    f"\uff1cprivate>{SECRET}",
    "</private>",
)
# Stands for more of one word than a byte counts.
MANY_OAKS: Final = "many oaks"
MARK: Final = "\ufeff"
# A word that a rewrite puts in the place of another: as many bytes, so that the size says nothing.
TURNED: Final = {b"oak": b"elm", b"elm": b"fir", b"fir": b"oak"}

TYPES: Final = ("idea", "note", "橡")
SOURCES: Final = ("mail", "Ünal")
SESSIONS: Final = ("s1", "s2")
DAYS: Final = ("2026-01-01", "2026-01-02", "2026-01-02T10:00:00+02:00", "1969-12-31T23:59:59.999Z", "2026-07-31")
WINDOWS: Final = (
    ("2026-07-01", None), (None, "2026-07-01"), ("2026-08-05", None), (None, "2026-08-05"),
    ("2026-07-01", "2026-08-05"), ("2026-08-05", "2026-08-06"),
)  # fmt: skip
# What an id begins with; a number makes it one that nothing else has.
PREFIXES: Final = ("n", "桥", "KNOWLEDGE/n", "a b ", "2026-01-0", "path:")
STEMS: Final = ("a", "c", "Ünal", "missing")

NOTES: Final = (
    "a.md", "b.md", "Ünal.md", "a b.md", "sub/a.md", "sub/c.md", "sub/deep/d.md", "WORK/e.md", "_not.md", "sub/.not.md",
)  # fmt: skip
LOGS: Final = ("log.jsonl", "sub/rows.jsonl", "桥/rows.jsonl", "_not.jsonl")
HOT: Final = ("X_MEMORY.md", "桥_MEMORY.md")
FOLDERS: Final = ("sub", "sub/deep", "WORK", "桥", "other")
KNOWLEDGE: Final = ("KNOWLEDGE", "MEMORY/KNOWLEDGE")
_NOT_CORPUS: Final = ("OBSERVABILITY", "INDEX", "CORTEX", "BENCHMARKS", "USER", "archive", "归档")


class Ref(NamedTuple):
    """Stands for one of the ids that are known: 0 for the last."""

    number: int

    def among(self, ids: Sequence[str]) -> str:
        """Return the id."""
        return ids[-1 - self.number % len(ids)] if ids else "none"


class Draft(NamedTuple):
    """What a note or a row says and how it is spelled, all but its id and those that it names."""

    prefix: str | None
    words: tuple[str, ...]
    title: str | None
    type: str | None
    created: str
    updated: str | None
    source: str | None
    session: str | None
    window: tuple[str | None, str | None]
    related: tuple[Ref | str, ...]
    withheld: str | None
    line_end: str
    is_block: bool
    is_marked: bool

    def identity(self, serial: int) -> str | None:
        """Return the id that it has with this number; None where it goes by its path, or tells none."""
        return None if self.prefix is None or self.withheld == "id" else f"{self.prefix}{serial}"

    @property
    def text(self) -> str:
        """What it says."""
        return " ".join(["oak " * 300 if word == MANY_OAKS else word for word in self.words])

    def note(self, serial: int, ids: Sequence[str]) -> bytes:
        """Return it as a Markdown file."""
        fields = {key: value for key, value in self._fields_of(serial).items() if value is not None}
        fields |= {"title": self.title} if self.title else {}
        lines = [f"{key}: {self._withheld(key, value)}" for key, value in fields.items()]
        lines += self._related_lines(ids)
        text = "\n".join(["---", *lines, "---", "", self.text, ""])
        return self._spelled(text)

    def row(self, serial: int, ids: Sequence[str]) -> str:
        """Return it as a line of JSON, without its end."""
        fields: dict[str, object] = {
            key: self._withheld(key, value) for key, value in self._fields_of(serial).items() if value is not None
        }
        fields |= {"id": self._withheld("id", self.identity(serial) or f"row{serial}")}
        fields |= {"type": self.type or "note", "title": self.title or ".", "content": self.text or "."}
        fields |= {"updated": self.updated or self.created, "related": [self._name(name, ids) for name in self.related]}
        return json.dumps(fields, ensure_ascii=self.is_block)

    def _fields_of(self, serial: int) -> dict[str, str | None]:
        start, end = self.window
        return {
            "id": self.identity(serial) or (f"n{serial}" if self.withheld == "id" else None),
            "type": self.type,
            "created": self.created,
            "updated": self.updated,
            "source_kind": self.source,
            "source_session": self.session,
            "valid_from": start,
            "valid_until": end,
        }

    def _withheld(self, key: str, value: str) -> str:
        return f"<private>{value}{SECRET}</private>" if key == self.withheld else value

    def _related_lines(self, ids: Sequence[str]) -> list[str]:
        names = [self._name(name, ids) for name in self.related]
        if self.is_block:
            return ["related:", *[f"- {name}" for name in names]]
        return [f"related: [{', '.join(names)}]"]

    def _name(self, name: Ref | str, ids: Sequence[str]) -> str:
        return name.among(ids) if isinstance(name, Ref) else name

    def _spelled(self, text: str) -> bytes:
        return (MARK * self.is_marked + text.replace("\n", self.line_end)).encode()


def _often(*values: object) -> st.SearchStrategy[object]:
    """Draw the first value as often as all the others together."""
    first, *others = values
    return st.sampled_from([*[first] * len(others), *others])


REFS: Final = st.builds(Ref, st.integers(0, 11))
DRAFTS: Final = st.builds(
    Draft,
    prefix=st.sampled_from([None, *PREFIXES]),
    words=st.lists(st.sampled_from([*WORDS * 4, *PRIVATE, MANY_OAKS]), max_size=7).map(tuple),
    title=st.sampled_from([None, "T", "T", "oak", "Ünal 桥", f"T <private>{SECRET}</private>"]),
    type=st.sampled_from([None, *TYPES]),
    created=st.sampled_from(DAYS),
    updated=st.sampled_from([None, "2026-07-31", "2026-08-01T11:59:59.999Z"]),
    source=st.sampled_from([None, *SOURCES]),
    session=st.sampled_from([None, *SESSIONS]),
    window=_often((None, None), *WINDOWS),
    related=st.lists(st.one_of(REFS, st.sampled_from(STEMS)), max_size=3).map(tuple),
    withheld=st.sampled_from([*[None] * 12, "id", "created", "source_kind", "valid_until"]),
    line_end=st.sampled_from(["\n", "\n", "\r\n"]),
    is_block=st.booleans(),
    is_marked=st.sampled_from([False, False, False, True]),
)
# What stands between rows: nothing, an empty line, a line of blanks.
GAPS: Final = st.sampled_from(["", "", "", "\n", "\r\n", " \t\n"])


class Log(NamedTuple):
    """The rows of a JSONL file, and how they are set."""

    rows: tuple[Draft, ...]
    gap: str
    line_end: str
    is_marked: bool
    is_ended: bool

    def text(self, serial: int, ids: Sequence[str]) -> bytes:
        """Return the file; its rows take the numbers from `serial` on."""
        lines = [row.row(serial + place, ids) for place, row in enumerate(self.rows)]
        text = f"{self.line_end}{self.gap}".join(lines) + self.line_end * self.is_ended
        return (MARK * self.is_marked + text).encode()


LOG_DRAFTS: Final = st.builds(
    Log,
    rows=st.lists(DRAFTS, max_size=4).map(tuple),
    gap=GAPS,
    line_end=st.sampled_from(["\n", "\n", "\r\n"]),
    is_marked=st.sampled_from([False, False, True]),
    is_ended=st.booleans(),
)
# Files that no draft comes to: no byte at all, a mark alone, blanks, no frontmatter, one that does not end.
_ODD_NOTES: Final = (
    b"", MARK.encode(), b" \r\n", b"oak elm", "橡树 oak\n".encode(), b"---\ntitle: oak\n", MARK.encode() * 2 + b"oak",
    f"<private>{SECRET}</private>".encode(), b"---\r\nname: oak\r\n---",
)  # fmt: skip
_ODD_LOGS: Final = (b"", MARK.encode(), b"\n\n", b"\r\n \t\r\n")
ODD_FILES: Final = (*[("odd.md", data) for data in _ODD_NOTES], *[("odd.jsonl", data) for data in _ODD_LOGS])
# Files that make a memory unsound, each in its own way.
UNSOUND: Final = {
    "bad.md": (
        b"oak \0 elm", b"\xff oak", b"---\ncreated: soon\n---\n",
        b"---\nvalid_from: 2026-01-02\nvalid_until: 2026-01-01\n---\n",
    ),
    "bad.jsonl": (b"{", b"[]", b'{"id": "x"}', b'{"id": "x", "id": "y"}', b"\xff"),
}  # fmt: skip


class Question(NamedTuple):
    """A call: words, ids among them."""

    words: tuple[str | Ref, ...]

    def among(self, ids: Sequence[str]) -> list[str]:
        """Return it as words."""
        return [word.among(ids) if isinstance(word, Ref) else word for word in self.words]


def _mostly(good: Sequence[str], bad: Sequence[str]) -> st.SearchStrategy[str]:
    """Draw a good value, once in a while a bad one."""
    return st.sampled_from([value for value in good for _ in range(12 * len(bad) // len(good) + 1)] + [*bad])


_TIMES = _mostly([*DAYS, "2026-08-01", "2026-07-31T10:00:00Z"], ["soon", ""])
_IDS = st.one_of(REFS, REFS, REFS, REFS, REFS, st.sampled_from(["missing", *DAYS, SECRET]))
_FILTERS: Final[dict[str, st.SearchStrategy[str | Ref | None]]] = {
    "--type": st.sampled_from([*TYPES, "memory", "work", "x", SECRET]),
    "--source": st.sampled_from([*SOURCES, "canonical", "x"]),
    "--session": st.sampled_from([*SESSIONS, "x"]),
    "--from": _TIMES,
    "--to": _TIMES,
    "--page": _mostly(["1", "2", "3", "9", str(2**53 - 1)], ["0", "x"]),
    "--page-size": _mostly(["1", "2", "3", "100"], ["0", "101"]),
    # Before, in and after the windows, and on the very bound of one.
    "--now": _mostly(["2026-06-01", "2026-08-05", "2026-08-04T23:59:59.999Z", "2027-01-01", "0"], ["never"]),
}
_OF_A_SEARCH: Final[dict[str, st.SearchStrategy[str | Ref | None]]] = {
    "--recency": _mostly(["0", "0.5", "1", "1e6", "1e-300"], ["-1", "x"]),
    "--expand": _IDS,
    "--max-nodes": _mostly(["1", "2", "100"], ["0"]),
    "--max-tokens": _mostly(["1", "20", "50000"], ["0"]),
    "--analyzer": _mostly(["ascii", "unicode", "auto"], ["x"]),
    "--explain": _IDS,
    "--text": st.none(),
}
_OF_A_TIMELINE: Final[dict[str, st.SearchStrategy[str | Ref | None]]] = {
    "--before": _mostly(["0", "1", "100"], ["x"]),
    "--after": _mostly(["0", "1", "100"], ["101"]),
}


def _options(known: dict[str, st.SearchStrategy[str | Ref | None]]) -> st.SearchStrategy[tuple[str | Ref, ...]]:
    """Draw some options, each once, with a value each."""
    one = st.sampled_from(sorted(known)).flatmap(lambda name: st.tuples(st.just(name), known[name]))
    drawn = st.lists(one, max_size=4, unique_by=lambda pair: pair[0])
    return drawn.map(lambda pairs: tuple([word for pair in pairs for word in pair if word is not None]))


_TERMS = st.lists(st.sampled_from([*WORDS, SECRET]), min_size=1, max_size=5).map(" ".join)
_QUERIES = st.one_of(*[_TERMS] * 5, st.sampled_from(["", "!?", "oak " * 65, "T title created private"]))
_SEARCHES = st.builds(
    lambda query, options: Question(("search", query, *options)), _QUERIES, _options({**_FILTERS, **_OF_A_SEARCH})
)
# Those that load records and say why.
_CLOSER_SEARCHES = st.builds(
    lambda query, one, other: Question(("search", query, "--expand", one, "--max-tokens", "50000", "--explain", other)),
    _TERMS,
    REFS,
    REFS,
)
_TIMELINES = st.builds(
    lambda anchor, options: Question(("timeline", "--anchor", anchor, *options)),
    _IDS,
    _options({**_FILTERS, **_OF_A_TIMELINE}),
)
QUESTIONS: Final = st.one_of(_SEARCHES, _SEARCHES, _CLOSER_SEARCHES, _TIMELINES)


def corpus_files(root: Path) -> dict[str, tuple[int, int, int, int]]:
    """Return what `stat` says of each file of the corpus (size, mtime, ctime, inode), by its path below the root."""
    nested = next((name for name in KNOWLEDGE if (root / name).exists()), None)
    top = root / nested if nested else root
    found = [path for path in top.rglob("*") if _counts(path.relative_to(root), len(top.relative_to(root).parts))]
    if nested == KNOWLEDGE[0]:
        found += root.glob("[!_.]*_MEMORY.md")
    files = {}
    for path in found:
        status = path.lstat()
        files[os.fspath(path.relative_to(root))] = (
            status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino,
        )  # fmt: skip
    return {name: known for name, known in files.items() if (root / name).is_file()}


def _counts(path: Path, depth: int) -> bool:
    is_ours = depth == 0 and path.parts[0] in _NOT_CORPUS
    return not is_ours and path.suffix in (".md", ".jsonl") and not any(part[0] in "_." for part in path.parts[depth:])
