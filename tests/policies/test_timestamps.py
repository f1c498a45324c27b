"""Timestamps: what counts as one, which instant it is, and how an instant is written."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.timestamps import format_instant, is_date, parse_instant, parse_run_id, parse_timestamp
from policies.units import DAY_MS, HOUR_MS, MINUTE_MS

DAY_OF_2024 = 1_704_067_200_000  # 2024-01-01


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("1970-01-01", 0),
        ("2024-01-01", DAY_OF_2024),
        ("2024-01-01T00:00Z", DAY_OF_2024),
        ("2024-01-01T10:20Z", DAY_OF_2024 + 10 * HOUR_MS + 20 * MINUTE_MS),
        ("2024-01-01T00:00:01Z", DAY_OF_2024 + 1000),
        ("2024-01-01T00:00:00.1Z", DAY_OF_2024 + 100),
        ("2024-01-01T00:00:00.123Z", DAY_OF_2024 + 123),
        ("2024-01-01T00:00:00.123999999Z", DAY_OF_2024 + 123),
        ("2024-01-01T00:00+05:30", DAY_OF_2024 - 330 * MINUTE_MS),
        ("2024-01-01T00:00-11:00", DAY_OF_2024 + 11 * HOUR_MS),
        ("2024-01-01T00:00+23:59", DAY_OF_2024 - 23 * HOUR_MS - 59 * MINUTE_MS),
        ("2024-01-01T00:00-00:00", DAY_OF_2024),
        ("2024-02-29", DAY_OF_2024 + 59 * DAY_MS),
        ("2000-02-29", 951_782_400_000),
        ("1969-12-31T23:59:59.999Z", -1),
        ("0001-01-01", -62_135_596_800_000),
        ("0099-12-31", -59_011_545_600_000),
        ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
    ],
)
def test_a_timestamp_of_the_strict_form_is_an_instant(text: str, instant: int) -> None:
    assert parse_timestamp(text) == instant


@pytest.mark.parametrize(
    "text",
    [
        "", "soon", "2024", "2024-01", "20240101", "2024/01/01", "2024-W01-1", "12024-01-01", "999-01-01",
        "+002024-01-01", "-001-01-01", "0000-01-01", "2024-00-10", "2024-13-01", "2024-01-00", "2024-01-32",
        "2024-04-31", "2023-02-29", "1900-02-29", "2026-02-30", "2024-01-01Z", "2024-01-01+01:00", " 2024-01-01",
        "2024-01-01 ", "2024-01-01\n", "2024-01-01T", "T10:00Z", "2024-01-01T10Z", "2024-01-01T10:00",
        "2024-01-01T10:00:00", "2024-01-01 10:00:00Z", "2024-01-01 10:00:00+02:00", "2024-01-01t10:00Z",
        "2024-01-01T10:00z", "2024-01-01T24:00Z", "2024-01-01T10:60Z", "2024-01-01T10:00:60Z",
        "2024-01-01T10:00:00.Z", "2024-01-01T10:00:00,5Z", "2024-01-01T10:00:00.1234567890Z", "2024-01-01T10:00.5Z",
        "2024-01-01T10:00+24:00", "2024-01-01T10:00+10:60", "2024-01-01T10:00+0530", "2024-01-01T10:00+05",
        "2024-01-01T10:00ZZ", "2024-01-01T10:00Z\n", "٢٠٢٤-01-01", "２０２４-01-01", "2024-01-01T1０:00Z",
        "2024-01-01T10:00 UTC", "2026-02-16 05:27:54 PST", "1786363200000", "'2024-01-01'", "2024-01-01 # new",
    ],
)  # fmt: skip
def test_anything_else_is_no_timestamp_and_never_a_wrong_instant(text: str) -> None:
    assert parse_timestamp(text) is None


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2026-08-01T12-30-45-123Z", parse_timestamp("2026-08-01T12:30:45.123Z")),
        ("2026-08-01T12-30-45-12Z", None),
        ("2026-08-01T12:30:45.123Z", None),
        ("2026-02-30T12-30-45-123Z", None),
        ("2026-08-01", None),
    ],
)
def test_a_run_id_is_a_timestamp_that_may_be_a_file_name(text: str, instant: int | None) -> None:
    assert parse_run_id(text) == instant


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("0", 0),
        ("1786363200000", 1_786_363_200_000),
        ("253402300799999", 253_402_300_799_999),
        ("253402300800000", None),
        ("9" * 5000, None),
        ("2024-01-01", DAY_OF_2024),
        ("-1", None),
        ("1e3", None),
        ("１", None),
        ("1_0", None),
        ("", None),
    ],
)
def test_a_clock_is_set_by_a_timestamp_or_by_plain_digits(text: str, instant: int | None) -> None:
    assert parse_instant(text) == instant


@pytest.mark.parametrize(("text", "alone"), [("2024-01-01", True), ("2024-01-01T00:00Z", False)])
def test_a_date_alone_has_no_time(text: str, *, alone: bool) -> None:
    assert is_date(text) is alone


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@given(st.datetimes(min_value=datetime(1, 1, 2), max_value=datetime(9999, 12, 30)), st.integers(-1439, 1439))  # noqa: DTZ001
def test_every_real_date_and_zone_is_the_instant_that_the_calendar_says(moment: datetime, zone: int) -> None:
    """They compare in whole milliseconds."""
    aware = moment.replace(tzinfo=timezone(timedelta(minutes=zone)))
    sign, (hours, minutes) = "-" if zone < 0 else "+", divmod(abs(zone), 60)
    text = f"{moment:%Y}".rjust(4, "0") + f"{moment:-%m-%dT%H:%M:%S.%f}{sign}{hours:02d}:{minutes:02d}"
    assert parse_timestamp(text) == (aware - EPOCH) // timedelta(milliseconds=1)


@given(st.integers(parse_timestamp("0001-01-01") or 0, 253_402_300_799_999))
def test_what_is_written_reads_back_as_the_same_instant(instant: int) -> None:
    """An instant is written as YYYY-MM-DDThh:mm:ss.mmmZ."""
    text = format_instant(instant)
    assert parse_timestamp(text) == instant
    assert len(text) == len("YYYY-MM-DDThh:mm:ss.mmmZ")


@given(st.integers(1, 9999), st.integers(0, 13), st.integers(0, 32))
def test_a_date_is_a_timestamp_exactly_if_it_is_in_the_calendar(year: int, month: int, day: int) -> None:
    """Real calendar dates from year 0001."""
    try:
        expected = (date(year, month, day) - date(1970, 1, 1)).days * DAY_MS
    except ValueError:
        expected = None
    assert parse_timestamp(f"{year:04d}-{month:02d}-{day:02d}") == expected
