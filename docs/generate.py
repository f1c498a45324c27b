"""Writes the documents that are made from the code, so that neither can say what the other does not.

    make docs                          writes docs/findings.md, the marked parts of README.md and docs/cortex.md, the
                                       output of the examples there, and manual pages and shell completions in share/
    python docs/generate.py --check    changes nothing; exits 1 naming the documents that are not current

What is made within a document stands in its document between `<!-- made: NAME -->` and `<!-- /made -->`.
"""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from completions import bash, fish, zsh
from console import with_outputs
from manual import manual
from tools import cortex as cortex_tool
from tools import memory_health

from cortex.commands import COMMANDS, COMMON, OPTIONS, Command
from cortex.help import option_usage, usage
from healthcheck.checks import CAN_BE_NOT_ENABLED, CHECKS, FINDINGS, FindingSpec
from policies.limits import MIB
from policies.thresholds import THRESHOLDS, Threshold
from policies.units import DAY_MS, HOUR_MS, MINUTE_MS

ROOT = Path(__file__).parent.parent
MADE = re.compile(r"(<!-- made: (\w+) -->\n).*?(<!-- /made -->)", re.DOTALL)

INTRODUCTION = """\
# Findings

<!-- Made by `make docs` from healthcheck/checks.py: change the catalogue, not this file. -->

Each heading is the id of a finding, as reports, metrics and `memory-health explain ID` name it. Ids are stable.
`memory-health explain ID --live` also shows how a memory stands to it now: the rows, the number, the next change.
A check is as bad as its worst finding, and a run as bad as its worst check. Warn exits 1, critical exits 2.

"""

# What passing each threshold leads to.
BREACHES = {
    "reviewer_stale_ms": "the last healthy run is older: warn",
    "reviewer_run_grace_ms": "a run began after the last row and has not ended for longer: critical",
    "retrieval_stale_ms": "the last retrieval is older: warn",
    "proposal_backlog": "more are pending: warn",
    "observability_max_bytes": "the logs together are larger: warn",
    "observability_max_age_ms": "a log was last written longer ago: warn",
    "index_stale_ms": "the adopted index is older: warn",
}
SIZES = (
    ("ms", DAY_MS, "day"),
    ("ms", HOUR_MS, "hour"),
    ("ms", MINUTE_MS, "minute"),
    ("bytes", MIB, "MiB"),
    ("proposals", 1, "proposal"),
)


def findings_page() -> str:
    """The page with a heading for each finding, in the catalogue's order."""
    parts = [INTRODUCTION, "| check | the question | its evidence |\n| --- | --- | --- |\n"]
    for check in CHECKS:
        optional = " (may be declared not enabled)" if check.id in CAN_BE_NOT_ENABLED else ""
        parts.append(f"| [{check.id}](#{check.id}) | {check.title} | `{check.evidence}`{optional} |\n")
    for check in CHECKS:
        parts.append(f"\n## {check.id}\n\n{check.title}\n")
        parts.extend(finding_section(spec) for spec in FINDINGS if spec.check == check.id)
    return "".join(parts)


def finding_section(spec: FindingSpec) -> str:
    """One finding: its heading, and what the catalogue says of it."""
    return (
        f"\n### {spec.id}\n\n{spec.severity.word}. {spec.meaning}\n\n"
        f"- **Rule:** {spec.rule}\n- **Remedy:** {spec.remedy}\n- **Way back:** {spec.way_back}\n"
    )


def in_words(threshold: Threshold) -> str:
    """A threshold's default in the largest unit that divides it: `7 days`."""
    for unit, size, word in SIZES:
        count, rest = divmod(threshold.default, size)
        if unit == threshold.unit and count and not rest:
            return f"{count} {word}" if count == 1 or word == "MiB" else f"{count} {word}s"
    return f"{threshold.default} {threshold.unit}"


def thresholds_table() -> str:
    """The thresholds: name, default, variable, and what passing it means."""
    rows = "".join(
        f"| `{threshold.name}` | {in_words(threshold)} | `{threshold.variable}` | {BREACHES[threshold.name]} |\n"
        for threshold in THRESHOLDS
    )
    return f"| name | default | variable | breach |\n| --- | --- | --- | --- |\n{rows}"


def demo_output() -> str:
    """The demo's command and what it prints, as a block of a terminal.

    Raises:
        CalledProcessError: The demo failed.
    """
    demo = subprocess.run(
        [sys.executable, ROOT / "examples" / "demo.py"],
        env={**os.environ, "PYTHONIOENCODING": "utf-8", "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        encoding="utf-8",
        check=True,
    )
    lines = "\n".join(line.rstrip() for line in demo.stdout.splitlines())
    return f"```console\n$ make demo\n{lines}\n```\n"


def commands_table() -> str:
    """The commands of `cortex`: how each is called, its own options, and what it is for."""
    rows = "".join(
        f"| `{usage(command)}` | {' '.join(f'`{option_usage(name)}`' for name in _own_options(command))} "
        f"| {command.summary} |\n"
        for command in COMMANDS.values()
    )
    common = ", ".join(f"`{option_usage(name)}`" for name in COMMON)
    return f"| command | options | what it is for |\n| --- | --- | --- |\n{rows}\nEvery command takes {common}.\n"


def _own_options(command: Command) -> list[str]:
    return [name for name in command.options if option_usage(name) not in usage(command)]


def options_table() -> str:
    """The options of `cortex`, and what each means."""
    rows = "".join(f"| `{option_usage(option.name)}` | {option.help} |\n" for option in OPTIONS.values())
    return f"| option | meaning |\n| --- | --- |\n{rows}"


PARTS: dict[str, Callable[[], str]] = {
    "demo": demo_output,
    "thresholds": thresholds_table,
    "commands": commands_table,
    "options": options_table,
}


def with_made_parts(text: str) -> str:
    """Return a document with each of its marked parts made anew."""
    return MADE.sub(lambda match: f"{match[1]}{PARTS[match[2]]()}{match[3]}", text)


def documents() -> dict[Path, str]:
    """Every document that is made in whole or in part, as it should be."""
    readme, cortex = ROOT / "README.md", ROOT / "docs" / "cortex.md"
    return {
        ROOT / "docs" / "findings.md": findings_page(),
        readme: with_made_parts(readme.read_text(encoding="utf-8")),
        cortex: with_outputs(with_made_parts(cortex.read_text(encoding="utf-8"))),
        **shared_files(),
    }


def shared_files() -> dict[Path, str]:
    """What goes to share/ when the wheel is installed: manual pages and completions of both commands."""
    share, files = ROOT / "share", {}
    tools = memory_health(), cortex_tool()
    for tool, other in zip(tools, reversed(tools), strict=True):
        files[share / "man" / "man1" / f"{tool.name}.1"] = manual(tool, other.name)
        files[share / "bash-completion" / "completions" / tool.name] = bash(tool)
        files[share / "zsh" / "site-functions" / f"_{tool.name}"] = zsh(tool)
        files[share / "fish" / "vendor_completions.d" / f"{tool.name}.fish"] = fish(tool)
    return files


def main(arguments: list[str]) -> int:
    """Write what is not current; with `--check`, only name it and return 1."""
    outdated = {
        path: text
        for path, text in documents().items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    }
    for path, text in outdated.items():
        print(path.relative_to(ROOT))
        if arguments != ["--check"]:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return 1 if outdated and arguments == ["--check"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
