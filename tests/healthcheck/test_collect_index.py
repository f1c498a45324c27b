"""An index is judged by its manifest, else by the marker; whatever is not exactly sound is named, and never missing."""

import hashlib
import json
import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from support import damage
from support.memories import HOUR, NOW, Places, Recipe, canonical_digest, manifest_of, write
from support.nobody import as_nobody, give_to_nobody, open_folder, skip_where_modes_do_not_bind
from support.stores import OPERATOR, Memory

from cortex.places import layout_of
from healthcheck.collectors.index import collect_index
from healthcheck.evidence import AdoptedIndex, Missing, NoIndex, Observed, Unreadable

MARKER: Final = "CORTEX_INDEX_POLICY.json"
MANIFEST: Final = "MEMORY/INDEX/index-manifest.json"
NOT_EXACT: Final = "has not exactly the known fields"


@pytest.fixture
def adopted(tmp_path: Path) -> Places:
    return write(Recipe(index="manifest and marker", notes=2), tmp_path)


@pytest.fixture
def without(tmp_path: Path) -> Places:
    return write(Recipe(index="marker", notes=2), tmp_path)


@pytest.fixture
def ours(tmp_path: Path) -> Places:
    """A memory whose index was built by the command."""
    return built(write(Recipe(index="marker", notes=2), tmp_path))


def built(places: Places) -> Places:
    assert Memory(places.memory_root, places.home, NOW).call("index", "build", *OPERATOR).exit == 0
    return places


def found_in(places: Places, named: Path | None = None) -> object:
    return collect_index(layout_of(places.memory_root), named)


def index_of(places: Places, named: Path | None = None) -> AdoptedIndex:
    found = found_in(places, named)
    assert isinstance(found, Observed)
    assert isinstance(found.value, AdoptedIndex)
    return found.value


def rewrite(places: Places, **changes: object) -> None:
    manifest = json.loads(places.manifest.read_bytes())
    places.manifest.write_text(json.dumps({**manifest, **changes}), encoding="utf-8")


# The marker.


def test_a_sound_marker_says_that_there_is_no_index(without: Places) -> None:
    assert found_in(without) == Observed(NoIndex(MARKER))


def test_beside_a_marker_the_corpus_is_not_read(without: Places) -> None:
    (without.memory_root / "KNOWLEDGE" / "Ideas" / "n0.md").write_bytes(b"\xff")
    assert found_in(without) == Observed(NoIndex(MARKER))


def test_without_marker_and_manifest_nothing_is_known(without: Places) -> None:
    without.marker.unlink()
    assert found_in(without) == Missing(f"neither {MANIFEST} nor {MARKER}")
    (without.memory_root / "INDEX").mkdir()
    assert found_in(without) == Missing(f"neither {MANIFEST} nor {MARKER}")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is no strict JSON (not valid JSON)"),
        (b"\xef\xbb\xbf{}", "is no strict JSON (not valid JSON)"),
        (b'{"schema":1,"schema":1}', "is no strict JSON (a key stands twice)"),
        (b"{}", NOT_EXACT),
        (b'{"schema":"lifeos-cortex-index-policy/v1","policy":"no-index-v1","x":1}', NOT_EXACT),
        (b"[]", NOT_EXACT),
    ],
)
def test_a_damaged_marker_is_named(without: Places, content: bytes, reason: str) -> None:
    without.marker.write_bytes(content)
    assert found_in(without) == Unreadable(MARKER, reason)


REPLACED: Final = [
    (damage.replace_by_folder, "is a folder"),
    (damage.replace_by_link, "is a link"),
    (damage.replace_by_dangling_link, "is a link"),
    (damage.replace_by_fifo, "is a FIFO"),
]


@pytest.mark.parametrize(("replace", "reason"), REPLACED)
def test_what_lies_in_the_markers_place_is_named(without: Places, replace: damage.Damage, reason: str) -> None:
    replace(without.marker)
    assert found_in(without) == Unreadable(MARKER, reason)


