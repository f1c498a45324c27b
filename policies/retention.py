"""What a memory may forget: the judgement of a policy's mapping, and the decision about one entry. Pure.

Rules:

1. What cannot be proven is kept: no or unreadable date, a date in the future, a count that is no count, an unknown
   level. A key that stands there with nothing is no value; only a key that is not there is missing.
2. Whatever a policy says, L0 is never forgotten and L1 never by age; L4 is left to compaction.
3. Inside a `forget` block an unknown key, another type and a negative number are faults; elsewhere unknown keys are
   ignored.
4. Age is whole days of 24 hours between two instants, so that no calendar and no change of clocks bends it.
"""

import re
from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

from policies.timestamps import parse_timestamp
from policies.units import DAY_MS

Level = Literal["L0", "L1", "L2", "L3", "L4"]
LEVELS: Final[tuple[Level, ...]] = ("L0", "L1", "L2", "L3", "L4")
LEVELS_KEY: Final = "levels"
FORGET_KEY: Final = "forget"

_LEVEL_NAME = re.compile(r"L[0-9]+")


class LevelPolicy(NamedTuple):
    """The `forget` block of one level. Days and recalls are integers of at least 0; None where the policy is silent."""

    level: str
    never: bool = False
    only_user: bool = False
    after_days: int | None = None
    unless_recalled: int | None = None
    compress_after_days: int | None = None
    archive_after_days: int | None = None


class PolicyFault(NamedTuple):
    """What in a policy is none: the key's path (`L3.forget.after_day`), its line where known, and why."""

    key: str
    line: int | None
    problem: str

    def __str__(self) -> str:
        """Say it in a sentence."""
        where = "" if self.line is None else f" (line {self.line})"
        return f"{self.key}{where} {self.problem}"


class Judged(NamedTuple):
    """The policy of each level that has one, by name, and the faults; with a fault nothing of it may be applied."""

    levels: dict[str, LevelPolicy]
    faults: tuple[PolicyFault, ...]


DEFAULT_POLICY: Final[dict[str, LevelPolicy]] = {
    "L0": LevelPolicy("L0", never=True),
    "L1": LevelPolicy("L1", only_user=True),
    "L2": LevelPolicy("L2", after_days=365, unless_recalled=5),
    "L3": LevelPolicy("L3", after_days=90, unless_recalled=3),
    "L4": LevelPolicy("L4", compress_after_days=30, archive_after_days=60),
}
_FLAGS: Final = ("never", "only_user")
_COUNTS: Final = ("after_days", "unless_recalled", "compress_after_days", "archive_after_days")


def judge_policy(policy: object, lines: Mapping[str, int] | None = None) -> Judged:
    """Judge what a policy file holds: levels at its top or under `levels`.

    `lines` gives the line of each key by its path, joined with dots as it stands in the file.
    """
    judge = _Judge(lines or {})
    levels = judge.levels(policy)
    return Judged(levels, tuple(judge.faults))


class _Judge:
    """Collects the faults of one policy."""

    def __init__(self, lines: Mapping[str, int]) -> None:
        self.faults: list[PolicyFault] = []
        self._lines = lines

    def levels(self, policy: object) -> dict[str, LevelPolicy]:
        top = self._mapping(policy, "policy")
        below = self._mapping(top[LEVELS_KEY], LEVELS_KEY) if LEVELS_KEY in top else {}
        judged = {}
        for prefix, mapping in (("", top), (f"{LEVELS_KEY}.", below)):
            for name, level in mapping.items():
                if not isinstance(name, str) or not _LEVEL_NAME.fullmatch(name):
                    continue
                if name in judged:
                    self._fault(f"{prefix}{name}", f"stands at the top and under {LEVELS_KEY}")
                judged[name] = self._level(name, level, f"{prefix}{name}")
        return judged

    def _level(self, name: str, level: object, path: str) -> LevelPolicy:
        members = self._mapping(level, path)
        if FORGET_KEY not in members:
            return LevelPolicy(name)
        values = {}
        for key, value in self._mapping(members[FORGET_KEY], f"{path}.{FORGET_KEY}").items():
            problem = _problem(key, value)
            if problem:
                self._fault(f"{path}.{FORGET_KEY}.{key}", problem)
            else:
                values[str(key)] = value
        return LevelPolicy(name, **values)  # type: ignore[arg-type] # judged key by key above

    def _mapping(self, value: object, path: str) -> Mapping[object, object]:
        if isinstance(value, Mapping):
            return value
        self._fault(path, "must be a mapping")
        return {}

    def _fault(self, path: str, problem: str) -> None:
        self.faults.append(PolicyFault(path, self._lines.get(path), problem))


def _problem(key: object, value: object) -> str | None:
    if key in _FLAGS:
        return None if isinstance(value, bool) else "must be true or false"
    if key in _COUNTS:
        return None if _is_count(value) else "must be an integer of at least 0"
    return f"is no rule; those are: {', '.join((*_FLAGS, *_COUNTS))}"


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


