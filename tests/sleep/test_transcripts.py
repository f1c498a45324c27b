"""Reading transcripts: the counts of a naive second counter, every odd shape, cursors, and bounded memory."""

import json
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cortex.errors import CortexError
from cortex.sleep.patterns import Event, extract_patterns
from cortex.sleep.records import records_of
from cortex.sleep.transcripts import Seen, find_transcripts, read_transcripts

FIXTURE = sorted((Path(__file__).parent.parent / "data" / "transcripts").glob("*.jsonl"))
BUFFER = 400
NOW = 1_786_363_200_000
REJECTED = "The user doesn't want to proceed with this tool use. The tool use was rejected"


# A second counter: everything at once in memory, no cursors, no shortcuts.


def naive(paths: list[Path]) -> dict[str, int]:
    malformed = repeated = 0
    uuids, calls, results = set(), {}, {}
    for path in paths:
        for line in path.read_bytes().split(b"\n"):
            if not line.strip():
                continue
            objects, is_one = naive_objects(line)
            malformed += not is_one
            for record in objects:
                if record.get("uuid") in uuids:
                    repeated += 1
                    continue
                uuids |= {record["uuid"]} if "uuid" in record else set()
                for block in naive_blocks(record):
                    held, key = (calls, "id") if block["type"] == "tool_use" else (results, "tool_use_id")
                    repeated += block[key] in held
                    held.setdefault(block[key], block)
    outcomes = [naive_outcome(results[name]) for name in calls if name in results]
    return {
        "calls": len(calls),
        "successes": outcomes.count("success"),
        "failures": outcomes.count("failure"),
        "declined": outcomes.count("declined"),
        "unpaired": len(calls.keys() ^ results.keys()),
        "malformed": malformed,
        "repeated": repeated,
    }


def naive_objects(line: bytes) -> tuple[list[dict], bool]:
    text, found = line.decode().strip(), []
    while text:
        try:
            value, end = json.JSONDecoder().raw_decode(text)
        except ValueError:
            return found, False
        found.append(value)
        text = text[end:].strip()
    return found, len(found) == 1


def naive_blocks(record: dict) -> list[dict]:
    wanted = {"assistant": "tool_use", "user": "tool_result"}.get(record.get("type"))
    content = record.get("message", {}).get("content")
    return [block for block in content if block["type"] == wanted] if isinstance(content, list) else []


def naive_outcome(block: dict) -> str:
    if not block.get("is_error"):
        return "success"
    text = block["content"] if isinstance(block["content"], str) else block["content"][0]["text"]
    prefixes = (
        "The user doesn't want to proceed",
        "<tool_use_error>Sibling tool call errored",
        "<tool_use_error>Cancelled",
    )
    return "declined" if text.startswith(prefixes) else "failure"


def counts(paths: list[Path], seen: Seen | None = None) -> dict[str, int]:
    reading = read_transcripts([str(path) for path in paths], seen or Seen(), BUFFER)
    return {key: getattr(reading.counts, key) for key in naive([])}


@pytest.mark.parametrize("path", FIXTURE, ids=lambda path: path.stem)
def test_each_real_session_counts_as_the_naive_counter_says(path: Path):
    assert counts([path]) == naive([path])


def test_all_real_sessions_together_count_as_the_naive_counter_says():
    together = counts(FIXTURE)

    assert together == naive(FIXTURE)
    assert together == {
        "calls": 616,
        "successes": 542,
        "failures": 55,
        "declined": 19,
        "unpaired": 0,
        "malformed": 172,
        "repeated": 313,
    }


def test_a_resumed_session_is_not_counted_twice():
    by_name = {path.stem: path for path in FIXTURE}
    for first, resumed in (("session-07", "session-08"), ("session-09", "session-11")):
        both = counts([by_name[first], by_name[resumed]])
        assert both == naive([by_name[first], by_name[resumed]])
        assert both["calls"] < counts([by_name[first]])["calls"] + counts([by_name[resumed]])["calls"]


def test_a_second_run_adds_nothing():
    paths = [str(path) for path in FIXTURE]
    first = read_transcripts(paths, Seen(), BUFFER)

    second = read_transcripts(paths, first.seen, BUFFER)

    assert second.events == []
    assert second.counts == type(second.counts)()
    assert second.seen == first.seen
    assert second.sessions == first.sessions
    assert len(first.seen.closed) == BUFFER


