"""Manual pages and shell completions, before the programs that read them."""

import subprocess
from pathlib import Path

import pytest
from support.programs import program

from cortex.commands import COMMANDS
from healthcheck.checks import CATALOGUE
from healthcheck.options import OPTIONS

pytestmark = pytest.mark.realpart

SHARE = Path(__file__).parents[2] / "share"
TOOLS = ("memory-health", "cortex")
FLAGS = {option.flag for option in OPTIONS} | {"--json", "--no-write", "--version", "--help"}
FIRST_WORDS = {name.split()[0] for name in COMMANDS}
# A line as it is typed so far; what must be offered, and what must not.
LINES = [
    ("memory-health --", FLAGS, {"--plain"}),
    ("memory-health --form", {"--format"}, {"--root"}),
    ("memory-health --format ", {"text", "json", "nagios", "html"}, {"explain"}),
    ("memory-health --block-on c", {"critical"}, {"warn"}),
    ("memory-health ", {"explain", "hook", "schema"}, {"text"}),
    ("memory-health explain reviewer-", {one for one in CATALOGUE if one.startswith("reviewer-")}, {"index-stale"}),
    ("memory-health hook --", {"--plain"}, {"--root"}),
    ("cortex ", FIRST_WORDS, {"list"}),
    ("cortex search --an", {"--analyzer"}, {"--anchor"}),
    ("cortex proposals ", {"list", "show", "decide"}, {"search"}),
    ("cortex mend --", {"--dry-run", "--operator", "--memory-root"}, {"--analyzer"}),
]
IN_BASH_ALONE = [
    ("memory-health --name explain ", {"explain", "hook"}, {"index-stale"}),
    ("memory-health --format=j", {"json"}, {"text"}),
    ("cortex proposals decide --d", {"--digest"}, {"--status"}),
    ("cortex proposals list --", {"--status"}, {"--digest"}),
    ("memory-health --root sub", {"sub dir"}, {"submarine"}),
    ("memory-health --textfile sub", {"sub dir", "submarine"}, set()),
]

COMPLETE_IN_BASH = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMPREPLY=()
"_${1//-/_}"
printf '%s\\n' "${COMPREPLY[@]}"
"""


def said(*command: str | Path, cwd: Path | None = None) -> str:
    ended = subprocess.run(list(map(str, command)), cwd=cwd, capture_output=True, encoding="utf-8", timeout=60)
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A folder with something to complete."""
    (tmp_path / "sub dir").mkdir()
    (tmp_path / "submarine").touch()
    return tmp_path


@pytest.mark.parametrize(("line", "offered", "not_offered"), LINES + IN_BASH_ALONE)
def test_bash_completes(line: str, offered: set[str], not_offered: set[str], here: Path) -> None:
    words = line.replace("=", " = ").split(" ")
    script = SHARE / "bash-completion" / "completions" / words[0]
    found = set(said(program("bash"), "-c", COMPLETE_IN_BASH, "bash", script, *words, cwd=here).splitlines())
    assert offered <= found
    assert not not_offered & found


@pytest.mark.parametrize(("line", "offered", "not_offered"), LINES)
def test_fish_completes(line: str, offered: set[str], not_offered: set[str], here: Path) -> None:
    script = SHARE / "fish" / "vendor_completions.d" / f"{line.split(maxsplit=1)[0]}.fish"
    typed = f"source '{script}'; complete -C '{line}'"
    found = {row.split("\t")[0] for row in said(program("fish"), "--no-config", "-c", typed, cwd=here).splitlines()}
    assert offered <= found
    assert not not_offered & found


# Says what the completion asks of zsh's own `_arguments`, in the place of a terminal.
ASKED_OF_ZSH = """
_arguments() { print -rl -- "$@"; state=argument; words=(${(z)TYPED}) }
_describe() { }
TYPED=$2 source $1
"""


@pytest.mark.parametrize("tool", TOOLS)
def test_zsh_can_parse_its_completion(tool: str) -> None:
    script = SHARE / "zsh" / "site-functions" / f"_{tool}"
    assert said(program("zsh"), "-f", "-n", script) == ""
    assert script.read_text().startswith(f"#compdef {tool}\n")


@pytest.mark.parametrize(
    ("tool", "typed", "asked"),
    [
        (
            "memory-health",
            "hook",
            {"--plain[print the line itself, not a JSON object]", "--root[the folder that holds"},
        ),
        ("memory-health", "explain", {"1: :(reviewer-latest-failed "}),
        ("cortex", "proposals", {"1: :(list show decide)", "--digest[", "--memory-root["}),
    ],
)
def test_zsh_is_told_options_and_arguments(tool: str, typed: str, asked: set[str]) -> None:
    script = SHARE / "zsh" / "site-functions" / f"_{tool}"
    specs = said(program("zsh"), "-f", "-c", ASKED_OF_ZSH, "zsh", script, typed).splitlines()
    assert {start for start in asked if not any(spec.startswith(start) for spec in specs)} == set()


@pytest.mark.parametrize("tool", TOOLS)
def test_the_manual_page_has_no_fault_and_names_every_command(tool: str) -> None:
    page = SHARE / "man" / "man1" / f"{tool}.1"
    assert said(program("groff"), "-ww", "-z", "-man", page) == ""
    shown = said(program("groff"), "-Tascii", "-P-c", "-P-b", "-P-u", "-rLL=200n", "-man", page)
    named = set(COMMANDS) if tool == "cortex" else {"explain", "hook", "schema", *FLAGS}
    assert {name for name in named if name not in shown} == set()
    assert "memory-health 0." in shown
