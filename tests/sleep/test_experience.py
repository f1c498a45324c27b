"""Merging transcripts, tool logs and generic rows into one experience."""

import json
from pathlib import Path

import pytest

from cortex.sleep.experience import Experience, Sources, gather, merge
from cortex.sleep.patterns import Event
from cortex.sleep.transcripts import Seen

NOW = 1_786_363_200_000  # 2026-08-10T12:00:00Z
BUFFER = 400


def row(second: int, tool: str = "Bash", session: str = "s1", **more) -> dict:
    return {"timestamp": f"2026-08-10T12:00:{second:02d}.000Z", "tool_name": tool, "session_id": session, **more}


def write(path: Path, *rows: dict | str) -> str:
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in rows))
    return str(path)


def gathered(
    sources: Sources, seen: Seen | None = None, before: list[Event] | None = None, mark: int = 0, most: int = BUFFER
) -> Experience:
    return gather(sources, seen or Seen(), before or [], mark, most)


def test_rows_of_the_logs_are_successes_and_failures_in_time_order(tmp_path: Path):
    activity = write(tmp_path / "tool-activity.jsonl", row(1), row(5, "Edit"))
    failures = write(tmp_path / "tool-failures.jsonl", row(3, error="E <private>s3cret</private>"), row(4))

    experience = gathered(Sources((), activity, failures))

    assert experience.events == [
        Event(NOW + 1000, "Bash", ok=True),
        Event(NOW + 3000, "Bash", ok=False, err="E "),
        Event(NOW + 4000, "Bash", ok=False, err=""),
        Event(NOW + 5000, "Edit", ok=True),
    ]
    assert (experience.fresh, experience.logs.taken) == (4, 4)


def test_a_second_run_adds_nothing_and_keeps_what_there_was(tmp_path: Path):
    sources = Sources((), write(tmp_path / "a.jsonl", row(1)), write(tmp_path / "f.jsonl", row(2)))
    first = gathered(sources)

    second = gathered(sources, first.seen, first.events)

    assert second.fresh == 0
    assert second.events == first.events
    assert second.seen == first.seen


def test_a_session_that_has_a_transcript_is_taken_from_it_alone_in_later_runs_too(tmp_path: Path):
    said = {"type": "user", "uuid": "u", "sessionId": "s1", "timestamp": "2026-08-10T12:00:00.000Z"}
    transcript = write(tmp_path / "t.jsonl", said)
    activity = write(tmp_path / "a.jsonl", row(1), row(2, session="s2"), row(3, session=None))
    first = gathered(Sources((transcript,), activity))
    write(tmp_path / "a.jsonl", row(1), row(2, session="s2"), row(3, session=None), row(4), row(5, session="s2"))

    second = gathered(Sources((transcript,), activity), first.seen, first.events)

    assert [event.t - NOW for event in first.events] == [2000, 3000]
    assert [event.t - NOW for event in second.events] == [2000, 3000, 5000]
    assert (first.logs.in_transcript, second.logs.in_transcript) == (1, 1)


def test_rows_not_newer_than_the_mark_are_old_however_the_log_was_rotated(tmp_path: Path):
    activity = write(tmp_path / "a.jsonl", row(1), row(2))
    seen = gathered(Sources((), activity)).seen
    (tmp_path / "a.jsonl").unlink()
    write(tmp_path / "a.jsonl", row(2), row(3))

    experience = gathered(Sources((), activity), seen, mark=NOW + 2000)

    assert [event.t for event in experience.events] == [NOW + 3000]
    assert experience.logs.old == 1


@pytest.mark.parametrize(
    "line",
    ['{"timestamp":"2026-08-10T11:', "\0" * 300, "[]", '{"tool_name":"Bash"}', json.dumps(row(1, tool=""))],
)
def test_a_malformed_row_is_counted_and_the_rest_is_used(tmp_path: Path, line: str):
    experience = gathered(Sources((), write(tmp_path / "a.jsonl", row(1), line, row(2))))

    assert (experience.logs.malformed, experience.logs.taken) == (1, 2)


def test_a_row_of_odd_fields_is_taken_as_far_as_it_goes(tmp_path: Path):
    failures = write(tmp_path / "f.jsonl", row(1, error={"message": "no"}, session=7), row(2, type=3, ok="yes"))

    assert [event.err for event in gathered(Sources((), None, failures)).events] == ["", ""]


def test_a_log_that_is_missing_holds_nothing_and_one_that_cannot_be_read_is_named(tmp_path: Path):
    (tmp_path / "folder").mkdir()

    experience = gathered(Sources((), str(tmp_path / "gone"), str(tmp_path / "folder")))

    assert experience.events == []
    assert experience.unreadable == ((str(tmp_path / "folder"), "is a folder"),)


def test_transcripts_logs_and_generic_rows_are_merged_and_the_newest_kept(tmp_path: Path):
    generic = write(tmp_path / "g.jsonl", *({"t": NOW + n, "tool": "calc", "ok": True, "ms": 1} for n in range(9)))
    activity = write(tmp_path / "a.jsonl", *(row(0) for _ in range(9)), row(1))
    before = [Event(NOW - 1, "old", ok=True), Event(NOW + 5, "kept", ok=True)]

    experience = gathered(Sources((generic,), activity), before=before, most=6)

    assert [(event.t - NOW, event.tool) for event in experience.events] == [
        *((5, "kept"), (5, "calc"), (6, "calc"), (7, "calc"), (8, "calc"), (1000, "Bash"))
    ]
    assert experience.fresh == 19


def test_equal_times_keep_the_order_of_the_sources():
    first, second = Event(NOW, "a", ok=True), Event(NOW, "b", ok=True)
    assert merge([first], [second], buffer_max=2) == [first, second]
    assert merge([second], [first], buffer_max=1) == [first]
