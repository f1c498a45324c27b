"""`compact`: raw events of L4 are compressed after some days, and leave once the compressed file has been verified.

    L4*/ledger/<YYYY-MM-DD>.jsonl                 →  .jsonl.gz beside it
    L4*/session/<cli>/<YYYY-MM>/...               →  <YYYY-MM>.tar.gz beside the folder

The age of a file is that of the day in its name, of a month that of its last day, else that of its last change.
"""

import calendar
import re
import stat
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from cortex.nofollow import NotRegularError
from cortex.retention import packing
from cortex.retention.base import Base, Seen, files_below, read
from cortex.retention.doing import Doing, Step, hash_bytes
from cortex.retention.entries import Untrusted, level_folders
from cortex.retention.plan import Plan, new_plan
from cortex.retention.policy_file import Policy, unmatched
from cortex.store.files import read_state
from policies.retention import Compaction, LevelPolicy, decide_ledger
from policies.timestamps import parse_timestamp

_DAY = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})")
_MONTH = re.compile(r"([0-9]{4})-([0-9]{2})")
_SESSION: Final = "session"
_JSONL: Final = ".jsonl"


class Unit(NamedTuple):
    """What is compressed as one: a file (`folder` None) or the files of a session's month, and its last day."""

    files: tuple[Seen, ...]
    folder: str | None
    last_day: int
    to: str | None = None

    @property
    def packed(self) -> str:
        """The compressed file: beside the original, unless said."""
        return self.to or (f"{self.folder}.tar.gz" if self.folder else f"{self.files[0].path}.gz")

    @property
    def name(self) -> str:
        """What it is called: the path of the file or the folder."""
        return self.folder or self.files[0].path


class Compacting(NamedTuple):
    """What is to be done, and what is to be told."""

    plan: Plan
    data: dict[str, Any]


def plan_compacting(doing: Doing, policy: Policy) -> Compacting:
    """Return what of L4 is to be compressed, and what may go because its compressed file verifies."""
    found = [unit for folder, level in level_folders(doing.base) if level == "L4" for unit in units_of(doing, folder)]
    rule = policy.levels.get("L4")
    gathering = Gathering(doing)
    for unit in found:
        if isinstance(unit, Untrusted):
            gathering.corrupted.append(unit)
        else:
            gathering.take(unit, _decision(rule, unit, doing.now))
    levels = {"L4"} if found else set()
    own = Policy({name: rule for name, rule in policy.levels.items() if name == "L4"}, policy.source)
    data = {
        "policy": policy.source,
        "scanned": len(found),
        **gathering.told(),
        "warnings": unmatched(own, levels),
    }
    return Compacting(new_plan(doing, gathering.steps, {}), data)


def _decision(rule: LevelPolicy | None, unit: Unit, now: int) -> Compaction:
    return decide_ledger(rule, unit.last_day, now)


class Gathering:
    """The steps that compress and remove, as they come together."""

    def __init__(self, doing: Doing) -> None:
        self.steps: list[Step] = []
        self.corrupted: list[Untrusted] = []
        self._doing = doing
        self._compressed: list[str] = []
        self._removed: list[str] = []
        self._kept = 0

    def take(self, unit: Unit, decision: Compaction) -> None:
        """Add the steps for one unit: what is not compressed yet is, and what may leave does."""
        if decision == "keep":
            self._kept += 1
            return
        members = self._members(unit)
        if members is None:
            return
        form = "tar.gz" if unit.folder else "gz"
        packed = self._packed(unit, form, members)
        if packed and decision == "archive":
            self.steps += [_remove_step(unit, form, member) for member in members]
            self._removed.append(unit.name)

    def told(self) -> dict[str, Any]:
        """Return what the command answers with."""
        return {
            "compressed": self._compressed,
            "removed": self._removed,
            "kept": self._kept,
            "corrupted": [one._asdict() for one in self.corrupted],
        }

    def _members(self, unit: Unit) -> list[dict[str, Any]] | None:
        members = []
        for seen in unit.files:
            member = _member(self._doing.base, unit, seen)
            if isinstance(member, Untrusted):
                self.corrupted.append(member)
                return None
            members.append(member)
        return members

    def _packed(self, unit: Unit, form: str, members: list[dict[str, Any]]) -> bool:
        """Add the step that compresses, where that was not done; tell whether the originals are safe then."""
        there = _content(self._doing.base, unit.packed)
        if isinstance(there, Untrusted):
            self.corrupted.append(there)
            return False
        if there is None:
            packed = packing.pack(self._doing.base, form, members)
            self.steps.append(_pack_step(unit, form, members, hash_bytes(packed)))
            self._compressed.append(unit.packed)
            return True
        if all(packing.unpacked_hash(there, form, one["name"]) == one["hash"] for one in members):
            return True
        self.corrupted.append(Untrusted(unit.packed, f"does not verify against {unit.name}; both stay"))
        return False


