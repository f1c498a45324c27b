"""Capture: the door by which a host hands text to a memory. What passes it was stripped of private text.

The host keeps its own transcript, scrollback and logs; nothing here cleans those (docs/privacy.md).
"""

from collections.abc import Callable
from typing import NamedTuple, TypeVar

from cortex.privacy import strip_private
from policies.timestamps import parse_timestamp

T = TypeVar("T")


class CaptureTimestamps(NamedTuple):
    """When something was captured, and when it happened and holds; timestamps as the corpus writes them."""

    captured_at: str
    source_at: str | None = None
    valid_from: str | None = None
    valid_until: str | None = None


class CaptureEnvelope(NamedTuple):
    """A piece of text on its way from a host into a memory."""

    source: str
    channel: str
    timestamps: CaptureTimestamps
    session_id: str
    content: str


def create_capture_envelope(envelope: CaptureEnvelope) -> CaptureEnvelope:
    """Return a copy whose content is stripped of private text."""
    return envelope._replace(content=strip_private(envelope.content))


def ingest_capture_envelope(envelope: CaptureEnvelope, consumer: Callable[[CaptureEnvelope], T]) -> T:
    """Hand the stripped copy, and only that, to `consumer`; return what it returns."""
    return consumer(create_capture_envelope(envelope))


def is_valid_at(envelope: CaptureEnvelope, now: int) -> bool:
    """Tell whether an envelope is valid at `now` (milliseconds since 1970).

    Its start is included, its end is not, a missing bound is open; a bound that cannot be read makes it not valid.
    """
    start, end = envelope.timestamps.valid_from, envelope.timestamps.valid_until
    begins = None if start is None else parse_timestamp(start)
    ends = None if end is None else parse_timestamp(end)
    if (start is not None and begins is None) or (end is not None and ends is None):
        return False
    return (begins is None or begins <= now) and (ends is None or now < ends)
