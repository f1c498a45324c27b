"""Writing an index, and withdrawing it: every file through the governor, under one lock, the manifest in force last.

    build    blocks → table → manifest → adoption, where one is given → the marker and the other place go
    drop     marker → adoption goes → manifest goes → the rest goes

Whoever is stopped in between leaves the old index in force, or the new one, or none.
"""

import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from typing import Final, NamedTuple

from cortex.corpus.digest import canonical_digest
from cortex.corpus.faults import CorpusError
from cortex.corpus.folders import Folders
from cortex.corpus.walk import survey
from cortex.errors import CortexError
from cortex.index.contents import Contents, Moment, make_index, read_contents
from cortex.index.layout import (
    ADOPTION,
    TABLES,
    Adoption,
    IndexDoubtError,
    Manifest,
    Table,
    blocks_of,
    encode_adoption,
    encode_manifest,
    encode_table,
)
from cortex.index.opening import open_index, read_adoption, read_manifest
from cortex.layout import INDEX, INDEX_MANIFEST, INDEX_POLICY
from cortex.store.files import NEW_MODE, stage
from cortex.store.governor import Act, Change, govern, settled_state
from cortex.store.init import NO_INDEX
from cortex.store.locks import Lock
from cortex.store.store import Store
from policies.timestamps import format_instant

# A file that was written a moment ago is waited for, so that the index can rely on it; one of the future is not.
_A_MOMENT_NS: Final = 1_000_000_000
_TICK_S: Final = 0.005
_TICKS: Final = 200
_OURS: Final = tuple(f"{INDEX}/{name}" for table in TABLES for name in (blocks_of(table), table))


class Request(NamedTuple):
    """What is to be done with an index: the act's name, who asks, and when (ms since 1970)."""

    act: str
    operator: str
    now: int


class Candidate(NamedTuple):
    """An index that was made and is not written yet."""

    contents: Contents
    canonical_sha256: str
    table: Table
    blocks: bytes


class Built(NamedTuple):
    """An index that is in force."""

    candidate: Candidate
    manifest: Manifest
    is_adopted: bool
    warnings: tuple[str, ...]


def build(
    store: Store, request: Request, *, reuse: bool, prove: Callable[[Candidate], Adoption] | None = None
) -> Built:
    """Build an index and let its manifest take force.

    Args:
        store: The memory.
        request: What is asked, by whom.
        reuse: Whether to take over what the index there says of files whose content is the same.
        prove: Given the index, the adoption by which it will answer; it may refuse by raising. Where None, whether the
            index answers stays as it is.

    Raises:
        CortexError: `integrity_error` where the memory is not sound; `governance_refused` where another process builds,
            or the store refused; what `prove` raised. The index in force stays in force.
    """
    with store.locks.hold(INDEX_MANIFEST) as lock, _settled(store, request, lock):
        candidate = _make(store, lock, reuse=reuse)
        adoption = prove(candidate) if prove else None
        if not store.holds(INDEX_MANIFEST):
            _write(store, request, {ADOPTION: None})  # it was of an index that is gone, whoever removed that
        table = encode_table(candidate.table)
        place = next(name for name in TABLES if name != _place_in_force(store))
        manifest = Manifest(candidate.canonical_sha256, place, sha256(table).hexdigest(), format_instant(request.now))
        files: dict[str, bytes | None] = {
            f"{INDEX}/{blocks_of(place)}": candidate.blocks,
            f"{INDEX}/{place}": table,
            INDEX_MANIFEST: encode_manifest(manifest),
        }
        if adoption is not None:
            files[ADOPTION] = encode_adoption(adoption)
        files[INDEX_POLICY] = None
        files.update({path: None for path in _OURS if path not in files})
        warnings = _write(store, request, files, _mode_of(candidate.contents))
        return Built(candidate, manifest, _is_adopted(store), warnings)


def drop(store: Store, request: Request) -> tuple[list[str], tuple[str, ...]]:
    """Withdraw the index and leave the marker that there is none; return what went, and warnings.

    Raises:
        CortexError: `governance_refused` where the store refused.
    """
    with store.locks.hold(INDEX_MANIFEST) as lock, _settled(store, request, lock):
        there = [path for path in (INDEX_MANIFEST, *_OURS, ADOPTION) if store.holds(path)]
        warnings = _write(store, request, {INDEX_POLICY: NO_INDEX, ADOPTION: None, INDEX_MANIFEST: None})
        warnings += _clear(store, request, _OURS)
        return [path for path in there if not store.holds(path)], warnings


