"""An act on an index that is cut off anywhere: the old index is in force, or the new one, or none.

Each act is stopped at every operation on a file (a sample of them in the default suite), killed at any moment, refused
by a full or broken disk at every operation, and replayed with the writes lost that nobody had waited for. The notes are
changed between the index that is there and the act. They lie still all the while: what an act leaves is put back around
them, so that an index goes on knowing them.
"""

import errno
import json
import os
import random
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support.crashing import PowerFailure, recorded, refused_at, stopped_at
from support.indexes import Spoken, adopt, both_ways, say
from support.labels import asking, encode
from support.running import run
from support.stores import AGENT, NOW, OPERATOR, Memory, laid_out
from support.vaults import note

from cortex.corpus.root import pin
from cortex.index.opening import open_index

LATER = NOW + 60_000
REPORT = "the report"
BUILD = ("index", "build", *OPERATOR)
ADOPT = ("index", "build", "--adopt", REPORT, *OPERATOR)
REFRESH = ("index", "refresh", *OPERATOR)
DROP = ("index", "drop", *OPERATOR)
TICK = ("sleep", "tick", *AGENT)
QUESTIONS = (
    ("search", "tide harbour", "--explain", "note-1"),
    ("search", "tide 潮", "--analyzer", "unicode", "--recency", "1", "--page-size", "3"),
    ("search", "row", "--type", "fact", "--from", "2026-02-02", "--expand", "note-2"),
    ("timeline", "--anchor", "note-2"),
)


class Act(NamedTuple):
    """An act on an index, what is there before it (nothing, an index, an adopted one), and what may be there then."""

    before: str
    words: tuple[str, ...]
    leaves: frozenset[str]

    @property
    def is_adopted_before(self) -> bool:
        return self.before == "adopted"


OLD_OR_NEW = frozenset({"old", "new"})
NONE_OR_NEW = frozenset({"none", "new"})
OLD_OR_NONE = frozenset({"old", "none"})
ACTS = {
    "first build": Act("nothing", BUILD, NONE_OR_NEW),
    "first adoption": Act("nothing", ADOPT, NONE_OR_NEW),
    "build beside an index": Act("index", BUILD, OLD_OR_NEW),
    "adoption beside an index": Act("index", ADOPT, OLD_OR_NEW),
    "build beside an adopted one": Act("adopted", BUILD, OLD_OR_NEW),
    "adoption beside an adopted one": Act("adopted", ADOPT, OLD_OR_NEW),
    "refresh of an adopted one": Act("adopted", REFRESH, OLD_OR_NEW),
    "drop of an index": Act("index", DROP, OLD_OR_NONE),
    "drop of an adopted one": Act("adopted", DROP, OLD_OR_NONE),
    "tick": Act("adopted", TICK, OLD_OR_NEW),
}
# A sample of the operations: each act begins at another one, so that all of them come by every part of an act.
SAMPLE_STEP, SAMPLE_STEP_OF_DROP = 37, 12
# Enough for an act to be through once or twice.
LONGEST_S = 0.06


class Canonical(NamedTuple):
    """A file of the corpus: its content, and what tells it from others."""

    data: bytes
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int


Left = dict[str, Any]


class Scene(NamedTuple):
    """An act and the memory it is called on; what lies around its notes is kept elsewhere, to be put back."""

    name: str
    act: Act
    memory: Memory
    report: str
    kept: Path
    canon: dict[str, Canonical]
    before: dict[str, bytes]
    after: dict[str, bytes]
    clean: Left

    @property
    def root(self) -> Path:
        return self.memory.root

    @property
    def sample_step(self) -> int:
        return SAMPLE_STEP_OF_DROP if self.act.words == DROP else SAMPLE_STEP

    def do(self, words: tuple[str, ...] | None = None) -> Spoken:
        """Do the act, or another one."""
        named = [self.report if word == REPORT else word for word in words or self.act.words]
        return say(self.root, *named, now=LATER)


