"""The report as JSON (`memory-health/v1`): strict, in ASCII, with a fixed order, the same bytes in every locale.

Values are taken over field by field into the shapes of `shapes_v1`: a field that the shapes do not have is an error
here (and in the tests), not a surprise for a reader.
"""

import json
from typing import Any, Final

import msgspec

from healthcheck.checks import CATALOGUE, CHECKS, FINDINGS
from healthcheck.evaluate import Assessment
from healthcheck.evidence import Evidence
from healthcheck.judgement import Finding
from healthcheck.news import Notices
from healthcheck.renderers.printable import valid
from healthcheck.renderers.shapes_v1 import ReportV1
from healthcheck.report import Report
from policies.thresholds import THRESHOLDS, EffectiveThreshold
from policies.timestamps import format_instant

SCHEMA: Final = "memory-health/v1"
# What each run changes, or what serves the next run alone.
_NOT_SHOWN: Final = (
    ("history", "size_bytes"), ("proposals", "digests"), ("ratchet", "reset"), ("ratchet", "new_digests"),
    ("ratchet", "marks"),
)  # fmt: skip
# Past this, JSON readers that hold numbers as doubles disagree on an integer; it is printed as a double for all.
_EXACT_IN_A_DOUBLE: Final = 2**53


def render(report: Report) -> str:
    """Return the report as one JSON document, indented, with a final newline."""
    return json.dumps(msgspec.to_builtins(shape(report)), indent=2, allow_nan=False) + "\n"


def shape(report: Report) -> ReportV1:
    """Return the report in its published shape."""
    now = format_instant(report.now)
    assessment = report.assessment
    members = {
        "schema": SCHEMA,
        "generated_at": now,
        "now": now,
        "overall": report.overall.word,
        "exit_code": int(report.overall),
        "name": report.name,
        "root": {"home": report.home, "memory_root": report.memory_root},
        "counts": {status.replace("-", "_"): count for status, count in report.counts().items()},
        "checks": [{"id": check, "status": status, "summary": text} for check, status, text in assessment.checks],
        "skipped": _skipped(assessment),
        "thresholds": {name: _threshold(limit) for name, limit in report.thresholds.items()},
        "evidence": _evidence(report.evidence),
        "findings": [_finding(found, report.notices) for found in assessment.findings],
        "recovered": sorted({key.partition("::")[2] for key in report.notices.recovered}),
    }
    return msgspec.convert(_wire(members), ReportV1)


def _skipped(assessment: Assessment) -> list[dict[str, str]]:
    return [{"check": check, "reason": why} for check, status, why in assessment.checks if status == "skipped"]


def _threshold(limit: EffectiveThreshold) -> dict[str, Any]:
    value = limit.value if limit.value <= _EXACT_IN_A_DOUBLE else float(limit.value)
    return {"value": value, "default": limit.default, "source": limit.source}


def _finding(found: Finding, notices: Notices) -> dict[str, Any]:
    spec = CATALOGUE[found.id]
    return {
        "id": found.id,
        "severity": found.severity.word,
        "check": found.check,
        "message": found.message,
        "evidence": msgspec.to_builtins(found.facts),
        "remedy": spec.remedy,
        "way_back": spec.way_back,
        "silenced": notices.is_silenced(found),
    }


def _evidence(evidence: Evidence) -> dict[str, Any]:
    """Return each check's evidence: `state` first, then the fields of what was observed, on one level."""
    collected = {check: msgspec.to_builtins(getattr(evidence, check)) for check in evidence.__struct_fields__}
    del collected["setup"]  # its faults are findings
    flat = {check: _flat(answer) for check, answer in collected.items()}
    for check, member in _NOT_SHOWN:
        flat[check].pop(member, None)
    return flat


def _flat(answer: dict[str, Any]) -> dict[str, Any]:
    if "value" not in answer:
        return answer
    value: dict[str, Any] = answer["value"]
    return {"state": value.pop("mode", "observed"), **value}


def _wire(value: Any, name: str = "") -> Any:
    """Return a value as JSON carries it: instants as ISO strings, strings that can be encoded."""
    match value:
        case str():
            return valid(value)
        case dict():
            return {valid(key): _wire(member, key) for key, member in value.items()}
        case list() | tuple():
            return [_wire(member) for member in value]
        case int() if name.endswith("_at"):
            return format_instant(value)
        case _:
            return value


def schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of a report. The shipped file holds exactly this."""
    (reference,), components = msgspec.json.schema_components([ReportV1], ref_template="#/$defs/{name}")
    checks = {"enum": [check.id for check in CHECKS]}
    findings = {"enum": [spec.id for spec in FINDINGS]}
    for name, member, allowed in (
        ("CheckV1", "id", checks),
        ("SkippedV1", "check", checks),
        ("FindingV1", "check", checks),
        ("FindingV1", "id", findings),
    ):
        components[name]["properties"][member] = allowed
    properties = components["ReportV1"]["properties"]
    properties["recovered"]["items"] = findings
    properties["thresholds"]["propertyNames"] = {"enum": [threshold.name for threshold in THRESHOLDS]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": SCHEMA,
        **reference,
        "$defs": components,
    }


def schema_text() -> str:
    """Return the JSON Schema as the shipped file has it."""
    return json.dumps(schema(), indent=2) + "\n"
