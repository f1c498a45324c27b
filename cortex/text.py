"""What counts as blank, and which characters no canonical text may hold. One definition for the whole memory."""

import re
from typing import Final

WHITE_SPACE: Final = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
BYTE_ORDER_MARK: Final = "\ufeff"

# C0 without tab, LF and CR; DEL and C1. Compiled when they are first needed: most memories need none of them.
_CONTROL: Final = r"[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"
_SURROGATE: Final = r"[\ud800-\udfff]"
_C1_IN_UTF8: Final = b"\xc2[\x80-\x9f]"
_NO_CONTROL: Final = bytes({*range(256)} - {*range(0x20), 0x7F} | {*b"\t\n\r"})


def is_blank(text: str) -> bool:
    """Tell whether `text` is empty or white space alone."""
    return not text.strip(WHITE_SPACE)


def find_control(text: str) -> int | None:
    """Return where the first forbidden control character of `text` stands, or None."""
    match = re.search(_CONTROL, text)
    return match.start() if match else None


def holds_control(data: bytes) -> bool:
    """Tell whether UTF-8 text holds a forbidden control character; faster than decoding and looking."""
    if data.translate(None, _NO_CONTROL):
        return True
    return not data.isascii() and re.search(_C1_IN_UTF8, data) is not None


def holds_surrogate(text: str) -> bool:
    """Tell whether decoded JSON holds half of a surrogate pair, which is no character."""
    return not text.isascii() and re.search(_SURROGATE, text) is not None
