"""Keeping an adopted index fresh: what `sleep tick` does where `sleep config index_refresh true` allows it.

An index that is damaged is left as it is: the auditor is to see it, and a person to decide.
"""

from hashlib import sha256
from typing import Final, Literal, NamedTuple

from cortex.answering import has_index, reason
from cortex.corpus.faults import Fault
from cortex.corpus.folders import Folders
from cortex.corpus.reader import read_file
from cortex.corpus.walk import CorpusFile, survey
from cortex.errors import CortexError
from cortex.index.adoption import Request, build, is_left_over
from cortex.index.lexical import LexicalIndex
from cortex.index.memory import compare
from cortex.index.opening import OpenIndex, open_index
from cortex.store.governor import explained
from cortex.store.store import Store
from policies.timestamps import parse_timestamp
from policies.units import DAY_MS

# An index that nothing has changed since is proven anew after this long, so that its proof does not grow stale.
PROOF_AGE_MS: Final = DAY_MS

Outcome = Literal["none is adopted", "fresh", "refreshed", "refused"]


class Kept(NamedTuple):
    """What became of the index, and what there is to say about it."""

    outcome: Outcome
    warnings: tuple[str, ...] = ()


def keep_fresh(store: Store, request: Request) -> Kept:
    """Refresh the adopted index where files have changed since, its proof is a day old, or an act on it was cut off."""
    if not has_index(store.root.descriptor):
        return Kept("none is adopted")
    try:
        with open_index(store.root.descriptor) as opened:
            if opened is None or opened.adoption is None:
                return Kept("none is adopted")
            if not _is_due(store, opened, request.now):
                return Kept("fresh")
    except Exception as error:  # noqa: BLE001 - whatever is wrong with an index, this says what
        return Kept("refused", (f"the index was not refreshed: {reason(error)}",))
    try:
        with explained():
            return Kept("refreshed", build(store, request, reuse=True).warnings)
    except CortexError as error:
        return Kept("refused", (f"the index was not refreshed: {error.message}",))


def _is_due(store: Store, opened: OpenIndex, now: int) -> bool:
    indexed_at = parse_timestamp(opened.manifest.indexed_at)
    is_proof = indexed_at is not None and 0 <= now - indexed_at < PROOF_AGE_MS  # one of the future proves nothing
    if not is_proof or is_left_over(store, opened.manifest):
        return True
    index, found = opened.lexical, survey(store.root)
    if index.paths != [file.path for file in found.files]:
        return True
    known, _ = compare(index, found)
    with Folders(store.root.descriptor) as folders:
        return any(
            _is_another(folders, index, at, found.files[at]) for at, is_known in enumerate(known) if not is_known
        )


def _is_another(folders: Folders, index: LexicalIndex, at: int, file: CorpusFile) -> bool:
    """Tell whether a file is not the one that was indexed, as number `at`.

    One that could not be relied on even then (it is dated ahead, say) is looked into: a refresh would not help it.
    """
    if (index.stats.mtimes[at], index.stats.ctimes[at], index.stats.inodes[at]) != file[2:5]:
        return True
    read = read_file(folders, file.path)
    return isinstance(read, Fault) or sha256(read.data).digest() != index.hashes[at]
