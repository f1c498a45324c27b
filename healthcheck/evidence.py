"""What the collectors found, as values: typed, frozen, free of the memory's content.

A collector answers with one of four: `Observed` (a measurement), `Missing` (the files are not there), `Unreadable`
(something is there that proves nothing), and, put in its place by the guard around it, `ProbeFailed` (it crashed).
Instants are integer milliseconds since 1970 (UTC) in fields named `…_at`; the report prints them in ISO form.
Paths are relative to home.
"""

from typing import Generic, TypeVar

from msgspec import Struct

from policies.shapes import RowStatus

T = TypeVar("T")


class Observed(Struct, Generic[T], frozen=True, tag_field="state", tag="observed"):
    """The evidence is there and was measured; whether it is any good is for `evaluate` to say."""

    value: T


class Missing(Struct, frozen=True, tag_field="state", tag="missing"):
    """The files are not there. `reason` is a clause for a message: `no LIFEOS/…/reviewer-runs.jsonl`."""

    reason: str


class Unreadable(Struct, frozen=True, tag_field="state", tag="unreadable"):
    """Something is there, and it proves nothing: a link, a folder, no permission, a broken manifest."""

    path: str
    reason: str


class ProbeFailed(Struct, frozen=True, tag_field="state", tag="probe-failed"):
    """The collector itself crashed. `reason` is the kind of the exception, never its text."""

    reason: str


Collected = Observed[T] | Missing | Unreadable | ProbeFailed


class Malformed(Struct, frozen=True):
    """Lines that are no strict JSON object: how many, and the numbers (from 1) of the first of them."""

    count: int = 0
    lines: tuple[int, ...] = ()


class ReviewerRow(Struct, frozen=True):
    """The last row of the reviewer's log. `error` is stripped of private text and cut."""

    line: int
    status: RowStatus
    ended_at: int | None
    error: str | None = None


class RunFolders(Struct, frozen=True):
    """A group of run folders: each is a run that began and, where it is newer than the last row, has not ended."""

    count: int = 0
    oldest_at: int | None = None
    newest_at: int | None = None
    with_parse_error: int = 0


class ReviewerEvidence(Struct, frozen=True):
    """The reviewer's log and run folders.

    `newer_runs` are those begun after the last row's time, or all of them where that row has no readable time.
    """

    log: str
    runs: str
    rows: int
    malformed: Malformed
    last: ReviewerRow | None
    all_runs: RunFolders
    newer_runs: RunFolders
    ignored_folders: int = 0


class RetrievalRow(Struct, frozen=True):
    """The last row of the retrieval log; where it is not `valid` it has another shape and proves nothing."""

    line: int
    valid: bool
    retrieved_at: int | None = None


class RetrievalEvidence(Struct, frozen=True):
    """The retrieval log."""

    log: str
    rows: int
    malformed: Malformed
    last: RetrievalRow | None


class ProposalEvidence(Struct, frozen=True):
    """The proposal queue. `without_status` are rows whose status is missing, null or no string.

    `digests` stand for the ids of the other rows, for the ratchet; no report shows them.
    """

    queue: str
    rows: int
    pending: int
    malformed: Malformed
    without_status: Malformed
    digests: tuple[str, ...] = ()


class ObservabilityEvidence(Struct, frozen=True):
    """Sizes and ages of the logs below OBSERVABILITY/, the auditor's own history left out.

    `unreadable` names what could not be measured; where it is not empty, the figures are of the rest alone.
    """

    folder: str
    files: int
    size_bytes: int
    oldest_at: int | None = None
    oldest: str | None = None
    newest_at: int | None = None
    newest: str | None = None
    unreadable: tuple[str, ...] = ()


class NoIndex(Struct, frozen=True, tag_field="mode", tag="no-index"):
    """A sound marker says that this memory has no index on purpose."""

    marker: str


class AdoptedIndex(Struct, frozen=True, tag_field="mode", tag="adopted"):
    """A sound manifest, and the two hashes as measured now."""

    manifest: str
    index: str
    indexed_at: int
    canonical_sha256: str
    measured_canonical_sha256: str
    index_sha256: str
    measured_index_sha256: str


