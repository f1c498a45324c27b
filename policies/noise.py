r"""Noise control: the same alert over and over becomes one entry that counts, and in the end falls silent.

Rules:

1. Two alerts are the same where organ and *normalised* note are: digits, width of punctuation and blanks do not tell
   them apart.
2. An alert within the window after the last one is suppressed; outside of it, an entry that has been seen often
   enough is silenced, and its key is said once.
3. Pure: the ledger that comes in stays as it is.

White space is what ECMAScript's `\s` matches, so that ids and keys agree with other readers of the same files.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from policies.units import DAY_MS

# What is unchanged is told again so much later; an alert of another source that is not heard for so long is closed; a
# silence lasts so long, unless said.
REMIND_AFTER_MS: Final = 7 * DAY_MS
FORGET_AFTER_MS: Final = 7 * DAY_MS
SILENCE_MS: Final = 14 * DAY_MS

NOTE_CHARACTERS: Final = 120
SAMPLE_CHARACTERS: Final = 160
UNKNOWN_ORGAN: Final = "?"

# U+FEFF counts, U+001C to U+001F and U+0085 do not: Python's own `\s` differs in all of them.
_BLANKS = re.compile("[\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+")
_DIGITS = re.compile("[0-9]+")
_PUNCTUATION = re.compile("[，。、；：！？]")


class Alert(NamedTuple):
    """One alert: the part of the body that speaks, and what it says. None counts as missing."""

    organ: str | None
    note: str | None


class NoiseEntry(NamedTuple):
    """What is known of one repeated alert. `first` and `last` in ms since 1970; `last` 0 where never seen."""

    count: int  # type: ignore[assignment] # the name that the files use; no entry is searched
    first: int
    last: int
    silenced: bool
    sample: str


class NoiseReduction(NamedTuple):
    """The ledger after some alerts, how many of them were suppressed, and the keys that fell silent just now."""

    ledger: dict[str, NoiseEntry]
    suppressed: int
    converged: tuple[str, ...]


def fold_blanks(text: str) -> str:
    """Return `text` with each run of white space as one blank, and none at its ends."""
    return _BLANKS.sub(" ", text).strip(" ")


def normalize_note(note: str | None) -> str:
    """Return what a note says where numbers, Chinese punctuation and spacing do not matter; at most 120 characters."""
    text = _DIGITS.sub("#", note or "")
    return fold_blanks(_PUNCTUATION.sub(" ", text))[:NOTE_CHARACTERS]


def noise_key(alert: Alert | None) -> str:
    """Return the ledger's key of an alert; one that is null is an empty note of an unknown organ."""
    organ, note = alert or Alert(None, None)
    return f"{UNKNOWN_ORGAN if organ is None else organ}::{normalize_note(note)}"


def reduce_noise(
    ledger: Mapping[str, NoiseEntry], alerts: Iterable[Alert | None], now: int, window_ms: float, converge_at: int
) -> NoiseReduction:
    """Take `alerts`, in order, into a copy of `ledger`. Times in ms since 1970; a clock stepping back is outside."""
    entries = dict(ledger)
    suppressed = 0
    converged = []
    for alert in alerts:
        key = noise_key(alert)
        entry = entries.get(key) or NoiseEntry(0, now, 0, silenced=False, sample=_sample(alert))
        within = 0 <= now - entry.last < window_ms
        count = entry.count + 1
        falls_silent = not entry.silenced and not within and count >= converge_at
        suppressed += not entry.silenced and within
        if falls_silent:
            converged.append(key)
        entries[key] = entry._replace(count=count, last=now, silenced=entry.silenced or falls_silent)
    return NoiseReduction(entries, suppressed, tuple(converged))


def _sample(alert: Alert | None) -> str:
    return ((alert.note if alert else None) or "")[:SAMPLE_CHARACTERS]
