"""Each shape is exact: every departure from a good row, one at a time, is another shape."""

import json
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.health_tree import HOUR, NOW
from support.memories import ago, retrieved, reviewed, skipped

from cortex.strict_json import loads
from healthcheck.evidence import RowStatus
from policies.shapes import (
    HealthPolicy,
    IndexPolicy,
    as_index_manifest,
    as_shape,
    proposal_status,
    retrieval_time,
    reviewer_error,
    reviewer_status,
    reviewer_time,
    run_time,
)

ABSENT: Final = object()
NO_COUNT: Final = (-1, 1.5, True, "1", None, [], {})
NO_MEASURE: Final = (-0.5, True, "1", None, [])
NO_TEXT: Final = ("", 1, None, [])
NO_TIME: Final = (
    "", "soon", "2026-02-30", "2026-08-10T11:00:00", "2026-08-10 11:00:00Z", "Sat, 15 Aug 2026 11:00:00 GMT", NOW, None,
)  # fmt: skip


def changed(row: dict[str, Any], path: str, value: object) -> dict[str, Any]:
    """A copy of a row with one member, named by keys joined with dots, set or taken away."""
    copy: dict[str, Any] = json.loads(json.dumps(row))
    *parents, key = path.split(".")
    place = copy
    for parent in parents:
        place = place[parent]
    if value is ABSENT:
        del place[key]
    else:
        place[key] = value
    return copy


def paths(row: dict[str, Any], prefix: str = "") -> list[str]:
    """Every member of a row, by its path; a type that was dispatched may be absent."""
    found = []
    for key, value in row.items():
        found.append(prefix + key)
        if isinstance(value, dict) and key != "by_type":
            found += paths(value, f"{prefix}{key}.")
    return found


SUMMARY: Final = "dispatch_summary"
BUSY: Final = reviewed(
    HOUR,
    dispatch_summary={
        "total": 6, "by_type": {"memory": 1, "idea": 2, "knowledge": 0, "proposal": 3}, "succeeded": 4, "failed": 0,
        "failures": [], "skipped_guard": 2, "skips": [{"why": "seen"}, 1], "proposals_auto_applied": 3,
        "proposals_auto_apply_failed": 0,
    },
)  # fmt: skip

SUCCESSES: Final[dict[str, dict[str, Any]]] = {
    "one item": reviewed(HOUR),
    "every type, some withheld": BUSY,
    "nothing dispatched": changed(
        changed(changed(reviewed(HOUR), f"{SUMMARY}.total", 0), f"{SUMMARY}.succeeded", 0), f"{SUMMARY}.by_type", {}
    ),
    "a date as time": reviewed(HOUR, ts="2026-08-10"),
    "no exchanges, no time taken": reviewed(HOUR, exchanges=0, inference_duration_ms=0),
    "a fraction of a millisecond": reviewed(HOUR, inference_duration_ms=0.25),
    "more than 64 bits": reviewed(HOUR, exchanges=10**30),
    "keys in another order": dict(reversed(reviewed(HOUR).items())),
}


@pytest.mark.parametrize("name", SUCCESSES)
def test_a_success_is_ok(name: str) -> None:
    assert reviewer_status(SUCCESSES[name]) == "ok"


def test_integers_may_be_spelled_with_a_fraction_of_zero() -> None:
    text = json.dumps(BUSY).replace('"exchanges": 3', '"exchanges": 3.0').replace('"total": 6', '"total": 6e0')
    row = loads(text.replace('"failed": 0', '"failed": 0.0'))
    assert isinstance(row, dict)
    assert reviewer_status(row) == "ok"


