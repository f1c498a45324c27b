"""Faults that people reported against tools of this kind, each as a small input and the right answer to it.

Every case departs from one memory in which all is well (`Recipe()`); each stands for its kind, so its neighbours are
tried along with it.
"""

import json
import os
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from support.damage import append
from support.health_tree import DAY, HOUR, MINUTE, NOW
from support.memories import (
    Log,
    Places,
    Recipe,
    RunFolder,
    ago,
    proposed,
    retrieved,
    reviewed,
    set_age,
    write,
    write_rows,
)
from support.nobody import as_nobody, give_to_nobody, open_folder, skip_where_modes_do_not_bind
from support.reports import statuses
from support.running import Run, run, run_process


@pytest.fixture
def memory(tmp_path: Path) -> Places:
    """A memory in which all is well."""
    return write(Recipe(), tmp_path)


def audited(places: Places, *options: str | Path, **variables: str) -> Run:
    arguments = ("--root", places.root, "--now", str(NOW), "--json", "--no-write", *options)
    return run(*arguments, environment=variables)


def message_of(answer: Run, finding_id: str) -> str:
    """The message and the evidence of the one finding of this id."""
    (finding,) = [finding for finding in answer.report["findings"] if finding["id"] == finding_id]
    return json.dumps([finding["message"], finding["evidence"]], ensure_ascii=False)


def test_the_memory_that_every_case_departs_from_is_green(memory: Places) -> None:
    answer = audited(memory)
    assert (answer.exit_code, answer.finding_ids, answer.report["overall"]) == (0, [], "ok")


class TestSwallowedReadErrors:
    """F01: evidence that cannot be read is neither healthy nor merely missing."""

    @pytest.mark.parametrize(
        ("place", "finding", "exit_code"),
        [
            ("reviewer_log", "reviewer-evidence-invalid", 2),
            ("retrieval_log", "retrieval-evidence-invalid", 1),
            ("proposal_queue", "proposal-evidence-malformed", 1),
            ("marker", "index-manifest-invalid", 2),
        ],
    )
    def test_a_folder_where_a_file_belongs_is_named(
        self, memory: Places, place: str, finding: str, exit_code: int
    ) -> None:
        path: Path = getattr(memory, place)
        path.unlink()
        path.mkdir()
        answer = audited(memory)
        assert answer.exit_code == exit_code
        assert finding in answer.finding_ids
        assert path.name in message_of(answer, finding)
        assert not [name for name in answer.finding_ids if name.endswith("-missing")]

    def test_a_file_where_the_run_folders_belong_is_named(self, memory: Places) -> None:
        (memory.observability / "reviewer-runs").write_text("x", encoding="utf-8")
        answer = audited(memory)
        assert (answer.exit_code, answer.finding_ids) == (2, ["reviewer-evidence-invalid"])
        assert "reviewer-runs" in message_of(answer, "reviewer-evidence-invalid")


class TestRunsThatDoNotEnd:
    """F03: a run may take its grace and not a millisecond more, whatever succeeded before it."""

    @pytest.mark.parametrize(
        ("age", "exit_code", "findings"),
        [
            (9 * MINUTE, 0, []),
            (10 * MINUTE, 0, []),
            (10 * MINUTE + 1, 2, ["reviewer-latest-timed-out"]),
            (10 * MINUTE + 1_000, 2, ["reviewer-latest-timed-out"]),
        ],
    )
    def test_exactly_the_grace_is_no_breach(
        self, tmp_path: Path, age: int, exit_code: int, findings: list[str]
    ) -> None:
        answer = audited(write(Recipe(run_folders=(RunFolder(age),)), tmp_path))
        assert (answer.exit_code, answer.finding_ids) == (exit_code, findings)

    def test_a_run_in_its_grace_does_not_hide_an_older_one_that_hangs(self, tmp_path: Path) -> None:
        places = write(Recipe(run_folders=(RunFolder(30 * MINUTE), RunFolder(MINUTE))), tmp_path)
        assert audited(places).finding_ids == ["reviewer-latest-timed-out"]


