"""What a tree of files is, in a form that two of them can be compared in."""

import hashlib
import stat
from pathlib import Path


def fingerprint(root: Path) -> dict[str, tuple[int, int, str]]:
    """Return mode, modification time and what it holds (a hash, or a link's target) of everything below `root`."""
    found = {}
    for path in sorted(root.rglob("*")):
        status = path.lstat()
        held = ""
        if stat.S_ISLNK(status.st_mode):
            held = str(path.readlink())
        elif stat.S_ISREG(status.st_mode):
            held = hashlib.sha256(path.read_bytes()).hexdigest()
        found[str(path.relative_to(root))] = (status.st_mode, status.st_mtime_ns, held)
    return found
