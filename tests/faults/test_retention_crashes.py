"""Retention that is cut off anywhere: every file is whole, and the same command again ends where one clean run ends.

Each command is stopped at every operation on a file (a sample of them in the default suite), and refused by a full or
broken disk at every one.
"""

import errno
import gzip
import json
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pytest
from support.crashing import PowerFailure, recorded, refused_at, stopped_at
from support.stores import AGENT, NOW, OPERATOR, Memory, Said, bare
from support.vaults import Vault, ago, files, note, plans

DAY = 86_400_000
SAMPLE_STEP = 4
MARK = 'archive_pending: true\narchive_reason: "expired: x"\narchive_marked_at: 2026-07-01T00:00:00Z\n'


class Case(NamedTuple):
    """A command: what it is called on, and the call. `alerts` is where it tells people."""

    prepare: Callable[[Path], None]
    words: tuple[str, ...]
    is_vault: bool = True


@pytest.fixture(autouse=True)
def _fsync_costs_nothing(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda _: None)


def due(folder: Path) -> None:
    vault = Vault(folder)
    for name in "abc":
        vault.put("L3", name, f"created: {ago(400)}\n")
    vault.put("L3", "young", f"created: {ago(4)}\n")


def pending(folder: Path) -> None:
    vault = Vault(folder)
    for name in "ab":
        vault.put("L3", f"deep/{name}", MARK)
    vault.put("L0", "core", MARK)
    (folder / "_meta").mkdir()
    (folder / "_meta/uri-index.json").write_text('{"L3://deep/a": "x"}\n')


def ledger(folder: Path) -> None:
    base = Vault(folder).level("L4")
    (base / "session/cli/2026-04/deep").mkdir(parents=True)
    (base / "session/cli/2026-04/deep/a.txt").write_bytes(b"a")
    (base / "ledger").mkdir()
    for day in (40, 80):
        (base / f"ledger/{ago(day)[:10]}.jsonl").write_bytes(b"{}\n" * 9)


def logs(folder: Path) -> None:
    observability = bare(folder).root / "OBSERVABILITY"
    observability.mkdir()
    (observability / "old.jsonl").write_bytes(b"{}\n")
    rows = [json.dumps({"ts": ago(day)}) for day in (60, 50, 40)]
    (observability / "memory-retrievals.jsonl").write_text("\n".join(rows) + "\n")
    for path in observability.iterdir():
        os.utime(path, ns=((NOW - 40 * DAY) * 1_000_000,) * 2)


def notes(folder: Path) -> None:
    for name in "ab":
        (bare(folder).root / f"{name}.md").write_bytes(note(f"id: {name}\ncreated: 1596374871110\n"))


def counted(folder: Path) -> None:
    for name in "ab":
        (bare(folder).root / f"{name}.md").write_bytes(note(f"id: {name}\n"))


CASES = {
    "forget": Case(due, ("forget", *OPERATOR)),
    "archive": Case(pending, ("archive", *OPERATOR)),
    "compact": Case(ledger, ("compact", *OPERATOR)),
    "compact logs": Case(logs, ("compact", "--observability", *OPERATOR), is_vault=False),
    "recalled": Case(counted, ("recalled", "a", "b", *AGENT), is_vault=False),
    "dates": Case(notes, ("check", "--fix", "dates", *OPERATOR), is_vault=False),
}


def call(case: Case, folder: Path, *words: str) -> Said:
    vault = ("--vault", str(folder)) if case.is_vault else ()
    return Memory(folder, folder).call(*(words or case.words), *vault)


def everything(folder: Path) -> dict[str, bytes]:
    """Every file that readers take for data, and what people were told; folders too, so that none is left empty."""
    found = files(folder)
    for path in folder.rglob("alerts.md"):
        found[str(path.relative_to(folder))] = path.read_bytes()
    kept = {str(path.relative_to(folder)): b"folder" for path in folder.rglob("*") if path.is_dir()}
    return found | {name: data for name, data in kept.items() if not name.startswith(("CORTEX", "OBSERVABILITY"))}


class Prepared(NamedTuple):
    case: Case
    original: Path
    before: dict[str, bytes]
    after: dict[str, bytes]


def prepared(name: str, folder: Path) -> Prepared:
    case = CASES[name]
    original, clean = folder / "original", folder / "clean"
    original.mkdir()
    case.prepare(original)
    shutil.copytree(original, clean)
    said = call(case, clean)
    assert said.exit == 0, said.envelope
    before, after = everything(original), everything(clean)
    assert before != after
    return Prepared(case, original, before, after)