class TestThresholdParsing:
    """F08: what is no number above 0 is named and refused; the other checks go on with their defaults."""

    NO_NUMBERS = (
        "nan",
        "inf",
        "1e400",
        "-1",
        "0",
        "",
        "10MB",
        "0x10",
        "1_0",
        "１０",
        " 10 ",
        "Infinity",
        "+",
        "1e",
        ".5",
    )

    @pytest.mark.parametrize("value", NO_NUMBERS)
    @pytest.mark.parametrize(
        "variable",
        [
            "CORTEX_REVIEWER_STALE_MS", "CORTEX_REVIEWER_RUN_GRACE_MS", "CORTEX_RETRIEVAL_STALE_MS",
            "CORTEX_PROPOSAL_BACKLOG", "CORTEX_OBSERVABILITY_MAX_BYTES", "CORTEX_OBSERVABILITY_MAX_AGE_MS",
            "CORTEX_INDEX_STALE_MS",
        ],
    )  # fmt: skip
    def test_a_variable_that_is_no_number_is_critical_and_named(
        self, tmp_path: Path, variable: str, value: str
    ) -> None:
        answer = audited(write(Recipe(proposals=("pending",) * 11), tmp_path), **{variable: value})
        assert answer.exit_code == 2
        assert answer.finding_ids == ["cortex-threshold-invalid", "proposal-backlog-high"]
        assert variable in message_of(answer, "cortex-threshold-invalid")

    @pytest.mark.parametrize(
        ("value", "exit_code"), [("10", 1), ("11", 0), ("+11", 0), ("1.1e1", 0), ("10.5", 1), ("1e-3", 1)]
    )
    def test_a_number_is_taken_as_it_is(self, tmp_path: Path, value: str, exit_code: int) -> None:
        answer = audited(write(Recipe(proposals=("pending",) * 11), tmp_path), CORTEX_PROPOSAL_BACKLOG=value)
        assert answer.exit_code == exit_code
        threshold = answer.report["thresholds"]["proposal_backlog"]
        assert (threshold["value"], threshold["default"]) == (float(value), 10)
        assert threshold["source"] == "CORTEX_PROPOSAL_BACKLOG"


class TestClockSkew:
    """F09: a date ahead of the clock proves nothing, wherever it stands."""

    @pytest.mark.parametrize("ahead", [1, 1_000, DAY])
    def test_a_reviewer_row_from_the_future(self, memory: Places, ahead: int) -> None:
        write_rows(memory.reviewer_log, [reviewed(-ahead)])
        assert (audited(memory).exit_code, audited(memory).finding_ids) == (1, ["reviewer-future"])

    @pytest.mark.parametrize("ahead", [1, 1_000, DAY])
    def test_a_retrieval_from_the_future(self, memory: Places, ahead: int) -> None:
        write_rows(memory.retrieval_log, [retrieved(-ahead)])
        assert (audited(memory).exit_code, audited(memory).finding_ids) == (1, ["retrieval-future"])

    def test_an_index_from_the_future(self, tmp_path: Path) -> None:
        places = write(Recipe(index="manifest"), tmp_path)
        manifest = json.loads(places.manifest.read_text("utf-8"))
        places.manifest.write_text(json.dumps({**manifest, "indexed_at": ago(-HOUR)}), encoding="utf-8")
        assert (audited(places).exit_code, audited(places).finding_ids) == (1, ["index-freshness-invalid"])

    def test_a_run_folder_from_the_future(self, tmp_path: Path) -> None:
        answer = audited(write(Recipe(run_folders=(RunFolder(-DAY),)), tmp_path))
        assert (answer.exit_code, answer.finding_ids) == (1, ["reviewer-future"])

    def test_a_row_from_the_future_hides_no_run_that_hangs(self, tmp_path: Path) -> None:
        places = write(Recipe(reviewer=("ahead",), run_folders=(RunFolder(30 * MINUTE),)), tmp_path)
        assert (audited(places).exit_code, audited(places).finding_ids) == (2, ["reviewer-latest-timed-out"])

    def test_a_modification_time_from_the_future(self, memory: Places) -> None:
        set_age(memory.retrieval_log, -1)
        assert (audited(memory).exit_code, audited(memory).finding_ids) == (1, ["observability-future"])

    def test_now_itself_is_not_the_future(self, memory: Places) -> None:
        write_rows(memory.reviewer_log, [reviewed(0)], age=0)
        write_rows(memory.retrieval_log, [retrieved(0)], age=0)
        assert audited(memory).exit_code == 0


