"""Timestamps as the memory writes them: one strict form, compared in whole milliseconds since 1970 (UTC).

    YYYY-MM-DD                                    midnight UTC
    YYYY-MM-DDThh:mm[:ss[.1-9 digits]](Z|±hh:mm)   a time always has its zone

Everything else (no zone, a blank for the T, epoch numbers, an impossible date) is no timestamp: None, never a guess.
"""

import re
from typing import Final

from policies.thresholds import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS

_FORM = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})"
    r"(?:T([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,9}))?)?(?:Z|([+-])([0-9]{2}):([0-9]{2})))?"
)
_RUN_ID = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2})-([0-9]{2})-([0-9]{2})-([0-9]{3}Z)")
_DAYS_IN_MONTH: Final = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_DAYS_BEFORE_MONTH: Final = (0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334)
_DAYS_BEFORE_1970: Final = 719_162  # from 0001-01-01


def parse_timestamp(text: str) -> int | None:
    """Return the instant as milliseconds since 1970 (UTC; below zero before), or None where `text` is no timestamp.

    Digits past the millisecond are cut, not rounded.
    """
    match = _FORM.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second, fraction, sign, zone_hour, zone_minute = match.groups()
    days = _days_since_1970(int(year), int(month), int(day))
    if days is None:
        return None
    if hour is None:
        return days * DAY_MS
    if hour > "23" or minute > "59" or (second or "00") > "59" or (zone_hour or "00") > "23":
        return None
    if (zone_minute or "00") > "59":
        return None
    time = int(hour) * HOUR_MS + int(minute) * MINUTE_MS + int(second or 0) * SECOND_MS
    offset = int(zone_hour or 0) * HOUR_MS + int(zone_minute or 0) * MINUTE_MS
    return days * DAY_MS + time + int((fraction or "")[:3].ljust(3, "0")) - (-offset if sign == "-" else offset)


def parse_run_id(name: str) -> int | None:
    """Return the instant of a run id (`2026-08-01T12-30-45-123Z`: a timestamp that may be a file name), or None."""
    match = _RUN_ID.fullmatch(name)
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
