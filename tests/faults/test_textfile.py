"""Publishing the metrics: in one step or not at all, and never an older ok left standing after a failure."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.health_tree import NOW
from support.memories import Places, Recipe, write
from support.metrics import series_in, value_of
from support.nobody import as_nobody, give_to_nobody, open_folder, skip_where_modes_do_not_bind
from support.running import COMMAND, run, run_process, run_sabotaged

STATUS = "memory_health_status"


@pytest.fixture
def memory(tmp_path: Path) -> Places:
    """A memory in which all is well, below a folder of its own."""
    root = tmp_path / "root"
    root.mkdir()
    return write(Recipe(), root)


@pytest.fixture
def metrics(tmp_path: Path) -> Path:
    """An empty folder for a textfile."""
    folder = tmp_path / "metrics"
    folder.mkdir()
    return folder


def options(places: Places, textfile: Path) -> tuple[str | Path, ...]:
    return ("--root", places.root, "--now", str(NOW), "--json", "--no-write", "--textfile", textfile)


@pytest.fixture
def green(memory: Places, metrics: Path) -> Path:
    """A textfile that says ok."""
    textfile = metrics / "memory.prom"
    assert run(*options(memory, textfile)).exit_code == 0
    assert value_of(textfile, STATUS) == 0
    return textfile


def test_killed_before_the_rename_the_older_file_stands_and_no_other_is_collected(memory: Places, green: Path) -> None:
    before = green.read_bytes()
    memory.reviewer_log.unlink()
    prelude = "import os, signal\nos.rename = os.replace = lambda *a, **k: os.kill(os.getpid(), signal.SIGKILL)"
    answer = run_sabotaged(prelude, *options(memory, green))
    assert answer.exit_code == -9
    assert green.read_bytes() == before
    assert [path.name for path in green.parent.glob("*.prom")] == ["memory.prom"]
    assert run(*options(memory, green)).exit_code == 1
    assert value_of(green, STATUS) == 1


@pytest.mark.parametrize(
    "prelude",
    [
        "import os\ndef broken(*a, **k): raise OSError(28, 'No space left on device')\nos.fsync = broken",
        "import os\ndef broken(*a, **k): raise OSError(28, 'No space left on device')\nos.replace = os.rename = broken",
    ],
    ids=["fsync", "rename"],
)
def test_a_write_that_fails_is_critical_and_leaves_nothing_half_done(memory: Places, green: Path, prelude: str) -> None:
    before = green.read_bytes()
    answer = run_sabotaged(prelude, *options(memory, green))
    assert (answer.exit_code, answer.finding_ids) == (2, ["textfile-write-failed"])
    assert green.read_bytes() == before
    assert [path.name for path in green.parent.iterdir()] == ["memory.prom"]


@pytest.mark.parametrize("name", ["memory.txt", "memory", "memory.prom.bak", "memory.PROM"])
def test_a_name_that_no_collector_reads_is_refused_and_nothing_is_written(
    memory: Places, metrics: Path, name: str
) -> None:
    answer = run(*options(memory, metrics / name))
    assert answer.exit_code == 2
    assert list(metrics.iterdir()) == []


def test_a_folder_or_a_missing_folder_in_its_place(memory: Places, metrics: Path) -> None:
    (metrics / "folder.prom").mkdir()
    for textfile in (metrics / "folder.prom", metrics / "missing" / "memory.prom"):
        answer = run(*options(memory, textfile))
        assert (answer.exit_code, answer.finding_ids) == (2, ["textfile-write-failed"])
    assert [path.name for path in metrics.iterdir()] == ["folder.prom"]


@pytest.fixture
def reachable() -> Iterator[Places]:
    """A memory in which all is well, which a user without rights reaches and owns."""
    with open_folder() as folder:
        skip_where_modes_do_not_bind(folder)
        root = folder / "root"
        root.mkdir()
        places = write(Recipe(), root)
        give_to_nobody(root)
        yield places


def test_a_read_only_folder_is_critical_and_named(reachable: Places) -> None:
    metrics = reachable.root.parent / "metrics"
    metrics.mkdir()
    metrics.chmod(0o555)
    with as_nobody():
        answer = run(*options(reachable, metrics / "memory.prom"))
    assert (answer.exit_code, answer.finding_ids) == (2, ["textfile-write-failed"])
    assert str(metrics) in answer.stdout
    assert list(metrics.iterdir()) == []


def test_a_read_only_memory_is_audited_and_its_history_and_ledger_alone_are_missed(reachable: Places) -> None:
    for folder in (reachable.observability, reachable.memory_root, reachable.home):
        folder.chmod(0o555)
    with as_nobody():
        answer = run("--root", reachable.root, "--now", str(NOW), "--json")
    assert (answer.exit_code, answer.finding_ids) == (1, ["health-history-write-failed", "noise-ledger-damaged"])


CRASHES = {
    "a fault while reading": "import os\ndef broken(*a, **k): raise RuntimeError('s3cret')\nos.scandir = broken",
    "memory runs out": "import os\ndef broken(*a, **k): raise MemoryError\nos.read = os.scandir = broken",
    "recursion": "import os\ndef broken(*a, **k): raise RecursionError\nos.fstat = broken",
    "SIGTERM": "import os, signal\ndef broken(*a, **k): os.kill(os.getpid(), signal.SIGTERM)\nos.scandir = broken",
    "SIGHUP": "import os, signal\ndef broken(*a, **k): os.kill(os.getpid(), signal.SIGHUP)\nos.scandir = broken",
}


@pytest.mark.parametrize("crash", CRASHES)
def test_a_run_that_crashes_replaces_an_older_ok_by_critical(memory: Places, green: Path, crash: str) -> None:
    answer = run_sabotaged(CRASHES[crash], *options(memory, green))
    assert answer.exit_code == 2
    assert answer.report["overall"] == "critical"
    assert "Traceback" not in answer.stderr
    assert "s3cret" not in answer.stdout + answer.stderr
    assert value_of(green, STATUS) == 2
    assert stat.S_IMODE(green.stat().st_mode) == 0o644


@pytest.mark.parametrize("module", ["msgspec", "prometheus_client"])
def test_a_broken_import_replaces_an_older_ok_by_critical(
    memory: Places, green: Path, tmp_path: Path, module: str
) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / f"{module}.py").write_text("raise ImportError('s3cret')\n", encoding="utf-8")
    search_path = os.pathsep.join([str(broken), *filter(None, [os.environ.get("PYTHONPATH")])])
    answer = run_process(*options(memory, green), environment={"PYTHONPATH": search_path})
    assert answer.exit_code == 2
    assert answer.report["overall"] == "critical"
    assert "Traceback" not in answer.stderr
    assert "s3cret" not in answer.stdout + answer.stderr
    assert value_of(green, STATUS) == 2


def test_the_crash_file_holds_every_series_of_a_whole_one(memory: Places, green: Path) -> None:
    """A series that vanishes in a crash would take its alert with it."""
    whole = series_in(green.read_text("utf-8")).keys()
    run_sabotaged(CRASHES["SIGTERM"], *options(memory, green))
    assert series_in(green.read_text("utf-8")).keys() == whole


def test_the_command_is_where_the_tests_think_it_is() -> None:
    assert COMMAND.is_file()
