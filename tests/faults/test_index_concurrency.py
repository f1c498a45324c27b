"""Builds, drops, readers and writers at once: one whole index is in force, or none, and no answer is a wrong one."""

import json
import mmap
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import NamedTuple

import pytest
from support.indexes import NOTE, Spoken, adopt, both_ways, say
from support.running import clean_environment, run
from support.stores import AGENT, IDEA, NOW, OPERATOR, Memory, laid_out

from cortex.corpus.root import pin
from cortex.errors import CortexError
from cortex.index import adoption
from cortex.index.adoption import Request
from cortex.index.opening import open_index
from cortex.layout import INDEX_MANIFEST
from cortex.store.locks import BusyError
from cortex.store.store import open_store

CORTEX = Path(sys.executable).with_name("cortex")
BUILD = ("index", "build", *OPERATOR)
REFRESH = ("index", "refresh", *OPERATOR)
DROP = ("index", "drop", *OPERATOR)
# Calls of other processes read the clock; those of this one are made now.
AT_NOW = ("--now", str(NOW))
# Notes that are there from the beginning; every note says "tide".
FIRST = 12


def note_of(name: str, text: str) -> dict[str, str]:
    return {**IDEA, "title": name, "content": text}


def id_of(root: Path, name: str) -> str:
    """Return the id of a note of the beginning."""
    head = (root / f"KNOWLEDGE/Ideas/{name}.md").read_text()
    return head.partition("\nid: ")[2].partition("\n")[0]


def remember(root: Path, name: str, text: str) -> int:
    return say(root, "remember", json.dumps(note_of(name, text)), *AGENT).exit


@pytest.fixture
def memory(tmp_path):
    """A memory of some notes."""
    memory = laid_out(tmp_path)
    for number in range(FIRST):
        assert remember(memory.root, f"first {number}", f"The tide of {number}.") == 0
    return memory


