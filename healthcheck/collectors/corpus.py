"""Can the canonical files be read safely? A walk over their shapes; no content is read."""

import os
from typing import Final

from cortex.layout import KNOWLEDGE
from cortex.places import Layout
from healthcheck.collectors.folder import open_memory_folder, printable, shown
from healthcheck.evidence import Collected, CorpusEvidence, Missing, Observed, ShapeFault, Unreadable

# Both places where the canonical files may lie.
PLACES: Final = (KNOWLEDGE, f"MEMORY/{KNOWLEDGE}")
FAULTS_LISTED: Final = 10


def collect_corpus(layout: Layout) -> Collected[CorpusEvidence]:
    """Survey the canonical files. Missing where there is nothing named KNOWLEDGE in either place."""
    root = open_memory_folder(layout)
    if not isinstance(root, int):
        return root
    try:
        if not any(_is_there(place, root) for place in PLACES):
            return Missing(f"no {shown(layout, layout.memory_root / KNOWLEDGE)}")
    finally:
        os.close(root)
    return _survey(layout)


def _is_there(place: str, root: int) -> bool:
    try:
        os.stat(place, dir_fd=root, follow_symlinks=False)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True  # the survey will say what is wrong with it
    return True


def _survey(layout: Layout) -> Collected[CorpusEvidence]:
    from cortex.corpus.faults import CorpusError
    from cortex.corpus.root import pin
    from cortex.corpus.walk import survey

    try:
        with pin(layout.memory_root) as root:
            found = survey(root)
    except CorpusError as error:
        return Unreadable(shown(layout, layout.memory_root), printable(error.fault.message))
    faults = tuple(
        ShapeFault(shown(layout, layout.memory_root / fault.path), fault.kind, printable(fault.message))
        for fault in found.faults[:FAULTS_LISTED]
    )
    folder = shown(layout, layout.memory_root / found.folder)
    return Observed(CorpusEvidence(folder, len(found.files), found.size_bytes, len(found.faults), faults))
