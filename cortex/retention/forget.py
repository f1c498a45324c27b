"""`forget`: marks what the policy lets go. A mark is three lines in a header; nothing moves and nothing is deleted.

1. L0 goes by its id and a signature alone, L1 by the user's query alone, L2 and L3 by age too, L4 never this way.
2. What is marked is not marked again; what cannot be trusted is kept and told.
3. A run that would mark more than half of all entries, and more than 20, is refused: a clock or a policy is wrong.
"""

import os
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from cortex.corpus.record import Record
from cortex.envelope import JSONObject
from cortex.errors import invalid, not_found
from cortex.privacy import strip_private
from cortex.retention.base import Base
from cortex.retention.doing import Doing, Step
from cortex.retention.entries import (
    MARKED_AT,
    PENDING,
    REASON,
    Levelled,
    Note,
    Untrusted,
    address,
    is_named,
    iter_notes,
    level_folders,
    levelled,
    record_of,
)
from cortex.retention.frontmatter import FrontmatterError, Value, edit
from cortex.retention.plan import Plan, new_plan
from cortex.retention.policy_file import Policy, unmatched
from cortex.retention.steps import write_step
from cortex.store.files import refused
from policies.limits import MASS_FROM, MATCHED_AT_MOST, QUERY_MAX_CHARACTERS, QUERY_MAX_WORDS
from policies.retention import Expire, Keep, LevelPolicy, Missing, decide
from policies.timestamps import format_instant

BY_AGE: Final = ("L2", "L3")
LISTED_AT_MOST: Final = 200


class Request(NamedTuple):
    """What is to be forgotten: of which levels; by age (`match` None), or what a query or an id (L0) finds."""

    levels: tuple[str, ...]
    match: str | None = None
    signature: str | None = None
    allow_mass: bool = False


class Hit(NamedTuple):
    """An entry that is to be marked: what it is called, and why it goes."""

    entry: Levelled
    address: str
    reason: str


class Scan(NamedTuple):
    """What a memory holds: its entries, how many of each level, what is not trusted, which levels hold anything."""

    entries: list[Levelled]
    untrusted: list[Untrusted]
    levels: frozenset[str]


class Forgetting(NamedTuple):
    """What is to be done, and what is to be told of it."""

    plan: Plan
    data: dict[str, Any]
    is_mass: bool


def check_request(request: Request) -> None:
    """Refuse what no policy can allow.

    Raises:
        CortexError: `governance_refused`.
    """
    level = request.levels[0] if len(request.levels) == 1 else None
    if level == "L0" and not (request.match and request.signature):
        raise refused("L0 is never forgotten, but for one entry by --match ID with --user-signature TEXT")
    if level == "L1" and not request.match:
        raise refused("L1 is never forgotten by age: name what the user wants gone with --match QUERY")
    if level == "L4":
        raise refused("L4 is left to cortex compact")


def scan(base: Base) -> Scan:
    """Look at every entry.

    Raises:
        CortexError: `integrity_error` where a memory root's corpus has a fault of shape.
    """
    entries: list[Levelled] = []
    untrusted: list[Untrusted] = []
    for note in iter_notes(base):
        found = note if isinstance(note, Untrusted) else levelled(note)
        if isinstance(found, Levelled):
            entries.append(found)
        elif found is not None:
            untrusted.append(found)
    folders = {level for _, level in level_folders(base)} & {"L4"}
    return Scan(entries, untrusted, frozenset({entry.level for entry in entries} | folders))


def plan_forgetting(doing: Doing, policy: Policy, request: Request) -> Forgetting:
    """Return what is to be marked, and the data that the command answers with.

    Raises:
        CortexError: `not_found` for an id of L0 that is not there; what `scan` raises.
    """
    found = scan(doing.base)
    tally = _Tally(doing, policy, found)
    in_scope = [entry for entry in found.entries if entry.level in request.levels]
    hits = _by_query(doing, in_scope, request) if request.match else tally.by_age(in_scope)
    steps = [step for hit in hits if (step := tally.step(hit, request)) is not None]
    total = len(found.entries)
    asked = None if request.match is None else strip_private(request.match)
    told: dict[str, Any] = {"asked": [list(request.levels), asked]}
    if steps:
        told["alert"] = _alert(steps)
    plan = new_plan(doing, steps, told)
    data = tally.data(request, in_scope, steps)
    return Forgetting(plan, data, is_mass=len(steps) > MASS_FROM and len(steps) * 2 > total)