class TestTornAndConcatenatedLines:
    """F11: a torn line is never passed over to an older success, and its number is told."""

    TORN = b'{"ts":"2026-08-10T11:'

    @pytest.mark.parametrize(
        ("place", "finding", "exit_code"),
        [
            ("reviewer_log", "reviewer-latest-parse-failed", 2),
            ("retrieval_log", "retrieval-evidence-malformed", 1),
            ("proposal_queue", "proposal-evidence-malformed", 1),
        ],
    )
    @pytest.mark.parametrize(
        ("tail", "line"),
        [(TORN, 2), (TORN + b"{ROW}\n", 2), (b"\n" + TORN + b"\n{ROW}\n", 3), (b"{ROW}{ROW}\n", 2)],
        ids=["torn at the end", "torn, then a row on the same line", "torn in the middle", "two rows on a line"],
    )
    def test_the_line_is_named(
        self, memory: Places, place: str, finding: str, exit_code: int, tail: bytes, line: int
    ) -> None:
        path: Path = getattr(memory, place)
        row = path.read_bytes().rstrip(b"\n")
        append(tail.replace(b"{ROW}", row))(path)
        set_age(path, MINUTE)
        answer = audited(memory)
        assert (answer.exit_code, answer.finding_ids) == (exit_code, [finding])
        assert str(line) in message_of(answer, finding)


class TestNulPadding:
    """F13: the NULs that a crash leaves between rows are damage, not blank lines."""

    def test_in_the_retrieval_log(self, memory: Places) -> None:
        row = memory.retrieval_log.read_bytes()
        memory.retrieval_log.write_bytes(row + b"\0" * 300 + b"\n" + row)
        set_age(memory.retrieval_log, MINUTE)
        answer = audited(memory)
        assert (answer.exit_code, answer.finding_ids) == (1, ["retrieval-evidence-malformed"])
        assert "2" in message_of(answer, "retrieval-evidence-malformed")

    def test_at_the_end_of_a_note_under_an_adopted_index(self, tmp_path: Path) -> None:
        places = write(Recipe(index="manifest", notes=1), tmp_path)
        append(b"\0" * 4_096)(places.memory_root / "KNOWLEDGE" / "Ideas" / "n0.md")
        answer = audited(places)
        assert (answer.exit_code, answer.finding_ids) == (2, ["index-manifest-invalid"])
        assert "n0.md" in message_of(answer, "index-manifest-invalid")


class TestLineSplitting:
    """F14: LF ends a line, and nothing else does."""

    @pytest.mark.parametrize("character", ["\u2028", "\u2029", "\u0085"])
    def test_other_line_ends_of_unicode_split_no_row(self, memory: Places, character: str) -> None:
        row = f'{{"id":"p1","status":"pending","note":"x{character}y"}}\n'
        memory.proposal_queue.write_text(row, encoding="utf-8")
        set_age(memory.proposal_queue, MINUTE)
        answer = audited(memory)
        assert answer.exit_code == 0
        assert answer.report["evidence"]["proposals"]["pending"] == 1

    def test_a_lone_carriage_return_splits_no_row(self, memory: Places) -> None:
        memory.proposal_queue.write_bytes(b'{"id":"p1",\r"status":"pending"}\r\n\r\n')
        set_age(memory.proposal_queue, MINUTE)
        assert audited(memory).report["evidence"]["proposals"]["pending"] == 1


class TestCrashesThatLookLikeWarnings:
    """F16: what makes a JSON reader throw is malformed evidence; what still goes wrong is 2, never Python's own 1."""

    @pytest.mark.parametrize(
        "line",
        [b"[" * 100_000, b'{"ts":' * 100_000, b'{"x":' + b"1" * 5_000 + b"}", b'{"x":1e400}', b'{"x":NaN}', b"\xff"],
        ids=["brackets", "objects", "5,000 digits", "1e400", "NaN", "bad UTF-8"],
    )
    @pytest.mark.parametrize("last", [True, False], ids=["as the last row", "before the last row"])
    def test_a_row_that_breaks_readers(self, memory: Places, line: bytes, last: bool) -> None:
        row = memory.reviewer_log.read_bytes()
        memory.reviewer_log.write_bytes(row + line + b"\n" if last else line + b"\n" + row)
        set_age(memory.reviewer_log, MINUTE)
        answer = audited(memory)
        assert (answer.exit_code, answer.finding_ids, answer.stderr) == (2, ["reviewer-latest-parse-failed"], "")

    def test_closed_stdout(self, memory: Places) -> None:
        answer = run_process("--root", memory.root, "--now", str(NOW), "--json", before="exec >&-")
        assert answer.exit_code == 2
        assert len(answer.stderr.splitlines()) == 1
        assert "Traceback" not in answer.stderr