# The manifest.


def test_an_adopted_index_is_measured(adopted: Places) -> None:
    manifest = manifest_of(adopted, 2)
    assert index_of(adopted) == AdoptedIndex(
        manifest=MANIFEST,
        index="MEMORY/INDEX/index.bin",
        indexed_at=NOW - HOUR,
        canonical_sha256=manifest["canonical_sha256"],
        measured_canonical_sha256=manifest["canonical_sha256"],
        index_sha256=manifest["index_sha256"],
        measured_index_sha256=manifest["index_sha256"],
    )


def test_a_manifest_beats_the_marker_even_a_damaged_one(adopted: Places) -> None:
    adopted.marker.write_bytes(b"damaged")
    assert index_of(adopted).manifest == MANIFEST


def test_both_hashes_are_measured_anew(adopted: Places) -> None:
    sound = index_of(adopted)
    adopted.index.write_bytes(b"other")
    other_index = index_of(adopted)
    assert other_index.measured_index_sha256 != other_index.index_sha256 == sound.index_sha256
    (adopted.memory_root / "KNOWLEDGE" / "Ideas" / "n0.md").write_text("changed", encoding="utf-8")
    assert index_of(adopted).measured_canonical_sha256 != sound.canonical_sha256


@pytest.mark.parametrize(("replace", "reason"), REPLACED)
def test_what_lies_in_the_manifests_place_is_named(adopted: Places, replace: damage.Damage, reason: str) -> None:
    replace(adopted.manifest)
    assert found_in(adopted) == Unreadable(MANIFEST, reason)


def test_a_manifest_that_was_removed_leaves_the_marker_in_force(adopted: Places) -> None:
    adopted.manifest.unlink()
    assert found_in(adopted) == Observed(NoIndex(MARKER))


@pytest.mark.parametrize(
    ("replace", "reason"),
    [
        (damage.replace_by_file, "lies in something that is no folder"),
        (damage.replace_by_link, "lies outside the memory root"),
        (damage.replace_by_dangling_link, "cannot be read (no such file or directory)"),
        (damage.replace_by_fifo, "lies in something that is no folder"),
    ],
)
def test_a_manifest_below_something_else_than_a_folder_is_not_missing(
    adopted: Places, replace: damage.Damage, reason: str
) -> None:
    replace(adopted.manifest.parent)
    assert found_in(adopted) == Unreadable(MANIFEST, reason)


@pytest.mark.parametrize("closed", ["manifest", "index", "folder"])
def test_what_may_not_be_read_is_named_never_missing(closed: str) -> None:
    with open_folder() as folder:
        skip_where_modes_do_not_bind(folder)
        places = write(Recipe(index="manifest and marker"), folder)
        path = {"manifest": places.manifest, "index": places.index, "folder": places.manifest.parent}[closed]
        path.chmod(0)
        give_to_nobody(folder)
        with as_nobody():
            found = found_in(places)
    assert isinstance(found, Unreadable)
    assert "permission denied" in found.reason


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"\xff", b"\xef\xbb\xbf{}", b'{"schema":1,"schema":1}', b"[" * 100_000]
)
def test_a_damaged_manifest_is_named(adopted: Places, content: bytes) -> None:
    adopted.manifest.write_bytes(content)
    found = found_in(adopted)
    assert isinstance(found, Unreadable)
    assert found.path == MANIFEST


def test_a_manifest_with_a_byte_order_mark_is_no_strict_json(adopted: Places) -> None:
    adopted.manifest.write_bytes(b"\xef\xbb\xbf" + adopted.manifest.read_bytes())
    assert found_in(adopted) == Unreadable(MANIFEST, "is no strict JSON (not valid JSON)")


# The manifest that was named.


