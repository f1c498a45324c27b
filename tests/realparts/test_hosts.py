"""The hosts that run the auditor, each with its own program: systemd, cron's shell, pre-commit, a gate."""

import fcntl
import re
import shutil
import subprocess
import time
from pathlib import Path
from typing import Final

import pytest
import yaml
from support.health_tree import observability, write_h0
from support.programs import program
from support.running import COMMAND, clean_environment

from policies import __version__

pytestmark = pytest.mark.realpart

ROOT: Final = Path(__file__).parents[2]
EXAMPLES: Final = ROOT / "examples"
INSTALLED: Final = "/opt/memory-health/.venv/bin/memory-health"
NOW_MS: Final = time.time_ns() // 1_000_000  # noqa: TID251 - these programs judge by the real clock


def start(
    *command: str | Path, cwd: Path | None = None, timeout: int = 60, **variables: str
) -> subprocess.CompletedProcess[str]:
    bin_first = {"PATH": f"{COMMAND.parent}:/usr/bin:/bin", **variables}
    environment = clean_environment(bin_first)
    return subprocess.run(
        list(map(str, command)), cwd=cwd, env=environment, capture_output=True, encoding="utf-8", timeout=timeout
    )


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    """A memory that is ok now."""
    write_h0(tmp_path / "R", NOW_MS)
    return tmp_path / "R" / "LIFEOS" / "MEMORY"


def warned(memory: Path) -> None:
    (memory / "OBSERVABILITY" / "memory-retrievals.jsonl").unlink()


def broken(memory: Path) -> None:
    (memory / "OBSERVABILITY" / "reviewer-runs.jsonl").write_bytes(b"{\n")


@pytest.fixture
def units(tmp_path: Path) -> list[Path]:
    """The service, of the command that is installed here, and its timer."""
    service = (EXAMPLES / "systemd" / "memory-health.service").read_text()
    assert INSTALLED in service
    (tmp_path / "memory-health.service").write_text(service.replace(INSTALLED, str(COMMAND)))
    shutil.copy(EXAMPLES / "systemd" / "memory-health.timer", tmp_path)
    return sorted(tmp_path.glob("memory-health.*"))


def test_systemd_has_nothing_to_say_about_the_units(units: list[Path]) -> None:
    verified = start(program("systemd-analyze"), "verify", *units)
    assert (verified.returncode, verified.stdout, verified.stderr) == (0, "", "")


def test_systemd_finds_the_service_hardly_exposed(units: list[Path]) -> None:
    """The threshold is in tenths: 1.0 of 10."""
    arguments = ("security", "--offline=yes", "--threshold=10", "--no-pager", units[0])
    judged = start(program("systemd-analyze"), *arguments)
    assert judged.returncode == 0, judged.stdout + judged.stderr
    assert "Overall exposure level" in judged.stdout


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("memory-health.service", "SuccessExitStatus=1"),
        ("memory-health.service", "Type=oneshot"),
        ("memory-health.timer", "Persistent=true"),
    ],
)
def test_a_warning_is_no_failure_and_a_run_that_was_missed_is_made_up_for(file: str, line: str) -> None:
    assert line in (EXAMPLES / "systemd" / file).read_text().splitlines()


def cron_command(**replaced: str) -> str:
    """The command of the crontab's one line, with parts of it replaced."""
    lines = (EXAMPLES / "cron" / "memory-health.cron").read_text().splitlines()
    (line,) = [line for line in lines if line and not line.startswith("#") and not re.match(r"\w+=", line)]
    *schedule, command = line.split(maxsplit=5)
    assert schedule == ["*/10", "*", "*", "*", "*"]
    assert "%" not in command
    for old, new in {INSTALLED: str(COMMAND), **replaced}.items():
        assert old in command
        command = command.replace(old, new)
    return command


def by_cron(command: str, memory: Path, home: Path) -> subprocess.CompletedProcess[str]:
    """Run a command as cron does: by sh, with a short PATH."""
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(home), "CORTEX_MEMORY_ROOT": str(memory)}
    return subprocess.run(
        ["/bin/sh", "-c", command], env=environment, capture_output=True, encoding="utf-8", timeout=60
    )


TEXTFILE: Final = "/var/lib/prometheus/node-exporter/memory.prom"


