"""The guard around everything: whatever happens to the process, it answers 2 with one line on stderr, and never 1.

Faults are put in the way of the real command: a module that cannot be imported, or that stops the process when it is
imported, which is a moment in the middle of a run that is the same in each.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from support.health_tree import NOW_TEXT, observability, write_h0
from support.nobody import as_nobody, give_to_nobody, open_folder, skip_where_modes_do_not_bind
from support.pages import Page
from support.reports import checked_report

from healthcheck.cli import main
from healthcheck.clock import Clock
from healthcheck.emergency import Progress, respond
from healthcheck.exit_codes import ExitCode
from healthcheck.signals import Stopped

COMMAND = str(Path(sys.executable).with_name("memory-health"))
SECRET = "s3cret"


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    """A memory in which all is well."""
    return write_h0(tmp_path / "R")


def start(*arguments: str | Path, variables: Mapping[str, str] | None = None, **options: Any) -> Any:
    """Run the command as a process of its own; `options` are those of subprocess.run."""
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LC_ALL": "C.UTF-8", **(variables or {})}
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.run([COMMAND, *map(str, arguments)], env=environment, timeout=60, **streams)


def judge(memory: Path, *more: str | Path) -> tuple[str | Path, ...]:
    return ("--root", memory, "--now", NOW_TEXT, "--no-write", *more)


def poisoned(folder: Path, **modules: str) -> dict[str, str]:
    """The variable that makes Python import these modules' code in place of the real ones."""
    for name, code in modules.items():
        (folder / f"{name}.py").write_text(code)
    return {"PYTHONPATH": str(folder)}


def samples(textfile: Path) -> dict[str, float]:
    families = text_string_to_metric_families(textfile.read_text())
    return {sample.name: sample.value for family in families for sample in family.samples}


def one_line(stderr: bytes) -> str:
    assert stderr.count(b"\n") == 1
    assert b"Traceback" not in stderr
    line = stderr.decode("ascii")
    assert line.startswith("memory-health: ")
    return line


@pytest.mark.parametrize("form", ["json", "text", "nagios", "html"])
@pytest.mark.parametrize("way", [">&-", ">/dev/full"])
def test_a_stdout_that_takes_nothing_is_exit_2(memory: Path, way: str, form: str) -> None:
    line = f'exec "$0" "$@" {way}'
    ended = subprocess.run(
        ["bash", "-c", line, COMMAND, *map(str, judge(memory, "--format", form))], capture_output=True
    )
    assert ended.returncode == 2
    assert "stdout" in one_line(ended.stderr)


@pytest.mark.parametrize("way", [">&-", ">/dev/full"])
@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["schema"], ["explain", "index-stale"]])
def test_so_it_is_for_whatever_else_is_printed(arguments: list[str], way: str) -> None:
    ended = subprocess.run(["bash", "-c", f'exec "$0" "$@" {way}', COMMAND, *arguments], capture_output=True)
    assert ended.returncode == 2


def test_a_reader_that_leaves_early_is_exit_2(memory: Path) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    ended = start(*judge(memory), stdout=write_end)
    os.close(write_end)
    assert ended.returncode == 2
    assert one_line(ended.stderr) == "memory-health: cannot write to stdout: Broken pipe\n"


@pytest.mark.parametrize("way", ["2>&-", "2>/dev/full"])
def test_a_stderr_that_takes_nothing_changes_no_verdict_and_no_usage_error(memory: Path, way: str) -> None:
    for arguments, code in ((judge(memory), 0), (("--json", "--format", "text"), 2)):
        line = f'exec "$0" "$@" {way}'
        ended = subprocess.run(["bash", "-c", line, COMMAND, *map(str, arguments)], stdout=subprocess.PIPE)
        assert ended.returncode == code


@pytest.mark.parametrize(
    "variables", [{"LC_ALL": "C"}, {"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0"}]
)
def test_json_is_the_same_bytes_in_every_locale(tmp_path: Path, variables: dict[str, str]) -> None:
    memory = write_h0(tmp_path / "grün")
    usual = start(*judge(memory, "--json"))
    ended = start(*judge(memory, "--json"), variables=variables)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, usual.stdout, b"")
    assert checked_report(ended.stdout.decode("ascii"))["root"]["home"].endswith("/grün/LIFEOS")


def test_an_encoding_that_cannot_take_a_character_is_exit_2_and_says_so_in_ascii(tmp_path: Path) -> None:
    memory = write_h0(tmp_path / "grün")
    ended = start(*judge(memory), variables={"PYTHONIOENCODING": "ascii"})
    assert ended.returncode == 2
    assert one_line(ended.stderr) == "memory-health: stdout's encoding ascii cannot take a character of the report\n"
    assert ended.stdout.startswith(b"CRITICAL: health-internal-error: ")


