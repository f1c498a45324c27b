"""What is answered is the same with an index and without one, byte for byte, whatever has become of files and index.

An `Identity` is a memory to which things happen, one after another. After each of them the same questions are put to it
through the index and without it. What an index says that was made to mislead, with every hash right, may misplace
what is found; the properties at the end say what it cannot do.
"""

import json
import os
import re
import shutil
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from support.corpora import (
    DRAFTS,
    FOLDERS,
    HOT,
    LOG_DRAFTS,
    LOGS,
    NOTES,
    ODD_FILES,
    QUESTIONS,
    SECRET,
    TURNED,
    UNSOUND,
    Draft,
    Log,
    Question,
    Ref,
    corpus_files,
)
from support.indexes import NOTE, Spoken, adopt, both_ways, say
from support.nobody import as_nobody, give_to_nobody, open_folder, skip_where_modes_do_not_bind
from support.stores import OPERATOR

from cortex.corpus import reader
from cortex.corpus.markdown import parse_note
from cortex.errors import CortexError
from cortex.index import memory as indexed_memory
from cortex.index import postings
from cortex.index.layout import TABLES
from cortex.index.lexical import fingerprint

FEW = settings(
    max_examples=8, stateful_step_count=20, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
MANY = settings(max_examples=60, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck))
HOUR_NS: Final = 3_600 * 10**9
YEAR_NS: Final = 365 * 24 * HOUR_NS
# Put after every step, beside what is drawn; one on the very bounds of what is valid and of what is let through.
STANDING: Final = (
    ("search", "oak 桥 elm", "--page-size", "100"),
    ("search", f"Ünal {SECRET} fir", "--recency", "1"),
    ("search", "oak", "--from", "2026-01-02", "--to", "2026-01-02T10:00:00+02:00", "--now", "2026-08-05"),
    ("timeline", "--anchor", "2026-01-02", "--before", "100", "--after", "100"),
)
LAYOUTS: Final = ("KNOWLEDGE", "MEMORY/KNOWLEDGE", "")
NUMBERS = st.integers(0, 11)
ASKED = st.lists(QUESTIONS, max_size=3)


@pytest.fixture(autouse=True)
def _fsync_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)


def same_both_ways(root: Path, *words: str) -> tuple[Spoken, Spoken]:
    """Make a call through the index and without it; the answers are the same. Return both."""
    indexed, plain = both_ways(root, *words)
    assert plain.notes == ""
    assert indexed.notes == "" or indexed.notes.startswith(NOTE)
    if words[0] == "status" and plain.exit == 0:
        assert without_indexes(indexed) == without_indexes(plain)
    else:
        assert (indexed.output, indexed.exit) == (plain.output, plain.exit)
    return indexed, plain


def without_indexes(said: Spoken) -> str:
    """Return what a status says, in its order, but for the indexes."""
    envelope: dict[str, Any] = json.loads(said.output)
    envelope["data"].pop("indexes")
    return json.dumps(envelope)


def indexes_of(root: Path) -> list[dict[str, Any]]:
    """Return the indexes that `status` names."""
    indexes: list[dict[str, Any]] = json.loads(say(root, "status").output)["data"]["indexes"]
    return indexes


def turned(data: bytes) -> bytes:
    """Return other bytes of the same size, where there is a word that can be turned into another."""
    return re.sub(rb"oak|elm|fir", lambda found: TURNED[found[0]], data)


def restore_mtime(path: Path, mtime_ns: int) -> None:
    """Set a time of modification back to what it was."""
    os.utime(path, ns=(mtime_ns, mtime_ns))


def now_of(folder: Path) -> int:
    """Return what the clock of a file system says, in nanoseconds since 1970."""
    probe = folder / ".probe"
    probe.write_bytes(b"")
    now = probe.stat().st_mtime_ns
    probe.unlink()
    return now


class Parts(NamedTuple):
    """The files of an index."""

    manifest: Path
    table: Path
    blocks: Path
    adoption: Path


def parts_of(root: Path) -> Parts:
    """Return the files of the index of a memory, the only one there."""
    folder = root / "INDEX"
    name = "lexical-2" if (folder / "lexical-2.json").exists() else "lexical-1"
    places = ("index-manifest.json", f"{name}.json", f"{name}.blocks", "adoption.json")
    return Parts(*[folder / place for place in places])


class Spot(NamedTuple):
    """Where a damage is done, and what it writes: numbers that are counted round."""

    place: int
    offset: int
    change: int


SPOTS = st.builds(Spot, st.integers(0, 63), st.integers(0, 4095), st.integers(1, 255))
Damage = Callable[[Path, Spot], None]


def flip(path: Path, spot: Spot) -> None:
    """Change one byte."""
    data = bytearray(path.read_bytes())
    if data:
        data[(spot.place * 4096 + spot.offset) % len(data)] ^= spot.change
        path.write_bytes(data)


def truncate(path: Path, spot: Spot) -> None:
    """Cut it off somewhere."""
    os.truncate(path, (spot.place * 4096 + spot.offset) % max(1, path.stat().st_size))


def empty(path: Path, _: Spot) -> None:
    """Leave no byte."""
    path.write_bytes(b"")


def append(path: Path, spot: Spot) -> None:
    """Put bytes at its end."""
    path.write_bytes(path.read_bytes() + bytes([spot.change]) * (1 + spot.offset % 9))


def shift(path: Path, spot: Spot) -> None:
    """Put a byte at its beginning."""
    path.write_bytes(bytes([spot.change]) + path.read_bytes())


def swell(path: Path, _: Spot) -> None:
    """Make it larger than a small document may be, with blanks."""
    path.write_bytes(path.read_bytes() + b" " * (1 << 20))


def deepen(path: Path, _: Spot) -> None:
    """Put more brackets in its place than a reader of JSON goes down."""
    path.write_bytes(b"[" * 100_000)


def link(path: Path, _: Spot) -> None:
    """Move it aside and leave a link to it."""
    aside = path.with_name("aside")
    path.rename(aside)
    path.symlink_to(aside)


def become_fifo(path: Path, _: Spot) -> None:
    """Put a FIFO in its place."""
    path.unlink()
    os.mkfifo(path)


def become_folder(path: Path, _: Spot) -> None:
    """Put a folder in its place."""
    path.unlink()
    path.mkdir()


def remove(path: Path, _: Spot) -> None:
    """Take it away."""
    path.unlink()


def change_field(path: Path, spot: Spot) -> None:
    """Give one field of a JSON object another value, or none, or a second one."""
    with suppress(ValueError, AttributeError, RecursionError):
        value = json.loads(path.read_bytes())
        key = sorted(value)[spot.place % len(value)]
        others = ("", "x", 1, None, [], {}, *TABLES, "../a.md", "2026-08-01", f"{value[key]}0")
        changes = [{**value, key: other} for other in others] + [{**value, "more": "x"}]
        changes += [{name: value[name] for name in value if name != key}]
        text = json.dumps(changes[spot.offset % len(changes)])
        path.write_text(f'{{"{key}": "x", {text[1:]}' if spot.change > 240 else text, encoding="utf-8")


