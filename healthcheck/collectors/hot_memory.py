"""Is hot memory whole? Its two files, each where it is there; entries are counted and not kept."""

import os

from cortex.layout import USER
from cortex.nofollow import open_regular
from cortex.places import Layout
from healthcheck.collectors.folder import describe, open_below, shown
from healthcheck.evidence import Collected, HotFile, HotMemoryEvidence, Missing, Observed, Unreadable
from policies.limits import CORPUS_MAX_FILE_BYTES
from policies.tiers import HOT_FILES


def collect_hot_memory(layout: Layout) -> Collected[HotMemoryEvidence]:
    """Look at each actor's hot file. Missing where no actor has one."""
    found = [_look(layout, path) for path in HOT_FILES.values()]
    for answer in found:
        if isinstance(answer, Unreadable):
            return answer
    files = tuple(answer for answer in found if isinstance(answer, HotFile))
    return Observed(HotMemoryEvidence(files)) if files else Missing(f"no hot memory in {USER}")


def _look(layout: Layout, path: str) -> HotFile | Missing | Unreadable:
    from cortex.store.hot_memory import has_sound_markers, parse

    user, *names = path.split("/")
    descriptor = open_below(layout, layout.home / user, tuple(names), open_regular)
    if not isinstance(descriptor, int):
        return descriptor
    name = shown(layout, layout.home / path)
    try:
        with os.fdopen(descriptor, "rb") as file:
            data = file.read(CORPUS_MAX_FILE_BYTES + 1)
    except OSError as error:
        return Unreadable(name, describe(error))
    if len(data) > CORPUS_MAX_FILE_BYTES:
        return Unreadable(name, f"is larger than {CORPUS_MAX_FILE_BYTES} bytes")
    return HotFile(name, len(parse(data).entries), has_sound_markers(data))
