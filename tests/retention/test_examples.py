"""The example vault, the crontab and the timers do what the documents say, run as they stand there."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.stores import NOW, laid_out
from support.vaults import Vault, ago, files, note

ROOT = Path(__file__).parent.parent.parent
EXAMPLES = ROOT / "examples"
README = (EXAMPLES / "vault/README.md").read_text(encoding="utf-8")


def run(command: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    own = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {"PATH": own, "HOME": str(folder), "LANG": "C.UTF-8", **variables}
    return subprocess.run(["sh", "-c", command], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60)


def test_the_commands_of_the_readme_do_what_it_prints(tmp_path):
    commands = README.partition("```sh\n")[2].partition("```")[0].splitlines()
    printed = README.partition("```text\n")[2].partition("```")[0]
    assert run(commands[0], tmp_path).stdout == printed
    before = files(EXAMPLES / "vault")
    for command in commands[1:]:
        done = run(command.replace("/tmp/vault", shlex.quote(str(tmp_path / "vault"))), tmp_path)
        assert (done.returncode, done.stderr) == (0, ""), command
    assert files(EXAMPLES / "vault") == before
    left = files(tmp_path / "vault")
    assert "归档/2026/记忆/L2-语义/semantic/回滚.md" in left
    assert "记忆/L4-账本/session/claude/2026-06.tar.gz" in left
    assert "记忆/L4-账本/ledger/2026-05-30.jsonl" not in left
    assert '"archived_path": "归档/2026/记忆/L2-语义/semantic/回滚.md"' in left["_meta/uri-index.json"].decode()


def test_the_example_in_english_folders_is_forgotten_alike(tmp_path):
    vault = Vault(tmp_path / "vault", "memory")
    for path in sorted((EXAMPLES / "vault/记忆").rglob("*.md")):
        level, *rest = path.relative_to(EXAMPLES / "vault/记忆").with_suffix("").parts
        vault.put(level[:2], "/".join(rest), path.read_bytes())
    data = vault.forget()
    assert [data["levels"][level]["entries"] for level in ("L2", "L3")] == [
        ["L2://semantic/回滚"],
        ["L3://episodic/2026-03-14/morning"],
    ]


LINES = [line for line in (EXAMPLES / "cron/retention.crontab").read_text().splitlines() if not line.startswith("#")]


@pytest.mark.parametrize(
    "line", LINES, ids=lambda line: re.findall(r"(?:cortex|memory-health)[a-z -]*", line)[0].strip()
)
def test_a_line_of_the_crontab_is_silent_when_all_is_well_and_mails_a_refusal(tmp_path, line):
    *fields, command = line.split(None, 5)
    assert len(fields) == 5
    assert "%" not in command  # which cron takes for a line end
    memory = laid_out(tmp_path)
    (memory.root / "KNOWLEDGE/a.md").write_bytes(note(f"level: L3\ncreated: {ago(400)}\n"))
    variables = {"CORTEX_MEMORY_ROOT": str(memory.root), "LOGNAME": "ada", "CORTEX_HEALTH_NOW": str(NOW)}
    done = run(command, tmp_path, **variables)
    assert (done.stdout, done.stderr) == ("", "")
    variables["CORTEX_MEMORY_ROOT"] = str(tmp_path / "nowhere")
    assert run(command, tmp_path, **variables).stdout != ""


# Our own jobs; the audit's service is hardened and has its own tests.
UNITS = sorted((EXAMPLES / "systemd").glob("cortex-*.service"))


@pytest.mark.parametrize("unit", [unit for unit in UNITS if "sleep" not in unit.name], ids=lambda unit: unit.stem)
def test_a_unit_runs(tmp_path, unit):
    (command,) = re.findall(r"^ExecStart=(.*)$", unit.read_text(), re.MULTILINE)
    memory = laid_out(tmp_path)
    done = run(command.replace("%u", "ada"), tmp_path, CORTEX_MEMORY_ROOT=str(memory.root))
    assert done.returncode == 0, done.stdout
    assert unit.with_suffix(".timer").read_text().count("OnCalendar=") == 1


def test_cron_and_timers_name_the_same_jobs():
    jobs = {re.findall(r"(cortex [a-z]+(?: --observability)?|memory-health)", line)[0] for line in LINES}
    units = {re.findall(r"ExecStart=(cortex [a-z]+(?: --observability)?)", unit.read_text())[0] for unit in UNITS}
    assert jobs - {"memory-health"} == units - {"cortex sleep"}


@pytest.mark.realpart
def test_systemd_takes_the_units(tmp_path):
    verify = shutil.which("systemd-analyze")
    if verify is None:
        pytest.skip("systemd-analyze is not installed")
    for path in sorted((EXAMPLES / "systemd").glob("cortex-*.[st]*")):
        program = Path(sys.executable).parent
        text = re.sub(r"ExecStart=(cortex)", rf"ExecStart={program}/\1", path.read_text())
        (tmp_path / path.name).write_text(text)
    units = sorted(map(str, tmp_path.iterdir()))
    done = subprocess.run([verify, "verify", "--man=no", *units], capture_output=True, text=True, timeout=60)
    assert not re.search(r"cortex-|memory-health", done.stderr), done.stderr