SPOILT_SUCCESSES: Final = [
    *((path, ABSENT) for path in paths(reviewed(HOUR))),
    *((path, 1) for path in ("surprise", f"{SUMMARY}.surprise", f"{SUMMARY}.by_type.surprise")),
    ("skipped", False),
    *(("ts", value) for value in NO_TIME),
    *((key, value) for key in ("ok", "parse_ok") for value in (1, "true", None)),
    *((key, value) for key in ("runId", "transcript") for value in NO_TEXT),
    *(("exchanges", value) for value in NO_COUNT),
    *(("inference_duration_ms", value) for value in NO_MEASURE),
    *((SUMMARY, value) for value in ([], None, "done", {})),
    *((f"{SUMMARY}.{key}", value) for key in ("total", "succeeded", "skipped_guard") for value in NO_COUNT),
    *((f"{SUMMARY}.proposals_auto_applied", value) for value in NO_COUNT),
    *((f"{SUMMARY}.{key}", value) for key in ("failed", "proposals_auto_apply_failed") for value in (1, False, "0")),
    *((f"{SUMMARY}.failures", value) for value in ([1], {}, None)),
    *((f"{SUMMARY}.skips", value) for value in ({}, None, 0)),
    *((f"{SUMMARY}.by_type", value) for value in ([], None, {}, {"memory": 2}, {"memory": 1, "idea": 1})),
    *((f"{SUMMARY}.by_type.memory", value) for value in NO_COUNT),
    (f"{SUMMARY}.total", 2),
    (f"{SUMMARY}.succeeded", 0),
    (f"{SUMMARY}.skipped_guard", 1),
    (f"{SUMMARY}.proposals_auto_applied", 1),
]


@pytest.mark.parametrize(("path", "value"), SPOILT_SUCCESSES)
def test_a_success_with_one_thing_wrong_is_invalid(path: str, value: object) -> None:
    assert reviewer_status(changed(reviewed(HOUR), path, value)) == "invalid"


SKIPS: Final[dict[str, dict[str, Any]]] = {
    "bare": skipped(HOUR),
    "transcript": skipped(HOUR, transcript="t.jsonl"),
    "no transcript": skipped(HOUR, transcript=None),
    "error": skipped(HOUR, error=""),
    "both": skipped(HOUR, transcript="", error="empty transcript"),
}
SPOILT_SKIPS: Final = [
    *((path, ABSENT) for path in paths(skipped(HOUR)) if path != "skipped"),
    ("surprise", 1),
    (SUMMARY, reviewed(HOUR)[SUMMARY]),
    *(("ts", value) for value in NO_TIME),
    *((key, value) for key in ("ok", "parse_ok") for value in (False, 1, None)),
    *(("runId", value) for value in NO_TEXT),
    *(("exchanges", value) for value in (1, -1, False, "0")),
    *(("inference_duration_ms", value) for value in NO_MEASURE),
    ("transcript", 1),
    *(("error", value) for value in (None, 1, [])),
    *(("skipped", value) for value in (1, "true", None)),
]


@pytest.mark.parametrize("name", SKIPS)
def test_a_skip_is_healthy(name: str) -> None:
    assert reviewer_status(SKIPS[name]) == "skipped"


@pytest.mark.parametrize(("path", "value"), SPOILT_SKIPS)
def test_a_skip_with_one_thing_wrong_is_invalid(path: str, value: object) -> None:
    assert reviewer_status(changed(skipped(HOUR), path, value)) == "invalid"


FAILURES: Final[list[tuple[dict[str, Any], RowStatus]]] = [
    ({"ok": False}, "failed"),
    ({"ok": False, "error": "no answer"}, "failed"),
    ({"ok": False, "parse_ok": True}, "failed"),
    ({"ok": False, "parse_ok": False}, "parse-failed"),
    ({"parse_ok": False}, "parse-failed"),
    ({"ok": True, "parse_ok": False}, "parse-failed"),
    ({"ok": False, "skipped": False}, "failed"),
    ({"ok": False, "ts": "soon", "surprise": 1}, "failed"),
    *(({"ok": False, "error": text}, "timed-out") for text in (
        "timeout", "Inference TIMEOUT after 60s", "time out", "time-out", "timed out", "Timed-Out", "timedout",
    )),
    *(({"ok": False, "error": text}, "failed") for text in ("time  out", "times out", "time_out", "tıme out", "timer")),
    ({"ok": False, "error": ["request", "timed out"]}, "timed-out"),
    ({"ok": False, "error": ["it timed", "out"]}, "timed-out"),
    ({"ok": False, "error": [{"timeout": 1}, 5, "no"]}, "failed"),
    ({"ok": False, "error": {"m": "timeout"}}, "failed"),
    ({"ok": False, "error": None}, "failed"),
    ({"parse_ok": False, "error": "timeout"}, "timed-out"),
]  # fmt: skip