def is_left_over(store: Store, manifest: Manifest) -> bool:
    """Tell whether files of another index than the one in force are there: a build that was cut off left them."""
    place = manifest.index_path
    in_force = (f"{INDEX}/{blocks_of(place)}", f"{INDEX}/{place}")
    return any(store.holds(path) for path in _OURS if path not in in_force)


def _write(
    store: Store, request: Request, files: Mapping[str, bytes | None], mode: int | None = None
) -> tuple[str, ...]:
    """Write files in this order, with this mode; None lets one go. Return warnings."""
    warnings: tuple[str, ...] = ()
    for path, data in files.items():

        def plan(before: bytes | None, data: bytes | None = data) -> Change | None:
            return None if before is None and data is None else Change(data, mode=mode)

        warnings += govern(store, _act(request, path), plan).warnings
    return warnings


def _clear(store: Store, request: Request, paths: Sequence[str]) -> tuple[str, ...]:
    """Let go what is of no more use; return warnings, also where one cannot go: what is in force does not need it."""
    warnings: tuple[str, ...] = ()
    for path in paths:
        try:
            warnings += _write(store, request, {path: None})
        except CortexError as error:
            warnings += (f"{path} is left: {error.message}",)
    return warnings


def _mode_of(contents: Contents) -> int:
    """Return the mode of an index: nobody may read it who may not read every file that it was made from."""
    mode = NEW_MODE
    for file in contents.files:
        mode &= file.mode
    return mode | stat.S_IRUSR | stat.S_IWUSR


def _act(request: Request, path: str) -> Act:
    return Act(request.act, request.operator, path, request.now, guard=INDEX_MANIFEST, with_snapshot=False)


@contextmanager
def _settled(store: Store, request: Request, lock: Lock) -> Iterator[None]:
    """Clear up behind an act that was cut off: every file of an index may be one that it had begun to write."""
    if lock.was_cut_off:
        for path in (*_OURS, INDEX_MANIFEST, ADOPTION, INDEX_POLICY):
            settled_state(store, _act(request, path), lock)
    yield


def _make(store: Store, lock: Lock, *, reuse: bool) -> Candidate:
    moment = _moment(store, lock)
    try:
        contents = read_contents(store.root)
    except CorpusError as error:
        raise CortexError("integrity_error", str(error)) from error
    table, blocks = (reuse and _made_from_previous(store, contents, moment)) or make_index(contents, moment)
    return Candidate(contents, canonical_digest(contents.records), table, blocks)


def _made_from_previous(store: Store, contents: Contents, moment: Moment) -> tuple[Table, bytes] | None:
    """Make an index from the one there; None where there is none, or none to rely on."""
    try:
        with open_index(store.root.descriptor) as opened:
            return opened and make_index(contents, moment, opened.lexical)
    except Exception:  # noqa: BLE001 - a damaged index may break anything; nothing is taken over from it then
        return None


def _place_in_force(store: Store) -> str | None:
    """Return the table that the manifest names, None where there is none of ours."""
    with Folders(store.root.descriptor) as folders:
        try:
            manifest = read_manifest(folders)
        except IndexDoubtError:
            return None
    return manifest and manifest.index_path


def _is_adopted(store: Store) -> bool:
    """Tell whether there is an adoption to rely on."""
    with Folders(store.root.descriptor) as folders:
        try:
            return read_adoption(folders) is not None
        except IndexDoubtError:
            return False


def _moment(store: Store, lock: Lock) -> Moment:
    """Return what the clock of the index's file system says, once it is past the times of the files."""
    times = [max(file.mtime_ns, file.ctime_ns) for file in survey(store.root).files]
    moment = _look_at_clock(store, lock)
    for _ in range(_TICKS):
        if not any(moment.taken_at_ns <= written < moment.taken_at_ns + _A_MOMENT_NS for written in times):
            break
        time.sleep(_TICK_S)
        moment = _look_at_clock(store, lock)
    return moment


def _look_at_clock(store: Store, lock: Lock) -> Moment:
    """Make a file and see what time it bears."""
    with store.made_place(INDEX_MANIFEST) as place:
        lock.begin()
        staged = stage(place.folder, lock.prefix, b"", None)
        status = os.stat(staged, dir_fd=place.folder, follow_symlinks=False)
        os.unlink(staged, dir_fd=place.folder)  # where it cannot go, the next act sees that this one was cut off
        lock.end()
        return Moment(status.st_mtime_ns, status.st_dev)
