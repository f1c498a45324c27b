"""Two boundaries may be links themselves; below them nothing is reached through one, and nothing outside is changed."""

import fcntl
import os
import shutil
import time
from hashlib import sha256

import pytest
from support.stores import IDEA, NOW, OPERATOR, PERSON, PROPOSAL, RULE, Memory, laid_out, texts_below
from support.trees import fingerprint

from cortex.errors import CortexError
from cortex.store import files
from cortex.store.governor import Act, Change, govern
from cortex.store.items import read_item
from cortex.store.remember import remember_note
from cortex.store.store import open_store

ALL = (IDEA, PERSON, RULE, PROPOSAL)


def aliased(tmp_path):
    """A memory as hosts have it by default: MEMORY and USER are links into a folder elsewhere."""
    real = laid_out(tmp_path / "private")
    home = tmp_path / "home" / "LIFEOS"
    home.mkdir(parents=True)
    (home / "MEMORY").symlink_to(real.root)
    (home / "USER").symlink_to(real.home / "USER")
    return real, Memory(home / "MEMORY", home)


def test_root_and_user_folder_that_are_links_work_for_reading_and_writing(tmp_path):
    real, memory = aliased(tmp_path)
    for item in ALL:
        assert memory.write(item).exit == 0
    assert memory.records() == 2
    assert "RULE: answer first" in (real.home / "USER/PRINCIPAL/PRINCIPAL_MEMORY.md").read_text()
    identity = memory.rows("pending-proposals.jsonl")[0]["id"]
    assert memory.decide(identity, "accept").exit == 0
    assert (real.home / "USER/DEFINITIONS.md").exists()
    assert (memory.home / "USER").is_symlink()


def test_a_target_in_the_folder_that_user_leads_to_is_a_target_too(tmp_path):
    real, memory = aliased(tmp_path)
    for home in (memory.home, real.home):
        item = {**PROPOSAL, "target_file": f"{home}/USER/DEFINITIONS.md"}
        assert memory.propose(item).data["target_file"] == "USER/DEFINITIONS.md"


@pytest.mark.parametrize("via", ["real", "alias"])
def test_the_markers_and_user_lie_beside_the_root_by_the_name_it_was_reached_by(tmp_path, via):
    real, memory = aliased(tmp_path)
    shutil.rmtree(real.home / "USER/DIGITAL_ASSISTANT")
    (real.home / "CORTEX_INDEX_POLICY.json").unlink()
    chosen = real if via == "real" else memory
    created = chosen.call("init", *OPERATOR).data["created"]
    assert created == ["USER/DIGITAL_ASSISTANT/DA_MEMORY.md", "CORTEX_INDEX_POLICY.json"]
    assert (chosen.home / "CORTEX_INDEX_POLICY.json").exists()


LINKED = [
    ("MEMORY/KNOWLEDGE", IDEA),
    ("MEMORY/KNOWLEDGE/Ideas", IDEA),
    ("MEMORY/KNOWLEDGE/Ideas/tide-clock.md", IDEA),
    ("MEMORY/KNOWLEDGE/People", PERSON),
    ("MEMORY/OBSERVABILITY", IDEA),
    ("MEMORY/OBSERVABILITY/tier-b-writes.jsonl", IDEA),
    ("MEMORY/OBSERVABILITY/memory-writes.jsonl", RULE),
    ("MEMORY/OBSERVABILITY/memory-snapshots", RULE),
    ("MEMORY/OBSERVABILITY/pending-proposals.jsonl", PROPOSAL),
    ("MEMORY/CORTEX", IDEA),
    ("MEMORY/CORTEX/locks", RULE),
    ("MEMORY/CORTEX/locks/*", RULE),
    ("MEMORY/CORTEX/locks/*", IDEA),
    ("USER/PRINCIPAL", RULE),
    ("USER/PRINCIPAL/PRINCIPAL_MEMORY.md", RULE),
]


def lived_in(tmp_path):
    memory = laid_out(tmp_path / "home")
    for item in ALL:
        memory.write(item)
    memory.remember({**RULE, "content": "ROLE: keeper"})
    return memory


@pytest.mark.parametrize(("name", "item"), LINKED)
def test_what_is_a_link_to_something_outside_is_refused_and_the_outside_stays_as_it_was(tmp_path, name, item):
    memory = lived_in(tmp_path)
    outside = tmp_path / "outside"
    outside.mkdir()
    for number, path in enumerate(list(memory.home.glob(name))):
        target = outside / f"{number}-{path.name}"
        path.rename(target)
        path.symlink_to(target)
    before, user = fingerprint(outside), fingerprint(memory.home / "USER")
    changed = {**item, "content": f"{item['content']} anew"} if "content" in item else item
    said = memory.write(changed)
    assert said.refusal == (5, "governance_refused"), said.envelope
    assert fingerprint(outside) == before
    assert fingerprint(memory.home / "USER") == user


@pytest.mark.parametrize(
    ("name", "item"),
    [("MEMORY/KNOWLEDGE/Ideas/tide-clock.md", IDEA), ("MEMORY/OBSERVABILITY/tier-b-writes.jsonl", IDEA),
     ("USER/PRINCIPAL/PRINCIPAL_MEMORY.md", RULE), ("MEMORY/OBSERVABILITY/pending-proposals.jsonl", PROPOSAL)],
)  # fmt: skip
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_what_is_no_regular_file_is_refused(tmp_path, name, item, make):
    memory = lived_in(tmp_path)
    (memory.home / name).unlink()
    make(memory.home / name)
    assert memory.write(item).refusal == (5, "governance_refused")


