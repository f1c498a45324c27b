"""SHA-256 for what a call reads of an index.

Loading OpenSSL costs as much as hashing a megabyte without it, and most calls read less: the interpreter's own
implementation does for small blocks, hashlib's for large ones. Where an interpreter has none of its own, hashlib does
for all.
"""

import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any, Final

# From here on OpenSSL's speed begins to win back what loading it costs.
LARGE: Final = 128 * 1024
# Where CPython keeps its own.
_OWN: Final = "_sha256" if sys.version_info[:2] == (3, 11) else "_sha2"


def sha256_hex(data: bytes) -> str:
    """Return the SHA-256 of some bytes, in hexadecimal."""
    digest: str = (_large() if len(data) >= LARGE else _small())(data).hexdigest()
    return digest


def _large() -> Callable[[bytes], Any]:
    from hashlib import sha256

    return sha256


@cache
def _small() -> Callable[[bytes], Any]:
    try:
        own: Callable[[bytes], Any] = import_module(_OWN).sha256
    except (ImportError, AttributeError):
        return _large()
    return own