def refuse_mass(forgetting: Forgetting, total: int) -> None:
    """Refuse a run that would mark most of a memory.

    Raises:
        CortexError: `governance_refused` with the list.
    """
    named = [step["id"] for step in forgetting.plan.steps]
    more = f" and {len(named) - LISTED_AT_MOST} more" if len(named) > LISTED_AT_MOST else ""
    raise refused(
        f"this would mark {len(named)} of {total} entries: is the clock right, and the policy? --dry-run shows them"
        f" with their reasons, --allow-mass insists: {', '.join(named[:LISTED_AT_MOST])}{more}"
    )


class _Tally:
    """Counts, and what could not be marked."""

    def __init__(self, doing: Doing, policy: Policy, found: Scan) -> None:
        self._doing = doing
        self._policy = policy
        self._found = found
        self._corrupted = list(found.untrusted)
        self._unwritable: list[Untrusted] = []
        self._already: list[str] = []
        self._kept: dict[str, dict[str, int]] = {}
        self._expired: dict[str, list[str]] = {}

    def by_age(self, entries: Iterable[Levelled]) -> list[Hit]:
        """Return what the policy lets go. An entry that looks due is parsed before anything is said of it."""
        hits = []
        for entry in entries:
            decision = self._decide(entry)
            if isinstance(decision, Expire):
                hit = self._confirm(entry)
                hits += [hit] if hit else []
            else:
                self._keep(entry, decision)
        return hits

    def _confirm(self, entry: Levelled) -> Hit | None:
        """Look again at an entry that looks due, with its header parsed."""
        exact = levelled(entry.note, exactly=True)
        if not isinstance(exact, Levelled):
            self._corrupted.append(exact or Untrusted(entry.note.path, "its header cannot be read"))
            return None
        decision = self._decide(exact)
        if isinstance(decision, Expire):
            return Hit(exact, address(self._doing.base, exact.note), f"expired: {decision.reason}")
        self._keep(exact, decision)
        return None

    def step(self, hit: Hit, request: Request) -> Step | None:
        """Return the step that marks an entry, None where it is marked or cannot be."""
        note = hit.entry.note
        expired = self._expired.setdefault(hit.entry.level, [])
        if hit.entry.is_pending:
            expired.append(hit.address)
            self._already.append(hit.address)
            return None
        marks: dict[str, Value | None] = {PENDING: True, REASON: hit.reason, MARKED_AT: format_instant(self._doing.now)}
        try:
            after = edit(note.data, marks).data
        except FrontmatterError as error:
            self._corrupted.append(Untrusted(note.path, str(error)))
            return None
        if not _is_writable(self._doing.base, note.path):
            self._unwritable.append(Untrusted(note.path, "may not be written by this user"))
            return None
        expired.append(hit.address)
        signed = {"signature": strip_private(request.signature)} if request.signature else {}
        more = {"level": hit.entry.level, "reason": hit.reason, "changes": marks, **signed}
        return write_step(hit.address, note.path, note.data, after, **more)

    def data(self, request: Request, entries: Iterable[Levelled], steps: list[Step]) -> dict[str, Any]:
        """Return what the command answers with, but for what only doing it tells."""
        scanned: dict[str, int] = dict.fromkeys(request.levels, 0)
        for entry in entries:
            scanned[entry.level] += 1
        levels = {}
        for level in request.levels:
            expired = self._expired.get(level, [])
            levels[level] = {
                "scanned": scanned[level],
                "expired": len(expired),
                "marked": sum(step["level"] == level for step in steps),
                "entries": expired,
                "rule": _rule(self._policy.levels.get(level)),
                "kept": dict(sorted(self._kept.get(level, {}).items())),
            }
        return {
            "policy": self._policy.source,
            "levels": levels,
            "marked": len(steps),
            "already": self._already,
            "corrupted": [found._asdict() for found in sorted(self._corrupted)],
            "unwritable": [found._asdict() for found in sorted(self._unwritable)],
            "entries_in_all": len(self._found.entries),
            "warnings": unmatched(self._policy, self._found.levels),
        }

    def _decide(self, entry: Levelled) -> Keep | Expire:
        return decide(self._policy.levels.get(entry.level), entry.entry, self._doing.now)

    def _keep(self, entry: Levelled, decision: Keep) -> None:
        if entry.is_pending:
            self._already.append(address(self._doing.base, entry.note))
        if decision.reason == "corrupted":
            self._corrupted.append(Untrusted(entry.note.path, decision.detail))
        kept = self._kept.setdefault(entry.level, {})
        kept[decision.reason] = kept.get(decision.reason, 0) + 1