# Records made for the cases below.


def said(kind: str, blocks: object, at: int = 0, uuid: str | None = None, **more) -> dict:
    stamp = f"2026-08-10T11:{at // 60:02d}:{at % 60:02d}.000Z"
    return {"type": kind, "uuid": uuid or f"u-{kind}-{at}", "timestamp": stamp, "message": {"content": blocks}, **more}


def call(name: str, at: int = 0, tool: str = "Bash", **more) -> dict:
    return said("assistant", [{"type": "tool_use", "id": name, "name": tool, "input": {}}], at, f"c-{name}", **more)


def result(name: str, at: int = 1, error: object = None, flag: bool | None = None, **more) -> dict:
    block = {"type": "tool_result", "tool_use_id": name, "content": "fine" if error is None else error}
    is_error = error is not None if flag is None else flag
    return said("user", [block | ({"is_error": True} if is_error else {})], at, f"r-{name}", **more)


def failing(name: str, at: int, error: str = "Exit code 1", tool: str = "X") -> list[dict]:
    return [call(name, at, tool), result(name, at + 1, error)]


def write(path: Path, *records: object, end: str = "\n") -> Path:
    lines = [line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in records]
    path.write_bytes(("\n".join(lines) + end).encode("utf-8", "surrogatepass"))
    return path


def read(*paths: Path, seen: Seen | None = None):
    return read_transcripts([str(path) for path in paths], seen or Seen(), BUFFER)


MINUTES_11 = 1_786_359_600_000  # 2026-08-10T11:00:00Z


def test_a_call_and_its_result_are_one_event(tmp_path: Path):
    reading = read(write(tmp_path / "a.jsonl", call("1", 10), result("1", 13)))

    assert reading.events == [Event(MINUTES_11 + 13_000, "Bash", ok=True, ms=3000)]
    assert reading.step == MINUTES_11 + 13_000
    assert reading.newest == str(tmp_path / "a.jsonl")


@pytest.mark.parametrize(
    ("content", "flag", "outcome"),
    [
        ("0 errors, 1 failure, error: nothing", False, (1, 0, 0)),
        ("all is well", True, (0, 1, 0)),
        ("Exit code 1", True, (0, 1, 0)),
        ([{"type": "text", "text": "Exit code 1"}], True, (0, 1, 0)),
        (None, True, (0, 1, 0)),
        (REJECTED, True, (0, 0, 1)),
        ([{"type": "text", "text": REJECTED}], True, (0, 0, 1)),
        (REJECTED, False, (1, 0, 0)),
        (f" {REJECTED}", True, (0, 1, 0)),
        ("<tool_use_error>Sibling tool call errored</tool_use_error>", True, (0, 0, 1)),
        ("<tool_use_error>Cancelled: parallel tool call</tool_use_error>", True, (0, 0, 1)),
        ("<tool_use_error>File does not exist.</tool_use_error>", True, (0, 1, 0)),
    ],
)
def test_only_the_flag_decides_success_and_only_three_prefixes_are_read(tmp_path, content, flag, outcome):
    answer = result("1", 1, flag=flag)
    answer["message"]["content"][0]["content"] = content

    found = read(write(tmp_path / "a.jsonl", call("1"), answer)).counts

    assert (found.successes, found.failures, found.declined) == outcome


def test_three_declined_calls_make_no_pitfall_and_three_failures_make_one(tmp_path: Path):
    declined = [record for n in range(3) for record in failing(f"d{n}", n * 10, REJECTED, "Bash")]
    failed = [record for n in range(3) for record in failing(f"f{n}", 100 + n * 10, "Exit code 1", "Bash")]

    first = read(write(tmp_path / "declined.jsonl", *declined))
    second = read(write(tmp_path / "failed.jsonl", *failed))

    assert (first.counts.declined, first.events) == (3, [])
    assert len(extract_patterns(second.events, 0, NOW).pitfalls) == 1


