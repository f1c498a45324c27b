"""The make recipes on machines that lack something, and one whole run from a fresh clone."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")

# A Python that says it is new enough and has no ensurepip, as Debian's is without python3-venv.
WITHOUT_VENV = '#!/bin/sh\ncase "$2" in *ensurepip*) exit 1;; *) exit 0;; esac\n'
TOO_OLD = "#!/bin/sh\nexit 1\n"
# One that breaks off in the middle of making the environment.
BREAKS_OFF = '#!/bin/sh\nif [ "$2" = venv ]; then mkdir -p .venv/bin; exit 1; fi\n'
INTERRUPTED = '#!/bin/sh\nif [ "$2" = venv ]; then mkdir -p .venv/bin; kill -9 $PPID; fi\n'


def make(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS", "PYTHON"))}
    return subprocess.run(
        ["make", "--no-print-directory", *arguments],
        cwd=folder, env={**own, **variables}, capture_output=True, encoding="utf-8", stdin=subprocess.DEVNULL,
    )  # fmt: skip


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    return tmp_path


def fake_python(folder: Path, script: str, name: str = "fake-python") -> Path:
    path = folder / name
    path.write_text(script, encoding="utf-8")
    path.chmod(0o755)
    return path


def test_a_python_without_venv_is_named_with_what_to_install(checkout: Path):
    python = fake_python(checkout, WITHOUT_VENV)
    made = make(checkout, "demo", PYTHON=str(python))
    assert made.returncode == 2
    assert made.stderr.splitlines()[0] == (
        f"make: {python} has no venv or no ensurepip; on Debian or Ubuntu: apt-get install python3-venv"
    )
    assert not (checkout / ".venv").exists()


def test_a_python_that_is_too_old_is_named(checkout: Path):
    python = fake_python(checkout, TOO_OLD)
    made = make(checkout, "demo", f"PYTHON={python}")
    assert made.returncode == 2
    assert made.stderr.splitlines()[0] == (
        f"make: Python 3.11 or newer is needed, and none of these is that: {python}; set PYTHON to one"
    )


def test_the_first_python_that_fits_is_taken(checkout: Path):
    """One without venv is passed over for the next that has it."""
    bin_folder = checkout / "bin"
    bin_folder.mkdir()
    fake_python(bin_folder, TOO_OLD, "python3.13")
    fake_python(bin_folder, WITHOUT_VENV, "python3.12")
    fake_python(bin_folder, f'#!/bin/sh\nexec {sys.executable} "$@"\n', "python3.11")
    made = make(checkout, ".venv/.made", PATH=f"{bin_folder}:/usr/bin:/bin")
    assert made.returncode == 0, made.stderr
    assert (checkout / ".venv" / ".made").read_text(encoding="utf-8") == f"{checkout}\n"


@pytest.mark.parametrize("script", [BREAKS_OFF, INTERRUPTED], ids=["breaks off", "is killed"])
def test_a_half_made_environment_does_not_count_as_whole(checkout: Path, script: str):
    made = make(checkout, ".venv/.made", PYTHON=str(fake_python(checkout, script)))
    assert made.returncode != 0
    assert not (checkout / ".venv" / ".made").exists()


@pytest.mark.parametrize("stamp", ["/somewhere/else\n", "", None], ids=["moved", "empty stamp", "no Python"])
def test_an_environment_that_is_none_is_made_anew(checkout: Path, stamp: str | None):
    (checkout / ".venv").mkdir()
    (checkout / ".venv" / ".made").write_text(f"{checkout}\n" if stamp is None else stamp, encoding="utf-8")
    made = make(checkout, "--dry-run", "demo")
    assert "rm -rf .venv" in made.stdout


def test_help_names_every_recipe_for_people():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = set(re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)[1].split())
    named = set(re.findall(r"^make (\w+)", make(ROOT, "help").stdout, re.MULTILINE))
    assert named == phony


@pytest.mark.proof
def test_a_fresh_clone_runs_the_demo_with_one_command(tmp_path: Path):
    """What a newcomer does first: clone, `make demo`. The second run installs nothing."""
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True, stdin=subprocess.DEVNULL)

    first = make(clone, "demo", PYTHONIOENCODING="utf-8", PYTHON=sys.executable)
    second = make(clone, "demo", PYTHONIOENCODING="utf-8")

    assert first.returncode == 0, first.stdout + first.stderr
    assert "\n".join(line.rstrip() for line in first.stdout.splitlines()) in README
    assert (second.returncode, second.stdout, second.stderr) == (0, first.stdout, "")
