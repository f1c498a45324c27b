"""`archive` moves and never overwrites or loses; `compact` compresses, verifies, and only then lets the original go."""

import gzip
import io
import json
import os
import tarfile

import pytest
from support.stores import NOW
from support.vaults import DAY, Vault, ago, files, note

PENDING = 'archive_pending: true\narchive_reason: "expired: 90d unused"\narchive_marked_at: 2026-07-01T00:00:00Z\n'


def pending_vault(folder, language="记忆"):
    vault = Vault(folder / "vault", language)
    vault.put("L3", "episodic/2026-01-01/a", PENDING)
    vault.put("L2", "semantic/b", PENDING)
    vault.put("L1", "procedural/c", PENDING)
    vault.put("L0", "name", PENDING)
    vault.put("L3", "not-marked", "archive_pending: false\n")
    vault.put("L3", "in-the-text", note("title: x\n", "archive_pending: true\n"))
    return vault


@pytest.mark.parametrize(("language", "archive"), [("记忆", "归档"), ("memory", "archive")])
def test_what_is_marked_moves_to_the_same_path_in_the_archive_and_the_core_never_does(tmp_path, language, archive):
    vault = pending_vault(tmp_path, language)
    before = files(vault.path)
    data = vault.call("archive").data
    after = files(vault.path)
    moved = {one["path"]: one["to"] for one in data["moved"]}
    assert sorted(one["id"] for one in data["moved"]) == [
        "L1://procedural/c",
        "L2://semantic/b",
        "L3://episodic/2026-01-01/a",
    ]
    for path, to in moved.items():
        assert to == f"{archive}/2026/{path}"
        assert after[to] == before[path]
        assert path not in after
    assert set(after) - set(moved.values()) == set(before) - set(moved)
    assert data["protected"] == ["L0://name"]
    alerts = (vault.path / language / "views/alerts.md").read_text()
    assert "L0://name is of L0 and marked" in alerts
    vault.call("archive")
    assert (vault.path / language / "views/alerts.md").read_text() == alerts, "nothing is told twice"


def test_a_mode_goes_along(tmp_path):
    vault = pending_vault(tmp_path)
    (vault.level("L2") / "semantic/b.md").chmod(0o600)
    vault.call("archive")
    assert (vault.path / "归档/2026/记忆/L2-语义/semantic/b.md").stat().st_mode & 0o777 == 0o600


def test_nothing_is_put_over_a_file_in_the_archive(tmp_path):
    vault = pending_vault(tmp_path)
    there = vault.path / "归档/2026/记忆/L2-语义/semantic/b.md"
    there.parent.mkdir(parents=True)
    there.write_bytes(b"an older one")
    data = vault.call("archive").data
    assert [one["id"] for one in data["blocked"]] == ["L2://semantic/b"]
    assert there.read_bytes() == b"an older one"
    assert (vault.level("L2") / "semantic/b.md").exists()


