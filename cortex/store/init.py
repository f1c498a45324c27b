"""`init`: lays out a memory. It makes what is missing and touches nothing that is there.

A folder `KNOWLEDGE/` is made only where the root holds no note yet: it would take the place of the root's own tree as
the corpus, and hide every note in it.
"""

from collections.abc import Iterator
from functools import partial
from typing import Final, NamedTuple

from cortex.corpus.walk import survey
from cortex.layout import CORTEX, INDEX_MANIFEST, INDEX_POLICY, KNOWLEDGE, OBSERVABILITY
from cortex.store.governor import Act, Change, govern
from cortex.store.hot_memory import HotMemory, render, updated
from cortex.store.proposals import QUEUE
from cortex.store.store import Store
from policies.tiers import FOLDERS, HOT_FILES, IDEAS

NO_INDEX: Final = b'{"schema":"lifeos-cortex-index-policy/v1","policy":"no-index-v1"}\n'
_HEADINGS: Final = {"principal": "# What to know of the principal", "assistant": "# What the assistant is to be"}


class LaidOut(NamedTuple):
    """What was made, and what was there and stayed as it was; names within the memory, folders with a `/`."""

    created: list[str]
    kept: list[str]
    warnings: tuple[str, ...]


def lay_out(store: Store, operator: str, now: int) -> LaidOut:
    """Lay out a memory.

    Raises:
        CortexError: `governance_refused` where a link lies on the way to something that is missing.
    """
    folders, files = [f"{folder}/" for folder in _folders(store)], dict(_files(store, operator, now))
    there = {path for path in (*folders, *files) if store.holds(path.rstrip("/"))}
    warnings: tuple[str, ...] = ()
    for folder in folders:
        store.make_folder(folder.rstrip("/"))
    for path, content in files.items():
        if path not in there:
            act = Act("init", operator, path, now, with_snapshot=False)
            warnings += govern(store, act, partial(_unless_there, content)).warnings
    everything = (*folders, *files)
    return LaidOut([path for path in everything if path not in there], [p for p in everything if p in there], warnings)


def _folders(store: Store) -> Iterator[str]:
    yield OBSERVABILITY
    yield CORTEX
    found = survey(store.root)
    if found.folder == KNOWLEDGE or not (found.folder or found.files or found.faults):
        yield from (f"{KNOWLEDGE}/{folder}" for folder in (IDEAS, *FOLDERS.values()))


def _files(store: Store, operator: str, now: int) -> Iterator[tuple[str, bytes]]:
    for actor, path in HOT_FILES.items():
        act = Act("init", operator, path, now)
        yield path, render(updated(HotMemory((), (_HEADINGS[actor],), ()), (), act.ts, operator))
    yield QUEUE, b""
    if not store.holds(INDEX_MANIFEST):
        yield INDEX_POLICY, NO_INDEX


def _unless_there(content: bytes, data: bytes | None) -> Change | None:
    return Change(content) if data is None else None
