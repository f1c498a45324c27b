"""Sleep: its parameters with their ranges, the phase that silence makes, and how the weight of a card falls and rises.

Rules:

1. A setting out of its range, or of another type, is refused by name; it is never clamped or guessed.
2. The phase is a function of the silence alone; without automatic sleep it changes by hand only.
3. Decay is exponential, so that it does not depend on how often one looks.
"""

import re
from collections.abc import Mapping
from math import isfinite
from typing import Final, Literal, NamedTuple

from policies.units import DAY_MS, MINUTE_MS

Phase = Literal["awake", "light", "deep"]
Value = int | float | bool | str | tuple[str, ...]
_Sort = Literal["time", "count", "weight", "flag", "auto", "paths"]

LONGEST_MS: Final = 365 * DAY_MS
COUNT_MOST: Final = 10_000
WEIGHT_MOST: Final = 10.0

FACT_WEIGHT: Final = 2.0
REINFORCED_BY: Final = 1.0
REVIVED_TO: Final = 1.0
RECALLED_BY: Final = 0.2
SEARCH_LIMIT: Final = 8

TAG_EQUAL: Final = 3.0
TAG_PART: Final = 1.5
TAG_PART_CHARACTERS: Final = 3
IN_TITLE: Final = 2.0
IN_BODY: Final = 1.0
RECALL_BASE: Final = 0.5


class Rhythm(NamedTuple):
    """The parameters of sleep. Times in ms; `transcripts` are folders or files; None of `reviewer_evidence` is auto."""

    sleep_after_ms: float = 2 * MINUTE_MS
    deep_after_ms: float = 5 * MINUTE_MS
    auto_sleep: bool = True
    consolidate_gap_ms: float = 2 * MINUTE_MS
    memory_recall: bool = True
    recall_limit: int = 3
    memory_half_life_ms: float = 7 * DAY_MS
    archive_below: float = 0.08
    buffer_max: int = 400
    noise_window_ms: float = MINUTE_MS
    noise_converge_at: int = 5
    transcripts: tuple[str, ...] = ()
    reviewer_evidence: bool | Literal["auto"] = "auto"
    index_refresh: bool = False


class InvalidSetting(NamedTuple):
    """A setting that is none: its key, and what would be valid, as the end of a sentence."""

    key: str
    problem: str


_SORTS: Final[dict[str, _Sort]] = {
    "sleep_after_ms": "time",
    "deep_after_ms": "time",
    "auto_sleep": "flag",
    "consolidate_gap_ms": "time",
    "memory_recall": "flag",
    "recall_limit": "count",
    "memory_half_life_ms": "time",
    "archive_below": "weight",
    "buffer_max": "count",
    "noise_window_ms": "time",
    "noise_converge_at": "count",
    "transcripts": "paths",
    "reviewer_evidence": "auto",
    "index_refresh": "flag",
}
_MUST_BE: Final[dict[_Sort, str]] = {
    "time": f"must be a number of milliseconds from 1 to {LONGEST_MS}",
    "count": f"must be an integer from 1 to {COUNT_MOST}",
    "weight": f"must be a number from 0 to {WEIGHT_MOST:g}",
    "flag": "must be true or false",
    "auto": "must be auto, true or false",
    "paths": "must be a list of paths",
}
_NUMBER = re.compile(r"[0-9]{1,20}(\.[0-9]{1,20})?")
_DEPTH: Final[tuple[Phase, ...]] = ("awake", "light", "deep")


def effective_rhythm(settings: Mapping[str, object]) -> tuple[Rhythm, tuple[InvalidSetting, ...]]:
    """Apply `settings` to the defaults; return the parameters, and the settings that are none and were left out."""
    valid: dict[str, Value] = {}
    invalid = []
    for key, value in settings.items():
        setting = judge_setting(key, value)
        if isinstance(setting, InvalidSetting):
            invalid.append(setting)
        else:
            valid[key] = setting
    return Rhythm(**valid), tuple(invalid)  # type: ignore[arg-type] # judged key by key above