def begin(root: Path, *words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [str(CORTEX), *words, "--memory-root", str(root)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=clean_environment(),
    )  # fmt: skip


def end_of(process: subprocess.Popen[bytes]) -> tuple[int, dict]:
    output, notes = process.communicate(timeout=60)
    assert notes == b""
    return process.returncode, json.loads(output)


def is_busy(status: int, envelope: dict) -> bool:
    return status == 5 and "is busy: another process is writing it; try again" in envelope["error"]["message"]


def check_one_whole_index(memory: Memory, *when: str) -> None:
    """One index is in force, every block of it, and nothing of another is left over; health agrees."""
    with pin(memory.root) as root, open_index(root.descriptor) as opened:
        assert opened is not None
        opened.lexical.check()
        table = opened.manifest.index_path
    names = {path.name for path in (memory.root / "INDEX").iterdir()} - {"adoption.json"}
    assert names == {"index-manifest.json", table, table.replace(".json", ".blocks")}
    left = [path.name for path in memory.home.rglob(".*") if path.is_file() and "locks" not in path.parts]
    assert left == [], "a staged file was left"
    report = run("--memory-root", memory.root, *when, "--no-write", "--json").report
    assert [finding["id"] for finding in report["findings"] if finding["check"] == "index"] == []


def check_turns(memory: Memory) -> None:
    """Each file was written before the next one was begun, and each index in one go, whoever asked."""
    rows = [row for row in memory.rows("memory-writes.jsonl") if row["act"].startswith("index")]
    paths = []
    for first, second in zip(rows[::2], rows[1::2], strict=True):
        assert (first["path"], first["state"], second["state"]) == (second["path"], "intent", "done")
        paths.append(first["path"] if first["hash_after"] else "gone")
    built = [at for at, path in enumerate(paths) if path == INDEX_MANIFEST]
    assert built
    for at in built:
        assert paths[at - 2 : at] in [[f"INDEX/lexical-{n}.blocks", f"INDEX/lexical-{n}.json"] for n in (1, 2)]


def builds_at_once(memory: Memory, processes: int, rounds: int) -> None:
    for _ in range(rounds):
        began = [begin(memory.root, *BUILD) for _ in range(processes)]
        ended = [end_of(process) for process in began]
        assert any(status == 0 for status, _ in ended)
        assert all(status == 0 or is_busy(status, envelope) for status, envelope in ended), ended
        assert say(memory.root, "index", "verify").exit == 0
    check_one_whole_index(memory)
    check_turns(memory)


def test_of_two_builds_at_once_one_waits_for_the_other(memory):
    builds_at_once(memory, 2, 2)


@pytest.mark.proof
def test_of_many_builds_at_once_each_waits_for_the_others(memory):
    builds_at_once(memory, 6, 20)


def test_a_build_waits_for_another_one_and_nobody_who_asks_waits_for_it(memory):
    adopt(memory.root)
    with open_store(str(memory.root)) as store, store.locks.hold(INDEX_MANIFEST):
        waiting = begin(memory.root, *BUILD)
        assert both_ways(memory.root, "search", "tide")[0].exit == 0
        with pytest.raises(subprocess.TimeoutExpired):
            waiting.wait(0.5)
    assert end_of(waiting)[0] == 0
    check_one_whole_index(memory)


def test_a_build_that_has_waited_for_long_enough_refuses_and_leaves_all_as_it_is(memory):
    adopt(memory.root)
    before = (memory.root / INDEX_MANIFEST).read_bytes()
    request = Request("index build", "ada", NOW)
    with open_store(str(memory.root)) as store, open_store(str(memory.root), polls=2) as other:
        acts = (lambda: adoption.build(other, request, reuse=True), lambda: adoption.drop(other, request))
        with store.locks.hold(INDEX_MANIFEST):
            for act in acts:
                with pytest.raises(BusyError, match="is busy: another process is writing it; try again"):
                    act()
    assert (memory.root / INDEX_MANIFEST).read_bytes() == before
    check_one_whole_index(memory, *AT_NOW)


@pytest.mark.proof
@pytest.mark.parametrize("words", [BUILD, REFRESH, DROP])
def test_an_act_on_the_command_line_refuses_with_exit_5_where_another_goes_on_for_too_long(memory, words):
    adopt(memory.root)
    with open_store(str(memory.root)) as store, store.locks.hold(INDEX_MANIFEST):
        status, envelope = end_of(begin(memory.root, *words))
    assert is_busy(status, envelope), envelope
    check_one_whole_index(memory, *AT_NOW)


class Shared:
    """Numbers that processes share: whether to stop, and how many notes their one writer began and has written."""

    def __init__(self) -> None:
        self._numbers = memoryview(mmap.mmap(-1, mmap.PAGESIZE)).cast("I")

    def stop(self) -> None:
        self._numbers[0] = 1

    def goes_on(self) -> bool:
        return not self._numbers[0]

    def begin(self) -> None:
        self._numbers[1] += 1

    def end(self) -> None:
        self._numbers[2] += 1

    def begun(self) -> int:
        return self._numbers[1]

    def written(self) -> int:
        return self._numbers[2]


class Player(NamedTuple):
    """What a process has to play its part with."""

    root: Path
    choose: random.Random
    shared: Shared

    def say(self, *words: str) -> Spoken:
        return say(self.root, *words)


Part = Callable[[Player], None]


def building(player: Player) -> None:
    """Build, adopt, refresh or drop; wait for the others, or find nothing to refresh."""
    act = player.choose.choice((adopt, adopt, adopt, BUILD, REFRESH, REFRESH, DROP))
    if act is adopt:
        with suppress(BusyError):
            adopt(player.root)
        return
    said = player.say(*act)
    nothing = said.exit == 3 and act is REFRESH
    assert said.exit == 0 or nothing or is_busy(said.exit, json.loads(said.output)), said


def searching(player: Player) -> None:
    """Search; the answer is that of a memory as it was at some time between question and answer."""
    least = FIRST + player.shared.written()
    said = player.say("search", "tide", "--page-size", str(player.choose.choice((1, 10, 100))), "--recency", "1")
    most = FIRST + player.shared.begun()
    assert said.exit == 0, said
    assert said.notes == "" or (said.notes.startswith(NOTE) and said.notes.count("\n") == 1), said
    found = json.loads(said.output)["data"]
    assert least <= found["total"] <= most, (least, found["total"], most)
    check_items(player.root, found["items"])


def listing(player: Player) -> None:
    """List what was created around a note that is there from the beginning."""
    anchor = id_of(player.root, "first-3")
    said = player.say("timeline", "--anchor", anchor, "--before", "5", "--after", "50", "--page-size", "100")
    assert said.exit == 0, said
    check_items(player.root, json.loads(said.output)["data"]["items"])


def check_items(root: Path, items: list[dict]) -> None:
    for item in items:
        assert (root / item["provenance"]["path"]).exists(), f"there is no note {item['id']}"


def auditing(player: Player) -> None:
    """Audit; the notes may have changed since the index was built, but neither index nor marker is ever amiss."""
    report = run("--memory-root", player.root, *AT_NOW, "--no-write", "--json").report
    found = {finding["id"] for finding in report["findings"]}
    assert "health-internal-error" not in found
    of_index = {finding["id"] for finding in report["findings"] if finding["check"] == "index"}
    assert of_index <= {"index-integrity-mismatch"}, report["findings"]


def writing(player: Player) -> None:
    """Write a new note, and add to another one."""
    number = player.shared.begun()
    player.shared.begin()
    assert remember(player.root, f"new {number}", "The tide again.") == 0
    player.shared.end()
    assert remember(player.root, f"first {player.choose.randrange(FIRST)}", f"And the tide of {number}.") == 0


PARTS = (building, building, building, searching, searching, listing, auditing, writing)


def play(part: Part, root: Path, seed: int, shared: Shared, told: int) -> int:
    """Let a child do its part until all are to stop; it tells of what goes wrong."""
    child = os.fork()
    if child:
        return child
    try:
        player = Player(root, random.Random(seed), shared)
        while shared.goes_on():
            part(player)
    except BaseException as fault:  # noqa: BLE001 - whatever it is, the parent is to know
        os.write(told, f"{part.__name__}: {type(fault).__name__}: {str(fault)[:2000]}\n".encode())
    finally:
        os._exit(0)


def all_at_once(memory: Memory, seconds: float, seed: int) -> None:
    shared, (heard, told) = Shared(), os.pipe()
    children = [play(part, memory.root, seed + at, shared, told) for at, part in enumerate(PARTS)]
    os.close(told)
    time.sleep(seconds)
    shared.stop()
    for child in children:
        os.waitpid(child, 0)
    with os.fdopen(heard, "rb") as file:
        faults = file.read().decode()
    assert faults == ""
    assert shared.begun() == shared.written() > 0
    check_all_is_well(memory, FIRST + shared.written())


def check_all_is_well(memory: Memory, notes: int) -> None:
    for words in (("search", "tide"), ("timeline", "--anchor", id_of(memory.root, "first-3"))):
        through_index, without = both_ways(memory.root, *words)
        assert through_index == without
    adopt(memory.root)
    assert say(memory.root, "index", "verify").exit == 0
    check_one_whole_index(memory, *AT_NOW)
    assert json.loads(say(memory.root, "search", "tide").output)["data"]["total"] == notes
    check_turns(memory)


def test_builds_drops_readers_writers_and_audits_at_once_spoil_nothing(memory):
    all_at_once(memory, 1, 1)


@pytest.mark.proof
@pytest.mark.parametrize("seed", range(2))
def test_builds_drops_readers_writers_and_audits_at_once_spoil_nothing_for_longer(memory, seed):
    all_at_once(memory, 10, 100 * seed)


def rewrite(root: Path) -> None:
    """Rewrite a note for ever: in place by the same size, as another file, and so that it is cut short meanwhile."""
    path = root / "KNOWLEDGE/Ideas/first-0.md"
    head = path.read_bytes()
    for number in count():
        word = ("ebb", "fly")[number % 2]
        data = head + f"The {word} of the tide, {number % 1000:03}. {word}\n".encode()
        if number % 5 == 0:
            path.write_bytes(data)
        elif number % 5 == 1:
            path.with_name("_next.md").write_bytes(data)
            path.with_name("_next.md").rename(path)
        else:
            with path.open("r+b") as file:
                file.write(data)


def beside_a_writer(memory: Memory, rounds: int) -> None:
    """Build while a note is rewritten, hold the writer still, and compare; so often."""
    used, choose, rewritten = 0, random.Random(rounds), id_of(memory.root, "first-0")
    adopt(memory.root)
    writer = os.fork()
    if writer == 0:
        try:
            rewrite(memory.root)
        finally:
            os._exit(1)
    try:
        for _ in range(rounds):
            build_if_it_is_sound(memory.root, reuse=choose.random() < 0.5)
            time.sleep(choose.choice((0, 0, 0.001, 0.005)))
            os.kill(writer, signal.SIGSTOP)
            os.waitpid(writer, os.WUNTRACED)
            used += check_both_ways(memory, rewritten)
            os.kill(writer, signal.SIGCONT)
    finally:
        os.kill(writer, signal.SIGKILL)
        os.waitpid(writer, 0)
    assert used, "the index was never used"
    assert adopt(memory.root).is_adopted
    assert say(memory.root, "index", "verify").exit == 0
    check_both_ways(memory, rewritten)


def build_if_it_is_sound(root: Path, *, reuse: bool) -> None:
    """Build and adopt; where the writer has just cut its note short, the memory is not sound, and nothing is built."""
    try:
        adopt(root, reuse=reuse)
    except CortexError as error:
        if error.code != "integrity_error":
            raise


def check_both_ways(memory: Memory, rewritten: str) -> bool:
    """Hold the answers through the index against those of the files; tell whether the index took part."""
    for words in (
        ("search", "ebb", "--explain", rewritten),
        ("search", "fly tide"),
        ("timeline", "--anchor", rewritten),
    ):
        through_index, without = both_ways(memory.root, *words)
        assert through_index[:2] == without[:2]
        assert through_index.notes == ""
    status = say(memory.root, "status")
    return status.exit == 0 and len(json.loads(status.output)["data"]["indexes"]) == 1


def test_an_index_that_was_built_while_a_note_was_rewritten_answers_as_the_files_do(memory):
    beside_a_writer(memory, 20)


@pytest.mark.proof
def test_an_index_that_was_built_while_a_note_was_rewritten_answers_as_the_files_do_every_time(memory):
    beside_a_writer(memory, 300)
