"""Measures `cortex` as a whole process: search, status and rebuild on three sizes of memory, in floors.

    make bench
    python benchmarks/retrieval.py [--sizes S M L] [--peers] [--corpora DIR]

A floor is what floor.py takes on the same memory. Floors of CPU time stand beside those of wall time: where others use
the machine too, they are what can be repeated; where it is idle, wall time is less if a second core helped. With
--peers the same query is put to search libraries (peers.py) that answer from an index; building it is given apart.
--corpora names a folder that holds S/root and S/queries.json and so on, as make_corpus.py writes them; without it they
are made, and removed again. How it is measured is said in measure.py.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from shutil import rmtree
from typing import NamedTuple

from measure import HERE, Measured, floor, in_turn, make, mebibytes, milliseconds, run, show_table

COMMAND = str(Path(sys.executable).with_name("cortex"))
PEERS = ("rank_bm25", "bm25s", "SQLite FTS5", "tantivy")
SIZES = ("S", "M", "L")


class Corpus(NamedTuple):
    """A memory, the query put to it, and how many MB of notes and rows it holds."""

    size: str
    root: Path
    query: str
    megabytes: float


class Measurement(NamedTuple):
    """What one program took on one corpus, beside the floor of the same turns. `build` is that of a peer's index."""

    title: str
    corpus: Corpus
    result: Measured
    floor: Measured
    build: Measured | None = None


def open_corpus(folder: Path, size: str) -> Corpus:
    """Return the corpus of a size below `folder`."""
    root = folder / size / "root"
    query = json.loads((folder / size / "queries.json").read_text(encoding="utf-8"))["mixed"]
    total = sum(path.stat().st_size for suffix in ("md", "jsonl") for path in root.rglob(f"*.{suffix}"))
    return Corpus(size, root, query, total / 1e6)


def measure_commands(corpus: Corpus) -> list[Measurement]:
    """Measure the three commands on a corpus, in turn with the floor."""
    words = {"search": ["search", corpus.query], "status": ["status"], "rebuild": ["rebuild", "--from-canonical"]}
    commands = [[COMMAND, *said, "--memory-root", str(corpus.root)] for said in words.values()]
    base, *results = in_turn([floor(corpus.root), *commands])
    return [Measurement(title, corpus, result, base) for title, result in zip(words, results, strict=True)]


def measure_peers(corpus: Corpus, indexes: Path) -> list[Measurement]:
    """Build each peer's index once, then put the query to each, in turn with the floor and with `cortex search`."""
    program = [sys.executable, str(HERE / "peers.py")]
    builds = [run([*program, "build", name, str(corpus.root), str(indexes / name)]) for name in PEERS]
    ours = [COMMAND, "search", corpus.query, "--memory-root", str(corpus.root)]
    asked = [[*program, "query", name, str(indexes / name), corpus.query] for name in PEERS]
    base, searched, *results = in_turn([floor(corpus.root), ours, *asked])
    theirs = zip(PEERS, results, builds, strict=True)
    return [
        Measurement("cortex search", corpus, searched, base),
        *[Measurement(name, corpus, result, base, build) for name, result, build in theirs],
    ]


def show(measurements: Sequence[Measurement]) -> None:
    """Print what was measured, one line for each."""
    rows = [
        (
            f"{title} {corpus.size}",
            mebibytes(result.peak_mib),
            milliseconds(result.seconds),
            milliseconds(base.seconds),
            f"{result.seconds / base.seconds:.1f}",
            milliseconds(result.cpu_seconds),
            f"{result.cpu_seconds / base.cpu_seconds:.1f}",
            f"{build.seconds:.1f} s" if build else "",
            mebibytes(build.peak_mib) if build else "",
        )
        for title, corpus, result, base, build in measurements
    ]
    headings = ("on", "peak", "time", "floor", "floors", "CPU", "CPU floors", "index", "its peak")
    used = len(headings) if any(each.build for each in measurements) else -2
    show_table(headings[:used], [row[:used] for row in rows])


def show_growth(measurements: Sequence[Measurement]) -> None:
    """Print how much more CPU time each takes on the largest corpus than on the smallest, for how much more text."""
    by_place = {(each.title, each.corpus.size): each for each in measurements}
    first, last = measurements[0].corpus, measurements[-1].corpus
    rows = [("text", f"{first.megabytes:.1f} MB", f"{last.megabytes:.1f} MB", _times(first.megabytes, last.megabytes))]
    for title in dict.fromkeys(each.title for each in measurements):
        small, large = by_place[title, first.size], by_place[title, last.size]
        for label, one, other in ((title, small.result, large.result), (f"{title}: index", small.build, large.build)):
            if one and other:
                growth = _times(one.cpu_seconds, other.cpu_seconds)
                rows.append((label, milliseconds(one.cpu_seconds), milliseconds(other.cpu_seconds), growth))
    show_table(("growth of CPU time", first.size, last.size, "times"), rows)


def _times(small: float, large: float) -> str:
    return f"{large / small:.1f}"


def measure_all(corpora: Path, sizes: Sequence[str], scratch: Path, *, peers: bool) -> None:
    """Measure each size and print; make the corpora that are not there."""
    measured: list[Measurement] = []
    compared: list[Measurement] = []
    for size in sizes:
        if not (corpora / size).exists():
            make(HERE / "make_corpus.py", str(corpora / size), size)
        corpus = open_corpus(corpora, size)
        measured += measure_commands(corpus)
        if peers:
            compared += measure_peers(corpus, scratch / size)
            rmtree(scratch / size)
    for group in (measured, compared):
        if group:
            show(group)
        if group and len(sizes) > 1:
            show_growth(group)


def main() -> None:
    """Read the options, measure, print."""
    parser = argparse.ArgumentParser(description="Measure cortex on small and large memories.")
    parser.add_argument("--corpora", type=Path, help="a folder that holds S, M and L; what it lacks is made in it")
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=SIZES)
    parser.add_argument("--peers", action="store_true", help="compare with search libraries; needs the extra [bench]")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cortex-bench-") as folder:
        corpora = options.corpora or Path(folder) / "corpora"
        measure_all(corpora, options.sizes, Path(folder) / "indexes", peers=options.peers)


if __name__ == "__main__":
    main()
