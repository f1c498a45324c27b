"""Dates as people and programs write them, read as the one instant that they can mean, or not at all.

1. What has two readings (which day, which zone, an hour that the clock showed twice) is never guessed.
2. A zone is what the text says, else what the operator says; a word like PST counts where it is in use in that zone.
3. A date stays a date, without a time; a time becomes an instant in the memory's own form.
"""

import re
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from typing import Final, NamedTuple

from policies.timestamps import format_instant

_DIGITS = re.compile(r"[0-9]{1,17}")
_MILLISECOND_DIGITS: Final = 13  # as seconds such a number lies beyond the year 9999
_YEAR_FIRST = re.compile(r"([0-9]{4})([-/.])([0-9]{1,2})\2([0-9]{1,2})|([0-9]{4})年([0-9]{1,2})月([0-9]{1,2})日")
_DAY_OR_MONTH_FIRST = re.compile(r"([0-9]{1,2})([-/.])([0-9]{1,2})\2([0-9]{4})")
_TIME = re.compile(
    r"[T ]?(?<![0-9:])([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]{1,9}))?)?"
    r"(?:[ ]?([AaPp])\.?[Mm]\.?(?![A-Za-z]))?"
    r"(?:[ ]?(Z\b|(?:UTC|GMT)?[+-][0-9]{1,2}:?(?:[0-9]{2})?(?![0-9])|[A-Z]{2,5}\b))?(?:[ ]\([^()]*\))?"
)
_OFFSET = re.compile(r"(?:UTC|GMT)?([+-])([0-9]{1,2}):?([0-9]{2})?")
_ZONE_NAME = re.compile(r"[A-Za-z]+(?:/[A-Za-z0-9_+-]+)+|UTC|GMT")
_MONTH_NAME = re.compile(r"[A-Za-z]{3}")
_YEAR = re.compile(r"(?<![0-9])[0-9]{4}(?![0-9])")
_WEEKDAY = re.compile(r"\b(mon|tue|wed|thu|fri|sat|sun)", re.IGNORECASE)
_WEEKDAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_UTC_NAMES: Final = ("Z", "UTC", "GMT")


class Unknown(NamedTuple):
    """A text that has no one reading, and why."""

    reason: str


def parse_zone(name: str) -> tzinfo | None:
    """Return the zone of a name (`Europe/Berlin`, `UTC`) or an offset (`+02:00`), None where there is no such zone."""
    offset = _OFFSET.fullmatch(name)
    if offset:
        return _offset(offset)
    if not _ZONE_NAME.fullmatch(name):
        return None
    from dateutil import tz

    return UTC if name in _UTC_NAMES else tz.gettz(name)


def read_date(text: str, zone: tzinfo | None, *, day_first: bool) -> str | Unknown:
    """Return the timestamp, in the memory's form, that a text means.

    Args:
        text: The text as it stands.
        zone: Where its clock stood if it does not say.
        day_first: Whether `03/04/2025` is the third of April.
    """
    text = text.strip()
    if _DIGITS.fullmatch(text):
        return _epoch(text)
    time = _TIME.search(text)
    day = _read_day(f"{text[: time.start()]} {text[time.end() :]}".strip(" ,") if time else text, day_first=day_first)
    if isinstance(day, Unknown):
        return day
    if time is None:
        return day.isoformat()
    wall = _wall(day, time)
    return wall if isinstance(wall, Unknown) else _instant(wall, time[6], zone)


def _epoch(digits: str) -> str | Unknown:
    if len(digits) != _MILLISECOND_DIGITS:
        return Unknown("it is a number that may be seconds or milliseconds")
    return format_instant(int(digits))


def _read_day(text: str, *, day_first: bool) -> date | Unknown:
    year_first = _YEAR_FIRST.fullmatch(text)
    if year_first:
        numbers = [number for number in (*year_first.group(1, 3, 4), *year_first.group(5, 6, 7)) if number]
        return _date(*map(int, numbers))
    numeric = _DAY_OR_MONTH_FIRST.fullmatch(text)
    if numeric:
        return _numeric(int(numeric[1]), int(numeric[3]), int(numeric[4]), day_first=day_first)
    return _in_words(text)


