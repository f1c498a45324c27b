"""The `cortex` vectors: 1,070 calls, each compared with what another implementation answered.

Compared are exit status, `ok`, `command`, `data` and `error.code`; messages are our own, and our data may hold keys
that the vectors do not know. Where ours differs on purpose the case stands in `cortex_differences.py`.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from conformance.cortex_differences import DIFFERENCES, KEPT

from cortex.arguments import Host
from cortex.cli import answer

VECTORS = Path(__file__).parent / "vectors" / "cortex"
NOW = 1_786_363_200_000  # 2026-08-10T12:00:00Z; the vectors' validity windows end before 2015 or begin after 2900


def _cases():
    for path in sorted(VECTORS.glob("*/cases.jsonl")):
        for line in filter(None, path.read_text(encoding="utf-8").split("\n")):
            case = json.loads(line)
            yield pytest.param(path.parent, case, id=f"{path.parent.name}:{case['name']}")


@pytest.fixture(scope="session")
def copies(tmp_path_factory):
    """Folders made once for all cases that change nothing in them."""
    made = {}

    def copy_of(group: Path) -> Path:
        if group not in made:
            made[group] = tmp_path_factory.mktemp(group.name) / "corpus"
            shutil.copytree(group / "corpus", made[group])
        return made[group]

    return copy_of


@pytest.mark.parametrize(("group", "case"), list(_cases()))
def test_a_call_answers_as_the_vector_says_or_as_its_named_difference(group, case, copies, tmp_path, monkeypatch):
    root = copies(group)
    if case.get("setup"):
        root = tmp_path / "corpus"
        shutil.copytree(group / "corpus", root)
        for line in case["setup"]:
            subprocess.run(["bash", "-c", _fill(line, root)], cwd=root, check=True, capture_output=True)
    monkeypatch.chdir(_fill(case.get("cwd", "{ROOT}"), root))
    environment = {"HOME": str(root / "nohome")} | {k: _fill(v, root) for k, v in case.get("env", {}).items()}

    output, status = answer([_argument(word, root) for word in case["args"]], Host(environment, lambda: NOW))

    name = f"{group.name}:{case['name']}"
    difference = _difference(case, status, output, root)
    if name in DIFFERENCES:
        assert difference, f"agrees now: take it out of the table ({DIFFERENCES[name]})"
    else:
        assert not difference


def test_every_named_difference_is_a_case_of_the_vectors_and_they_are_few():
    names = {parameter.id for parameter in _cases()}
    assert set(DIFFERENCES) <= names
    assert len(names) == 1070
    assert len(DIFFERENCES) <= 130
    assert all(DIFFERENCES.values())


def test_every_oddity_that_the_vectors_mark_is_decided():
    marked = {parameter.id for parameter in _cases() if "quirk" in parameter.values[1]}
    assert marked - set(DIFFERENCES) == set(KEPT)
    assert all(KEPT.values())


def _fill(text: str, root: Path) -> str:
    return text.replace("{ROOT}", str(root))


def _argument(word, root: Path) -> str:
    return word["repeat"] * word["times"] if isinstance(word, dict) else _fill(word, root)


def _difference(case, status: int, output: bytes, root: Path) -> str:
    if not output.startswith(b'{"schema"'):
        return f"no envelope: {output[:60]!r}"
    expected = case["envelope"]
    ours = json.loads(output.decode().replace(os.fspath(root.resolve()), "{ROOT}").replace(str(root), "{ROOT}"))
    pairs = [
        ("exit", case["exit"], status),
        ("ok", expected["ok"], ours["ok"]),
        ("command", expected["command"], ours["command"]),
        ("code", (expected["error"] or {}).get("code"), (ours["error"] or {}).get("code")),
    ]
    for what, theirs, our in pairs:
        if theirs != our:
            return f"{what}: expected {theirs!r}, got {our!r}: {ours['error']}"
    return "" if _contained(expected["data"], ours["data"]) else _where(expected["data"], ours["data"], "data")


def _contained(expected, ours) -> bool:
    if isinstance(expected, dict) and isinstance(ours, dict):
        return all(key in ours and _contained(value, ours[key]) for key, value in expected.items())
    if isinstance(expected, list) and isinstance(ours, list):
        return len(expected) == len(ours) and all(map(_contained, expected, ours))
    return expected == ours


def _where(expected, ours, at: str) -> str:
    """Name the first place at which the two differ."""
    if isinstance(expected, dict) and isinstance(ours, dict):
        for key, value in expected.items():
            if key not in ours or not _contained(value, ours[key]):
                return _where(value, ours.get(key), f"{at}.{key}")
    if isinstance(expected, list) and isinstance(ours, list) and len(expected) == len(ours):
        for number, pair in enumerate(zip(expected, ours, strict=True)):
            if not _contained(*pair):
                return _where(*pair, f"{at}[{number}]")
    return f"{at}: expected {str(expected)[:200]}, got {str(ours)[:200]}"
