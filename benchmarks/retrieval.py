"""Measures `cortex` as a whole process: what it answers from the files and from an index, on three sizes of memory.

    make bench
    python benchmarks/retrieval.py [--sizes S M L] [--peers] [--corpora DIR]

A floor is what floor.py takes on the same memory. Floors of CPU time stand beside those of wall time: where others use
the machine too, they are what can be repeated; where it is idle, wall time is less if a second core helped.

The index is adopted as a person adopts one: a label, a report of `cortex benchmark`, `cortex index build --adopt`. What
is answered through it is held against what is answered without it, before anything is timed; then once more after one
file was changed, which is read beside the index. With --peers the same query is put to search libraries (peers.py) that
answer from an index of theirs. What making each index takes is given apart.

--corpora names a folder that holds S/root and S/queries.json and so on, as make_corpus.py writes them; without it they
are made, and removed again. Everything is measured on a copy, so the folder stays as it was. How it is measured is said
in measure.py.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import copytree, rmtree
from typing import Any, NamedTuple

from measure import HERE, Measured, floor, in_turn, make, mebibytes, milliseconds, run, show_table

COMMAND = str(Path(sys.executable).with_name("cortex"))
PEERS = ("rank_bm25", "bm25s", "SQLite FTS5", "tantivy")
SIZES = ("S", "M", "L")
# What a memory holds beside its corpus; none of it is copied, so that each copy begins without an index.
OURS = ("INDEX", "BENCHMARKS", "OBSERVABILITY", "CORTEX")
AS_OPERATOR = ("--operator", "benchmark", "--allow-write")
_MIB = 1024 * 1024


class Corpus(NamedTuple):
    """A memory, the query put to it, and how many bytes of notes and rows it holds."""

    size: str
    root: Path
    query: str
    bytes: int

    def command(self, *words: str) -> list[str]:
        """Return a call of `cortex` on this memory."""
        return [COMMAND, *words, "--memory-root", str(self.root)]

    def answer(self, *words: str) -> dict[str, Any]:
        """Return what such a call answers."""
        said = subprocess.run(self.command(*words), stdout=subprocess.PIPE, check=True)
        data: dict[str, Any] = json.loads(said.stdout)["data"]
        return data


class Answered(NamedTuple):
    """What one program took to answer on one corpus, beside the floor of the same turns."""

    title: str
    corpus: Corpus
    result: Measured
    floor: Measured


class Made(NamedTuple):
    """What making (or proving) an index took, once, and how many bytes it has then."""

    title: str
    corpus: Corpus
    result: Measured
    bytes: int


@contextmanager
def copied(folder: Path, size: str, scratch: Path) -> Iterator[Corpus]:
    """Hand out a copy of the corpus of a size below `folder`, without what is not corpus, for as long as it is used."""
    root = scratch / "root"
    copytree(folder / size / "root", root, ignore=lambda at, _: OURS if Path(at) == folder / size / "root" else ())
    query = json.loads((folder / size / "queries.json").read_text(encoding="utf-8"))["mixed"]
    try:
        yield Corpus(size, root, query, sum(path.stat().st_size for path in files_of(root)))
    finally:
        rmtree(root)


def files_of(root: Path) -> list[Path]:
    """Return the notes and logs below `root`, in order."""
    return sorted(path for suffix in ("md", "jsonl") for path in root.rglob(f"*.{suffix}"))


def adopt(corpus: Corpus, scratch: Path) -> None:
    """Adopt an index: by a label, a report, and a build. Neither is left where the floor would read it."""
    labels, report = scratch / "labels.jsonl", corpus.root / "BENCHMARKS" / "cortex-benchmark-v1-adoption.json"
    best = corpus.answer("search", corpus.query, "--no-index")["items"][0]["id"]
    labels.unlink(missing_ok=True)
    run(corpus.command("benchmark", "label", corpus.query, best, "--labels", str(labels), "--yes", *AS_OPERATOR))
    run(corpus.command("benchmark", "--labels", str(labels), "--output", str(report), "--allow-write"))
    run(corpus.command("index", "build", "--adopt", str(report), *AS_OPERATOR))


def make_index(title: str, corpus: Corpus, *words: str) -> Made:
    """Measure a command of the index once."""
    result = run(corpus.command(*words))
    return Made(title, corpus, result, corpus.answer("index", "status")["index"]["bytes"])


def make_peer(name: str, corpus: Corpus, indexes: Path) -> Made:
    """Measure once how a peer builds its index below `indexes`."""
    result = run([sys.executable, str(HERE / "peers.py"), "build", name, str(corpus.root), str(indexes / name)])
    size = sum(path.stat().st_size for path in (indexes / name).rglob("*") if path.is_file())
    return Made(name, corpus, result, size)


def check_answers(corpus: Corpus, beside: int) -> None:
    """Hold the answer through the index against that without it.

    Raises:
        SystemExit: They differ, or the index is not used with exactly `beside` files read beside it.
    """
    used = [index["files_read_beside_it"] for index in corpus.answer("status")["indexes"]]
    if used != [beside]:
        message = f"{corpus.size}: the index was to be used with {beside} files beside it, not {used}"
        raise SystemExit(message)
    if corpus.answer("search", corpus.query) != corpus.answer("search", corpus.query, "--no-index"):
        message = f"{corpus.size}: the answer through the index is another"
        raise SystemExit(message)


def change_a_file(corpus: Corpus) -> None:
    """Add a line to the first note, or to the text of the last row of the first log."""
    path = files_of(corpus.root / "KNOWLEDGE")[0]
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        path.write_text(f"{text}\nOne more line.\n", encoding="utf-8")
        return
    *rows, last = text.rstrip("\n").split("\n")
    row = json.loads(last)
    row["content"] += " One more line."
    path.write_text("\n".join([*rows, json.dumps(row)]) + "\n", encoding="utf-8")


def time_answers(corpus: Corpus, commands: dict[str, list[str]]) -> list[Answered]:
    """Measure commands on a corpus, in turn with the floor."""
    base, *results = in_turn([floor(corpus.root), *commands.values()])
    return [Answered(title, corpus, result, base) for title, result in zip(commands, results, strict=True)]


def measure(corpus: Corpus, scratch: Path, *, peers: bool) -> tuple[list[Answered], list[Made]]:
    """Measure on one corpus what answers take, and what making the indexes takes."""
    indexes = scratch / "indexes"
    made = [make_peer(name, corpus, indexes) for name in PEERS] if peers else []
    adopt(corpus, scratch)
    ours = [make_index("index build", corpus, "index", "build", *AS_OPERATOR)]
    asked = {
        "search": corpus.command("search", corpus.query, "--no-index"),
        "search, index": corpus.command("search", corpus.query),
        "status": corpus.command("status", "--no-index"),
        "status, index": corpus.command("status"),
        "rebuild": corpus.command("rebuild", "--from-canonical"),
    }
    if peers:
        program = [sys.executable, str(HERE / "peers.py"), "query"]
        asked |= {name: [*program, name, str(indexes / name), corpus.query] for name in PEERS}
    check_answers(corpus, beside=0)
    answered = time_answers(corpus, asked)
    change_a_file(corpus)
    check_answers(corpus, beside=1)
    answered[2:2] = time_answers(corpus, {"search, index, a file changed": asked["search, index"]})
    ours.append(make_index("index refresh", corpus, "index", "refresh", *AS_OPERATOR))
    ours.append(make_index("index verify", corpus, "index", "verify"))
    if peers:
        rmtree(indexes)
    return answered, ours + made


def show_answers(answers: Sequence[Answered]) -> None:
    """Print what answers took, one line for each."""
    rows = [
        (
            f"{title} {corpus.size}",
            mebibytes(result.peak_mib),
            milliseconds(result.seconds),
            milliseconds(base.seconds),
            f"{result.seconds / base.seconds:.2f}",
            milliseconds(result.cpu_seconds),
            f"{result.cpu_seconds / base.cpu_seconds:.2f}",
        )
        for title, corpus, result, base in answers
    ]
    show_table(("on", "peak", "time", "floor", "floors", "CPU", "CPU floors"), rows)


def show_indexes(made: Sequence[Made]) -> None:
    """Print what making each index took, one line for each."""
    rows = [
        (
            f"{title} {corpus.size}",
            f"{result.seconds:.1f} s",
            f"{result.cpu_seconds:.1f} s",
            mebibytes(result.peak_mib),
            f"{size / _MIB:.1f} MiB",
            f"{size / corpus.bytes:.2f}",
        )
        for title, corpus, result, size in made
    ]
    show_table(("making", "time", "CPU", "peak", "index", "of the text"), rows)


def show_growth(answers: Sequence[Answered], made: Sequence[Made]) -> None:
    """Print how much more CPU time each takes on the largest corpus than on the smallest, for how much more text."""
    first, last = answers[0].corpus, answers[-1].corpus
    sizes = [corpus.bytes / 1e6 for corpus in (first, last)]
    rows = [("text", *[f"{size:.1f} MB" for size in sizes], f"{sizes[1] / sizes[0]:.1f}")]
    for group, form in ((answers, "{}"), (made, "{}: making")):
        taken = {(each.title, each.corpus.size): each.result.cpu_seconds for each in group}
        for title in dict.fromkeys(each.title for each in group):
            small, large = taken[title, first.size], taken[title, last.size]
            name = title if title.startswith("index ") else form.format(title)
            rows.append((name, milliseconds(small), milliseconds(large), f"{large / small:.1f}"))
    show_table(("growth of CPU time", first.size, last.size, "times"), rows)


def measure_all(corpora: Path, sizes: Sequence[str], scratch: Path, *, peers: bool) -> None:
    """Measure each size and print; make the corpora that are not there."""
    answers: list[Answered] = []
    made: list[Made] = []
    for size in sizes:
        if not (corpora / size).exists():
            make(HERE / "make_corpus.py", str(corpora / size), size)
        with copied(corpora, size, scratch) as corpus:
            answered, built = measure(corpus, scratch, peers=peers)
        answers += answered
        made += built
    show_answers(answers)
    show_indexes(made)
    if len(sizes) > 1:
        show_growth(answers, made)


def main() -> None:
    """Read the options, measure, print."""
    parser = argparse.ArgumentParser(description="Measure cortex on small and large memories.")
    parser.add_argument("--corpora", type=Path, help="a folder that holds S, M and L; what it lacks is made in it")
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=SIZES)
    parser.add_argument("--peers", action="store_true", help="compare with search libraries; needs the extra [bench]")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cortex-bench-") as folder:
        scratch = Path(folder)
        measure_all(options.corpora or scratch / "corpora", options.sizes, scratch, peers=options.peers)


if __name__ == "__main__":
    main()
