"""The page in a real browser (headless Chromium), and before axe-core, which looks for barriers.

AXE_CORE names axe.min.js of the npm package axe-core.
"""

import json
import re
import subprocess
from pathlib import Path
from typing import Final

import pytest
from support.health_tree import DAY, MINUTE, NOW, observability
from support.memories import Log, Recipe, RunFolder, write
from support.pages import Page
from support.programs import named_file, program
from support.running import run

from policies.timestamps import format_instant

pytestmark = pytest.mark.realpart

SCRIPT: Final = "<script>document.body.remove()</script>"
BROKEN: Final = Recipe(reviewer=("failed",), run_folders=(RunFolder(DAY),), retrieval=None, index="other index")
# Name of a case: its memory, how many runs are remembered, its exit code.
CASES: Final = {
    "ok": (Recipe(), 0, 0),
    "warn": (Recipe(logs=(Log("a.log", 9, 31 * DAY),)), 12, 1),
    "critical": (BROKEN, 40, 2),
    "many": (Recipe(), 5000, 0),
}
FLAGS: Final = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--virtual-time-budget=20000",
)  # fmt: skip


def remembered(count: int) -> str:
    """Rows of so many runs a quarter of an hour apart: mostly ok, every 50th a warning, every 700th critical."""
    kinds = {"ok": [], "warn": ["retrieval::retrieval-stale"], "critical": ["reviewer::reviewer-latest-failed"]}
    words = ["critical" if place % 700 == 1 else "warn" if place % 50 == 1 else "ok" for place in range(count)]
    return "".join(
        json.dumps(
            {"ts": format_instant(NOW - (count - place) * 15 * MINUTE), "overall": word, "findings": kinds[word]}
        )
        + "\n"
        for place, word in enumerate(words)
    )


def rendered(case: str, folder: Path) -> str:
    """Return the page of a case, its memory named by a script."""
    recipe, count, exit_code = CASES[case]
    places = write(recipe, folder)
    (observability(folder) / "memory-health.jsonl").write_text(remembered(count))
    answer = run("--root", places.root, "--now", str(NOW), "--no-write", "--format", "html", "--name", SCRIPT)
    assert (answer.exit_code, answer.stderr) == (exit_code, "")
    return answer.stdout


def browse(page: str, folder: Path, *flags: str) -> str:
    """Open a page in a browser of its own; return the document that the browser made of it."""
    chromium = program("chromium", "chromium-browser", "google-chrome")
    file = folder / "page.html"
    file.write_text(page, encoding="ascii")
    command = [chromium, *FLAGS, f"--user-data-dir={folder / 'profile'}", *flags, file.as_uri()]
    return subprocess.run(command, capture_output=True, check=True, timeout=120, encoding="utf-8").stdout


@pytest.mark.parametrize("case", CASES)
def test_a_browser_shows_a_script_in_the_name_as_text(case: str, tmp_path: Path) -> None:
    shown = Page(browse(rendered(case, tmp_path / "R"), tmp_path, "--dump-dom"))
    assert "script" not in {tag for tag, _ in shown.tags}
    assert f"Memory {SCRIPT}" in shown.text


@pytest.mark.parametrize("width", [360, 1600])
def test_a_browser_paints_the_page(width: int, tmp_path: Path) -> None:
    picture = tmp_path / "page.png"
    page = rendered("critical", tmp_path / "R")
    browse(page, tmp_path, f"--window-size={width},2000", f"--screenshot={picture}")
    assert picture.stat().st_size > 50_000


SCHEMES = {"light": "not all", "dark": "all"}


@pytest.mark.proof
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", [360, 1600])
@pytest.mark.parametrize("case", CASES)
def test_axe_finds_no_barrier_and_nothing_hangs_over(case: str, width: int, scheme: str, tmp_path: Path) -> None:
    axe = named_file("AXE_CORE", "axe.min.js").read_text(encoding="utf-8")
    page = rendered(case, tmp_path / "R").replace("(prefers-color-scheme: dark)", SCHEMES[scheme])
    page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
    report = (
        "axe.run().then(r => document.body.innerHTML = '<pre>' + JSON.stringify({passes: r.passes.length, "
        "violations: r.violations.map(v => v.id + ' ' + v.nodes.length), incomplete: r.incomplete.map(v => v.id), "
        "over: document.documentElement.scrollWidth - innerWidth}) + '</pre>')"
    )
    ascii_axe = "".join(char if char.isascii() else f"\\u{ord(char):04x}" for char in axe)
    page = page.replace("</body>", f"<script>{ascii_axe}</script><script>{report}</script></body>")
    dom = browse(page, tmp_path, f"--window-size={width},1200", "--dump-dom")
    (result,) = re.findall(r"<pre>(.*?)</pre>", dom)
    found = json.loads(result)
    assert found.pop("passes") > 30
    assert found == {"violations": [], "incomplete": [], "over": 0}
