"""The commands of the index, as an operator makes them."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from index.corpora import note, put
from index.forging import Parts, forge, posting_block
from support.damage import append, delete, overwrite
from support.indexes import adopt, both_ways, say
from support.labels import asking, encode
from support.stores import AGENT, OPERATOR, Memory
from support.trees import fingerprint

from cortex.index import adoption
from cortex.store.init import NO_INDEX
from cortex.store.store import open_store

MANIFEST = "INDEX/index-manifest.json"
BUILT = [
    "path", "files", "records", "corpus_bytes", "index_bytes", "canonical_sha256", "index_sha256", "indexed_at",
    "adopted",
]  # fmt: skip


def marker(memory: Memory) -> bytes | None:
    path = memory.home / "CORTEX_INDEX_POLICY.json"
    return path.read_bytes() if path.exists() else None


def files_of(memory: Memory) -> list[str]:
    return sorted(path.name for path in (memory.root / "INDEX").iterdir()) if (memory.root / "INDEX").exists() else []


# Build.


def test_a_build_says_what_it_built(memory: Memory):
    data = memory.call("index", "build", *OPERATOR).data
    assert list(data) == [*BUILT, "next", "warnings"]
    table, blocks = (memory.root / "INDEX" / name for name in ("lexical-1.json", "lexical-1.blocks"))
    manifest = json.loads((memory.root / MANIFEST).read_bytes())
    assert data == {
        "path": "INDEX/lexical-1.json",
        "files": 12,
        "records": 13,
        "corpus_bytes": sum(path.stat().st_size for path in [*memory.root.rglob("KNOWLEDGE/**/*.*"),
                                                            memory.root / "PRINCIPAL_MEMORY.md"] if path.is_file()),
        "index_bytes": table.stat().st_size + blocks.stat().st_size,
        "canonical_sha256": memory.call("rebuild", "--from-canonical").data["canonical_digest"],
        "index_sha256": manifest["index_sha256"],
        "indexed_at": "2026-08-01T12:00:00.000Z",
        "adopted": False,
        "next": data["next"],
        "warnings": [],
    }  # fmt: skip
    assert "--adopt REPORT" in data["next"]


def test_the_marker_goes_at_a_build_and_comes_back_with_a_drop(memory: Memory):
    assert marker(memory) == NO_INDEX
    memory.call("index", "build", *OPERATOR)
    assert (marker(memory), files_of(memory)) == (None, ["index-manifest.json", "lexical-1.blocks", "lexical-1.json"])
    adopt(memory.root)
    data = memory.call("index", "drop", *OPERATOR).data
    assert data == {
        "removed": [MANIFEST, "INDEX/lexical-2.blocks", "INDEX/lexical-2.json", "INDEX/adoption.json"],
        "warnings": [],
    }
    assert (marker(memory), files_of(memory)) == (NO_INDEX, [])


def test_a_build_is_audited_file_by_file_by_its_operator(memory: Memory):
    before = len(memory.rows("memory-writes.jsonl"))
    memory.call("index", "build", *OPERATOR)
    rows = memory.rows("memory-writes.jsonl")[before:]
    assert [(row["path"], row["state"]) for row in rows] == [
        (path, state)
        for path in ("INDEX/lexical-1.blocks", "INDEX/lexical-1.json", MANIFEST, "CORTEX_INDEX_POLICY.json")
        for state in ("intent", "done")
    ]
    assert {(row["act"], row["actor"]) for row in rows} == {("index build", "ada")}


@pytest.mark.parametrize("act", ["build", "refresh"])
def test_whether_an_index_answers_stays_as_it_is(memory: Memory, act: str):
    memory.call("index", "build", *OPERATOR)
    assert memory.call("index", act, *OPERATOR).data["adopted"] is False
    adopt(memory.root)
    adopted = (memory.root / "INDEX/adoption.json").read_bytes()
    put(memory.root, "KNOWLEDGE/late.md", note("Late oak.", id="late"))
    data = memory.call("index", act, *OPERATOR).data
    assert (data["adopted"], data["records"], "next" in data) == (True, 14, False)
    assert (memory.root / "INDEX/adoption.json").read_bytes() == adopted
    assert memory.call("status").data["indexes"][0]["files_read_beside_it"] == 0


def test_what_was_withdrawn_is_not_adopted_by_a_plain_build(adopted: Memory):
    adopted.call("index", "drop", *OPERATOR)
    assert adopted.call("index", "build", *OPERATOR).data["adopted"] is False
    assert adopted.call("status").data["indexes"] == []


def test_a_refresh_writes_what_a_build_writes(memory: Memory):
    adopt(memory.root)
    put(memory.root, "KNOWLEDGE/elm.md", note("Elm and oak.", id="elm"))
    (memory.root / "KNOWLEDGE/fir.md").rename(memory.root / "KNOWLEDGE/spruce.md")
    memory.call("index", "refresh", *OPERATOR)
    refreshed = Parts(memory.root)
    memory.call("index", "build", *OPERATOR)
    built = Parts(memory.root)
    assert (refreshed.sections, refreshed.terms) == (built.sections, built.terms)


def test_a_refresh_of_a_damaged_index_makes_it_from_nothing(adopted: Memory):
    index = adopted.root / "INDEX"
    for damage, name in (
        (overwrite(b"x"), "lexical-1.blocks"),
        (delete, "lexical-2.json"),
        (delete, "lexical-1.blocks"),
    ):
        damage(index / name)
        assert say(adopted.root, "search", "oak").notes != ""
        assert adopted.call("index", "refresh", *OPERATOR).data["adopted"] is True
        assert adopted.call("index", "verify").data["verified"] is True
        assert say(adopted.root, "search", "oak").notes == ""


def test_an_adoption_that_is_damaged_is_none_and_the_next_step_is_said(adopted: Memory):
    (adopted.root / "INDEX/adoption.json").write_text("{")
    told = adopted.call("index", "status").data
    assert (told["answers"], told["why_not"].startswith("its adoption is not valid JSON")) == (False, True)
    data = adopted.call("index", "refresh", *OPERATOR).data
    assert (data["adopted"], "--adopt REPORT" in data["next"]) == (False, True)


# What is refused.


@pytest.mark.parametrize("act", ["build", "refresh", "drop"])
@pytest.mark.parametrize(
    "words",
    [(), ("--operator", "ada"), ("--allow-write",), AGENT, (*AGENT, "--operator", "ada"), ("--adapter", "claude")],
    ids=" ".join,
)
def test_what_writes_is_an_operators_act(adopted: Memory, act: str, words: tuple[str, ...]):
    before = fingerprint(adopted.root)
    assert adopted.call("index", act, *words).refusal == (5, "write_refused")
    assert fingerprint(adopted.root) == before


@pytest.mark.parametrize("act", ["build", "refresh", "drop"])
def test_an_operator_has_a_name(adopted: Memory, act: str):
    assert adopted.call("index", act, "--operator", "  ", "--allow-write").refusal == (4, "invalid_input")


@pytest.mark.parametrize("act", ["verify", "status"])
def test_who_only_looks_needs_no_name_and_changes_nothing(adopted: Memory, act: str):
    before = fingerprint(adopted.home)
    assert adopted.call("index", act).exit == 0
    assert adopted.call("index", act, "--adapter", "claude").exit == 0
    assert fingerprint(adopted.home) == before


@pytest.mark.parametrize("act", ["refresh", "verify"])
def test_without_an_index_there_is_nothing_to_refresh_or_verify(memory: Memory, act: str):
    refused = memory.call("index", act, *(OPERATOR if act == "refresh" else ()))
    assert refused.refusal == (3, "not_found")
    assert "index build" in refused.message
    assert files_of(memory) == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("build", "--labels", "x"), "--labels names the labels of the report of --adopt"),
        (("refresh", "--adopt", "x"), "no option --adopt"),
        (("refresh", "--labels", "x"), "no option --labels"),
        (("drop", "--adopt", "x"), "no option --adopt"),
        (("build", "x"), "takes no arguments"),
        (("build", "--adopt"), "--adopt needs a value"),
        (("build", "--no-index"), "no option --no-index"),
    ],
    ids=str,
)
def test_words_that_do_not_belong_are_refused(memory: Memory, words: tuple[str, ...], said: str):
    refused = memory.call("index", *words, *OPERATOR)
    assert refused.refusal == (4, "invalid_input")
    assert said in refused.message
    assert files_of(memory) == []


@pytest.mark.parametrize("act", ["build", "refresh", "verify"])
def test_an_index_is_of_a_sound_memory_alone(adopted: Memory, act: str):
    before = {name: (adopted.root / "INDEX" / name).read_bytes() for name in files_of(adopted)}
    put(adopted.root, "KNOWLEDGE/bad.jsonl", "\n{")
    refused = adopted.call("index", act, *(() if act == "verify" else OPERATOR))
    assert refused.refusal == (4, "integrity_error")
    assert refused.message.startswith("KNOWLEDGE/bad.jsonl, line 2: ")
    assert {name: (adopted.root / "INDEX" / name).read_bytes() for name in files_of(adopted)} == before


@pytest.mark.parametrize(
    "words", [("build", *OPERATOR), ("refresh", *OPERATOR), ("verify",), ("status",), ("drop", *OPERATOR)]
)
def test_a_memory_that_is_not_there_has_no_index(tmp_path: Path, words: tuple[str, ...]):
    assert Memory(tmp_path / "none", tmp_path).call("index", *words).refusal == (4, "integrity_error")


def test_a_second_build_waits_and_then_refuses(memory: Memory, monkeypatch: pytest.MonkeyPatch):
    with open_store(str(memory.root)) as store, store.locks.hold("INDEX/index-manifest.json"):
        monkeypatch.setattr("cortex.indexing.open_store", lambda root: open_store(root, polls=2))
        refused = memory.call("index", "build", *OPERATOR)
    assert refused.refusal == (5, "governance_refused")
    assert "busy" in refused.message
    assert memory.call("index", "build", *OPERATOR).exit == 0


# Verify.


def test_a_sound_index_is_verified(adopted: Memory):
    manifest = json.loads((adopted.root / MANIFEST).read_bytes())
    assert adopted.call("index", "verify").data == {
        "verified": True,
        "files": 12,
        "records": 13,
        "canonical_sha256": manifest["canonical_sha256"],
        "index_sha256": manifest["index_sha256"],
        "adopted": True,
    }


def test_an_index_that_is_not_adopted_is_verified_too(memory: Memory):
    memory.call("index", "build", *OPERATOR)
    assert memory.call("index", "verify").data["adopted"] is False


def section(name: str, change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    return lambda root: forge(root, lambda parts: parts.sections.update({name: change(parts.sections[name])}))


def flipped(data: bytes) -> bytes:
    return data[:-1] + bytes([data[-1] ^ 1])


def reworded(data: bytes) -> bytes:
    return data.replace(b"oak", b"ash")


def with_other_terms(parts: Parts) -> None:
    parts.terms[0] = ("=oak", posting_block(("=oak", [0], [9])))


def miss(root: Path) -> None:
    """Change a file behind the back of the index: what tells files apart says that it is the same."""
    path = put(root, "KNOWLEDGE/elm.md", note("Another.", id="elm"))

    def unchanged(parts: Parts) -> None:
        at, count, status = parts.texts("paths").index("KNOWLEDGE/elm.md"), parts.table["files"], path.stat()
        stats = parts.numbers("stats", "q")
        for column, value in enumerate((status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)):
            stats[column * count + at] = value
        parts.set_numbers("stats", "q", stats)

    forge(root, unchanged)


def leave_a_gap(root: Path) -> None:
    """Put something in front of the blocks that the table knows nothing of."""
    parts = Parts(root)
    parts.blocks_path.write_bytes(b"x" + parts.blocks_path.read_bytes())
    for block in parts.table["sections"].values():
        block[0] += 1
    for block in parts.table["terms"]:
        block[1] += 1
    parts.write_table()


def _without(parts: Parts, name: str) -> None:
    del parts.sections[name]


UNPROVEN: dict[str, tuple[Callable[[Path], object], str]] = {
    "a new file": (lambda root: put(root, "KNOWLEDGE/late.md", note("x", id="late")), "1 changed, KNOWLEDGE/late.md"),
    "a file that changed": (lambda root: put(root, "KNOWLEDGE/elm.md", "x"), "1 changed, KNOWLEDGE/elm.md"),
    "a file that is gone": (lambda root: (root / "KNOWLEDGE/elm.md").unlink(), "1 changed, KNOWLEDGE/elm.md"),
    "a file of another name": (
        lambda root: (root / "KNOWLEDGE/elm.md").rename(root / "KNOWLEDGE/tree.md"), "2 changed, KNOWLEDGE/elm.md",
    ),
    "a changed file that passes for the same": (miss, "it takes KNOWLEDGE/elm.md for the file that was indexed"),
    "another digest in the manifest": (
        lambda root: forge(root, lambda parts: parts.manifest.update(canonical_sha256="0" * 64)), "0 changed",
    ),
    "blocks that are cut": (lambda root: os.truncate(root / "INDEX/lexical-1.blocks", 1000), "a block of it"),
    "blocks that are longer": (
        lambda root: append(b"x")(root / "INDEX/lexical-1.blocks"), "more behind its last block",
    ),
    "blocks with something between them": (leave_a_gap, "one behind the other"),
    "blocks that are gone": (lambda root: (root / "INDEX/lexical-1.blocks").unlink(), "lexical-1.blocks is not there"),
    "a table that is another": (lambda root: os.truncate(root / "INDEX/lexical-1.json", 99), "is not what was adopted"),
    "a manifest that is none": (lambda root: (root / MANIFEST).write_text("[]"), "its manifest"),
    "an adoption that is none": (lambda root: (root / "INDEX/adoption.json").write_text("[]"), "its adoption"),
    "other terms": (lambda root: forge(root, with_other_terms), "something else of terms"),
    "no terms": (lambda root: forge(root, lambda parts: parts.terms.clear()), "something else of terms"),
    "no bounds": (section("bounds", lambda _: b""), "something else of bounds"),
    **{
        f"other {name}": (section(name, flipped), f"something else of {name}")
        for name in (
            "ascii", "unicode", "created", "updated", "sources", "sessions", "types", "spans", "prints", "bounds",
        )
    },
    "other ids": (section("ids", reworded), "something else of ids"),
    "other names": (section("names", lambda data: data.replace(b"idea", b"dear")), "something else of names"),
    "no notes": (section("notes", lambda _: b"[]"), "something else of notes"),
    "other paths": (section("paths", reworded), "2 changed, KNOWLEDGE/Ideas/ash.md"),
    "other hashes": (section("hashes", flipped), "it takes PRINCIPAL_MEMORY.md"),
    "other shares of the files": (section("starts", flipped), "something else of starts"),
    "a section more": (lambda root: forge(root, lambda parts: parts.sections.update(x=b"x")), "something else of x"),
    "a section less": (lambda root: forge(root, lambda parts: _without(parts, "notes")), "something else of notes"),
}  # fmt: skip


@pytest.mark.parametrize(("change", "said"), UNPROVEN.values(), ids=UNPROVEN)
def test_what_is_not_proven_is_named_and_a_build_mends_it(adopted: Memory, change: Callable[[Path], object], said: str):
    change(adopted.root)
    refused = adopted.call("index", "verify")
    assert refused.refusal == (4, "integrity_error")
    assert said in refused.message
    assert "cortex index" in refused.message
    assert "\n" not in refused.message
    adopted.call("index", "build", *OPERATOR)
    if "adoption" not in said:
        assert adopted.call("index", "verify").data["verified"] is True


@pytest.mark.parametrize("act", ["build", "refresh"])
def test_a_way_back_that_is_named_leads_back(adopted: Memory, act: str):
    """Where the terms are others a refresh would take them over: it is a build that is named."""
    forge(adopted.root, with_other_terms)
    refused = adopted.call("index", "verify")
    assert "cortex index build" in refused.message
    adopted.call("index", act, *OPERATOR)
    assert adopted.call("index", "verify").exit == (0 if act == "build" else 4)


def test_a_file_that_was_only_touched_changes_no_proof(adopted: Memory):
    os.utime(adopted.root / "KNOWLEDGE/elm.md", ns=(7, 7))
    assert adopted.call("index", "verify").data["verified"] is True
    assert adopted.call("index", "status").data["changed_files"] == 1


# Status.


def test_the_status_counts_what_has_changed(adopted: Memory):
    assert adopted.call("index", "status").data["changed_files"] == 0
    put(adopted.root, "KNOWLEDGE/late.md", note("x", id="late"))
    put(adopted.root, "KNOWLEDGE/elm.md", note("x", id="elm"))
    (adopted.root / "KNOWLEDGE/fir.md").unlink()
    assert adopted.call("index", "status").data["changed_files"] == 3


def test_the_status_of_a_memory_without_an_index(memory: Memory):
    told = memory.call("index", "status").data
    assert list(told) == ["index", "adopted", "changed_files", "answers", "why_not"]
    assert (told["index"], told["adopted"], told["changed_files"], told["answers"]) == (None, None, None, False)
    assert "cortex index build" in told["why_not"]


def test_the_status_of_an_index_that_waits_to_be_adopted(memory: Memory):
    built = memory.call("index", "build", *OPERATOR).data
    told = memory.call("index", "status").data
    assert told["index"] == {
        **{name: built[name] for name in ("path", "files", "records")},
        "bytes": built["index_bytes"],
        **{name: built[name] for name in ("canonical_sha256", "index_sha256", "indexed_at")},
    }
    assert (told["adopted"], told["answers"], told["why_not"]) == (None, False, built["next"])


def test_the_status_of_an_index_that_cannot_be_relied_on_says_why_and_what_to_do(adopted: Memory):
    os.truncate(adopted.root / "INDEX/lexical-1.json", 9)
    told = adopted.call("index", "status").data
    assert (told["index"], told["answers"]) == (None, False)
    assert told["why_not"] == (
        "INDEX/lexical-1.json is not what was adopted; make it anew: cortex index build --operator NAME --allow-write "
        "(with --adopt REPORT where its adoption is damaged)"
    )


def test_a_fault_of_the_memory_does_not_hide_its_index(adopted: Memory):
    put(adopted.root, "KNOWLEDGE/bad.jsonl", "{")
    assert adopted.call("index", "status").data["changed_files"] == 1


# Drop.


def test_a_drop_without_an_index_leaves_the_marker(memory: Memory):
    (memory.home / "CORTEX_INDEX_POLICY.json").unlink()
    assert memory.call("index", "drop", *OPERATOR).data == {"removed": [], "warnings": []}
    assert marker(memory) == NO_INDEX
    assert memory.call("index", "drop", *OPERATOR).exit == 0


def test_a_drop_takes_what_is_damaged_and_what_a_build_left_behind(adopted: Memory):
    (adopted.root / MANIFEST).write_text("{")
    put(adopted.root, "INDEX/lexical-2.json", "left over")
    put(adopted.root, "INDEX/kept.txt", "of another tool")
    adopted.call("index", "drop", *OPERATOR)
    assert (files_of(adopted), marker(adopted)) == (["kept.txt"], NO_INDEX)


def test_a_drop_does_not_need_a_sound_memory(adopted: Memory):
    put(adopted.root, "KNOWLEDGE/bad.jsonl", "{")
    assert adopted.call("index", "drop", *OPERATOR).exit == 0
    assert files_of(adopted) == []


@pytest.mark.parametrize(
    ("name", "is_refused"),
    [("index-manifest.json", True), ("adoption.json", True), ("lexical-1.json", False), ("lexical-1.blocks", False)],
)
def test_what_is_no_regular_file_is_named_and_never_written_through(
    adopted: Memory, tmp_path: Path, name: str, is_refused: bool
):
    """What decides whether an index answers must go; of what is of no use without it, it is said that it is left."""
    target = tmp_path / "theirs"
    target.write_text("theirs")
    path = adopted.root / "INDEX" / name
    path.unlink()
    path.symlink_to(target)
    said = adopted.call("index", "drop", *OPERATOR)
    if is_refused:
        assert said.refusal == (5, "governance_refused")
    told = said.message if is_refused else " ".join(said.data["warnings"])
    assert f"INDEX/{name} is a link" in told
    assert (target.read_text(), path.is_symlink()) == ("theirs", True)
    through, without = both_ways(adopted.root, "search", "oak")
    assert (through.output, through.exit) == (without.output, without.exit)
    path.unlink()
    assert adopted.call("index", "drop", *OPERATOR).exit == 0
    assert (files_of(adopted), marker(adopted)) == ([], NO_INDEX)


# Who may read it, and how the whole course goes.


def test_an_index_may_be_read_by_those_alone_who_may_read_every_file(memory: Memory):
    (memory.root / "KNOWLEDGE/elm.md").chmod(0o640)
    memory.call("index", "build", *OPERATOR)
    modes = {path.name: path.stat().st_mode & 0o777 for path in (memory.root / "INDEX").iterdir()}
    assert set(modes.values()) == {0o640}
    (memory.root / "KNOWLEDGE/elm.md").chmod(0o600)
    memory.call("index", "build", *OPERATOR)
    assert {path.stat().st_mode & 0o777 for path in (memory.root / "INDEX").iterdir()} == {0o600}


def test_from_nothing_to_an_index_that_answers_and_back(memory: Memory):
    labels = memory.home / "labels.jsonl"
    labels.write_bytes(encode(asking("q", "oak", "oak", "p1")))
    report = memory.root / "BENCHMARKS/cortex-benchmark-v1-first.json"
    memory.call("benchmark", "--labels", str(labels), "--output", str(report), "--allow-write")
    assert memory.call("index", "build", *OPERATOR).data["adopted"] is False
    assert memory.call("index", "build", "--adopt", str(report), *OPERATOR).data["adopted"] is True
    put(memory.root, "KNOWLEDGE/late.md", note("Late oak.", id="late"))
    assert memory.call("search", "late").data["total"] == 1
    assert memory.call("index", "verify").refusal == (4, "integrity_error")
    assert memory.call("index", "refresh", *OPERATOR).data["adopted"] is True
    assert memory.call("index", "verify").data["verified"] is True
    memory.call("index", "drop", *OPERATOR)
    assert memory.call("index", "status").data["answers"] is False
    assert memory.call("status").data["indexes"] == []


# For people.


def text(memory: Memory, *words: str) -> list[str]:
    said = say(memory.root, "index", *words, "--text")
    assert said.exit == 0
    return said.output.decode().splitlines()


def test_people_read_a_line_a_fact(memory: Memory):
    built = text(memory, "build", *OPERATOR)
    assert built[:4] == ["path: INDEX/lexical-1.json", "files: 12", "records: 13", "corpus_bytes: 1405"]
    adopting = "cortex index build --adopt REPORT --operator NAME --allow-write"
    assert built[-3:] == [
        "adopted: no",
        f"next: search reads every file until it is adopted: {adopting}",
        "warnings: none",
    ]
    assert "why_not: search reads every file" in "\n".join(text(memory, "status"))
    adopt(memory.root)
    status = text(memory, "status")
    assert status[:2] == ["index:", "  path: INDEX/lexical-2.json"]
    assert status[-3:] == ["changed_files: 0", "answers: yes", "why_not: none"]
    assert "  operator: ada" in status
    assert text(memory, "verify")[0] == "verified: yes"
    assert text(memory, "refresh", *OPERATOR)[0] == "path: INDEX/lexical-1.json"
    assert text(memory, "drop", *OPERATOR) == [
        "removed: INDEX/index-manifest.json, INDEX/lexical-1.blocks, INDEX/lexical-1.json, INDEX/adoption.json",
        "warnings: none",
    ]
    refused = say(memory.root, "index", "verify", "--text")
    assert refused.output.decode().startswith("index: not_found: this memory has no index; build one with: ")


def test_the_moment_of_a_build_is_past_every_file_that_was_written_before(memory: Memory):
    """A file that was written just now is waited for, so that it is known; one of the future is not waited for."""
    path = put(memory.root, "KNOWLEDGE/late.md", note("Late.", id="late"))
    future = put(memory.root, "KNOWLEDGE/future.md", note("Of the future.", id="future"))
    os.utime(future, ns=(path.stat().st_mtime_ns + 10**12,) * 2)
    built = adopt(memory.root)
    assert built.candidate.table.taken_at_ns > path.stat().st_mtime_ns
    told = memory.call("index", "status").data
    assert told["changed_files"] == 1
    assert adoption.TABLES == ("lexical-1.json", "lexical-2.json")


def test_an_adoption_does_not_outlive_a_manifest_that_was_removed_by_hand(adopted: Memory):
    (adopted.root / "INDEX/index-manifest.json").unlink()
    assert adopted.call("index", "build", *OPERATOR).data["adopted"] is False
    assert adopted.call("status").data["indexes"] == []
