"""From which memory a call is answered: every doubt about an index is said once, and the files answer all the same."""

import json
import os
import shutil
import sys
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from unittest.mock import patch

import pytest
from index.corpora import note, put, row, write_rich
from index.forging import Parts, forge, posting_block
from support.damage import append, delete, flip_first_bytes, overwrite, replace_by_dangling_link, replace_by_fifo
from support.indexes import NOTE, adopt, both_ways, say
from support.nobody import as_nobody, give_to_nobody, open_folder, skip_where_modes_do_not_bind
from support.stores import NOW, OPERATOR, Memory

from cortex.adapter import create_adapter
from cortex.corpus import reader
from cortex.index import memory as indexed_memory
from cortex.index import opening
from cortex.index.layout import ADOPTION

SEARCH = ("search", "oak")
TIMELINE = ("timeline", "--anchor", "elm")
Damage = Callable[[Path], None]


def of(name: str, damage: Damage) -> Damage:
    """Return the damage of one file of an index."""
    return lambda root: damage(root / "INDEX" / name)


def as_json(name: str, **changes: object) -> Damage:
    """Return the damage of a document whose fields are changed."""

    def damage(root: Path) -> None:
        path = root / "INDEX" / name
        path.write_text(json.dumps({**json.loads(path.read_bytes()), **changes}), encoding="utf-8")

    return damage


def forged(change: Callable[[Parts], object]) -> Damage:
    """Return the damage of a change whose hashes fit."""
    return lambda root: forge(root, change)


def of_table(change: Callable[[Parts], object]) -> Damage:
    """Return the damage of a table that is changed as it is, its own hash apart."""

    def damage(root: Path) -> None:
        parts = Parts(root)
        change(parts)
        parts.write_table()

    return damage


