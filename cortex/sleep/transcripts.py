"""Agent session transcripts, streamed from where the last run ended, read by shape.

Rules:

1. A `tool_use` block in an assistant line opens a call, the `tool_result` with its id in a user line closes it.
2. A record counts once by its `uuid` in a run, a call and a result by their id over all runs.
3. A row of the five fields of an event (`t`, `tool`, `ok`, `ms`, `err`) is that event; it counts once by its place.
4. Nothing in a file is fatal: what is malformed, unreadable or of unknown type is counted or named.
5. Memory does not grow with a file, but for a fingerprint a record.
"""

import os
import stat
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

import msgspec

from cortex.errors import invalid, not_found
from cortex.nofollow import open_regular
from cortex.sleep.calls import Calls, Counts, OpenCall, fingerprint, instant, tool_name
from cortex.sleep.lines import Cursor, GrowingFile, file_key
from cortex.sleep.patterns import Event, public_text
from cortex.sleep.records import Message, Part, Record, records_of

KNOWN_TYPES: Final = frozenset(
    {"assistant", "user", "system", "progress", "attachment", "summary", "file-history-snapshot", "mode", "ai-title"}
    | {"last-prompt", "permission-mode", "queue-operation", "pr-link"}
)
MESSAGES: Final = frozenset({"assistant", "user"})
SUFFIX: Final = ".jsonl"
# Times and durations of generic rows: what JSON readers agree on as an integer.
NUMBER_MOST: Final = 2**53 - 1
# Companions that macOS writes beside a file: binary, whatever their suffix.
COMPANION: Final = "._"
# Files whose cursors and sessions are kept; those not read for longest give way.
FILES_MOST: Final = 10_000


class Seen(msgspec.Struct):
    """What earlier runs have read: to be kept in the state. Ids and sessions are kept as fingerprints.

    `cursors` and `sessions` go by file; `closed` says when each call was finished, `waiting` holds the unfinished ones.
    """

    cursors: dict[str, Cursor] = {}
    sessions: dict[str, list[str]] = {}
    closed: dict[str, int] = {}
    waiting: dict[str, OpenCall] = {}


class Unreadable(NamedTuple):
    """A file that could not be read, or not to its end, and why."""

    path: str
    reason: str


class Reading(NamedTuple):
    """The outcome of a run. Times in ms since 1970.

    `events` are the newest, in time order; `sessions` the fingerprints of all sessions that have a transcript, read now
    or earlier; `step` when a session moved last; `newest` the path of what changed last among what held something new.
    """

    events: list[Event]
    counts: Counts
    seen: Seen
    sessions: frozenset[str]
    step: int | None
    newest: str | None
    unreadable: tuple[Unreadable, ...]


class Found(NamedTuple):
    """The transcripts below some paths, and the paths that are missing or hold none."""

    files: tuple[str, ...]
    without: tuple[str, ...]


def find_transcripts(paths: Sequence[str], *, named: bool) -> Found:
    """Return the transcripts at or below `paths`, in order. Links below a folder are not followed.

    Raises:
        CortexError: `not_found` or `invalid_input` where `named` (on the command line) and a path is missing or neither
            file nor folder.
    """
    files: list[str] = []
    without = []
    for path in paths:
        before = len(files)
        mode = _mode(path)
        if stat.S_ISDIR(mode):
            files += _below(path)
        elif stat.S_ISREG(mode):
            files.append(os.path.realpath(path))
        elif named:
            raise (invalid if os.path.lexists(path) else not_found)(f"no transcript or folder of them: {path}")
        if len(files) == before:
            without.append(path)
    return Found(tuple(dict.fromkeys(files)), tuple(without))


def _mode(path: str) -> int:
    """Return what lies at a path, links followed; 0 where there is nothing."""
    try:
        return os.stat(path).st_mode  # noqa: PTH116 # pathlib costs more than all else here
    except (OSError, ValueError):
        return 0


