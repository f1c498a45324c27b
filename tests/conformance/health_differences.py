"""Where our verdict differs from the reference's on purpose: each case with its reason and our own outcome."""

from collections.abc import Mapping
from typing import Final, NamedTuple

Findings = frozenset[tuple[str, str]]
NONE: Final[Findings] = frozenset()


class Outcome(NamedTuple):
    """What is compared: the status of each check's evidence, the findings with their severities, the verdict."""

    statuses: Mapping[str, str]
    findings: Findings
    overall: str


class Difference(NamedTuple):
    """Why ours differs, and our outcome: findings of the vectors' checks and of the others; statuses worth naming."""

    reason: str
    findings: Findings
    statuses: Mapping[str, str] = {}
    others: Findings = NONE


def _critical(*ids: str) -> Findings:
    return frozenset((name, "critical") for name in ids)


def _warn(*ids: str) -> Findings:
    return frozenset((name, "warn") for name in ids)


_STRICT_TIME = "a time is a timestamp of the memory's one strict form, with its zone; nothing is guessed"
_ANY_MALFORMED = "a line that is no JSON object is malformed, whatever else it is, and a malformed line decides"

DIFFERENCES: Final[Mapping[str, Difference]] = {
    "index-manifest-indexed-at-loose": Difference(
        _STRICT_TIME, _critical("index-manifest-invalid"), {"index": "invalid"}
    ),
    "index-manifest-indexed-at-naive": Difference(
        _STRICT_TIME, _critical("index-manifest-invalid"), {"index": "invalid"}
    ),
    "index-manifest-no-knowledge-dir": Difference(
        "OBSERVABILITY/ is no part of a bare root's corpus, which is then sound and measured",
        _critical("index-integrity-mismatch"),
        {"index": "mismatch"},
    ),
    "index-policy-duplicate-keys": Difference(
        "the marker is strict JSON: which of two equal keys counts is nobody's to choose",
        _critical("index-manifest-invalid"),
        {"index": "invalid"},
    ),
    "layout-retrievals-is-dir-crashes": Difference(
        "a folder in a log's place is invalid evidence with its path, not a crash",
        _warn("retrieval-evidence-invalid"),
        {"retrieval": "invalid", "reviewer": "ok"},
    ),
    "layout-reviewer-runs-is-file-crashes": Difference(
        "a file in the run folders' place is invalid evidence with its path, not a crash",
        _critical("reviewer-evidence-invalid"),
        {"reviewer": "invalid", "retrieval": "ok"},
    ),
    "observability-mtime-future": Difference(
        "a modification time ahead of the clock proves nothing about ages", _warn("observability-future")
    ),
    "proposals-null-row-crashes": Difference(
        _ANY_MALFORMED, _warn("proposal-evidence-malformed"), {"proposals": "ok", "reviewer": "ok"}
    ),
    "proposals-rows-not-objects": Difference(_ANY_MALFORMED, _warn("proposal-evidence-malformed")),
    "retrieval-invalid-utf8": Difference(
        "evidence is valid UTF-8; bytes that are not are no row", _warn("retrieval-evidence-malformed")
    ),
    "retrieval-last-row-null": Difference(_ANY_MALFORMED, _warn("retrieval-evidence-malformed")),
    "retrieval-ts-naive": Difference(_STRICT_TIME, _warn("retrieval-evidence-malformed"), {"retrieval": "invalid"}),
    "reviewer-bom-file": Difference("one leading byte-order mark is dropped, as everywhere", NONE, {"reviewer": "ok"}),
    "reviewer-dir-future": Difference(
        "a run folder ahead of the clock proves nothing", _warn("reviewer-future"), {"reviewer": "ok"}
    ),
    "reviewer-dir-two-newest-wins": Difference(
        "a run in its grace does not hide an older one that hangs", _critical("reviewer-latest-timed-out")
    ),
    "reviewer-dir-unparsable-name": Difference(
        "a folder whose name is no time is noted and passed over; it hides no run that hangs",
        _critical("reviewer-latest-timed-out"),
    ),
    "reviewer-earlier-row-null-crashes": Difference(_ANY_MALFORMED, _critical("reviewer-latest-parse-failed")),
    "reviewer-last-row-array": Difference(_ANY_MALFORMED, _critical("reviewer-latest-parse-failed")),
    "reviewer-last-row-null": Difference(_ANY_MALFORMED, _critical("reviewer-latest-parse-failed")),
    "reviewer-last-row-number": Difference(_ANY_MALFORMED, _critical("reviewer-latest-parse-failed")),
    "reviewer-runid-number-without-ts-crashes": Difference(
        "a row of another shape is invalid evidence, not a crash", _critical("reviewer-evidence-invalid")
    ),
    "reviewer-timeout-spelled-timed-out": Difference(
        "`timed out` speaks of a time-out as `timeout` does", _critical("reviewer-latest-timed-out")
    ),
    "reviewer-ts-loose": Difference(_STRICT_TIME, _critical("reviewer-evidence-invalid"), {"reviewer": "invalid"}),
    "root-missing": Difference(
        "a root that was given and is no folder is a fault of the call, over and above the missing evidence",
        _warn(
            "reviewer-evidence-missing", "retrieval-missing", "proposal-evidence-missing",
            "observability-evidence-missing", "index-evidence-missing",
        ),
        {"reviewer": "missing", "index": "absent"},
        others=_critical("health-root-invalid"),
    ),
    "thresholds-string": Difference("a variable is always text, and `5` is a number", NONE, {"index": "no-index-v1"}),
}  # fmt: skip

# Oddities that the vectors mark and that we share, each with why.
KEPT: Final[Mapping[str, str]] = {
    "index-policy-bom": "a marker is written by programs: a byte-order mark is a sign of another hand",
    "reviewer-dir-date-only-name": "a folder's time is a run id or any timestamp of the corpus, a date too",
    "reviewer-failed-error-object": "an error is text or a list of texts; what else it may be is not searched",
    "reviewer-skipped-false": "the success shape is exact: a key more is another shape",
    "thresholds-unknown-key": "a variable that is none of ours is none of our business",
    "thresholds-zero": "a threshold is above 0: a limit of nothing would warn of every use",
}

# What our further checks find in trees of the vectors, expected as it is.
OTHER_FINDINGS: Final[Mapping[str, Findings]] = {}

_ONE_NAME: Final = "the reference has two names for what is one finding here"
# Lines of `assess.jsonl`, counted from 1.
ASSESSMENTS: Final[Mapping[int, tuple[str, Findings]]] = {
    1: (
        _ONE_NAME,
        _warn(
            "reviewer-evidence-missing", "retrieval-missing", "proposal-evidence-missing",
            "observability-evidence-missing", "index-evidence-missing",
        ),
    ),
    5: (_ONE_NAME, _warn("retrieval-missing")),
    6: (_ONE_NAME, _warn("retrieval-evidence-malformed")),
    7: (_ONE_NAME, _warn("retrieval-evidence-malformed")),
    8: (_ONE_NAME, _warn("retrieval-evidence-malformed")),
    13: (
        "a manifest without a time is no sound manifest, so it never comes to its age",
        _critical("index-manifest-invalid"),
    ),
}  # fmt: skip
