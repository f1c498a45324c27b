"""Whatever goes wrong, the exit code is 0, 1 or 2, and stdout holds one report that says the same."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.health_tree import NOW
from support.memories import Recipe, write
from support.metrics import value_of
from support.recipes import recipes
from support.reports import statuses
from support.running import Run, run

BADNESS: Final = {"ok": 0, "warn": 1, "critical": 2}
CALLS: Final = (
    "open",
    "read",
    "pread",
    "fstat",
    "stat",
    "lstat",
    "scandir",
    "listdir",
    "write",
    "fsync",
    "rename",
    "close",
)
ERRORS: Final[tuple[Callable[[], BaseException], ...]] = (
    lambda: PermissionError(13, "Permission denied"),
    lambda: FileNotFoundError(2, "No such file or directory"),
    lambda: OSError(5, "Input/output error"),
    lambda: OSError(28, "No space left on device"),
    lambda: ValueError("s3cret"),
    lambda: RuntimeError("s3cret"),
    RecursionError,
    MemoryError,
)
FEW = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
MANY = settings(max_examples=3_000, deadline=None, suppress_health_check=list(HealthCheck))


@contextmanager
def failing(call: str, nth: int, error: Callable[[], BaseException]) -> Iterator[None]:
    """Let the nth call of a function of the operating system fail, on paths and descriptors of the memory alike."""
    genuine = getattr(os, call)
    calls = 0

    def faulty(*arguments: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == nth:
            raise error()
        return genuine(*arguments, **options)

    setattr(os, call, faulty)
    try:
        yield
    finally:
        setattr(os, call, genuine)


def answers_soundly(answer: Run) -> None:
    assert answer.exit_code in {0, 1, 2}
    assert "Traceback" not in answer.stderr
    assert "s3cret" not in answer.stdout + answer.stderr
    report = answer.report
    assert report["exit_code"] == answer.exit_code == BADNESS[report["overall"]]
    assert answer.exit_code == max((BADNESS.get(status, 0) for status in statuses(report).values()), default=2)


def no_fault_of_the_system_is_anything_but_a_verdict(
    folder: Path, recipe: Recipe, call: str, nth: int, error: Callable[[], BaseException]
) -> None:
    """Exit code is 0, 1 or 2 under random faults, and a textfile that could be written says the same."""
    root = folder / "root"
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir()
    places, textfile = write(recipe, root), folder / "memory.prom"
    textfile.unlink(missing_ok=True)
    with failing(call, nth, error):
        answer = run("--root", places.root, "--now", str(NOW), "--json", "--textfile", textfile)
    answers_soundly(answer)
    if textfile.exists():
        assert value_of(textfile, "memory_health_status") <= answer.exit_code
    if "textfile-write-failed" not in answer.finding_ids:
        assert textfile.exists()


FAULTS = (recipes(), st.sampled_from(CALLS), st.integers(1, 40), st.sampled_from(ERRORS))


@FEW
@given(*FAULTS)
def test_a_system_call_that_fails(
    tmp_path_factory: pytest.TempPathFactory, recipe: Recipe, call: str, nth: int, error: Callable[[], BaseException]
) -> None:
    folder = tmp_path_factory.getbasetemp()
    no_fault_of_the_system_is_anything_but_a_verdict(folder, recipe, call, nth, error)


@pytest.mark.proof
@MANY
@given(*FAULTS)
def test_thousands_of_system_calls_that_fail(
    tmp_path_factory: pytest.TempPathFactory, recipe: Recipe, call: str, nth: int, error: Callable[[], BaseException]
) -> None:
    folder = tmp_path_factory.getbasetemp()
    no_fault_of_the_system_is_anything_but_a_verdict(folder, recipe, call, nth, error)


OPTIONS: Final = (
    "--root",
    "--memory-root",
    "--now",
    "--index-manifest",
    "--name",
    "--report",
    "--textfile",
    "--block-on",
)
VARIABLES: Final = (
    "CORTEX_HEALTH_ROOT", "CORTEX_MEMORY_ROOT", "CORTEX_HEALTH_NOW", "CORTEX_INDEX_MANIFEST", "CORTEX_HEALTH_NO_WRITE",
    "CORTEX_HEALTH_REPORT_PATH", "CORTEX_HEALTH_TEXTFILE", "CORTEX_HEALTH_NAME", "CORTEX_PROPOSAL_BACKLOG",
    "CORTEX_REVIEWER_STALE_MS",
)  # fmt: skip
values = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=8).map(
    lambda text: f"/dev/null/{text}"
) | st.sampled_from(["", ".", "/", "/dev/null", "warn", "1", "-1", "nan", "2026-08-10T12:00:00Z", "~", "/dev/full"])


@pytest.fixture
def _scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A working folder of its own: `--report warn` writes a file of that name."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("_scratch")
@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(st.tuples(st.sampled_from(OPTIONS), values), max_size=3),
    st.dictionaries(st.sampled_from(VARIABLES), values, max_size=3),
)
def test_any_options_and_variables_give_a_verdict_or_a_usage_message(
    options: list[tuple[str, str]], variables: dict[str, str]
) -> None:
    """A usage error prints no verdict; everything else prints one, and that one is the exit code's."""
    arguments = [f"{name}={value}" for name, value in options]
    answer = run("--json", "--no-write", *arguments, environment=variables)
    if answer.stdout:
        assert answer.exit_code in {0, 1, 2}
        assert answer.report["exit_code"] == answer.exit_code or "--block-on=critical" in arguments
    else:
        assert answer.exit_code == 2
        assert answer.stderr
    assert "Traceback" not in answer.stderr