class HotFile(Struct, frozen=True):
    """One actor's hot memory: how many entries, and whether its markers are one pair in their order."""

    path: str
    entries: int
    markers_sound: bool


class HotMemoryEvidence(Struct, frozen=True):
    """The hot files that are there."""

    files: tuple[HotFile, ...]


class RetentionEvidence(Struct, frozen=True):
    """The notes that have a level, and those marked to be archived: the oldest mark, the newest, and undated ones."""

    levelled: int
    pending: int
    oldest_at: int | None = None
    oldest: str | None = None
    newest_at: int | None = None
    newest: str | None = None
    unclear: int = 0
    first_unclear: tuple[str, ...] = ()


class ShapeFault(Struct, frozen=True):
    """A fault of the corpus that shows without reading content."""

    path: str
    kind: str
    message: str


class CorpusEvidence(Struct, frozen=True):
    """The canonical files as a walk saw them. `faults` is the number of all, `first_faults` the first few."""

    folder: str
    files: int
    size_bytes: int
    faults: int
    first_faults: tuple[ShapeFault, ...] = ()


class HistoryEvidence(Struct, frozen=True):
    """The auditor's own log of verdicts: there and readable."""

    log: str
    size_bytes: int


class LogLoss(Struct, frozen=True):
    """An evidence log that is below the highest state recorded of it, and in which ways.

    The ways: `gone`, `smaller`, `head` (its first bytes changed), `earlier` (its last time), `ids` (proposals gone).
    """

    log: str
    path: str
    ways: tuple[str, ...]
    recorded_bytes: int
    size_bytes: int | None = None
    ids_gone: int = 0


class KeptMark(Struct, frozen=True):
    """The highest state recorded of a log that is below it: kept with every verdict, so that it outlives old rows."""

    size_bytes: int = 0
    last_row_at: str | None = None
    head_bytes: int = 0
    head_sha256: str = ""
    ids: tuple[str, ...] = ()


class RatchetEvidence(Struct, frozen=True):
    """What is less than it was. `reset` are logs that a write has lawfully changed since the last verdict.

    `new_digests` stand for ids of proposals that the history does not have, `marks` are of the losses. No report shows
    any of these.
    """

    losses: tuple[LogLoss, ...] = ()
    reset: tuple[str, ...] = ()
    new_digests: tuple[str, ...] = ()
    marks: dict[str, KeptMark] = {}


class SilenceEvidence(Struct, frozen=True):
    """An operator's silence: of which finding or (`ingested`) alert of another source, and when it ends."""

    key: str
    until_at: int
    ingested: bool = False


class NoiseEvidence(Struct, frozen=True):
    """The noise ledger: there and sound; with the silences that it holds, by their keys."""

    ledger: str
    silences: tuple[SilenceEvidence, ...] = ()


class NotEnabled(Struct, frozen=True):
    """Parts that the health policy declares unused, each with its reason."""

    policy: str
    reasons: dict[str, str]


class SetupFault(Struct, frozen=True):
    """Something about this very run that makes no sense or went wrong; `finding` is its id in the catalogue."""

    finding: str
    message: str
    subject: str


class SetupEvidence(Struct, frozen=True):
    """Faults of root, clock, thresholds and outputs."""

    faults: tuple[SetupFault, ...] = ()


class Evidence(Struct, frozen=True, kw_only=True):
    """Everything that is judged, one field a check (`policy` apart: it says which checks are not enabled)."""

    setup: SetupEvidence
    policy: Collected[NotEnabled]
    reviewer: Collected[ReviewerEvidence]
    retrieval: Collected[RetrievalEvidence]
    proposals: Collected[ProposalEvidence]
    observability: Collected[ObservabilityEvidence]
    index: Collected[NoIndex | AdoptedIndex]
    hot_memory: Collected[HotMemoryEvidence]
    retention: Collected[RetentionEvidence]
    corpus: Collected[CorpusEvidence]
    ratchet: Collected[RatchetEvidence]
    noise: Collected[NoiseEvidence]
    history: Collected[HistoryEvidence]
