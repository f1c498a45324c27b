"""Reports as JSON: no test takes one for good that is not strict JSON of the published schema."""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NoReturn

from jsonschema import Draft202012Validator


@cache
def _validator() -> Draft202012Validator:
    schema = json.loads(files("healthcheck").joinpath("schemas", "memory-health-v1.schema.json").read_text("utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def _no_constant(name: str) -> NoReturn:
    message = f"{name} stands in a report"
    raise AssertionError(message)


def checked_report(text: str) -> dict[str, Any]:
    """Return the report that `text` is: strict JSON, one document, valid by the published schema."""
    report: dict[str, Any] = json.loads(text, parse_constant=_no_constant)
    problems = [
        f"{'/'.join(map(str, error.absolute_path))}: {error.message}" for error in _validator().iter_errors(report)
    ]
    assert problems == []
    return report


def statuses(report: Mapping[str, Any]) -> dict[str, str]:
    """Return each check's status by its id."""
    return {check["id"]: check["status"] for check in report["checks"]}