def test_a_manifest_may_be_named_anywhere_inside_the_memory_root(
    adopted: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = adopted.memory_root / "other" / "m.json"
    adopted.manifest.parent.rename(other.parent)
    (other.parent / adopted.manifest.name).rename(other)
    assert index_of(adopted, other).index == "MEMORY/other/index.bin"
    monkeypatch.chdir(adopted.home)
    assert index_of(adopted, Path("MEMORY/other/m.json")).manifest == "MEMORY/other/m.json"


def test_paths_are_told_as_the_memory_root_was_named(adopted: Places, tmp_path: Path) -> None:
    alias = tmp_path / "alias" / "MEMORY"
    alias.parent.mkdir()
    alias.symlink_to(adopted.memory_root)
    found = collect_index(layout_of(alias), None)
    assert isinstance(found, Observed)
    assert isinstance(found.value, AdoptedIndex)
    assert (found.value.manifest, found.value.index) == (MANIFEST, "MEMORY/INDEX/index.bin")


def test_a_manifest_that_was_named_and_is_not_there_is_faulty(adopted: Places) -> None:
    for path in ("x.json", "x/y.json"):
        named = adopted.memory_root / path
        assert found_in(adopted, named) == Unreadable(f"MEMORY/{path}", "is not there")


def test_a_manifest_outside_the_memory_root_is_faulty(adopted: Places, tmp_path: Path) -> None:
    outside = tmp_path / "m.json"
    adopted.manifest.rename(outside)
    for named in (outside, adopted.memory_root / ".." / ".." / "m.json"):
        found = found_in(adopted, named)
        assert isinstance(found, Unreadable)
        assert found.reason == "lies outside the memory root"


@pytest.mark.parametrize("named", ["/", "MEMORY", "MEMORY/..", "MEMORY/INDEX", "MEMORY/INDEX/.", "x\0y"])
def test_no_folder_passes_for_a_manifest(adopted: Places, named: str) -> None:
    assert isinstance(found_in(adopted, adopted.home / named), Unreadable)


# The index that the manifest names.


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("missing.bin", "is not there, but the manifest names it"),
        ("missing/index.bin", "cannot be read (no such file or directory)"),
        ("index.bin/x", "lies in something that is no folder"),
        (".", "is a folder"),
        ("..", "is a folder"),
        ("../index.bin", "lies outside the manifest's folder"),
        ("sub/../../outside.bin", "lies outside the manifest's folder"),
        ("/etc/hostname", "lies outside the manifest's folder"),
        ("sub", "is a folder"),
        ("x\0y", "is no path"),
        ("\ud800", "is no path"),
        ("x\0y/z", "is no path"),
        ("\ud800/z", "is no path"),
    ],
)
def test_an_index_path_that_leads_to_no_file_inside_is_faulty(adopted: Places, path: str, reason: str) -> None:
    (adopted.manifest.parent / "sub").mkdir()
    (adopted.memory_root / "outside.bin").write_bytes(adopted.index.read_bytes())
    rewrite(adopted, index_path=path)
    found = found_in(adopted)
    assert isinstance(found, Unreadable)
    assert found.reason == reason


@pytest.mark.parametrize(
    "path", ["sub/index.bin", "./sub/index.bin", "sub/../sub/index.bin", "link/index.bin", "{ABSOLUTE}"]
)
def test_an_index_path_may_wander_inside_the_manifests_folder(adopted: Places, path: str) -> None:
    folder = adopted.manifest.parent
    (folder / "sub").mkdir()
    (folder / "link").symlink_to("sub")
    adopted.index.rename(folder / "sub" / "index.bin")
    rewrite(adopted, index_path=path.replace("{ABSOLUTE}", str(folder / "sub" / "index.bin")))
    found = index_of(adopted)
    assert found.measured_index_sha256 == found.index_sha256


def test_an_index_path_that_a_link_leads_outside_is_faulty(adopted: Places, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "index.bin").write_bytes(adopted.index.read_bytes())
    (adopted.manifest.parent / "link").symlink_to(tmp_path / "outside")
    rewrite(adopted, index_path="link/index.bin")
    assert found_in(adopted) == Unreadable("MEMORY/INDEX/link/index.bin", "lies outside the manifest's folder")


