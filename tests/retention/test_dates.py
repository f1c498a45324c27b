"""`check --fix dates`: each form that dates have in the wild comes to its one instant, or nobody can know."""

import subprocess
from pathlib import Path

import pytest
from support.stores import NOW, OPERATOR, Memory, laid_out
from support.vaults import files

from cortex.retention.date_forms import Unknown, parse_zone, read_date

NEW_YORK = "America/New_York"


@pytest.mark.parametrize(
    ("text", "zone", "meant"),
    [
        # no zone
        ("2025-01-11T23:39:45", NEW_YORK, "2025-01-12T04:39:45.000Z"),
        ("2025-07-11T23:39:45", NEW_YORK, "2025-07-12T03:39:45.000Z"),
        ("2025-01-11T23:39", "+02:00", "2025-01-11T21:39:00.000Z"),
        ("2025-01-11T23:39:45", None, None),
        # a blank for the T
        ("2025-01-11 23:39:45", "UTC", "2025-01-11T23:39:45.000Z"),
        ("2025-01-11 23:39:45Z", None, "2025-01-11T23:39:45.000Z"),
        ("2025-01-11 23:39:45 +0530", None, "2025-01-11T18:09:45.000Z"),
        ("2025-01-11 23:39:45.123456+00:00", None, "2025-01-11T23:39:45.123Z"),
        ("2025-01-11 23:39:45 -08", None, "2025-01-12T07:39:45.000Z"),
        # epoch milliseconds
        ("1596374871110", None, "2020-08-02T13:27:51.110Z"),
        ("1596374871", None, None),
        ("20250111", None, None),
        # words for zones
        ("2025-01-11 23:39:45 PST", "America/Los_Angeles", "2025-01-12T07:39:45.000Z"),
        ("2025-07-11 23:39:45 PST", "America/Los_Angeles", None),
        ("2025-01-11 23:39:45 PST", NEW_YORK, None),
        ("2025-01-11 23:39:45 PST", None, None),
        ("2025-01-11 23:39:45 UTC", NEW_YORK, "2025-01-11T23:39:45.000Z"),
        ("Sat Jan 11 23:39:45 PST 2025", "America/Los_Angeles", "2025-01-12T07:39:45.000Z"),
        # English long forms
        ("January 11, 2025 11:39 PM", NEW_YORK, "2025-01-12T04:39:00.000Z"),
        ("January 11, 2025 at 11:39:45 p.m.", NEW_YORK, "2025-01-12T04:39:45.000Z"),
        ("11 January 2025", None, "2025-01-11"),
        ("Sat, 11 Jan 2025 23:39:45 -0500", None, "2025-01-12T04:39:45.000Z"),
        ("Sat Jan 11 2025 23:39:45 GMT-0500 (Eastern Standard Time)", None, "2025-01-12T04:39:45.000Z"),
        ("Sun, 11 Jan 2025 23:39:45 -0500", None, None),
        ("January 2025", None, None),
        ("Jan 11", None, None),
        ("2025年1月11日 23:39", "Asia/Shanghai", "2025-01-11T15:39:00.000Z"),
        # which comes first
        ("2025/1/9", None, "2025-01-09"),
        ("25/12/2025", None, None),
        ("12/25/2025", None, "2025-12-25"),
        ("03/04/2025", None, None),
        ("04/04/2025", None, "2025-04-04"),
        ("03/04/25", None, None),
        # hours that clocks passed over or showed twice
        ("2026-03-29T02:30:00", "Europe/Berlin", None),
        ("2026-10-25T02:30:00", "Europe/Berlin", None),
        ("2026-10-25T02:30:00 CEST", "Europe/Berlin", "2026-10-25T00:30:00.000Z"),
        ("2026-10-25T02:30:00 CET", "Europe/Berlin", "2026-10-25T01:30:00.000Z"),
        ("2026-10-25T03:00:00", "Europe/Berlin", "2026-10-25T02:00:00.000Z"),
        # no dates
        ("2025-02-30", None, None), ("2025-01-11T24:00:00Z", None, None), ("13:00 PM January 1 2025", "UTC", None),
        ("{{date}}", "UTC", None), ("soon", "UTC", None), ("", "UTC", None), ("0000-00-00", None, None),
        ("2025-01-11T10:00:00+99:00", None, None), ("5pm 11 Jan 2025", "UTC", None),
        ("9" * 400, None, None), ("1 " * 4000, None, None), ("Jan " * 2000 + "2025", None, None),
    ],
)  # fmt: skip
def test_a_form_comes_to_its_one_instant_or_nobody_can_know(text, zone, meant):
    read = read_date(text, parse_zone(zone) if zone else None, day_first=False)
    assert (None if isinstance(read, Unknown) else read) == meant, read


