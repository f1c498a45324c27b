"""What is news of a run's findings: new, worse, cleared, or the same as before. Pure; `notices` keeps the ledger.

1. A finding is known by `<check>::<id>`, so that no two share an entry. Alerts of other sources lie apart from them.
2. A finding that is absent has healed: its entry goes, and with it what was known of it. Its return is new.
3. Only a notification (`--quiet`, the host hook) tells: what other runs saw is kept until one does, and told once.
4. A warning that converged is a known deviation, and what is silenced is silenced: neither is told while it stays as
   it is. Worse (a severity above, or a measure twice what was told last) is told all the same.
5. Nothing here touches a verdict, a severity, a count or an exit code.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from healthcheck.checks import Severity
from healthcheck.judgement import Facts, Finding
from policies.noise import (
    FORGET_AFTER_MS,
    REMIND_AFTER_MS,
    Alert,
    NoiseEntry,
    noise_key,
    reduce_noise,
)
from policies.rhythm import Rhythm

Kind = Literal["new", "worse", "unchanged"]


class Level(Struct, frozen=True, forbid_unknown_fields=True):
    """How bad something was: its severity as a number, and the number that was measured, where there is one."""

    severity: int = 0
    measure: float | None = None

    def is_worse_than(self, other: "Level") -> bool:
        """Tell whether the severity has risen or the measure has doubled."""
        doubled = self.measure is not None and other.measure is not None and 0 < self.measure >= 2 * other.measure
        return self.severity > other.severity or doubled


class Silence(Struct, frozen=True, forbid_unknown_fields=True):
    """An operator's word that something need not be told: why, from when to when, and how bad it was then."""

    reason: str
    since: int
    until: int
    level: Level


class Entry(Struct, frozen=True, forbid_unknown_fields=True):
    """What is known of one finding or alert. Times in ms since 1970; `told` None where no notification told it yet."""

    count: int
    first: int
    last: int
    converged: bool
    sample: str
    level: Level = Level()
    base: Level = Level()
    told: int | None = None
    silence: Silence | None = None

    def is_silenced(self, now: int) -> bool:
        """Tell whether a silence is in force."""
        return self.silence is not None and now < self.silence.until


class Ledger(Struct, frozen=True, forbid_unknown_fields=True):
    """Everything that is open, findings and alerts of other sources apart.

    `recovered` are findings that healed and of which no notification said so yet, each with the instant.
    """

    findings: dict[str, Entry] = {}
    alerts: dict[str, Entry] = {}
    recovered: dict[str, int] = {}
    reminded: int | None = None


class Standing(NamedTuple):
    """How a finding of this run stands to what was known. `told` says whether this run is to tell it."""

    kind: Kind
    since: int
    told: bool = False
    converged: bool = False
    silenced_until: int | None = None
    broke_silence: bool = False


class Notices(NamedTuple):
    """The news of a run. `recovered` are keys; `standings` has every finding of the run by its key."""

    standings: Mapping[str, Standing] = {}
    recovered: tuple[str, ...] = ()

    @property
    def speaks(self) -> bool:
        """Tell whether there is anything that a notification says."""
        return bool(self.recovered) or any(standing.told for standing in self.standings.values())

    def is_silenced(self, found: Finding) -> bool:
        """Tell whether an operator silenced this finding."""
        standing = self.standings.get(key_of(found))
        return standing is not None and standing.silenced_until is not None


NOTHING: Final = Notices()
Scope = Callable[[str], bool]


class Taken(NamedTuple):
    """A ledger after a run, and what is news in it."""

    ledger: Ledger
    notices: Notices


def key_of(found: Finding) -> str:
    """Return the ledger's key of a finding."""
    return noise_key(Alert(found.check, found.id))


def level_of(found: Finding) -> Level:
    """Return how bad a finding is: its severity, and of its numbers the one that is held against a threshold."""
    return Level(int(found.severity), _measure(found.facts))


def _measure(facts: Facts) -> float | None:
    numbers = (facts.pending, facts.size_bytes, facts.age_ms, facts.count)
    return next((abs(number) for number in numbers if number is not None), None)


DEFAULTS: Final = Rhythm()


def take(
    ledger: Ledger,
    findings: Iterable[Finding],
    now: int,
    *,
    notify: bool,
    scope: Scope = lambda _: True,
    rhythm: Rhythm = DEFAULTS,
) -> Taken:
    """Take a run's findings into a ledger.

    Args:
        ledger: What was known.
        findings: The run's findings.
        now: Milliseconds since 1970.
        notify: Whether this run's news is told to somebody.
        scope: Which keys the run can say anything of; the others stay as they are.
        rhythm: The memory's parameters, of which those of noise count here.
    """
    present = {key_of(found): found for found in findings if scope(key_of(found))}
    alerts = [Alert(found.check, found.id) for found in present.values()]
    counted = reduce_noise(
        _kernel(ledger.findings), alerts, now, rhythm.noise_window_ms, rhythm.noise_converge_at
    ).ledger
    known = {key: _entry(ledger.findings.get(key), counted[key], found) for key, found in present.items()}
    reminding = notify and _is_reminder_due(ledger, known, now)
    standings = {key: _standing(entry, now, notify=notify, reminding=reminding) for key, entry in known.items()}
    healed = [key for key in ledger.findings if scope(key) and key not in present]
    pending = {key: at for key, at in ledger.recovered.items() if key not in present}
    to_tell = pending | {key: now for key in healed if ledger.findings[key].told is not None}
    rest = {key: entry for key, entry in ledger.findings.items() if not scope(key)}
    after = Ledger(
        findings=rest | {key: _after(known[key], standing, now) for key, standing in standings.items()},
        alerts=open_alerts(ledger.alerts, now),
        recovered={} if notify else to_tell,
        reminded=now if any(s.told and s.kind == "unchanged" for s in standings.values()) else ledger.reminded,
    )
    recovered = {*healed, *pending} if notify else {*healed}
    return Taken(after, Notices(standings, tuple(sorted(recovered))))


