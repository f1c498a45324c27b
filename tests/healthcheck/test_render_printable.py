"""Strings of the outside world, as outputs may carry them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from healthcheck.renderers.printable import one_line, valid


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("grün", "grün"),
        ("gr\udcc3\udcbcn", "grün"),  # as a C locale reads the name of a file
        ("a\udcffb", "a\ufffdb"),
        ("a\ud800b\udfff", "a\ufffdb\ufffd"),
        ("\U0001f600", "\U0001f600"),
    ],
)
def test_text_can_be_encoded_and_is_the_same_in_every_locale(text: str, expected: str) -> None:
    assert valid(text) == expected


@given(st.text(st.characters()))
def test_any_text_becomes_one_line_that_can_be_encoded(text: str) -> None:
    line = one_line(text)
    assert line.encode("utf-8").decode("utf-8") == line
    assert len(line.splitlines()) <= 1
    assert "\x1b" not in line


def test_control_characters_are_spelled() -> None:
    assert one_line("a\tb\x1b[31m\x9b\u2028\u202e") == "a\\x09b\\x1b[31m\\x9b\\u2028\\u202e"
