"""Experience: what tools did, from transcripts, tool logs and generic rows, merged in time order.

Rules:

1. Log rows carry no call id. So a session that has a transcript is taken from the transcript alone, and a row that is
   not newer than the last consolidation is old, however the log was rotated.
2. Of all events the newest `buffer_max` are kept; those of one time keep the order in which they were read.
3. A log that is missing holds nothing; one that cannot be read is named.
"""

import os
from collections.abc import Collection, Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from cortex.nofollow import open_regular
from cortex.sleep.calls import TRIM_BEYOND, Counts, fingerprint, instant, tool_name
from cortex.sleep.lines import Cursor, GrowingFile, file_key
from cortex.sleep.patterns import Event, public_text
from cortex.sleep.records import Record, records_of
from cortex.sleep.transcripts import Seen, Unreadable, read_transcripts


class Sources(NamedTuple):
    """Paths of what to read: transcripts and files of generic rows, the log of tool calls, the log of failures."""

    transcripts: tuple[str, ...]
    activity: str | None = None
    failures: str | None = None


class LogCounts(NamedTuple):
    """What became of the new rows of the logs: taken, malformed, of a session with a transcript, or old."""

    taken: int = 0
    malformed: int = 0
    in_transcript: int = 0
    old: int = 0


class Experience(NamedTuple):
    """What one run has gathered. Times in ms since 1970.

    `events` are the newest, those of earlier runs among them; `fresh` is how many were found now; `step` is when a
    session moved last by the transcripts, `newest` the path of the transcript that changed last.
    """

    events: list[Event]
    fresh: int
    counts: Counts
    logs: LogCounts
    seen: Seen
    step: int | None
    newest: str | None
    unreadable: tuple[Unreadable, ...]


def gather(sources: Sources, seen: Seen, before: Iterable[Event], mark: int, buffer_max: int) -> Experience:
    """Read what is new in `sources` and merge it with the events of earlier runs.

    `seen` and `before` are what the last run left and stay as they are; `mark` is when the last consolidation was.
    """
    reading = read_transcripts(sources.transcripts, seen, buffer_max)
    logs = _Logs(dict(reading.seen.cursors), reading.sessions, mark, buffer_max)
    logs.read(sources.activity, ok=True)
    logs.read(sources.failures, ok=False)
    reading.seen.cursors = logs.cursors
    return Experience(
        merge(before, reading.events, logs.events, buffer_max=buffer_max),
        reading.counts.successes + reading.counts.failures - reading.counts.undated + logs.counts.taken,
        reading.counts,
        logs.counts,
        reading.seen,
        reading.step,
        reading.newest,
        (*reading.unreadable, *logs.unreadable),
    )


def merge(*sources: Iterable[Event], buffer_max: int) -> list[Event]:
    """Return the newest events of all sources, in time order; equal times keep the order of the sources."""
    return sorted(chain(*sources), key=lambda event: event.t)[-buffer_max:]


class _Logs:
    """The tool logs of one run."""

    def __init__(self, cursors: dict[str, Cursor], sessions: Collection[str], mark: int, buffer_max: int) -> None:
        self.cursors = cursors
        self.counts = LogCounts()
        self.events: list[Event] = []
        self.unreadable: list[Unreadable] = []
        self._sessions = sessions
        self._mark = mark
        self._buffer_max = buffer_max

    def read(self, path: str | None, *, ok: bool) -> None:
        """Take the new rows of a log, all of them successes or all of them failures."""
        if path is None:
            return
        try:
            descriptor = open_regular(path)
        except FileNotFoundError:
            return
        except OSError as error:
            self.unreadable.append(Unreadable(path, error.strerror or str(error)))
            return
        try:
            for record in self._records(descriptor):
                self._take(record, ok=ok)
        except OSError as error:
            self.unreadable.append(Unreadable(path, error.strerror or str(error)))
        finally:
            os.close(descriptor)

    def _records(self, descriptor: int) -> Iterator[Record]:
        status = os.fstat(descriptor)
        file = GrowingFile(descriptor, status.st_size, self.cursors.pop(file_key(status), None))
        for block in file.blocks():
            records, malformed = records_of(block) if block else ([], 1)
            self.counts = self.counts._replace(malformed=self.counts.malformed + malformed)
            yield from records
            if block and not block.endswith(b"\n") and not malformed:
                file.take_rest()
        self.cursors[file_key(status)] = file.cursor()

    def _take(self, record: Record, *, ok: bool) -> None:
        t = instant(record.timestamp)
        if t is None or not record.tool_name:
            self.counts = self.counts._replace(malformed=self.counts.malformed + 1)
        elif t <= self._mark:
            self.counts = self.counts._replace(old=self.counts.old + 1)
        elif record.session_id and fingerprint(record.session_id) in self._sessions:
            self.counts = self.counts._replace(in_transcript=self.counts.in_transcript + 1)
        else:
            self.counts = self.counts._replace(taken=self.counts.taken + 1)
            error = None if ok else public_text(record.error or "")
            self.events.append(Event(t, tool_name(record.tool_name), ok, None, error))
            if len(self.events) > TRIM_BEYOND * self._buffer_max:
                self.events = merge(self.events, buffer_max=self._buffer_max)
