"""The documents say what the code does: made parts are current, links lead somewhere, recipes and options exist."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from healthcheck.checks import CHECKS, FINDINGS
from policies.thresholds import THRESHOLDS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCUMENTS = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "examples/**/*.md", "benchmarks/**/*.md")
    for path in ROOT.glob(pattern)
)
RECORDS = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
CODE_BLOCK = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_what_is_made_from_the_code_is_current():
    """The page of findings, the README's thresholds, and its picture of the demo: `make docs` writes them anew."""
    made = subprocess.run(
        [sys.executable, ROOT / "docs" / "generate.py", "--check"], capture_output=True, encoding="utf-8"
    )
    assert (made.returncode, made.stdout, made.stderr) == (0, "", "")


@pytest.mark.parametrize("spec", FINDINGS, ids=lambda spec: spec.id)
def test_every_finding_has_its_heading(spec):
    page = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
    section = page.partition(f"\n### {spec.id}\n")[2].partition("\n###")[0]
    assert section.strip().startswith(f"{spec.severity.word}. {spec.meaning}")
    assert all(sentence in section for sentence in (spec.rule, spec.remedy, spec.way_back))


def test_the_readme_shows_the_demo_in_its_first_screen():
    assert "\n$ make demo\n" in README[:1000]
    assert "verdicts are what they should be" in README
    assert README.index("$ make test") < README.index("## What it is")


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_the_readme_names_every_check(check):
    assert f"| `{check.id}` | {check.title} |\n" in README


@pytest.mark.parametrize("threshold", THRESHOLDS, ids=lambda threshold: threshold.name)
def test_the_readme_names_every_threshold_and_its_variable(threshold):
    assert f"| `{threshold.name}` |" in README
    assert f"| `{threshold.variable}` |" in README


def test_the_readme_names_every_option_and_no_other():
    command = Path(sys.executable).with_name("memory-health")
    shown = subprocess.run([command, "--help"], capture_output=True, encoding="utf-8", check=True).stdout
    real = set(re.findall(r"--[a-z][a-z-]+", shown)) - {"--help", "--version"}
    table = README.partition("## Use")[2].partition("### Exit codes")[0]
    assert set(re.findall(r"--[a-z][a-z-]+", table)) == real


def test_the_page_of_the_textfile_names_every_series_and_no_other(tmp_path: Path):
    command = Path(sys.executable).with_name("memory-health")
    subprocess.run([command, "--root", tmp_path, "--no-write", "--textfile", tmp_path / "x.prom"], capture_output=True)
    written = (tmp_path / "x.prom").read_text(encoding="utf-8")
    real = set(re.findall(r"^# TYPE memory_health_(\w+)", written, re.MULTILINE))
    page = (ROOT / "docs" / "textfile.md").read_text(encoding="utf-8")
    first_cells = re.findall(r"^\| (`.*?) \|", page, re.MULTILINE)
    assert {name for cell in first_cells for name in re.findall(r"`(\w+)", cell)} == real


def anchors(path: Path) -> set[str]:
    """What a document's headings are called in links."""
    text = CODE_BLOCK.sub("", path.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_links_lead_somewhere(document: Path):
    text = CODE_BLOCK.sub("", document.read_text(encoding="utf-8"))
    broken = []
    for link in LINK.findall(text):
        if link.startswith(("https://", "http://")):
            continue
        place, _, anchor = link.partition("#")
        target = (document.parent / place).resolve() if place else document
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_recipes_that_are_named_exist(document: Path):
    recipes = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = set(re.findall(r"(?:`|\$ )make ([a-z]+)", document.read_text(encoding="utf-8")))
    assert named <= recipes


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_files_that_are_named_exist(document: Path):
    """A path in backticks that begins with a folder of ours is a promise."""
    text = CODE_BLOCK.sub("", document.read_text(encoding="utf-8"))
    folders = "policies|cortex|healthcheck|tests|examples|benchmarks|docs"
    named = set(re.findall(rf"`((?:{folders})/[\w./-]*)`", text))
    assert {name for name in named if not (ROOT / name).exists()} == set()


def test_every_document_is_listed():
    listed = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    assert {path.name for path in (ROOT / "docs").glob("*.md")} - {"README.md"} == set(
        re.findall(r"\]\(([\w-]+\.md)\)", listed)
    )


@pytest.mark.parametrize("record", RECORDS, ids=lambda path: path.name)
def test_a_decision_says_why_what_and_what_follows(record: Path):
    text = record.read_text(encoding="utf-8")
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == ["Context", "Decision", "Consequences"]
    number, title = re.match(r"# (\d+)\. (.+)\n", text).groups()
    assert record.name.startswith(f"{int(number):04}-")
    index = (record.parent / "README.md").read_text(encoding="utf-8")
    assert f"| {number} | [{title}]({record.name}) |" in index


def test_the_changelog_keeps_its_form():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert "\n## [Unreleased]\n" in text
    kinds = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]
    for release in text.split("\n## ")[1:]:
        found = re.findall(r"^### (.+)$", release, re.MULTILINE)
        assert found == [kind for kind in kinds if kind in found]
