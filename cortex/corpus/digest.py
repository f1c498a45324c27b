"""The canonical digest: one hash over all records, whatever files they lie in. Pure.

SHA-256 of a JSON array in UTF-8: compact, non-ASCII as it is, the records' public keys in their order, the records
sorted by id by code point. Two corpora have the same digest exactly if their records are the same.
"""

from collections.abc import Iterable
from hashlib import sha256
from operator import itemgetter
from typing import Final

from cortex.corpus.record import Record, exported

# Records encoded in one go: enough to pay for the call, few enough to stay small.
_BATCH: Final = 64


def canonical_digest(records: Iterable[Record]) -> str:
    """Return the digest of `records`, in any order, as 64 lower-case hex digits."""
    from msgspec.json import encode

    ordered = sorted(records, key=itemgetter(0))  # the id
    digest = sha256(b"[")
    for start in range(0, len(ordered), _BATCH):
        batch = encode([exported(record) for record in ordered[start : start + _BATCH]])
        digest.update(b"," + batch[1:-1] if start else batch[1:-1])
    digest.update(b"]")
    return digest.hexdigest()
