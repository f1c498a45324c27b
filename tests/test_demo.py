"""The demo runs the real command, says what it should, and does not pass when it should not."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from policies.timestamps import format_instant

ROOT = Path(__file__).parent.parent
DEMO = ROOT / "examples" / "demo.py"


@pytest.fixture(scope="module")
def demo() -> ModuleType:
    spec = importlib.util.spec_from_file_location("demo", DEMO)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run_demo(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": "/usr/bin:/bin", "PYTHONIOENCODING": "utf-8", **variables}
    return subprocess.run([sys.executable, DEMO, *arguments], env=environment, capture_output=True, encoding="utf-8")


def test_every_verdict_is_what_it_should_be():
    """Also where the caller's environment would have the auditor look elsewhere."""
    ran = run_demo(CORTEX_MEMORY_ROOT="/nowhere", CORTEX_RETRIEVAL_STALE_MS="1", CORTEX_HEALTH_NOW="yesterday")
    assert (ran.returncode, ran.stderr) == (0, ""), ran.stdout
    assert ran.stdout.splitlines()[-1] == "12 of 12 verdicts are what they should be."


def test_the_demo_covers_all_five_kinds_of_evidence(demo: ModuleType):
    found = {finding.split("-")[0].removesuffix("s") for case in demo.CASES for finding in case.findings}
    assert found >= {"reviewer", "retrieval", "proposal", "observability", "index"}


def test_the_demo_shows_every_exit_code(demo: ModuleType):
    assert {case.exit_code for case in demo.CASES} == {0, 1, 2}


def test_a_verdict_that_is_not_as_expected_fails_the_demo(
    demo: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    wrong = demo.Case("said to harm, and harmless", demo.leave_alone, 1, ("retrieval-stale",))
    monkeypatch.setattr(demo, "CASES", (demo.CASES[0], wrong))
    assert demo.main([]) == 1
    shown = capsys.readouterr().out
    assert "EXPECTED exit 1: retrieval-stale" in shown
    assert shown.splitlines()[-1] == "1 of 2 verdicts are what they should be."


@pytest.mark.parametrize(
    ("exit_code", "overall", "findings", "expected"),
    [
        (1, "warn", ("reviewer-stale",), True),
        (0, "warn", ("reviewer-stale",), False),
        (1, "critical", ("reviewer-stale",), False),
        (1, "warn", (), False),
        (1, "warn", ("retrieval-stale", "reviewer-stale"), False),
    ],
)
def test_exit_code_verdict_and_findings_all_count(
    demo: ModuleType, exit_code: int, overall: str, findings: tuple[str, ...], expected: bool
):
    case = demo.Case("no reviewer", demo.let_reviewer_go_stale, 1, ("reviewer-stale",))
    assert demo.as_expected(case, demo.Verdict(exit_code, overall, findings)) is expected


def test_build_leaves_a_living_memory(demo: ModuleType, tmp_path: Path):
    assert run_demo("build", str(tmp_path / "living")).returncode == 0
    command = Path(sys.executable).with_name("memory-health")
    ran = subprocess.run(
        [command, "--root", tmp_path / "living", "--now", format_instant(demo.NOW)],
        capture_output=True,
        encoding="utf-8",
    )
    assert ran.returncode == 0, ran.stdout
