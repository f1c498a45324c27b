"""Is hot memory whole, and is there room left in it?"""

from healthcheck.evidence import HotMemoryEvidence
from healthcheck.judgement import Facts, Judged, Limits, finding
from healthcheck.words import counted
from policies.limits import HOT_ENTRIES_MOST, HOT_ENTRIES_NEAR


def judge_hot_memory(evidence: HotMemoryEvidence, limits: Limits, now: int) -> Judged:  # noqa: ARG001  (as all judges)
    """Judge the hot files. The bound of entries is the store's own, so there is no threshold to set."""
    damaged = tuple(file.path for file in evidence.files if not file.markers_sound)
    full = tuple(file for file in evidence.files if file.entries >= HOT_ENTRIES_NEAR)
    findings = []
    if damaged:
        message = f"The marker lines are not one pair in their order: {', '.join(damaged)}."
        findings.append(finding("hot-memory-markers", message, Facts(paths=damaged)))
    if full:
        named = ", ".join(f"{file.path} ({file.entries} of {HOT_ENTRIES_MOST})" for file in full)
        facts = Facts(paths=tuple(file.path for file in full), count=max(file.entries for file in full))
        findings.append(finding("hot-memory-near-cap", f"Hot memory is nearly full: {named}.", facts))
    entries = "/".join(str(file.entries) for file in evidence.files)
    return Judged(tuple(findings), f"{counted(len(evidence.files), 'hot file')}, entries: {entries}")
