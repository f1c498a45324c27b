"""A write that is cut off anywhere: the file is the old one or the new one, and the next call puts all in order.

Each writing command is stopped at every operation on a file (a sample of them in the default suite), refused by a full
or broken disk at every operation, and replayed with the writes lost that nobody had waited for.
"""

import errno
import json
import os
import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support.crashing import PowerFailure, recorded, refused_at, stopped_at
from support.stores import IDEA, NOW, OPERATOR, PERSON, PROPOSAL, RULE, Memory, Said, bare, laid_out

LATER = Memory(Path(), Path(), NOW + 60_000).now
ENTRIES = [f"RULE: number {number}" for number in range(12)]
TORN = b'{"ts":"2026-08-01T11:0'


class Command(NamedTuple):
    """A writing command and what it is called on; `backed_up`: each file there has a second name elsewhere."""

    prepare: Callable[[Path], Memory]
    act: Callable[[Memory], Said]
    backed_up: bool = False


@pytest.fixture(autouse=True)
def _fsync_costs_nothing(monkeypatch):
    """Here the order of operations is what counts; `PowerFailure` knows what a sync is for."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


def _lived_in(folder: Path) -> Memory:
    memory = laid_out(folder)
    for item in (IDEA, PERSON, PROPOSAL, {**RULE, "content": "ROLE: harbour master"}):
        memory.write(item)
    return memory


def _with_torn_log(folder: Path) -> Memory:
    memory = _lived_in(folder)
    log = memory.root / "OBSERVABILITY" / "memory-retrievals.jsonl"
    log.write_bytes(b'{"ts":"2026-08-01T10:00:00Z","query_hash":"x","returned_count":0,"duration_ms":1}\n' + TORN)
    with (memory.root / "OBSERVABILITY" / "tier-b-writes.jsonl").open("ab") as audit:
        audit.write(TORN)
    return memory


def _proposal(memory: Memory) -> str:
    return str(memory.rows("pending-proposals.jsonl")[0]["id"])


COMMANDS = {
    "init": Command(lambda folder: bare(folder / "MEMORY")._replace(home=folder), lambda m: m.call("init", *OPERATOR)),
    "new note": Command(laid_out, lambda m: m.remember(IDEA)),
    "new note in a bare folder": Command(bare, lambda m: m.remember(PERSON)),
    "same note": Command(_lived_in, lambda m: m.remember({**IDEA, "content": "Or none."})),
    "same note, torn audit": Command(_with_torn_log, lambda m: m.remember({**IDEA, "content": "Or none."})),
    "same note, backed up": Command(_lived_in, lambda m: m.remember({**IDEA, "content": "Or none."}), backed_up=True),
    "accept, backed up": Command(_lived_in, lambda m: m.decide(_proposal(m), "accept"), backed_up=True),
    "add entry": Command(_lived_in, lambda m: m.remember(RULE)),
    "set entries": Command(
        _lived_in, lambda m: m.remember({"type": "memory", "actor": "principal", "op": "set", "entries": ENTRIES})
    ),
    "propose": Command(_lived_in, lambda m: m.propose({**PROPOSAL, "edit": "Neap: the smallest tide."})),
    "accept": Command(_lived_in, lambda m: m.decide(_proposal(m), "accept")),
    "reject": Command(_lived_in, lambda m: m.decide(_proposal(m), "reject")),
    "edit": Command(_lived_in, lambda m: m.decide(_proposal(m), "edit", "--edit", "Slack: when it stands.")),
    "mend": Command(_with_torn_log, lambda m: m.call("mend", "memory-retrievals.jsonl", *OPERATOR)),
    "accept a loss": Command(_lived_in, lambda m: m.call("mend", "tier-b-writes.jsonl", "--accept-loss", *OPERATOR)),
    "record": Command(_with_torn_log, lambda m: m.call("search", "tide", "--record")),
}
# Power failures are replayed on a model that knows one name a file.
ONE_NAME = [name for name, command in COMMANDS.items() if not command.backed_up]
EVERY = [pytest.param(name, marks=pytest.mark.proof) for name in COMMANDS]
# Operations of one write: enough numbers to go past the last one of any command.
SAMPLE_STEP = 5


def data_files(memory: Memory) -> dict[str, bytes]:
    """Return what readers take for data, by name: no audit, no locks, no snapshots, nothing hidden."""
    found = {}
    for path in sorted(memory.home.rglob("*")):
        name = str(path.relative_to(memory.home))
        hidden = any(part.startswith(".") for part in path.parts)
        ours = any(part in name for part in ("locks/", "memory-snapshots/", "-writes.jsonl"))
        if path.is_file() and not hidden and not ours:
            found[name] = path.read_bytes()
    return found


def check_order(
    memory: Memory, before: dict[str, bytes], after: dict[str, bytes], act: Callable[[Memory], Said]
) -> None:
    """Hold a memory in which a call was cut off to every promise."""
    now = data_files(memory)
    for name in {*before, *after, *now}:
        assert now.get(name) in (before.get(name), after.get(name)), f"{name} is neither the old nor the new one"
    assert memory.call("check").exit == 0

    check_that_the_audit_knows(memory, before, now)
    again = act(memory._replace(now=LATER))
    assert again.exit == 0 or again.refusal == (5, "governance_refused"), again.envelope
    for item in (IDEA, PERSON, RULE, {**RULE, "actor": "assistant"}, PROPOSAL):
        assert memory._replace(now=LATER).write(item).exit == 0
    check_audit(memory)
    definitions = memory.home / "USER/DEFINITIONS.md"
    assert not definitions.exists() or definitions.read_text().count(PROPOSAL["edit"]) == 1, "applied twice"
    left = [path.name for path in memory.home.rglob(".*") if path.is_file() and "locks" not in path.parts]
    assert left == [], "a staged file was left"


AUDIT = ("memory-writes.jsonl", "tier-b-writes.jsonl")


def check_that_the_audit_knows(memory: Memory, before: dict[str, bytes], now: dict[str, bytes]) -> None:
    """No governed file is a new one without a row that says so."""
    known = {row["hash_after"] for log in AUDIT for row in rows_of(memory, log)}
    for name, data in now.items():
        if data != before.get(name) and ".malformed-" not in name and not name.endswith("retrievals.jsonl"):
            assert sha256(data).hexdigest() in known, f"{name} was changed, and no row of the audit says so"


def rows_of(memory: Memory, log: str) -> list[dict[str, Any]]:
    """Return the rows of an audit log, but for what was torn before any of our calls."""
    path = memory.root / "OBSERVABILITY" / log
    lines = path.read_bytes().split(b"\n") if path.exists() else []
    whole = [line for line in lines if line and line != TORN]
    return [json.loads(line) for line in whole if line.endswith(b"}")]


def check_audit(memory: Memory) -> None:
    """Every path that the audit names is as its last closed row says, and no row but a torn one is unreadable."""
    last = {}
    for log in ("memory-writes.jsonl", "tier-b-writes.jsonl"):
        path = memory.root / "OBSERVABILITY" / log
        for line in path.read_bytes().split(b"\n") if path.exists() else []:
            if line and line != TORN:
                row = json.loads(line)
                last[row["path"]] = row
    for path, row in last.items():
        assert row["state"] in ("done", "void", "intent")
        if row["state"] == "intent":
            assert path in NOT_WRITTEN_AGAIN, f"{path} has an open intent"


# What no call of `check_order` writes again, so that nobody came by to close an intent.
NOT_WRITTEN_AGAIN = ("CORTEX_INDEX_POLICY.json", "USER/DEFINITIONS.md")


def prepared(name: str, folder: Path) -> tuple[Command, Memory, dict[str, bytes], dict[str, bytes]]:
    """Return a command, the memory it is to be called on, and the data files before and after it was done elsewhere."""
    command = COMMANDS[name]
    memory = command.prepare(folder / "original")
    done = Memory(folder / "done" / memory.root.relative_to(memory.home), folder / "done")
    shutil.copytree(memory.home, done.home)
    answer = command.act(done)
    assert answer.exit == 0, answer.envelope
    return command, memory, data_files(memory), data_files(done)


def copy_of(memory: Memory, folder: Path, *, backed_up: bool = False) -> Memory:
    """Return a copy of a memory; with `backed_up`, all its files have a second name in a folder beside it."""
    backup = folder.with_name("backup")
    for old in (folder, backup):
        shutil.rmtree(old, ignore_errors=True)
    shutil.copytree(memory.home, folder)
    if backed_up:
        shutil.copytree(folder, backup, copy_function=os.link)
    return Memory(folder / memory.root.relative_to(memory.home), folder, memory.now)


def check_backup(memory: Memory, folder: Path) -> None:
    """The other names of a memory's files, where there are any, keep the bytes of the original."""
    for path in folder.with_name("backup").rglob("*"):
        if path.is_file():
            original = memory.home / path.relative_to(folder.with_name("backup"))
            assert path.read_bytes() == original.read_bytes(), f"{path.name} was changed by its other name"


