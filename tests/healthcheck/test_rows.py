"""Every line of a log is judged alike, however the log is cut into blocks, and whatever happens to it meanwhile."""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cortex.strict_json import StrictJSONError, loads
from healthcheck.collectors.rows import BLOCK_BYTES, BYTE_ORDER_MARK, Log, Row, ShrunkError, are_sound, read_log
from healthcheck.evidence import Malformed
from policies.limits import MIB, ROW_MAX_BYTES


@contextmanager
def log_of(content: bytes) -> Iterator[int]:
    with tempfile.TemporaryFile() as file:
        file.write(content)
        file.flush()
        yield file.fileno()


def never() -> None:
    pytest.fail("waited for a line that nobody will finish")


def read(content: bytes, wait: Callable[[], None] = lambda: None, block_bytes: int = BLOCK_BYTES) -> Log:
    with log_of(content) as descriptor:
        return read_log(descriptor, wait=wait, block_bytes=block_bytes)


SOUND = {
    "plain": b'{"a":1}',
    "empty": b"{}",
    "blanks around": b' \t{ "a" : [1, 2.5e3, {"b": null}] } \r',
    "CR between tokens": b'{"a":\r1}',
    "U+2028 and U+0085 in a string": '{"a":"x\u2028y\u0085z"}'.encode(),
    "a lone surrogate's escape": b'{"a":"\\ud800"}',
    "a hash that looks like an exponent": b'{"h":"4e567, 1e999}"}',
    "a small exponent with leading zeros": b'{"a":1e0000000001}',
    "a large exponent of nothing": b'{"a":1e-400}',
    "308 digits": b'{"a":' + b"9" * 308 + b"}",
    "300 decimals": b'{"a":0.' + b"1" * 300 + b"}",
    "a key twice in a nested object": b'{"a":{"b":1,"b":2}}',
    "500 brackets": b'{"a":' + b"[" * 500 + b"]" * 500 + b"}",
}
DECIDING_ALONE = {"a key twice in a nested object"}
MALFORMED = {
    "half a row": b'{"ts":"2026-08-10T11:',
    "two objects": b'{"a":1}{"b":2}',
    "two objects and a blank": b'{"a":1} {"b":2}',
    "two objects and a CR": b'{"a":1}\r{"b":2}',
    "a list": b"[{}]",
    "null": b"null",
    "a number": b"0",
    "a string": b'"x"',
    "NaN": b'{"a":NaN}',
    "Infinity": b'{"a":-Infinity}',
    "overflow": b'{"a":1e400}',
    "overflow with sign": b'{"a":-1E+999}',
    "overflow in an array": b'{"a":[1e400]}',
    "overflow with zeros": b'{"a":1e0000400 }',
    "overflow by digits and exponent": b'{"a":' + b"9" * 250 + b"e99}",
    "309 digits": b'{"a":' + b"9" * 309 + b"}",
    "5,000 digits": b'{"a":' + b"9" * 5_000 + b"}",
    "bad UTF-8 in a value": b'{"a":"\xff"}',
    "bad UTF-8 in a key": b'{"\xc3":1}',
    "an encoded surrogate": b'{"a":"\xed\xa0\x80"}',
    "NUL": b"\0" * 300,
    "NUL in a row": b'{"a":1}\0',
    "a control character in a string": b'{"a":"\x1f"}',
    "100,000 brackets": b"[" * 100_000,
    "100,000 brackets in a member": b'{"a":' + b"[" * 100_000,
    "no-break space": b"\xc2\xa0",
    "form feed": b"\x0c",
    "a second byte-order mark": BYTE_ORDER_MARK + b"{}",
    "a comma too many": b'{"a":1,}',
    "a leading zero": b'{"a":01}',
}
BLANK = {"nothing": b"", "space": b"  ", "tab": b"\t", "CR": b"\r"}


@pytest.mark.parametrize("name", SOUND)
def test_a_row_counts_as_one_wherever_it_stands(name: str) -> None:
    row = SOUND[name]
    last = None if name in DECIDING_ALONE else Row(3, loads(row))  # type: ignore[arg-type]
    malformed = Malformed(1, (3,)) if name in DECIDING_ALONE else Malformed()
    assert read(b"{}\n{}\n" + row + b"\n") == Log(2 + (last is not None), malformed, last)
    assert read(b"{}\n" + row + b"\n{}\n") == Log(3, Malformed(), Row(3, {}))


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_line_is_counted_and_numbered_and_hides_no_other(name: str) -> None:
    line = MALFORMED[name]
    assert read(b'{"a":1}\n' + line + b'\n{"b":2}\n') == Log(2, Malformed(1, (2,)), Row(3, {"b": 2}))


@pytest.mark.parametrize("name", MALFORMED)
def test_an_older_row_is_never_the_last_one_where_the_last_line_is_malformed(name: str) -> None:
    assert read(b'{"a":1}\n' + MALFORMED[name] + b"\n \n") == Log(1, Malformed(1, (2,)), None)