def flip_in_block(path: Path, spot: Spot) -> None:
    """Change one byte of one block, a section or postings; where no table says which there are, any byte."""
    try:
        table = json.loads(path.with_suffix(".json").read_bytes() if path.with_suffix(".json").is_file() else b"")
        blocks = [(offset, size) for offset, size, _ in table["sections"].values() if size]
        blocks += [(offset, size) for _, offset, size, _ in table["terms"]]
        data = bytearray(path.read_bytes())
        offset, size = blocks[spot.place % len(blocks)]
        data[offset + spot.offset % size] ^= spot.change
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, ZeroDivisionError, IndexError):
        flip(path, spot)
    else:
        path.write_bytes(data)


BYTES: Final[tuple[Damage, ...]] = (flip, truncate, empty, append, shift)
PLACES: Final[tuple[Damage, ...]] = (link, become_fifo, become_folder, remove)
DAMAGES: Final[dict[str, tuple[Damage, ...]]] = {
    "manifest": (*BYTES, *PLACES, change_field, change_field, change_field, swell, deepen),
    "table": (*BYTES, *PLACES, change_field, deepen),
    "blocks": (*BYTES, *PLACES, flip_in_block, flip_in_block, flip_in_block),
    "adoption": (*BYTES, *PLACES, change_field, swell),
}
ALL_DAMAGES: Final = [(part, damage) for part, damages in DAMAGES.items() for damage in damages]


