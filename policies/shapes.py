"""The shapes that evidence must have, exactly, and what a decoded row says. Pure: values in, values out.

Values are of strict JSON, so `3.0` is already the integer 3, no number is infinite, and no key stands
twice. Order of keys is free, a boolean is no number, an unknown key makes another shape.
"""

import re
from typing import Annotated, Any, Final, Literal, TypeVar

from msgspec import UNSET, Meta, Struct, UnsetType, ValidationError, convert

from policies.limits import NOT_ENABLED_AT_MOST
from policies.timestamps import parse_run_id, parse_timestamp

Count = Annotated[int, Meta(ge=0)]
Measure = Annotated[float, Meta(ge=0)]
Text = Annotated[str, Meta(min_length=1)]
Reason = Annotated[str, Meta(pattern=r"\S")]
Sha256 = Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]
Nothing = Annotated[list[Any], Meta(max_length=0)]

S = TypeVar("S")

RowStatus = Literal["ok", "skipped", "failed", "parse-failed", "timed-out", "invalid"]


class ByType(Struct, forbid_unknown_fields=True):
    """What a reviewer run dispatched, by type; a type that is not there had none."""

    memory: Count = 0
    idea: Count = 0
    knowledge: Count = 0
    proposal: Count = 0

    @property
    def total(self) -> int:
        """The sum over the types."""
        return self.memory + self.idea + self.knowledge + self.proposal


class DispatchSummary(Struct, forbid_unknown_fields=True):
    """What became of the items that a reviewer run dispatched: none may have failed."""

    total: Count
    by_type: ByType
    succeeded: Count
    failed: Literal[0]
    failures: Nothing
    skipped_guard: Count
    skips: list[Any]
    proposals_auto_applied: Count
    proposals_auto_apply_failed: Literal[0]

    @property
    def adds_up(self) -> bool:
        """Tell whether the counts agree with one another."""
        return (
            self.total == self.succeeded + self.skipped_guard == self.by_type.total
            and self.proposals_auto_applied <= self.by_type.proposal
        )


class ReviewerSuccess(Struct, forbid_unknown_fields=True):
    """A reviewer run that reviewed something."""

    ts: str
    ok: bool
    runId: Text  # noqa: N815  the row's own key
    transcript: Text
    exchanges: Count
    inference_duration_ms: Measure
    parse_ok: bool
    dispatch_summary: DispatchSummary


class ReviewerSkip(Struct, forbid_unknown_fields=True):
    """A reviewer run that found nothing to review."""

    ts: str
    ok: bool
    runId: Text  # noqa: N815  the row's own key
    exchanges: Literal[0]
    inference_duration_ms: Measure
    parse_ok: bool
    skipped: bool
    transcript: str | None = None
    error: str | UnsetType = UNSET


class Retrieval(Struct, forbid_unknown_fields=True):
    """One retrieval from the memory."""

    ts: str
    query_hash: Text
    returned_count: Count
    duration_ms: Measure
    top_score: Measure | UnsetType = UNSET


class IndexManifest(Struct, forbid_unknown_fields=True):
    """What an adopted index was built from. `indexed_at` is checked by `as_index_manifest`."""

    schema: Literal["lifeos-cortex-index/v1"]
    canonical_sha256: Sha256
    index_path: Text
    index_sha256: Sha256
    indexed_at: str


class IndexPolicy(Struct, forbid_unknown_fields=True):
    """The marker of a memory that has no index on purpose."""

    schema: Literal["lifeos-cortex-index-policy/v1"]
    policy: Literal["no-index-v1"]


class HealthPolicy(Struct, forbid_unknown_fields=True):
    """The parts of a memory that are not used, each with the reason."""

    schema: Literal["memory-health-policy/v1"]
    not_enabled: Annotated[
        dict[Literal["reviewer", "retrieval", "proposals"], Reason], Meta(max_length=NOT_ENABLED_AT_MOST)
    ]


def as_shape(value: object, shape: type[S]) -> S | None:
    """Return a decoded value as a shape, or None where it has another."""
    try:
        return convert(value, shape)
    except ValidationError:
        return None


def as_index_manifest(value: object) -> IndexManifest | None:
    """Return a decoded manifest with a valid time, or None."""
    manifest = as_shape(value, IndexManifest)
    return manifest if manifest and parse_timestamp(manifest.indexed_at) is not None else None


_TIME_OUT: Final = re.compile(r"time[ -]?out|timed[ -]?out", re.IGNORECASE | re.ASCII)


def reviewer_status(row: dict[str, object]) -> RowStatus:
    """Return what the reviewer's row says of its run; the first rule that holds.

    A row that calls itself skipped is one, or has an unknown shape, whatever else it says.
    """
    if row.get("skipped") is True:
        return "skipped" if _is_skip(row) else "invalid"
    if row.get("ok") is False or row.get("parse_ok") is False:
        return _failure(row)
    return "ok" if _is_success(row) else "invalid"


def _failure(row: dict[str, object]) -> RowStatus:
    if _TIME_OUT.search(reviewer_error(row) or ""):
        return "timed-out"
    return "parse-failed" if row.get("parse_ok") is False else "failed"


def _is_skip(row: dict[str, object]) -> bool:
    skip = as_shape(row, ReviewerSkip)
    return skip is not None and skip.ok and skip.parse_ok and parse_timestamp(skip.ts) is not None


def _is_success(row: dict[str, object]) -> bool:
    run = as_shape(row, ReviewerSuccess)
    if run is None or not (run.ok and run.parse_ok):
        return False
    return run.dispatch_summary.adds_up and parse_timestamp(run.ts) is not None


def reviewer_time(row: dict[str, object]) -> int | None:
    """Return the instant of a reviewer's row: its `ts`, or its `runId` where there is no `ts`; None if unreadable."""
    if "ts" in row:
        return _instant(row["ts"])
    run_id = row.get("runId")
    return run_time(run_id) if isinstance(run_id, str) else None


def run_time(name: str) -> int | None:
    """Return the instant that a run is named after: a run id or a timestamp; None for any other name."""
    instant = parse_run_id(name)
    return parse_timestamp(name) if instant is None else instant


def reviewer_error(row: dict[str, object]) -> str | None:
    """Return a row's error: a string, or the strings of a list, joined. It may hold private text."""
    error = row.get("error")
    if isinstance(error, list):
        return " ".join(part for part in error if isinstance(part, str))
    return error if isinstance(error, str) else None


def retrieval_time(row: dict[str, object]) -> int | None:
    """Return the instant of a retrieval's row, or None where the row has another shape."""
    retrieval = as_shape(row, Retrieval)
    return parse_timestamp(retrieval.ts) if retrieval else None


def proposal_status(row: dict[str, object]) -> str | None:
    """Return a proposal's status, or None where it is missing, null or no string."""
    status = row.get("status")
    return status if isinstance(status, str) else None


def _instant(value: object) -> int | None:
    return parse_timestamp(value) if isinstance(value, str) else None
