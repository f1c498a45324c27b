"""Does an adopted index still match its sources? The first that holds."""

from healthcheck.evidence import AdoptedIndex, NoIndex
from healthcheck.judgement import Facts, Judged, Limits, bad, good
from healthcheck.words import duration


def judge_index(evidence: NoIndex | AdoptedIndex, limits: Limits, now: int) -> Judged:
    """Judge the no-index marker, or the manifest and the two hashes measured against it."""
    if isinstance(evidence, NoIndex):
        return good(f"no index, on purpose ({evidence.marker})")
    return _mismatch(evidence) or _time_of(evidence, limits["index_stale_ms"].value, now)


def _mismatch(index: AdoptedIndex) -> Judged | None:
    for what, path, expected, measured in (
        ("the canonical records are", index.manifest, index.canonical_sha256, index.measured_canonical_sha256),
        ("the index file is", index.index, index.index_sha256, index.measured_index_sha256),
    ):
        if expected != measured:
            return bad(
                "index-integrity-mismatch",
                f"According to {index.manifest}, {what} not what was adopted: the SHA-256 is {measured[:12]}..., "
                f"not {expected[:12]}....",
                Facts(path=path, expected_sha256=expected, measured_sha256=measured, evidence_at=index.indexed_at),
            )
    return None


def _time_of(index: AdoptedIndex, limit: float, now: int) -> Judged:
    built, age = index.indexed_at, now - index.indexed_at
    if age < 0:
        return bad(
            "index-freshness-invalid",
            f"indexed_at in {index.manifest} is {duration(-age)} ahead of the clock, so it proves nothing.",
            Facts(path=index.manifest, evidence_at=built, age_ms=age),
        )
    if age > limit:
        return bad(
            "index-stale",
            f"The index that {index.manifest} names was built {duration(age)} ago; the limit is {duration(limit)}.",
            Facts(path=index.manifest, evidence_at=built, since_at=int(built + limit), age_ms=age, limit_ms=limit),
        )
    return good(f"the index was built {duration(age)} ago and matches its sources")