def test_text_of_a_memory_with_plain_paths_needs_ascii_alone(memory: Path) -> None:
    (observability(memory) / "reviewer-runs.jsonl").unlink()
    ended = start(*judge(memory), variables={"PYTHONIOENCODING": "ascii"})
    assert (ended.returncode, ended.stderr) == (1, b"")


BROKEN = f'raise ImportError("{SECRET}")'
MODULES = ["msgspec", "argparse", "json", "cortex", "signal"]


@pytest.mark.parametrize("module", MODULES)
def test_a_broken_import_is_exit_2_and_one_line_without_the_exceptions_words(
    memory: Path, tmp_path: Path, module: str
) -> None:
    ended = start(*judge(memory, "--json"), variables=poisoned(tmp_path, **{module: BROKEN}))
    assert ended.returncode == 2
    assert SECRET not in one_line(ended.stderr)


@pytest.mark.parametrize("module", ["msgspec", "prometheus_client"])
def test_a_broken_import_still_gives_one_valid_report_and_critical_metrics(
    memory: Path, tmp_path: Path, module: str
) -> None:
    textfile = tmp_path / "m.prom"
    assert start(*judge(memory, "--textfile", textfile)).returncode == 0
    assert samples(textfile)["memory_health_status"] == 0
    (tmp_path / "p").mkdir()
    arguments = judge(memory, "--json", "--name", 'a"\\b\nc', "--textfile", textfile)
    ended = start(*arguments, variables=poisoned(tmp_path / "p", **{module: BROKEN}))
    assert ended.returncode == 2
    report = checked_report(ended.stdout.decode("ascii"))
    assert [finding["id"] for finding in report["findings"]] == ["health-internal-error"]
    assert (report["overall"], report["exit_code"], report["name"]) == ("critical", 2, 'a"\\b\nc')
    assert samples(textfile)["memory_health_status"] == 2
    (family, *_) = text_string_to_metric_families(textfile.read_text())
    assert family.samples[0].labels == {"memory": 'a"\\b\nc'}
    assert textfile.stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize(("form", "begin"), [("text", b"CRITICAL: "), ("nagios", b"MEMORY CRITICAL - ")])
def test_a_crash_has_one_line_in_the_other_formats(memory: Path, tmp_path: Path, form: str, begin: bytes) -> None:
    ended = start(*judge(memory, f"--format={form}"), variables=poisoned(tmp_path, msgspec="1 / 0"))
    assert ended.returncode == 2
    assert ended.stdout.startswith(begin + b"health-internal-error: ")
    assert ended.stdout.count(b"\n") == 1


def test_a_crash_is_a_whole_page_in_html(memory: Path, tmp_path: Path) -> None:
    ended = start(*judge(memory, "--format=html"), variables=poisoned(tmp_path, msgspec="1 / 0"))
    assert ended.returncode == 2
    page = Page(ended.stdout.decode("ascii"))
    assert "critical: health-internal-error\nThe run ended early (ZeroDivisionError at msgspec.py:1)" in page.text


def test_a_crash_of_another_command_prints_no_report_and_touches_no_metrics(tmp_path: Path) -> None:
    textfile = tmp_path / "m.prom"
    variables = {"CORTEX_HEALTH_TEXTFILE": str(textfile)} | poisoned(tmp_path, argparse="1 / 0")
    ended = start("schema", variables=variables)
    assert (ended.returncode, ended.stdout) == (2, b"")
    assert not textfile.exists()


STOPPING = [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGALRM]


@pytest.mark.parametrize("module", ["msgspec", "argparse"])
def test_a_signal_while_modules_are_imported_is_exit_2_too(memory: Path, tmp_path: Path, module: str) -> None:
    textfile = tmp_path / "m.prom"
    stop = "import os, signal; os.kill(os.getpid(), signal.SIGTERM)"
    ended = start(*judge(memory, "--textfile", textfile), variables=poisoned(tmp_path, **{module: stop}))
    assert (ended.returncode, ended.stderr) == (2, b"memory-health: stopped by SIGTERM\n")
    assert samples(textfile)["memory_health_status"] == 2


@pytest.mark.parametrize("number", STOPPING)
def test_a_signal_is_exit_2_with_a_report_and_critical_metrics(
    memory: Path, tmp_path: Path, number: signal.Signals
) -> None:
    textfile = tmp_path / "m.prom"
    stop = f"import os; os.kill(os.getpid(), {int(number)})"
    arguments = judge(memory, "--json", "--textfile", textfile)
    ended = start(*arguments, variables=poisoned(tmp_path, prometheus_client=stop))
    assert ended.returncode == 2
    assert one_line(ended.stderr) == f"memory-health: stopped by {number.name}\n"
    assert checked_report(ended.stdout.decode("ascii"))["overall"] == "critical"
    assert samples(textfile)["memory_health_status"] == 2