class Identity(RuleBasedStateMachine):
    """A memory to which things happen, and what is to be known of its index."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(mkdtemp(prefix="cortex-identity-")).resolve()
        self.layout = "KNOWLEDGE"
        self.ids: list[str] = []
        self.serial = 0
        self.known: dict[str, tuple[int, int, int, int]] = {}  # what the index may rely on
        self.is_adopted = False
        self.is_damaged = False
        self.blemish: Path | None = None

    def teardown(self) -> None:
        shutil.rmtree(self.root)

    @initialize(
        layout=st.sampled_from(LAYOUTS),
        notes=st.dictionaries(st.sampled_from(NOTES), DRAFTS, min_size=1, max_size=5),
        logs=st.dictionaries(st.sampled_from(LOGS), LOG_DRAFTS, max_size=2),
        asked=ASKED,
    )
    def begin(self, layout: str, notes: dict[str, Draft], logs: dict[str, Log], asked: list[Question]) -> None:
        self.layout = layout
        self.top.mkdir(parents=True, exist_ok=True)
        for name, draft in notes.items():
            self._put_note(self.top / name, draft)
        for name, log in logs.items():
            self._put(self.top / name, log.text(*self._claim(*log.rows)))
        self._adopt(reuse=False)
        self._ask(asked)

    # What happens to files.

    @rule(name=st.sampled_from(NOTES), draft=DRAFTS, asked=ASKED)
    def a_note_is_written(self, name: str, draft: Draft, asked: list[Question]) -> None:
        self._put_note(self.top / name, draft)
        self._ask(asked)

    @rule(name=st.sampled_from(LOGS), log=LOG_DRAFTS, asked=ASKED)
    def a_log_is_written(self, name: str, log: Log, asked: list[Question]) -> None:
        self._put(self.top / name, log.text(*self._claim(*log.rows)))
        self._ask(asked)

    @rule(name=st.sampled_from(LOGS), draft=DRAFTS, asked=ASKED)
    def a_row_is_added(self, name: str, draft: Draft, asked: list[Question]) -> None:
        path = self.top / name
        before = path.read_bytes() if path.is_file() else b""
        self._put(path, before + b"\n" + draft.row(*self._claim(draft)).encode())
        self._ask(asked)

    @rule(name=st.sampled_from(HOT), draft=DRAFTS, asked=ASKED)
    def a_hot_file_is_written(self, name: str, draft: Draft, asked: list[Question]) -> None:
        self._put_note(self.root / name, draft)
        self._ask(asked)

    @rule(folder=st.sampled_from(FOLDERS), odd=st.sampled_from(ODD_FILES), asked=ASKED)
    def an_odd_file_is_written(self, folder: str, odd: tuple[str, bytes], asked: list[Question]) -> None:
        name, data = odd
        self._put(self.top / folder / name, data)
        self._ask(asked)

    @rule(
        number=NUMBERS,
        times=st.integers(1, 3),
        is_replaced=st.booleans(),
        is_restored=st.booleans(),
        is_fresh=st.booleans(),
        asked=ASKED,
    )
    def a_file_is_rewritten_in_its_size(
        self, number: int, times: int, is_replaced: bool, is_restored: bool, is_fresh: bool, asked: list[Question]
    ) -> None:
        """Several times within a tick of the clock; where it is fresh, so is the index."""
        path = self._file(number)
        if path is None:
            return
        if is_fresh:
            self._build_if_sound(reuse=True)
        for _ in range(times):
            rewrite(path, is_replaced=is_replaced, is_restored=is_restored)
        self._ask(asked)

    @rule(number=NUMBERS, asked=ASKED)
    def a_file_is_touched(self, number: int, asked: list[Question]) -> None:
        path = self._file(number)
        if path is not None:
            os.utime(path)
        self._ask(asked)

    @rule(number=NUMBERS, years=st.sampled_from([-50, -1, 0, 1, 50, 400]), is_fresh=st.booleans(), asked=ASKED)
    def a_clock_steps(self, number: int, years: int, is_fresh: bool, asked: list[Question]) -> None:
        path = self._file(number)
        if path is not None:
            restore_mtime(path, now_of(self.root) + years * YEAR_NS + HOUR_NS)
        if is_fresh:
            self._build_if_sound(reuse=True)
        self._ask(asked)

    @rule(number=NUMBERS, asked=ASKED)
    def a_file_goes(self, number: int, asked: list[Question]) -> None:
        path = self._file(number)
        if path is not None:
            path.unlink()
        self._ask(asked)

    @rule(number=NUMBERS, name=st.sampled_from(NOTES), asked=ASKED)
    def a_file_is_renamed(self, number: int, name: str, asked: list[Question]) -> None:
        """Over another, where there is one of that name."""
        path = self._file(number)
        target = (self.top / name).with_suffix(path.suffix) if path else None
        if path is not None and target is not None and not path.is_relative_to(target):
            self._make_way(target)
            path.rename(target)
            self._know(target)
        self._ask(asked)

    @rule(one=NUMBERS, other=NUMBERS, asked=ASKED)
    def two_files_change_places(self, one: int, other: int, asked: list[Question]) -> None:
        mine, theirs = self._file(one), self._file(other)
        if mine is not None and theirs is not None and mine.suffix == theirs.suffix and mine != theirs:
            aside = mine.with_name(".changing")
            mine.rename(aside)
            theirs.rename(mine)
            aside.rename(theirs)
        self._ask(asked)

    @rule(before=st.sampled_from(FOLDERS), after=st.sampled_from(FOLDERS), asked=ASKED)
    def a_folder_is_renamed(self, before: str, after: str, asked: list[Question]) -> None:
        source, target = self.top / before, self.top / after
        if source.is_dir() and not target.exists() and target.parent.is_dir() and not target.is_relative_to(source):
            source.rename(target)
        self._ask(asked)

    @rule(number=NUMBERS, draft=DRAFTS, asked=ASKED)
    def a_file_becomes_a_folder(self, number: int, draft: Draft, asked: list[Question]) -> None:
        path = self._file(number)
        if path is not None:
            path.unlink()
            path.mkdir()
            self._put_note(path / "inner.md", draft)
        self._ask(asked)

    @precondition(lambda self: self.blemish is None)
    @rule(layout=st.sampled_from(LAYOUTS), asked=ASKED)
    def the_corpus_lies_elsewhere(self, layout: str, asked: list[Question]) -> None:
        before, self.layout = self.top, layout
        if self.top == before:
            return
        if before == self.root:
            self.top.mkdir(parents=True, exist_ok=True)
            moved = next((path for path in sorted(before.glob("*.md")) if path.is_file()), None)
            if moved is not None:
                moved.rename(self.top / moved.name)
        else:
            target = self.root / "moved" if layout == "" else self.top
            shutil.rmtree(target, ignore_errors=True)
            target.parent.mkdir(exist_ok=True)
            before.rename(target)
        self._ask(asked)

    @precondition(lambda self: self.blemish is None)
    @rule(
        kind=st.sampled_from(["text", "log", "duplicate", "link", "link to a folder", "FIFO", "name", "bytes", "hot"]),
        number=NUMBERS,
        stays=st.sampled_from([False, False, False, True]),
        asked=ASKED,
    )
    def something_unsound_appears(self, kind: str, number: int, stays: bool, asked: list[Question]) -> None:
        self.blemish = blemish_of(kind, self.top, number)
        if kind == "duplicate":
            self.blemish.write_text(f"---\nid: {Ref(number).among(self.ids)}\n---\noak", encoding="utf-8")
        self._ask(asked)
        self.nothing_tells_that_there_is_an_index()
        if not stays:
            self.it_is_mended(asked)

    @precondition(lambda self: self.blemish is not None)
    @rule(asked=ASKED)
    def it_is_mended(self, asked: list[Question]) -> None:
        if self.blemish is not None:
            remove_whatever(self.blemish)
        self.blemish = None
        self._ask(asked)

    # What happens to the index.

    @rule(reuse=st.booleans(), asked=ASKED)
    def it_is_adopted(self, reuse: bool, asked: list[Question]) -> None:
        self._build_if_sound(reuse=reuse)
        self._ask(asked)

    @precondition(lambda self: self.is_adopted and not self.is_damaged)
    @rule(command=st.sampled_from(["refresh", "build"]), asked=ASKED)
    def it_is_made_anew(self, command: str, asked: list[Question]) -> None:
        is_sound = say(self.root, "status", "--no-index").exit == 0
        said = say(self.root, "index", command, *OPERATOR)
        assert said.exit == (0 if is_sound else 4), said
        if is_sound:
            self._remember()
        self._ask(asked)

    @rule(is_built=st.booleans(), asked=ASKED)
    def it_is_dropped(self, is_built: bool, asked: list[Question]) -> None:
        """And maybe built again, but not adopted."""
        if self.is_damaged:
            remove_whatever(self.root / "INDEX")
        assert say(self.root, "index", "drop", *OPERATOR).exit == 0
        self.is_adopted = self.is_damaged = False
        if is_built and say(self.root, "status").exit == 0:
            assert say(self.root, "index", "build", *OPERATOR).exit == 0
        self._ask(asked)

    @precondition(lambda self: self.is_adopted)
    @rule(damage=st.sampled_from(ALL_DAMAGES), spot=SPOTS, asked=ASKED)
    def a_part_of_it_is_damaged(self, damage: tuple[str, Damage], spot: Spot, asked: list[Question]) -> None:
        part, spoil = damage
        path: Path = getattr(parts_of(self.root), part)
        self.is_damaged = True
        if path.is_file() and not path.is_symlink():
            spoil(path, spot)
        self._ask(asked)

    @precondition(lambda self: self.is_adopted)
    @rule(kind=st.sampled_from(["gone", "a link", "a file", "empty"]), asked=ASKED)
    def its_folder_is_damaged(self, kind: str, asked: list[Question]) -> None:
        folder = self.root / "INDEX"
        self.is_damaged = True
        if kind == "a link" and folder.is_dir() and not folder.is_symlink():
            remove_whatever(self.root / ".aside")
            folder.rename(self.root / ".aside")
            folder.symlink_to(".aside")
        elif kind != "a link":
            remove_whatever(folder)
        if kind == "a file":
            folder.write_bytes(b"")
        if kind == "empty":
            folder.mkdir()
        self._ask(asked)

    # What holds.

    @invariant()
    def every_answer_is_the_same(self) -> None:
        for words in STANDING:
            self._compare(*words)

    @invariant()
    def nothing_tells_that_there_is_an_index(self) -> None:
        """But for `status`, which says how many files are read beside it: those that it cannot rely on."""
        indexed, plain = self._compare("status")
        if plain.exit != 0 or self.is_damaged:
            return
        indexes = json.loads(indexed.output)["data"]["indexes"]
        if not self.is_adopted:
            assert indexes == []
            return
        now = corpus_files(self.root)
        beside = [name for name, known in now.items() if self.known.get(name) != known]
        assert [index["files_read_beside_it"] for index in indexes] == [len(beside)], beside

    @property
    def top(self) -> Path:
        """The folder of the corpus."""
        return self.root / self.layout

    def _ask(self, asked: list[Question]) -> None:
        for question in asked:
            self._compare(*question.among(self.ids))

    def _compare(self, *words: str) -> tuple[Spoken, Spoken]:
        indexed, plain = same_both_ways(self.root, *words)
        assert indexed.notes == "" or self.is_damaged, indexed.notes
        assert SECRET.encode() not in indexed.output or SECRET in " ".join(words)
        return indexed, plain

    def _claim(self, *drafts: Draft) -> tuple[int, Sequence[str]]:
        """Return the number that drafts take, and the ids known before them."""
        before, serial = tuple(self.ids), self.serial
        for place, draft in enumerate(drafts):
            identity = draft.identity(serial + place)
            self.ids += [] if identity is None else [identity]
        self.serial += len(drafts)
        return serial, before

    def _make_way(self, path: Path) -> None:
        for above in reversed(path.relative_to(self.root).parents):
            if (self.root / above).is_file():
                (self.root / above).unlink()
        if path.is_dir():
            shutil.rmtree(path)
        path.parent.mkdir(parents=True, exist_ok=True)

    def _put(self, path: Path, data: bytes) -> None:
        """Write a file; whatever is in its way goes."""
        self._make_way(path)
        path.write_bytes(data)

    def _put_note(self, path: Path, draft: Draft) -> None:
        self._put(path, draft.note(*self._claim(draft)))
        if draft.prefix is None:
            self._know(path)

    def _know(self, path: Path) -> None:
        """Note the id that a note's path gives it."""
        name = os.fspath(path.relative_to(self.root))
        self.ids.append(f"path:{sha256(name.encode()).hexdigest()[:16]}")

    def _file(self, number: int) -> Path | None:
        """Return one of the files that are there, counted round."""
        files = [self.root / name for name in sorted(corpus_files(self.root)) if self.root / name != self.blemish]
        return files[number % len(files)] if files else None

    def _build_if_sound(self, *, reuse: bool) -> None:
        if say(self.root, "status", "--no-index").exit == 0:
            self._adopt(reuse=reuse)

    def _adopt(self, *, reuse: bool) -> None:
        """Build and adopt; where the place of a file is not free for one, after clearing up as a person would."""
        try:
            adopt(self.root, reuse=reuse)
        except CortexError:
            assert self.is_damaged
            remove_whatever(self.root / "INDEX")
            adopt(self.root, reuse=reuse)
        self.is_adopted, self.is_damaged = True, False
        self._remember()

    def _remember(self) -> None:
        """Note which files the index can rely on: not those that are of the future."""
        now = parts_of(self.root).manifest.stat().st_mtime_ns
        self.known = {name: stat for name, stat in corpus_files(self.root).items() if stat[1] < now}


