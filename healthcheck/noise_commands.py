"""`memory-health noise`: what the ledger holds, and an operator's word on it.

1. A silence has a reason and an end, and is of something that is open: what is not there needs none.
2. What cannot be done says why on stderr and exits 2; the ledger is then as it was.
3. Lines of other sources are taken all together or not at all.
"""

import json
import sys
from collections.abc import Iterator
from typing import Any, Final

from msgspec.structs import replace

from cortex.privacy import strip_private
from cortex.strict_json import StrictJSONError, loads
from healthcheck import notices
from healthcheck.clock import Clock
from healthcheck.exit_codes import ExitCode
from healthcheck.news import Entry, Heard, Ledger, Silence, ingest
from healthcheck.options import Options
from healthcheck.renderers.printable import one_line, valid
from healthcheck.request import Request, quoted
from policies.limits import MIB
from policies.noise import SILENCE_MS
from policies.timestamps import format_instant, is_date, parse_instant

INGESTED_BYTES_MOST: Final = 64 * MIB
_WORDS: Final = {"new": "new", "known": "known from now on, and no more told", "recovered": "recovered"}


class _RefusedError(Exception):
    """What was asked for cannot be done; `str()` says why."""


def answer(request: Request, options: Options, clock: Clock) -> tuple[str, ExitCode]:
    """Do one of the actions, and return what is printed and what to exit with."""
    try:
        _refuse_faults(request)
        now = clock.wall_ms() if request.now is None else request.now
        return _act(request, options, now), ExitCode.OK
    except notices.LedgerError as error:
        reason = f"the noise ledger {error}; `memory-health noise clear` begins a new one"
    except _RefusedError as error:
        reason = str(error)
    print(f"memory-health: {one_line(reason)}".encode("ascii", "backslashreplace").decode(), file=sys.stderr)  # noqa: T201
    return "", ExitCode.USAGE


def _refuse_faults(request: Request) -> None:
    if request.faults:
        raise _RefusedError(request.faults[0].message)


def _act(request: Request, options: Options, now: int) -> str:
    key = options.details["key"] or ""
    match options.details["action"]:
        case "silence":
            return _silence(request, key, options.details["reason"] or "", _end(options.details["until"], now), now)
        case "unsilence":
            return _unsilence(request, key)
        case "clear":
            kept = notices.clear(request.layout, now)
            return f"cleared{f'; the damaged ledger is kept as {kept}' if kept else ''}\n"
        case "ingest":
            return _ingest(request, now)
        case _:
            ledger = notices.peek(request.layout) or Ledger()
            return _as_json(ledger, now) if options.format == "json" else _as_text(ledger, now)


def _end(until: str | None, now: int) -> int:
    """Return the instant at which a silence ends; a date alone is its first instant in UTC."""
    if until is None:
        return now + SILENCE_MS
    end = parse_instant(f"{until}T00:00:00Z" if is_date(until) else until)
    if end is None:
        raise _RefusedError(f"--until is {quoted(until)}: write a date (2026-08-31), or an instant with a zone")
    if end <= now:
        raise _RefusedError(f"--until is {quoted(until)}, which is over")
    return end


def _silence(request: Request, key: str, reason: str, until: int, now: int) -> str:
    if not reason.strip():
        raise _RefusedError("--reason needs a reason")
    if key.startswith("noise::"):
        raise _RefusedError(f"{quoted(key)} is about silences, and cannot be silenced")

    def step(ledger: Ledger) -> tuple[Ledger, None]:
        entry = _open(ledger, key)
        return _with(ledger, key, replace(entry, silence=Silence(valid(reason), now, until, entry.level))), None

    notices.change(request.layout, step)
    return one_line(f"{key} is silenced until {format_instant(until)}") + "\n"


def _unsilence(request: Request, key: str) -> str:
    def step(ledger: Ledger) -> tuple[Ledger, None]:
        entry = _open(ledger, key)
        if entry.silence is None:
            raise _RefusedError(f"{quoted(key)} is not silenced")
        return _with(ledger, key, replace(entry, silence=None)), None

    notices.change(request.layout, step)
    return one_line(f"{key} is told again") + "\n"


def _open(ledger: Ledger, key: str) -> Entry:
    entry = ledger.findings.get(key) or ledger.alerts.get(key)
    if entry is None:
        raise _RefusedError(f"nothing open is called {quoted(key)}: `memory-health noise status` lists what is open")
    return entry


def _with(ledger: Ledger, key: str, entry: Entry) -> Ledger:
    if key in ledger.findings:
        return replace(ledger, findings={**ledger.findings, key: entry})
    return replace(ledger, alerts={**ledger.alerts, key: entry})


def _ingest(request: Request, now: int) -> str:
    heard = tuple(_heard(sys.stdin.buffer.read(INGESTED_BYTES_MOST + 1)))

    def step(ledger: Ledger) -> tuple[Ledger, tuple[tuple[str, str], ...]]:
        taken = ingest(ledger, heard, now, notices.rhythm_of(request.layout))
        return taken.ledger, tuple((_WORDS[what], key) for what, key in taken.news)

    return "".join(one_line(f"{what}: {key}") + "\n" for what, key in notices.change(request.layout, step))


def _heard(data: bytes) -> Iterator[Heard]:
    if len(data) > INGESTED_BYTES_MOST:
        raise _RefusedError(f"stdin holds more than {INGESTED_BYTES_MOST} bytes")
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            yield _line(line, number)


def _line(line: bytes, number: int) -> Heard:
    try:
        members = loads(line)
    except StrictJSONError as error:
        raise _RefusedError(f"line {number} is {error}: nothing was taken") from error
    organ, note, ok = (members.get(name) if isinstance(members, dict) else 0 for name in ("organ", "note", "ok"))
    texts = all(text is None or isinstance(text, str) for text in (organ, note))
    if not texts or ok not in (None, True, False):
        raise _RefusedError(f"line {number} is no object of organ and note: nothing was taken")
    return Heard(_public(organ), _public(note), ok is True)


def _public(text: Any) -> str | None:
    return None if text is None else valid(strip_private(text))


def _state(entry: Entry, now: int) -> str:
    if entry.silence is not None:
        return "silenced" if entry.is_silenced(now) else "silence expired"
    return "known" if entry.converged else "open"


def _rows(ledger: Ledger, now: int) -> Iterator[dict[str, Any]]:
    for source, entries in (("finding", ledger.findings), ("alert", ledger.alerts)):
        for key, entry in sorted(entries.items()):
            silence = entry.silence
            yield {
                "key": key,
                "source": source,
                "state": _state(entry, now),
                "count": entry.count,
                "first": format_instant(entry.first),
                "last": format_instant(entry.last),
                "until": None if silence is None else format_instant(silence.until),
                "reason": None if silence is None else silence.reason,
            }


def _as_json(ledger: Ledger, now: int) -> str:
    return json.dumps({"open": list(_rows(ledger, now))}, indent=2) + "\n"


def _as_text(ledger: Ledger, now: int) -> str:
    rows = list(_rows(ledger, now))
    if not rows:
        return "nothing is open\n"
    return "".join(f"{line}\n" for row in rows for line in _told(row))


def _told(row: dict[str, Any]) -> Iterator[str]:
    yield one_line(f"{row['state']}: {row['key']} ({row['source']})")
    yield f"  seen {row['count']} times, first {row['first']}, last {row['last']}"
    if row["reason"] is not None:
        yield one_line(f"  until {row['until']}: {row['reason']}")