class Missing:
    """The type of `MISSING`: a key that is not there."""


MISSING: Final = Missing()


class Entry(NamedTuple):
    """What the frontmatter of a levelled note says, as it was read: dates as text, whatever else as it is."""

    level: object
    created: object = MISSING
    last_recalled: object = MISSING
    recall_count: object = MISSING


KeepReason = Literal[
    "never",
    "only_user",
    "left_to_compact",
    "no_rule",
    "unknown_level",
    "undated",
    "future",
    "corrupted",
    "young",
    "recalled",
]


class Keep(NamedTuple):
    """The entry stays: why, in a word and in a sentence, and when (ms since 1970) age alone would change that."""

    reason: KeepReason
    detail: str
    changes_at: int | None = None


class Expire(NamedTuple):
    """The entry is due: by which rule, and its age in whole days."""

    reason: str
    age_days: int


class _Refusal(NamedTuple):
    reason: KeepReason
    detail: str


# Whatever the policy says.
_PROTECTED: Final[dict[object, _Refusal]] = {
    "L0": _Refusal("never", "the core is never forgotten"),
    "L1": _Refusal("only_user", "long memory goes by the user's word alone, never by age"),
    "L4": _Refusal("left_to_compact", "the ledger is compressed, not forgotten"),
}


def decide(level_policy: LevelPolicy | None, entry: Entry, now: int) -> Keep | Expire:
    """Decide about one entry at `now` (ms since 1970); `level_policy` is its level's, None where there is none."""
    if entry.level not in LEVELS:
        return Keep("unknown_level", "its level is none of L0 to L4")
    refusal = _PROTECTED.get(entry.level) or _silence(level_policy)
    if refusal:
        return Keep(*refusal)
    anchor = _anchor(entry, now)
    if isinstance(anchor, Keep):
        return anchor
    if not isinstance(entry.recall_count, Missing) and not _is_count(entry.recall_count):
        return Keep("corrupted", "recall_count is no integer of at least 0")
    return _by_age(level_policy, anchor, entry.recall_count, now)  # type: ignore[arg-type] # both judged above


def _silence(policy: LevelPolicy | None) -> _Refusal | None:
    if policy is None:
        return _Refusal("no_rule", "the policy says nothing of its level")
    if policy.never:
        return _Refusal("never", "the policy says never")
    if policy.only_user:
        return _Refusal("only_user", "the policy leaves it to the user")
    return _Refusal("no_rule", "the policy names no age for its level") if policy.after_days is None else None


def _anchor(entry: Entry, now: int) -> int | Keep:
    """Return from when the age counts: creation, or the last recall where that is later."""
    if isinstance(entry.created, Missing):
        return Keep("undated", "created is missing")
    created = _instant(entry.created)
    if created is None:
        return Keep("corrupted", "created is no date")
    recalled = created if isinstance(entry.last_recalled, Missing) else _instant(entry.last_recalled)
    if recalled is None:
        return Keep("corrupted", "last_recalled is no date")
    anchor = max(created, recalled)
    return (
        Keep("future", f"{'created' if created > now else 'last_recalled'} is in the future")
        if anchor > now
        else anchor
    )


def _instant(date: object) -> int | None:
    return parse_timestamp(date) if isinstance(date, str) else None


def _by_age(policy: LevelPolicy, anchor: int, recalls: int | Missing, now: int) -> Keep | Expire:
    after_days = policy.after_days or 0
    age_days = (now - anchor) // DAY_MS
    count = 0 if isinstance(recalls, Missing) else recalls
    if policy.unless_recalled is not None and count >= policy.unless_recalled:
        return Keep("recalled", f"recalled {count} times, and {policy.unless_recalled} are enough")
    if age_days < after_days:
        return Keep("young", f"unused for {age_days} of {after_days} days", anchor + after_days * DAY_MS)
    enough = "" if policy.unless_recalled is None else f", recall<{policy.unless_recalled}"
    return Expire(f"{after_days}d unused{enough}", age_days)


Compaction = Literal["keep", "compress", "archive"]


def decide_ledger(level_policy: LevelPolicy | None, last_day: int, now: int) -> Compaction:
    """Decide about a log of L4 whose last day began at `last_day` (ms since 1970). A day in the future proves nothing.

    It is left alone, compressed, or, once the compressed copy verifies, its original may go (`archive`).
    """
    age_days = (now - last_day) // DAY_MS
    if level_policy is None or level_policy.never or level_policy.compress_after_days is None:
        return "keep"
    if age_days < level_policy.compress_after_days:
        return "keep"
    archive_after = level_policy.archive_after_days
    return "archive" if archive_after is not None and age_days >= archive_after else "compress"