def blemish_of(kind: str, top: Path, number: int = 0) -> Path:
    """Make a memory unsound whose corpus lies in `top`; return where."""
    texts, logs = UNSOUND.values()
    path = top / "bad.md"
    match kind:
        case "text":
            path.write_bytes(texts[number % len(texts)])
        case "log":
            path = top / "bad.jsonl"
            path.write_bytes(logs[number % len(logs)])
        case "link":
            path.symlink_to(next(top.rglob("*.md"), "nowhere"))
        case "link to a folder":
            path.symlink_to(".")
        case "FIFO":
            os.mkfifo(path)
        case "name":
            path = top / f"<private>{SECRET}.md"
            path.write_bytes(b"oak")
        case "bytes":
            path = Path(os.fsdecode(os.fsencode(top) + b"/\xff.md"))
            path.write_bytes(b"oak")
        case "hot":  # no fault where the corpus is not KNOWLEDGE/
            path = top.parent / "Z_MEMORY.md" if top.name == "KNOWLEDGE" else top / "Z_MEMORY.md"
            path.mkdir()
    return path


def rewrite(path: Path, *, is_replaced: bool, is_restored: bool) -> None:
    """Write other bytes of the same size into a file, or put another file of that size in its place."""
    data, before = turned(path.read_bytes()), path.stat().st_mtime_ns
    written = path.with_name(".written") if is_replaced else path
    written.write_bytes(data)
    if is_restored:
        restore_mtime(written, before)
    if is_replaced:
        written.replace(path)


