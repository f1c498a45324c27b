"""Strings of the outside world (names of files above all) as outputs may carry them."""

import re
from typing import Final

_SURROGATE: Final = re.compile("[\ud800-\udfff]")
# Those that do not stand for a byte which the locale could not decode.
_NO_BYTE: Final = re.compile("[\ud800-\udc7f\udd00-\udfff]")
# C0, DEL, C1, line and paragraph separators, and what changes the direction or place of the text around it.
_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


def valid(text: str) -> str:
    """Return text that can be encoded, the same in every locale.

    Bytes that the locale could not decode are decoded as UTF-8; what is none becomes U+FFFD.
    """
    if not _SURROGATE.search(text):
        return text
    return _NO_BYTE.sub("\ufffd", text).encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def one_line(text: str) -> str:
    r"""Return text for a terminal: on one line and without control characters, which are spelled (`\x1b`)."""
    return _CONTROL.sub(lambda match: _spelled(ord(match[0])), valid(text))


def _spelled(code: int) -> str:
    return f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}"
