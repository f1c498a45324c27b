"""`memory-health replay FILE`: judge again what a report has frozen, and print the same report.

1. The evidence, the thresholds and the time are the file's: no clock, no variable and no memory of this machine counts.
2. Everything that follows from evidence is judged anew. What went wrong with that run itself (its options, its outputs)
   and what was news then cannot be, and is taken over.
3. Where the answer is not what the file says, that is said: it was changed, or another version judged it.
"""

import os
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from cortex.nofollow import open_regular
from cortex.store.files import read_all
from cortex.strict_json import StrictJSONError, loads
from healthcheck.evaluate import evaluate
from healthcheck.evidence import Evidence, SetupEvidence, SetupFault
from healthcheck.news import Notices, Standing
from healthcheck.output import describe_error
from healthcheck.renderers import json_v1
from healthcheck.renderers.shapes_v1 import FindingV1, ReportV1
from healthcheck.report import Report
from policies.limits import REPORT_MAX_BYTES
from policies.thresholds import THRESHOLDS, EffectiveThreshold
from policies.timestamps import parse_instant

# What is not shown in a report, and means nothing to the verdict.
_UNSHOWN: Final[Mapping[str, Mapping[str, object]]] = {"history": {"size_bytes": 0}}


class ReplayError(Exception):
    """The file is no report that can be judged again. `str()` says why."""


class Replayed(NamedTuple):
    """The report as judged now, and whether it is the file to the last byte."""

    report: Report
    is_same: bool


def replay(path: str) -> Replayed:
    """Judge a report's evidence again.

    Raises:
        ReplayError: There is no such file, or it is no report of an evidence that was judged.
    """
    data = _read(path)
    try:
        report = _judged(msgspec.convert(loads(data), ReportV1))
    except StrictJSONError as error:
        raise ReplayError(f"is no strict JSON ({error})") from error
    except (msgspec.ValidationError, KeyError, ValueError) as error:
        raise ReplayError("is no report of the schema memory-health/v1 whose evidence was judged") from error
    return Replayed(report, json_v1.render(report).encode("ascii") == data)


def _read(path: str) -> bytes:
    try:
        descriptor = open_regular(path)
    except OSError as error:
        raise ReplayError(f"cannot be read ({describe_error(error)})") from error
    try:
        if os.fstat(descriptor).st_size > REPORT_MAX_BYTES:
            raise ReplayError(f"is larger than {REPORT_MAX_BYTES} bytes")
        return read_all(descriptor)
    except OSError as error:
        raise ReplayError(f"cannot be read ({describe_error(error)})") from error
    finally:
        os.close(descriptor)


def _judged(frozen: ReportV1) -> Report:
    now = _instant(frozen.now)
    thresholds = {limit.name: _threshold(frozen, limit.name) for limit in THRESHOLDS}
    skipped = next((one.reason for one in frozen.skipped if one.check == "history"), None)
    evidence = _evidence(frozen)
    alone = {(found.check, found.id) for found in evaluate(evidence, thresholds, now, skipped).findings}
    faults = [fault for found in frozen.findings if (found.check, found.id) not in alone for fault in _faults(found)]
    evidence = msgspec.structs.replace(evidence, setup=SetupEvidence(tuple(faults)))
    return Report(
        frozen.name,
        frozen.root.home,
        frozen.root.memory_root,
        now,
        thresholds,
        evidence,
        evaluate(evidence, thresholds, now, skipped),
        _notices(frozen),
    )


def _threshold(frozen: ReportV1, name: str) -> EffectiveThreshold:
    limit = frozen.thresholds[name]
    value = limit.value
    exact = int(value) if isinstance(value, float) and value.is_integer() else value
    return EffectiveThreshold(exact, limit.default, limit.source)


def _evidence(frozen: ReportV1) -> Evidence:
    members: dict[str, Any] = {
        check: _answer(check, answer) for check, answer in msgspec.to_builtins(frozen.evidence).items()
    }
    return msgspec.convert({**members, "setup": {}}, Evidence)


def _answer(check: str, answer: dict[str, Any]) -> dict[str, Any]:
    """Return a check's evidence as the auditor holds it: what was observed below `value`, times as numbers."""
    flat = {name: _held(name, member) for name, member in answer.items()}
    state = flat.pop("state")
    if state in ("missing", "unreadable", "probe-failed"):
        return {"state": state, **flat}
    mode = {} if state == "observed" else {"mode": state}
    return {"state": "observed", "value": {**mode, **flat, **_UNSHOWN.get(check, {})}}


def _held(name: str, value: Any) -> Any:
    match value:
        case dict():
            return {key: _held(key, member) for key, member in value.items()}
        case list() | tuple():
            return [_held(name, member) for member in value]
        case str() if name.endswith("_at"):
            return _instant(value)
        case _:
            return value


def _instant(text: str) -> int:
    instant = parse_instant(text)
    if instant is None:
        raise ValueError("a time is none")
    return instant


def _faults(found: FindingV1) -> Iterator[SetupFault]:
    """Yield the faults that a finding was made of: the first has the whole message, since it cannot be taken apart."""
    for number, subject in enumerate(found.evidence.subjects or ("",)):
        yield SetupFault(found.id, "" if number else found.message, subject)


def _notices(frozen: ReportV1) -> Notices:
    silenced = {
        f"{found.check}::{found.id}": Standing("unchanged", 0, silenced_until=0)
        for found in frozen.findings
        if found.silenced
    }
    return Notices(silenced, tuple(f"::{finding}" for finding in frozen.recovered))
