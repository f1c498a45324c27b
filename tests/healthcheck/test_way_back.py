"""The way back: every finding of the catalogue is made on a green memory, and what its way back says leads to green."""

import json
import os
import re
import resource
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from support import damage, indexes
from support.health_tree import DAY, HOUR, NOW, retrieval_row, reviewer_row, run_id, set_time, write_h0, write_rows
from support.labels import asking, encode
from support.memories import Places, manifest_of
from support.running import Run, run
from support.stores import OPERATOR, PROPOSAL, RULE, Memory

from cortex.index.layout import blocks_of
from healthcheck.checks import CATALOGUE
from policies.timestamps import format_instant

REVIEWER, RETRIEVAL, QUEUE = "reviewer-runs.jsonl", "memory-retrievals.jsonl", "pending-proposals.jsonl"
STALE = "retrieval::retrieval-stale"


class World:
    """A memory, and how it is judged."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.places = Places(write_h0(folder / "R"))
        self.now = NOW
        self.root = self.places.root
        self.arguments: list[str] = ["--no-write"]
        self.environment: dict[str, str] = {}
        self.memory = Memory(self.places.memory_root, self.places.home, NOW)

    def health(self, *more: str) -> Run:
        arguments = [*self.arguments, *more] or ["--json"]
        clock = [] if "CORTEX_HEALTH_NOW" in self.environment else ["--now", str(self.now)]
        return run("--root", self.root, *clock, *arguments, environment=self.environment)

    def cortex(self, *words: str) -> None:
        said = self.memory.call(*words, *OPERATOR)
        assert said.envelope["ok"], said.envelope["error"]
        self.settle()

    def log(self, name: str) -> Path:
        return self.places.observability / name

    def append(self, name: str, line: dict[str, Any] | str) -> None:
        with self.log(name).open("a", encoding="utf-8") as file:
            file.write((line if isinstance(line, str) else json.dumps(line)) + "\n")
        set_time(self.log(name), self.now)

    def settle(self) -> None:
        """What was written just now was written by the clock of this world."""
        for path in self.places.observability.rglob("*"):
            set_time(path, self.now)

    def wait(self, _: object = None) -> None:
        self.now += 2 * HOUR

    def review(self, _: object = None) -> None:
        self.append(REVIEWER, reviewer_row(self.now + HOUR))

    def ask(self, _: object = None) -> None:
        self.append(RETRIEVAL, retrieval_row(self.now))

    def index(self, command: str, age: int = 0) -> None:
        """Run a command of the index, by a clock that shows the time so long before this world's."""
        self.cortex("index", command, "--now", format_instant(self.now - age))

    def adopt(self, age: int = HOUR) -> None:
        """Adopt an index of another tool."""
        self.places.manifest.parent.mkdir(exist_ok=True)
        self.places.index.write_bytes(b"index")
        self.places.manifest.write_text(json.dumps(manifest_of(self.places, 0, age)), encoding="utf-8")


Step = Callable[[World], object]


def steps(*all_of_them: Step) -> Step:
    def step(world: World) -> None:
        for one in all_of_them:
            one(world)

    return step


def append(name: str, line: dict[str, Any] | str) -> Step:
    return lambda world: world.append(name, line)


def rewrite(name: str, *rows: dict[str, Any]) -> Step:
    return lambda world: write_rows(world.log(name), rows, world.now)


def mend(*words: str) -> Step:
    return lambda world: world.cortex("mend", *words)


def remove(path: Callable[[World], Path]) -> Step:
    return lambda world: path(world).unlink()


def init(world: World) -> None:
    world.cortex("init", str(world.memory.root))


def other_log(name: str, age: int = 0, size: int = 0) -> Step:
    def step(world: World) -> None:
        world.log(name).touch()
        os.truncate(world.log(name), size)
        set_time(world.log(name), world.now - age)

    return step


def compress(name: str) -> Step:
    return lambda world: world.log(name).rename(world.log(f"{name}.gz"))


def aside(path: Callable[[World], Path]) -> Step:
    return lambda world: path(world).rename(world.folder / "aside")


def restored(path: Callable[[World], Path]) -> Step:
    def step(world: World) -> None:
        place = path(world)
        place.unlink() if place.is_symlink() else place.rmdir()
        (world.folder / "aside").rename(place)

    return step


def search(world: World) -> None:
    assert world.memory.call("search", "tide", "--record").envelope["ok"]
    world.settle()


