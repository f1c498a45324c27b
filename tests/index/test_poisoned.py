"""An index that was made to mislead, every hash of it fitting, may rank wrongly; it never discloses anything."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from index.corpora import note, put, row
from index.forging import Parts, forge, posting_block
from support.indexes import NOTE, adopt, both_ways, say
from support.stores import Memory

from cortex.corpus.jsonl import parse_row
from cortex.corpus.markdown import parse_note
from cortex.corpus.record import Record
from cortex.index.lexical import PRINT_BYTES, fingerprint

SECRET = "s3cret"
INNER = note(f"{SECRET} oak", id=f"{SECRET}-id", type=f"{SECRET}-type", source=f"{SECRET}-desk", created="2026-01-01")
HALF = note(f"Public oak.\n<private>{INNER}</private>\nPublic oak.", id="half")
OUTSIDE = note(f"{SECRET} oak", id=f"{SECRET}-outside", title=SECRET)
ASKED = [
    ("search", "oak", "--page-size", "100"),
    ("search", SECRET),
    ("search", f"{SECRET} oak", "--recency", "1e6"),
    ("search", "oak", "--type", f"{SECRET}-type"),
    *(("search", "oak", "--explain", name) for name in ("half", f"{SECRET}-id", "later", "row")),
    ("search", "oak", "--expand", "half"),
    ("search", "oak", "--expand", "tree"),
    ("timeline", "--anchor", "2026-01-01", "--before", "50", "--after", "50"),
    ("timeline", "--anchor", "half", "--before", "50", "--after", "50"),
    ("status",),
]


@pytest.fixture
def poisonable(tmp_path: Path) -> Memory:
    """A memory with secrets beside, behind and within what may be told, answered from its index."""
    root = tmp_path / "root"
    put(root, "KNOWLEDGE/half.md", HALF)
    put(root, "KNOWLEDGE/later.md", note("oak", id="later", type=f"{SECRET}-later", valid_from="2027-01-01"))
    put(root, "KNOWLEDGE/rows.jsonl", "\n".join([
        row("row", "oak and elm"),
        row("hidden", f"<private>{SECRET} oak</private>", type=f"{SECRET}-hidden"),
        row("over", "oak", type=f"{SECRET}-over", valid_until="2026-01-01"),
    ]))  # fmt: skip
    put(root, "KNOWLEDGE/tree.md", note("oak tree", id="tree", related="[half, later, row]"))
    put(root, "KNOWLEDGE/veiled.md", note(f"oak {SECRET}", id="<private>v</private>", type=f"{SECRET}-veiled"))
    put(root, "KNOWLEDGE/wood.md", note("oak wood", id="wood"))
    put(root, "KNOWLEDGE/_passed-over.md", OUTSIDE)
    put(root, "USER/kept.md", OUTSIDE)
    put(tmp_path, "outside.md", OUTSIDE)
    adopt(root)
    return Memory(root, root)


def point(parts: Parts, record_id: str, span: tuple[int, int], record: Record) -> None:
    """Let what an index says of a record stand for another place in its file."""
    number = parts.number_of(record_id)
    spans = parts.numbers("spans", "I")
    spans[2 * number : 2 * number + 2] = span
    parts.set_numbers("spans", "I", spans)
    prints = bytearray(parts.sections["prints"])
    prints[PRINT_BYTES * number : PRINT_BYTES * (number + 1)] = fingerprint(record)
    parts.sections["prints"] = bytes(prints)
    ids = parts.texts("ids")
    ids[number] = record.id
    parts.set_texts("ids", ids)


def inside_a_private_span(parts: Parts) -> None:
    inner = INNER.encode()
    record = parse_note("KNOWLEDGE/half.md", INNER).result
    assert isinstance(record, Record)
    assert record.type == f"{SECRET}-type"
    point(parts, "half", (HALF.encode().index(inner), len(inner)), record)


def at_a_part_of_a_note(parts: Parts) -> None:
    """The part in front of the private span, as if that were all."""
    text = HALF.partition("<private>")[0]
    record = parse_note("KNOWLEDGE/half.md", text).result
    assert isinstance(record, Record)
    point(parts, "half", (0, len(text)), record)


def at_a_withheld_row(parts: Parts) -> None:
    data = (parts.folder.parent / "KNOWLEDGE/rows.jsonl").read_bytes()
    line = data.split(b"\n")[1]
    told = json.loads(line)
    record = parse_row("KNOWLEDGE/rows.jsonl", json.dumps({**told, "content": "oak"})).result
    assert isinstance(record, Record)
    point(parts, "row", (data.index(line), len(line)), record)


def at_a_withheld_note(parts: Parts) -> None:
    """What is said of wood.md is said of the file in front of it."""
    starts, files = parts.numbers("starts", "I"), parts.texts("paths")
    starts[files.index("KNOWLEDGE/wood.md")] += 1
    parts.set_numbers("starts", "I", starts)
    size = (parts.folder.parent / "KNOWLEDGE/veiled.md").stat().st_size
    record = parse_note("KNOWLEDGE/veiled.md", note(f"oak {SECRET}", id="v", type=f"{SECRET}-veiled")).result
    assert isinstance(record, Record)
    point(parts, "wood", (0, size), record)


def as_valid(parts: Parts) -> None:
    """Every record is valid at any time."""
    parts.sections["bounds"] = b""


def as_valid_a_little(parts: Parts) -> None:
    """Bounds that are there, and let through what is not valid."""
    bounds = parts.numbers("bounds", "q")
    bounds[1::3], bounds[2::3] = [-(2**63)] * 2, [2**63 - 1] * 2
    parts.set_numbers("bounds", "q", bounds)


def with_path(path: str) -> Callable[[Parts], None]:
    """Say of another file what is said of half.md, with what tells that file from others."""

    def change(parts: Parts) -> None:
        files = parts.texts("paths")
        at, count = files.index("KNOWLEDGE/half.md"), len(files)
        files[at] = path
        parts.set_texts("paths", files)
        status = (parts.folder.parent / path).stat()
        signed = parts.numbers("stats", "q")
        signed[at], signed[count + at], signed[2 * count + at] = status.st_size, status.st_mtime_ns, status.st_ctime_ns
        signed[3 * count + at] = status.st_ino
        parts.set_numbers("stats", "q", signed)
        record = parse_note(path, OUTSIDE).result
        assert isinstance(record, Record)
        point(parts, "half", (0, len(OUTSIDE.encode())), record)

    return change


def with_a_term(parts: Parts) -> None:
    """Every record has the secret, and nothing else."""
    numbers = list(range(len(parts.texts("ids"))))
    parts.terms = [(f"={SECRET}", posting_block((f"={SECRET}", numbers, [300] * len(numbers))))]


def as_of_every_kind(parts: Parts) -> None:
    """Every record has the type that comes last."""
    codes = parts.numbers("types", "H")
    parts.set_numbers("types", "H", [max(codes)] * len(codes))


# What is made of an index, and whether a doubt about it is said.
POISONS: dict[str, tuple[Callable[[Parts], None], bool]] = {
    "inside a private span": (inside_a_private_span, True),
    "at a part of a note": (at_a_part_of_a_note, True),
    "at a withheld row": (at_a_withheld_row, True),
    "at a withheld note": (at_a_withheld_note, True),
    "at what is not valid, by no bounds": (as_valid, True),
    "at what is not valid, by other bounds": (as_valid_a_little, True),
    "at a file above the memory": (with_path("../outside.md"), False),
    "at a file of the same folder, the long way": (with_path("KNOWLEDGE/../KNOWLEDGE/_passed-over.md"), False),
    "at a file that is passed over": (with_path("KNOWLEDGE/_passed-over.md"), False),
    "at a file beside the corpus": (with_path("USER/kept.md"), False),
    "with a secret for a term": (with_a_term, True),
    "with other types": (as_of_every_kind, True),
}


def assert_discloses_nothing(root: Path) -> int:
    """Ask everything; return how many answers came with a doubt."""
    doubts = 0
    for words in ASKED:
        through, without = both_ways(root, *words)
        assert SECRET not in through.output.decode() + through.notes, words
        assert (SECRET not in without.output.decode(), without.notes) == (True, "")
        assert not through.notes or (through.notes.startswith(NOTE) and through.notes.count("\n") == 1)
        if through.notes:
            assert (through.output, through.exit) == (without.output, without.exit)
        doubts += bool(through.notes)
    return doubts


def test_a_sound_index_discloses_nothing(poisonable: Memory):
    assert assert_discloses_nothing(poisonable.root) == 0


@pytest.mark.parametrize(("change", "is_doubted"), POISONS.values(), ids=POISONS)
def test_a_poisoned_index_discloses_nothing(poisonable: Memory, change: Callable[[Parts], None], is_doubted: bool):
    forge(poisonable.root, change)
    assert bool(assert_discloses_nothing(poisonable.root)) is is_doubted


def test_an_absolute_path_is_no_file_of_an_index(poisonable: Memory, tmp_path: Path):
    forge(poisonable.root, with_path(str(tmp_path / "outside.md")))
    assert assert_discloses_nothing(poisonable.root) == 0


@pytest.mark.parametrize("name", ["link.md", "folder/outside.md"])
def test_a_link_is_never_followed(poisonable: Memory, tmp_path: Path, name: str):
    """Neither a file that is a link nor one below a folder that is: the memory is refused, as without an index."""
    link = poisonable.root / "KNOWLEDGE" / name.split("/", maxsplit=1)[0]
    link.symlink_to(tmp_path / "outside.md" if name == "link.md" else tmp_path)
    forge(poisonable.root, with_path(f"KNOWLEDGE/{name}"))
    for words in ASKED:
        through, without = both_ways(poisonable.root, *words)
        assert through == without
        assert (through.exit, SECRET in through.output.decode()) == (4, False)


def test_what_became_private_is_not_told_by_an_index_that_calls_it_unchanged(poisonable: Memory):
    path = put(
        poisonable.root, "KNOWLEDGE/tree.md", note(f"A word, {SECRET}-word, in the open.", id="tree", type=SECRET)
    )
    adopt(poisonable.root)
    path.write_text(
        note(f"A word, <private>{SECRET}-word</private>, not so.", id="tree", type="note"), encoding="utf-8"
    )

    def unchanged(parts: Parts) -> None:
        at, count = parts.texts("paths").index("KNOWLEDGE/tree.md"), parts.table["files"]
        status, stats = path.stat(), parts.numbers("stats", "q")
        for column, value in enumerate((status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)):
            stats[column * count + at] = value
        parts.set_numbers("stats", "q", stats)

    forge(poisonable.root, unchanged)
    assert assert_discloses_nothing(poisonable.root) > 0
    said = poisonable.call("index", "verify")
    assert (said.refusal, "tree.md" in said.message) == ((4, "integrity_error"), True)


def test_a_poisoned_index_is_what_verify_sees_and_a_build_mends(poisonable: Memory):
    for change, _ in POISONS.values():
        forge(poisonable.root, change)
        said = poisonable.call("index", "verify")
        assert said.refusal == (4, "integrity_error")
        assert SECRET not in said.message
        adopt(poisonable.root)
        assert poisonable.call("index", "verify").data["verified"]
        assert say(poisonable.root, "search", "oak").notes == ""
