"""Are the logs of a size and age that can be kept? All that hold are told.

What was measured in part is still judged.
"""

from collections.abc import Iterator

from healthcheck.evidence import ObservabilityEvidence
from healthcheck.judgement import Facts, Finding, Judged, Limits, finding
from healthcheck.words import counted, duration, size


def judge_observability(evidence: ObservabilityEvidence, limits: Limits, now: int) -> Judged:
    """Judge sizes and ages of the logs below OBSERVABILITY/."""
    findings = (
        *_measured(evidence),
        *_bytes(evidence, limits["observability_max_bytes"].value),
        *_oldest(evidence, limits["observability_max_age_ms"].value, now),
        *_newest(evidence, now),
    )
    return Judged(findings, f"{counted(evidence.files, 'log')}, {size(evidence.size_bytes)}")


def _measured(evidence: ObservabilityEvidence) -> Iterator[Finding]:
    if evidence.unreadable:
        yield finding(
            "observability-evidence-invalid",
            f"Not everything below {evidence.folder} could be measured: {', '.join(evidence.unreadable)}. "
            f"The {size(evidence.size_bytes)} in {counted(evidence.files, 'log')} are of the rest alone.",
            Facts(path=evidence.folder, paths=evidence.unreadable, size_bytes=evidence.size_bytes, complete=False),
        )
    elif not evidence.files:
        message = f"There are no logs at all: no .jsonl and no .log below {evidence.folder}."
        yield finding("observability-evidence-missing", message, Facts(path=evidence.folder))


def _bytes(evidence: ObservabilityEvidence, limit: float) -> Iterator[Finding]:
    if evidence.size_bytes > limit:
        yield finding(
            "observability-bytes-exceeded",
            f"The {counted(evidence.files, 'log')} below {evidence.folder} hold {size(evidence.size_bytes)}; "
            f"the limit is {size(limit)}.",
            Facts(path=evidence.folder, count=evidence.files, size_bytes=evidence.size_bytes, limit_bytes=limit),
        )


def _oldest(evidence: ObservabilityEvidence, limit: float, now: int) -> Iterator[Finding]:
    written = evidence.oldest_at
    if written is not None and now - written > limit:
        age = now - written
        yield finding(
            "observability-age-exceeded",
            f"{evidence.oldest} was last written {duration(age)} ago; the limit is {duration(limit)}.",
            Facts(path=evidence.oldest, evidence_at=written, since_at=int(written + limit), age_ms=age, limit_ms=limit),
        )


def _newest(evidence: ObservabilityEvidence, now: int) -> Iterator[Finding]:
    written = evidence.newest_at
    if written is not None and written > now:
        yield finding(
            "observability-future",
            f"{evidence.newest} has a modification time {duration(written - now)} ahead of the clock, "
            "so ages prove nothing.",
            Facts(path=evidence.newest, evidence_at=written, age_ms=now - written),
        )