@pytest.fixture
def reachable() -> Iterator[Places]:
    """A memory in which all is well, which a user without rights reaches and owns."""
    with open_folder() as folder:
        skip_where_modes_do_not_bind(folder)
        root = folder / "root"
        root.mkdir()
        yield write(Recipe(), root)


class TestPartialMeasurements:
    """F16, F17: what this user may not read is said, and no figure without it is passed off as the whole."""

    @pytest.mark.parametrize("place", ["reviewer_log", "retrieval_log", "proposal_queue", "marker", "observability"])
    def test_what_may_not_be_read_is_never_ok(self, reachable: Places, place: str) -> None:
        give_to_nobody(reachable.root)
        path: Path = getattr(reachable, place)
        path.chmod(0)
        with as_nobody():
            answer = audited(reachable)
        assert answer.exit_code >= 1
        assert path.name in json.dumps(answer.report["findings"])
        assert not [name for name in answer.finding_ids if name.endswith("-missing")]

    def test_a_closed_folder_below_makes_the_bytes_incomplete(self, reachable: Places) -> None:
        log = reachable.observability / "sub" / "a.log"
        log.parent.mkdir()
        log.touch()
        os.truncate(log, 300 * 1024 * 1024)
        set_age(log, MINUTE)
        give_to_nobody(reachable.root)
        with as_nobody():
            assert audited(reachable).finding_ids == ["observability-bytes-exceeded"]
        log.parent.chmod(0)
        with as_nobody():
            answer = audited(reachable)
        assert (answer.exit_code, answer.finding_ids) == (1, ["observability-evidence-invalid"])
        assert "OBSERVABILITY/sub" in message_of(answer, "observability-evidence-invalid")
        assert "OBSERVABILITY/sub" in json.dumps(answer.report["evidence"]["observability"])


class TestForeignJunk:
    """F19: files that another system strews about change no check but the sum of bytes (hidden logs count)."""

    JUNK = b"\x00\x05\x16\x07\x00\x02\x00\x00Mac OS X\xb0"

    def test_it_is_neither_parsed_nor_fatal(self, tmp_path: Path) -> None:
        places = write(Recipe(index="manifest", notes=1), tmp_path)
        before = audited(places)
        for path in (
            places.memory_root / "KNOWLEDGE" / "Ideas" / "._n0.md",
            places.observability / "._memory-retrievals.jsonl",
            places.observability / "._reviewer-runs.jsonl",
        ):
            path.write_bytes(self.JUNK)
            set_age(path, MINUTE)
        after = audited(places)
        assert (before.exit_code, after.exit_code) == (0, 0)
        sizes = [answer.report["evidence"]["observability"]["size_bytes"] for answer in (before, after)]
        assert sizes[1] - sizes[0] == 2 * len(self.JUNK)
        assert statuses(after.report) == statuses(before.report)


class TestLineEndsAndByteOrderMarks:
    """F26: one log saved four ways is one log."""

    @pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "BOM"])
    @pytest.mark.parametrize("end", [b"\n", b"\r\n"], ids=["LF", "CRLF"])
    def test_all_logs(self, memory: Places, mark: bytes, end: bytes) -> None:
        for path in (memory.reviewer_log, memory.retrieval_log, memory.proposal_queue):
            path.write_bytes(mark + path.read_bytes().replace(b"\n", end) + end)
            set_age(path, MINUTE)
        assert (audited(memory).exit_code, audited(memory).finding_ids) == (0, [])

    def test_a_second_byte_order_mark_is_damage(self, memory: Places) -> None:
        memory.retrieval_log.write_bytes(b"\xef\xbb\xbf" * 2 + memory.retrieval_log.read_bytes())
        set_age(memory.retrieval_log, MINUTE)
        assert audited(memory).finding_ids == ["retrieval-evidence-malformed"]

    @pytest.mark.parametrize("place", ["marker", "manifest"])
    def test_it_makes_marker_and_manifest_invalid(self, tmp_path: Path, place: str) -> None:
        places = write(Recipe(index=place), tmp_path)
        path: Path = getattr(places, place)
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
        assert audited(places).finding_ids == ["index-manifest-invalid"]