@pytest.mark.parametrize(("row", "status"), FAILURES)
def test_a_failure_says_of_which_kind_it_is(row: dict[str, Any], status: RowStatus) -> None:
    assert reviewer_status(row) == status


TIMES: Final = [
    ({"ts": ago(HOUR), "runId": "x"}, NOW - HOUR),
    ({"ts": "2026-08-10"}, NOW - 12 * HOUR),
    ({"runId": "2026-08-10T11-00-00-000Z"}, NOW - HOUR),
    ({"runId": ago(HOUR)}, NOW - HOUR),
    ({"ts": "soon", "runId": "2026-08-10T11-00-00-000Z"}, None),
    ({"ts": None, "runId": "2026-08-10T11-00-00-000Z"}, None),
    ({"ts": NOW}, None),
    ({"runId": NOW}, None),
    ({"runId": "x"}, None),
    ({}, None),
]


@pytest.mark.parametrize(("row", "instant"), TIMES)
def test_a_reviewer_row_has_the_time_of_its_ts_or_without_one_of_its_run(row: dict[str, Any], instant: int) -> None:
    assert reviewer_time(row) == instant


@pytest.mark.parametrize(
    ("name", "instant"),
    [
        ("2026-08-10T11-00-00-000Z", NOW - HOUR),
        ("2026-08-10T11:00:00Z", NOW - HOUR),
        ("2026-08-10", NOW - 12 * HOUR),
        ("2026-08-10T11-00-00Z", None),
        ("2026-02-30T11-00-00-000Z", None),
        ("latest", None),
        ("1786363200000", None),
    ],
)
def test_a_run_folder_has_the_time_of_its_name(name: str, instant: int | None) -> None:
    assert run_time(name) == instant


@pytest.mark.parametrize(
    ("error", "text"),
    [("boom", "boom"), (["a", 1, "b"], "a b"), ([], ""), ({"m": "boom"}, None), (None, None), (5, None)],
)
def test_an_error_is_a_string_or_the_strings_of_a_list(error: object, text: str | None) -> None:
    assert reviewer_error({"error": error}) == text


SPOILT_RETRIEVALS: Final = [
    *((path, ABSENT) for path in retrieved(HOUR)),
    ("surprise", 1),
    *(("ts", value) for value in NO_TIME),
    *(("query_hash", value) for value in NO_TEXT),
    *(("returned_count", value) for value in NO_COUNT),
    *((key, value) for key in ("duration_ms", "top_score") for value in NO_MEASURE),
]


@pytest.mark.parametrize(
    "changes", [{}, {"top_score": 0}, {"top_score": 7.25}, {"returned_count": 0, "duration_ms": 0}]
)
def test_a_retrieval_has_its_time(changes: dict[str, Any]) -> None:
    assert retrieval_time(retrieved(HOUR, **changes)) == NOW - HOUR


@pytest.mark.parametrize(("path", "value"), SPOILT_RETRIEVALS)
def test_a_retrieval_with_one_thing_wrong_has_no_time(path: str, value: object) -> None:
    assert retrieval_time(changed(retrieved(HOUR), path, value)) is None


@pytest.mark.parametrize(
    ("row", "status"),
    [
        ({"status": "pending"}, "pending"),
        ({"status": "pending "}, "pending "),
        ({"status": ""}, ""),
        ({"status": None}, None),
        ({"status": 1}, None),
        ({"status": ["pending"]}, None),
        ({}, None),
    ],
)
def test_a_proposal_has_a_status_only_where_it_is_a_string(row: dict[str, Any], status: str | None) -> None:
    assert proposal_status(row) == status