@pytest.mark.parametrize(("replace", "reason"), [(damage.delete, "is not there, but the manifest names it"), *REPLACED])
def test_what_lies_in_the_indexs_place_is_named(adopted: Places, replace: damage.Damage, reason: str) -> None:
    replace(adopted.index)
    assert found_in(adopted) == Unreadable("MEMORY/INDEX/index.bin", reason)


def test_an_index_past_the_limit_is_not_hashed(adopted: Places) -> None:
    os.truncate(adopted.index, 1024**3 + 1)
    assert found_in(adopted) == Unreadable("MEMORY/INDEX/index.bin", "is larger than 1073741824 bytes")


# Its sources.

SPOIL: Final[dict[str, Callable[[Path], Any]]] = {
    "bad UTF-8": lambda folder: (folder / "n0.md").write_bytes(b"\xff"),
    "an id twice": lambda folder: (folder / "x.md").write_bytes((folder / "n0.md").read_bytes()),
    "a link": lambda folder: (folder / "x.md").symlink_to("n0.md"),
}


@pytest.mark.parametrize("name", SPOIL)
def test_sources_that_cannot_be_read_make_the_index_faulty(adopted: Places, name: str) -> None:
    SPOIL[name](adopted.memory_root / "KNOWLEDGE" / "Ideas")
    found = found_in(adopted)
    assert isinstance(found, Unreadable)
    assert found.reason.startswith("cannot be measured: ")


# The blocks of an index of cortex.

TABLE: Final = "MEMORY/INDEX/lexical-1.json"
BLOCKS: Final = "MEMORY/INDEX/lexical-1.blocks"


def blocks_of(places: Places) -> Path:
    return places.home / BLOCKS


def retell(places: Places, table: bytes) -> None:
    """Put another table in the place of the one there, and make the manifest's hash fit it."""
    (places.home / TABLE).write_bytes(table)
    rewrite(places, index_sha256=hashlib.sha256(table).hexdigest())


def table_of(places: Places) -> dict[str, Any]:
    table: dict[str, Any] = json.loads((places.home / TABLE).read_bytes())
    return table


def test_an_index_of_cortex_is_measured_by_its_table(ours: Places) -> None:
    found = index_of(ours)
    assert (found.manifest, found.index, found.indexed_at) == (MANIFEST, TABLE, NOW)
    assert found.measured_index_sha256 == found.index_sha256
    assert found.measured_canonical_sha256 == found.canonical_sha256 == canonical_digest(2)


@pytest.mark.parametrize(
    ("replace", "reason"), [(damage.delete, "is not there, but its table lexical-1.json is"), *REPLACED]
)
def test_what_lies_in_the_place_of_the_blocks_is_named(ours: Places, replace: damage.Damage, reason: str) -> None:
    replace(blocks_of(ours))
    assert found_in(ours) == Unreadable(BLOCKS, reason)


def test_each_byte_of_the_blocks_counts(ours: Places) -> None:
    whole = blocks_of(ours).read_bytes()
    for at in range(0, len(whole), 7):
        blocks_of(ours).write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert found_in(ours) == Unreadable(
            BLOCKS, "is not what lexical-1.json says: a block of it is not what was adopted"
        )
    blocks_of(ours).write_bytes(whole)
    assert isinstance(found_in(ours), Observed)


@pytest.mark.parametrize("size", [-1, 0, 1, 100])
def test_blocks_that_end_before_or_after_their_end_are_named(ours: Places, size: int) -> None:
    os.truncate(blocks_of(ours), blocks_of(ours).stat().st_size + size if size in (-1, 1) else size)
    found = found_in(ours)
    assert isinstance(found, Unreadable)
    assert found.path == BLOCKS
    assert found.reason.startswith("is not what lexical-1.json says: ")


