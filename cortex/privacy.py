"""The privacy boundary: `strip_private(text)` takes out what stands in `<private>…</private>`, before anything sees it.

Rules, in the order in which a round applies them:

1. An *untrusted opener*, a bracket that people read as the start of a private span but that is no well-formed tag
   (look-alike letters, invisible characters, full-width brackets, a longer name, no `>`), cuts the text there.
2. *Spans*: text inside opening and closing tags is dropped, nested ones too. An opening tag that is never closed
   hides the rest; a closing tag that closes nothing is dropped alone.

What a round joins up, the next one sees; after `PRIVACY_ROUNDS` rounds the text is cut at the first thing that is
still a tag. So stripping twice changes nothing, and the time is linear in the text: every pattern below is
possessive and never looks past the next bracket.

How it works: letters, blanks and brackets are judged on the text's *shadow*, a string of the same length in which
every character outside ASCII is replaced by one Latin-1 character that says what it counts as. Positions are the
same in both, so what is found in the shadow is cut from the text. Of ASCII text the shadow is the text itself.
"""

import re
from typing import Final, NamedTuple

from cortex.text import WHITE_SPACE
from policies.limits import PRIVACY_ROUNDS

# Unicode's confusables for the letters of `private`, beyond what compatibility decomposition already maps.
LOOK_ALIKES: Final = {
    "\u0440": "p",  # CYRILLIC SMALL LETTER ER
    "\u03c1": "p",  # GREEK SMALL LETTER RHO
    "\u1d18": "p",  # LATIN LETTER SMALL CAPITAL P
    "\u0433": "r",  # CYRILLIC SMALL LETTER GHE
    "\u0280": "r",  # LATIN LETTER SMALL CAPITAL R
    "\u1d26": "r",  # GREEK LETTER SMALL CAPITAL GAMMA
    "\u0456": "i",  # CYRILLIC SMALL LETTER BYELORUSSIAN-UKRAINIAN I
    "\u0131": "i",  # LATIN SMALL LETTER DOTLESS I
    "\u03b9": "i",  # GREEK SMALL LETTER IOTA
    "\u04cf": "i",  # CYRILLIC SMALL LETTER PALOCHKA
    "\u0269": "i",  # LATIN SMALL LETTER IOTA
    "\ua647": "i",  # CYRILLIC SMALL LETTER IOTA
    "\u03bd": "v",  # GREEK SMALL LETTER NU
    "\u0475": "v",  # CYRILLIC SMALL LETTER IZHITSA
    "\u1d20": "v",  # LATIN LETTER SMALL CAPITAL V
    "\u0430": "a",  # CYRILLIC SMALL LETTER A
    "\u03b1": "a",  # GREEK SMALL LETTER ALPHA
    "\u0251": "a",  # LATIN SMALL LETTER ALPHA
    "\u1d00": "a",  # LATIN LETTER SMALL CAPITAL A
    "\u0442": "t",  # CYRILLIC SMALL LETTER TE
    "\u03c4": "t",  # GREEK SMALL LETTER TAU
    "\u1d1b": "t",  # LATIN LETTER SMALL CAPITAL T
    "\u0435": "e",  # CYRILLIC SMALL LETTER IE
    "\u03b5": "e",  # GREEK SMALL LETTER EPSILON
    "\u0454": "e",  # CYRILLIC SMALL LETTER UKRAINIAN IE
    "\u1d07": "e",  # LATIN LETTER SMALL CAPITAL E
}
# Beyond Unicode's control and format characters and white space: what renders as nothing.
DEFAULT_IGNORABLE: Final = (
    (0x00AD, 0x00AD), (0x034F, 0x034F), (0x061C, 0x061C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F),
    (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
)  # fmt: skip
FULL_WIDTH_OPENER: Final = "\uff1c"
SMALL_OPENER: Final = "\ufe64"

# What a shadow writes for characters outside ASCII; each is one Latin-1 character that stands for nothing else.
_BLANK: Final = " "
_NOTHING: Final = "\0"
_OPENER: Final = "\x80"
_OTHER: Final = "\xff"
_LETTERS: Final = {
    "p": "\x81", "r": "\x82", "i": "\x83", "v": "\x84", "a": "\x85", "t": "\x86", "e": "\x87",
    "pr": "\x88", "iv": "\x89", "tel": "\x8a",  # single characters that spell several: U+33DA, U+2163, U+2121
    "ev": "\x87", "erg": "\x87",  # U+32CE, U+32CD: their first letter ends the word
}  # fmt: skip

_WS = r"[\t-\r ]*+"
_NAME = "[pP][rR][iI][vV][aA][tT][eE]"
_END = r"(?:[\t-\r ][^<>]*+)?+>"
_SKIP = r"[\0-\x20\x7f]*+"
_SPELLED = (
    rf"{_SKIP}(?:[pP\x81]{_SKIP}[rR\x82]|\x88){_SKIP}(?:[iI\x83]{_SKIP}[vV\x84]|\x89)"
    rf"{_SKIP}[aA\x85]{_SKIP}(?:[tT\x86]{_SKIP}[eE\x87]|\x8a)"
)
# The class for all that is not ASCII is written as a negation: compiled from a range it costs 1.5 ms.
_CANDIDATE = re.compile(r"<[\0-\x20\x7f]*+(?:[pP/]|[^\0-\x7f])")
# Compiled when the first candidate turns up (`re` keeps them): most memories hold none.
# Each begins with the characters that it can begin with, and so passes over the others at the speed of C.
_TAG: Final = f"<{_WS}(/?){_WS}{_NAME}{_END}"
_UNTRUSTED: Final = rf"[<\x80](?!(?<=<){_WS}{_NAME}{_END}){_SPELLED}"
_TAG_OR_UNTRUSTED: Final = rf"[<\x80](?:(?<=<){_WS}/?{_WS}{_NAME}{_END}|{_SPELLED})"


class Stripped(NamedTuple):
    """A text without its private parts; `cut` where an untrusted opener hid the rest of it."""

    text: str
    cut: bool


def strip_private(text: str) -> str:
    """Return `text` without its private parts; the same object where there is nothing to take out."""
    return strip_and_tell(text).text if may_hold_opener(text) else text


def may_hold_opener(text: str) -> bool:
    """Tell, fast, whether anything in `text` could open or close a private span; False is certain."""
    if "<" in text and _CANDIDATE.search(text):
        return True
    return not text.isascii() and (FULL_WIDTH_OPENER in text or SMALL_OPENER in text)


def strip_and_tell(text: str) -> Stripped:
    """Return `text` without its private parts, and whether an untrusted opener cut it."""
    if not may_hold_opener(text):
        return Stripped(text, cut=False)
    shadow = text if text.isascii() else text.translate(_SHADOW)
    cut = False
    for _ in range(PRIVACY_ROUNDS):
        if not re.search(_TAG_OR_UNTRUSTED, shadow):
            return Stripped(text, cut)
        untrusted = re.search(_UNTRUSTED, shadow)
        if untrusted:
            cut = True
            text, shadow = text[: untrusted.start()], shadow[: untrusted.start()]
        text, shadow = _drop_spans(text, shadow)
    remains = re.search(_TAG_OR_UNTRUSTED, shadow)
    return Stripped(text[: remains.start()], cut=True) if remains else Stripped(text, cut)


def _drop_spans(text: str, shadow: str) -> tuple[str, str]:
    """Drop tags and what stands inside them from a text and its shadow."""
    kept = []
    depth = start = 0
    for tag in re.finditer(_TAG, shadow):
        if depth == 0:
            kept.append((start, tag.start()))
        depth = max(depth - 1, 0) if tag[1] else depth + 1
        start = tag.end()
    if depth == 0:
        kept.append((start, len(text)))
    public = "".join([text[begin:end] for begin, end in kept])
    return public, public if shadow is text else "".join([shadow[begin:end] for begin, end in kept])


class _Shadow(dict[int, str]):
    """A table for `str.translate` that works out each character once."""

    def __missing__(self, code: int) -> str:
        shadow = self[code] = _shadow_of(chr(code))
        return shadow


def _shadow_of(character: str) -> str:
    if character.isascii():
        return character
    if character in WHITE_SPACE:
        return _BLANK
    if character in (FULL_WIDTH_OPENER, SMALL_OPENER):
        return _OPENER
    spelled = _spell(character)
    return _LETTERS.get(spelled, _OTHER) if spelled else _NOTHING


def _spell(character: str) -> str:
    """Return what a character outside ASCII reads as: lower-case, look-alikes mapped, no accents, nothing invisible.

    Decomposition works character by character, and marks are dropped, so a text reads as its characters do.
    """
    from unicodedata import category, normalize

    letters = []
    for part in normalize("NFKD", character):
        if category(part) in ("Cc", "Cf", "Mn") or part in WHITE_SPACE or _is_ignorable(ord(part)):
            continue
        lower = LOOK_ALIKES.get(part) or part.lower()
        letters.append(LOOK_ALIKES.get(lower, lower))
    return "".join(letters)


def _is_ignorable(code: int) -> bool:
    return any(first <= code <= last for first, last in DEFAULT_IGNORABLE)


_SHADOW: Final = _Shadow()
