"""Shows that no text takes quadratic time: texts made to be slow, of 2, 4 and 8 MiB, put to a command of `cortex`.

    python benchmarks/growth.py [check|search]

Each text is the whole of a Markdown note, lies in its frontmatter, is the content or the title of a JSONL row, or a
JSONL file as it is. Shown is the CPU time of the whole process for 8 MiB, above that of the same command on an empty
memory, and what a doubling multiplies it by: about 2, and 4 if it were quadratic. Each is the least of two runs. A file
may well be refused (exit 4): what is measured is how long it takes to find that out. A process that takes 30 CPU
seconds is ended, and nothing larger of its kind is tried.
"""

import argparse
import json
import resource
import sys
import tempfile
from collections.abc import Callable
from math import inf, isnan, nan
from pathlib import Path
from signal import SIGXCPU
from typing import NamedTuple

from measure import run, show_table

COMMAND = str(Path(sys.executable).with_name("cortex"))
COMMANDS = {
    "check": ["check"],
    "search": ["search", "private aa slug 部署", "--now", "2026-08-01T12:00:00Z"],
}
MIB = 1024 * 1024
SIZES = (2 * MIB, 4 * MIB, 8 * MIB)  # of the file; 8 MiB is the most that a file may have
RUNS = 2
CPU_SECONDS = 30
ENDED = -SIGXCPU
# Below this a growth says nothing; above that a line is listed at the end.
TELLING_SECONDS = 0.2
SLOW_SECONDS, STEEP = 1.0, 3.0
ROW = {"id": "a", "type": "note", "title": "A", "created": "2026-01-01", "updated": "2026-01-01", "content": "A"}
FIELDS = "".join(f"{name}: {value}\n" for name, value in ROW.items())


class Text(NamedTuple):
    """A text of any size: `first` as often as fits, then `second` as often, between a start and an end."""

    start: str
    first: str
    second: str = ""
    end: str = ""

    def repeated(self, times: int) -> str:
        """Return the text with so many repetitions."""
        return self.start + self.first * times + self.second * times + self.end


TEXTS = {
    "<": Text("", "<"),
    "blanks": Text("", " "),
    "newlines": Text("", "\n"),
    "CR LF": Text("", "\r\n"),
    "letters": Text("", "a"),
    "words": Text("", "aa "),
    "brackets": Text("", "["),
    "quotes": Text("", '"'),
    "backslashes": Text("", "\\"),
    "hyphens": Text("", "-"),
    "{": Text("", '{"a":'),
    "< and blanks": Text("", "<" + 9 * " "),
    "< p r i": Text("", "< p r i "),
    "</private": Text("", "</private"),
    "</private and blanks": Text("", "</private" + 9 * " "),
    "</private, then blanks": Text("</private", " "),
    "<private>": Text("", "<private>"),
    "<private></private>": Text("", "<private></private>"),
    "<private>…, </private>…": Text("", "<private>", "</private>"),
    "<private a": Text("", "<private a"),
    "<pri<private>…, vate>…": Text("", "<pri", "<private></private>vate>"),
    "full-width <": Text("", "\uff1c"),
    "full-width < and blanks": Text("", "\uff1c\u3000\u200b"),
    "< and look-alikes": Text("", "<\u0440\u0433"),
    "< and invisible": Text("<", "\u200b"),
    "ideographs": Text("", "\u90e8\u7f72"),
    "marks": Text("", "\u0301"),
    "jamo": Text("", "\u1100\u1161"),
    "slug:": Text("related:\n", "slug: a\n"),
    "- slug:": Text("related:\n", "  - slug: a\n"),
    "---": Text("", "---\n"),
    "--- in front": Text("---\n", "---"),
    "a: b": Text("", "a: b\n"),
    "a: and blanks": Text("a:", " "),
    "names": Text("", "a_" * 8 + "\n"),
    "related:": Text("", "related:\n"),
    "related: - a: b": Text("related:\n", "- a: b\n"),
    "related: -": Text("related:\n", "- \n"),
    "related: - and blanks": Text("related:\n-", " "),
    "related: blank lines": Text("related:\n", "   \n"),
    "related: [,": Text("related: [", ",", end="]\n"),
    "related: [[": Text("related: [", "[[", end="]\n"),
    "related: [[a]],": Text("related: [", "[[a]],", end="]\n"),
    'related: ["': Text("related: [", '"', end="]\n"),
    "related: [', \"": Text("related: [", "', \"", end="]\n"),
    "related: #": Text("related: a", " #", end="\n"),
    "related: [[ #": Text("related: [[", " #a", end="\n"),
}