def judge_setting(key: str, value: object) -> Value | InvalidSetting:
    """Return the value of a setting as `Rhythm` holds it, or why it is none. JSON types: no flag is a number."""
    sort = _SORTS.get(key)
    if sort is None:
        return InvalidSetting(key, f"is no parameter of sleep; those are: {', '.join(_SORTS)}")
    judged = _judge(sort, value)
    return InvalidSetting(key, _MUST_BE[sort]) if judged is None else judged


def parse_setting(key: str, text: str) -> Value | InvalidSetting:
    """Return what `text` sets a parameter to, or why it is no setting. Paths stand one a line."""
    if _SORTS.get(key) == "paths":
        return judge_setting(key, [line for line in text.split("\n") if line])
    spelled = {"true": True, "false": False}.get(text)
    if spelled is not None:
        return judge_setting(key, spelled)
    if not _NUMBER.fullmatch(text):
        return judge_setting(key, text)
    number = float(text)
    return judge_setting(key, int(number) if number.is_integer() else number)


def _judge(sort: _Sort, value: object) -> Value | None:
    if sort == "paths":
        return _paths(value)
    if sort == "auto" and value == "auto":
        return "auto"
    if sort in ("flag", "auto"):
        return value if isinstance(value, bool) else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        return None
    if sort == "weight":
        return value if 0 <= value <= WEIGHT_MOST else None
    if sort == "count":
        return value if isinstance(value, int) and 1 <= value <= COUNT_MOST else None
    return value if 1 <= value <= LONGEST_MS else None


def _paths(value: object) -> tuple[str, ...] | None:
    if not isinstance(value, list | tuple):
        return None
    paths = tuple(path for path in value if isinstance(path, str) and path and "\0" not in path)
    return paths if len(paths) == len(value) else None


def phase_of(idle_ms: float, rhythm: Rhythm, held: Phase = "awake") -> Phase:
    """Return the phase after a silence of `idle_ms` (below 0 where the clock stepped back: awake).

    `held` is the phase that a person set and no wake signal has ended: never lighter than that, and exactly that
    where sleep is not automatic.
    """
    if not rhythm.auto_sleep:
        return held
    return max(_phase_by_silence(idle_ms, rhythm), held, key=_DEPTH.index)


def _phase_by_silence(idle_ms: float, rhythm: Rhythm) -> Phase:
    if idle_ms < rhythm.sleep_after_ms:
        return "awake"
    return "deep" if idle_ms >= rhythm.deep_after_ms else "light"


def decayed(weight: float, elapsed_ms: float, half_life_ms: float) -> float:
    """Return what is left of `weight` after `elapsed_ms`; a clock that stepped back takes nothing and gives nothing."""
    return float(weight * 0.5 ** (max(elapsed_ms, 0) / half_life_ms))


def raised(weight: float, by: float) -> float:
    """Return `weight` raised within the range of weights."""
    return min(max(weight + by, 0.0), WEIGHT_MOST)


def recall_score(words: tuple[str, ...], tags: tuple[str, ...], title: str, body: str, weight: float) -> float:
    """Return how well a card answers the words of a query; 0 where it does not.

    The caller lower-cases everything; `weight` is the weight at the moment of asking.
    """
    points = sum(_tag_points(word, tags) + _text_points(word, title, body) for word in words)
    return points * (RECALL_BASE + weight)


def _tag_points(word: str, tags: tuple[str, ...]) -> float:
    if word in tags:
        return TAG_EQUAL
    near = any(len(tag) >= TAG_PART_CHARACTERS and (word in tag or tag in word) for tag in tags)
    return TAG_PART if near else 0.0


def _text_points(word: str, title: str, body: str) -> float:
    if word in title:
        return IN_TITLE
    return IN_BODY if word in body else 0.0