def test_a_copied_session_with_one_more_failure_has_four_failures_and_a_second_run_none(tmp_path: Path):
    three = [record for n in range(3) for record in failing(f"f{n}", n * 10)]
    a = write(tmp_path / "a.jsonl", *three)
    b = write(tmp_path / "b.jsonl", *three, *failing("f3", 40))

    first = read(a, b)
    again = read(a, b, seen=first.seen)

    assert first.counts.failures == 4
    assert first.counts.repeated == 6
    assert again.events == []
    # The same over runs, where only the ids of calls are known.
    assert [read(b, seen=read(a).seen).counts.failures, read(a, seen=read(b).seen).counts.failures] == [1, 0]


def test_a_call_and_a_result_count_once_by_their_id_whatever_their_record(tmp_path: Path):
    again = [call("1", 5) | {"uuid": "other"}, result("1", 6) | {"uuid": "another"}]

    reading = read(write(tmp_path / "a.jsonl", call("1"), result("1"), *again))

    assert (reading.counts.calls, reading.counts.repeated, reading.counts.unpaired) == (1, 2, 0)
    assert len(reading.events) == 1


def test_a_result_may_stand_before_its_call_and_in_another_file(tmp_path: Path):
    a = write(tmp_path / "a.jsonl", result("1", 5), call("1", 2), call("2", 6))
    b = write(tmp_path / "b.jsonl", result("2", 9))

    reading = read(a, b)

    assert [event.ms for event in reading.events] == [3000, 3000]
    assert reading.counts.unpaired == 0


def test_a_call_that_is_answered_after_the_run_is_finished_by_the_next_one(tmp_path: Path):
    path = write(tmp_path / "a.jsonl", call("1", 2))
    first = read(path)
    with path.open("a") as file:
        file.write(json.dumps(result("1", 8)) + "\n")

    second = read(path, seen=first.seen)

    assert (first.counts.calls, first.counts.unpaired) == (1, 1)
    assert (second.counts.calls, second.counts.unpaired, second.counts.successes) == (0, 0, 1)
    assert [event.ms for event in second.events] == [6000]


def test_what_lacks_its_partner_is_counted_and_never_guessed(tmp_path: Path):
    reading = read(write(tmp_path / "a.jsonl", call("1"), result("2"), call("3"), result("3")))

    assert reading.counts.unpaired == 2
    assert len(reading.events) == 1


def test_events_are_in_the_order_of_time_then_of_reading(tmp_path: Path):
    path = write(
        tmp_path / "a.jsonl",
        *failing("1", 50, tool="late"),
        *failing("2", 10, tool="early"),
        *failing("3", 50, tool="late too"),
    )
    assert [event.tool for event in read(path).events] == ["early", "late", "late too"]


def test_calls_without_a_time_are_counted_and_give_no_event(tmp_path: Path):
    path = write(tmp_path / "a.jsonl", call("1") | {"timestamp": "soon"}, result("1") | {"timestamp": None})

    reading = read(path)

    assert (reading.counts.successes, reading.counts.undated, reading.events, reading.step) == (1, 1, [], None)


@pytest.mark.parametrize(
    ("line", "malformed", "failures"),
    [
        ('{"ts":"2026-08-10T11:' + json.dumps(call("9")), 1, 0),  # torn, then a whole one
        ('{"ts":12,' + json.dumps(result("9", 1, "no")), 1, 0),
        (json.dumps(call("9")) + json.dumps(result("9", 1, "no")), 1, 1),  # glued
        (json.dumps(call("9")) + " " + json.dumps(result("9", 1, "no")), 1, 1),
        (json.dumps(call("9")) + "\0" * 300, 1, 0),
        ("\0" * 300, 1, 0),
        ("[1]", 1, 0),
        ('"text"', 1, 0),
        ("{" * 100_000, 1, 0),
        ("[" * 100_000, 1, 0),
        ('{"n":' + "9" * 5000 + "}", 0, 0),
        ('{"n":' + "9" * 5000 + "}" + "{}", 1, 0),
        ('{"type":"user","message":"\udc80"}', 1, 0),
        ("", 0, 0),
        ("  \r", 0, 0),
        ('{"type":"user","message":7,"uuid":8,"timestamp":[],"sessionId":{}}', 0, 0),
        ('{"type":"assistant","message":{"content":["text",{"type":"tool_use"},null]}}', 0, 0),
        ('{"type":["user"],"message":{"content":{}}}', 0, 0),
        ('{"x":"\\ud83d"}', 0, 0),
    ],
)
def test_whatever_a_line_holds_the_rest_is_used(tmp_path: Path, line: str, malformed: int, failures: int):
    path = write(tmp_path / "a.jsonl", *failing("1", 1), line, *failing("2", 5))

    found = read(path).counts

    assert (found.malformed, found.failures) == (malformed, 2 + failures)