def spoilt(name: str) -> Damage:
    """Return the damage of one bit in the middle of a section."""

    def damage(root: Path) -> None:
        parts = Parts(root)
        at, size, _ = parts.table["sections"][name]
        data = bytearray(parts.blocks_path.read_bytes())
        data[at + size // 2] ^= 1
        parts.blocks_path.write_bytes(data)

    return damage


def with_numbers(section: str, kind: str, change: Callable[[list[int]], list[int]]) -> Damage:
    """Return the damage of a section of numbers, the hashes fitting."""
    return forged(lambda parts: parts.set_numbers(section, kind, change(parts.numbers(section, kind))))


def linked(path: Path) -> None:
    """Put a link to a whole copy in a file's place."""
    aside = path.parents[2] / f"aside-{path.name}"
    shutil.move(path, aside)
    path.symlink_to(aside)


def turned_into_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def cut_in_half(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def term_spoilt(root: Path) -> None:
    """Change a bit of the block that holds a term of the query."""
    parts = Parts(root)
    _, at, size, _ = next(term for term in reversed(parts.table["terms"]) if term[0] <= "=oak")
    data = bytearray(parts.blocks_path.read_bytes())
    data[at + size - 1] ^= 1
    parts.blocks_path.write_bytes(data)


def post(records: list[int], counts: list[int]) -> Damage:
    """Return the damage of an index whose one ASCII term is `oak`, in these records."""

    def change(parts: Parts) -> None:
        others = [(key, block) for key, block in parts.terms if not key.startswith("=")]
        parts.terms = [("=oak", posting_block(("=oak", records, counts))), *others]

    return forged(change)


def doubled(parts: Parts) -> None:
    parts.set_texts("ids", parts.texts("ids")[:-1])


def swapped_ids(parts: Parts) -> None:
    ids = parts.texts("ids")
    one, other = ids.index("elm"), ids.index("oak")
    ids[one], ids[other] = ids[other], ids[one]
    parts.set_texts("ids", ids)


def without_bounds(parts: Parts) -> None:
    parts.sections["bounds"] = b""


MANIFEST, TABLE, BLOCKS = "index-manifest.json", "lexical-1.json", "lexical-1.blocks"
REPLACED = {
    "is cut": cut_in_half,
    "is empty": overwrite(b""),
    "has other first bytes": flip_first_bytes,
    "is a link": linked,
    "is a link to nothing": replace_by_dangling_link,
    "is a folder": turned_into_a_folder,
    "is a FIFO": replace_by_fifo,
}
# What is doubtful, and a call that comes upon it.
DOUBTS: dict[str, tuple[Damage, tuple[str, ...]]] = {
    **{
        f"the {what} {how}": (of(name, damage), SEARCH)
        for what, name in {"manifest": MANIFEST, "table": TABLE, "blocks": BLOCKS, "adoption": "adoption.json"}.items()
        for how, damage in REPLACED.items()
        if (what, how) != ("blocks", "has other first bytes")
    },
    "the table is missing": (of(TABLE, delete), SEARCH),
    "the blocks are missing": (of(BLOCKS, delete), SEARCH),
    "the table is longer": (of(TABLE, append(b" ")), SEARCH),
    "the manifest has a field more": (as_json(MANIFEST, more="x"), SEARCH),
    "the manifest has another schema": (as_json(MANIFEST, schema="lifeos-cortex-index/v2"), SEARCH),
    "the manifest has no time": (as_json(MANIFEST, indexed_at="soon"), SEARCH),
    "the manifest names another hash": (as_json(MANIFEST, index_sha256="0" * 64), SEARCH),
    "the manifest names a file outside": (as_json(MANIFEST, index_path="../KNOWLEDGE/elm.md"), SEARCH),
    "the manifest names the other place": (as_json(MANIFEST, index_path="lexical-2.json"), SEARCH),
    "the manifest is too large": (of(MANIFEST, append(b" " * 1024 * 1024)), SEARCH),
    "the adoption has a field more": (as_json("adoption.json", more="x"), SEARCH),
    "the folder of the index is a link": (lambda root: linked(root / "INDEX"), SEARCH),
    "the folder of the index is a file": (
        lambda root: (shutil.rmtree(root / "INDEX"), (root / "INDEX").write_text("x"))[0], SEARCH,
    ),
    "another format": (of_table(lambda parts: parts.table.update(format="lexical/v9")), SEARCH),
    "another version": (of_table(lambda parts: parts.table.update(made_with="0.0.1, Python 3.8")), SEARCH),
    "a table that is a list": (lambda root: _put_table(root, b"[]"), SEARCH),
    "a table that is no JSON": (lambda root: _put_table(root, b"{"), SEARCH),
    "a table of brackets": (lambda root: _put_table(root, b"[" * 100_000), SEARCH),
    "a table without sections": (of_table(lambda parts: parts.table.pop("sections")), SEARCH),
    "a table without a section": (of_table(lambda parts: parts.table["sections"].pop("starts")), SEARCH),
    "a table whose numbers are texts": (of_table(lambda parts: parts.table.update(records="13")), SEARCH),
    "a block before the file": (of_table(lambda parts: _move(parts, "paths", -1)), SEARCH),
    "a block behind the file": (of_table(lambda parts: _move(parts, "paths", 10**12)), SEARCH),
    "a block that is larger than the file": (of_table(lambda parts: _resize(parts, "paths", 10**12)), SEARCH),
    "a block of a negative size": (of_table(lambda parts: _resize(parts, "paths", -1)), SEARCH),
    **{
        f"a bit of the section {name}": (spoilt(name), words)
        for name, words in {
            "paths": SEARCH, "stats": SEARCH, "starts": SEARCH, "ascii": SEARCH, "bounds": SEARCH, "spans": SEARCH,
            "prints": SEARCH, "ids": (*SEARCH, "--explain", "oak"), "unicode": ("search", "橡树 oak"),
            "updated": (*SEARCH, "--recency", "1"), "created": (*SEARCH, "--from", "2026-01-01"), "names": TIMELINE,
            "types": (*SEARCH, "--type", "idea"), "sources": (*SEARCH, "--source", "log"),
            "sessions": (*SEARCH, "--session", "s1"), "notes": ("status",),
        }.items()
    },
    "a bit of a block of terms": (term_spoilt, SEARCH),
    "fewer records than it has": (forged(lambda parts: parts.table.update(records=3)), SEARCH),
    "more records than it has": (forged(lambda parts: parts.table.update(records=99)), SEARCH),
    "fewer files than it has": (forged(lambda parts: parts.table.update(files=3)), SEARCH),
    "a term in a record that is not there": (post([0, 13], [1, 1]), SEARCH),
    "a term in no record": (post([], []), SEARCH),
    "a term with more counts than records": (
        forged(lambda parts: parts.terms.__setitem__(0, ("=oak", posting_block(("=oak", [0], [1])) + b"\1"))), SEARCH,
    ),
    "a block of terms that is none": (
        forged(lambda parts: setattr(parts, "terms", [(key, b"\1") for key, _ in parts.terms])), SEARCH,
    ),
    "an id fewer": (forged(doubled), TIMELINE),
    "ids that are another's, in a timeline": (forged(swapped_ids), TIMELINE),
    "ids that are another's, in an explanation": (forged(swapped_ids), (*SEARCH, "--explain", "oak")),
    "ids that are another's, in an expansion": (forged(swapped_ids), (*SEARCH, "--expand", "oak")),
    "a fingerprint that is another's": (
        forged(lambda parts: parts.sections.update(prints=bytes(len(parts.sections["prints"])))), SEARCH,
    ),
    "spans behind the file": (with_numbers("spans", "I", lambda spans: [at + 10**6 for at in spans]), SEARCH),
    "spans of nothing": (with_numbers("spans", "I", lambda spans: [0 for _ in spans]), SEARCH),
    "spans that are one fewer": (with_numbers("spans", "I", lambda spans: spans[:-2]), SEARCH),
    "lengths that are one fewer": (with_numbers("ascii", "I", lambda lengths: lengths[:-1]), SEARCH),
    "records that belong to no file": (with_numbers("starts", "I", lambda starts: [1, *starts[1:]]), SEARCH),
    "records that belong to files that are not there": (
        with_numbers("starts", "I", lambda starts: [*starts[:-1], starts[-1] + 1]), SEARCH,
    ),
    "bounds of a record that is not there": (with_numbers("bounds", "q", lambda bounds: [13, *bounds[1:]]), SEARCH),
    "bounds of a record before the first": (with_numbers("bounds", "q", lambda bounds: [-1, *bounds[1:]]), SEARCH),
    "bounds beside the others of a record before the first": (
        with_numbers("bounds", "q", lambda bounds: [*bounds, -1, 2**62, 2**62]), (*SEARCH, "--page-size", "100"),
    ),
    "bounds that break off": (with_numbers("bounds", "q", lambda bounds: bounds[:-1]), SEARCH),
    "no bounds": (forged(without_bounds), (*SEARCH, "--page-size", "100")),
    "types that have no name": (with_numbers("types", "H", lambda types: [9 for _ in types]), TIMELINE),
    "types that are another's": (with_numbers("types", "H", lambda types: [0 for _ in types]), TIMELINE),
    "times that are another's": (
        with_numbers("created", "q", lambda times: [NOW for _ in times]), (*TIMELINE, "--before", "50"),
    ),
    "names that are none": (forged(lambda parts: parts.sections.update(names=b"[]")), TIMELINE),
    "notes that are none": (forged(lambda parts: parts.sections.update(notes=b"{")), ("status",)),
    "notes of a kind that is none": (
        forged(lambda parts: parts.sections.update(notes=b'[["KNOWLEDGE/elm.md",1,"spying","x",null]]')), ("status",),
    ),
    "notes of a file that it does not have": (
        forged(lambda parts: parts.sections.update(notes=b'[["KNOWLEDGE/no.md",1,"withheld","x",null]]')), ("status",),
    ),
}  # fmt: skip


def _put_table(root: Path, data: bytes) -> None:
    from hashlib import sha256

    parts = Parts(root)
    parts.path.write_bytes(data)
    parts.manifest["index_sha256"] = sha256(data).hexdigest()
    parts.write_manifest()


def _move(parts: Parts, section: str, offset: int) -> None:
    parts.table["sections"][section][0] = offset


def _resize(parts: Parts, section: str, size: int) -> None:
    parts.table["sections"][section][1] = size


@pytest.mark.parametrize(("damage", "words"), DOUBTS.values(), ids=DOUBTS)
def test_a_doubt_is_said_in_one_line_and_the_answer_is_that_of_the_files(
    adopted: Memory, damage: Damage, words: tuple[str, ...]
):
    through, without = both_ways(adopted.root, *words)
    assert (through.output == without.output or words == ("status",), through.notes) == (True, "")

    damage(adopted.root)
    through, without = both_ways(adopted.root, *words)
    assert (through.output, through.exit) == (without.output, without.exit)
    assert without.notes == ""
    assert through.notes.startswith(NOTE)
    assert through.notes.count("\n") == 1
    assert through.notes.endswith("\n")


def test_a_section_that_no_answer_needs_is_looked_at_by_verify_alone(adopted: Memory):
    spoilt("hashes")(adopted.root)
    through, without = both_ways(adopted.root, *SEARCH)
    assert (through, through.notes) == (without, "")
    assert adopted.call("index", "verify").refusal == (4, "integrity_error")


def test_every_section_is_damaged_in_one_of_the_rows(adopted: Memory):
    named = {name.removeprefix("a bit of the section ") for name in DOUBTS}
    assert Parts(adopted.root).sections.keys() - named == {"hashes"}


@pytest.mark.parametrize("name", [MANIFEST, TABLE, BLOCKS, "adoption.json"])
def test_a_file_of_an_index_that_may_not_be_read_is_a_doubt(name: str):
    with open_folder() as folder:
        skip_where_modes_do_not_bind(folder)
        write_rich(folder / "root")
        adopt(folder / "root")
        (folder / "root/INDEX" / name).chmod(0)
        give_to_nobody(folder)
        with as_nobody():
            through, without = both_ways(folder / "root", *SEARCH)
    assert (through.output, through.exit, without.notes) == (without.output, 0, "")
    assert through.notes.startswith(NOTE)
    assert through.notes.endswith(" may not be read\n")


# Where there is nothing to doubt.


def test_without_an_index_nothing_is_said(memory: Memory):
    assert say(memory.root, *SEARCH).notes == ""
    assert json.loads(say(memory.root, "status").output)["data"]["indexes"] == []


def test_an_index_that_is_not_adopted_is_not_used_and_says_nothing(memory: Memory):
    assert memory.call("index", "build", *OPERATOR).data["adopted"] is False
    spoilt("paths")(memory.root)
    through, without = both_ways(memory.root, *SEARCH)
    assert (through, through.notes) == (without, "")
    assert json.loads(say(memory.root, "status").output)["data"]["indexes"] == []


def test_an_index_whose_adoption_is_gone_is_not_used_any_more(adopted: Memory):
    (adopted.root / ADOPTION).unlink()
    assert say(adopted.root, "status") == say(adopted.root, "status", "--no-index")


def test_with_no_index_nothing_of_it_is_opened(adopted: Memory, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(opening, "open_index", lambda _: pytest.fail("it was opened"))
    monkeypatch.setattr(indexed_memory, "open_index", lambda _: pytest.fail("it was opened"))
    assert say(adopted.root, *SEARCH, "--no-index").exit == 0


def test_the_status_names_the_index_that_answers(adopted: Memory):
    manifest = json.loads((adopted.root / "INDEX/index-manifest.json").read_bytes())
    through, without = both_ways(adopted.root, "status")
    told, plain = (json.loads(each.output)["data"] for each in (through, without))
    assert told.pop("indexes") == [
        {
            "path": "INDEX/lexical-1.json",
            "format": "lifeos-cortex-lexical/v1",
            "sha256": manifest["index_sha256"],
            "indexed_at": "2026-08-01T12:00:00.000Z",
            "files_read_beside_it": 0,
        }
    ]
    assert plain.pop("indexes") == []
    assert told == plain
    assert told["notes"] == {"cut-by-untrusted-opener": 1, "withheld": 2}


def test_the_status_counts_the_files_that_are_read_beside_the_index(adopted: Memory):
    put(adopted.root, "KNOWLEDGE/late.md", note("Late.", id="late"))
    put(adopted.root, "KNOWLEDGE/elm.md", note("Another elm.", id="elm"))
    (adopted.root / "KNOWLEDGE/fir.md").unlink()
    told = json.loads(say(adopted.root, "status").output)["data"]
    assert told["indexes"][0]["files_read_beside_it"] == 2
    assert told["canonical"]["records"] == 13


def test_what_reads_records_in_full_asks_no_index(adopted: Memory):
    spoilt("paths")(adopted.root)
    for words in (("get", "oak"), ("export", "oak"), ("rebuild", "--from-canonical"), ("check",)):
        said = say(adopted.root, *words)
        assert (said.exit, said.notes) == (0, "")


UNSOUND = {
    "a file that is no record": lambda root: put(root, "KNOWLEDGE/bad.jsonl", "{"),
    "a record with an id that the index has": lambda root: put(root, "KNOWLEDGE/twin.md", note("x", id="oak")),
    "two new records with one id": lambda root: put(root, "KNOWLEDGE/twins.jsonl", f"{row('t', 'x')}\n{row('t', 'y')}"),
    "a link": lambda root: (root / "KNOWLEDGE/link.md").symlink_to("elm.md"),
    "a FIFO": lambda root: os.mkfifo(root / "KNOWLEDGE/fifo.md"),
    "a control character in what changed": lambda root: put(root, "KNOWLEDGE/elm.md", note("\x07", id="elm")),
}


@pytest.mark.parametrize("spoil", UNSOUND.values(), ids=UNSOUND)
def test_a_memory_that_is_not_sound_is_refused_alike_and_the_index_is_not_blamed(adopted: Memory, spoil):
    spoil(adopted.root)
    for words in (SEARCH, TIMELINE, ("status",), ("search", "?!")):
        through, without = both_ways(adopted.root, *words)
        assert through == without
        assert (through.exit, through.notes) == (4, "")
        assert json.loads(through.output)["error"]["code"] == "integrity_error"


@pytest.mark.parametrize(("withheld", "is_sound"), [(0, True), (1, False)])
def test_the_limit_of_records_counts_those_that_are_withheld(
    adopted: Memory, monkeypatch, withheld: int, is_sound: bool
):
    for module in (reader, indexed_memory):
        monkeypatch.setattr(module, "CORPUS_MAX_RECORDS", 15)  # 13 records, two withheld ones
    for number in range(withheld):
        put(adopted.root, f"KNOWLEDGE/w{number}.md", note("x", id="<private>x</private>"))
    through, without = both_ways(adopted.root, *SEARCH)
    assert through == without
    assert (through.exit == 0) is is_sound


def test_a_root_that_is_not_there_is_said_as_ever(tmp_path: Path):
    through, without = both_ways(tmp_path / "none", *SEARCH)
    assert through == without
    assert (through.exit, through.notes) == (4, "")


def test_what_a_call_is_refused_for_is_refused_with_an_index_too(adopted: Memory):
    for words in ((*SEARCH, "--page", "0"), ("search", "?!"), (*SEARCH, "--type"), ("timeline", "--anchor", "ghost")):
        through, without = both_ways(adopted.root, *words)
        assert through == without
        assert (through.exit in (3, 4), through.notes) == (True, "")


# In process, and with evidence.


def test_a_host_in_process_is_answered_through_the_index_and_around_it(adopted: Memory):
    adapter = create_adapter("claude", str(adopted.root))
    for damage in (None, spoilt("stats"), of(TABLE, delete)):
        notes = StringIO()
        if damage:
            damage(adopted.root)
        with patch.object(sys, "stderr", notes):
            answers = [adapter.search("oak"), adapter.timeline("elm")]
            counted = adapter.status()
        for (status, envelope), words in zip(answers, (SEARCH, TIMELINE), strict=True):
            now = int(adapter.clock())
            without = say(adopted.root, *words, "--no-index", now=now)
            assert (status, envelope) == (without.exit, json.loads(without.output))
        assert counted[1]["data"]["canonical"]["records"] == 13
        assert len(counted[1]["data"]["indexes"]) == (damage is None)
        lines = notes.getvalue().splitlines()
        assert len(lines) == (0 if damage is None else 3)
        assert all(line.startswith(NOTE) for line in lines)


def test_a_host_without_stderr_is_answered_all_the_same(adopted: Memory):
    spoilt("starts")(adopted.root)
    with patch.object(sys, "stderr", None):
        status, envelope = create_adapter("claude", str(adopted.root)).search("oak")
    assert (status, envelope["ok"]) == (0, True)


@pytest.mark.parametrize("damage", [None, spoilt("starts")], ids=["sound", "in doubt"])
@pytest.mark.parametrize("how", ["--record", "CORTEX_RECORD_RETRIEVALS"])
def test_a_search_that_is_recorded_leaves_one_row_either_way(adopted: Memory, capsys, damage, how: str):
    if damage:
        damage(adopted.root)
    words, environment = (("--record",), {}) if how == "--record" else ((), {how: "1"})
    said = adopted.call(*SEARCH, *words, environment=environment)
    assert capsys.readouterr().err.count(NOTE) == (damage is not None)
    rows = adopted.rows("memory-retrievals.jsonl")
    assert [(row["returned_count"], row["top_score"]) for row in rows] == [
        (len(said.data["items"]), said.data["items"][0]["score"])
    ]
    without = adopted.call(*SEARCH, "--record", "--no-index")
    assert without == said
    first, second = adopted.rows("memory-retrievals.jsonl")
    assert first == second


# While a call is under way.


def test_an_index_that_is_replaced_while_it_is_opened_is_opened_as_it_is_then(adopted: Memory, monkeypatch):
    """The table that the manifest named is gone when it is to be read: another one is in force by then."""
    real, done = opening._table, []

    def late(folders, manifest):
        if not done:
            done.append(manifest.index_path)
            adopt(adopted.root)
        return real(folders, manifest)

    monkeypatch.setattr(opening, "_table", late)
    told = say(adopted.root, "status")
    assert (told.notes, done) == ("", ["lexical-1.json"])
    assert json.loads(told.output)["data"]["indexes"][0]["path"] == "INDEX/lexical-2.json"


def test_an_index_that_is_withdrawn_while_it_is_opened_is_not_used(adopted: Memory, monkeypatch):
    real, done = opening._table, []

    def late(folders, manifest):
        if not done:
            done.append(adopted.call("index", "drop", *OPERATOR).exit)
        return real(folders, manifest)

    monkeypatch.setattr(opening, "_table", late)
    told = say(adopted.root, "status")
    assert (told.notes, done) == ("", [0])
    assert json.loads(told.output)["data"]["indexes"] == []


def test_a_file_that_changes_while_it_is_asked_sends_the_call_to_the_files(adopted: Memory, monkeypatch):
    real, done = indexed_memory.reread, []

    def late(folders, place):
        if not done:
            done.append(place.path)
            put(adopted.root, place.path, note("Oak oak oak oak, changed.", id="now"))
        return real(folders, place)

    monkeypatch.setattr(indexed_memory, "reread", late)
    through = say(adopted.root, *SEARCH)
    assert through.notes == f"{NOTE}, every file was read: {done[0]} changed while it was asked\n"
    assert through.output == say(adopted.root, *SEARCH, "--no-index").output
