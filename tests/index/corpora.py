"""Memories with something of every kind in them: both file types, both analyzers, bounds, filters, private parts."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from cortex.corpus.root import PinnedRoot, pin
from cortex.corpus.walk import survey
from cortex.index.contents import Contents, Moment, make_index, read_contents
from cortex.index.layout import Manifest, Table
from cortex.index.lexical import LexicalIndex
from cortex.index.memory import IndexedMemory, lay_over
from cortex.index.opening import OpenIndex

# Later than any file is written: whatever is there passes for unchanged until it changes.
LATER_NS: Final = 2**62
PLAIN: Final = Manifest("0" * 64, "lexical-1.json", "0" * 64, "2026-08-01T12:00:00.000Z")


def note(body: str, **fields: str) -> str:
    """Return a note with these fields in its header."""
    header = "".join(f"{name}: {value}\n" for name, value in fields.items())
    return f"---\n{header}---\n{body}\n"


def row(record_id: str, content: str, **fields: Any) -> str:
    """Return a line of a JSONL file, without its end."""
    basic = {"type": "note", "title": "Row", "created": "2026-03-01", "updated": "2026-03-02"}
    return json.dumps({"id": record_id, **basic, "content": content, **fields}, ensure_ascii=False)


def put(root: Path, path: str, data: str | bytes) -> Path:
    """Write a file of the corpus."""
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data.encode() if isinstance(data, str) else data)
    return file


def write_rich(root: Path) -> None:
    """Write a corpus that has something in every section of an index."""
    put(root, "PRINCIPAL_MEMORY.md", note("An oak to begin with.", id="hot", created="2026-01-01"))
    put(
        root,
        "KNOWLEDGE/Ideas/oak.md",
        note("Oak oak bridge.", id="oak", type="idea", title="Oak", created="2026-01-02"),
    )
    put(root, "KNOWLEDGE/elm.md", note("An elm by the oak.", id="elm", related="[oak, fir]", source="manual"))
    put(root, "KNOWLEDGE/fir.md", b"\xef\xbb\xbf" + note("Fir.\r\nOak.", id="fir", source_session="s1").encode())
    put(root, "KNOWLEDGE/bridge.md", note("мост через реку, 桥樑 oak", id="bridge", updated="2026-05-05"))
    put(root, "KNOWLEDGE/old.md", note("Oak of old.", id="old", valid_until="2026-02-01"))
    put(root, "KNOWLEDGE/new.md", note("Oak to come.", id="new", valid_from="2027-02-01"))
    put(root, "KNOWLEDGE/cut.md", note("Oak until here <private-ish> hidden", id="cut"))
    put(root, "KNOWLEDGE/withheld.md", note("Oak.", id="<private>w1</private>"))
    lines = [
        row("r1", "Oak in a row.", source_kind="log", source_session="s2"),
        "",
        row("r2", "橡树 and oak", valid_from="2026-01-01", valid_until="2030-01-01"),
        " \t",
        row("r3", "<private>Oak.</private>"),
        row("r4", "Pine alone.", related=["r1", "elm"]),
    ]
    put(root, "KNOWLEDGE/rows.jsonl", b"\xef\xbb\xbf" + "\r\n".join(lines).encode())
    put(root, "KNOWLEDGE/plain.jsonl", f"\n{row('p1', 'Oak oak oak.')}\n{row('p2', 'Fir.')}\n\n")
    put(root, "KNOWLEDGE/empty.jsonl", "")


def moment_of(root: PinnedRoot, taken_at_ns: int = LATER_NS) -> Moment:
    """Return a moment by the clock of the file system that a memory is on."""
    files = survey(root).files
    return Moment(taken_at_ns, files[0].device if files else 0)


def lexical_of(table: Table, blocks: bytes) -> LexicalIndex:
    """Return an index that lies in memory."""
    return LexicalIndex(table, lambda block: blocks[block.offset : block.offset + block.size])


def indexed(root: Path, taken_at_ns: int = LATER_NS) -> tuple[Contents, LexicalIndex]:
    """Read a corpus and index it."""
    with pin(root) as pinned:
        contents = read_contents(pinned)
        return contents, lexical_of(*make_index(contents, moment_of(pinned, taken_at_ns)))


@contextmanager
def laid_over(root: Path, index: LexicalIndex) -> Iterator[IndexedMemory]:
    """Open a memory through an index of it that may be older than what is there."""
    with pin(root) as pinned:
        memory = lay_over(pinned, OpenIndex(PLAIN, None, index))
        assert memory is not None
        try:
            yield memory
        finally:
            memory.close()