@pytest.fixture(scope="module", autouse=True)
def _fsync_costs_nothing():
    """Here the order of operations is what counts; `PowerFailure` knows what a sync is for."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "fsync", lambda _: None)
        yield


@pytest.fixture(scope="module", params=ACTS)
def scene(request, tmp_path_factory):
    """An act on a memory of its own; each test puts back what it needs."""
    return prepared(request.param, tmp_path_factory.mktemp("index"))


def put(root: Path, name: str, text: str) -> None:
    created = f"2026-02-0{name[-1]}T08:00:00.000Z"
    header = f"id: {name}\ntype: idea\ntitle: Title of {name}\ncreated: {created}\nrelated: [note-2]\n"
    (root / f"KNOWLEDGE/Ideas/{name}.md").write_bytes(note(header, text))


def put_rows(root: Path, *numbers: int) -> None:
    day = "2026-02-0"
    rows = [
        {
            "id": f"row-{n}", "type": "fact", "title": f"Row {n}", "created": f"{day}{n}", "updated": f"{day}{n}",
            "content": f"The tide of row {n} turns in the harbour.",
        }
        for n in numbers
    ]  # fmt: skip
    (root / "KNOWLEDGE/facts.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def lived_in(folder: Path) -> Memory:
    memory = laid_out(folder)
    for number in range(1, 6):
        put(memory.root, f"note-{number}", f"The tide of {number} has turned. 潮 {number}\n" * number)
    put_rows(memory.root, 1, 2, 3)
    return memory


def change(root: Path) -> None:
    """Rewrite a note, take one away, add one, and change the rows."""
    put(root, "note-1", "The harbour is shut while the tide stands.\n")
    (root / "KNOWLEDGE/Ideas/note-4.md").unlink()
    put(root, "note-6", "A new pier in the harbour. 潮\n")
    put_rows(root, 1, 3, 4)


def written_report(memory: Memory, folder: Path) -> str:
    """Write a report on the memory as it is, and its labels, beside it; return its path."""
    labels, report = folder / "labels.jsonl", folder / "report.json"
    labels.write_bytes(encode(asking("q1", "tide", "note-2", "row-1"), asking("q2", "harbour shut", "note-1")))
    said = say(memory.root, "benchmark", "--labels", str(labels), "--no-index", now=LATER)
    assert said.exit == 0, said.output
    report.write_bytes(said.output)
    return str(report)


def prepared(name: str, folder: Path) -> Scene:
    """Lay a scene out, and do its act once, undisturbed, to know what it leaves."""
    act, memory, kept = ACTS[name], lived_in(folder / "home"), folder / "kept"
    assert say(memory.root, "sleep", "config", "index_refresh", "true", *OPERATOR).exit == 0
    if act.before == "index":
        assert say(memory.root, *BUILD).exit == 0
    if act.before == "adopted":
        adopt(memory.root)
    change(memory.root)
    report = written_report(memory, folder)
    shutil.copytree(memory.home, kept, ignore=shutil.ignore_patterns("KNOWLEDGE"))
    scene = Scene(name, act, memory, report, kept, canon(memory.root), index_files(memory.root), {}, {})
    done = scene.do()
    assert done.exit == 0, done.output
    scene = scene._replace(after=index_files(memory.root), clean=left(memory))
    check_state(scene)
    assert scene.before != scene.after, "the act does nothing"
    return scene


def put_back(scene: Scene) -> None:
    """Put everything back to where it was before the act; the notes lie where they are."""
    for path in [*scene.memory.home.iterdir(), *scene.root.iterdir()]:
        if path == scene.root or path.name == "KNOWLEDGE":
            continue
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    shutil.copytree(scene.kept, scene.memory.home, dirs_exist_ok=True)


def canon(root: Path) -> dict[str, Canonical]:
    found = {}
    for path in sorted((root / "KNOWLEDGE").rglob("*")):
        if path.is_file():
            status = path.stat()
            found[str(path.relative_to(root))] = Canonical(
                path.read_bytes(), status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino
            )
    return found


def index_files(root: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (root / "INDEX").glob("*")}


def left(memory: Memory) -> Left:
    """Return what an act leaves below INDEX/, and the marker; all but the place that the index took and its moment."""
    found: Left = {}
    for name, data in index_files(memory.root).items():
        plain = name.replace("lexical-1", "lexical").replace("lexical-2", "lexical")
        assert plain not in found, "there are two of them"
        passing = ("index_path", "index_sha256", "taken_at_ns")
        is_json = name.endswith(".json")
        found[plain] = {k: v for k, v in json.loads(data).items() if k not in passing} if is_json else data
    marker = memory.home / "CORTEX_INDEX_POLICY.json"
    return {**found, "marker": marker.read_bytes() if marker.exists() else None}


def staged_files(memory: Memory) -> list[str]:
    return [path.name for path in memory.home.rglob(".*") if path.is_file() and "locks" not in path.parts]


def in_force(scene: Scene) -> str:
    """Return which index is in force, "none", "old" or "new": a whole one, every block of it."""
    with pin(scene.root) as root, open_index(root.descriptor) as opened:
        if opened is None:
            return "none"
        opened.lexical.check()
    if index_files(scene.root)["index-manifest.json"] == scene.before.get("index-manifest.json"):
        return "old"
    verified = say(scene.root, "index", "verify", now=LATER)
    assert verified.exit == 0, verified.output
    return "new"


def check_state(scene: Scene) -> None:
    """Hold a memory whose act was cut off to what must be so at every instant."""
    force = in_force(scene)
    assert force in scene.act.leaves
    check_adoption(scene, force)
    for words in QUESTIONS:
        through_index, without = both_ways(scene.root, *words, now=LATER)
        assert through_index == without, words
        assert (without.exit, through_index.notes) == (0, ""), words
    check_health(scene, force)
    assert canon(scene.root) == scene.canon


def check_adoption(scene: Scene, force: str) -> None:
    """Only what was adopted before, or by this act, answers; it goes on to, unless this act withdraws it."""
    status = json.loads(say(scene.root, "index", "status", now=LATER).output)["data"]
    indexes = json.loads(say(scene.root, "status", now=LATER).output)["data"]["indexes"]
    assert status["answers"] == bool(indexes)
    adoption = index_files(scene.root).get("adoption.json")
    if scene.act.words == DROP:
        assert not status["answers"] or scene.act.is_adopted_before
    elif scene.act.words == ADOPT:
        assert status["answers"] == (scene.act.is_adopted_before or (force == "new" and adoption is not None))
    else:
        assert status["answers"] == scene.act.is_adopted_before
    assert adoption in (scene.before.get("adoption.json"), scene.after.get("adoption.json"))
    assert adoption is None or force != "none", "the next index would be taken for an adopted one"


def check_health(scene: Scene, force: str) -> None:
    """The auditor finds nothing but that the notes have changed since, where the old index is in force."""
    report = run("--memory-root", scene.root, "--now", str(LATER), "--no-write", "--json").report
    found = [finding["id"] for finding in report["findings"] if finding["check"] == "index"]
    assert found == (["index-integrity-mismatch"] if force == "old" else [])


def check_again(scene: Scene) -> None:
    """The same act again leaves what one undisturbed act leaves, and nothing is left over."""
    again = scene.do()
    assert again.exit == 0, again.output
    assert left(scene.memory) == scene.clean
    assert staged_files(scene.memory) == [], "a staged file was left"
    check_end(scene)


def check_end(scene: Scene) -> None:
    """The act is through, and the audit knows it."""
    force = in_force(scene)
    assert force in scene.act.leaves - {"old"}
    check_adoption(scene, force)
    check_health(scene, force)
    assert canon(scene.root) == scene.canon
    check_audit(scene)


def check_audit(scene: Scene) -> None:
    """The audit says of every file what became of it; of a file that a tick passes by, once a refresh comes by it."""
    if scene.act.words == TICK:
        assert scene.do(REFRESH).exit == 0
    last = {row["path"]: row for row in scene.memory.rows("memory-writes.jsonl")}
    assert [path for path, row in last.items() if row["state"] == "intent"] == []


def first_of(scene: Scene, step: int) -> int:
    """Return the number of the operation that a sample begins at."""
    return 8 * list(ACTS).index(scene.name) % step


def every_stop(scene: Scene, step: int) -> int:
    """Stop the act at every operation, or every so many; return how often that was."""
    count = 0
    while True:
        put_back(scene)
        if not stopped_at(first_of(scene, step) + count * step, scene.do):
            return count
        check_state(scene)
        check_again(scene)
        count += 1


def test_an_act_that_is_stopped_at_some_operation_leaves_the_old_index_the_new_one_or_none(scene):
    assert every_stop(scene, scene.sample_step) > 0


@pytest.mark.proof
def test_an_act_that_is_stopped_at_any_operation_leaves_the_old_index_the_new_one_or_none(scene):
    assert every_stop(scene, 1) > 20


def every_refusal(scene: Scene, error: int, step: int, *, short: bool = False) -> int:
    """Let every operation be refused, or every so many; return how often that was."""
    count = 0
    while True:
        put_back(scene)
        came, answer = refused_at(first_of(scene, step) + count * step, error, scene.do, short=short)
        if not came:
            return count
        check_answer(answer, scene)
        check_state(scene)
        check_again(scene)
        count += 1


def check_answer(answer: Spoken, scene: Scene) -> None:
    """A disk that refuses leads to an explained refusal, or to a success with a warning; nothing is left staged.

    The file by which the clock is looked at may stay where it is its removal that is refused; it is empty.
    """
    envelope = json.loads(answer.output)
    if answer.exit == 0:
        assert envelope["data"]["warnings"], "nothing was said of it"
        assert scene.act.words != TICK or envelope["data"]["index"] in ("refreshed", "refused")
    else:
        assert (answer.exit, envelope["error"]["code"]) == (5, "governance_refused")
    staged = [path for path in scene.memory.home.rglob(".cortex-*.tmp") if path.stat().st_size]
    assert staged == [], "a staged file was left"


def test_a_disk_that_refuses_some_operation_leads_to_an_explained_refusal_or_a_warning(scene):
    assert every_refusal(scene, errno.ENOSPC, scene.sample_step) > 0


def test_a_disk_that_is_full_in_the_middle_of_a_write_leaves_no_part_of_it(scene):
    assert every_refusal(scene, errno.ENOSPC, scene.sample_step // 4, short=True) > 0


@pytest.mark.proof
def test_a_disk_that_refuses_any_operation_leads_to_an_explained_refusal_or_a_warning(scene):
    assert every_refusal(scene, errno.ENOSPC, 1) > 20


@pytest.mark.proof
def test_an_operation_that_fails_otherwise_leads_to_an_explained_refusal_or_a_warning(scene):
    assert every_refusal(scene, errno.EIO, 5) > 4


@pytest.mark.proof
def test_a_disk_that_is_full_in_the_middle_of_any_write_leaves_no_part_of_it(scene):
    assert every_refusal(scene, errno.ENOSPC, 1, short=True) > 2


def every_power_failure(scene: Scene, folder: Path, step: int) -> int:
    put_back(scene)
    tree, remains = folder / "tree", folder / "left"
    shutil.copytree(scene.memory.home, tree)
    steps = recorded(scene.do)
    done_with = index_files(scene.root)
    for number in (*range(first_of(scene, step), len(steps), step), len(steps)):
        for names_survive in (False, True):
            failure = PowerFailure(tree, scene.memory.home)
            for done in steps[:number]:
                failure.do(done)
            shutil.rmtree(remains, ignore_errors=True)
            (remains / "MEMORY").mkdir(parents=True)
            failure.leave(remains, names_survive=names_survive)
            memory = Memory(remains / "MEMORY", remains)
            assert number < len(steps) or index_files(memory.root) == done_with, "what was done did not outlive it"
            check_after_power_failure(scene, memory)
    return len(steps)


def check_after_power_failure(scene: Scene, memory: Memory) -> None:
    for path in memory.home.rglob(".cortex-*"):  # a machine may forget that it was writing; nobody reads these
        path.unlink()
    found = canon(memory.root)
    assert {name: file.data for name, file in found.items()} == {name: file.data for name, file in scene.canon.items()}
    there = scene._replace(memory=memory, canon=found)
    check_state(there)
    again = there.do()
    assert again.exit == 0, again.output
    assert left(memory).keys() == scene.clean.keys()
    check_end(there)


def test_a_power_failure_after_some_operation_leaves_the_old_index_the_new_one_or_none(scene, tmp_path):
    assert every_power_failure(scene, tmp_path, 2 * scene.sample_step) > 20


@pytest.mark.proof
def test_a_power_failure_after_every_third_operation_leaves_the_old_index_the_new_one_or_none(scene, tmp_path):
    assert every_power_failure(scene, tmp_path, 3) > 20


def kill_at_random(scene: Scene, kills: int) -> None:
    """Do the act over and over, and kill it at a random moment, so often."""
    choose = random.Random(scene.name)
    for _ in range(kills):
        put_back(scene)
        kill_after(choose.uniform(0, LONGEST_S), scene.do)
        check_state(scene)
        check_again(scene)


def kill_after(seconds: float, call: Callable[[], object]) -> None:
    """Kill a child that makes a call over and over, so long after it began to."""
    child = os.fork()
    if child == 0:
        try:
            while True:
                call()
        finally:
            os._exit(1)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1]), "the call itself failed"


def test_an_act_that_is_killed_at_a_random_moment_is_taken_up_by_the_next_one(scene):
    kill_at_random(scene, 1)


@pytest.mark.proof
def test_an_act_that_is_killed_at_many_random_moments_is_taken_up_by_the_next_one(scene):
    kill_at_random(scene, 30)