@pytest.mark.parametrize("name", BLANK)
def test_blank_lines_are_passed_over_and_counted_as_lines(name: str) -> None:
    blank = BLANK[name]
    assert read(blank + b"\n{}\n" + blank + b'\n{"a":1}\n' + blank, wait=never) == Log(2, Malformed(), Row(4, {"a": 1}))


def test_a_log_without_rows_has_none() -> None:
    for content in (b"", b"\n", b" \r\n\t\n", BYTE_ORDER_MARK):
        assert read(content, wait=never) == Log(0, Malformed(), None)


def test_one_leading_byte_order_mark_is_dropped() -> None:
    assert read(BYTE_ORDER_MARK + b'{"a":1}\n') == Log(1, Malformed(), Row(1, {"a": 1}))


def test_a_lone_cr_ends_no_line() -> None:
    assert read(b'{"a":1}\r{"a":2}\r') == Log(0, Malformed(1, (1,)), None)


def test_an_object_over_two_lines_is_no_row_even_where_two_stand_on_another_line() -> None:
    for content in (b'{"a":[{}\n,{}]}\n{}{}\n', b'{"a":1,\n"b":{}}\n{}{}\n', b'{"a":[\n{},{}]}\n{}{}\n'):
        assert read(content).malformed == Malformed(3, (1, 2, 3))
    assert read(b'{"a":1,\n"b":2}\n{}\n') == Log(1, Malformed(2, (1, 2)), Row(3, {}))


def test_the_numbers_of_the_first_ten_malformed_lines_are_kept_and_all_are_counted() -> None:
    assert read(b"{}\n" + b"x\n" * 12).malformed == Malformed(12, tuple(range(2, 12)))


def test_a_row_of_16_mib_is_read_and_one_byte_more_is_malformed() -> None:
    row = b'{"a":"' + b"x" * (ROW_MAX_BYTES - 8) + b'"}'
    assert len(row) == ROW_MAX_BYTES
    assert read(row + b"\n{}\n") == Log(2, Malformed(), Row(2, {}))
    assert read(b"{}\n " + row + b"\n{}\n") == Log(2, Malformed(1, (2,)), Row(3, {}))
    assert read(row, wait=never).rows == 1
    assert read(b" " + row, wait=never).malformed == Malformed(1, (1,))


@pytest.mark.proof
def test_a_log_of_one_gigantic_line_takes_little_memory() -> None:
    import tracemalloc

    with log_of(b"") as descriptor:
        os.ftruncate(descriptor, 2048 * MIB)
        tracemalloc.start()
        log = read_log(descriptor, wait=never)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert log == Log(0, Malformed(1, (1,)), None)
    assert peak < 40 * MIB


# A last line without its newline.


def test_a_whole_last_row_needs_no_newline() -> None:
    assert read(b'{}\n{"a":1}', wait=never) == Log(2, Malformed(), Row(2, {"a": 1}))


@pytest.mark.parametrize("torn", [b'{"a":', b'{"a":"\xc3', b"[1", b"\0"])
def test_a_torn_last_line_gets_three_chances_before_it_is_malformed(torn: bytes) -> None:
    waits: list[None] = []
    assert read(b"{}\n" + torn, wait=lambda: waits.append(None)) == Log(1, Malformed(1, (2,)), None)
    assert len(waits) == 3


@pytest.mark.parametrize("chances", [1, 2, 3])
def test_a_writer_that_finishes_its_line_in_time_is_not_blamed(chances: int) -> None:
    rest = [b""] * (chances - 1) + [b'1}\n{"b":2}\n{"c"', b":3}", b""]

    with log_of(b'{}\n{"a":') as descriptor:

        def finish() -> None:
            os.write(descriptor, rest.pop(0))

        log = read_log(descriptor, wait=finish)
    finished = Log(4, Malformed(), Row(4, {"c": 3}))
    torn_again = Log(3, Malformed(1, (4,)), None)
    assert log == (torn_again if chances == 3 else finished)


def test_a_line_torn_in_the_middle_of_a_log_is_not_waited_for() -> None:
    assert read(b'{"ts":"2026-08-10T11:{"a":1}\n{}\n', wait=never) == Log(1, Malformed(1, (1,)), Row(2, {}))


# Files that change.


def test_a_log_that_shrinks_while_it_is_waited_for_is_an_error() -> None:
    with log_of(b'{}\n{"a":') as descriptor, pytest.raises(ShrunkError):
        read_log(descriptor, wait=lambda: os.ftruncate(descriptor, 1))


def test_a_log_that_shrinks_while_it_is_read_is_an_error() -> None:
    with log_of(b"{}\n" * 10) as descriptor, pytest.raises(ShrunkError):
        read_log(descriptor, each=lambda _line, _row: os.ftruncate(descriptor, 6), block_bytes=4)
    with log_of(b"{}\n" * 10) as descriptor, pytest.raises(ShrunkError):
        read_log(descriptor, each=lambda _line, _row: os.ftruncate(descriptor, 6))