def _member(base: Base, unit: Unit, seen: Seen) -> dict[str, Any] | Untrusted:
    if seen.odd:
        return Untrusted(seen.path, seen.odd)
    with base.store.place(seen.path) as place:
        state = read_state(place.folder, place.name) if place else None
    if state is None or state.data is None or state.status is None:
        return Untrusted(seen.path, "went away")
    top = unit.folder.rpartition("/")[0] if unit.folder else ""
    name = seen.path[len(top) + 1 :] if top else seen.path.rpartition("/")[2]
    return {
        "path": seen.path,
        "name": name,
        "hash": hash_bytes(state.data),
        "mode": stat.S_IMODE(state.status.st_mode),
    }


def _content(base: Base, path: str) -> bytes | Untrusted | None:
    try:
        return read(base, path)
    except NotRegularError as error:
        return Untrusted(path, str(error))


def _pack_step(unit: Unit, form: str, members: list[dict[str, Any]], hashed: str) -> Step:
    return {
        "kind": "pack",
        "id": unit.name,
        "path": unit.packed,
        "hash_before": None,
        "hash_after": hashed,
        "form": form,
        "members": members,
        "reason": "compressed by age",
    }


def _remove_step(unit: Unit, form: str, member: dict[str, Any]) -> Step:
    return {
        "kind": "remove",
        "id": unit.name,
        "path": member["path"],
        "hash_before": member["hash"],
        "hash_after": None,
        "kept_in": unit.packed,
        "form": form,
        "member": member["name"],
        "mode": member["mode"],
        "folder": unit.folder,
        "reason": "its compressed file verifies",
    }


def units_of(doing: Doing, folder: str) -> list[Unit | Untrusted]:
    """Return what of a folder of L4 is compressed as one."""
    months: dict[str, list[Seen]] = {}
    units: list[Unit | Untrusted] = []
    for seen in files_below(doing.base, folder, hidden=True):
        month = _month_folder(folder, seen.path)
        if month:
            months.setdefault(month, []).append(seen)
        elif seen.path.endswith(_JSONL):
            unit = Unit((seen,), None, _day_of(seen))
            units.append(Untrusted(seen.path, seen.odd) if seen.odd else unit)
    units += [_month_unit(month, files) for month, files in months.items()]
    return units


def _month_folder(folder: str, path: str) -> str | None:
    """Return the folder `session/<cli>/<YYYY-MM>` that a path lies in."""
    parts = path[len(folder) + 1 :].split("/")
    if len(parts) < 4 or parts[0] != _SESSION or not _is_month(parts[2]):
        return None
    return "/".join((folder, *parts[:3]))


def _is_month(name: str) -> bool:
    match = _MONTH.fullmatch(name)
    return match is not None and 1 <= int(match[2]) <= 12 and int(match[1]) > 0


def _month_unit(folder: str, files: Iterable[Seen]) -> Unit:
    year, month = map(int, folder.rpartition("/")[2].split("-"))
    last = calendar.monthrange(year, month)[1]
    return Unit(tuple(files), folder, parse_timestamp(f"{year:04d}-{month:02d}-{last:02d}") or 0)


def _day_of(seen: Seen) -> int:
    match = _DAY.match(seen.path.rpartition("/")[2])
    instant = parse_timestamp(match[1]) if match else None
    return seen.modified_at if instant is None else instant