def test_a_link_where_the_archive_belongs_is_not_followed(tmp_path):
    vault = pending_vault(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    (vault.path / "归档").symlink_to(tmp_path / "elsewhere")
    before = files(vault.path)
    assert vault.call("archive").refusal == (5, "governance_refused")
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert files(vault.path) == before


@pytest.mark.parametrize(
    "text", ['{"uris": {"L2://semantic/b": "memory/b.md", "z": 1}}', '{\n    "L2://semantic/b": {"n": [1]}\n}\n', "{}"]
)
def test_the_index_of_addresses_says_where_it_went_and_undo_gives_its_bytes_back(tmp_path, text):
    vault = pending_vault(tmp_path)
    index = vault.path / "_meta/uri-index.json"
    index.parent.mkdir()
    index.write_text(text)
    plan = vault.call("archive").data["plan"]
    document = json.loads(index.read_text())
    entry = document.get("uris", document)["L2://semantic/b"]
    assert (vault.path / entry["archived_path"]).is_file()
    assert (entry["archived"], entry["archived_at"]) == (True, "2026-08-01T12:00:00.000Z")
    assert vault.call("undo", plan).data["state"] == "undone"
    assert index.read_text() == text


def test_an_index_that_is_none_is_left_as_it_is_and_told(tmp_path):
    vault = pending_vault(tmp_path)
    (vault.path / "_meta").mkdir()
    (vault.path / "_meta/uri-index.json").write_text("[1]")
    data = vault.call("archive").data
    assert len(data["moved"]) == 3
    assert any("uri-index" in warning for warning in data["warnings"])


def test_only_a_part_is_taken_back_and_a_later_plan_keeps_its_entries_in_the_index(tmp_path):
    vault = pending_vault(tmp_path)
    index = vault.path / "_meta/uri-index.json"
    index.parent.mkdir()
    index.write_text("{}")
    first = vault.call("archive").data["plan"]
    vault.put("L3", "later", PENDING)
    later = Vault(vault.path, now=NOW + DAY)
    later.call("archive")
    data = vault.call("undo", first, "--only", "L2://semantic/b", "L1://procedural/c").data
    assert data["undone"] == 2
    assert (vault.level("L2") / "semantic/b.md").exists()
    assert not (vault.level("L3") / "episodic/2026-01-01/a.md").exists()
    entries = json.loads(index.read_text())
    assert [name for name, entry in entries.items() if entry.get("archived")] == [
        "L3://episodic/2026-01-01/a",
        "L3://later",
    ]
    assert vault.call("undo", first).data["undone"] == 1
    assert [name for name, entry in json.loads(index.read_text()).items() if entry.get("archived")] == ["L3://later"]


LINES = b'{"event":"a"}\n' * 100


def ledger(folder, *days, language="记忆"):
    vault = Vault(folder / "vault", language)
    for day in days:
        path = vault.level("L4") / f"ledger/{ago(day)[:10]}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(LINES)
    return vault


def names(vault):
    return sorted(path.name for path in vault.level("L4").rglob("*") if path.is_file())


@pytest.mark.parametrize(
    ("day", "left"),
    [(29, [""]), (30, ["", ".gz"]), (59, ["", ".gz"]), (60, [".gz"]), (400, [".gz"]), (-3, [""])],
)
def test_a_ledger_is_compressed_and_later_leaves(tmp_path, day, left):
    vault = ledger(tmp_path, day)
    vault.call("compact")
    assert names(vault) == [f"{ago(day)[:10]}.jsonl{suffix}" for suffix in left]
    for path in vault.level("L4").rglob("*.gz"):
        assert gzip.decompress(path.read_bytes()) == LINES


def test_a_compressed_file_is_the_same_bytes_whenever_it_is_made(tmp_path):
    made = []
    for number, now in enumerate((NOW, NOW + 5 * DAY)):
        vault = ledger(tmp_path / str(number), 40)._replace(now=now)
        month(vault, "2026-05")
        vault.call("compact")
        made.append({path.name: path.read_bytes() for path in vault.level("L4").rglob("*.gz")})
    assert len(made[0]) == 2
    assert made[0] == made[1]
    assert all(data[4:8] == b"\0\0\0\0" for data in made[0].values())


def month(vault, name):
    folder = vault.level("L4") / "session/claude" / name
    (folder / "deep").mkdir(parents=True)
    (folder / "a.jsonl").write_bytes(LINES)
    (folder / "deep/b.txt").write_bytes(b"b")
    (folder / "deep/b.txt").chmod(0o600)
    return folder


@pytest.mark.parametrize(
    ("now", "packed", "gone"),
    [
        ("2026-06-29", False, False),
        ("2026-06-30", True, False),
        ("2026-07-29", True, False),
        ("2026-07-30", True, True),
    ],
)
def test_a_month_of_a_session_counts_from_its_last_day(tmp_path, now, packed, gone):
    vault = Vault(tmp_path / "vault", now=_instant(now))
    folder = month(vault, "2026-05")
    vault.call("compact")
    archive = folder.with_name("2026-05.tar.gz")
    assert (archive.exists(), folder.exists()) == (packed, not gone)
    if packed:
        with tarfile.open(fileobj=io.BytesIO(archive.read_bytes())) as opened:
            assert [(one.name, one.mtime, one.mode) for one in opened] == [
                ("2026-05/a.jsonl", 0, 0o644), ("2026-05/deep/b.txt", 0, 0o600),
            ]  # fmt: skip


def _instant(text):
    from policies.timestamps import parse_timestamp

    return parse_timestamp(text) or 0


@pytest.mark.parametrize("spoiled", [b"", b"not gzip", gzip.compress(LINES)[:-9], gzip.compress(LINES + b"x", mtime=0)])
def test_an_original_stays_while_its_compressed_file_does_not_verify(tmp_path, spoiled):
    vault = ledger(tmp_path, 100)
    (original,) = vault.level("L4").rglob("*.jsonl")
    packed = original.with_name(original.name + ".gz")
    packed.write_bytes(spoiled)
    data = vault.call("compact").data
    assert original.read_bytes() == LINES
    assert packed.read_bytes() == spoiled
    assert "does not verify" in data["corrupted"][0]["reason"]


def test_what_is_no_date_counts_by_its_last_change(tmp_path):
    vault = ledger(tmp_path)
    path = vault.level("L4") / "ledger/notes.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(LINES)
    os.utime(path, ns=((NOW - 29 * DAY) * 1_000_000,) * 2)
    assert vault.call("compact").data["kept"] == 1
    os.utime(path, ns=((NOW - 30 * DAY) * 1_000_000,) * 2)
    assert vault.call("compact").data["compressed"] == ["记忆/L4-账本/ledger/notes.jsonl.gz"]


def test_compacting_twice_does_nothing_new_and_undo_gives_all_bytes_back(tmp_path):
    vault = ledger(tmp_path, 1, 31, 61)
    month(vault, "2026-05")
    before = files(vault.path)
    plan = vault.call("compact").data["plan"]
    once = files(vault.path)
    again = vault.call("compact").data
    assert (again["plan"], files(vault.path)) == (None, once)
    assert vault.call("undo", plan).data["state"] == "undone"
    assert files(vault.path) == before
    assert (vault.level("L4") / "session/claude/2026-05/deep/b.txt").stat().st_mode & 0o777 == 0o600