def _kernel(entries: Mapping[str, Entry]) -> dict[str, NoiseEntry]:
    return {
        key: NoiseEntry(entry.count, entry.first, entry.last, entry.converged, entry.sample)
        for key, entry in entries.items()
    }


def _entry(before: Entry | None, counted: NoiseEntry, found: Finding) -> Entry:
    """Return the entry of a finding as this run sees it; a critical one never converges."""
    level = level_of(found)
    converged = counted.silenced and found.severity is not Severity.CRITICAL
    if before is None:
        return Entry(counted.count, counted.first, counted.last, converged, counted.sample, level, level)
    return replace(before, count=counted.count, last=counted.last, converged=converged, level=level)


def _standing(entry: Entry, now: int, *, notify: bool, reminding: bool) -> Standing:
    silenced = entry.is_silenced(now)
    breaks = silenced and entry.silence is not None and entry.level.is_worse_than(entry.silence.level)
    quiet = silenced and not breaks
    kind: Kind = "new" if entry.count == 1 or (notify and entry.told is None) else "unchanged"
    if kind == "unchanged" and (breaks or entry.level.is_worse_than(entry.base)):
        kind = "worse"
    loud = kind == "worse" or (not entry.converged and (kind == "new" or reminding))
    return Standing(
        kind,
        entry.first,
        told=notify and loud and not quiet,
        converged=entry.converged,
        silenced_until=entry.silence.until if entry.silence and quiet else None,
        broke_silence=breaks,
    )


def _after(entry: Entry, standing: Standing, now: int) -> Entry:
    """Return the entry as it is kept: what was told is the base of what will be worse, a broken silence is gone."""
    if standing.broke_silence and entry.silence is not None:
        entry = replace(entry, silence=None, base=entry.silence.level)
    return replace(entry, told=now, base=entry.level) if standing.told else entry


def _is_reminder_due(ledger: Ledger, known: Mapping[str, Entry], now: int) -> bool:
    """Tell whether the week is over: since the last reminder, and since something that is still open was told."""
    told = (entry.told for entry in known.values() if not entry.converged and not entry.is_silenced(now))
    return _is_week_over(ledger.reminded, now) and any(at is not None and _is_week_over(at, now) for at in told)


def _is_week_over(since: int | None, now: int) -> bool:
    return since is None or abs(now - since) >= REMIND_AFTER_MS


def open_alerts(alerts: Mapping[str, Entry], now: int) -> dict[str, Entry]:
    """Return the alerts of other sources that were seen lately enough to be open."""
    return {key: entry for key, entry in alerts.items() if now - entry.last < FORGET_AFTER_MS}


class Heard(NamedTuple):
    """One line of another source: an alert, or (`ok`) the healthy tick that closes what its organ said."""

    organ: str | None
    note: str | None
    ok: bool


class Ingested(NamedTuple):
    """A ledger after alerts of other sources, and the keys that are new, that fell silent, that recovered; in order."""

    ledger: Ledger
    news: tuple[tuple[Literal["new", "known", "recovered"], str], ...]


def ingest(ledger: Ledger, heard: Iterable[Heard], now: int, rhythm: Rhythm = DEFAULTS) -> Ingested:
    """Take alerts of other sources, in their order, into a ledger by the kernel's own key."""
    entries = open_alerts(ledger.alerts, now)
    news: list[tuple[Literal["new", "known", "recovered"], str]] = []
    for line in heard:
        if line.ok:
            organ = noise_key(Alert(line.organ, None))
            closed = [key for key in entries if key.startswith(organ)]
            news.extend(("recovered", key) for key in closed)
            entries = {key: entry for key, entry in entries.items() if key not in closed}
            continue
        alert = Alert(line.organ, line.note)
        key = noise_key(alert)
        before = entries.get(key)
        known = _kernel({key: before} if before else {})
        reduction = reduce_noise(known, [alert], now, rhythm.noise_window_ms, rhythm.noise_converge_at)
        count, first, last, converged, sample = reduction.ledger[key]
        entries[key] = Entry(count, first, last, converged, sample, silence=before.silence if before else None)
        news.extend([("new", key)] if before is None else [("known", key) for key in reduction.converged])
    return Ingested(replace(ledger, alerts=entries), tuple(news))