def test_the_crontab_line_publishes_the_verdict_and_says_nothing(memory: Path, tmp_path: Path) -> None:
    broken(memory)
    ended = by_cron(cron_command(**{TEXTFILE: str(tmp_path / "m.prom")}), memory, tmp_path)
    assert (ended.returncode, ended.stdout, ended.stderr) == (2, "", "")
    assert 'memory_health_status{memory="default"} 2.0\n' in (tmp_path / "m.prom").read_text()


def test_the_crontab_line_does_not_join_a_run_that_has_not_ended(memory: Path, tmp_path: Path) -> None:
    with (tmp_path / ".memory-health.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        ended = by_cron(cron_command(**{TEXTFILE: str(tmp_path / "m.prom")}), memory, tmp_path)
    assert (ended.returncode, ended.stdout, ended.stderr) == (1, "", "")
    assert not (tmp_path / "m.prom").exists()


def test_the_crontab_line_ends_a_run_that_hangs_and_will_not_stop(memory: Path, tmp_path: Path) -> None:
    hanging = tmp_path / "hanging"
    hanging.write_text("#!/bin/sh\ntrap '' TERM\nwhile :; do sleep 1; done\n")
    hanging.chmod(0o755)
    command = cron_command(**{str(COMMAND): str(hanging), "-k 10 240": "-k 0.1 0.1"})
    assert by_cron(command, memory, tmp_path).returncode in {-9, 137}


GATE: Final = EXAMPLES / "pre-commit" / "gate.sh"


@pytest.mark.parametrize(("damage", "status"), [(None, 0), (warned, 0), (broken, 2)])
def test_the_gate_rebuilds_only_what_is_not_critical(memory: Path, damage: object, status: int) -> None:
    if callable(damage):
        damage(memory)
    before = contents(memory)
    ended = start("sh", GATE, memory)
    assert ended.returncode == status
    assert ended.stdout.startswith('{"') if status == 0 else ended.stdout == ""
    assert ended.stderr.startswith({None: "OK", warned: "WARN", broken: "CRITICAL"}[damage])  # type: ignore[index]
    assert contents(memory) == before


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_example_of_a_configuration_is_one_that_pre_commit_takes(tmp_path: Path) -> None:
    file = EXAMPLES / "pre-commit" / "pre-commit-config.yaml"
    checked = start(program("pre-commit"), "validate-config", file, HOME=str(tmp_path))
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")
    manifest = start(program("pre-commit"), "validate-manifest", ROOT / ".pre-commit-hooks.yaml", HOME=str(tmp_path))
    assert manifest.returncode == 0
    (repository,) = yaml.safe_load(file.read_text())["repos"]
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert (repository["rev"], repository["hooks"][0]["id"]) == (f"v{__version__}", hook["id"])


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose pre-commit keeps what it installed once."""
    return tmp_path_factory.mktemp("home")


@pytest.mark.proof
@pytest.mark.parametrize(("damage", "status"), [(None, 0), (warned, 0), (broken, 1)])
def test_pre_commit_blocks_a_critical_memory_alone_and_changes_nothing(
    tmp_path: Path, home: Path, damage: object, status: int
) -> None:
    pre_commit = program("pre-commit")
    if not (ROOT / ".git").exists():
        pytest.skip("only a git checkout can be tried as a repository of hooks")
    repository = tmp_path / "repository"
    write_h0(repository / "LifeOS", NOW_MS)
    memory = observability(repository / "LifeOS").parent
    if callable(damage):
        damage(memory)
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@example.org")
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "A memory"]):
        subprocess.run([*git, *arguments], cwd=repository, check=True)
    before = contents(memory)
    tried = start(
        pre_commit, "try-repo", ROOT, "memory-health", "--all-files", cwd=repository, timeout=300,
        HOME=str(home), CORTEX_MEMORY_ROOT=str(memory.relative_to(repository)),
    )  # fmt: skip
    assert tried.returncode == status, tried.stdout + tried.stderr
    assert re.search(rf"the memory is alive\.+{'Failed' if status else 'Passed'}", tried.stdout)
    assert ("CRITICAL: reviewer-latest-parse-failed" in tried.stdout) == bool(status)
    assert contents(memory) == before
    left = subprocess.run(["git", "status", "--porcelain"], cwd=repository, capture_output=True, check=True)
    assert left.stdout == b""