MANIFEST: Final = {
    "schema": "lifeos-cortex-index/v1",
    "canonical_sha256": "0123456789abcdef" * 4,
    "index_path": "index.bin",
    "index_sha256": "f" * 64,
    "indexed_at": ago(HOUR),
}
SPOILT_MANIFESTS: Final = [
    *((key, ABSENT) for key in MANIFEST),
    ("surprise", 1),
    ("schema", "lifeos-cortex-index/v2"),
    *(
        (key, value)
        for key in ("canonical_sha256", "index_sha256")
        for value in ("", "f" * 63, "f" * 65, "F" * 64, "g" * 64, "f" * 64 + "\n", "\n" + "f" * 64, "ｆ" * 64, None)
    ),
    *(("index_path", value) for value in NO_TEXT),
    *(("indexed_at", value) for value in NO_TIME),
]


def test_a_manifest_holds_exactly_what_it_must() -> None:
    manifest = as_index_manifest(MANIFEST)
    assert manifest is not None
    assert manifest.index_path == "index.bin"


@pytest.mark.parametrize(("path", "value"), SPOILT_MANIFESTS)
def test_a_manifest_with_one_thing_wrong_is_none(path: str, value: object) -> None:
    assert as_index_manifest(changed(MANIFEST, path, value)) is None


MARKER: Final = {"schema": "lifeos-cortex-index-policy/v1", "policy": "no-index-v1"}


@pytest.mark.parametrize(
    ("value", "sound"),
    [
        (MARKER, True),
        ({**MARKER, "note": ""}, False),
        ({**MARKER, "policy": "no-index-v2"}, False),
        ({**MARKER, "schema": "lifeos-cortex-index-policy/v2"}, False),
        ({"schema": MARKER["schema"]}, False),
        ({"policy": MARKER["policy"]}, False),
        ([MARKER], False),
        (None, False),
    ],
)
def test_a_marker_is_exact(value: object, sound: bool) -> None:
    assert (as_shape(value, IndexPolicy) is not None) is sound


WHY: Final = "not used here"
POLICY: Final = {"schema": "memory-health-policy/v1", "not_enabled": {"reviewer": WHY}}


@pytest.mark.parametrize(
    ("value", "sound"),
    [
        (POLICY, True),
        ({**POLICY, "not_enabled": {}}, True),
        ({**POLICY, "not_enabled": {"retrieval": WHY, "proposals": WHY}}, True),
        ({**POLICY, "not_enabled": {"reviewer": WHY, "retrieval": WHY, "proposals": WHY}}, False),
        ({**POLICY, "not_enabled": {"index": WHY}}, False),
        ({**POLICY, "not_enabled": {"reviewer": ""}}, False),
        ({**POLICY, "not_enabled": {"reviewer": " "}}, False),
        ({**POLICY, "not_enabled": {"reviewer": True}}, False),
        ({**POLICY, "not_enabled": {"reviewer": None}}, False),
        ({**POLICY, "not_enabled": ["reviewer"]}, False),
        ({**POLICY, "schema": "memory-health-policy/v2"}, False),
        ({**POLICY, "note": ""}, False),
        ({"schema": POLICY["schema"]}, False),
        ({"not_enabled": {"reviewer": WHY}}, False),
        ([], False),
    ],
)
def test_a_health_policy_is_exact(value: object, sound: bool) -> None:
    assert (as_shape(value, HealthPolicy) is not None) is sound


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(), children, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from([*reviewed(HOUR), *skipped(HOUR), *retrieved(HOUR), "status", "error"])


@given(st.dictionaries(KEYS | st.text(), JSON))
def test_no_row_is_too_strange_to_be_judged(row: dict[str, Any]) -> None:
    """Whatever a row holds, it has a status, and one that nobody wrote in the known shape is never healthy."""
    assert reviewer_status(row) in ("failed", "parse-failed", "timed-out", "invalid")
    assert retrieval_time(row) is None
    reviewer_time(row)
    proposal_status(row)