def propose_many(world: World) -> None:
    rewrite(QUEUE)(world)
    for number in range(11):
        assert world.memory.propose(PROPOSAL | {"edit": f"Slack {number}: the hour in which it stands."}).envelope["ok"]
    world.settle()


def decide_one(world: World) -> None:
    first = json.loads(world.log(QUEUE).read_bytes().splitlines()[0])
    assert world.memory.decide(first["id"], "reject").envelope["ok"]
    world.settle()


def hot_file(world: World) -> Path:
    path = world.places.home / "USER" / "PRINCIPAL" / "PRINCIPAL_MEMORY.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def hot_entries(count: int) -> Step:
    lines = "".join(f"RULE: number {number}\n" for number in range(count))
    text = f"<!-- BEGIN ENTRIES -->\n{lines}<!-- END ENTRIES -->\n"
    return lambda world: hot_file(world).write_text(text, encoding="utf-8")


def without_markers(world: World) -> None:
    hot_file(world).write_text("RULE: answer first\n", encoding="utf-8")


def remember(world: World) -> None:
    assert world.memory.remember(RULE | {"content": "RULE: then ask"}).envelope["ok"]
    world.settle()


def unsound(world: World) -> Path:
    return world.places.memory_root / "KNOWLEDGE" / "a.md"


def link_a_note(world: World) -> None:
    unsound(world).parent.mkdir()
    unsound(world).symlink_to("elsewhere")


def mark_long_ago(world: World) -> None:
    note = world.places.memory_root / "KNOWLEDGE" / "old.md"
    note.parent.mkdir()
    header = "level: L3\ncreated: 2020-01-01\narchive_pending: true\narchive_marked_at: 2026-06-01T00:00:00Z\n"
    note.write_text(f"---\nid: old\n{header}---\nold\n", encoding="utf-8")


def archive(world: World) -> None:
    assert world.memory.call("archive", "--operator", "me", "--allow-write").envelope["ok"]
    world.settle()


def written(world: World) -> None:
    world.arguments = []


def lose_a_row(world: World) -> None:
    written(world)
    world.ask()
    world.health("--json")
    rewrite(RETRIEVAL, retrieval_row())(world)


def ledger(world: World) -> Path:
    return world.places.memory_root / "CORTEX" / "noise.json"


def damage_ledger(world: World) -> None:
    ledger(world).parent.mkdir()
    ledger(world).write_bytes(b"")


def noise(*words: str) -> Step:
    def step(world: World) -> None:
        assert world.health("noise", *words).exit_code == 0

    return step


def let_a_silence_run_out(world: World) -> None:
    written(world)
    rewrite(RETRIEVAL, retrieval_row(NOW - 2 * DAY))(world)
    world.health("--json")
    noise("silence", STALE, "--reason", "x", "--until", "2026-08-10T13:00:00Z")(world)
    world.wait()


def variable(name: str, value: str) -> Step:
    return lambda world: world.environment.update({name: value})


def unset(world: World) -> None:
    world.environment.clear()


def policy(world: World) -> Path:
    return world.places.home / "CORTEX_HEALTH_POLICY.json"


def output(option: str, name: str) -> Step:
    return lambda world: world.arguments.extend([option, str(world.folder / "missing" / name)])


def make_folder(world: World) -> None:
    (world.folder / "missing").mkdir()


def misname_root(world: World) -> None:
    world.root = world.folder / "nowhere"


def name_root(world: World) -> None:
    world.root = world.places.root


def crash(world: World) -> None:
    """A note's folder whose listing makes the interpreter fail: a fault of the run, not of the memory."""
    (world.places.memory_root / "KNOWLEDGE").mkdir()
    scandir = os.scandir

    def failing(*_: Any) -> Any:
        raise RuntimeError

    world.undo = lambda: setattr(os, "scandir", scandir)  # type: ignore[attr-defined]
    os.scandir = failing  # type: ignore[assignment]


def undo(world: World) -> None:
    world.undo()  # type: ignore[attr-defined]


def garble_history(world: World) -> None:
    written(world)
    world.places.history.write_bytes(b"no row\n")


def fill_disk(world: World) -> None:
    """A limit on file sizes stands in for a full disk."""
    written(world)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    sys.dont_write_bytecode = True  # half a module's bytecode would break every later run
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, before[1]))

    def free() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)

    world.undo = free  # type: ignore[attr-defined]


def manifest(world: World) -> Path:
    return world.places.manifest