class Place(NamedTuple):
    """Where a text is put: the file's name, and how its content is made of the text."""

    file: str
    content: Callable[[str], str]


PLACES = {
    "note": Place("a.md", lambda text: text),
    "frontmatter": Place("a.md", lambda text: f"---\n{FIELDS}{text}\n---\nA\n"),
    "content": Place("a.jsonl", lambda text: json.dumps({**ROW, "content": f"A {text}"}, ensure_ascii=False) + "\n"),
    "title": Place("a.jsonl", lambda text: json.dumps({**ROW, "title": f"A {text}"}, ensure_ascii=False) + "\n"),
    "line": Place("a.jsonl", lambda text: text),
}


def fill(place: Place, text: Text, size: int) -> bytes:
    """Return a file's content, the text repeated until it is as close to `size` bytes as it can be."""
    length: Callable[[int], int] = lambda times: len(place.content(text.repeated(times)).encode())  # noqa: E731
    empty = length(0)
    return place.content(text.repeated((size - empty) // (length(1) - empty))).encode()


def least_cpu(command: list[str]) -> float:
    """Return the CPU seconds of the quicker of two runs; infinity where it was ended."""
    results = [run(command, allowed=(0, 3, 4, ENDED)) for _ in range(RUNS)]
    return min(inf if each.status == ENDED else each.cpu_seconds for each in results)


class Growth(NamedTuple):
    """CPU seconds for the largest size that was tried, and what a doubling multiplied them by (NaN: too quick)."""

    seconds: float
    factor: float

    def __str__(self) -> str:
        """Return it as the table shows it."""
        factor = "" if isnan(self.factor) else f" ×{self.factor:.1f}"
        return f"{self.seconds:.2f} s{factor}"


def measure(root: Path, words: list[str], place: Place, text: Text, start: float) -> Growth:
    """Measure one text in one place."""
    path = root / "KNOWLEDGE" / place.file
    command = [COMMAND, *words, "--memory-root", str(root)]
    seconds: list[float] = []
    for size in SIZES:
        path.write_bytes(fill(place, text, size))
        seconds.append(max(least_cpu(command) - start, 0.001))
        if seconds[-1] == inf:
            break
    path.unlink()
    factor = (seconds[-1] / seconds[0]) ** (1 / max(len(seconds) - 1, 1))
    return Growth(seconds[-1], factor if seconds[-1] >= TELLING_SECONDS else nan)


def main() -> None:
    """Measure every text in every place; print a table, and what is slow or steep in it."""
    parser = argparse.ArgumentParser(description="Show how the time of a command grows with hostile texts.")
    parser.add_argument("command", nargs="?", choices=COMMANDS, default="check")
    parser.add_argument("--texts", nargs="+", choices=TEXTS, default=TEXTS, metavar="TEXT", help="only these")
    options = parser.parse_args()
    words = COMMANDS[options.command]
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, resource.RLIM_INFINITY))  # what is started inherits it
    found: dict[str, list[Growth]] = {}
    with tempfile.TemporaryDirectory(prefix="cortex-growth-") as folder:
        root = Path(folder)
        (root / "KNOWLEDGE").mkdir()
        start = least_cpu([COMMAND, *words, "--memory-root", folder])
        for name in options.texts:
            found[name] = [measure(root, words, place, TEXTS[name], start) for place in PLACES.values()]
    show_table([f"{options.command}, 8 MiB of", *PLACES], [[name, *map(str, row)] for name, row in found.items()])
    for name, row in found.items():
        for place, growth in zip(PLACES, row, strict=True):
            if growth.seconds > SLOW_SECONDS or growth.factor > STEEP:
                print(f"slow or steep: {name} ({place}): {growth}")


if __name__ == "__main__":
    main()