def every_stop(name: str, folder: Path, step: int) -> int:
    command, memory, before, after = prepared(name, folder)
    number = 0
    while True:
        copy = copy_of(memory, folder / "copy", backed_up=command.backed_up)
        if not stopped_at(number, lambda copy=copy: command.act(copy)):
            return number
        check_order(copy, before, after, command.act)
        check_backup(memory, copy.home)
        number += step


@pytest.mark.parametrize("name", COMMANDS)
def test_a_call_that_is_stopped_at_some_operation_leaves_old_or_new_files_and_the_next_one_works(name, tmp_path):
    assert every_stop(name, tmp_path, SAMPLE_STEP) > 0


@pytest.mark.parametrize("name", EVERY)
def test_a_call_that_is_stopped_at_any_operation_leaves_old_or_new_files_and_the_next_one_works(name, tmp_path):
    assert every_stop(name, tmp_path, 1) > 2


def every_refusal(name: str, folder: Path, error: int, step: int, *, short: bool = False) -> int:
    command, memory, before, after = prepared(name, folder)
    number, came = 0, True
    while came:
        copy = copy_of(memory, folder / "copy", backed_up=command.backed_up)
        came, answer = refused_at(number, error, lambda copy=copy: command.act(copy), short=short)
        if not came:
            return number
        check_answer(name, answer, copy, before, after)
        check_order(copy, before, after, command.act)
        check_backup(memory, copy.home)
        number += step
    return number


