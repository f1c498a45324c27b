"""Does an adopted index still match its sources? The manifest, else the marker that there is no index on purpose.

The manifest lies inside the memory root and the index file inside the manifest's folder, links resolved; both files,
and the marker, are regular files and no links. Where a manifest is, both hashes are measured anew. Of an index of
cortex the file that the manifest names is a table of contents: the blocks beside it are held against that.
"""

import os
from io import FileIO
from pathlib import Path
from typing import Final, NamedTuple

from cortex.layout import INDEX_POLICY
from cortex.nofollow import open_regular
from cortex.places import Layout
from healthcheck.collectors.folder import NO_PATH, describe, open_below, printable, read_document, shown
from healthcheck.evidence import AdoptedIndex, Collected, Missing, NoIndex, Observed, Unreadable
from policies.limits import INDEX_MAX_BYTES
from policies.shapes import IndexManifest, IndexPolicy, as_index_manifest, as_shape
from policies.timestamps import parse_timestamp

# An index that is built or withdrawn while it is measured is measured anew, at most so often.
_LOOKS_MORE: Final = 2

_Found = Collected[NoIndex | AdoptedIndex]


class _FaultyError(Exception):
    """Manifest, index or sources prove nothing."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(reason)
        self.evidence = Unreadable(path, reason)


class _Manifest(NamedTuple):
    path: Path
    folder: Path  # its own, links resolved
    content: IndexManifest


def collect_index(layout: Layout, named: Path | None) -> _Found:
    """Measure the adopted index, or read the marker. `named` is the manifest's path where the operator gave one."""
    path = (named or layout.index_manifest).absolute()
    try:
        manifest = _read_manifest(layout, path)
        found = _look(layout, manifest, named)
        for _ in range(_LOOKS_MORE):
            before, manifest = manifest, _read_manifest(layout, path)
            if manifest == before:
                break
            found = _look(layout, manifest, named)
    except _FaultyError as fault:
        return fault.evidence
    return found


def _look(layout: Layout, manifest: _Manifest | None, named: Path | None) -> _Found:
    """Return what is found by one manifest, or by none."""
    if manifest is None:
        return Unreadable(shown(layout, named.absolute()), "is not there") if named else _read_marker(layout)
    try:
        return Observed(_measure(layout, manifest))
    except _FaultyError as fault:
        return fault.evidence


def _read_marker(layout: Layout) -> _Found:
    document = read_document(layout, layout.home, (INDEX_POLICY,))
    marker = shown(layout, layout.home / INDEX_POLICY)
    if isinstance(document, Missing):
        return Missing(f"neither {shown(layout, layout.index_manifest)} nor {marker}")
    if isinstance(document, Unreadable):
        return document
    if as_shape(document.value, IndexPolicy) is None:
        return Unreadable(marker, "has not exactly the known fields")
    return Observed(NoIndex(marker))


def _read_manifest(layout: Layout, path: Path) -> _Manifest | None:
    """Return the manifest, or None where there is none."""
    name = shown(layout, path)
    root = Path(os.path.realpath(layout.memory_root))
    if _is_absent(path):
        return None
    names = _names_below(root, path, name, "lies outside the memory root")
    document = read_document(layout, root, names)
    if isinstance(document, Missing):
        return None
    if isinstance(document, Unreadable):
        raise _FaultyError(name, document.reason)
    content = as_index_manifest(document.value)
    if content is None:
        raise _FaultyError(name, "has not exactly the known fields, or one of them makes no sense")
    return _Manifest(path, root.joinpath(*names[:-1]), content)


def _is_absent(path: Path) -> bool:
    """Tell whether nothing is there. A link to nowhere or a locked folder on the way is something."""
    try:
        path.lstat()
    except FileNotFoundError:
        return next(parent for parent in path.parents if os.path.lexists(parent)).is_dir()
    except (OSError, ValueError):
        return False
    return False


