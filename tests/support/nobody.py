"""Acting as a user without rights: root reads everything, so that no test as root could show an unreadable file.

The effective user alone is changed, and changed back. Trees for such tests lie in `open_folder`: pytest's own temporary
folders are closed to other users.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

NOBODY = 65534


@contextmanager
def as_nobody() -> Iterator[None]:
    """Run the block as a user whom file modes bind: `nobody` where this process is root, else as it is."""
    if os.geteuid() != 0:
        yield
        return
    os.setegid(NOBODY)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)


@contextmanager
def open_folder() -> Iterator[Path]:
    """A temporary folder that `nobody` owns and reaches; removed afterwards, whatever modes lie in it."""
    folder = Path(tempfile.mkdtemp(prefix="memory-health-test-")).resolve()
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        restore_modes(folder)
        shutil.rmtree(folder)


def restore_modes(folder: Path) -> None:
    """Make every folder below `folder` enterable again."""
    folder.chmod(0o755)
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            restore_modes(path)


def give_to_nobody(folder: Path) -> None:
    """Hand a whole tree to the user that `as_nobody` acts as."""
    if os.geteuid() != 0:
        return
    for path in (folder, *folder.rglob("*")):
        os.chown(path, NOBODY, NOBODY, follow_symlinks=False)


def skip_where_modes_do_not_bind(folder: Path) -> None:
    """Skip the test where even `nobody` may read a file of mode 000 (some containers' file systems)."""
    probe = folder / "probe"
    probe.write_text("x", encoding="utf-8")
    give_to_nobody(probe)
    probe.chmod(0)
    with as_nobody():
        try:
            probe.read_bytes()
        except PermissionError:
            return
        finally:
            probe.parent.chmod(0o755) if os.geteuid() == 0 else None
    pytest.skip("file modes do not bind on this file system")
