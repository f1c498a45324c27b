"""The ways in which evidence is lost or spoilt, each a function of the path of a file.

Every one of them leaves something that proves nothing; a link leads to a whole copy of what was there, so that nobody
can pass by following it.
"""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final

Damage = Callable[[Path], None]


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()


def delete(path: Path) -> None:
    """Take it away."""
    _remove(path)


def make_unreadable(path: Path) -> None:
    """Take every right from it. Binds users that are not root alone."""
    path.chmod(0)


def replace_by_folder(path: Path) -> None:
    """Put an empty folder in its place."""
    _remove(path)
    path.mkdir()


def replace_by_file(path: Path) -> None:
    """Put a file in the place of a folder."""
    _remove(path)
    path.write_bytes(b"x")


def replace_by_link(path: Path) -> None:
    """Move it aside, out of the memory, and leave a link to it."""
    aside = path.parents[_depth_in_memory(path)] / "aside"
    shutil.move(path, aside)
    path.symlink_to(aside)


def replace_by_dangling_link(path: Path) -> None:
    """Leave a link to nowhere."""
    _remove(path)
    path.symlink_to("nowhere")


def replace_by_fifo(path: Path) -> None:
    """Put a FIFO in its place, which would hang whoever waits for a writer."""
    _remove(path)
    os.mkfifo(path)


def _depth_in_memory(path: Path) -> int:
    return path.parts[::-1].index("LIFEOS")


def append(data: bytes) -> Damage:
    """Return the damage of these bytes at the end, the last line before them whole."""

    def damage(path: Path) -> None:
        with path.open("ab") as file:
            file.write(data)

    return damage


def overwrite(data: bytes) -> Damage:
    """Return the damage of these bytes instead of all that was there."""

    def damage(path: Path) -> None:
        path.write_bytes(data)

    return damage


def cut_last_row(path: Path) -> None:
    """Tear the last row in its middle, as a full disk does."""
    content = path.read_bytes().rstrip(b"\n")
    path.write_bytes(content[: len(content) - (len(content) - content.rfind(b"\n")) // 2])


def flip_first_bytes(path: Path) -> None:
    """Change the first four bytes."""
    content = path.read_bytes()
    path.write_bytes(bytes(byte ^ 0xFF for byte in content[:4]) + content[4:])


REPLACEMENTS: Final[dict[str, Damage]] = {
    "deleted": delete,
    "a folder": replace_by_folder,
    "a link to a whole copy": replace_by_link,
    "a link to nowhere": replace_by_dangling_link,
    "a FIFO": replace_by_fifo,
}
UNREADABLE: Final = "unreadable"
CORRUPTIONS: Final[dict[str, Damage]] = {
    "NULs at the end": append(b"\0" * 300 + b"\n"),
    "half a row at the end": append(b'{"ts":"2026-08-10T11:'),
    "two rows on one line": append(b'{"a":1}{"a":2}\n'),
    "bad UTF-8 at the end": append(b'{"ts":"\xff"}\n'),
    "NaN at the end": append(b'{"x":NaN}\n'),
    "an overflowing number at the end": append(b'{"x":1e400}\n'),
    "5,000 digits at the end": append(b'{"x":' + b"9" * 5_000 + b"}\n"),
    "100,000 brackets at the end": append(b"[" * 100_000 + b"\n"),
    "null at the end": append(b"null\n"),
    "a duplicate key at the end": append(b'{"status":"x","status":"accepted"}\n'),
    "last row torn": cut_last_row,
    "first bytes flipped": flip_first_bytes,
    "binary": overwrite(b"\x00\x01\x02\xff\xfe"),
    "JSON of another kind": overwrite(b"[1,2]\n"),
}
DAMAGES: Final[dict[str, Damage]] = {**REPLACEMENTS, UNREADABLE: make_unreadable, **CORRUPTIONS}
FOLDER_DAMAGES: Final[dict[str, Damage]] = {
    "deleted": delete,
    "a file": replace_by_file,
    "a link to a whole copy": replace_by_link,
    "a link to nowhere": replace_by_dangling_link,
    "a FIFO": replace_by_fifo,
    UNREADABLE: make_unreadable,
}