@pytest.mark.parametrize("name", ["lexical-1.json", "lexical-1.blocks"])
def test_table_and_blocks_that_may_not_be_read_are_named(name: str) -> None:
    with open_folder() as folder:
        skip_where_modes_do_not_bind(folder)
        places = built(write(Recipe(index="marker"), folder))
        give_to_nobody(folder)
        (places.manifest.parent / name).chmod(0)
        with as_nobody():
            found = found_in(places)
    assert found == Unreadable(f"MEMORY/INDEX/{name}", "cannot be read (permission denied)")


def test_a_table_that_changed_is_a_mismatch_whatever_the_blocks_are(ours: Places) -> None:
    blocks_of(ours).unlink()
    (ours.home / TABLE).write_bytes(b"other")
    found = index_of(ours)
    assert found.measured_index_sha256 != found.index_sha256


def test_an_index_that_another_version_made_is_held_against_its_table_too(ours: Places) -> None:
    retell(ours, json.dumps(table_of(ours) | {"made_with": "0.0, Python 3.8, big-endian"}).encode())
    assert isinstance(found_in(ours), Observed)
    damage.flip_first_bytes(blocks_of(ours))
    assert isinstance(found_in(ours), Unreadable)


def test_blocks_that_no_manifest_names_are_nobodys(ours: Places) -> None:
    table = ours.home / TABLE
    table.rename(ours.index)
    rewrite(ours, index_path=ours.index.name)
    damage.flip_first_bytes(blocks_of(ours))
    assert isinstance(found_in(ours), Observed)


def test_the_adoption_decides_what_answers_and_is_no_evidence(ours: Places) -> None:
    (ours.manifest.parent / "adoption.json").write_bytes(b"{")
    assert isinstance(found_in(ours), Observed)


@pytest.mark.parametrize("spelling", ["MEMORY/INDEX/index-manifest.json", "MEMORY/../MEMORY/INDEX/index-manifest.json"])
def test_blocks_count_however_their_manifest_is_named(ours: Places, spelling: str) -> None:
    assert isinstance(found_in(ours, ours.home / spelling), Observed)
    damage.flip_first_bytes(blocks_of(ours))
    assert isinstance(found_in(ours, ours.home / spelling), Unreadable)


def test_blocks_lie_beside_their_table_wherever_the_manifest_is(ours: Places) -> None:
    moved = ours.manifest.parent.rename(ours.memory_root / "other")
    assert index_of(ours, moved / "index-manifest.json").index == "MEMORY/other/lexical-1.json"
    damage.flip_first_bytes(moved / "lexical-1.blocks")
    found = found_in(ours, moved / "index-manifest.json")
    assert isinstance(found, Unreadable)
    assert found.path == "MEMORY/other/lexical-1.blocks"


KNOWN: Final = {"format": "lifeos-cortex-lexical/v1", "made_with": "", "files": 0, "records": 0, "taken_at_ns": 0}


def section(*block: object) -> bytes:
    return json.dumps(KNOWN | {"sections": {"paths": block}, "terms": []}).encode()


NONSENSE: Final[dict[str, bytes]] = {
    "nothing": b"",
    "no JSON": b"\xff\x00",
    "a list": b"[]",
    "an empty object": b"{}",
    "brackets": b"[" * 100_000,
    "another format": json.dumps(KNOWN | {"format": "lifeos-cortex-lexical/v2"}).encode(),
    "no sections": json.dumps(KNOWN).encode(),
    "sections in a list": json.dumps(KNOWN | {"sections": [1], "terms": []}).encode(),
    "no blocks": json.dumps(KNOWN | {"sections": {}, "terms": []}).encode(),
    "a block of two": section(0, 1),
    "a block of texts": section("0", "1", "2"),
    "a block of nothings": section(None, None, None),
    "a block of fractions": section(0.0, 1.5, "x"),
    "a block before the start": section(-1, 1, "x"),
    "a negative block": section(0, -1, "x"),
    "a block past the end": section(0, 1 << 40, "x"),
    "a block past all ends": section(0, 1 << 80, "x"),
    "a block far away": section(1 << 80, 1, "x"),
    "no hash": section(0, 1, None),
    "another hash": section(0, 1, "0" * 64),
    "an empty block": section(0, 0, hashlib.sha256(b"").hexdigest()),
    "terms without blocks": json.dumps(KNOWN | {"sections": {}, "terms": [["=a"]]}).encode(),
}


