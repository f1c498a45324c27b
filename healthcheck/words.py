"""Numbers as people read them: durations, sizes, counts. ASCII alone, so that every terminal can show them."""

from typing import Final

from policies.limits import KIB, MIB
from policies.units import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS

_DURATIONS: Final = (
    (DAY_MS, "day", "days"),
    (HOUR_MS, "hour", "hours"),
    (MINUTE_MS, "minute", "minutes"),
    (SECOND_MS, "second", "seconds"),
    (1, "ms", "ms"),
)
_SIZES: Final = ((KIB * MIB, "GiB"), (MIB, "MiB"), (KIB, "KiB"))
_LONGEST_SPELLED: Final = 1_000_000 * DAY_MS


def duration(milliseconds: float) -> str:
    """Return the two largest parts of a duration: `7 days 1 ms`. Below zero the sign leads."""
    if milliseconds < 0:
        return f"-{duration(-milliseconds)}"
    if milliseconds > _LONGEST_SPELLED:
        return f"{float(milliseconds) / DAY_MS:.3g} days"
    parts = []
    rest = int(milliseconds)
    for size, one, many in _DURATIONS:
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count} {one if count == 1 else many}")
    return " ".join(parts[:2]) or f"{milliseconds:g} ms"


def size(number_of_bytes: float) -> str:
    """Return a size in bytes and, from 1 KiB on, in the largest binary unit: `268435457 bytes (256.0 MiB)`."""
    exact = f"{number_of_bytes} bytes"
    for unit, name in _SIZES:
        if number_of_bytes >= unit:
            return f"{exact} ({float(number_of_bytes) / unit:.1f} {name})"
    return exact


def counted(number: float, one: str) -> str:
    """Return a count with its noun: `1 log`, `2 logs`."""
    return f"{number} {one}" if number == 1 else f"{number} {one}s"


def lines(numbers: tuple[int, ...], count: int) -> str:
    """Return which lines, for a sentence: `line 7`, `lines 1, 2 and 5 more`."""
    listed = ", ".join(map(str, numbers))
    more = count - len(numbers)
    noun = "line" if count == 1 else "lines"
    return f"{noun} {listed} and {more} more" if more > 0 else f"{noun} {listed}"
