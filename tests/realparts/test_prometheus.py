"""The textfile before the programs that it is made for: promtool, and a node_exporter on the loopback."""

import shutil
import stat
import subprocess
from pathlib import Path
from typing import Final

import pytest
from support.health_tree import DAY, NOW
from support.memories import Log, Places, Recipe, RunFolder, write
from support.metrics import Series, series_in
from support.programs import program
from support.running import run, run_process
from support.servers import exporter, fetch

pytestmark = pytest.mark.realpart

RECIPES: Final = {
    "green": Recipe(),
    "red": Recipe(
        reviewer=("failed",), run_folders=(RunFolder(DAY),), retrieval=None, proposals=None, index="other index"
    ),
    "empty": Recipe(reviewer=None, retrieval=None, proposals=None, index="none"),
    'odd "name"\\': Recipe(logs=(Log('a"b\\\n.log', 9, 31 * DAY),), index="manifest", notes=2),
}


def published(recipe: Recipe, name: str, folder: Path) -> Path:
    """Audit a memory of this recipe under umask 077, and return the textfile."""
    root = folder / "memories" / str(abs(hash(name)))
    root.mkdir(parents=True)
    places: Places = write(recipe, root)
    metrics = folder / "metrics"
    metrics.mkdir(exist_ok=True)
    textfile = metrics / f"{root.name}.prom"
    arguments = ("--root", places.root, "--now", str(NOW), "--no-write", "--name", name, "--textfile", textfile)
    run_process(*arguments, before="umask 077")
    return textfile


@pytest.mark.parametrize("name", RECIPES)
def test_promtool_finds_nothing_to_say_about_the_file(name: str, tmp_path: Path) -> None:
    promtool = program("promtool")
    textfile = published(RECIPES[name], name, tmp_path)
    assert stat.S_IMODE(textfile.stat().st_mode) == 0o644
    checked = subprocess.run(
        [promtool, "check", "metrics"], input=textfile.read_bytes(), capture_output=True, check=False, timeout=30
    )
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, b"", b"")


def ours(series: Series) -> Series:
    return {key: value for key, value in series.items() if key[0].startswith("memory_health_")}


def test_node_exporter_serves_every_series_of_two_memories_side_by_side(tmp_path: Path) -> None:
    written: Series = {}
    for name in ("green", 'odd "name"\\'):
        textfile = published(RECIPES[name], name, tmp_path)
        one = series_in(textfile.read_text("utf-8"))
        assert not written.keys() & one.keys()
        written |= one
    with exporter(tmp_path / "metrics") as (address, process):
        served = series_in(fetch(f"http://{address}/metrics", process))
    assert ours(served) == written
    assert served[("node_textfile_scrape_error", ())] == 0
    assert {dict(labels)["memory"] for _, labels in ours(served)} == {"green", 'odd "name"\\'}


def test_node_exporter_serves_critical_after_the_memory_broke(tmp_path: Path) -> None:
    textfile = published(RECIPES["green"], "green", tmp_path)
    root = next((tmp_path / "memories").iterdir())
    shutil.rmtree(root / "LIFEOS" / "MEMORY" / "OBSERVABILITY")
    (root / "LIFEOS" / "MEMORY" / "OBSERVABILITY").write_bytes(b"x")
    arguments = ("--root", root, "--now", str(NOW), "--no-write", "--name", "green", "--textfile", textfile)
    assert run(*arguments).exit_code == 2
    with exporter(tmp_path / "metrics") as (address, process):
        served = series_in(fetch(f"http://{address}/metrics", process))
    assert served[("memory_health_status", (("memory", "green"),))] == 2
