"""Sleep that is cut off anywhere: state and cards are never half-written, the next run finishes, nothing counts twice.

Each act is stopped at every operation on a file (a sample of them in the default suite), refused by a full disk, and
replayed with the writes lost that nobody had waited for. Then the same act is done again at the same time: the cards
must be those of an act that was never disturbed.
"""

import errno
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from support.crashing import PowerFailure, recorded, refused_at, stopped_at
from support.sleepers import DAY, HOUR, calls, consolidate, hook, later, reviewer, run_folders, tick, write_lines
from support.stores import AGENT, NOW, OPERATOR, Memory, laid_out

from cortex.sleep.deck import read_deck
from cortex.sleep.state import read_state
from policies.shapes import reviewer_status

SAMPLE_STEP = 7
PROMPT = {"session_id": "s", "prompt": "Why does Fetch fail?"}


class Act(NamedTuple):
    """What is cut off: what was there before, what is done, and whether doing it twice does it twice."""

    prepare: Callable[[Path], Memory]
    do: Callable[[Memory], object]
    counts_again: bool = False


@pytest.fixture(autouse=True)
def _fsync_costs_nothing(monkeypatch):
    """Here the order of operations is what counts; `PowerFailure` knows what a sync is for."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


def _first(folder: Path) -> str:
    return write_lines(folder / "first.jsonl", *calls("Fetch", 3, NOW - HOUR, "no route"))


def _fresh(folder: Path) -> Memory:
    _first(folder / "transcripts")
    return laid_out(folder)


def _lived_in(folder: Path) -> Memory:
    memory = _fresh(folder)
    consolidate(memory, str(folder / "transcripts"))
    more = (*calls("Fetch", 3, NOW + 1000, "no", name="m"), *calls("Other", 3, NOW + 20_000, "no"))
    write_lines(folder / "transcripts/second.jsonl", *more)
    return memory


def _damaged(folder: Path) -> Memory:
    memory = _lived_in(folder)
    file = memory.root / "CORTEX/state.json"
    file.write_bytes(file.read_bytes()[:-9])
    return memory


def _sleep(memory: Memory) -> object:
    return consolidate(later(memory, HOUR), str(memory.home / "transcripts"))


def _skip(memory: Memory) -> object:
    return tick(later(memory, 2 * DAY))


ACTS = {
    "first consolidation": Act(_fresh, _sleep),
    "second consolidation": Act(_lived_in, _sleep),
    "consolidation over a damaged state": Act(_damaged, _sleep),
    "tick": Act(_lived_in, lambda memory: tick(later(memory, HOUR), "--transcripts", str(memory.home / "transcripts"))),
    "skip row": Act(_lived_in, _skip),
    "step": Act(_lived_in, lambda memory: memory.call("sleep", "activity", "--why", "session-step", *AGENT)),
    "forget": Act(_lived_in, lambda memory: memory.call("cards", "forget", "pitfall:fetch", *OPERATOR)),
    "recall": Act(_lived_in, lambda memory: memory.call("cards", "recall", "fetch", *AGENT), counts_again=True),
    "prompt": Act(_lived_in, lambda memory: hook(memory, "prompt", PROMPT), counts_again=True),
}
EVERY = [pytest.param(name, marks=pytest.mark.proof) for name in ACTS]


def kept(memory: Memory) -> dict[str, bytes | None]:
    """Return the files of cards and of evidence, by name."""
    names = ("CORTEX/memory.jsonl", "OBSERVABILITY/reviewer-runs.jsonl")
    return {name: path.read_bytes() if (path := memory.root / name).exists() else None for name in names}


def deck(memory: Memory) -> dict[str, object]:
    return dict(read_deck(kept(memory)["CORTEX/memory.jsonl"]).cards)


def check_whole(memory: Memory, before: dict[str, object], after: dict[str, object], *, damaged: bool) -> None:
    """Hold a memory right after a cut to what must never be seen."""
    state = memory.root / "CORTEX/state.json"
    if state.exists() and not damaged:
        assert read_state(state.read_bytes()) is not None, "the state is half-written"
    found = read_deck(kept(memory)["CORTEX/memory.jsonl"])
    assert found.damaged == ()
    assert found.cards in (before, after), "the cards are neither the old nor the new ones"


def check_finished(act: Act, memory: Memory, after: dict[str, object], *, folders_go: bool = True) -> None:
    """Do it again, and hold the memory to the promises of an act that was never disturbed."""
    act.do(memory)
    assert memory.call("sleep", "activity", "--why", "heartbeat", *AGENT).exit == 0
    if not act.counts_again:
        assert deck(memory) == after, "the next run came to other cards"
    assert not (folders_go and run_folders(memory))
    state = read_state((memory.root / "CORTEX/state.json").read_bytes())
    assert state is not None
    assert state.redo is None
    rows = memory.rows("reviewer-runs.jsonl")
    assert {row["runId"] for row in rows} <= set(state.runs), "a row of ours seems another's"
    if rows:
        assert reviewer_status(rows[-1]) in ("ok", "skipped")
        assert reviewer(later(memory, 2 * DAY)) == ("ok", [])
    left = [path.name for path in memory.home.rglob(".*") if path.is_file() and "locks" not in path.parts]
    assert left == [], "a staged file was left"


def prepared(name: str, folder: Path) -> tuple[Act, Memory, dict[str, object], dict[str, object]]:
    act = ACTS[name]
    memory = act.prepare(folder / "original")
    done = copy_of(memory, folder / "done")
    act.do(done)
    return act, memory, deck(memory), deck(done)


def copy_of(memory: Memory, folder: Path) -> Memory:
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(memory.home, folder)
    return Memory(folder / memory.root.relative_to(memory.home), folder, memory.now)


def every_stop(name: str, folder: Path, step: int) -> int:
    act, memory, before, after = prepared(name, folder)
    number = 0
    while True:
        copy = copy_of(memory, folder / "copy")
        if not stopped_at(number, lambda copy=copy: act.do(copy)):
            return number
        check_whole(copy, before, after, damaged="damaged" in name)
        check_finished(act, copy, after)
        number += step


@pytest.mark.parametrize("name", ACTS)
def test_an_act_that_is_killed_at_some_operation_is_finished_by_the_next_one(name, tmp_path):
    assert every_stop(name, tmp_path, SAMPLE_STEP) > 0


@pytest.mark.parametrize("name", EVERY)
def test_an_act_that_is_killed_at_any_operation_is_finished_by_the_next_one(name, tmp_path):
    assert every_stop(name, tmp_path, 1) > 5


def every_refusal(name: str, folder: Path, step: int, *, short: bool) -> int:
    act, memory, before, after = prepared(name, folder)
    number, came = 0, True
    while came:
        copy = copy_of(memory, folder / "copy")
        try:
            came, _ = refused_at(number, errno.ENOSPC, lambda copy=copy: act.do(copy), short=short)
        except AssertionError as error:  # `tick` asserts an answer; a refusal is one of the answers here
            refused = "governance_refused" in str(error)
            assert refused
        check_whole(copy, before, after, damaged="damaged" in name)
        check_finished(act, copy, after)
        number += step
    return number


@pytest.mark.parametrize("name", ACTS)
def test_a_disk_that_is_full_at_some_operation_loses_nothing(name, tmp_path):
    assert every_refusal(name, tmp_path, SAMPLE_STEP, short=False) > 0


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("short", [False, True])
def test_a_disk_that_is_full_at_any_operation_loses_nothing(name, short, tmp_path):
    assert every_refusal(name, tmp_path, 1, short=short) > 1


def every_power_failure(name: str, folder: Path, step: int) -> int:
    act, memory, before, after = prepared(name, folder)
    copy = copy_of(memory, folder / "copy")
    steps = recorded(lambda: act.do(copy))
    for number in range(0, len(steps) + 1, step):
        for names_survive in (False, True):
            failure = PowerFailure(memory.home, copy.home)
            for done in steps[:number]:
                failure.do(done)
            left = Memory(folder / "left" / memory.root.relative_to(memory.home), folder / "left", memory.now)
            shutil.rmtree(left.home, ignore_errors=True)
            left.root.mkdir(parents=True)
            failure.leave(left.home, names_survive=names_survive)
            for path in left.home.rglob(".cortex-*"):  # a machine may forget that it was writing; nobody reads these
                path.unlink()
            check_whole(left, before, after, damaged="damaged" in name)
            if number < len(steps):
                check_finished(act, left, after, folders_go=False)  # that a folder went is not replayed
    return len(steps)


@pytest.mark.parametrize("name", ["second consolidation", "skip row", "forget"])
def test_a_power_failure_after_some_operation_loses_nothing(name, tmp_path):
    assert every_power_failure(name, tmp_path, SAMPLE_STEP) > 2


@pytest.mark.parametrize("name", EVERY)
def test_a_power_failure_after_any_operation_loses_nothing(name, tmp_path):
    assert every_power_failure(name, tmp_path, 1) > 2


def test_many_consolidations_steps_and_recalls_at_once_lose_nothing(tmp_path):
    memory = _lived_in(tmp_path)
    paths = [str(path) for path in sorted((tmp_path / "transcripts").iterdir())]
    acts = [
        lambda: tick(later(memory, HOUR), "--transcripts", str(tmp_path / "transcripts")),
        lambda: consolidate(later(memory, HOUR), *paths),
        lambda: [memory.call("sleep", "activity", "--why", "heartbeat", *AGENT) for _ in range(20)],
        lambda: [memory.call("cards", "recall", "fetch", *AGENT) for _ in range(20)],
        lambda: [memory.call("cards", "add", f"Fact {number}", "--body", "x", *AGENT) for number in range(20)],
    ]
    children = []
    for act in acts * 2:
        child = os.fork()
        if child == 0:
            try:
                act()
                os._exit(0)
            finally:
                os._exit(1)
        children.append(child)
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * len(children)
    status = memory.call("sleep", "status").data
    assert (status["beats"], status["warnings"]) == (40, [])
    found = {card["id"]: card for card in memory.call("cards", "list").data["items"]}
    assert found["pitfall:fetch"]["uses"] == 40
    assert {f"fact:fact {number}" for number in range(20)} <= set(found)
    assert "pitfall:other" in found
    assert len([row for row in memory.rows("reviewer-runs.jsonl") if json.dumps(row)]) == 2