def _names_below(folder: Path, path: Path, name: str, reason: str) -> tuple[str, ...]:
    """Return the names that lead from a resolved folder to a path, every link but the last component resolved.

    Raises:
        _FaultyError: The path leads elsewhere, for the given reason, or cannot be resolved.
    """
    try:
        real = Path(os.path.realpath(path.parent, strict=True), path.name)
    except OSError as error:
        raise _FaultyError(name, describe(error)) from error
    except ValueError as error:
        raise _FaultyError(name, NO_PATH) from error
    if not real.parent.is_dir():
        raise _FaultyError(name, "lies in something that is no folder")
    if not real.is_relative_to(folder):
        raise _FaultyError(name, reason)
    if real == folder:
        raise _FaultyError(name, "is a folder")
    return real.relative_to(folder).parts


def _measure(layout: Layout, manifest: _Manifest) -> AdoptedIndex:
    content = manifest.content
    index = shown(layout, manifest.path.parent / content.index_path)
    path = manifest.folder / content.index_path
    names = _names_below(manifest.folder, path, index, "lies outside the manifest's folder")
    with _open(layout, manifest, names, (index, "the manifest names it")) as file:
        measured = _hash_of(file, index)
        if measured == content.index_sha256:
            _check_blocks(layout, manifest, file)
    return AdoptedIndex(
        manifest=shown(layout, manifest.path),
        index=index,
        indexed_at=parse_timestamp(content.indexed_at) or 0,
        canonical_sha256=content.canonical_sha256,
        index_sha256=content.index_sha256,
        measured_index_sha256=measured,
        measured_canonical_sha256=_canonical_hash(layout),
    )


def _open(layout: Layout, manifest: _Manifest, names: tuple[str, ...], told: tuple[str, str]) -> FileIO:
    """Open a file of the index, `names` one below the other from the manifest's folder.

    `told` is what it is called, and why it should be there.
    """
    name, why = told
    descriptor = open_below(layout, manifest.folder, names, open_regular)
    if isinstance(descriptor, Missing):
        raise _FaultyError(name, f"is not there, but {why}")
    if isinstance(descriptor, Unreadable):
        raise _FaultyError(name, descriptor.reason)
    return FileIO(descriptor)


def _hash_of(file: FileIO, name: str) -> str:
    from hashlib import file_digest

    try:
        if os.fstat(file.fileno()).st_size > INDEX_MAX_BYTES:
            raise _FaultyError(name, f"is larger than {INDEX_MAX_BYTES} bytes")
        return file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise _FaultyError(name, describe(error)) from error


def _check_blocks(layout: Layout, manifest: _Manifest, file: FileIO) -> None:
    """Hold the blocks of an index of cortex against its table, an open file whose hash is the adopted one.

    One block after the other, so that no more than one of them is in memory.
    """
    from cortex.index.layout import TABLES, IndexDoubtError, blocks_of, decode_table
    from cortex.index.lexical import LexicalIndex
    from cortex.index.opening import read_block

    table = manifest.content.index_path
    if table not in TABLES:
        return
    name = shown(layout, manifest.path.parent / blocks_of(table))
    with _open(layout, manifest, (blocks_of(table),), (name, f"its table {table} is")) as blocks:
        try:
            known = decode_table(os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0), made_here=False)
            LexicalIndex(known, lambda block: read_block(blocks.fileno(), block)).check()
        except IndexDoubtError as doubt:
            raise _FaultyError(name, f"is not what {table} says: {doubt}") from doubt
        except OSError as error:
            raise _FaultyError(name, describe(error)) from error
        except Exception as error:
            raise _FaultyError(name, f"cannot be held against {table}") from error


def _canonical_hash(layout: Layout) -> str:
    from cortex.corpus.digest import canonical_digest
    from cortex.corpus.faults import CorpusError
    from cortex.corpus.reader import iter_records
    from cortex.corpus.root import pin

    try:
        with pin(layout.memory_root) as root:
            return canonical_digest(iter_records(root))
    except CorpusError as error:
        found = error.fault  # its message may repeat a value, and a value may be private: place and kind are enough
        where = found.path if found.line is None else f"{found.path}, line {found.line}"
        reason = printable(f"cannot be measured: {where}: fault of kind {found.kind}")
        raise _FaultyError(shown(layout, layout.memory_root), reason) from error
