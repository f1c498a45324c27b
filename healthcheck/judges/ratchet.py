"""Is any evidence less than it was? Every log below the highest state recorded of it is named in one finding."""

from typing import Final

from healthcheck.evidence import LogLoss, RatchetEvidence
from healthcheck.judgement import Facts, Judged, Limits, bad, good
from healthcheck.words import counted

_WAYS: Final = {
    "gone": "is gone or cannot be read",
    "head": "no longer begins as it did",
    "earlier": "ends earlier than it did",
}


def judge_ratchet(evidence: RatchetEvidence, limits: Limits, now: int) -> Judged:  # noqa: ARG001  (all judges look alike)
    """Judge the losses; it matters to nothing here when they came."""
    if not evidence.losses:
        return good("no evidence log is below what was recorded of it")
    paths = tuple(loss.path for loss in evidence.losses)
    told = "; ".join(f"{loss.path} {' and '.join(_told(loss))}" for loss in evidence.losses)
    return bad("evidence-vanished", f"Evidence that was recorded is not there any more: {told}.", Facts(paths=paths))


def _told(loss: LogLoss) -> list[str]:
    words = dict(_WAYS)
    words["smaller"] = f"has {loss.size_bytes} bytes where {loss.recorded_bytes} were due"
    words["ids"] = f"lacks {counted(loss.ids_gone, 'proposal')}"
    return [words[way] for way in loss.ways]
