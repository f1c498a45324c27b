"""The files of an index as they are written, and what is no such file."""

import json
from pathlib import Path
from typing import Any

import pytest
from index.forging import Parts
from support.indexes import NOTE, adopt, both_ways
from support.running import run
from support.stores import NOW, OPERATOR, Memory

from cortex.index import layout
from cortex.index.layout import (
    ADOPTION_SCHEMA,
    FORMAT,
    MANIFEST_SCHEMA,
    Adoption,
    Block,
    IndexDoubtError,
    Manifest,
    Table,
    blocks_of,
    decode_adoption,
    decode_manifest,
    decode_table,
    encode_adoption,
    encode_manifest,
    encode_table,
)
from policies.shapes import as_index_manifest

MANIFEST = Manifest("a" * 64, "lexical-1.json", "b" * 64, "2026-08-01T12:00:00.000Z")
ADOPTED = Adoption("Ünal", "2026-08-01T12:00:00.000Z", "a" * 64, "c" * 64)
TABLE = Table(
    2, 5, 17, {"paths": Block(0, 3, "d" * 64), "ids": Block(3, 4, "e" * 64)}, ["=a", "u桥"],
    [Block(7, 8, "f" * 64), Block(15, 1, "0" * 64)],
)  # fmt: skip


def test_manifest_table_and_adoption_are_read_as_they_were_written():
    assert decode_manifest(encode_manifest(MANIFEST)) == MANIFEST
    assert decode_adoption(encode_adoption(ADOPTED)) == ADOPTED
    assert decode_table(encode_table(TABLE)) == TABLE
    assert (blocks_of("lexical-1.json"), blocks_of("lexical-2.json")) == ("lexical-1.blocks", "lexical-2.blocks")


def test_the_manifest_is_the_one_that_health_knows(adopted: Memory):
    data = (adopted.root / "INDEX/index-manifest.json").read_bytes()
    assert list(json.loads(data)) == ["schema", "canonical_sha256", "index_path", "index_sha256", "indexed_at"]
    assert json.loads(data)["schema"] == "lifeos-cortex-index/v1" == MANIFEST_SCHEMA
    manifest = as_index_manifest(json.loads(data))
    assert manifest is not None
    assert (manifest.indexed_at, manifest.index_path) == ("2026-08-01T12:00:00.000Z", "lexical-1.json")
    report = run("--memory-root", adopted.root, "--now", str(NOW), "--no-write", "--json").report
    assert [check["status"] for check in report["checks"] if check["id"] == "index"] == ["ok"]


def _with(document: bytes, **changes: Any) -> bytes:
    return json.dumps({**json.loads(document), **changes}).encode()


def _without(document: bytes, name: str) -> bytes:
    return json.dumps({key: value for key, value in json.loads(document).items() if key != name}).encode()


BROKEN = {
    "nothing": lambda _: b"",
    "no JSON": lambda data: data[:-3],
    "a list": lambda _: b"[]",
    "null": lambda _: b"null",
    "a field more": lambda data: _with(data, more="x"),
    "another schema": lambda data: _with(data, schema="lifeos-cortex-index/v2"),
    "no schema": lambda data: _without(data, "schema"),
    "a field less": lambda data: _without(data, "canonical_sha256"),
    "a field that is no text": lambda data: _with(data, canonical_sha256=5),
    "a field that is null": lambda data: _with(data, canonical_sha256=None),
    "a key twice": lambda data: data.replace(b'"schema"', b'"schema":"x","schema"', 1),
    "a byte-order mark": lambda data: b"\xef\xbb\xbf" + data,
    "something behind it": lambda data: data + b"{}",
    "no UTF-8": lambda data: data.replace(b"2026", b"\xff\xff\xff\xff"),
    "brackets without end": lambda _: b"[" * 100_000,
}


@pytest.mark.parametrize("breaking", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize(
    ("whole", "decode", "name"),
    [
        (encode_manifest(MANIFEST), decode_manifest, "its manifest"),
        (encode_adoption(ADOPTED), decode_adoption, "its adoption"),
    ],
    ids=["manifest", "adoption"],
)
def test_what_is_not_exactly_a_document_is_a_doubt_that_names_it(whole, decode, name, breaking):
    with pytest.raises(IndexDoubtError, match=f"^{name} "):
        decode(breaking(whole))


def test_neither_document_passes_for_the_other():
    assert MANIFEST_SCHEMA != ADOPTION_SCHEMA
    with pytest.raises(IndexDoubtError):
        decode_adoption(encode_manifest(MANIFEST))


FOREIGN = {
    "another format": {"format": "lifeos-cortex-lexical/v2"},
    "no format": {"format": None},
    "another program": {"made_with": "9.9.9, Python 3.11, little-endian"},
}


@pytest.mark.parametrize("changes", FOREIGN.values(), ids=FOREIGN)
def test_a_table_of_another_kind_is_a_doubt(changes):
    with pytest.raises(IndexDoubtError):
        decode_table(_with(encode_table(TABLE), **changes))


def test_a_table_that_another_version_made_is_read_where_nothing_is_answered_from_it(monkeypatch: pytest.MonkeyPatch):
    data = encode_table(TABLE)
    monkeypatch.setattr(layout, "MADE_WITH", "another")
    with pytest.raises(IndexDoubtError, match="another version of this program or of Python"):
        decode_table(data)
    assert decode_table(data, made_here=False) == TABLE


def test_an_unknown_format_is_ignored_and_said(adopted: Memory):
    parts = Parts(adopted.root)
    assert parts.table["format"] == FORMAT
    parts.table["format"] = "lifeos-cortex-lexical/v2"
    parts.write_table()
    through, without = both_ways(adopted.root, "search", "oak")
    assert (through.output, through.exit) == (without.output, without.exit)
    assert through.notes == f"{NOTE}, every file was read: it is of a format that this program does not know\n"


def test_another_version_reads_every_file_until_the_index_is_made_anew(
    adopted: Memory, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(layout, "MADE_WITH", "another")
    through, without = both_ways(adopted.root, "search", "oak")
    assert (through.output, without.notes) == (without.output, "")
    assert (
        through.notes == f"{NOTE}, every file was read: it was made with another version of this program or of Python\n"
    )
    said = adopted.call("index", "verify")
    assert said.refusal == (4, "integrity_error")
    assert "another version" in said.message
    assert adopted.call("index", "refresh", *OPERATOR).data["adopted"]
    assert both_ways(adopted.root, "search", "oak")[0].notes == ""


def test_the_places_take_turns_and_the_other_one_is_empty(memory: Memory):
    names = []
    for _ in range(3):
        adopt(memory.root)
        names.append(sorted(path.name for path in (memory.root / "INDEX").iterdir()))
    kept = ["adoption.json", "index-manifest.json"]
    one, two = (["lexical-1.blocks", "lexical-1.json"], ["lexical-2.blocks", "lexical-2.json"])
    assert names == [kept + one, kept + two, kept + one]


def test_the_same_files_make_the_same_blocks(memory: Memory):
    adopt(memory.root)
    first = Parts(memory.root)
    adopt(memory.root)
    second = Parts(memory.root)
    assert (first.sections, first.terms) == (second.sections, second.terms)
    assert Path(second.path).name == "lexical-2.json"
