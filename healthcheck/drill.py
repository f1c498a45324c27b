"""`memory-health drill`: does each kind of evidence, once damaged, turn this memory's verdict, metrics included?

1. Everything happens to a copy in a temporary folder that is its owner's alone and is removed. The memory is only read.
2. Each damage is done to the whole copy, judged by one and the same clock, and undone again.
3. A kind passes where its check is not ok afterwards, in the report and in the textfile. One that was not ok before
   proves nothing, and says so; one that is not there, or is declared not enabled, is left out and says so.
"""

import json
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal, NamedTuple

from cortex.index.layout import TABLES, blocks_of
from cortex.layout import (
    CORTEX,
    HEALTH_HISTORY,
    HEALTH_POLICY,
    INDEX_POLICY,
    MEMORY_WRITES,
    OBSERVABILITY,
    PROPOSAL_QUEUE,
    RETRIEVAL_LOG,
    REVIEWER_LOG,
    REVIEWER_RUNS,
    USER,
)
from cortex.places import Layout, layout_of
from healthcheck.audit import audit
from healthcheck.checks import CheckStatus
from healthcheck.clock import Clock
from healthcheck.renderers.printable import one_line
from healthcheck.report import Report
from healthcheck.request import Request

Outcome = Literal["red", "red before", "NOT RED", "left out"]
# Logs whose rows are judged; of every other log only size and time are, and a hole of that size stands in for it.
_READ: Final = frozenset({REVIEWER_LOG, RETRIEVAL_LOG, PROPOSAL_QUEUE, HEALTH_HISTORY, MEMORY_WRITES})
_STATUSES: Final = {0: "ok", 1: "warn", 2: "critical", -1: "not-enabled", -2: "skipped"}


class Turn(NamedTuple):
    """One damage, and what became of its check: in the report before and after, and in the textfile after."""

    kind: str
    damage: str
    check: str
    before: CheckStatus
    after: CheckStatus | None
    textfile: str | None
    outcome: Outcome


class _Copy(NamedTuple):
    """The copy: its request, and the folder that it lies in."""

    request: Request
    here: Path

    @property
    def textfile(self) -> Path:
        """Where its metrics are written."""
        return self.here / "drill.prom"

    def holds(self, path: Path) -> bool:
        """Tell whether something lies in the copy, links resolved: nothing else is ever damaged."""
        return os.path.lexists(path) and path.parent.resolve().is_relative_to(self.here.resolve())


def drill(request: Request, clock: Clock) -> tuple[Turn, ...]:
    """Damage each kind of evidence of a copy in turn, and return what became of it.

    Raises:
        OSError: The memory could not be copied.
    """
    with _copied(request, clock) as copy:
        audit(copy.request, clock)  # with its history row, so that the ratchet has something to hold
        return tuple(turn for kind, check, path in _kinds(copy) for turn in _turns(copy, clock, kind, check, path))


def _kinds(copy: _Copy) -> Iterator[tuple[str, str, Path]]:
    """Yield each kind of evidence that is there: its name, its check, and where it lies in the copy."""
    layout = copy.request.layout
    yield "reviewer log", "reviewer", layout.observability / REVIEWER_LOG
    yield "retrieval log", "retrieval", layout.observability / RETRIEVAL_LOG
    yield "proposal queue", "proposals", layout.observability / PROPOSAL_QUEUE
    manifest = copy.request.manifest or layout.index_manifest
    if manifest.is_file():
        yield "index manifest", "index", manifest
        yield from ((kind, "index", path) for kind, path in _index_of(manifest))
    else:
        yield "no-index marker", "index", layout.home / INDEX_POLICY
    yield "folder of logs", "observability", layout.observability
    if layout.observability.is_dir():
        yield "history against reviewer log", "ratchet", layout.observability / REVIEWER_LOG


def _index_of(manifest: Path) -> Iterator[tuple[str, Path]]:
    """Yield the file that a manifest names, and the blocks that an index of cortex has beside it."""
    try:
        named = json.loads(manifest.read_bytes()).get("index_path")
    except (ValueError, AttributeError, OSError):
        return
    if isinstance(named, str):
        yield "index", manifest.parent / named
    if named in TABLES:
        yield "blocks of the index", manifest.parent / blocks_of(named)


def _turns(copy: _Copy, clock: Clock, kind: str, check: str, path: Path) -> Iterator[Turn]:
    before = _status(audit(_silent(copy.request), clock), check)
    if not copy.holds(path) or before in ("not-enabled", "skipped"):
        yield Turn(kind, "none", check, before, None, None, "left out")
        return
    for damage, act in _DAMAGES.items():
        if check == "ratchet" and damage == "garbled":
            continue  # a line more is no loss
        with _damaged(copy, path, act):
            after = _status(audit(_silent(copy.request), clock), check)
        shown = _shown(copy.textfile, check)
        is_red = after in ("warn", "critical") and shown == after
        outcome: Outcome = "NOT RED" if not is_red else "red" if before == "ok" else "red before"
        yield Turn(kind, damage, check, before, after, shown, outcome)


def _silent(request: Request) -> Request:
    return request._replace(no_write=True)


def _status(report: Report, check: str) -> CheckStatus:
    return next(result.status for result in report.assessment.checks if result.check == check)


def _shown(textfile: Path, check: str) -> str | None:
    pattern = rf'^memory_health_check_status\{{check="{check}",memory="[^\n]*"\}} (-?[0-9.]+)$'
    found = re.search(pattern, textfile.read_text("utf-8"), re.MULTILINE)
    return _STATUSES.get(int(float(found[1]))) if found else None