def table(world: World) -> Path:
    return manifest(world).with_name(json.loads(manifest(world).read_bytes())["index_path"])


def blocks(world: World) -> Path:
    return table(world).with_name(blocks_of(table(world).name))


def marker(world: World) -> Path:
    return world.places.marker


def note(world: World) -> Path:
    return world.places.memory_root / "KNOWLEDGE" / "tide.md"


def write_note(text: str) -> Step:
    def step(world: World) -> None:
        note(world).parent.mkdir(exist_ok=True)
        note(world).write_text(f"---\nid: tide\ncreated: 2026-08-01\n---\n{text}\n", encoding="utf-8")

    return step


def built(*damages: Step, age: int = 0) -> Step:
    """A memory of one note with an index of it, built by the command; then what happened to it."""
    return steps(write_note("One hand is enough."), lambda world: world.index("build", age), *damages)


def adopted(*damages: Step) -> Step:
    """The same, and the index answers."""
    return steps(
        write_note("One hand is enough."),
        lambda world: indexes.adopt(world.memory.root, now=world.now),
        World.settle,
        *damages,
    )


def benchmark_report(world: World) -> str:
    """Write labels and a report of the benchmark by them; return the report's path."""
    labels, report = world.folder / "labels.jsonl", world.folder / "report.json"
    labels.write_bytes(encode(asking("q1", "hand", "tide")))
    said = world.memory.call("benchmark", "--labels", str(labels), "--no-index")
    report.write_text(json.dumps(said.data), encoding="utf-8")
    return str(report)


def garble(path: Callable[[World], Path]) -> Step:
    return lambda world: damage.overwrite(b"{")(path(world))


def lengthen(path: Callable[[World], Path]) -> Step:
    return lambda world: damage.append(b"\0")(path(world))


def build(world: World) -> None:
    world.index("build")


def refresh(world: World) -> None:
    world.index("refresh")


def drop(world: World) -> None:
    world.index("drop")


def tick(world: World) -> None:
    world.cortex("sleep", "config", "index_refresh", "true")
    world.cortex("sleep", "tick", "--now", format_instant(world.now))