@pytest.mark.parametrize("torn", ['{"ts":"2026-08-10T11:', '{"a":1,', '{"a":[1', '{"a":tr', '{"a', "{", '{"a":"x\\'])
def test_an_object_appended_to_a_torn_one_is_used(torn: str):
    whole = json.dumps(call("9"))
    block = records_of(f"{torn}{whole}\n".encode())

    assert block.malformed == 1
    assert [record.uuid for record in block.records] == ["c-9"]


def test_an_object_over_two_lines_is_not_evened_out_by_two_on_one_line():
    block = records_of(b'{"type":"user",\n"x":1}\n{"type":"a"}{"type":"b"}\n')

    assert block.malformed == 3
    assert [record.type for record in block.records] == ["a", "b"]


def test_an_object_inside_a_cut_one_is_no_record():
    cut = json.dumps({"type": "progress", "data": {"message": call("9")}})[:-1]
    for end in range(len(cut) - 1):
        assert records_of(cut[:end].encode()).records == []


JSON = st.sampled_from([None, True, 7, 1.5, "text", "}\n{", [], ["a"], [{}], {}, {"type": "tool_use", "id": 1}])
OBJECTS = st.fixed_dictionaries(
    {"type": st.sampled_from(["user", "assistant", "x"]) | JSON},
    optional={"uuid": JSON, "message": JSON | JSON.map(lambda content: {"content": content})},
)


@given(st.lists(st.tuples(OBJECTS, st.sampled_from(["\n", "\r\n", "\n\n", " \n", "", " "])), max_size=8))
def test_all_at_once_and_line_by_line_agree(lines):
    """One object a line is sound, anything else is malformed, and whatever parses is used."""
    text = "".join(json.dumps(members) + end for members, end in lines)

    block = records_of(text.encode())

    assert len(block.records) == len(lines)
    assert block.malformed == sum(len(naive_objects(line.encode())[0]) > 1 for line in text.split("\n"))
    kinds = [members["type"] if isinstance(members["type"], str) else "" for members, _ in lines]
    assert [record.type for record in block.records] == kinds


def test_only_a_line_feed_ends_a_line_and_private_text_over_other_breaks_is_gone(tmp_path: Path):
    error = "before <private>a\u2028s3cret\u0085b</private> after <private>s3cret"
    records = [record for n in range(3) for record in failing(f"{n}", n * 9, error, "<private>s3cret</private>Bash")]

    reading = read(write(tmp_path / "a.jsonl", *records))

    assert reading.counts.malformed == 0
    assert {event.err for event in reading.events} == {"before  after "}
    assert {event.tool for event in reading.events} == {"Bash"}
    assert "s3cret" not in repr(reading)


def test_ids_and_sessions_are_kept_as_fingerprints(tmp_path: Path):
    path = write(tmp_path / "a.jsonl", call("s3cret-1", sessionId="s3cret"), result("s3cret-1"), call("s3cret-2"))
    reading = read(path)

    assert (len(reading.seen.closed), len(reading.seen.waiting), len(reading.sessions)) == (1, 1, 1)
    assert "s3cret" not in repr(reading)


def test_an_error_is_cut_at_240_characters_after_stripping(tmp_path: Path):
    path = write(tmp_path / "a.jsonl", *failing("1", 1, "<private>" + "x" * 500 + "</private>" + "词" * 300))
    assert read(path).events[0].err == "词" * 240


def test_recalled_text_is_never_learned_again(tmp_path: Path):
    error = "no <recalled-memory>pitfall: bash</recalled-memory>such file<recalled-memory>cut"
    path = write(tmp_path / "a.jsonl", *failing("1", 1, error))
    assert read(path).events[0].err == "no such file"