def _by_query(doing: Doing, entries: list[Levelled], request: Request) -> list[Hit]:
    """Return what the user's words name: of L0 one entry by its id, else the best that a query finds."""
    base, query = doing.base, request.match or ""
    said = strip_private(query)
    if request.levels == ("L0",):
        named = [entry for entry in entries if is_named(base, entry.note, query)]
        if len(named) != 1:
            raise not_found("no entry of L0 has that id" if not named else "more than one entry of L0 has that id")
        return [Hit(named[0], address(base, named[0].note), "expired: by the user's word and signature")]
    records = {}
    for entry in entries:
        record = record_of(entry.note)
        if record is not None:
            records[entry.note.path] = (entry, record)
    ranked = _ranked([record for _, record in records.values()], query)
    best = [records[record.provenance.path][0] for record in ranked[:MATCHED_AT_MOST]]
    return [Hit(entry, address(base, entry.note), f"expired: by the user's word ({said})") for entry in best]


def _ranked(records: list[Record], query: str) -> list[Record]:
    from cortex.retrieval.analyzer import analyse_query
    from cortex.retrieval.filters import Filters
    from cortex.retrieval.search import rank

    analysed = analyse_query(query, "auto")
    if not 1 <= analysed.words <= QUERY_MAX_WORDS or len(query) > QUERY_MAX_CHARACTERS:
        raise invalid(f"--match takes 1 to {QUERY_MAX_WORDS} words, {QUERY_MAX_CHARACTERS} characters at most")
    ranking = rank(records, analysed, Filters(), 0.0)
    return [hit.record for hit in ranking.hits]


def explain(doing: Doing, policy: Policy, name: str) -> JSONObject:
    """Return why an entry is kept or would go: the rule, the numbers, and when that changes.

    Raises:
        CortexError: `not_found` where no entry is called that.
    """
    for note in iter_notes(doing.base):
        if isinstance(note, Untrusted):
            if note.path == name:
                return {"id": name, "path": note.path, "decision": "keep", "reason": "corrupted", "detail": note.reason}
        elif is_named(doing.base, note, name):
            return _explained(doing, policy, note)
    raise not_found(f"no entry is called {name!r}")


def _explained(doing: Doing, policy: Policy, note: Note) -> JSONObject:
    said: JSONObject = {"id": address(doing.base, note), "path": note.path, "policy": policy.source}
    found = levelled(note, exactly=True)
    if found is None:
        return {**said, "decision": "keep", "reason": "no_level", "detail": "it has no level, so it is never touched"}
    if isinstance(found, Untrusted):
        return {**said, "decision": "keep", "reason": "corrupted", "detail": found.reason}
    level_policy = policy.levels.get(found.level)
    decision = decide(level_policy, found.entry, doing.now)
    fields = {
        name: None if isinstance(value, Missing) else strip_private(value) if isinstance(value, str) else value
        for name, value in found.entry._asdict().items()
        if name != "level"
    }
    said |= {"level": found.level, "pending": found.is_pending, "rule": _rule(level_policy), **fields}
    if isinstance(decision, Expire):
        detail = f"unused for {decision.age_days} days"
        return {**said, "decision": "expire", "reason": f"expired: {decision.reason}", "detail": detail}
    changes = None if decision.changes_at is None else format_instant(decision.changes_at)
    return {**said, "decision": "keep", "reason": decision.reason, "detail": decision.detail, "changes_at": changes}


def _rule(policy: LevelPolicy | None) -> dict[str, Any]:
    """Return what a policy says of a level, without what it does not say."""
    said = {} if policy is None else policy._asdict()
    return {name: value for name, value in said.items() if name != "level" and value not in (None, False)}


def _alert(steps: list[Step]) -> str:
    counts: dict[str, int] = {}
    for step in steps:
        counts[step["level"]] = counts.get(step["level"], 0) + 1
    each = ", ".join(f"{level} {count}" for level, count in sorted(counts.items()))
    return f"forget: marked {len(steps)} entries archive_pending ({each})"


def _is_writable(base: Base, path: str) -> bool:
    with base.store.place(path) as place:
        if place is None:
            return False
        own = os.access in os.supports_effective_ids
        mode = os.W_OK
        return os.access(place.name, mode, dir_fd=place.folder, effective_ids=own) and os.access(
            ".", mode, dir_fd=place.folder, effective_ids=own
        )


def check_levels(level: str | None) -> tuple[str, ...]:
    """Return the levels that a call is about.

    Raises:
        CortexError: `invalid_input` for what is no level.
    """
    if level is None:
        return BY_AGE
    if level not in ("L0", "L1", *BY_AGE, "L4"):
        raise invalid("--level takes L2 or L3; with --match also L1 and L0")
    return (level,)