def test_files_that_have_a_second_name_outside_are_written_and_the_outside_keeps_its_bytes(tmp_path):
    memory = lived_in(tmp_path)
    backup = tmp_path / "backup"
    shutil.copytree(memory.home, backup, copy_function=os.link)
    before = {path: path.read_bytes() for path in backup.rglob("*") if path.is_file()}
    for item in ALL:
        changed = {**item, "content": f"{item['content']} anew"} if "content" in item else {**item, "edit": "b"}
        assert memory.write(changed).exit == 0
    identity = memory.rows("pending-proposals.jsonl")[-1]["id"]
    assert memory.decide(identity, "accept").exit == 0
    assert memory.call("search", "tide", "--record").exit == 0
    assert {path: path.read_bytes() for path in before} == before
    linked = [path for path in memory.home.rglob("*.lock") if path.stat().st_nlink > 1]
    written = [path for path in memory.home.rglob("*writes.jsonl") if path.stat().st_nlink > 1]
    assert written == []
    assert len(linked) < len(list(memory.home.rglob("*.lock")))


def test_a_lock_that_has_a_second_name_excludes_nobody_outside(tmp_path):
    memory = laid_out(tmp_path / "home")
    with open_store(str(memory.root)) as store, store.locks.hold("x"):
        pass
    locks = sorted((memory.root / "CORTEX/locks").iterdir())
    for path in locks:
        os.link(path, tmp_path / path.name)
    with open_store(str(memory.root)) as store, store.locks.hold("x"):
        assert sum(path.stat().st_nlink == 1 for path in locks) == 1
        with open_store(str(memory.root), polls=2) as other, pytest.raises(CortexError, match="busy"):
            other.locks.hold("x").__enter__()


def test_who_waited_for_a_lock_file_that_was_replaced_takes_the_new_one(tmp_path, monkeypatch):
    memory = laid_out(tmp_path / "home")
    with open_store(str(memory.root)) as store, store.locks.hold("x"):
        before = {path.name for path in (memory.root / "CORTEX/locks").iterdir()}
        (name,) = [name for name in before if name.startswith(sha256(b"x").hexdigest()[:32])]
    lock, other = memory.root / "CORTEX/locks" / name, tmp_path / "other"
    held = [os.open(lock, os.O_RDWR)]
    fcntl.flock(held[0], fcntl.LOCK_EX)

    def replaced_meanwhile(_):
        """The one that held it has put a lock file of its own in its place, holds that, and lets the old one go."""
        if len(held) == 1:
            held.append(os.open(other, os.O_RDWR | os.O_CREAT))
            fcntl.flock(held[1], fcntl.LOCK_EX)
            other.rename(lock)
            os.close(held[0])

    monkeypatch.setattr(time, "sleep", replaced_meanwhile)
    with open_store(str(memory.root), polls=3) as store, pytest.raises(CortexError, match="busy"):
        store.locks.hold("x").__enter__()
    os.close(held[1])


def test_a_lock_that_is_held_makes_the_call_busy_and_changes_nothing(tmp_path):
    memory = lived_in(tmp_path)
    before = texts_below(memory.root / "KNOWLEDGE")
    with (
        open_store(str(memory.root)) as holder,
        holder.locks.hold("KNOWLEDGE/Ideas/tide-clock.md"),
        open_store(str(memory.root), polls=3) as store,
        pytest.raises(CortexError, match="busy") as caught,
    ):
        remember_note(store, read_item(IDEA), "claude", NOW)
    assert caught.value.code == "governance_refused"
    assert texts_below(memory.root / "KNOWLEDGE") == before


def test_a_file_that_somebody_changes_who_takes_no_lock_is_not_overwritten(tmp_path):
    memory = lived_in(tmp_path)
    target = memory.root / "KNOWLEDGE/Ideas/tide-clock.md"

    def plan(data):
        target.write_bytes(data + b"mine\n")
        return Change(data + b"yours\n")

    with open_store(str(memory.root)) as store, pytest.raises(CortexError, match="somebody else"):
        govern(store, Act("remember", "claude", "KNOWLEDGE/Ideas/tide-clock.md", NOW), plan)
    assert target.read_bytes().endswith(b"mine\n")
    assert memory.rows("memory-writes.jsonl")[-1]["state"] == "void"
    assert not list(target.parent.glob(".*"))


def test_a_change_while_the_file_is_read_is_seen_before_it_is_replaced(tmp_path, monkeypatch):
    memory = lived_in(tmp_path)
    target = memory.root / "KNOWLEDGE/Ideas/tide-clock.md"
    real = files.read_all

    def read_slowly(descriptor):
        data = real(descriptor)
        if os.path.samestat(os.fstat(descriptor), target.stat()):
            target.write_bytes(data + b"mine\n")
        return data

    monkeypatch.setattr(files, "read_all", read_slowly)
    assert memory.remember(IDEA).refusal == (5, "governance_refused")
    assert target.read_bytes().endswith(b"mine\n")


@pytest.mark.parametrize("root", ["nowhere", "file", "dangling"])
def test_a_root_that_is_no_folder_is_refused(tmp_path, root):
    (tmp_path / "file").write_text("x")
    (tmp_path / "dangling").symlink_to(tmp_path / "gone")
    assert Memory(tmp_path / root, tmp_path).remember(IDEA).refusal == (4, "integrity_error")


def test_a_user_folder_that_leads_nowhere_is_refused(tmp_path):
    memory = laid_out(tmp_path / "home")
    shutil.rmtree(memory.home / "USER")
    (memory.home / "USER").symlink_to(tmp_path / "gone")
    assert memory.remember(RULE).refusal == (5, "governance_refused")
    assert memory.remember(IDEA).exit == 0