def test_taking_recalled_text_out_opens_no_private_text(tmp_path: Path):
    errors = [
        "a <recalled-memory><private>b</recalled-memory>s3cret</private>",
        "a <priv<recalled-memory>b</recalled-memory>ate>s3cret",
    ]
    for error in errors:
        assert "s3cret" not in (read(write(tmp_path / "a.jsonl", *failing("1", 1, error))).events[0].err or "")


def test_rows_of_the_five_fields_are_events(tmp_path: Path):
    path = write(
        tmp_path / "a.jsonl",
        {"t": NOW, "tool": "calc", "ok": False, "ms": 2.5, "err": "E<private>s3cret</private>"},
        {"t": NOW - 1, "tool": "calc", "ok": True, "ms": None, "err": None},
        {"t": "soon", "tool": "calc", "ok": True},
        {"t": NOW, "tool": "", "ok": True},
        {"t": NOW, "tool": "calc", "ok": 1},
        {"t": 1e300, "tool": "calc", "ok": True},
        {"t": NOW, "tool": "calc", "ok": True, "ms": -1},
    )

    reading = read(path)

    assert reading.events == [
        Event(NOW - 1, "calc", ok=True),
        Event(NOW, "calc", ok=False, ms=2.5, err="E"),
        Event(NOW, "calc", ok=True),
    ]
    assert reading.counts.unknown_types == 4
    assert read(path, seen=reading.seen).events == []


def test_unknown_types_are_passed_over_and_counted(tmp_path: Path):
    path = write(tmp_path / "a.jsonl", {"type": "hologram"}, {"type": "summary"}, {"type": "mode"}, {})
    assert read(path).counts.unknown_types == 2


def test_a_line_past_the_limit_is_counted_and_the_rest_is_used(tmp_path: Path, monkeypatch):
    monkeypatch.setattr("cortex.sleep.lines.ROW_MAX_BYTES", 5000)
    monkeypatch.setattr("cortex.sleep.lines.BLOCK_BYTES", 512)
    path = write(tmp_path / "a.jsonl", *failing("1", 1), "x" * 20_000, *failing("2", 5), "y" * 20_000, *failing("3", 9))

    reading = read(path)

    assert (reading.counts.failures, reading.counts.malformed) == (3, 2)
    assert read(path, seen=reading.seen).counts.malformed == 0


@pytest.mark.parametrize("block", [1, 7, 100, 1000])
def test_blocks_of_any_size_give_the_same(monkeypatch, block: int):
    path = FIXTURE[0]
    whole = read(path)
    monkeypatch.setattr("cortex.sleep.lines.BLOCK_BYTES", block)
    assert read(path) == whole


def test_a_line_of_two_megabytes_is_used(tmp_path: Path):
    image = [{"type": "image", "source": {"type": "base64", "data": "iVBORw0K" * 250_000}}]
    records = [call("1"), result("1", 1, error=image, flag=False), call("2"), result("2", 1, error=image)]

    found = read(write(tmp_path / "a.jsonl", *records))

    assert (found.counts.successes, found.counts.failures, found.counts.malformed) == (1, 1, 0)
    assert found.events[1].err == ""


# Cursors.


def test_a_last_line_that_is_cut_waits_until_it_is_whole(tmp_path: Path):
    line = json.dumps(result("1", 3, "no"))
    path = write(tmp_path / "a.jsonl", call("1"), line[:40], end="")

    first = read(path)
    same = read(path, seen=first.seen)
    with path.open("a") as file:
        file.write(line[40:] + "\n")
    second = read(path, seen=same.seen)

    assert (first.counts.malformed, same.counts.malformed, second.counts.malformed) == (1, 0, 0)
    assert (first.counts.failures, second.counts.failures) == (0, 1)


def test_a_last_line_that_lacks_its_end_alone_is_used_once(tmp_path: Path):
    path = write(tmp_path / "a.jsonl", *failing("1", 1), end="")
    first = read(path)
    with path.open("a") as file:
        file.write("\n" + json.dumps(call("2")) + "\n")
    second = read(path, seen=first.seen)

    assert (first.counts.failures, first.counts.malformed) == (1, 0)
    assert (second.counts.records, second.counts.malformed, second.counts.repeated) == (1, 0, 0)


