"""Calls and their results, joined by id into events. Pure: blocks of messages in, counts and events out.

Rules:

1. Only the flag `is_error` decides success; the prefixes in `DECLINED` are the only words read.
2. A call and a result count once, over all files and over repeated runs.
3. What lacks its partner is unpaired: counted, never guessed. A result may come before its call.
4. What is kept across runs holds no text but the names of tools: ids are kept as fingerprints.
"""

from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from hashlib import blake2b
from typing import Final, NamedTuple

import msgspec

from cortex.sleep.patterns import Event, public_text
from cortex.sleep.records import Part, text_of
from policies.timestamps import parse_timestamp

DECLINED: Final = (
    "The user doesn't want to proceed",
    "<tool_use_error>Sibling tool call errored",
    "<tool_use_error>Cancelled",
)
# Calls, or results, that wait for their partner; the oldest give way.
WAITING_MOST: Final = 10_000
# Events and ids are cut to the newest once there are so many times more.
TRIM_BEYOND: Final = 4
USUAL_FORM: Final = "2026-08-10T12:00:00.000Z"


class Counts(msgspec.Struct):
    """What one run found, of what no earlier run had seen.

    `repeated` are records, calls and results seen before; `unpaired` calls without a result and results without a call;
    `undated` finished calls of no known time, which give no event; `unknown_types` records passed over for their type.
    """

    records: int = 0
    calls: int = 0
    successes: int = 0
    failures: int = 0
    declined: int = 0
    unpaired: int = 0
    malformed: int = 0
    repeated: int = 0
    undated: int = 0
    unknown_types: int = 0


class OpenCall(msgspec.Struct, frozen=True):
    """A call without its result: the tool, and when it was made (ms since 1970; None where it does not say)."""

    tool: str
    t: int | None


class _Outcome(NamedTuple):
    """A result: when, whether it succeeded (None where a person declined), and its error."""

    t: int | None
    ok: bool | None = None
    err: str | None = None


def fingerprint(name: str) -> str:
    """Return what an id is kept as: it tells ids apart and says nothing of them."""
    return blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


class Calls:
    """The calls of one run. `closed` (when each was finished) and `waiting` are what earlier runs have left."""

    def __init__(
        self, closed: Mapping[str, int], waiting: Mapping[str, OpenCall], buffer_max: int, counts: Counts
    ) -> None:
        self._counts = counts
        self._buffer_max = buffer_max
        self._closed_before = closed
        self._waiting_before = dict(waiting)
        self._waiting: dict[str, OpenCall] = {}
        self._orphans: dict[str, _Outcome] = {}
        self._finished: set[int] = set()
        self._given_up = 0
        self._events: list[tuple[int, int, Event]] = []
        self._closed: list[tuple[int, str]] = []

    def call(self, part: Part, timestamp: str | None) -> None:
        """Take a `tool_use` block of a line with this timestamp."""
        name = part.id
        if hash(name) in self._finished or name in self._waiting or self._is_known(name, self._waiting_before):
            self._counts.repeated += 1
            return
        self._counts.calls += 1
        call = OpenCall(tool_name(part.name), instant(timestamp))
        outcome = self._orphans.pop(name, None)
        if outcome is None:
            self._waiting[name] = call
            self._given_up += _give_way(self._waiting)
        else:
            self._finish(name, call, outcome)

    def result(self, part: Part, timestamp: str | None) -> None:
        """Take a `tool_result` block of a line with this timestamp."""
        name = part.tool_use_id
        if hash(name) in self._finished or name in self._orphans or self._is_known(name):
            self._counts.repeated += 1
            return
        outcome = _outcome(part, instant(timestamp))
        call = self._waiting.pop(name, None)
        if call is None and self._waiting_before:
            call = self._waiting_before.pop(fingerprint(name), None)
        if call is None:
            self._orphans[name] = outcome
            self._given_up += _give_way(self._orphans)
        else:
            self._finish(name, call, outcome)

    def row(self, event: Event) -> None:
        """Take an event that was found whole."""
        self._counts.successes += event.ok
        self._counts.failures += not event.ok
        self._events.append((event.t, self._counts.successes + self._counts.failures, event))
        if len(self._events) + len(self._closed) > 2 * TRIM_BEYOND * self._buffer_max:
            self._trim()

    def count_unpaired(self) -> None:
        """Count what has found no partner by now."""
        self._counts.unpaired = len(self._waiting) + len(self._orphans) + self._given_up

    def events(self) -> list[Event]:
        """Return the newest events, in time order; those of one time in the order of reading."""
        self._events.sort()
        return [event for _, _, event in self._events[-self._buffer_max :]]

    def closed(self) -> dict[str, int]:
        """Return when each of the newest finished calls was finished, those of earlier runs among them."""
        before = [(t, key) for key, t in self._closed_before.items()]
        every = sorted([*before, *((t, fingerprint(name)) for t, name in self._closed)])
        return {key: t for t, key in every[-self._buffer_max :]}

    def waiting(self) -> dict[str, OpenCall]:
        """Return the newest unfinished calls, those of earlier runs among them."""
        every = self._waiting_before | {fingerprint(name): call for name, call in self._waiting.items()}
        newest = sorted(every.items(), key=lambda item: item[1].t or 0)
        return dict(newest[-self._buffer_max :])

    def _is_known(self, name: str, *others: Mapping[str, OpenCall]) -> bool:
        """Tell whether an earlier run has finished a call, or knows it otherwise."""
        known = (self._closed_before, *others)
        return any(known) and any(fingerprint(name) in ids for ids in known)

    def _finish(self, name: str, call: OpenCall, outcome: _Outcome) -> None:
        self._finished.add(hash(name))
        t = call.t if outcome.t is None else outcome.t
        self._closed.append((t or 0, name))
        if outcome.ok is None:
            self._counts.declined += 1
            return
        if t is None:
            self._counts.successes += outcome.ok
            self._counts.failures += not outcome.ok
            self._counts.undated += 1
            return
        took = None if call.t is None or outcome.t is None else max(outcome.t - call.t, 0)
        self.row(Event(t, call.tool, outcome.ok, took, outcome.err))

    def _trim(self) -> None:
        """Let go of what is certainly not among the newest; rarely, so that it costs next to nothing."""
        self._events.sort()
        del self._events[: -self._buffer_max]
        self._closed.sort()
        del self._closed[: -self._buffer_max]


def instant(timestamp: str | None) -> int | None:
    """Return a timestamp in ms since 1970, or None; fast where it has the form that transcripts write."""
    if not timestamp:
        return None
    if len(timestamp) == len(USUAL_FORM) and timestamp[7] == "-" and timestamp[10] == "T" and timestamp[23] == "Z":
        try:
            return round(datetime.fromisoformat(timestamp).timestamp() * 1000)
        except ValueError:
            return None
    return parse_timestamp(timestamp)


@lru_cache(maxsize=1024)
def tool_name(name: str) -> str:
    """Return the name of a tool as an event may keep it."""
    return public_text(name)


def _give_way(waiting: dict[str, OpenCall] | dict[str, _Outcome]) -> bool:
    if len(waiting) <= WAITING_MOST:
        return False
    del waiting[next(iter(waiting))]
    return True


def _outcome(part: Part, t: int | None) -> _Outcome:
    if not part.is_error:
        return _Outcome(t, ok=True)
    text = text_of(part.content)
    if text.startswith(DECLINED):
        return _Outcome(t)
    return _Outcome(t, ok=False, err=public_text(text))
