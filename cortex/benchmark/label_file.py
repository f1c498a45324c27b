"""Label files and reports on the disk: read without following a link, added to under a lock, written once.

A label file may lie anywhere; below the memory root only in `BENCHMARKS/`, where it is no part of the corpus. Reports
lie there too, and are never replaced.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from cortex.errors import invalid, not_found
from cortex.layout import BENCHMARKS
from cortex.nofollow import NotRegularError, open_folder, open_regular
from cortex.store.audit import WRITES_LOG, append_row, close_intent, encode_row
from cortex.store.files import append_line, read_state, refused
from cortex.store.governor import Act, Change, audit_row, govern, hash_of
from cortex.store.store import Place, Store
from policies.limits import LABELS_MAX_BYTES

_REPORT: Final = re.compile(r"cortex-benchmark-v[0-9]+-[A-Za-z0-9._-]+\.json")


def read_label_file(path: str) -> bytes:
    """Return a label file's content, or so much of it that it shows to be too large; raises as `read_named`."""
    return read_named(path, "label file", LABELS_MAX_BYTES + 1)


def read_named(path: str, what: str, most: int) -> bytes:
    """Return at most so many bytes of a file that the caller named.

    Raises:
        CortexError: `not_found` where nothing is there; `invalid_input` for a link, a folder, or what cannot be read.
    """
    try:
        descriptor = open_regular(path)
    except FileNotFoundError as error:
        raise not_found(f"the {what} is not there") from error
    except NotRegularError as error:
        raise invalid(f"the {what} {error}: only a regular file is read") from error
    except (OSError, ValueError) as error:
        raise invalid(f"the {what} cannot be read") from error
    with os.fdopen(descriptor, "rb") as file:
        return file.read(most)


def report_name(root: str, output: str) -> str:
    """Return a report's name within the memory whose resolved root is `root`.

    Raises:
        CortexError: `invalid_input` where `output` lies elsewhere or is called otherwise, `governance_refused` where
            something is there.
    """
    folder, name = os.path.split(os.path.abspath(output))  # noqa: PTH100 - links stay, and are refused
    if os.path.realpath(folder) != f"{root.rstrip('/')}/{BENCHMARKS}":
        raise invalid(f"--output lies in the folder {BENCHMARKS} of this memory, and nowhere else")
    if not _REPORT.fullmatch(name):
        raise invalid("--output is called cortex-benchmark-vN-NAME.json, N a number, NAME letters, digits, . _ and -")
    if os.path.lexists(os.path.join(folder, name)):  # noqa: PTH118 - a string to the system's own call
        raise _is_there(name)
    return f"{BENCHMARKS}/{name}"


def write_report(store: Store, name: str, data: bytes, actor: str, now: int) -> tuple[str, ...]:
    """Write a report that is not there yet; return warnings.

    Raises:
        CortexError: `governance_refused` where something is there, or the disk refuses; then nothing was written.
    """

    def create(before: bytes | None) -> Change:
        if before is not None:
            raise _is_there(name)
        return Change(data)

    return govern(store, Act("benchmark", actor, name, now, with_snapshot=False), create).warnings


def append_label(store: Store, act: Act, make_row: Callable[[bytes], Mapping[str, object]]) -> None:
    """Append a row to a label file that is made where it is missing; both states are in the audit.

    Args:
        store: The memory that the label is about.
        act: The act; its path is that of `label_path`.
        make_row: Given the file's content so far, the row to append; it may refuse by raising.

    Raises:
        CortexError: What `make_row` raised; `governance_refused` where a link is in the way or the disk refuses.
    """
    with store.locks.hold(act.path), _place(store, act.path) as place:
        try:
            before = read_state(place.folder, place.name).data
        except NotRegularError as error:
            raise invalid(f"the label file {error}: only a regular file is written") from error
        close_intent(store, WRITES_LOG, act.path, act.ts, hash_of(before))
        row = make_row(before or b"")
        audit = audit_row(act, before, _with_line(before or b"", encode_row(row)))
        append_row(store, WRITES_LOG, audit, sync=True)
        if act.path.startswith(f"{BENCHMARKS}/"):
            append_row(store, act.path, row, sync=True)
        else:
            append_line(place.folder, place.name, encode_row(row), sync=True)
        append_row(store, WRITES_LOG, {**audit, "state": "done"}, sync=False)


def label_path(root: str, path: str) -> str:
    """Return what a label file is called in locks and in the audit: its name within the memory, else its full path.

    Raises:
        CortexError: `governance_refused` where it lies in the memory, but not in `BENCHMARKS/`.
    """
    folder, name = os.path.split(os.path.abspath(path))  # noqa: PTH100 - links stay, and are refused
    resolved = f"{os.path.realpath(folder).rstrip('/')}/{name}"
    inside = resolved.removeprefix(f"{root.rstrip('/')}/")
    if inside != resolved and not inside.startswith(f"{BENCHMARKS}/"):
        raise refused(f"within a memory, labels lie in {BENCHMARKS}/ alone")
    return inside


@contextmanager
def _place(store: Store, path: str) -> Iterator[Place]:
    if path.startswith(f"{BENCHMARKS}/"):
        with store.made_place(path) as place:
            yield place
        return
    folder, name = os.path.split(path)
    descriptor = open_folder(folder)
    try:
        yield Place(descriptor, name)
    finally:
        os.close(descriptor)


def _with_line(before: bytes, line: bytes) -> bytes:
    """Return a file's content once a line is appended; a torn last line is ended first."""
    torn = b"\n" if before and not before.endswith(b"\n") else b""
    return before + torn + line


def _is_there(name: str) -> Exception:
    return refused(f"{name} is there already: a report is never written over")