def test_rows_appended_while_a_log_is_read_are_left_for_the_next_run() -> None:
    with log_of(b"{}\n" * 3) as descriptor:
        log = read_log(descriptor, each=lambda _line, _row: os.ftruncate(descriptor, 100), block_bytes=4)
    assert log.rows == 3
    assert log.malformed == Malformed()


# Rows that all decide.


def test_each_row_is_handed_out_with_its_line_and_a_key_that_stands_twice_is_found_in_any() -> None:
    handed: list[tuple[int, object]] = []
    with log_of(b'{"a":1}\n\n{"a":1,"a":2}\n[]\n{"a":3}\n') as descriptor:
        log = read_log(descriptor, each=lambda line, row: handed.append((line, row)))
    assert handed == [(1, {"a": 1}), (5, {"a": 3})]
    assert log == Log(2, Malformed(2, (3, 4)), Row(5, {"a": 3}))


# One verdict, however it is reached.


def by_the_words(content: bytes) -> Log:
    """The same judgement, line by line, over the whole content at once."""
    rows, malformed, last = 0, [], None
    lines = content.removeprefix(BYTE_ORDER_MARK).split(b"\n")
    decisive = max((number for number, line in enumerate(lines, 1) if line.strip(b" \t\r")), default=0)
    for number, line in enumerate(lines, 1):
        if not line.strip(b" \t\r"):
            continue
        try:
            value = loads(line, unique_keys=number == decisive)
        except StrictJSONError:
            value = None
        if isinstance(value, dict):
            rows, last = rows + 1, Row(number, value)
        else:
            malformed.append(number)
            last = None
    return Log(rows, Malformed(len(malformed), tuple(malformed[:10])), last)


FEW_BRACKETS = [line for line in (*SOUND.values(), *MALFORMED.values()) if len(line) < 2_000]
LINES = st.one_of(st.sampled_from([b'{"a":1}', b'{"a":"b","c":[1,2]}', *BLANK.values()]), st.sampled_from(FEW_BRACKETS))
CONTENTS = st.builds(
    lambda mark, lines, end: mark + b"\n".join(lines) + end,
    st.sampled_from([b"", BYTE_ORDER_MARK]),
    st.lists(LINES, max_size=12),
    st.sampled_from([b"", b"\n"]),
)


@given(CONTENTS, st.integers(1, 200))
def test_the_size_of_a_block_changes_nothing(content: bytes, block_bytes: int) -> None:
    """Any log, cut anywhere, is judged as its lines are judged one by one."""
    assert read(content, block_bytes=block_bytes) == read(content) == by_the_words(content)


ROWS = st.sampled_from(
    [
        b'{"a":1}',
        b'{"ts": "2026-08-10T11:00:00Z", "h": "4e567", "n": -1.5e+10, "l": [true, null]}',
        '{"ü":"é"}'.encode(),
    ]
)
TOKENS = st.sampled_from(
    [
        *(bytes([byte]) for byte in b'{}[],:"\n\\e-.\r \x000\x1f\xff\xc3'),
        *(b"E+", b"9" * 99, b"400", b"{}", b"}\n{", b"\\ud800"),
    ]
)


@st.composite
def damaged_blocks(draw: st.DrawFn) -> bytes:
    block = b"\n".join(draw(st.lists(ROWS, min_size=1, max_size=4)))
    for token in draw(st.lists(TOKENS, max_size=4)):
        at = draw(st.integers(0, len(block)))
        block = block[:at] + token + block[at + draw(st.integers(0, 2)) :]
    return block


@given(damaged_blocks())
@example(b'{"a":' + b"9" * 198 + b"e99}\n{}")
@settings(max_examples=300)
def test_a_block_is_called_sound_only_if_each_of_its_lines_is_one_strict_object(block: bytes) -> None:
    """What the quick look lets through, the strict reader lets through, line by line."""
    lines = block.split(b"\n")
    if are_sound(block, lines):
        assert all(isinstance(loads(line, unique_keys=False), dict) for line in lines)


@pytest.mark.proof
@given(damaged_blocks())
@settings(max_examples=50_000)
def test_a_block_is_called_sound_only_if_it_is_at_length(block: bytes) -> None:
    test_a_block_is_called_sound_only_if_each_of_its_lines_is_one_strict_object.hypothesis.inner_test(block)  # type: ignore[attr-defined]


def test_the_quick_look_takes_what_logs_usually_hold() -> None:
    """Else every log would be read slowly, and nobody would notice."""
    line = b'{"ts": "2026-08-10T11:00:00.000Z", "query_hash": "4e567e12e9990", "duration_ms": 3.5, "score": 1e-05}'
    for row in (line, '{"name":"Grün"}'.encode(), line + b"\r"):
        assert are_sound(row + b"\n", [row])
