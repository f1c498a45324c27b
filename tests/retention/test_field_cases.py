"""What went wrong for users of such tools, each as a small case; the other ones stand beside what they are about."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from support.stores import AGENT, OPERATOR, bare
from support.vaults import Vault, ago, files, note

CORTEX = str(Path(sys.executable).with_name("cortex"))


def process(*words: str, limit: int | None = None) -> subprocess.CompletedProcess[str]:
    command = [CORTEX, *words] if limit is None else ["sh", "-c", f'ulimit -f {limit}; exec "$@"', "sh", CORTEX, *words]
    # A limit of file size would cut off compiled modules as well.
    own = {"HOME": "/nonexistent", "CORTEX_HEALTH_NOW": "2026-08-01T12:00:00Z", "PYTHONDONTWRITEBYTECODE": "1"}
    environment = {"PATH": os.environ["PATH"], **own}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)


class TestAWriteIsWholeOrNotAtAll:
    def test_a_note_that_would_not_fit_stays_as_it_was(self, tmp_path):
        """Under a limit of file size the note cannot be written: old content, no leftovers, an exit that says so."""
        vault = Vault(tmp_path / "vault")
        vault.put("L3", "x", note(f"created: {ago(400)}\n", "x" * 20_000))
        before = files(vault.path)
        done = process("forget", "--vault", str(vault.path), *OPERATOR, limit=8)
        assert done.returncode not in (0, 1), done.stdout
        assert files(vault.path) == before

    def test_a_plan_of_no_bytes_is_told_and_not_taken_for_a_fresh_start(self, tmp_path):
        vault = Vault(tmp_path / "vault")
        vault.put("L3", "x", f"created: {ago(400)}\n")
        plan = vault.forget()["plan"]
        (vault.path / f"_meta/plans/{plan}.json").write_bytes(b"")
        assert vault.call("undo", plan).refusal == (4, "integrity_error")


def test_many_writers_at_once_lose_nothing(tmp_path):
    """Twenty remember, one forgets, one archives: all items are there, every row parses, a loser changed nothing."""
    memory = bare(tmp_path / "m")
    for number in range(6):
        header = f"id: old{number}\nlevel: L3\ncreated: {ago(400)}\n"
        (memory.root / f"old{number}.md").write_bytes(note(header))
    root = ("--memory-root", str(memory.root))
    items = [{"type": "idea", "title": f"Idea {number}", "content": "Text."} for number in range(20)]
    calls = [("remember", json.dumps(item), *AGENT, *root) for item in items]
    calls += [("forget", *OPERATOR, *root), ("archive", *OPERATOR, *root)] * 2
    with ThreadPoolExecutor(6) as pool:
        done = list(pool.map(lambda words: process(*words), calls))
    assert [one.returncode for one in done[:20]] == [0] * 20
    assert all(one.returncode in (0, 4, 5) for one in done[20:]), [one.stdout for one in done[20:]]
    for words in (("forget", *OPERATOR, *root), ("archive", *OPERATOR, *root)):
        assert process(*words).returncode == 0
    ids = [
        json.loads(line)["path"]
        for line in (memory.root / "OBSERVABILITY/tier-b-writes.jsonl").read_text().splitlines()
    ]
    assert len(set(ids)) == 20
    for log in (memory.root / "OBSERVABILITY").glob("*.jsonl"):
        for line in log.read_text().splitlines():
            json.loads(line)
    assert memory.records() == 20
    assert sorted(path.name for path in memory.root.glob("archive/2026/*.md")) == [
        f"old{number}.md" for number in range(6)
    ]


@pytest.mark.parametrize("name", ["L3-情节", "L3"])
def test_a_vault_whose_policy_names_a_level_without_a_folder_is_no_quiet_success(tmp_path, name):
    (tmp_path / "vault/记忆" / name).mkdir(parents=True)
    (tmp_path / "vault/_meta").mkdir()
    (tmp_path / "vault/_meta/memory-policy.yaml").write_text("L2: {forget: {after_days: 1}}\n")
    warnings = Vault(tmp_path / "vault").forget()["warnings"]
    assert any(warning.startswith("L2.forget") for warning in warnings)
