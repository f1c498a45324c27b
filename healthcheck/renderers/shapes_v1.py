"""The shapes of `memory-health/v1`, apart from the auditor's own types: those may change, these may not.

The JSON Schema is made from them. Times are ISO strings, durations end in `_ms`, sizes in `_bytes`.
"""

from typing import Literal

from msgspec import Struct

Severity = Literal["warn", "critical"]
Overall = Literal["ok", "warn", "critical"]
Status = Literal["ok", "warn", "critical", "not-enabled", "skipped"]


class _Shape(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Exactly the fields that are named."""


class _Sparse(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """At most the fields that are named; what does not apply is left out."""


class RootV1(_Shape, frozen=True):
    """The two folders of the memory, absolute; empty where a crash came before they were known."""

    home: str
    memory_root: str


class CountsV1(_Shape, frozen=True):
    """How many checks have each status."""

    ok: int
    warn: int
    critical: int
    not_enabled: int
    skipped: int


class CheckV1(_Shape, frozen=True):
    """A check, its status and one sentence on it."""

    id: str
    status: Status
    summary: str


class SkippedV1(_Shape, frozen=True):
    """A check that nobody looked at, and why."""

    check: str
    reason: str


class ThresholdV1(_Shape, frozen=True):
    """A limit as this run applied it; `source` is `default` or the name of the variable that set it."""

    value: int | float
    default: int
    source: str


class FactsV1(_Sparse, frozen=True):
    """What a finding rests on. `since_at` is the instant from which on it held, as far as the evidence shows."""

    path: str | None = None
    paths: tuple[str, ...] | None = None
    reason: str | None = None
    subjects: tuple[str, ...] | None = None
    line: int | None = None
    lines: tuple[int, ...] | None = None
    count: int | None = None
    error: str | None = None
    evidence_at: str | None = None
    since_at: str | None = None
    age_ms: int | None = None
    limit_ms: int | float | None = None
    size_bytes: int | None = None
    limit_bytes: int | float | None = None
    pending: int | None = None
    limit: int | float | None = None
    complete: bool | None = None
    expected_sha256: str | None = None
    measured_sha256: str | None = None


class FindingV1(_Shape, frozen=True):
    """One thing that is not green."""

    id: str
    severity: Severity
    check: str
    message: str
    evidence: FactsV1
    remedy: str
    way_back: str
    silenced: bool


class MissingV1(_Shape, frozen=True, tag_field="state", tag="missing"):
    """The files are not there."""

    reason: str


class UnreadableV1(_Shape, frozen=True, tag_field="state", tag="unreadable"):
    """Something is there, and it proves nothing."""

    path: str
    reason: str


class ProbeFailedV1(_Shape, frozen=True, tag_field="state", tag="probe-failed"):
    """The collector crashed."""

    reason: str


class MalformedV1(_Shape, frozen=True):
    """Lines at fault: how many, and the numbers of the first."""

    count: int
    lines: tuple[int, ...]


class ReviewerRowV1(_Shape, frozen=True):
    """The last row of the reviewer's log."""

    line: int
    status: Literal["ok", "skipped", "failed", "parse-failed", "timed-out", "invalid"]
    ended_at: str | None
    error: str | None


class RunFoldersV1(_Shape, frozen=True):
    """A group of run folders."""

    count: int
    oldest_at: str | None
    newest_at: str | None
    with_parse_error: int


class ReviewerV1(_Shape, frozen=True, tag_field="state", tag="observed"):
    """The reviewer's log and run folders."""

    log: str
    runs: str
    rows: int
    malformed: MalformedV1
    last: ReviewerRowV1 | None
    all_runs: RunFoldersV1
    newer_runs: RunFoldersV1
    ignored_folders: int


class RetrievalRowV1(_Shape, frozen=True):
    """The last row of the retrieval log."""

    line: int
    valid: bool
    retrieved_at: str | None


class RetrievalV1(_Shape, frozen=True, tag_field="state", tag="observed"):
    """The retrieval log."""

    log: str
    rows: int
    malformed: MalformedV1
    last: RetrievalRowV1 | None


class ProposalsV1(_Shape, frozen=True, tag_field="state", tag="observed"):
    """The proposal queue."""

    queue: str
    rows: int
    pending: int
    malformed: MalformedV1
    without_status: MalformedV1


class ObservabilityV1(_Shape, frozen=True, tag_field="state", tag="observed"):
    """The logs below OBSERVABILITY/; where `unreadable` names something, the figures are of the rest alone."""

    folder: str
    files: int
    size_bytes: int
    oldest_at: str | None
    oldest: str | None
    newest_at: str | None
    newest: str | None
    unreadable: tuple[str, ...]


class NoIndexV1(_Shape, frozen=True, tag_field="state", tag="no-index"):
    """There is no index, on purpose."""

    marker: str


class AdoptedIndexV1(_Shape, frozen=True, tag_field="state", tag="adopted"):
    """The manifest of an adopted index, and both hashes as measured."""

    manifest: str
    index: str
    indexed_at: str
    canonical_sha256: str
    measured_canonical_sha256: str
    index_sha256: str
    measured_index_sha256: str


class HotFileV1(_Shape, frozen=True):
    """One actor's hot memory: how many entries, and whether its markers are one pair in their order."""

    path: str
    entries: int
    markers_sound: bool


class HotMemoryV1(_Shape, frozen=True, tag_field="state", tag="observed"):
    """The hot files that are there."""

    files: tuple[HotFileV1, ...]


class RetentionV1(_Shape, frozen=True, tag_field="state", tag="observed"):
    """The notes that have a level, and those marked to be archived: the oldest mark, the newest, and undated ones."""

    levelled: int
    pending: int
    oldest_at: str | None
    oldest: str | None
    newest_at: str | None
    newest: str | None
    unclear: int
    first_unclear: tuple[str, ...]


class ShapeFaultV1(_Shape, frozen=True):
    """A fault of the corpus that shows without reading content."""

    path: str
    kind: str
    message: str


class CorpusV1(_Shape, frozen=True, tag_field="state", tag="observed"):
    """The canonical files as a walk saw them."""

    folder: str
    files: int
    size_bytes: int
    faults: int
    first_faults: tuple[ShapeFaultV1, ...]


class HistoryV1(_Shape, frozen=True, tag_field="state", tag="observed"):
    """The auditor's own log of verdicts. Not its size, which each run changes."""

    log: str


class LogLossV1(_Shape, frozen=True):
    """An evidence log that is below the highest state recorded of it, and in which ways."""

    log: str
    path: str
    ways: tuple[str, ...]
    recorded_bytes: int
    size_bytes: int | None
    ids_gone: int


class RatchetV1(_Shape, frozen=True, tag_field="state", tag="observed"):
    """What is less than it was."""

    losses: tuple[LogLossV1, ...]


class SilenceV1(_Shape, frozen=True):
    """An operator's silence: of which finding or (`ingested`) alert of another source, and when it ends."""

    key: str
    until_at: str
    ingested: bool


class NoiseV1(_Shape, frozen=True, tag_field="state", tag="observed"):
    """The noise ledger, and the silences that it held before this run."""

    ledger: str
    silences: tuple[SilenceV1, ...]


class PolicyV1(_Shape, frozen=True, tag_field="state", tag="observed"):
    """Parts that are declared not enabled, each with its reason."""

    policy: str
    reasons: dict[str, str]


class EvidenceV1(_Sparse, frozen=True):
    """What was collected, one member a check. After a crash that came first, none."""

    policy: PolicyV1 | MissingV1 | UnreadableV1 | ProbeFailedV1 | None = None
    reviewer: ReviewerV1 | MissingV1 | UnreadableV1 | ProbeFailedV1 | None = None
    retrieval: RetrievalV1 | MissingV1 | UnreadableV1 | ProbeFailedV1 | None = None
    proposals: ProposalsV1 | MissingV1 | UnreadableV1 | ProbeFailedV1 | None = None
    observability: ObservabilityV1 | MissingV1 | UnreadableV1 | ProbeFailedV1 | None = None
    index: NoIndexV1 | AdoptedIndexV1 | MissingV1 | UnreadableV1 | ProbeFailedV1 | None = None
    hot_memory: HotMemoryV1 | MissingV1 | UnreadableV1 | ProbeFailedV1 | None = None
    retention: RetentionV1 | MissingV1 | UnreadableV1 | ProbeFailedV1 | None = None
    corpus: CorpusV1 | MissingV1 | UnreadableV1 | ProbeFailedV1 | None = None
    ratchet: RatchetV1 | MissingV1 | UnreadableV1 | ProbeFailedV1 | None = None
    noise: NoiseV1 | MissingV1 | UnreadableV1 | ProbeFailedV1 | None = None
    history: HistoryV1 | MissingV1 | UnreadableV1 | ProbeFailedV1 | None = None


class ReportV1(_Shape, frozen=True):
    """One run."""

    schema: Literal["memory-health/v1"]
    generated_at: str
    now: str
    overall: Overall
    exit_code: Literal[0, 1, 2]
    name: str
    root: RootV1
    counts: CountsV1
    checks: tuple[CheckV1, ...]
    skipped: tuple[SkippedV1, ...]
    thresholds: dict[str, ThresholdV1]
    evidence: EvidenceV1
    findings: tuple[FindingV1, ...]
    recovered: tuple[str, ...]