def test_sigint_is_130_and_says_nothing_on_stdout(memory: Path, tmp_path: Path) -> None:
    stop = "import os, signal; os.kill(os.getpid(), signal.SIGINT)"
    ended = start(*judge(memory, "--json"), variables=poisoned(tmp_path, msgspec=stop))
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, b"", b"memory-health: interrupted\n")


def test_what_is_ignored_by_the_parent_stays_ignored(memory: Path, tmp_path: Path) -> None:
    hang_up = "import os, signal; os.kill(os.getpid(), signal.SIGHUP)\n__path__ = []\nraise SystemExit(0)"
    variables = poisoned(tmp_path, argparse=hang_up)
    line = 'trap "" HUP; exec "$0" "$@"'
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", **variables}
    ended = subprocess.run(
        ["bash", "-c", line, COMMAND, *map(str, judge(memory))], env=environment, capture_output=True
    )
    assert (ended.returncode, ended.stderr) == (0, b"")


def test_out_of_memory_is_exit_2(memory: Path, tmp_path: Path) -> None:
    ended = start(*judge(memory, "--json"), variables=poisoned(tmp_path, msgspec="raise MemoryError"))
    assert ended.returncode == 2
    assert one_line(ended.stderr).startswith("memory-health: MemoryError at ")
    assert checked_report(ended.stdout.decode("ascii"))["overall"] == "critical"


UNREADABLE = ["LIFEOS", "LIFEOS/MEMORY/OBSERVABILITY", "LIFEOS/MEMORY/OBSERVABILITY/reviewer-runs.jsonl"]


@pytest.mark.parametrize("place", UNREADABLE)
def test_an_unreadable_tree_is_never_ok_for_a_user_without_rights(
    place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_folder() as folder:
        skip_where_modes_do_not_bind(folder)
        memory = write_h0(folder / "R")
        give_to_nobody(memory)
        (memory / place).chmod(0)
        with as_nobody():
            code = main([*map(str, judge(memory, "--json"))])
    report = checked_report(capsys.readouterr().out)
    assert code == 2
    assert "reviewer-evidence-invalid" in [finding["id"] for finding in report["findings"]]


@pytest.mark.parametrize(
    ("damage", "block_on", "code"),
    [
        ((), "warn", 0),
        (("memory-retrievals.jsonl",), "warn", 1),
        (("memory-retrievals.jsonl",), "critical", 0),
        (("reviewer-runs.jsonl",), "critical", 2),
        (("reviewer-runs.jsonl",), "warn", 2),
    ],
)
def test_the_exit_code_is_the_verdicts(
    memory: Path, damage: tuple[str, ...], block_on: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in damage:
        path = observability(memory) / name
        path.unlink()
        if code == 2:
            path.mkdir()
    exited = main([*map(str, judge(memory, "--json", "--block-on", block_on))])
    report = checked_report(capsys.readouterr().out)
    assert exited == code
    assert report["exit_code"] == {"ok": 0, "warn": 1, "critical": 2}[report["overall"]]


def test_exit_codes_are_these_and_no_other() -> None:
    assert {code.name: int(code) for code in ExitCode.__members__.values()} == {
        "OK": 0,
        "WARN": 1,
        "CRITICAL": 2,
        "INTERRUPTED": 130,
    }


def test_the_handlers_of_the_caller_are_put_back(memory: Path) -> None:
    def mine(*_: object) -> None:
        pass

    before = signal.signal(signal.SIGTERM, mine)
    try:
        main([*map(str, judge(memory))])
        main(["--no-such-option"])
        assert signal.getsignal(signal.SIGTERM) is mine
    finally:
        signal.signal(signal.SIGTERM, before)


def test_no_second_document_follows_where_the_first_may_be_out(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress()
    progress.judging = progress.printing = True
    clock = Clock(lambda: 0, lambda: 0.0)
    assert respond(["--json"], Stopped("stopped by SIGTERM"), clock, progress) == 2
    assert capsys.readouterr() == ("", "memory-health: stopped by SIGTERM\n")
    progress.printing = False
    respond(["--json"], Stopped("stopped by SIGTERM"), clock, progress)
    assert checked_report(capsys.readouterr().out)["overall"] == "critical"


def test_the_same_files_and_the_same_now_are_the_same_bytes(memory: Path) -> None:
    runs = [start("--root", memory, "--now", NOW_TEXT, "--json") for _ in range(3)]
    assert len({ended.stdout for ended in runs}) == 1
    assert [ended.returncode for ended in runs] == [0, 0, 0]
