"""Timestamps as the memory writes them: one strict form, compared in whole milliseconds since 1970 (UTC).

    YYYY-MM-DD                                    midnight UTC
    YYYY-MM-DDThh:mm[:ss[.1-9 digits]](Z|±hh:mm)   a time always has its zone

Everything else (no zone, a blank for the T, epoch numbers, an impossible date) is no timestamp: None, never a guess.
"""

import re
from functools import lru_cache
from typing import Final

from policies.units import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS

_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_TIME = re.compile(
    r"T([01][0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9])(?:\.([0-9]{1,9}))?)?"
    r"(?:Z|([+-])([01][0-9]|2[0-3]):([0-5][0-9]))"
)
_DATE_LENGTH: Final = len("YYYY-MM-DD")
_RUN_ID: Final = r"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2})-([0-9]{2})-([0-9]{2})-([0-9]{3}Z)"
_DAYS_IN_MONTH: Final = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_DAYS_BEFORE_MONTH: Final = (0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334)
_DAYS_BEFORE_1970: Final = 719_162  # from 0001-01-01
# A memory's dates and times repeat; so many of each are not parsed twice.
_REMEMBERED: Final = 4096


def parse_timestamp(text: str) -> int | None:
    """Return the instant as milliseconds since 1970 (UTC; below zero before), or None where `text` is no timestamp.

    Digits past the millisecond are cut, not rounded.
    """
    midnight = _midnight(text[:_DATE_LENGTH])
    since = _since_midnight(text[_DATE_LENGTH:])
    return None if midnight is None or since is None else midnight + since


def parse_run_id(name: str) -> int | None:
    """Return the instant of a run id (`2026-08-01T12-30-45-123Z`: a timestamp that may be a file name), or None."""
    match = re.fullmatch(_RUN_ID, name)
    return None if match is None else parse_timestamp("{}:{}:{}.{}".format(*match.groups()))


def parse_instant(text: str) -> int | None:
    """Return the instant of a timestamp or of plain ASCII digits (milliseconds since 1970), or None."""
    if text.isascii() and text.isdigit():
        number = int(text) if len(text) <= 16 else _LATEST_MS + 1
        return number if number <= _LATEST_MS else None
    return parse_timestamp(text)


def format_instant(instant: int) -> str:
    """Return milliseconds since 1970 as `YYYY-MM-DDThh:mm:ss.mmmZ`."""
    days, milliseconds = divmod(instant, DAY_MS)
    year, month, day = _civil(days)
    hour, rest = divmod(milliseconds, HOUR_MS)
    minute, rest = divmod(rest, MINUTE_MS)
    second, millisecond = divmod(rest, SECOND_MS)
    return f"{year:04d}-{month:02d}-{day:02d}T{hour:02d}:{minute:02d}:{second:02d}.{millisecond:03d}Z"


def is_date(text: str) -> bool:
    """Tell whether a timestamp is a date alone, without a time."""
    return "T" not in text


@lru_cache(maxsize=_REMEMBERED)
def _midnight(date: str) -> int | None:
    """Milliseconds from 1970 to the midnight (UTC) that begins a date, or None for a text that is no date."""
    match = _DATE.fullmatch(date)
    days = _days_since_1970(*map(int, match.groups())) if match else None
    return None if days is None else days * DAY_MS


@lru_cache(maxsize=_REMEMBERED)
def _since_midnight(time: str) -> int | None:
    """Milliseconds from that midnight to a time with its zone (an empty text: no time), or None for another text."""
    match = _TIME.fullmatch(time)
    if not match:
        return 0 if time == "" else None
    hour, minute, second, fraction, sign, zone_hour, zone_minute = match.groups(default="0")
    offset = int(zone_hour) * HOUR_MS + int(zone_minute) * MINUTE_MS
    since = int(hour) * HOUR_MS + int(minute) * MINUTE_MS + int(second) * SECOND_MS + int(fraction[:3].ljust(3, "0"))
    return since + offset if sign == "-" else since - offset


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def _days_since_1970(year: int, month: int, day: int) -> int | None:
    """Days of the proleptic Gregorian calendar, or None for a date that is in no calendar."""
    if year < 1 or not 1 <= month <= 12 or day < 1:
        return None
    leap = _is_leap(year)
    if day > _DAYS_IN_MONTH[month - 1] + (leap and month == 2):
        return None
    before = year - 1
    days = before * 365 + before // 4 - before // 100 + before // 400
    return days + _DAYS_BEFORE_MONTH[month - 1] + (leap and month > 2) + day - 1 - _DAYS_BEFORE_1970


def _civil(days: int) -> tuple[int, int, int]:
    """Year, month and day of a day counted from 1970; also for the years 0 and 10000, which a zone can reach."""
    cycles, days = divmod(days + _DAYS_BEFORE_1970, 146_097)  # days of 400 years
    year = 1 + cycles * 400
    while days >= 365 + _is_leap(year):
        days -= 365 + _is_leap(year)
        year += 1
    month = 0
    while days >= (length := _DAYS_IN_MONTH[month] + (month == 1 and _is_leap(year))):
        days -= length
        month += 1
    return year, month + 1, days + 1


_LATEST_MS: Final = 253_402_300_799_999  # 9999-12-31T23:59:59.999Z
