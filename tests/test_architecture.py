"""The import rule, and the budgets of size, depth, words and clocks, held over the three packages.

Code lines of a function are those of its whole `def`, decorators apart, without docstrings, blank lines and comments.
An exception names its module and its reason here; one that no longer applies fails.
"""

import ast
import io
import os
import re
import shutil
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from statistics import median, quantiles
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("policies", "cortex", "healthcheck")
SOURCES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))

MODULE_MEDIAN, MODULE_MOST = 150, 350
FUNCTION_MEDIAN, FUNCTION_P95, FUNCTION_MOST = 8, 28, 45
NESTING_MOST = 3
# Modules that may pass MODULE_MOST, each with its reason.
LONGER_MODULES: dict[str, str] = {
    "healthcheck/checks.py": "the catalogue: a table of sentences, a finding after another"
}

# The clock is read in command lines alone.
CLOCKS = {
    "datetime": {"now", "utcnow", "today"},
    "date": {"today"},
    "time": {"time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns"},
}
# The project speaks of itself alone: no place on somebody's machine, no ticket, no other host.
FOREIGN = re.compile(r"(?<![\w.])/wor[k]/|/tmp/v[0]|\bcontract page|\bissues? #?[0-9]|\bTODO\b|\bFIXME\b|\bXXX\b")

Function = ast.FunctionDef | ast.AsyncFunctionDef
Documented = Function | ast.ClassDef | ast.Module
BLOCKS = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.TryStar, ast.Match)


class Source(NamedTuple):
    """A module's place below the checkout, its tree, and the numbers of its lines of code."""

    name: str
    tree: ast.Module
    code_lines: frozenset[int]


def code_lines(text: str, tree: ast.Module) -> frozenset[int]:
    """Numbers of the lines that hold code: neither blank, nor a comment alone, nor of a docstring."""
    passed_over = {
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENDMARKER,
    }
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in passed_over and token.string:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(tree):
        if isinstance(node, Documented) and ast.get_docstring(node) is not None:
            docstring = node.body[0]
            lines.difference_update(range(docstring.lineno, (docstring.end_lineno or docstring.lineno) + 1))
    return frozenset(lines)


def read(path: Path) -> Source:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    return Source(str(path.relative_to(ROOT)), tree, code_lines(text, tree))


MODULES = [read(path) for path in SOURCES]


def functions(source: Source) -> Iterator[Function]:
    return (node for node in ast.walk(source.tree) if isinstance(node, Function))


def lines_of(source: Source, function: Function) -> int:
    return len(source.code_lines & set(range(function.lineno, (function.end_lineno or 0) + 1)))


def nesting(node: ast.AST) -> int:
    """Depth of the blocks within a node; an `elif` is no deeper than its `if`, a nested function counts for itself."""
    deepest = 0
    for field, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or isinstance(child, Function | ast.ClassDef | ast.Lambda):
                continue
            is_elif = isinstance(node, ast.If) and field == "orelse" and isinstance(child, ast.If) and len(value) == 1
            deepest = max(deepest, nesting(child) + (isinstance(child, BLOCKS) and not is_elif))
    return deepest


def p95(numbers: list[int]) -> float:
    return quantiles(numbers, n=20, method="inclusive")[-1]


FUNCTION_LINES = {
    f"{source.name}:{function.lineno} {function.name}": lines_of(source, function)
    for source in MODULES
    for function in functions(source)
}


def lint_imports(checkout: Path) -> subprocess.CompletedProcess[str]:
    command = [Path(sys.executable).with_name("lint-imports"), "--no-cache"]
    own = {**os.environ, "PYTHONPATH": str(checkout)}
    return subprocess.run(command, cwd=checkout, env=own, capture_output=True, encoding="utf-8")


def test_imports_point_only_where_they_may():
    linted = lint_imports(ROOT)
    assert linted.returncode == 0, linted.stdout + linted.stderr
    assert " 0 broken" in linted.stdout


DIRECTION = "healthcheck watches cortex, both obey policies"


@pytest.mark.parametrize(
    ("module", "line", "contract"),
    [
        ("policies/limits.py", "import cortex.strict_json", DIRECTION),
        ("cortex/layout.py", "import healthcheck.checks", DIRECTION),
        ("policies/limits.py", "import os", "policies are pure: no clock, no environment, no files"),
        ("cortex/strict_json.py", "import pathlib", "the corpus's decisions are pure"),
        ("healthcheck/evaluate.py", "import time", "the verdict is pure"),
        ("healthcheck/renderers/text.py", "import cortex.strict_json", "the verdict is pure"),
    ],
)
def test_an_import_against_the_rule_is_seen(tmp_path: Path, module: str, line: str, contract: str):
    for package in PACKAGES:
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    source = tmp_path / module
    source.write_text(f"{source.read_text(encoding='utf-8')}\n{line}\n", encoding="utf-8")

    linted = lint_imports(tmp_path)

    assert linted.returncode == 1
    assert f"{contract} BROKEN" in linted.stdout


