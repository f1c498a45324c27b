"""Compressed files that are the same bytes whenever they are made: no time stamp, no name, no owner inside.

`gz` holds one file, `tar.gz` the files of a folder. What was packed is told by its hash once it is unpacked again.
"""

import gzip
import io
import os
import stat
import tarfile
import zlib
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from cortex.nofollow import NotRegularError
from cortex.retention.base import Base, read
from cortex.store.files import refused

LEVEL = 9


def gzipped(data: bytes) -> bytes:
    """Compress bytes; the same bytes give the same result."""
    return gzip.compress(data, LEVEL, mtime=0)


def gunzipped(data: bytes | None) -> bytes | None:
    """Return what was compressed, None where it does not verify."""
    try:
        return None if data is None else gzip.decompress(data)
    except (OSError, EOFError, zlib.error):
        return None


def pack(base: Base, form: str, members: Sequence[dict[str, Any]]) -> bytes:
    """Return the compressed file of `members` (path, name, mode), in the form `gz` (of one) or `tar.gz`.

    Raises:
        CortexError: `governance_refused` where one of them cannot be read.
    """
    contents = []
    for member in members:
        try:
            data = read(base, member["path"])
        except NotRegularError as error:
            raise refused(f"{member['path']} {error}: it is not packed") from error
        if data is None:
            raise refused(f"{member['path']} is gone")
        contents.append(data)
    if form == "gz":
        return gzipped(contents[0])
    return _tarred(members, contents)


def unpacked(data: bytes | None, form: str, name: str) -> bytes | None:
    """Return the bytes of one member, None where they are not there or do not verify."""
    whole = gunzipped(data)
    if whole is None or form == "gz":
        return whole
    try:
        with tarfile.open(fileobj=io.BytesIO(whole), mode="r:") as archive:
            file = archive.extractfile(name)
            return None if file is None else file.read()
    except (tarfile.TarError, KeyError):
        return None


def unpacked_hash(data: bytes | None, form: str, name: str) -> str | None:
    """Return the hash of one member, None where it is not there or does not verify."""
    content = unpacked(data, form, name)
    return None if content is None else sha256(content).hexdigest()


def with_mode(status: os.stat_result | None, mode: int) -> os.stat_result | None:
    """Return a status with other permissions, for a file that is to get them."""
    if status is None:
        return None
    return os.stat_result((stat.S_IFREG | mode, *tuple(status)[1:10]))


def _tarred(members: Sequence[dict[str, Any]], contents: Sequence[bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for member, content in zip(members, contents, strict=True):
            info = tarfile.TarInfo(member["name"])
            info.size = len(content)
            info.mode = member["mode"]
            archive.addfile(info, io.BytesIO(content))
    return gzipped(buffer.getvalue())