def check_answer(name: str, answer: Said, memory: Memory, before: dict[str, bytes], after: dict[str, bytes]) -> None:
    """An error before the change is an explained refusal, and nothing changed; after it a success, warned of."""
    now = data_files(memory)
    if answer.exit == 0:
        assert now == after or name == "record" or "accept it again" in str(answer.data["warnings"])
        return
    assert answer.refusal == (5, "governance_refused"), answer.envelope
    assert "nothing was written" in answer.message
    assert not [*memory.home.rglob(".cortex-*"), *memory.home.rglob(".*.tmp")], "a staged file was left"
    if not name.startswith(("init", "mend")):  # these write several files, each of them whole
        assert now == before


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO])
@pytest.mark.parametrize("name", COMMANDS)
def test_a_disk_that_refuses_some_operation_leads_to_an_explained_refusal_or_a_warning(name, error, tmp_path):
    assert every_refusal(name, tmp_path, error, SAMPLE_STEP) > 0


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO])
@pytest.mark.parametrize("name", EVERY)
def test_a_disk_that_refuses_any_operation_leads_to_an_explained_refusal_or_a_warning(name, error, tmp_path):
    assert every_refusal(name, tmp_path, error, 1) > 2


@pytest.mark.parametrize("name", COMMANDS)
def test_a_disk_that_is_full_in_the_middle_of_a_write_leaves_no_part_of_it(name, tmp_path):
    assert every_refusal(name, tmp_path, errno.ENOSPC, 1, short=True) > 0


def every_power_failure(name: str, folder: Path, step: int) -> int:
    command, memory, before, after = prepared(name, folder)
    copy = copy_of(memory, folder / "copy")
    steps = recorded(lambda: command.act(copy))
    for number in range(0, len(steps) + 1, step):
        for names_survive in (False, True):
            failure = PowerFailure(memory.home, copy.home)
            for done in steps[:number]:
                failure.do(done)
            left = Memory(folder / "left" / memory.root.relative_to(memory.home), folder / "left")
            shutil.rmtree(left.home, ignore_errors=True)
            left.root.mkdir(parents=True)
            failure.leave(left.home, names_survive=names_survive)
            check_order_after_power_failure(left, before, after, command)
    return len(steps)


def check_order_after_power_failure(
    memory: Memory, before: dict[str, bytes], after: dict[str, bytes], command: Command
) -> None:
    for path in memory.home.rglob(".cortex-*"):  # a killed machine may forget that it was writing; nobody reads these
        path.unlink()
    check_order(memory, before, after, command.act)


@pytest.mark.parametrize("name", ONE_NAME)
def test_a_power_failure_after_some_operation_leaves_old_or_new_files(name, tmp_path):
    assert every_power_failure(name, tmp_path, SAMPLE_STEP) > 2


@pytest.mark.proof
@pytest.mark.parametrize("name", ONE_NAME)
def test_a_power_failure_after_any_operation_leaves_old_or_new_files(name, tmp_path):
    assert every_power_failure(name, tmp_path, 1) > 2