@pytest.mark.parametrize(
    ("text", "meant"),
    [("03/04/2025", "2025-04-03"), ("25.12.2025", "2025-12-25"), ("12/25/2025", None), ("2025-03-04", "2025-03-04"),
     ("3/4/2025 10:00Z", "2025-04-03T10:00:00.000Z"), ("March 4, 2025", "2025-03-04")],
)  # fmt: skip
def test_the_day_comes_first_where_that_is_said(text, meant):
    read = read_date(text, None, day_first=True)
    assert (None if isinstance(read, Unknown) else read) == meant, read


@pytest.mark.parametrize(
    "name", ["", "PST", "/etc/localtime", "../../etc/passwd", "Europe/Nowhere", "+25:00", "EST5EDT,M3"]
)
def test_what_is_no_zone_is_none(name):
    assert parse_zone(name) is None


NOTE = (
    b"---\r\ncreated: 2025-01-11 23:39:45   \r\n# a comment\r\nupdated: 'January 12, 2025 11:00 PM'\r\n"
    b"wake: 10:00\r\n---\r\nBody"
)


def test_only_the_lines_of_the_dates_change_and_undo_gives_them_back(tmp_path):
    memory = laid_out(tmp_path)
    path = memory.root / "KNOWLEDGE/a.md"
    path.write_bytes(NOTE)
    assert memory.call("check").refusal == (4, "integrity_error")
    preview = memory.call("check", "--fix", "dates", "--zone", "UTC", "--dry-run").data
    assert path.read_bytes() == NOTE
    done = memory.call("check", "--fix", "dates", "--zone", "UTC", *OPERATOR).data
    assert done["fixed"] == preview["fixed"]
    assert path.read_bytes() == (
        b"---\r\ncreated: 2025-01-11T23:39:45.000Z\r\n# a comment\r\nupdated: 2025-01-12T23:00:00.000Z\r\n"
        b"wake: 10:00\r\n---\r\nBody"
    )
    assert memory.call("check").exit == 0
    memory.call("undo", done["plan"], *OPERATOR)
    assert path.read_bytes() == NOTE


def test_a_comment_behind_a_date_is_no_part_of_it(tmp_path):
    memory = laid_out(tmp_path)
    path = memory.root / "KNOWLEDGE/a.md"
    path.write_bytes(b"---\ncreated: 2025-01-11 # about\n---\n")
    assert memory.call("check").exit == 4
    assert memory.call("check", "--fix", "dates", *OPERATOR).data["notes"] == 1
    assert path.read_bytes() == b"---\ncreated: 2025-01-11\n---\n"


@pytest.mark.parametrize(
    ("note", "reason"),
    [
        (b"---\ncreated: 03/04/2025\n---\n", "--day-first"),
        (b"---\ncreated: 2025-01-11 10:00\n---\n", "--zone"),
        (b"---\ntitle: A: B\ncreated: 1596374871110\n---\n", "left as it is"),
        (b"---\ncreated: soon\n---\n", "no date"),
    ],
)
def test_what_cannot_be_known_is_said_and_left_as_it_is(tmp_path, note, reason):
    memory = laid_out(tmp_path)
    path = memory.root / "KNOWLEDGE/a.md"
    path.write_bytes(note)
    data = memory.call("check", "--fix", "dates", *OPERATOR).data
    assert (data["notes"], path.read_bytes()) == (0, note)
    (unknown,) = data["unknown"]
    assert reason in unknown["reason"]


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        (("--fix", "dates"), (5, "write_refused")),
        (("--fix", "dates", "--operator", "ada"), (5, "write_refused")),
        (("--fix", "all", *OPERATOR), (4, "invalid_input")),
        (("--fix", "dates", "--zone", "PST", *OPERATOR), (4, "invalid_input")),
        (("--fix", "dates", "--list", *OPERATOR), (4, "invalid_input")),
        (("--zone", "UTC"), (4, "invalid_input")),
        (("--fix", "dates", *OPERATOR, "--adapter", "claude"), (5, "write_refused")),
    ],
)
def test_it_is_an_operators_act(tmp_path, words, refusal):
    assert laid_out(tmp_path).call("check", *words).refusal == refusal


def test_a_real_memory_keeps_only_the_faults_that_are_no_dates(tmp_path):
    archive = Path(__file__).parent.parent / "data/real-memory.tar.gz"
    subprocess.run(["tar", "xzf", archive, "-C", tmp_path], check=True)
    memory = Memory(tmp_path / "LIFEOS/MEMORY", tmp_path / "LIFEOS", NOW)
    before = files(memory.root)
    assert memory.call("check", "--list").data["by_kind"]["timestamp"] == 1900
    data = memory.call("check", "--fix", "dates", *OPERATOR).data
    assert data["unknown"] == []
    left = memory.call("check", "--list").data
    assert left["by_kind"] == {"control-character": 6, "duplicate-id": 1, "order-of-times": 4}
    after = files(memory.root)
    for name, data in before.items():
        changed = [line for line in data.split(b"\n") if line not in after[name].split(b"\n")]
        assert all(line.startswith((b"created:", b"updated:")) for line in changed), name
        assert data.count(b"\n") == after[name].count(b"\n")
