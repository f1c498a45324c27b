"""Label rows as `benchmark label` writes them, and ways to damage one."""

import copy
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

Row = dict[str, Any]
ROW: Final[Row] = {
    "id": "q1",
    "query": "oak bridge",
    "expected_ids": ["a", "b"],
    "temporal_expected_order": ["a", "b"],
    "false_ids": ["c"],
    "provenance": {
        "schema": "lifeos-cortex-benchmark-label-provenance/v1",
        "query_execution": {
            "method": "live-cortex-cli",
            "command": ["cortex", "search", "oak bridge"],
            "executed_at": "2026-08-01T10:00:00.000Z",
            "query": "oak bridge",
            "returned_ids": ["a", "c", "b"],
        },
        "expected_ids_verification": {
            "method": "manual-corpus-verification",
            "verified_at": "2026-08-01T10:01:00.000Z",
            "verifier": "keeper",
            "verified_ids": ["a", "b"],
        },
    },
}
EXECUTION: Final = "provenance.query_execution"
VERIFICATION: Final = "provenance.expected_ids_verification"


def changed(field: str, value: object) -> Row:
    """Return the row with one field (a path with dots) set."""
    return _changed(field, lambda holder, name: holder.__setitem__(name, value))


def without(field: str) -> Row:
    """Return the row without one field."""
    return _changed(field, lambda holder, name: holder.__delitem__(name))


def asking(row_id: str, query: str, *expected: str, returned: Iterable[str] = (), **more: object) -> Row:
    """Return a row that labels a query; what came back is `returned`, else what is expected."""
    row = {**copy.deepcopy(ROW), "id": row_id, "query": query, "expected_ids": list(expected)}
    del row["temporal_expected_order"], row["false_ids"]
    row["provenance"]["query_execution"].update(query=query, returned_ids=list(returned) or list(expected))
    row["provenance"]["expected_ids_verification"]["verified_ids"] = list(expected)
    return {**row, **more}


def encode(*rows: Mapping[str, Any]) -> bytes:
    """Return rows as a label file."""
    return b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)


def _changed(field: str, change: Callable[[Row, str], None]) -> Row:
    row = copy.deepcopy(ROW)
    *above, name = field.split(".")
    holder = row
    for part in above:
        holder = holder[part]
    change(holder, name)
    return row