def test_a_file_that_only_grew_is_read_from_its_cursor(tmp_path: Path):
    path = write(tmp_path / "a.jsonl", *failing("1", 1))
    first = read(path)
    with path.open("a") as file:
        file.writelines(json.dumps(record) + "\n" for record in failing("2", 5))

    second = read(path, seen=first.seen)

    assert second.counts.records == 2
    assert second.counts.failures == 1


@pytest.mark.parametrize("how", ["shrinks", "is replaced", "is rewritten"])
def test_a_file_that_is_another_now_is_read_anew(tmp_path: Path, how: str):
    path = write(tmp_path / "a.jsonl", *failing("1", 1), *failing("2", 5))
    seen = read(path).seen
    new = [*failing("3", 9), {"type": "mode", "padding": "x" * 2000}]
    if how == "shrinks":
        write(path, *new[:2])
    elif how == "is replaced":
        write(tmp_path / "b.jsonl", *new).replace(path)
    else:
        write(path, *new)

    assert read(path, seen=seen).counts.failures == 1


def test_a_file_that_shrank_is_read_anew_although_it_begins_as_before(tmp_path: Path):
    head = {"type": "mode", "padding": "x" * 5000}
    path = write(tmp_path / "a.jsonl", head, *failing("1", 1), *failing("2", 5))
    seen = read(path).seen
    write(path, head, *failing("3", 9))

    assert read(path, seen=seen).counts.failures == 1


def test_a_file_that_is_read_anew_gives_no_call_twice(tmp_path: Path):
    path = write(tmp_path / "a.jsonl", *failing("1", 1), *failing("2", 5))
    seen = read(path).seen
    shutil.copy(path, tmp_path / "b.jsonl")
    (tmp_path / "b.jsonl").replace(path)

    again = read(path, seen=seen)

    assert (again.events, again.counts.repeated, again.counts.records) == ([], 4, 4)


def test_a_renamed_file_and_a_second_name_are_the_same_file(tmp_path: Path):
    path = write(tmp_path / "a.jsonl", *failing("1", 1))
    os.link(path, tmp_path / "b.jsonl")
    first = read(path, tmp_path / "b.jsonl")
    path.rename(tmp_path / "c.jsonl")

    assert first.counts.records == 2
    assert read(tmp_path / "c.jsonl", seen=first.seen).counts.records == 0


# Finding the files.


def test_transcripts_are_found_below_a_folder_in_order_without_companions_and_links(tmp_path: Path):
    for name in ("b.jsonl", "a/x.jsonl", "a/._x.jsonl", "a/notes.md", "c/deep/y.jsonl"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("{}\n")
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "b.jsonl")
    (tmp_path / "loop").symlink_to(tmp_path)

    found = find_transcripts([str(tmp_path), str(tmp_path / "a")], named=True)

    assert [str(Path(name).relative_to(tmp_path)) for name in found.files] == ["a/x.jsonl", "b.jsonl", "c/deep/y.jsonl"]
    assert found.without == ()


def test_a_named_path_that_is_missing_is_not_found_and_a_configured_one_is_said(tmp_path: Path):
    missing = str(tmp_path / "gone")
    (tmp_path / "empty").mkdir()
    os.mkfifo(tmp_path / "fifo")

    with pytest.raises(CortexError) as refused:
        find_transcripts([missing], named=True)
    assert refused.value.code == "not_found"
    with pytest.raises(CortexError) as refused:
        find_transcripts([str(tmp_path / "fifo")], named=True)
    assert refused.value.code == "invalid_input"

    configured = find_transcripts([missing, str(tmp_path / "empty")], named=False)
    assert configured == ((), (missing, str(tmp_path / "empty")))


def test_what_cannot_be_read_is_named_and_the_rest_is_used(tmp_path: Path):
    os.mkfifo(tmp_path / "fifo.jsonl")
    good = write(tmp_path / "z.jsonl", *failing("1", 1))

    reading = read(tmp_path / "fifo.jsonl", tmp_path / "gone.jsonl", good)

    assert [unreadable.path for unreadable in reading.unreadable] == [
        str(tmp_path / "fifo.jsonl"),
        str(tmp_path / "gone.jsonl"),
    ]
    assert reading.unreadable[0].reason == "is a FIFO"
    assert reading.counts.failures == 1
