"""The audit: what was written, by whom, from what to what. One JSON object a line.

A write leaves two rows for its path. `intent` is on the disk before the file changes; `done` follows once it has. A
path whose last row is an intent belongs to a write that was cut off: whoever takes its lock next looks at the file and
says `done` or `void`. Notes have a log of their own, everything else goes into `memory-writes.jsonl`.
"""

import json
import mmap
import os
from collections.abc import Mapping
from typing import Any, Final

from cortex.layout import MEMORY_WRITES, NOTE_WRITES, OBSERVABILITY
from cortex.nofollow import NotRegularError, open_regular
from cortex.store.files import append_line, discard_all, has_second_name, make_own, refused
from cortex.store.store import Store
from cortex.strict_json import StrictJSONError, loads

WRITES_LOG: Final = f"{OBSERVABILITY}/{MEMORY_WRITES}"
NOTES_LOG: Final = f"{OBSERVABILITY}/{NOTE_WRITES}"

Row = dict[str, Any]
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def encode_row(row: Mapping[str, object]) -> bytes:
    """Return a row as a line of JSON; what is no valid UTF-8 in it (a name of a file) shows as escapes."""
    try:
        return _encode(row).encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(row, allow_nan=False, separators=(",", ":")).encode() + b"\n"


def append_row(store: Store, log: str, row: Mapping[str, object], *, sync: bool) -> None:
    """Append a row to a log, under the log's lock.

    Raises:
        CortexError: `governance_refused` where the log is a link or no file, or is busy.
        OSError: The row could not be written.
    """
    with store.locks.hold(log) as lock, store.made_place(log) as place:
        try:
            if lock.was_cut_off:
                discard_all(place.folder, lock.prefix)
                lock.end()
            if has_second_name(place.folder, place.name):
                lock.begin()
                make_own(place.folder, place.name, lock.prefix)
                lock.end()
            append_line(place.folder, place.name, encode_row(row), sync=sync)
        except NotRegularError as error:
            raise refused(f"{log} {error}: nothing is written through it") from error


def last_row(store: Store, log: str, key: str, value: str) -> Row | None:
    """Return the last row of a log in which a key has this value, or None.

    Raises:
        CortexError: `governance_refused` where the log is a link or no file.
        OSError: The log cannot be read.
    """
    with store.place(log) as place:
        if place is None:
            return None
        try:
            descriptor = open_regular(place.name, place.folder)
        except FileNotFoundError:
            return None
        except NotRegularError as error:
            raise refused(f"{log} {error}: it is not trusted") from error
        try:
            return _last_row(descriptor, encode_row({key: value})[1:-2])
        finally:
            os.close(descriptor)


def _last_row(descriptor: int, needle: bytes) -> Row | None:
    """Search backwards: a key and its value, as JSON spells them, stand nowhere inside a string."""
    if not os.fstat(descriptor).st_size:
        return None
    with mmap.mmap(descriptor, 0, prot=mmap.PROT_READ) as text:
        end = len(text)
        while (found := text.rfind(needle, 0, end)) >= 0:
            start = text.rfind(b"\n", 0, found) + 1
            stop = text.find(b"\n", found)
            row = _decode(text[start : stop if stop >= 0 else len(text)])
            if row is not None:
                return row
            end = start
    return None


def _decode(line: bytes) -> Row | None:
    try:
        row = loads(line)
    except StrictJSONError:
        return None
    return row if isinstance(row, dict) else None


def close_intent(store: Store, log: str, path: str, now: str, current: str | None) -> None:
    """Say of a write to this path that was cut off whether it came about. The caller holds the path's lock.

    Args:
        store: The memory.
        log: The audit log that the path's writes are in.
        path: The path.
        now: The time of this call, as written in rows.
        current: The SHA-256 of the file as it is now, None where there is no file.
    """
    row = last_row(store, log, "path", path)
    if row is None or row.get("state") != "intent":
        return
    state = "done" if row.get("hash_after") == current else "void"
    append_row(store, log, {**row, "ts": now, "state": state, "recovered": True}, sync=True)