def _below(folder: str) -> Iterator[str]:
    """Yield the transcripts below a folder; one that cannot be listed holds none."""
    try:
        with os.scandir(folder) as listed:
            entries = sorted(listed, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield from _below(entry.path)
        elif entry.name.endswith(SUFFIX) and not entry.name.startswith(COMPANION) and not entry.is_symlink():
            yield entry.path


def read_transcripts(paths: Sequence[str], seen: Seen, buffer_max: int) -> Reading:
    """Read what is new in the files at `paths`; `seen` stays as it is. At most `buffer_max` events and ids are kept."""
    run = _Run(seen, buffer_max)
    for path in paths:
        run.read(path)
    return run.reading()


class _Run:
    """One run over some files, in their order."""

    def __init__(self, seen: Seen, buffer_max: int) -> None:
        self._counts = Counts()
        self._calls = Calls(seen.closed, seen.waiting, buffer_max, self._counts)
        self._cursors = dict(seen.cursors)
        self._sessions = dict(seen.sessions)
        self._uuids: set[int] = set()
        self._read: set[str] = set()
        self._step: int | None = None
        self._newest: tuple[int, str] | None = None
        self._unreadable: list[Unreadable] = []

    def read(self, path: str) -> None:
        """Take what is new in one file; a file of two names is read once."""
        try:
            descriptor = open_regular(path)
        except OSError as error:
            self._unreadable.append(Unreadable(path, error.strerror or str(error)))
            return
        try:
            self._read_open(path, descriptor)
        except OSError as error:
            self._unreadable.append(Unreadable(path, error.strerror or str(error)))
        finally:
            os.close(descriptor)

    def reading(self) -> Reading:
        """Return the outcome."""
        self._calls.count_unpaired()
        kept = dict(list(self._cursors.items())[-FILES_MOST:])
        sessions = {key: names for key, names in self._sessions.items() if key in kept}
        return Reading(
            self._calls.events(),
            self._counts,
            Seen(kept, sessions, self._calls.closed(), self._calls.waiting()),
            frozenset(name for names in self._sessions.values() for name in names),
            self._step,
            self._newest[1] if self._newest else None,
            tuple(self._unreadable),
        )

    def _read_open(self, path: str, descriptor: int) -> None:
        status = os.fstat(descriptor)
        key = file_key(status)
        if key in self._read:
            return
        self._read.add(key)
        file = GrowingFile(descriptor, status.st_size, self._cursors.pop(key, None))
        sessions: set[str] = set()
        for block in file.blocks():
            self._take(block, sessions)
            if block and not block.endswith(b"\n") and _ends_whole(block):
                file.take_rest()
        self._cursors[key] = file.cursor()
        known = self._sessions.get(key, [])
        self._sessions[key] = list(dict.fromkeys([*known, *sorted(fingerprint(name) for name in sessions)]))
        if file.has_grown:
            self._newest = max(self._newest or (0, ""), (status.st_mtime_ns, path))

    def _take(self, block: bytes | None, sessions: set[str]) -> None:
        """Take a block of lines; None is a line too long to be read."""
        if block is None:
            self._counts.malformed += 1
            return
        records, malformed = records_of(block)
        self._counts.malformed += malformed
        self._counts.records += len(records)
        sessions.update({record.session for record in records if record.session})
        for record in [record for record in records if record.type not in KNOWN_TYPES]:
            self._take_other(record)
        messages = [record for record in self._new(records) if record.type in MESSAGES]
        moved = instant(max((record.timestamp or "" for record in messages), default=""))
        if moved is not None:
            self._step = max(self._step or moved, moved)
        for record in messages:
            if record.message and isinstance(record.message, Message) and isinstance(record.message.content, list):
                self._take_parts(record.type, record.message.content, record.timestamp)

    def _take_other(self, record: Record) -> None:
        """Take a generic row as the event that it is; pass over anything else."""
        if record.t is None or not record.tool or record.ok is None or not abs(record.t) <= NUMBER_MOST:
            self._counts.unknown_types += 1
            return
        took = record.ms if record.ms is not None and 0 <= record.ms <= NUMBER_MOST else None
        error = None if record.ok or not record.err else public_text(record.err)
        self._calls.row(Event(int(record.t), tool_name(record.tool), record.ok, took, error))

    def _new(self, records: list[Record]) -> list[Record]:
        """Return the records that were not seen in this run: mostly all of a block, which costs one look."""
        uuids = [hash(record.uuid) for record in records if record.uuid is not None]
        fresh = set(uuids)
        if len(fresh) == len(uuids) and self._uuids.isdisjoint(fresh):
            self._uuids |= fresh
            return records
        return [record for record in records if self._is_new(record)]

    def _is_new(self, record: Record) -> bool:
        if record.uuid is None:
            return True
        key = hash(record.uuid)
        if key in self._uuids:
            self._counts.repeated += 1
            return False
        self._uuids.add(key)
        return True

    def _take_parts(self, kind: str, parts: list[Part], timestamp: str | None) -> None:
        for part in parts:
            if part.type == "tool_use" and kind == "assistant" and part.id:
                self._calls.call(part, timestamp)
            elif part.type == "tool_result" and kind == "user" and part.tool_use_id:
                self._calls.result(part, timestamp)


def _ends_whole(block: bytes) -> bool:
    """Tell whether the last line of a block is no cut one."""
    return records_of(block[block.rfind(b"\n") + 1 :]).malformed == 0