def copy_of(there: Prepared, folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(there.original, folder)
    return folder


def check_whole(there: Prepared, folder: Path) -> None:
    """Each file is the old or the new one; a file that moves is in one of the two places at least."""
    now = {name: data for name, data in files(folder).items() if "/." not in f"/{name}"}
    for name, data in now.items():
        assert data in (there.before.get(name), there.after.get(name)), f"{name} is neither the old nor the new one"
    held = set(now.values())
    for name, data in there.before.items():
        assert data in held or data == b"folder" or name in now or name in _packed(there), f"{name} is lost"


def _packed(there: Prepared) -> set[str]:
    return {name for name in there.before if name not in there.after} if _packs(there) else set()


def _packs(there: Prepared) -> bool:
    return there.case.words[0] == "compact"


def check_again(there: Prepared, folder: Path) -> None:
    """The same command again ends where one clean run ends; nothing is left over; and all of it can be taken back."""
    said = call(there.case, folder)
    assert said.exit == 0, said.envelope
    assert everything(folder) == there.after
    left = [path for path in folder.rglob(".*") if path.is_file() and "locks" not in path.parts]
    assert left == [], "a staged file was left"
    for plan in plans(folder):
        document = json.loads(next(folder.rglob(f"{plan}.json")).read_bytes())
        assert document["state"] == "done"
        assert call(there.case, folder, "undo", plan, *OPERATOR).exit == 0
    assert files(folder) == {name: data for name, data in there.before.items() if data != b"folder"}


def every_stop(name: str, folder: Path, step: int) -> int:
    there = prepared(name, folder)
    number = 0
    while True:
        copy = copy_of(there, folder / "copy")
        if not stopped_at(number, lambda copy=copy: call(there.case, copy)):
            return number
        check_whole(there, copy)
        check_again(there, copy)
        number += step


@pytest.mark.parametrize("name", CASES)
def test_stopped_at_some_operation_and_called_again_it_ends_like_one_clean_run(name, tmp_path):
    assert every_stop(name, tmp_path, SAMPLE_STEP) > 0


@pytest.mark.proof
@pytest.mark.parametrize("name", CASES)
def test_stopped_at_any_operation_and_called_again_it_ends_like_one_clean_run(name, tmp_path):
    assert every_stop(name, tmp_path, 1) > 10


def every_refusal(name: str, folder: Path, error: int, step: int, *, short: bool = False) -> int:
    there = prepared(name, folder)
    number, came = 0, True
    while came:
        copy = copy_of(there, folder / "copy")
        came, said = refused_at(number, error, lambda copy=copy: call(there.case, copy), short=short)
        if came:
            assert said.exit == 0 or said.refusal == (5, "governance_refused"), said.envelope
            check_whole(there, copy)
            if said.exit == 0 and any("will clear up" in warning for warning in said.data["warnings"]):
                for left in copy.rglob(".cortex-*.tmp"):  # nobody reads it, and the next write of that file removes it
                    left.unlink()
            check_again(there, copy)
        number += step
    return number


@pytest.mark.parametrize("name", CASES)
def test_a_disk_that_refuses_some_operation_leads_to_a_refusal_and_the_next_call_goes_on(name, tmp_path):
    assert every_refusal(name, tmp_path, errno.ENOSPC, SAMPLE_STEP) > 0


@pytest.mark.parametrize("name", CASES)
def test_a_disk_that_is_full_in_the_middle_of_a_write_leaves_no_part_of_it(name, tmp_path):
    assert every_refusal(name, tmp_path, errno.ENOSPC, SAMPLE_STEP, short=True) > 0


@pytest.mark.proof
@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO])
@pytest.mark.parametrize("name", CASES)
def test_a_disk_that_refuses_any_operation_leads_to_a_refusal_and_the_next_call_goes_on(name, error, tmp_path):
    assert every_refusal(name, tmp_path, error, 1) > 10


def contents(folder: Path) -> set[bytes]:
    """What can be read below a folder: of each file its content, of a compressed one what was compressed."""
    found = set()
    for path in folder.rglob("*"):
        if path.is_file():
            found.add(path.read_bytes())
            with suppress(OSError, EOFError):
                found.add(gzip.decompress(path.read_bytes()))
    return found


def every_power_failure(name: str, folder: Path, step: int) -> int:
    there = prepared(name, folder)
    copy = copy_of(there, folder / "copy")
    steps = recorded(lambda: call(there.case, copy))
    texts = {data for path, data in there.before.items() if data != b"folder" and not path.startswith("_meta")}
    if name == "compact logs":  # whose rows may lie in two files
        texts = {line for text in texts for line in text.splitlines()}
    for number in range(0, len(steps) + 1, step):
        for names_survive in (False, True):
            failure = PowerFailure(there.original, copy)
            for done in steps[:number]:
                failure.do(done)
            left = folder / "left"
            shutil.rmtree(left, ignore_errors=True)
            left.mkdir()
            failure.leave(left, names_survive=names_survive)
            held = b"\0".join(contents(left))
            lost = [text for text in texts if text not in held]
            assert lost == [], f"after {number} operations, the last of them {steps[number - 1] if number else None}"
    return len(steps)


@pytest.mark.parametrize("name", ["archive", "compact", "compact logs"])
def test_a_power_failure_loses_nothing_that_moves_or_is_compressed(name, tmp_path):
    assert every_power_failure(name, tmp_path, 1) > 10


@pytest.mark.parametrize("name", ["forget", "archive", "compact"])
def test_a_plan_that_was_cut_off_can_be_taken_back_instead(name, tmp_path):
    there = prepared(name, tmp_path)
    for number in range(0, 200, 9):
        copy = copy_of(there, tmp_path / "copy")
        if not stopped_at(number, lambda copy=copy: call(there.case, copy)):
            return
        for plan in plans(copy):
            assert call(there.case, copy, "undo", plan, *OPERATOR).exit == 0
        assert files(copy) == {name: data for name, data in there.before.items() if data != b"folder"}
    pytest.fail("it never came to an end")


def test_an_undo_that_was_cut_off_is_finished_by_the_same_call(tmp_path):
    there = prepared("archive", tmp_path)
    number = 0
    while True:
        copy = copy_of(there, tmp_path / "copy")
        call(there.case, copy)
        (plan,) = plans(copy)
        stopped = stopped_at(number, lambda copy=copy, plan=plan: call(there.case, copy, "undo", plan, *OPERATOR))
        assert call(there.case, copy, "undo", plan, *OPERATOR).exit == 0
        assert files(copy) == {name: data for name, data in there.before.items() if data != b"folder"}
        if not stopped:
            return
        number += SAMPLE_STEP