def _date(year: int, month: int, day: int) -> date | Unknown:
    try:
        return date(year, month, day)
    except ValueError:
        return Unknown("no calendar has that day")


def _numeric(first: int, second: int, year: int, *, day_first: bool) -> date | Unknown:
    if day_first:
        return _date(year, second, first)
    if first > 12:
        return Unknown("the day seems to come first; --day-first says so")
    if second <= 12 and first != second:
        return Unknown("day and month may be either; --day-first says which comes first")
    return _date(year, first, second)


def _in_words(text: str) -> date | Unknown:
    """Read a date with a month by name; parsing it on two other days shows what the text itself says."""
    from dateutil import parser

    if len(_YEAR.findall(text)) != 1 or not _MONTH_NAME.search(text):
        return Unknown("it is no date of a known form")
    try:
        one, other = (parser.parse(text, default=default) for default in _DEFAULTS)
    except (parser.ParserError, OverflowError, ValueError):
        return Unknown("it is no date of a known form")
    if one.date() != other.date():
        return Unknown("it does not say which day")
    if (one.hour, other.hour) != tuple(default.hour for default in _DEFAULTS) or one.tzinfo:
        return Unknown("its time has no known form")
    weekday = _WEEKDAY.search(text)
    if weekday and _WEEKDAYS.index(weekday[1].lower()) != one.weekday():
        return Unknown("that day is another day of the week")
    return one.date()


_DEFAULTS: Final = (datetime(2000, 1, 1, 0, tzinfo=None), datetime(2004, 2, 2, 1, tzinfo=None))  # noqa: DTZ001 - dates


def _wall(day: date, time: re.Match[str]) -> datetime | Unknown:
    """Return what the clock on the wall showed."""
    hour, minute, second = int(time[1]), int(time[2]), int(time[3] or 0)
    half = (time[5] or "").lower()
    if half and not 1 <= hour <= 12:
        return Unknown("no clock shows that time")
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    try:
        microsecond = int((time[4] or "0").ljust(6, "0")[:6])
        return datetime(day.year, day.month, day.day, hour, minute, second, microsecond)  # noqa: DTZ001 - a wall clock
    except ValueError:
        return Unknown("no clock shows that time")


def _instant(wall: datetime, said: str | None, zone: tzinfo | None) -> str | Unknown:
    offset = _OFFSET.fullmatch(said) if said else None
    if said in _UTC_NAMES:
        return _formatted(wall.replace(tzinfo=UTC))
    if offset:
        fixed = _offset(offset)
        return _formatted(wall.replace(tzinfo=fixed)) if fixed else Unknown("no zone is that far off")
    if zone is None:
        return Unknown(f"{said} names no one zone; --zone says which" if said else "it has no zone; --zone says which")
    return _local(wall, said, zone)


def _local(wall: datetime, said: str | None, zone: tzinfo) -> str | Unknown:
    """Return the instant at which a zone's clocks showed a time; they may have shown it twice, or never."""
    both = [wall.replace(tzinfo=zone, fold=fold) for fold in (0, 1)]
    shown = [at for at in both if at.astimezone(UTC).astimezone(zone).replace(tzinfo=None) == wall]
    if said is not None:
        shown = [at for at in shown if at.tzname() == said]
    if not shown:
        return Unknown(f"{said} is not in use there at that time" if said else "clocks there passed over that time")
    if len({at.astimezone(UTC) for at in shown}) > 1:
        return Unknown("clocks there showed that time twice")
    return _formatted(shown[0])


def _offset(match: re.Match[str]) -> tzinfo | None:
    hours, minutes = int(match[2]), int(match[3] or 0)
    if hours > 23 or minutes > 59:
        return None
    delta = timedelta(hours=hours, minutes=minutes)
    return timezone(-delta if match[1] == "-" else delta)


def _formatted(at: datetime) -> str | Unknown:
    try:
        return format_instant((at.astimezone(UTC) - _EPOCH) // timedelta(milliseconds=1))
    except OverflowError:
        return Unknown("it lies beyond the calendar")


_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
