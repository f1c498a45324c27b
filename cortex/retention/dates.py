"""`check --fix dates`: for notes whose dates the corpus refuses, the instant that they mean; as a plan.

Which dates are refused, and which key counts, is what reading says (`cortex.corpus.markdown`). A header that is no
plain YAML is left as it is, like every date that has two readings.
"""

import re
from datetime import tzinfo
from typing import Any, Final, NamedTuple

from cortex.corpus.markdown import parse_note
from cortex.corpus.record import Record
from cortex.corpus.walk import survey
from cortex.privacy import strip_private
from cortex.retention.base import read
from cortex.retention.date_forms import Unknown, read_date
from cortex.retention.doing import Doing, Step
from cortex.retention.frontmatter import FrontmatterError, edit
from cortex.retention.plan import Plan, new_plan
from cortex.retention.steps import write_step
from policies.timestamps import parse_timestamp

# Of each field, the keys that may give it, the first that says something wins.
GROUPS: Final = (("created", "date", "ts"), ("updated", "last_updated"), ("valid_from",), ("valid_until",))
_HEADER = re.compile(r"---\r?\n((?:(?!---\r?(?:\n|\Z))[^\n]*\n)*+)---\r?(?:\n|\Z)")
_SCALAR = re.compile(r"([A-Za-z0-9_]+):(.*)")
_COMMENT = re.compile(r"[ \t]#.*")
_BLANKS: Final = " \t\r"


class Reading(NamedTuple):
    """By what dates are read: the zone of those that have none, and whether the day comes first."""

    zone: tzinfo | None
    day_first: bool


class Mending(NamedTuple):
    """What is to be changed, and what is to be told."""

    plan: Plan
    data: dict[str, Any]


def plan_dates(doing: Doing, reading: Reading) -> Mending:
    """Return the dates that can be put right, and those that nobody can know.

    Raises:
        CorpusError: The memory root cannot be walked.
    """
    steps: list[Step] = []
    fixed: list[dict[str, str]] = []
    unknown: list[dict[str, str]] = []
    for file in survey(doing.base.store.root).files:
        data = read(doing.base, file.path) if file.path.endswith(".md") else None
        dates = {} if data is None else refused_dates(file.path, data)
        if data is None or not dates:
            continue
        changes = _proposals(file.path, dates, reading, unknown)
        step = _step(file.path, data, changes, dates, unknown)
        if step is not None:
            steps.append(step)
            fixed += [
                {"path": file.path, "key": key, "from": _shown(dates[key]), "to": to} for key, to in changes.items()
            ]
    data_told = {"fixed": fixed, "unknown": unknown, "notes": len(steps), "warnings": []}
    return Mending(new_plan(doing, steps, {}), data_told)


def refused_dates(path: str, data: bytes) -> dict[str, str]:
    """Return the keys of a note whose dates reading refuses, each with its text."""
    try:
        text = data.removeprefix(b"\xef\xbb\xbf").decode()
    except UnicodeDecodeError:
        return {}
    parsed = parse_note(path, text).result
    if isinstance(parsed, Record) or parsed is None or not any(flaw.kind == "timestamp" for flaw in parsed):
        return {}
    scalars = _scalars(strip_private(text))
    counting = (next((key for key in group if scalars.get(key)), None) for group in GROUPS)
    return {key: scalars[key] for key in counting if key and parse_timestamp(scalars[key]) is None}


def _scalars(text: str) -> dict[str, str]:
    header = _HEADER.match(text)
    lines = header[1].split("\n") if header else []
    return {match[1]: _unquoted(match[2]) for line in lines if (match := _SCALAR.match(line))}


def _unquoted(text: str) -> str:
    text = text.strip(_BLANKS)
    text = text[1:] if text[:1] in ("'", '"') else text
    return text[:-1] if text[-1:] in ("'", '"') else text


def _proposals(path: str, dates: dict[str, str], reading: Reading, unknown: list[dict[str, str]]) -> dict[str, str]:
    changes = {}
    for key, text in dates.items():
        # Behind a blank a `#` begins a comment, which the memory's own reading takes for a part of the date.
        proposed = read_date(_unquoted(_COMMENT.sub("", text)), reading.zone, day_first=reading.day_first)
        if isinstance(proposed, Unknown):
            unknown.append({"path": path, "key": key, "from": _shown(text), "reason": proposed.reason})
        else:
            changes[key] = proposed
    return changes


def _step(
    path: str, data: bytes, changes: dict[str, str], dates: dict[str, str], unknown: list[dict[str, str]]
) -> Step | None:
    if not changes:
        return None
    try:
        after = edit(data, changes).data
    except FrontmatterError as error:
        unknown += [
            {"path": path, "key": key, "from": _shown(dates[key]), "reason": f"its header is left as it is: {error}"}
            for key in changes
        ]
        changes.clear()
        return None
    return write_step(path, path, data, after, reason="dates", changes=changes)


def _shown(text: str) -> str:
    return strip_private(text)[:40]
