"""Snapshots: of each file that is written, its last earlier states, in `OBSERVABILITY/memory-snapshots/`.

A snapshot is named after the hash of the file's path, its name, the time and the hash of its content; nothing else
lies in the folder but what a killed process left half-written, which the next snapshot of that file removes.
"""

import os
from hashlib import sha256
from typing import Final

from cortex.layout import OBSERVABILITY, SNAPSHOTS
from cortex.store.files import discard, discard_all, names_in, put, stage
from cortex.store.store import Store
from policies.limits import SNAPSHOTS_KEPT

FOLDER: Final = f"{OBSERVABILITY}/{SNAPSHOTS}"
_NAME_AT_MOST: Final = 80


def keep(store: Store, path: str, data: bytes, stamp: str, prefix: str) -> None:
    """Keep the state of a file, and of its earlier ones only the newest.

    Args:
        store: The memory.
        path: The file's path within it.
        data: The state.
        stamp: The time, as written in names of files.
        prefix: What the names of staged files begin with, which tells whose they are.

    Raises:
        CortexError: `governance_refused` where the folder is a link.
        OSError: It could not be written.
    """
    group = f"{sha256(path.encode(errors='surrogateescape')).hexdigest()[:16]}-"
    own = f"{group}{path.rpartition('/')[2][:_NAME_AT_MOST]}.{stamp}.{sha256(data).hexdigest()[:8]}"
    with store.made_place(f"{FOLDER}/{own}") as place:
        discard_all(place.folder, prefix)
        kept = sorted((name for name in names_in(place.folder) if name.startswith(group)), key=_age)
        if own not in kept:
            staged = stage(place.folder, prefix, data, None)
            put(place.folder, staged, own)
            os.fsync(place.folder)
        for name in [name for name in kept if name != own][: -(SNAPSHOTS_KEPT - 1)]:
            discard(place.folder, name)


def _age(name: str) -> str:
    return name[-len("YYYY-MM-DDThh-mm-ss-mmmZ.12345678") :]