def _garble(path: Path, before: Path) -> None:
    if before.is_dir():
        path.write_bytes(b"no folder")
        return
    shutil.copy2(before, path)
    with path.open("ab") as file:
        file.write(b"\nno row at all\n")


_DAMAGES: Final[dict[str, Callable[[Path, Path], object]]] = {
    "deleted": lambda _path, _before: None,  # what was there has been put aside
    "garbled": _garble,
    "a link in its place": lambda path, before: path.symlink_to(before),
}


@contextmanager
def _damaged(copy: _Copy, path: Path, act: Callable[[Path, Path], object]) -> Iterator[None]:
    """Put something else in the place of a file or folder; afterwards it is as it was."""
    before = copy.here / "before"
    path.rename(before)
    try:
        act(path, before)
        yield
    finally:
        if os.path.lexists(path):
            path.unlink()
        before.rename(path)


@contextmanager
def _copied(request: Request, clock: Clock) -> Iterator[_Copy]:
    with tempfile.TemporaryDirectory(prefix="memory-health-drill-") as folder:
        here = Path(folder)
        layout = request.layout
        is_nested = layout.home != layout.memory_root
        copied = layout_of(here / "home" / "MEMORY" if is_nested else here / "memory")
        manifest = _moved(request.manifest, layout, copied, here)
        _copy_evidence(layout, copied, with_corpus=(request.manifest or layout.index_manifest).is_file())
        now = clock.wall_ms() if request.now is None else request.now
        asked = request._replace(
            layout=copied,
            manifest=manifest,
            now=now,
            no_write=False,
            notify=False,
            textfile=str(here / "drill.prom"),
            report=None,
        )
        yield _Copy(asked, here)


def _moved(manifest: Path | None, layout: Layout, copied: Layout, here: Path) -> Path | None:
    """Return where a manifest that was named lies in the copy; one outside of the memory stays outside of it."""
    if manifest is None:
        return None
    if manifest.is_relative_to(layout.memory_root):
        return copied.memory_root / manifest.relative_to(layout.memory_root)
    _copy(manifest, here / "outside" / manifest.name)
    return here / "outside" / manifest.name


def _copy_evidence(layout: Layout, copied: Layout, *, with_corpus: bool) -> None:
    """Copy what is judged: the canonical files where a manifest speaks of them, the logs, markers and hot memory."""
    copied.memory_root.mkdir(parents=True)
    if with_corpus:
        for path in sorted(layout.memory_root.iterdir()):
            if path.name not in (OBSERVABILITY, CORTEX):
                _copy(path, copied.memory_root / path.name)
    for name in (INDEX_POLICY, HEALTH_POLICY, f"{USER}/PRINCIPAL", f"{USER}/DIGITAL_ASSISTANT"):
        _copy(layout.home / name, copied.home / name)
    _copy_logs(layout.observability, copied.observability)


def _not_plain(folder: str, names: list[str]) -> list[str]:
    """Name what is not copied: what is neither file nor folder nor link."""
    return [name for name in names if not _is_plain(Path(folder, name))]


def _is_plain(path: Path) -> bool:
    mode = path.lstat().st_mode
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_symlink():
        target.symlink_to(source.readlink())
    elif source.is_dir():
        shutil.copytree(source, target, symlinks=True, ignore=_not_plain, dirs_exist_ok=True)
    elif source.is_file():
        shutil.copy2(source, target)


def _copy_logs(source: Path, target: Path) -> None:
    """Copy the logs that are read, the run folders, and the size and time of every other log."""
    if not source.is_dir() or source.is_symlink():
        return
    target.mkdir()
    for folder, _, names in os.walk(source):
        below = target / Path(folder).relative_to(source)
        below.mkdir(exist_ok=True)
        for name in names:
            path = Path(folder, name)
            if path.parent == source and name in _READ:
                _copy(path, below / name)
            elif path.is_file() and not path.is_symlink():
                _stand_in(path, below / name)
    if (source / REVIEWER_RUNS).is_symlink():
        _copy(source / REVIEWER_RUNS, target / REVIEWER_RUNS)


def _stand_in(path: Path, target: Path) -> None:
    status = path.stat()
    target.touch()
    os.truncate(target, status.st_size)
    os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))


def all_red(turns: tuple[Turn, ...]) -> bool:
    """Tell whether there was anything to damage, and every damage showed."""
    done = [turn.outcome for turn in turns if turn.outcome != "left out"]
    return bool(done) and "NOT RED" not in done


def as_text(turns: tuple[Turn, ...]) -> str:
    """Return a line a damage, and the sum."""
    return "".join(f"{one_line(line)}\n" for line in _told(turns))


def _told(turns: tuple[Turn, ...]) -> Iterator[str]:
    for turn in turns:
        course = f"{turn.check}: {turn.before}"
        if turn.outcome != "left out":
            course += f" -> {turn.after}, textfile {turn.textfile}"
        yield f"{turn.outcome:10}  {turn.kind + ', ' + turn.damage:50}  {course}".rstrip()
    red = sum(turn.outcome in ("red", "red before") for turn in turns)
    yield f"{red} of {sum(turn.outcome != 'left out' for turn in turns)} damages show"


def as_json(turns: tuple[Turn, ...]) -> str:
    """Return the same as one JSON document."""
    return json.dumps({"all_red": all_red(turns), "turns": [turn._asdict() for turn in turns]}, indent=2) + "\n"
