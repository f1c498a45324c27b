"""The auditor's thresholds: their defaults, their variables, and what counts as a valid override.

An override that makes no sense is never clamped, guessed or passed over: it comes back as an
`InvalidOverride`, and the default is used for that comparison.
"""

import re
from collections.abc import Mapping
from math import isfinite
from typing import Final, Literal, NamedTuple

from policies.limits import MIB
from policies.units import DAY_MS, HOUR_MS, MINUTE_MS

Unit = Literal["ms", "bytes", "proposals"]


class Threshold(NamedTuple):
    """A limit that a measure may reach but not pass."""

    name: str
    default: int
    variable: str
    unit: Unit


THRESHOLDS: Final = (
    Threshold("reviewer_stale_ms", 7 * DAY_MS, "CORTEX_REVIEWER_STALE_MS", "ms"),
    Threshold("reviewer_run_grace_ms", 10 * MINUTE_MS, "CORTEX_REVIEWER_RUN_GRACE_MS", "ms"),
    Threshold("retrieval_stale_ms", 24 * HOUR_MS, "CORTEX_RETRIEVAL_STALE_MS", "ms"),
    Threshold("proposal_backlog", 10, "CORTEX_PROPOSAL_BACKLOG", "proposals"),
    Threshold("observability_max_bytes", 256 * MIB, "CORTEX_OBSERVABILITY_MAX_BYTES", "bytes"),
    Threshold("observability_max_age_ms", 30 * DAY_MS, "CORTEX_OBSERVABILITY_MAX_AGE_MS", "ms"),
    Threshold("index_stale_ms", 7 * DAY_MS, "CORTEX_INDEX_STALE_MS", "ms"),
)


class EffectiveThreshold(NamedTuple):
    """A threshold as this run applies it. `source` is `default` or the variable's name."""

    value: int | float
    default: int
    source: str


class InvalidOverride(NamedTuple):
    """A variable whose value is no threshold."""

    name: str
    variable: str
    value: str


_NUMBER = re.compile(r"\+?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")


def parse_override(text: str) -> int | float | None:
    """Return the number that `text` spells, finite and above 0, or None.

    Python's own `float()` is no judge here: it takes `nan`, `1_0`, ` 10 ` and full-width digits.
    """
    if not _NUMBER.fullmatch(text):
        return None
    number = float(text)
    if not (isfinite(number) and number > 0):
        return None
    return int(number) if number.is_integer() else number


def effective_thresholds(
    environment: Mapping[str, str],
) -> tuple[dict[str, EffectiveThreshold], tuple[InvalidOverride, ...]]:
    """Apply the overrides in `environment`; return every threshold by name, and the overrides that are none."""
    effective = {}
    invalid = []
    for name, default, variable, _ in THRESHOLDS:
        text = environment.get(variable)
        number = None if text is None else parse_override(text)
        if number is not None:
            effective[name] = EffectiveThreshold(number, default, variable)
            continue
        effective[name] = EffectiveThreshold(default, default, "default")
        if text is not None:
            invalid.append(InvalidOverride(name, variable, text))
    return effective, tuple(invalid)