@pytest.mark.parametrize("package", PACKAGES)
def test_every_package_has_modules_to_judge(package: str):
    assert any(source.name.startswith(f"{package}/") for source in MODULES)


def test_functions_are_short():
    lengths = list(FUNCTION_LINES.values())
    assert [name for name, lines in FUNCTION_LINES.items() if lines > FUNCTION_MOST] == []
    assert median(lengths) <= FUNCTION_MEDIAN
    assert p95(lengths) <= FUNCTION_P95


def test_blocks_are_not_nested_deep():
    deep = [
        f"{source.name}:{function.lineno} {function.name}"
        for source in MODULES
        for function in functions(source)
        if nesting(function) > NESTING_MOST
    ]
    assert deep == []


def test_modules_are_short():
    lengths = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8").count("\n") for path in SOURCES}
    longer = {name for name, lines in lengths.items() if lines > MODULE_MOST}
    assert longer == set(LONGER_MODULES), "a module is too long, or an exception no longer applies"
    assert median(lengths.values()) <= MODULE_MEDIAN


@pytest.mark.parametrize("source", MODULES, ids=lambda source: source.name)
def test_a_module_opens_with_what_it_is_for(source: Source):
    assert ast.get_docstring(source.tree)


@pytest.mark.parametrize("source", MODULES, ids=lambda source: source.name)
def test_whatever_is_public_says_what_it_is(source: Source):
    bare = [
        node.name
        for node in public(source.tree)
        if ast.get_docstring(node) is None
        and not any(isinstance(mark, ast.Name) and mark.id in {"overload", "override"} for mark in node.decorator_list)
    ]
    assert bare == []


def public(owner: ast.Module | ast.ClassDef) -> Iterator[Function | ast.ClassDef]:
    """Public functions and classes of a module, and the public methods of those classes."""
    for node in owner.body:
        if isinstance(node, Function | ast.ClassDef) and not node.name.startswith("_"):
            yield node
            if isinstance(node, ast.ClassDef):
                yield from public(node)


@pytest.mark.parametrize("source", MODULES, ids=lambda source: source.name)
def test_no_clock_is_read_outside_the_command_line(source: Source):
    reads = [read for read in clock_reads(source.tree) if not source.name.endswith("/cli.py")]
    assert reads == []


def clock_reads(tree: ast.AST) -> list[str]:
    """Every mention of a clock: `time.time`, `datetime.datetime.now`, `from time import monotonic`."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            owner = node.value
            name = owner.id if isinstance(owner, ast.Name) else owner.attr if isinstance(owner, ast.Attribute) else ""
            if node.attr in CLOCKS.get(name, ()):
                found.append(f"{name}.{node.attr}")
        elif isinstance(node, ast.ImportFrom) and node.module == "time":
            found.extend(f"time.{name.name}" for name in node.names if name.name in CLOCKS["time"])
    return found


def tracked_texts() -> list[Path]:
    """Every text that belongs to the project; vectors are data, and this file names the words that it looks for."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    names = {name for name in listed.stdout.decode().split("\0") if name and "conformance/vectors/" not in name}
    return sorted(path for name in names if (path := ROOT / name).is_file() and path != Path(__file__))


def test_the_project_speaks_of_itself_alone():
    if not (ROOT / ".git").exists():
        pytest.skip("only a git checkout knows which files belong to it")
    texts = tracked_texts()
    assert len(texts) > len(SOURCES)
    foreign = [path for path in texts if FOREIGN.search(path.read_bytes().decode("utf-8", errors="replace"))]
    assert [str(path.relative_to(ROOT)) for path in foreign] == []


# The measures themselves: what cannot fail proves nothing.


@pytest.mark.parametrize(
    ("body", "depth"),
    [
        ("pass", 0),
        ("if a:\n  pass\n elif b:\n  pass\n elif c:\n  pass\n else:\n  pass", 1),
        ("if a:\n  pass\n else:\n  if b:\n   pass\n  c", 2),
        ("for a in b:\n  with c:\n   try:\n    while d:\n     pass\n   except E:\n    pass", 4),
        ("def inner():\n  if a:\n   pass", 0),
    ],
)
def test_nesting_counts_blocks(body: str, depth: int):
    assert nesting(ast.parse(f"def f():\n {body}").body[0]) == depth


def test_code_lines_leave_out_words_and_blanks():
    text = (
        '"""Header."""\n\n# why\ndef f(a):\n    """Doc.\n\n    More.\n    """\n\n    # why\n    return """x\n    y"""\n'
    )
    assert code_lines(text, ast.parse(text)) == {4, 11, 12}


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("import time\ntime.time()", ["time.time"]),
        ("import datetime\ndatetime.datetime.now(UTC)", ["datetime.now"]),
        ("from time import monotonic", ["time.monotonic"]),
        ("import time\ntime.sleep(1)", []),
        ("row.time", []),
    ],
)
def test_clock_reads_are_seen(text: str, reads: list[str]):
    assert clock_reads(ast.parse(text)) == reads
