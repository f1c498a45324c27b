"""From a memory root to its index: manifest, table and blocks, opened without following a link, and proven.

The manifest's hash is that of the table; the table's hashes are those of the blocks. What is read is checked first.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

from cortex.corpus.folders import Folders
from cortex.index.hashing import sha256_hex
from cortex.index.layout import (
    ADOPTION,
    TABLES,
    Adoption,
    Block,
    IndexDoubtError,
    Manifest,
    blocks_of,
    decode_adoption,
    decode_manifest,
    decode_table,
)
from cortex.index.lexical import LexicalIndex
from cortex.layout import INDEX, INDEX_MANIFEST
from policies.limits import INDEX_MAX_BYTES, MANIFEST_MAX_BYTES
from policies.timestamps import parse_timestamp


class OpenIndex(NamedTuple):
    """An index whose table is the one that the manifest names. `adoption` is None where it is not to answer yet."""

    manifest: Manifest
    adoption: Adoption | None
    lexical: LexicalIndex


@contextmanager
def open_index(root: int) -> Iterator[OpenIndex | None]:
    """Open the index below an open memory root; None where there is no manifest.

    Raises:
        IndexDoubtError: There is one, and it cannot be relied on.
        Exception: It was made to mislead.
    """
    with Folders(root) as folders:
        found = _find(folders)
    if found is None:
        yield None
        return
    opened, descriptor = found
    try:
        yield opened
    finally:
        os.close(descriptor)


def _find(folders: Folders) -> tuple[OpenIndex, int] | None:
    """Return the index that the manifest names, and the descriptor of its blocks.

    Where a build puts another one in its place meanwhile, that one.
    """
    manifest = read_manifest(folders)
    while manifest is not None:
        try:
            return _open_named(folders, manifest)
        except IndexDoubtError:
            before, manifest = manifest, read_manifest(folders)
            if manifest == before:
                raise
    return None


def _open_named(folders: Folders, manifest: Manifest) -> tuple[OpenIndex, int]:
    table = decode_table(_table(folders, manifest))
    adoption = read_adoption(folders)
    descriptor = _open(folders, blocks_of(manifest.index_path))
    return OpenIndex(manifest, adoption, LexicalIndex(table, lambda block: read_block(descriptor, block))), descriptor


def file_sizes(root: int) -> list[int]:
    """Return the sizes of the files that an index consists of, in bytes; of those that are there."""
    sizes = []
    for table in TABLES:
        for name in (table, blocks_of(table)):
            with suppress(FileNotFoundError):
                sizes.append(os.stat(f"{INDEX}/{name}", dir_fd=root, follow_symlinks=False).st_size)
    return sizes


def read_manifest(folders: Folders) -> Manifest | None:
    """Return the manifest, None where there is none; raises as `open_index`."""
    data = _document(folders, INDEX_MANIFEST, "its manifest")
    manifest = None if data is None else decode_manifest(data)
    if manifest is not None and manifest.index_path not in TABLES:
        raise IndexDoubtError("its manifest names a file that is no index of this program")
    if manifest is not None and parse_timestamp(manifest.indexed_at) is None:
        raise IndexDoubtError("its manifest does not say when it was made")
    return manifest


def read_adoption(folders: Folders) -> Adoption | None:
    """Return the adoption, None where there is none; raises as `open_index`."""
    data = _document(folders, ADOPTION, "its adoption")
    return None if data is None else decode_adoption(data)


def _document(folders: Folders, path: str, what: str) -> bytes | None:
    """Return a small file, None where there is none."""
    try:
        descriptor = folders.open_file(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise IndexDoubtError(f"{what} {_why(error)}") from error
    return _read(descriptor, MANIFEST_MAX_BYTES)


def _table(folders: Folders, manifest: Manifest) -> bytes:
    data = _read(_open(folders, manifest.index_path), INDEX_MAX_BYTES)
    if sha256_hex(data) != manifest.index_sha256:
        raise IndexDoubtError(f"{INDEX}/{manifest.index_path} is not what was adopted")
    return data


def _open(folders: Folders, name: str) -> int:
    try:
        return folders.open_file(f"{INDEX}/{name}")
    except OSError as error:
        raise IndexDoubtError(f"{INDEX}/{name} {_why(error)}") from error


def _why(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "is not there"
    return "may not be read" if error.strerror else str(error)


def _read(descriptor: int, most: int) -> bytes:
    """Read a file to its end and close it."""
    try:
        size = os.fstat(descriptor).st_size
        if size > most:
            raise IndexDoubtError(f"a file of it is larger than {most} bytes")
        return os.pread(descriptor, size, 0)
    finally:
        os.close(descriptor)


def read_block(descriptor: int, block: Block) -> bytes:
    """Return the bytes of a block, unchecked, of the open file of blocks; fewer where that ends before.

    Raises:
        IndexDoubtError: It would be larger than the whole file.
        OSError: It cannot be read.
    """
    if block.size > os.fstat(descriptor).st_size:
        raise IndexDoubtError("a block of it would be larger than its file")
    return os.pread(descriptor, block.size, block.offset)