@pytest.mark.parametrize("nonsense", NONSENSE)
def test_a_table_with_the_right_hash_and_nonsense_in_it_proves_nothing(ours: Places, nonsense: str) -> None:
    retell(ours, NONSENSE[nonsense])
    found = found_in(ours)
    assert isinstance(found, Unreadable)
    assert found.path == BLOCKS


def test_a_table_of_nothing_over_nothing_proves_nothing(ours: Places) -> None:
    retell(ours, NONSENSE["no blocks"])
    blocks_of(ours).write_bytes(b"")
    assert isinstance(found_in(ours), Unreadable)


@pytest.mark.parametrize("gap", [-1, 1])
def test_blocks_lie_one_behind_the_other(ours: Places, gap: int) -> None:
    """Else there would be bytes that no hash covers, or bytes that are read again and again."""
    table = table_of(ours)
    table["sections"]["stats"][0] += gap
    retell(ours, json.dumps(table).encode())
    assert found_in(ours) == Unreadable(
        BLOCKS, "is not what lexical-1.json says: its blocks do not lie one behind the other"
    )


def test_a_large_index_is_never_in_memory_as_a_whole(ours: Places) -> None:
    size, count = 1 << 20, 64
    blocks_of(ours).write_bytes(b"")
    os.truncate(blocks_of(ours), count * size)
    digest = hashlib.sha256(bytes(size)).hexdigest()
    terms = [[f"={number:02}", number * size, size, digest] for number in range(count)]
    retell(ours, json.dumps(KNOWN | {"sections": {}, "terms": terms}).encode())
    found_in(ours)
    tracemalloc.start()
    try:
        assert isinstance(found_in(ours), Observed)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4 * size


# An index that is built or withdrawn while it is measured.


def meanwhile(monkeypatch: pytest.MonkeyPatch, name: str, act: Callable[[], object]) -> None:
    """Let an act be done just before a file of that name is opened for the first time."""
    opened, is_done = os.open, []

    def acting_open(path: Any, *arguments: Any, **options: Any) -> int:
        if path == name and not is_done:
            is_done.append(True)
            act()
        return opened(path, *arguments, **options)

    monkeypatch.setattr(os, "open", acting_open)


def of_the_index(places: Places, *words: str) -> None:
    assert Memory(places.memory_root, places.home, NOW).call("index", *words, *OPERATOR).exit == 0


def change_and_refresh(places: Places) -> None:
    (places.memory_root / "KNOWLEDGE" / "Ideas" / "n0.md").write_text("changed", encoding="utf-8")
    of_the_index(places, "refresh")


@pytest.mark.parametrize("name", ["lexical-1.json", "lexical-1.blocks", "n0.md"])
def test_an_index_that_is_refreshed_meanwhile_is_measured_anew(
    ours: Places, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    meanwhile(monkeypatch, name, lambda: change_and_refresh(ours))
    found = index_of(ours)
    assert found.index == "MEMORY/INDEX/lexical-2.json"
    assert found.measured_index_sha256 == found.index_sha256
    assert found.measured_canonical_sha256 == found.canonical_sha256


def test_an_index_that_is_dropped_meanwhile_leaves_the_marker(ours: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    meanwhile(monkeypatch, "lexical-1.json", lambda: of_the_index(ours, "drop"))
    assert found_in(ours) == Observed(NoIndex(MARKER))


def test_an_index_that_is_built_while_the_marker_is_read_is_not_missing(
    without: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    meanwhile(monkeypatch, MARKER, lambda: of_the_index(without, "build"))
    assert index_of(without).index == TABLE