def remove_whatever(path: Path) -> None:
    """Remove a file, a folder, a link or nothing."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


class IdentityInSmallBlocks(Identity):
    """The same, with postings in blocks so small that most terms have one of their own."""

    def __init__(self) -> None:
        super().__init__()
        self._patch = pytest.MonkeyPatch()
        self._patch.setattr(postings, "POSTINGS_A_BLOCK", 2)

    def teardown(self) -> None:
        self._patch.undo()
        super().teardown()


def test_every_answer_is_the_same_whatever_happens_to_files_and_index() -> None:
    run_state_machine_as_test(Identity, settings=FEW)


def test_every_answer_is_the_same_with_small_blocks() -> None:
    run_state_machine_as_test(IdentityInSmallBlocks, settings=FEW)


@pytest.mark.proof
@pytest.mark.parametrize("machine", [Identity, IdentityInSmallBlocks])
def test_every_answer_is_the_same_whatever_happens_for_long(machine: type[Identity]) -> None:
    run_state_machine_as_test(machine, settings=MANY)


class TestOneTickOfTheClock:
    """A file may be written again and again with nothing to show for it: same size, same time."""

    @pytest.fixture
    def root(self, tmp_path: Path) -> Path:
        return memory_of(tmp_path, {f"{name}.md": f"oak {name}\n" for name in "abcdefgh"})

    @pytest.mark.parametrize("is_restored", [False, True], ids=["written", "written, its time restored"])
    @pytest.mark.parametrize("is_replaced", [False, True], ids=["in place", "as another file"])
    @pytest.mark.parametrize("times", [1, 2, 3])
    def test_a_file_is_rewritten_at_once(self, root: Path, times: int, *, is_replaced: bool, is_restored: bool) -> None:
        path = root / "KNOWLEDGE" / "a.md"
        for _ in range(6):
            adopt(root, reuse=True)
            for _ in range(times):
                rewrite(path, is_replaced=is_replaced, is_restored=is_restored)
            word = path.read_text(encoding="utf-8").split()[0]
            assert total(root, f"{word} a") == (8 if word == "oak" else 1) == total(root, f"{word} a", "--no-index")
            same_both_ways(root, "search", "oak elm fir a", "--page-size", "100")
            assert [index["files_read_beside_it"] for index in indexes_of(root)] == [1]

    def test_a_file_is_written_and_indexed_at_once(self, root: Path) -> None:
        """What was written in the tick in which the reading begins is waited for: the index relies on all of it."""
        for number in range(20):
            (root / "KNOWLEDGE" / "a.md").write_text(f"oak {number}\n", encoding="utf-8")
            adopt(root)
            assert [index["files_read_beside_it"] for index in indexes_of(root)] == [0]

    def test_a_file_is_rewritten_while_the_index_is_built(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """After it was read, with its time restored."""
        path, pread = root / "KNOWLEDGE" / "a.md", os.pread

        def rewritten_behind(descriptor: int, size: int, offset: int) -> bytes:
            data = pread(descriptor, size, offset)
            if data == b"oak a\n":
                rewrite(path, is_replaced=False, is_restored=True)
            return data

        with monkeypatch.context() as patches:
            patches.setattr(os, "pread", rewritten_behind)
            adopt(root)
        assert path.read_text(encoding="utf-8") == "elm a\n"
        assert [index["files_read_beside_it"] for index in indexes_of(root)] == [1]
        assert same_both_ways(root, "search", "elm")[0].notes == ""
        assert total(root, "elm") == 1

    def test_a_file_is_rewritten_between_the_look_at_it_and_its_card(
        self, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The files are read then, all of them, and a note says why."""
        adopt(root)
        path, scandir = root / "KNOWLEDGE" / "a.md", os.scandir

        @contextmanager
        def rewritten_behind(folder: int) -> Iterator[Iterator[os.DirEntry[str]]]:
            with scandir(folder) as entries:
                found = list(entries)
                for entry in found:
                    entry.stat(follow_symlinks=False)
            if any(entry.name == path.name for entry in found) and b"oak" in path.read_bytes():
                rewrite(path, is_replaced=False, is_restored=True)
            yield iter(found)

        with monkeypatch.context() as patches:
            patches.setattr(os, "scandir", rewritten_behind)
            said = say(root, "search", "oak a", "--page-size", "100")
        assert said.notes.startswith(NOTE)
        assert said.output == say(root, "search", "oak a", "--page-size", "100", "--no-index").output
        assert total(root, "oak") == 7

    def test_a_file_that_is_rewritten_as_the_reading_begins_is_not_relied_on(
        self, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """With its time restored: it could be written again in that tick."""
        path, scandir, looks = root / "KNOWLEDGE" / "a.md", os.scandir, []

        @contextmanager
        def rewritten_before(folder: int) -> Iterator[Iterator[os.DirEntry[str]]]:
            looks.append(path.name in os.listdir(folder))
            if looks[-1] and sum(looks) == 2:  # the first look is for the times to wait for
                rewrite(path, is_replaced=False, is_restored=True)
            with scandir(folder) as entries:
                yield entries

        with monkeypatch.context() as patches:
            patches.setattr(os, "scandir", rewritten_before)
            adopt(root)
        assert sum(looks) == 2
        assert [index["files_read_beside_it"] for index in indexes_of(root)] == [1]
        assert total(root, "elm") == 1


class TestWhatTellsFilesApart:
    def test_a_touched_file_is_read_again_and_says_the_same(self, tmp_path: Path) -> None:
        root = memory_of(tmp_path, {"a.md": "oak", "b.md": "elm"})
        adopt(root)
        before = say(root, "search", "oak")
        (root / "KNOWLEDGE" / "a.md").touch()
        assert say(root, "search", "oak") == before
        assert [index["files_read_beside_it"] for index in indexes_of(root)] == [1]

    def test_a_file_that_takes_the_name_of_another_is_no_longer_that(self, tmp_path: Path) -> None:
        """With its size and its time."""
        root = memory_of(tmp_path, {"a.md": "oak", "b.md": "elm"})
        one, other = (root / "KNOWLEDGE" / name for name in ("a.md", "b.md"))
        restore_mtime(one, 10**18)
        restore_mtime(other, 10**18)
        adopt(root)
        other.replace(one)
        same_both_ways(root, "search", "oak elm")
        assert total(root, "oak") == 0
        assert total(root, "elm") == 1

    @pytest.mark.parametrize("year", [1850, 1969, 2027, 2300, 2440])
    def test_a_file_of_another_age_is_indexed_and_read_where_it_is_of_the_future(
        self, tmp_path: Path, year: int
    ) -> None:
        """Also one whose time no 64 bits hold, in nanoseconds."""
        root = memory_of(tmp_path, {"a.md": "oak", "b.md": "oak elm"})
        try:
            os.utime(root / "KNOWLEDGE" / "a.md", ((year - 1970) * 31_556_952,) * 2)
        except OSError:
            pytest.skip("this file system keeps no such time")
        adopt(root)
        adopt(root, reuse=True)
        is_ahead = (root / "KNOWLEDGE" / "a.md").stat().st_mtime_ns > now_of(root)
        assert [index["files_read_beside_it"] for index in indexes_of(root)] == [int(is_ahead)]
        same_both_ways(root, "search", "oak elm")
        assert total(root, "oak") == 2

    def test_a_file_stamped_a_little_ahead_is_waited_for(self, tmp_path: Path) -> None:
        root = memory_of(tmp_path, {"a.md": "oak"})
        restore_mtime(root / "KNOWLEDGE" / "a.md", now_of(root) + 200_000_000)
        adopt(root)
        assert [index["files_read_beside_it"] for index in indexes_of(root)] == [0]

    def test_an_unreadable_file_is_refused_with_an_index_as_without_one(self) -> None:
        """Also one that the index knows, and one in a folder that was closed."""
        with open_folder() as folder:
            skip_where_modes_do_not_bind(folder)
            root = memory_of(folder, {"a.md": "oak", "sub/b.md": "oak"})
            give_to_nobody(folder)
            with as_nobody():
                adopt(root)
                for path in (root / "KNOWLEDGE" / "a.md", root / "KNOWLEDGE" / "sub"):
                    mode = path.stat().st_mode
                    path.chmod(0)
                    indexed, _ = same_both_ways(root, "search", "oak")
                    assert (indexed.exit, indexed.notes) == (4, "")
                    path.chmod(mode)
                    indexed, _ = same_both_ways(root, "search", "oak")
                    assert (indexed.exit, indexed.notes) == (0, "")

    def test_a_withheld_record_too_many_is_refused_with_an_index_as_without_one(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for module in (reader, indexed_memory):
            monkeypatch.setattr(module, "CORPUS_MAX_RECORDS", 2)
        root = memory_of(tmp_path, {"a.md": "oak", "b.md": "oak"})
        adopt(root)
        (root / "KNOWLEDGE" / "c.md").write_text(f"<private>{SECRET}</private>", encoding="utf-8")
        assert same_both_ways(root, "search", "oak")[0].exit == 4


class TestEveryPlace:
    """Damage at every place of an index that holds something in all of its sections."""

    # Together they read everything that an answer reads of an index.
    ASKED: Final = (
        ("status",),
        ("search", "oak 桥", "--explain", "c", "--expand", "c", "--recency", "1", "--analyzer", "unicode"),
        ("search", "oak", "--type", "note", "--source", "mail", "--session", "s1", "--from", "2026-01-01"),
        ("search", "oak elm Ünal"),
        ("timeline", "--anchor", "2026-01-02"),
    )

    @pytest.fixture
    def root(self, tmp_path: Path) -> Path:
        row = {"id": "r", "type": "note", "title": "T", "content": "oak 桥", "source": "mail", "source_session": "s1"}
        times = {"created": "2026-01-02", "updated": "2026-01-03", "valid_until": "2027-01-01"}
        notes = {
            "a.md": "oak Ünal elm",
            "b.md": f"---\nid: <private>{SECRET}</private>\n---\noak",
            "c.md": "---\nid: c\nrelated: [a, r]\nvalid_from: 2026-01-01\n---\noak fir",
            "d.md": "---\nid: d\nvalid_until: 2026-01-01\n---\noak",
            "log.jsonl": json.dumps(row | times),
        }
        root = memory_of(tmp_path, notes)
        adopt(root)
        return root

    def test_a_byte_of_each_block(self, root: Path) -> None:
        """What is read of it is found out, and nothing is answered from it."""
        blocks = parts_of(root).blocks
        table, whole = json.loads(parts_of(root).table.read_bytes()), blocks.read_bytes()
        places = [(name, at, size) for name, (at, size, _) in table["sections"].items()]
        places += [(key, at, size) for key, at, size, _ in table["terms"]]
        assert all(size for _, _, size in places)
        for name, start, size in places:
            for at in {start, start + size // 2, start + size - 1}:
                blocks.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
                noted = [same_both_ways(root, *words)[0].notes != "" for words in self.ASKED]
                assert any(noted) == (name != "hashes"), name  # which nothing but a refresh looks at
        blocks.write_bytes(whole)

    @pytest.mark.parametrize("part", Parts._fields)
    def test_each_byte_of_what_leads_to_them(self, root: Path, part: str) -> None:
        path: Path = getattr(parts_of(root), part)
        whole = path.read_bytes()
        for at in range(0, len(whole), 1 + len(whole) // 400):
            path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
            assert same_both_ways(root, *self.ASKED[at % len(self.ASKED)])[0].exit == 0
        path.write_bytes(whole)
        assert [same_both_ways(root, *words)[0].notes for words in self.ASKED] == [""] * len(self.ASKED)

    @pytest.mark.parametrize(("part", "damage"), ALL_DAMAGES, ids=lambda each: getattr(each, "__name__", each))
    def test_each_damage_of_each_part(self, root: Path, part: str, damage: Damage) -> None:
        for number in range(4):
            damage(getattr(parts_of(root), part), Spot(number * 17, number * 1001 + number, 1 + number * 80))
            for words in self.ASKED:
                assert same_both_ways(root, *words)[0].exit == 0
            shutil.rmtree(root / "INDEX")
            adopt(root)


# A row with the id of a note.
TAKEN: Final = (
    b'{"id": "a", "type": "t", "title": "T", "created": "2026-01-01", "updated": "2026-01-01", "content": "x"}'
)


class TestWhatIsUnsound:
    """It is refused with an index as without one, whether it stands in a file that the index knows or in another."""

    @pytest.fixture
    def root(self, tmp_path: Path) -> Path:
        root = memory_of(tmp_path, {"a.md": "---\nid: a\n---\noak", "b.md": "---\nid: b\n---\noak", "log.jsonl": ""})
        adopt(root)
        return root

    @pytest.mark.parametrize(
        ("name", "data"),
        [
            ("c.md", b"---\nid: a\n---\n"),
            ("b.md", b"---\nid: a\n---\noak"),
            ("log.jsonl", TAKEN),
            ("0.md", b"---\nid: b\n---\n"),
            *[(name, data) for name, texts in UNSOUND.items() for data in texts],
        ],
    )  # fmt: skip
    def test_a_text_that_is_unsound(self, root: Path, name: str, data: bytes) -> None:
        (root / "KNOWLEDGE" / name).write_bytes(data)
        for words in (("status",), *STANDING):
            indexed, _ = same_both_ways(root, *words)
            assert (indexed.exit, indexed.notes) == (4, "")

    @pytest.mark.parametrize("kind", ["link", "link to a folder", "FIFO", "name", "bytes", "hot"])
    def test_a_place_that_is_unsound(self, root: Path, kind: str) -> None:
        """No file has changed, one thing more lies there."""
        blemish = blemish_of(kind, root / "KNOWLEDGE")
        for words in (("status",), *STANDING):
            indexed, _ = same_both_ways(root, *words)
            assert (indexed.exit, indexed.notes) == (4, "")
        remove_whatever(blemish)
        assert same_both_ways(root, "search", "oak")[0].exit == 0

    def test_an_id_is_free_once_what_had_it_is_gone(self, root: Path) -> None:
        (root / "KNOWLEDGE" / "a.md").rename(root / "KNOWLEDGE" / "c.md")
        assert same_both_ways(root, "search", "oak", "--explain", "a")[0].exit == 0


class TestManyHits:
    """More than a page of them, so that not all are put in order."""

    @pytest.mark.parametrize("size", ["1", "2", "3", "100"])
    def test_hits_of_one_score_are_dealt_out_alike(self, tmp_path: Path, size: str) -> None:
        root = memory_of(tmp_path, {f"{number:02}.md": "---\ntitle: T\n---\noak" for number in range(25)})
        adopt(root)
        for page in range(1, 26 // int(size) + 2):
            assert same_both_ways(root, "search", "oak", "--page-size", size, "--page", str(page))[0].notes == ""

    def test_a_hit_of_next_to_no_score_is_one(self, tmp_path: Path) -> None:
        root = memory_of(tmp_path, {f"{number:02}.md": "oak" + " elm" * (number == 7) * 9_000 for number in range(25)})
        adopt(root)
        same_both_ways(root, "search", "oak", "--page-size", "100")
        assert total(root, "oak") == 25


class TestWhatIsSpared:
    """These properties would hold of an index that is never looked at; here it is seen that it is."""

    @pytest.fixture
    def root(self, tmp_path: Path) -> Path:
        root = memory_of(tmp_path, {f"{number:02}.md": f"oak {'elm' * (number == 7)}" for number in range(20)})
        adopt(root)
        return root

    def test_only_what_is_shown_is_opened(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        assert notes_opened(monkeypatch, root, "search", "elm") == ["07.md"]
        assert notes_opened(monkeypatch, root, "status") == []
        assert len(notes_opened(monkeypatch, root, "search", "oak", "--page-size", "3")) == 3
        assert len(notes_opened(monkeypatch, root, "search", "elm", "--no-index")) == 20

    def test_only_what_has_changed_is_read_beside_it(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (root / "KNOWLEDGE" / "03.md").write_text("elm", encoding="utf-8")
        (root / "KNOWLEDGE" / "new.md").write_text("oak", encoding="utf-8")
        (root / "KNOWLEDGE" / "04.md").unlink()
        assert notes_opened(monkeypatch, root, "search", "fir") == ["03.md", "new.md"]
        assert notes_opened(monkeypatch, root, "search", "elm") == ["03.md", "07.md", "new.md"]
        explained = ("search", "fir", "--explain", identity_of("new.md"))
        assert notes_opened(monkeypatch, root, *explained) == ["03.md", "new.md"]
        assert [index["files_read_beside_it"] for index in indexes_of(root)] == [2]

    def test_a_ranking_is_the_one_of_the_index(self, root: Path) -> None:
        """Seen where it misleads: postings that say nothing find nothing."""
        mislead(root, lambda told: told.terms.clear())
        assert total(root, "oak") == 0
        assert total(root, "oak", "--no-index") == 20


def memory_of(root: Path, notes: dict[str, str]) -> Path:
    """Write notes below KNOWLEDGE/ of a memory; return its root."""
    for name, text in notes.items():
        path = root / "KNOWLEDGE" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def identity_of(name: str) -> str:
    """Return the id of a note below KNOWLEDGE/ that gives itself none."""
    return f"path:{sha256(f'KNOWLEDGE/{name}'.encode()).hexdigest()[:16]}"


def total(root: Path, *words: str) -> int:
    """Return how many records a search finds."""
    found: int = json.loads(say(root, "search", *words).output)["data"]["total"]
    return found


def notes_opened(monkeypatch: pytest.MonkeyPatch, root: Path, *words: str) -> list[str]:
    """Make a call; return the names of the notes that it opens, in order."""
    opened, genuine = [], os.open

    def watched(path: Any, *rest: Any, **named: Any) -> int:
        opened.append(os.fspath(path))
        return genuine(path, *rest, **named)

    with monkeypatch.context() as patches:
        patches.setattr(os, "open", watched)
        assert say(root, *words).exit == 0
    return sorted(name for name in opened if name.endswith(".md"))


# What an index says that was made to mislead, with every hash right.

# A text that no canonical file holds.
FOREIGN: Final = "f0reign"


class Told(NamedTuple):
    """What an index says, to be changed: its table, its sections, its blocks of postings by their first keys."""

    table: dict[str, Any]
    sections: dict[str, bytes]
    terms: list[tuple[str, bytes]]


def mislead(root: Path, lie: Callable[[Told], None]) -> None:
    """Change what an index says, and every hash with it."""
    parts = parts_of(root)
    table, data = json.loads(parts.table.read_bytes()), parts.blocks.read_bytes()
    sections = {name: data[at : at + size] for name, (at, size, _) in table["sections"].items()}
    told = Told(table, sections, [(key, data[at : at + size]) for key, at, size, _ in table["terms"]])
    lie(told)
    blocks = b""

    def placed(block: bytes) -> list[object]:
        nonlocal blocks
        blocks += block
        return [len(blocks) - len(block), len(block), sha256(block).hexdigest()]

    table["sections"] = {name: placed(block) for name, block in told.sections.items()}
    table["terms"] = [[key, *placed(block)] for key, block in told.terms]
    text = json.dumps(table, ensure_ascii=False).encode()
    parts.blocks.write_bytes(blocks)
    parts.table.write_bytes(text)
    manifest = {**json.loads(parts.manifest.read_bytes()), "index_sha256": sha256(text).hexdigest()}
    parts.manifest.write_text(json.dumps(manifest), encoding="utf-8")


# How a number is written in each section of numbers, as in `struct`.
KINDS: Final = {
    "starts": "I", "ascii": "I", "unicode": "I", "created": "q", "updated": "q", "bounds": "q", "types": "H",
    "sources": "H", "sessions": "H", "spans": "I", "stats": "q",
}  # fmt: skip
# How many bytes of a section are about one record.
A_RECORD: Final = {
    "ascii": 4, "unicode": 4, "created": 8, "updated": 8, "types": 2, "sources": 2, "sessions": 2, "spans": 8,
    "prints": 16,
}  # fmt: skip
Lie = Callable[[Told, Spot], None]


def change_a_number(told: Told, spot: Spot) -> None:
    """Say another number in a section of numbers."""
    name = sorted(KINDS)[spot.place % len(KINDS)]
    numbers = array(KINDS[name], told.sections[name])
    if numbers:
        at = spot.offset % len(numbers)
        numbers[at] = (0, numbers[at] ^ 1, numbers[at - 1], spot.change, 0xFFFF)[spot.change % 5]
        told.sections[name] = numbers.tobytes()


def change_places(told: Told, spot: Spot) -> None:
    """Say of one record what is so of another, in some of the sections or in all."""
    count = told.table["records"]
    for bit, (name, size) in enumerate(A_RECORD.items()):
        data = told.sections[name]
        rows = [data[at : at + size] for at in range(0, len(data), size)]
        if count and spot.change & (1 << bit % 8):
            one, other = spot.place % count, spot.offset % count
            rows[one], rows[other] = rows[other], rows[one]
        told.sections[name] = b"".join(rows)
    if spot.change & 1:
        change_a_text(told, "ids", spot)


def change_a_text(told: Told, name: str, spot: Spot) -> None:
    """Say another id or path: one of no file, or that of another."""
    texts = told.sections[name].decode().split("\0")
    one, other = spot.place % len(texts), spot.offset % len(texts)
    if spot.change % 3:
        texts[one], texts[other] = texts[other], texts[one] if spot.change % 3 == 1 else texts[other]
    else:
        texts[one] = FOREIGN
    told.sections[name] = "\0".join(texts).encode()


def change_an_id(told: Told, spot: Spot) -> None:
    """Say another id."""
    change_a_text(told, "ids", spot)


def change_a_path(told: Told, spot: Spot) -> None:
    """Say another path."""
    change_a_text(told, "paths", spot)


def forget_bounds(told: Told, spot: Spot) -> None:
    """Say that records are always valid, or that others have the bounds."""
    bounds = array("q", told.sections["bounds"])
    kept = bounds[3:] if spot.change % 2 else array("q")
    if spot.change % 3 == 0:
        kept = array("q", [spot.offset % 8, *bounds[1:]][: len(bounds)])
    told.sections["bounds"] = kept.tobytes()


def change_a_name(told: Told, spot: Spot) -> None:
    """Say another type, source or session of all that have one."""
    names = json.loads(told.sections["names"])
    values = names[sorted(names)[spot.place % 3]]
    if values:
        values[spot.offset % len(values)] = (FOREIGN, values[-1], None, 1, [])[spot.change % 5]
    told.sections["names"] = json.dumps(names).encode()


def change_notes(told: Told, spot: Spot) -> None:
    """Note something else beside records, or nothing."""
    notes = json.loads(told.sections["notes"])
    path = told.sections["paths"].decode().split("\0")[0]
    identity = told.sections["ids"].decode().split("\0")[0]
    more = [
        [path, None, "withheld", FOREIGN, identity], [path, None, "withheld", FOREIGN, "missing"],
        [path, None, FOREIGN, FOREIGN], [FOREIGN, 1, "withheld", "", "missing"], [path, None, ["withheld"], ""],
        [], ["x"],
    ]  # fmt: skip
    told.sections["notes"] = json.dumps([*notes, more[spot.offset % len(more)]] if spot.change % 4 else []).encode()


def change_postings(told: Told, spot: Spot) -> None:
    """Say another thing of terms."""
    if not told.terms:
        return
    at = spot.place % len(told.terms)
    key, block = told.terms[at]
    changed = bytearray(block)
    # Most of them in what follows the keys: which records, how often.
    changed[-1 - spot.offset % len(changed)] ^= 1 + spot.change % 3
    other = told.terms[spot.offset % len(told.terms)][1]
    change = ([(key, bytes(changed))], [(key, bytes(changed))], [(key, other)], [], [(f"={FOREIGN}", block)])
    told.terms[at : at + 1] = change[spot.change % len(change)]


def change_the_table(told: Told, spot: Spot) -> None:
    """Say another number of files or records, or leave a section out, or take one for another."""
    names = sorted(told.sections)
    name, other = names[spot.place % len(names)], names[spot.offset % len(names)]
    match spot.change % 4:
        case 0:
            told.table[("files", "records", "taken_at_ns")[spot.place % 3]] = (0, 1, 2, -1, 10**6, "x")[spot.offset % 6]
        case 1:
            del told.sections[name]
        case _:
            told.sections[name] = told.sections[other]


def change_any_byte(told: Told, spot: Spot) -> None:
    """Change a byte of a section, or its size."""
    name = sorted(told.sections)[spot.place % len(told.sections)]
    data = bytearray(told.sections[name])
    if data:
        data[spot.offset % len(data)] ^= spot.change
    more = {1: -1, 2: -4, 3: -8, 4: 1, 5: 8}.get(spot.change % 30, 0)
    told.sections[name] = bytes(data[: len(data) + min(more, 0)]) + bytes(max(more, 0))


LIES: Final[tuple[Lie, ...]] = (
    change_a_number, change_places, change_an_id, change_a_path, forget_bounds, change_a_name, change_notes,
    change_postings, change_the_table, change_any_byte,
)  # fmt: skip
MISLED = given(
    st.dictionaries(st.sampled_from(NOTES), DRAFTS, min_size=1, max_size=6),
    st.dictionaries(st.sampled_from(LOGS), LOG_DRAFTS, max_size=2),
    st.lists(st.tuples(st.sampled_from(LIES), SPOTS), min_size=1, max_size=3),
    st.lists(QUESTIONS, min_size=2, max_size=6),
)
Notes = dict[str, Draft]
Logs = dict[str, Log]


def an_index_that_misleads_discloses_nothing(
    notes: Notes, logs: Logs, lies: list[tuple[Lie, Spot]], asked: list[Question]
) -> None:
    """What is printed is of records that are valid now, as their files have them, whatever the index says of them."""
    memory = Identity()
    try:
        memory.begin("KNOWLEDGE", notes, logs, [])
        for lie, spot in lies:
            with suppress(KeyError, ValueError, TypeError, IndexError, OverflowError):  # of a lie on top of another
                mislead(memory.root, lambda told, lie=lie, spot=spot: lie(told, spot))
        for words in [*STANDING, *[question.among(memory.ids) for question in asked], ("status",)]:
            nothing_is_disclosed(memory.root, *words)
    finally:
        memory.teardown()


def nothing_is_disclosed(root: Path, *words: str) -> None:
    indexed, plain = both_ways(root, *words)
    assert indexed.exit == plain.exit
    assert indexed.notes == "" or indexed.output == plain.output
    assert FOREIGN.encode() not in indexed.output
    assert SECRET.encode() not in indexed.output or SECRET in " ".join(words)
    if indexed.exit != 0 or "--text" in words:
        return
    told, true = (json.loads(said.output)["data"] for said in (indexed, plain))
    assert told.keys() == true.keys()
    if words[0] == "status":
        assert told["canonical"]["root"] == true["canonical"]["root"]
        assert told["notes"].keys() <= {"withheld", "cut-by-untrusted-opener"}
        return
    now = words[words.index("--now") : words.index("--now") + 2] if "--now" in words else ()
    cards = told["items"] + told.get("expansion", {}).get("items", [])
    assert all(said in valid_cards(root, *now) for said in map(without_score, cards))


def valid_cards(root: Path, *now: str) -> list[dict[str, Any]]:
    """Return the cards of all records that are valid now, as the files have them."""
    said = say(root, "timeline", "--anchor", "1960-01-01", "--after", "100", "--page-size", "100", *now, "--no-index")
    return [without_score(card) for card in json.loads(said.output)["data"]["items"]]


def without_score(card: dict[str, Any]) -> dict[str, Any]:
    """Return a card but for its score."""
    return {key: value for key, value in card.items() if key != "score"}


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@MISLED
def test_an_index_that_misleads_discloses_nothing(
    notes: Notes, logs: Logs, lies: list[tuple[Lie, Spot]], asked: list[Question]
) -> None:
    an_index_that_misleads_discloses_nothing(notes, logs, lies, asked)


@pytest.mark.proof
@settings(max_examples=500, deadline=None, suppress_health_check=list(HealthCheck))
@MISLED
def test_many_indexes_that_mislead_disclose_nothing(
    notes: Notes, logs: Logs, lies: list[tuple[Lie, Spot]], asked: list[Question]
) -> None:
    an_index_that_misleads_discloses_nothing(notes, logs, lies, asked)


class TestWhatIsMadeToMislead:
    """By somebody who knows the files, and the program."""

    @pytest.fixture
    def root(self, tmp_path: Path) -> Path:
        notes = {
            "a.md": "---\nid: over\nvalid_until: 2026-07-01\n---\noak",
            "b.md": f"oak\n<private>\n---\nid: {SECRET}\n---\noak</private>",
            "c.md": "---\nid: c\n---\nelm",
        }
        root = memory_of(tmp_path, notes)
        adopt(root)
        return root

    def falls_back(self, root: Path, *words: str) -> bool:
        """Tell whether every file was read, with a note; the answer is the true one in any case."""
        indexed, _ = same_both_ways(root, *words)
        return indexed.notes != ""

    @pytest.mark.parametrize(
        "words",
        [("search", "oak"), ("timeline", "--anchor", "2026-01-01"), ("search", "elm", "--expand", "over")],
        ids=lambda words: words[0],
    )
    def test_a_record_that_is_no_longer_valid_does_not_come_back(self, root: Path, words: tuple[str, ...]) -> None:
        mislead(root, lambda told: told.sections.update(bounds=b""))
        assert self.falls_back(root, *words)

    def test_a_part_of_a_note_is_no_record(self, root: Path) -> None:
        """It could begin inside a private span."""
        data = (root / "KNOWLEDGE" / "b.md").read_bytes()
        start, end = data.index(b"---"), data.index(b"</private>")
        inside = parse_note("KNOWLEDGE/b.md", data[start:end].decode()).result

        def lie(told: Told) -> None:
            spans, prints = array("I", told.sections["spans"]), told.sections["prints"]
            spans[2:4] = array("I", [start, end - start])
            told.sections["spans"] = spans.tobytes()
            told.sections["prints"] = prints[:16] + fingerprint(inside) + prints[32:]

        mislead(root, lie)
        assert self.falls_back(root, "search", "oak")

    def test_a_record_is_the_one_that_was_indexed(self, root: Path) -> None:
        """What is said of one is not shown of another."""
        mislead(root, lambda told: told.sections.update(prints=told.sections["prints"][::-1]))
        for words in (("search", "elm"), ("timeline", "--anchor", "2026-01-01"), ("search", "oak", "--expand", "c")):
            assert self.falls_back(root, *words)

    def test_an_id_that_is_that_of_another_record_is_not_taken_for_it(self, root: Path) -> None:
        mislead(root, lambda told: told.sections.update(ids=told.sections["ids"][:-1] + b"d"))
        assert self.falls_back(root, "search", "oak", "--expand", "d")
        assert self.falls_back(root, "search", "oak", "--explain", "d")
        assert self.falls_back(root, "timeline", "--anchor", "1970-01-01")

    def test_that_something_is_not_there_is_said_by_the_files(self, root: Path) -> None:
        mislead(root, lambda told: told.sections.update(ids=told.sections["ids"][:-1] + b"d", notes=b"[]"))
        for option in ("--expand", "--explain"):
            assert same_both_ways(root, "search", "elm", option, "c")[0].exit == 0

    def test_a_note_of_no_known_kind_is_not_counted(self, root: Path) -> None:
        note = json.dumps([["KNOWLEDGE/a.md", None, FOREIGN, "", None]]).encode()
        mislead(root, lambda told: told.sections.update(notes=note))
        assert self.falls_back(root, "status")

    def test_a_manifest_that_says_no_time_is_not_repeated(self, root: Path) -> None:
        manifest = root / "INDEX" / "index-manifest.json"
        said = {**json.loads(manifest.read_bytes()), "indexed_at": FOREIGN}
        manifest.write_text(json.dumps(said), encoding="utf-8")
        assert self.falls_back(root, "status")