class TestPublication:
    """F39: the metrics are replaced in one step, readable to their collector, or their failure is the verdict's."""

    def test_an_older_file_is_replaced_and_readable_under_umask_077(self, memory: Places, tmp_path: Path) -> None:
        textfile = tmp_path / "memory.prom"
        textfile.write_text("old", encoding="utf-8")
        textfile.chmod(0o600)
        arguments = ("--root", memory.root, "--now", str(NOW), "--no-write", "--textfile", textfile)
        assert run_process(*arguments, before="umask 077").exit_code == 0
        assert stat.S_IMODE(textfile.stat().st_mode) == 0o644
        assert "memory_health_status" in textfile.read_text("utf-8")
        assert sorted(path.name for path in tmp_path.iterdir()) == ["LIFEOS", "memory.prom"]

    def test_a_missing_folder_is_critical_and_the_verdict_is_still_printed(
        self, memory: Places, tmp_path: Path
    ) -> None:
        answer = audited(memory, "--textfile", tmp_path / "missing" / "memory.prom")
        assert (answer.exit_code, answer.finding_ids) == (2, ["textfile-write-failed"])
        assert not (tmp_path / "missing").exists()


class TestLabelEscaping:
    """F41: no name of a folder, a file or a memory breaks the metrics' text."""

    @pytest.mark.parametrize("name", ['a"b', "a\\b", "a\nb", 'a"\\\n}{,b', "grün", "a\\nb", " "])
    def test_names_come_back_as_they_were(self, tmp_path: Path, name: str) -> None:
        root = tmp_path / name
        root.mkdir()
        places = write(Recipe(logs=(Log(f"{name}.log", 3, 31 * DAY),)), root)
        textfile = tmp_path / "memory.prom"
        answer = audited(places, "--textfile", textfile, "--name", name)
        assert (answer.exit_code, answer.finding_ids) == (1, ["observability-age-exceeded"])
        families = list(text_string_to_metric_families(textfile.read_text("utf-8")))
        samples = [sample for family in families for sample in family.samples]
        assert {sample.labels["memory"] for sample in samples} == {name}
        plain = tmp_path / "plain.prom"
        audited(write(Recipe(), tmp_path), "--textfile", plain)
        expected = [family.name for family in text_string_to_metric_families(plain.read_text("utf-8"))]
        assert [family.name for family in families] == expected


def test_backlog_counts_the_exact_word_alone(tmp_path: Path) -> None:
    """F05, the part that a check can show: a status that is nearly `pending` is another status; none is a fault."""
    places = write(Recipe(), tmp_path)
    rows = [proposed(n, "pending") for n in range(10)]
    write_rows(places.proposal_queue, [*rows, proposed(11, "Pending"), proposed(12, "pending "), proposed(13, "sent")])
    assert audited(places).exit_code == 0
    write_rows(places.proposal_queue, [*rows, proposed(14, None)])
    assert audited(places).finding_ids == ["proposal-evidence-malformed"]
    write_rows(places.proposal_queue, [*rows, {"id": "p15"}])
    assert audited(places).finding_ids == ["proposal-evidence-malformed"]
    assert audited(places).report["evidence"]["proposals"]["pending"] == 10


def test_the_console_script_answers_as_the_function_does(memory: Places) -> None:
    """The cases above run in one process for speed; this one shows that nothing is lost by it."""
    in_process = audited(memory)
    process = run_process("--root", memory.root, "--now", str(NOW), "--json", "--no-write")
    assert process.exit_code == in_process.exit_code
    assert process.stdout == in_process.stdout


def test_standard_tools_find_no_other_file_changed(memory: Places) -> None:
    """With `--no-write` a run leaves the tree as it was, times of modification and all."""
    listing = ["find", str(memory.root), "-printf", "%p %m %s %T@ %l\n"]
    before = subprocess.run(listing, capture_output=True, check=True).stdout
    audited(memory)
    assert subprocess.run(listing, capture_output=True, check=True).stdout == before
