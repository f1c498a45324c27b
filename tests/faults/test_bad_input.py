"""Bad input: one clear finding or usage message each, the right exit code, nothing created, never a traceback."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from support.health_tree import HOUR, MINUTE, NOW
from support.memories import Places, Recipe, reviewed, set_age, write, write_rows
from support.reports import checked_report, statuses
from support.running import Run, run, run_measured, run_process
from support.trees import fingerprint

PLAIN = ("--json", "--no-write")


@pytest.fixture
def memory(tmp_path: Path) -> Places:
    """A memory in which all is well, below a folder of its own."""
    root = tmp_path / "root"
    root.mkdir()
    return write(Recipe(), root)


def audited(places: Places, *options: str | Path, **variables: str) -> Run:
    arguments = ("--root", places.root, "--now", str(NOW), *PLAIN, *options)
    return run(*arguments, environment=variables)


def file_at(path: Path) -> None:
    path.write_bytes(b"x")


def link_to_nowhere_at(path: Path) -> None:
    path.symlink_to("nowhere")


def fifo_at(path: Path) -> None:
    os.mkfifo(path)


def link_to_file_at(path: Path) -> None:
    path.with_name("target").write_bytes(b"x")
    path.symlink_to("target")


def nothing_at(_: Path) -> None:
    pass


class TestRoots:
    """A root that was given and is no folder is critical, whoever gave it; nothing is made in its place."""

    @pytest.mark.parametrize("there", [nothing_at, file_at, link_to_nowhere_at, link_to_file_at, fifo_at])
    @pytest.mark.parametrize("given_by", ["--root", "--memory-root", "CORTEX_HEALTH_ROOT", "CORTEX_MEMORY_ROOT"])
    def test_a_root_that_is_no_folder(self, tmp_path: Path, there: Callable[[Path], None], given_by: str) -> None:
        root = tmp_path / "root"
        there(root)
        before = fingerprint(tmp_path)
        options, variables = ((given_by, root), {}) if given_by.startswith("--") else ((), {given_by: str(root)})
        for write_option in ((), ("--no-write",)):
            answer = run(*options, "--now", str(NOW), "--json", *write_option, environment=variables)
            assert (answer.exit_code, answer.stderr) == (2, "")
            assert "health-root-invalid" in answer.finding_ids
            (finding,) = [one for one in answer.report["findings"] if one["id"] == "health-root-invalid"]
            assert str(root) in json.dumps([finding["message"], finding["evidence"]])
            assert "ok" not in {statuses(answer.report)[check] for check in ("reviewer", "retrieval", "proposals")}
        assert fingerprint(tmp_path) == before

    def test_a_root_below_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_bytes(b"x")
        answer = run("--root", tmp_path / "file" / "root", *PLAIN, "--now", str(NOW))
        assert answer.exit_code == 2
        assert "health-root-invalid" in answer.finding_ids

    def test_a_folder_without_a_memory_is_missing_evidence(self, tmp_path: Path) -> None:
        answer = run("--root", tmp_path, "--json", "--now", str(NOW))
        assert (answer.exit_code, answer.report["overall"]) == (1, "warn")
        assert sorted(name for name in answer.finding_ids if name.endswith("missing")) == [
            "index-evidence-missing", "observability-evidence-missing", "proposal-evidence-missing",
            "retrieval-missing", "reviewer-evidence-missing",
        ]  # fmt: skip
        assert list(tmp_path.iterdir()) == []

    def test_a_default_root_that_is_not_there_is_missing_evidence_and_not_made(self, tmp_path: Path) -> None:
        answer = run("--json", "--now", str(NOW), environment={"HOME": str(tmp_path)})
        assert answer.exit_code == 1
        assert "health-root-invalid" not in answer.finding_ids
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("option", ["--root", "--memory-root"])
    def test_a_link_to_a_folder_is_a_root(self, memory: Places, tmp_path: Path, option: str) -> None:
        target = memory.root if option == "--root" else memory.memory_root
        link = tmp_path / "link" / "MEMORY"
        link.parent.mkdir()
        (link.parent / memory.marker.name).write_bytes(memory.marker.read_bytes())
        link.symlink_to(target)
        assert run(option, link, "--now", str(NOW), *PLAIN).exit_code == 0

    def test_the_first_root_that_is_given_counts(self, memory: Places, tmp_path: Path) -> None:
        wrong = {"CORTEX_MEMORY_ROOT": str(tmp_path / "wrong")}
        right = {"CORTEX_HEALTH_ROOT": str(memory.root)}
        assert run("--now", str(NOW), *PLAIN, environment={**right, **wrong}).exit_code == 0
        assert run("--root", memory.root, "--now", str(NOW), *PLAIN, environment=wrong).exit_code == 0
        assert run("--now", str(NOW), *PLAIN, environment={**wrong, "CORTEX_HEALTH_ROOT": ""}).exit_code == 2


class TestClocks:
    """A clock that makes no sense is critical; the real one is used, and the report says what it judged by."""

    NO_TIMES = (
        "yesterday", "2026-08-10T12:00:00", "2026-08-10 12:00:00Z", "2026-02-30T00:00:00Z",
        "2026-08-10T25:00:00Z", "-1", "1e12", "1786363200000.5", "nan", "１７８６３６３２０００００",
        "9" * 5_000, " ", "0x10",
        "2026-08-10T12:00:00+24:00", "2026-08-10T12:00:00Z\n",
    )  # fmt: skip

    @pytest.mark.parametrize("text", NO_TIMES)
    @pytest.mark.parametrize("given_by", ["--now", "CORTEX_HEALTH_NOW"])
    def test_a_time_that_makes_no_sense(self, memory: Places, text: str, given_by: str) -> None:
        options, variables = ((f"--now={text}",), {}) if given_by == "--now" else ((), {given_by: text})
        answer = run("--root", memory.root, *PLAIN, *options, environment=variables)
        assert (answer.exit_code, answer.stderr) == (2, "")
        assert "health-clock-invalid" in answer.finding_ids
        (finding,) = [one for one in answer.report["findings"] if one["id"] == "health-clock-invalid"]
        assert given_by in json.dumps([finding["message"], finding["evidence"]])

    @pytest.mark.parametrize(
        "text",
        [
            "1786363200000",
            "2026-08-10T12:00:00Z",
            "2026-08-10T14:00:00+02:00",
            "2026-08-10T12:00Z",
            "2026-08-10T11:59:59.999999Z",
        ],
    )
    def test_a_time_that_makes_sense(self, memory: Places, text: str) -> None:
        assert run("--root", memory.root, *PLAIN, "--now", text).exit_code == 0

    def test_an_empty_variable_is_unset(self, memory: Places) -> None:
        answer = run("--root", memory.root, *PLAIN, environment={"CORTEX_HEALTH_NOW": ""})
        assert "health-clock-invalid" not in answer.finding_ids


HUGE_LINE_BYTES = 40 * 1024 * 1024


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def link(path: Path) -> None:
    copy = path.parents[3] / "copy"
    path.rename(copy)
    path.symlink_to(copy)


def dangling(path: Path) -> None:
    path.unlink()
    path.symlink_to("nowhere")


def fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def device(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


def content(data: bytes) -> Callable[[Path], None]:
    return lambda path: path.write_bytes(data)


def gigantic(path: Path) -> None:
    path.write_bytes(b'{"ts":"' + b"x" * HUGE_LINE_BYTES + b'"}\n')


INVALID = {
    "reviewer_log": (2, "reviewer-evidence-invalid"),
    "retrieval_log": (1, "retrieval-evidence-invalid"),
    "proposal_queue": (1, "proposal-evidence-malformed"),
}
MALFORMED = {
    "reviewer_log": (2, "reviewer-latest-parse-failed"),
    "retrieval_log": (1, "retrieval-evidence-malformed"),
    "proposal_queue": (1, "proposal-evidence-malformed"),
}
EMPTY = {
    "reviewer_log": (1, "reviewer-evidence-missing"),
    "retrieval_log": (1, "retrieval-missing"),
    "proposal_queue": (0, None),
}
LOG_FAULTS = {
    "a folder": (folder, INVALID),
    "a link to a whole copy": (link, INVALID),
    "a link to nowhere": (dangling, INVALID),
    "a link to an endless device": (device, INVALID),
    "a FIFO": (fifo, INVALID),
    "no bytes": (content(b""), EMPTY),
    "blank lines": (content(b" \t\r\n\n\r\n"), EMPTY),
    "a byte-order mark alone": (content(b"\xef\xbb\xbf"), EMPTY),
    "binary": (content(bytes(range(256)) * 64), MALFORMED),
    "UTF-16": (content("{}\n".encode("utf-16")), MALFORMED),
    "one gigantic line": (gigantic, MALFORMED),
    "nested 100,000 deep": (content(b"[" * 100_000 + b"]" * 100_000 + b"\n"), MALFORMED),
    "objects nested 100,000 deep": (content(b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"\n"), MALFORMED),
    "an integer of 5,000 digits": (content(b'{"a":' + b"7" * 5_000 + b"}\n"), MALFORMED),
    "a no-break space": (content(b"\xc2\xa0\n"), MALFORMED),
}


class TestLogs:
    """Whatever lies where a log belongs, the verdict is a finding that names it, and the other checks go on."""

    @pytest.mark.parametrize("place", INVALID)
    @pytest.mark.parametrize("fault", LOG_FAULTS)
    def test_a_log_that_is_none(self, memory: Places, place: str, fault: str) -> None:
        spoil, expected = LOG_FAULTS[fault]
        exit_code, finding_id = expected[place]
        path: Path = getattr(memory, place)
        spoil(path)
        if path.is_file() and not path.is_symlink():
            set_age(path, MINUTE)
        answer = audited(memory)
        assert (answer.exit_code, answer.stderr) == (exit_code, "")
        assert answer.finding_ids == ([] if finding_id is None else [finding_id])
        if finding_id is not None:
            (finding,) = answer.report["findings"]
            assert path.name in json.dumps([finding["message"], finding["evidence"]])

    def test_a_row_over_the_limit_is_malformed_and_one_at_it_is_not(self, memory: Places) -> None:
        limit = 16 * 1024 * 1024
        row = json.dumps({"id": "p", "status": "accepted", "note": ""}).encode()
        for extra, findings in ((0, []), (1, ["proposal-evidence-malformed"])):
            padding = b"x" * (limit - len(row) + extra)
            memory.proposal_queue.write_bytes(row[:-2] + padding + row[-2:] + b"\n")
            set_age(memory.proposal_queue, MINUTE)
            assert audited(memory).finding_ids == findings

    def test_the_parent_that_is_a_file_makes_all_of_them_invalid(self, memory: Places) -> None:
        for path in memory.observability.iterdir():
            path.unlink()
        memory.observability.rmdir()
        memory.observability.write_bytes(b"x")
        answer = audited(memory)
        assert answer.exit_code == 2
        assert {"reviewer-evidence-invalid", "retrieval-evidence-invalid", "proposal-evidence-malformed"} <= set(
            answer.finding_ids
        )
        assert "observability-evidence-invalid" in answer.finding_ids

    def test_the_reviewer_error_is_repeated_at_most_240_characters_long(self, memory: Places) -> None:
        row = reviewed(HOUR, ok=False, error="e" * 10_000)
        write_rows(memory.reviewer_log, [row])
        answer = audited(memory)
        assert answer.finding_ids == ["reviewer-latest-failed"]
        assert "e" * 200 in answer.stdout
        assert "e" * 241 not in answer.stdout

    def test_memory_is_bounded_whatever_the_length_of_a_line(self, memory: Places) -> None:
        """Four hundred megabytes without a line end (a sparse file) take no more memory than a small log."""
        os.truncate(memory.reviewer_log, 400 * 1024 * 1024)
        set_age(memory.reviewer_log, MINUTE)
        answer, peak_bytes = run_measured("--root", memory.root, "--now", str(NOW), *PLAIN)
        assert answer.exit_code == 2
        assert "reviewer-latest-parse-failed" in answer.finding_ids
        assert peak_bytes < 120 * 1024 * 1024


class TestUsage:
    """Being called wrongly exits 2 with a message, and without a verdict on stdout."""

    @pytest.mark.parametrize(
        "arguments",
        [
            ("--no-such-option",),
            ("no-such-command",),
            ("--root",),
            ("--root", "a", "--memory-root", "b"),
            ("--json", "--format", "text"),
            ("--format", "xml"),
            ("--block-on", "ok"),
            ("explain",),
            ("explain", "no-such-finding"),
            ("--no-write=1",),
        ],
        ids=" ".join,
    )
    def test_a_wrong_call(self, arguments: tuple[str, ...], tmp_path: Path) -> None:
        answer = run_process(*arguments, environment={"HOME": str(tmp_path)})
        assert (answer.exit_code, answer.stdout) == (2, "")
        assert answer.stderr.strip()
        assert "Traceback" not in answer.stderr
        assert list(tmp_path.iterdir()) == []


class TestNothingIsCreated:
    """A run changes its history row and what it was asked to write, and not a byte beside."""

    @pytest.mark.parametrize("options", [("--json",), ("--format", "text"), ("--format", "nagios")])
    def test_with_no_write_the_tree_stays_as_it_was(self, memory: Places, options: tuple[str, ...]) -> None:
        before = fingerprint(memory.root)
        assert run("--root", memory.root, "--now", str(NOW), "--no-write", *options).exit_code == 0
        assert fingerprint(memory.root) == before

    @pytest.mark.parametrize("value", ["1", "true", "yes", "anything"])
    def test_the_variable_means_the_same(self, memory: Places, value: str) -> None:
        before = fingerprint(memory.root)
        run("--root", memory.root, "--now", str(NOW), environment={"CORTEX_HEALTH_NO_WRITE": value})
        assert fingerprint(memory.root) == before

    @pytest.mark.parametrize("value", ["", "0", "false", "no"])
    def test_otherwise_the_history_grows_by_one_row_and_nothing_else_changes(self, memory: Places, value: str) -> None:
        before = fingerprint(memory.root)
        for rows in (1, 2):
            run("--root", memory.root, "--now", str(NOW), environment={"CORTEX_HEALTH_NO_WRITE": value})
            lines = memory.history.read_text("utf-8").splitlines()
            assert len(lines) == rows
            assert json.loads(lines[-1])["overall"] == "ok"
        after = fingerprint(memory.root)
        changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
        assert changed <= {"LIFEOS/MEMORY/OBSERVABILITY/memory-health.jsonl", "LIFEOS/MEMORY/OBSERVABILITY"}

    def test_a_report_is_a_copy_of_what_stdout_says_for_its_owner_alone(self, memory: Places, tmp_path: Path) -> None:
        target = tmp_path / "report.json"
        answer = audited(memory, "--report", target)
        assert checked_report(target.read_text("utf-8"))["overall"] == answer.report["overall"] == "ok"
        assert target.stat().st_mode & 0o777 == 0o600

    def test_a_report_that_cannot_be_written_is_critical(self, memory: Places, tmp_path: Path) -> None:
        answer = audited(memory, "--report", tmp_path / "missing" / "report.json")
        assert (answer.exit_code, answer.finding_ids) == (2, ["report-write-failed"])
        assert not (tmp_path / "missing").exists()