FAILED = {"ts": retrieval_row()["ts"], "ok": False, "parse_ok": True, "runId": run_id(NOW), "error": "no answer"}
GARBAGE = "no row at all"
# Each finding: what makes it, and the way back. Where only time or a new run helps, that is the way back.
WAYS: dict[str, tuple[Step, Step]] = {
    "reviewer-latest-failed": (append(REVIEWER, FAILED), World.review),
    "reviewer-latest-parse-failed": (append(REVIEWER, GARBAGE), mend(REVIEWER)),
    "reviewer-latest-timed-out": (
        lambda world: (world.log("reviewer-runs") / run_id(NOW - HOUR // 2)).mkdir(parents=True), World.review,
    ),
    "reviewer-evidence-invalid": (append(REVIEWER, {"odd": 1}), mend(REVIEWER, "--row", "2")),
    "reviewer-evidence-missing": (remove(lambda world: world.log(REVIEWER)), World.review),
    "reviewer-future": (append(REVIEWER, reviewer_row(NOW + 2 * HOUR)), World.wait),
    "reviewer-stale": (rewrite(REVIEWER, reviewer_row(NOW - 8 * DAY)), World.review),
    "retrieval-missing": (rewrite(RETRIEVAL), search),
    "retrieval-evidence-malformed": (append(RETRIEVAL, GARBAGE), mend(RETRIEVAL)),
    "retrieval-evidence-invalid": (
        steps(aside(lambda world: world.log(RETRIEVAL)), lambda world: world.log(RETRIEVAL).mkdir()),
        restored(lambda world: world.log(RETRIEVAL)),
    ),
    "retrieval-future": (append(RETRIEVAL, retrieval_row(NOW + HOUR)), World.wait),
    "retrieval-stale": (rewrite(RETRIEVAL, retrieval_row(NOW - 2 * DAY)), World.ask),
    "proposal-evidence-missing": (remove(lambda world: world.log(QUEUE)), init),
    "proposal-evidence-malformed": (append(QUEUE, {"id": "p2"}), mend(QUEUE)),
    "proposal-backlog-high": (propose_many, decide_one),
    "observability-evidence-missing": (
        lambda world: [world.log(name).unlink() for name in (REVIEWER, RETRIEVAL, QUEUE)],
        steps(World.review, World.ask, rewrite(QUEUE)),
    ),
    "observability-evidence-invalid": (
        steps(
            aside(lambda world: world.places.observability),
            lambda world: world.places.observability.symlink_to(world.folder / "aside"),
        ),
        restored(lambda world: world.places.observability),
    ),
    "observability-bytes-exceeded": (other_log("a.log", size=(256 << 20) + 1), compress("a.log")),
    "observability-age-exceeded": (other_log("a.log", age=31 * DAY), compress("a.log")),
    "observability-future": (other_log("a.log", age=-HOUR), World.wait),
    "hot-memory-markers": (without_markers, remember),
    "hot-memory-near-cap": (hot_entries(46), hot_entries(45)),
    "retention-archive-overdue": (mark_long_ago, archive),
    "corpus-unsound": (link_a_note, remove(unsound)),
    "evidence-vanished": (lose_a_row, mend(RETRIEVAL, "--accept-loss")),
    "noise-ledger-damaged": (damage_ledger, noise("clear")),
    "noise-silence-expired": (let_a_silence_run_out, steps(noise("unsilence", STALE), World.ask)),
    "health-root-invalid": (misname_root, name_root),
    "health-clock-invalid": (variable("CORTEX_HEALTH_NOW", "soon"), unset),
    "cortex-threshold-invalid": (variable("CORTEX_INDEX_STALE_MS", "7d"), unset),
    "health-policy-invalid": (lambda world: policy(world).write_bytes(b"[]"), remove(policy)),
    "health-internal-error": (crash, undo),
    "textfile-write-failed": (output("--textfile", "m.prom"), make_folder),
    "report-write-failed": (output("--report", "r.json"), make_folder),
    "health-history-unreadable": (garble_history, aside(lambda world: world.places.history)),
    "health-history-write-failed": (fill_disk, undo),
}  # fmt: skip


class Fault(NamedTuple):
    """One of the ways in which an index comes to a finding, and every way back from there."""

    finding: str
    name: str
    broken: Step
    ways_back: tuple[Step, ...]


# The findings of the index are reached and left by its commands; an index of another tool by that tool.
INDEX_FAULTS = (
    Fault("index-manifest-invalid", "manifest garbled", built(garble(manifest)), (build, refresh, drop)),
    Fault("index-manifest-invalid", "table gone", built(remove(table)), (build, refresh, drop)),
    Fault("index-manifest-invalid", "blocks gone", built(remove(blocks)), (build, refresh, drop)),
    Fault("index-manifest-invalid", "blocks garbled", built(garble(blocks)), (build, refresh, drop)),
    Fault("index-manifest-invalid", "blocks longer", adopted(lengthen(blocks)), (build, refresh, drop)),
    Fault("index-manifest-invalid", "marker garbled", garble(marker), (build, drop)),
    Fault(
        "index-manifest-invalid", "manifest a folder", built(lambda world: damage.replace_by_folder(manifest(world))),
        tuple(steps(lambda world: manifest(world).rmdir(), way) for way in (build, drop)),
    ),
    Fault(
        "index-manifest-invalid", "notes not readable", built(lambda world: note(world).write_bytes(b"\xff")),
        (drop, *(steps(remove(note), way) for way in (build, refresh))),
    ),
    Fault(
        "index-manifest-invalid", "of another tool, manifest garbled", steps(World.adopt, garble(manifest)),
        (World.adopt, build, drop),
    ),
    Fault("index-integrity-mismatch", "note changed", built(write_note("Two hands.")), (refresh, build, drop)),
    Fault("index-integrity-mismatch", "note gone", built(remove(note)), (refresh, build, drop)),
    Fault("index-integrity-mismatch", "note changed, answers", adopted(write_note("Two.")), (refresh, tick, drop)),
    Fault("index-integrity-mismatch", "table garbled", built(garble(table)), (refresh, build, drop)),
    Fault("index-integrity-mismatch", "table longer", adopted(lengthen(table)), (refresh, build, drop)),
    Fault(
        "index-integrity-mismatch", "of another tool, index garbled",
        steps(World.adopt, garble(lambda world: world.places.index)), (World.adopt, build, refresh, drop),
    ),
    Fault("index-freshness-invalid", "built by a clock ahead", built(age=-HOUR), (World.wait, refresh, build, drop)),
    Fault(
        "index-freshness-invalid", "of another tool", lambda world: world.adopt(-HOUR), (World.wait, World.adopt, drop),
    ),
    Fault("index-stale", "built eight days ago", built(age=8 * DAY), (refresh, build, drop)),
    Fault("index-stale", "of another tool", lambda world: world.adopt(8 * DAY), (World.adopt, drop)),
    Fault("index-evidence-missing", "marker gone", remove(marker), (init, drop, build)),
    Fault("index-evidence-missing", "manifest gone", built(remove(manifest)), (init, drop, build)),
)  # fmt: skip


@contextmanager
def restored_process() -> Iterator[None]:
    """Whatever a step did to this process is undone."""
    bytecode = sys.dont_write_bytecode
    scandir, limit, handler = os.scandir, resource.getrlimit(resource.RLIMIT_FSIZE), signal.getsignal(signal.SIGXFSZ)
    try:
        yield
    finally:
        os.scandir = scandir
        sys.dont_write_bytecode = bytecode
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, handler)


def leads_to_green(folder: Path, finding: str, broken: Step, way_back: Step) -> None:
    world = World(folder)
    assert world.health("--json").exit_code == 0
    with restored_process():
        broken(world)
        answer = world.health("--json")
        assert finding in answer.finding_ids
        way_back(world)
        answer = world.health("--json")
    assert (answer.exit_code, answer.finding_ids) == (0, [])


def test_the_whole_catalogue_is_here() -> None:
    of_the_index = {fault.finding for fault in INDEX_FAULTS}
    assert of_the_index == {name for name, spec in CATALOGUE.items() if spec.check == "index"}
    assert WAYS.keys() | of_the_index == CATALOGUE.keys()


@pytest.mark.parametrize("finding", WAYS)
def test_its_way_back_leads_from_a_finding_to_green(finding: str, tmp_path: Path) -> None:
    leads_to_green(tmp_path, finding, *WAYS[finding])


@pytest.mark.parametrize(
    ("fault", "way_back"),
    [
        pytest.param(fault, way_back, id=f"{fault.finding}, {fault.name}, {way_back.__name__}")
        for fault in INDEX_FAULTS
        for way_back in fault.ways_back
    ],
)
def test_every_way_back_leads_from_a_finding_of_the_index_to_green(
    fault: Fault, way_back: Step, tmp_path: Path
) -> None:
    leads_to_green(tmp_path, fault.finding, fault.broken, way_back)


def test_every_command_that_a_way_back_of_the_index_names_is_proven() -> None:
    proven: dict[str, set[str]] = {finding: set() for finding in CATALOGUE}
    for fault in INDEX_FAULTS:
        proven[fault.finding] |= {way_back.__name__ for way_back in fault.ways_back}
    for name, spec in CATALOGUE.items():
        if spec.check == "index":
            named = re.findall(r"`cortex (?:index |sleep )?(\w+)[^`]*--operator NAME --allow-write`", spec.way_back)
            assert named
            assert set(named) <= proven[name], name


def test_an_index_is_built_adopted_left_behind_refreshed_and_dropped_by_command(tmp_path: Path) -> None:
    world = World(tmp_path)
    write_note("One hand is enough.")(world)

    def seen() -> tuple[int, list[str], str, bool]:
        """Return the verdict, its findings, the state of the index, and whether it is of the notes as they are."""
        answer = world.health("--json")
        index = answer.report["evidence"]["index"]
        is_of_them = index.get("canonical_sha256") == index.get("measured_canonical_sha256")
        return answer.exit_code, answer.finding_ids, index["state"], is_of_them

    def asked() -> tuple[list[str], list[str], int]:
        """Return what two queries find, and through how many indexes."""
        hand, many = (world.memory.call("search", query).data["items"] for query in ("hand", "many"))
        through = world.memory.call("status").data["indexes"]
        return [item["id"] for item in hand], [item["id"] for item in many], len(through)

    world.cortex("index", "build", "--adopt", benchmark_report(world))
    assert (seen(), asked()) == ((0, [], "adopted", True), (["tide"], [], 1))
    write_note("Two of them are one too many.")(world)
    assert (seen(), asked()) == ((2, ["index-integrity-mismatch"], "adopted", False), ([], ["tide"], 1))
    world.cortex("index", "refresh")
    assert (seen(), asked()) == ((0, [], "adopted", True), ([], ["tide"], 1))
    world.cortex("index", "drop")
    assert (seen(), asked()) == ((0, [], "no-index", True), ([], ["tide"], 0))
