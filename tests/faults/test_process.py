"""The process around the verdict: streams, locales and signals never turn into the interpreter's own exit 1."""

import json
from pathlib import Path
from typing import Final

import pytest
from support.health_tree import DAY, NOW
from support.memories import Log, Places, Recipe, write
from support.reports import checked_report
from support.running import run_process, run_sabotaged

FORMATS: Final = ("text", "json", "nagios", "html")
LOCALES: Final = (
    {"LC_ALL": "C", "LANG": "C"},
    {"LC_ALL": "C.UTF-8"},
    {"LC_ALL": "POSIX", "PYTHONUTF8": "0"},
    {"PYTHONIOENCODING": "ascii"},
    {"PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PYTHONUTF8": "0"},
    {"LANG": "xx_XX.nonsense"},
    {"PYTHONIOENCODING": "latin-1:strict"},
)


@pytest.fixture
def memory(tmp_path: Path) -> Places:
    """A memory with one old log, whose name is in no small alphabet."""
    root = tmp_path / "root"
    root.mkdir()
    return write(Recipe(logs=(Log("grün-日本-\U0001f40d.log", 9, 31 * DAY),)), root)


def options(places: Places, *more: str) -> tuple[str | Path, ...]:
    return ("--root", places.root, "--now", str(NOW), "--no-write", *more)


@pytest.mark.parametrize("locale", [one for one in LOCALES if "PYTHONUTF8" not in one], ids=json.dumps)
@pytest.mark.parametrize("wanted", ["json", "html"])
def test_a_report_in_ascii_is_the_same_in_every_locale(memory: Places, locale: dict[str, str], wanted: str) -> None:
    expected = run_process(*options(memory, "--format", wanted))
    assert expected.exit_code == 1
    assert run_process(*options(memory, "--format", wanted), environment=locale) == expected


@pytest.mark.parametrize("locale", LOCALES, ids=json.dumps)
@pytest.mark.parametrize("wanted", ["text", "nagios"])
def test_an_encoding_that_cannot_take_a_character_is_critical_or_a_verdict_never_a_trace(
    memory: Places, locale: dict[str, str], wanted: str
) -> None:
    answer = run_process(*options(memory, "--format", wanted), environment=locale, decode_errors="replace")
    assert answer.exit_code in {1, 2}
    assert "Traceback" not in answer.stderr
    assert answer.stdout.startswith(("WARN", "CRITICAL", "MEMORY WARNING", "MEMORY CRITICAL"))
    assert len(answer.stderr.splitlines()) == (0 if answer.exit_code == 1 else 1)


@pytest.mark.parametrize("wanted", FORMATS)
@pytest.mark.parametrize(
    "before", ["exec >/dev/full", "exec >&-", "exec >&- 2>&-", "exec >/dev/full 2>/dev/full", "exec <&- >&-"]
)
def test_a_stdout_that_takes_nothing_is_critical(memory: Places, wanted: str, before: str) -> None:
    answer = run_process(*options(memory, "--format", wanted), before=before)
    assert (answer.exit_code, answer.stdout) == (2, "")
    assert len(answer.stderr.splitlines()) == (0 if "2>" in before else 1)


@pytest.mark.parametrize("before", ["exec 2>&-", "exec <&-", "exec 2>/dev/full"])
def test_other_streams_closed_do_not_matter(memory: Places, before: str) -> None:
    answer = run_process(*options(memory, "--json"), before=before)
    assert answer.exit_code == 1
    assert answer.finding_ids == ["observability-age-exceeded"]


@pytest.mark.parametrize(
    ("name", "exit_code"),
    [("SIGINT", 130), ("SIGTERM", 2), ("SIGHUP", 2), ("SIGQUIT", 2), ("SIGUSR1", 2), ("SIGALRM", 2), ("SIGXCPU", 2)],
)
def test_a_signal_ends_the_run_with_its_own_code_and_one_line(memory: Places, name: str, exit_code: int) -> None:
    prelude = f"import os, signal\ndef hit(*a, **k): os.kill(os.getpid(), signal.{name})\nos.scandir = hit"
    answer = run_sabotaged(prelude, *options(memory, "--json"))
    assert answer.exit_code == exit_code
    assert len(answer.stderr.splitlines()) == 1
    if exit_code == 2:
        assert checked_report(answer.stdout)["overall"] == "critical"
        assert name in answer.stderr


def test_a_signal_that_the_parent_ignores_stays_ignored(memory: Places) -> None:
    prelude = (
        "import os, signal\nsignal.signal(signal.SIGHUP, signal.SIG_IGN)\ngenuine = os.scandir\n"
        "def hit(*a, **k):\n    os.kill(os.getpid(), signal.SIGHUP)\n    return genuine(*a, **k)\nos.scandir = hit"
    )
    assert run_sabotaged(prelude, *options(memory, "--json")).exit_code == 1


@pytest.mark.parametrize("module", ["healthcheck.evaluate", "healthcheck.collectors", "msgspec", "argparse", "json"])
def test_a_broken_import_is_critical_in_every_format(memory: Places, module: str) -> None:
    """A module that Python itself has loaded at its start cannot be broken this way; all these are ours to load."""
    prelude = f"import sys\nsys.modules[{module!r}] = None"
    for wanted in FORMATS:
        answer = run_sabotaged(prelude, *options(memory, "--format", wanted))
        assert answer.exit_code == 2
        assert "Traceback" not in answer.stderr
        assert len(answer.stderr.splitlines()) == 1
        if wanted == "json" and module != "json":
            assert answer.report["overall"] == "critical"


def test_without_a_home_the_default_root_is_still_a_verdict(tmp_path: Path) -> None:
    answer = run_process("--json", "--no-write", before=f"cd {tmp_path}; unset HOME")
    assert answer.exit_code in {1, 2}
    assert answer.report["overall"] != "ok"


def test_from_a_working_folder_that_is_gone_it_is_still_a_verdict(memory: Places, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    answer = run_process(*options(memory, "--json"), before=f"cd {gone}; rmdir {gone}")
    assert answer.exit_code in {1, 2}
    assert answer.report["exit_code"] == answer.exit_code
