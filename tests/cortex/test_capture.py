"""The capture envelope: what a host hands over passes stripped, whatever host it is."""

import json

import pytest

from cortex.capture import (
    CaptureEnvelope,
    CaptureTimestamps,
    create_capture_envelope,
    ingest_capture_envelope,
    is_valid_at,
)
from policies.timestamps import parse_timestamp

# What hosts hand over, as they shape it; each holds a secret in the place where that host would put one.
HOSTS = {
    "claude": ("transcript", json.dumps({"role": "user", "text": "keep <private>s3cret</private> this"})),
    "hermes": ("stream", "data: keep\n\ndata: <private>s3cret\n\ndata: more</private> this\n"),
    "codex": ("rollout", "$ export KEY=<Private reason='key'>s3cret</PRIVATE>\nkeep this"),
    "subagent": ("report", "keep <private>s3cret <private>inner</private> s3cret</private> this"),
    "messaging": ("chat:42", "keep this\n<private\n>s3cret"),
}


def envelope(source="claude", content="", **timestamps):
    channel = HOSTS[source][0] if source in HOSTS else "none"
    return CaptureEnvelope(source, channel, CaptureTimestamps("2026-08-10T12:00:00Z", **timestamps), "s-1", content)


@pytest.mark.parametrize("source", HOSTS)
def test_only_the_stripped_copy_is_handed_on(source):
    captured = envelope(source, HOSTS[source][1])
    received = []

    returned = ingest_capture_envelope(captured, lambda given: received.append(given) or len(received))

    (given,) = received
    assert returned == 1
    assert "s3cret" not in given.content
    assert "keep" in given.content
    assert given == captured._replace(content=given.content)
    assert "s3cret" in captured.content


def test_a_copy_is_made_and_the_original_stays():
    captured = envelope(content="a<private>b</private>c")
    assert create_capture_envelope(captured).content == "ac"
    assert captured.content == "a<private>b</private>c"


@pytest.mark.parametrize(
    ("window", "valid"),
    [
        ({}, True),
        ({"valid_from": "2026-08-10"}, True),
        ({"valid_from": "2026-08-11"}, False),
        ({"valid_until": "2026-08-10"}, False),
        ({"valid_until": "2026-08-11"}, True),
        ({"valid_from": "someday"}, False),
        ({"valid_until": "2026-08-11T00:00:00"}, False),
        ({"valid_from": "2026-08-01", "valid_until": "2026-08-10T00:00:00.001Z"}, True),
    ],
)
def test_a_window_includes_its_start_not_its_end_and_an_unreadable_bound_is_not_valid(window, valid):
    assert is_valid_at(envelope(**window), parse_timestamp("2026-08-10")) is valid
