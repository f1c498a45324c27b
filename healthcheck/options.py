"""The command line and its variables, as one table; what is asked for, as one value.

An option beats its variable, and an empty variable counts as unset. Values are taken as they are here: whether a root
is a folder or a time makes sense is a finding of the run, not an error of usage.
"""

import argparse
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from healthcheck.checks import CATALOGUE
from policies import __version__


class Option(NamedTuple):
    """An option that takes a value, and the variable that may stand in for it."""

    flag: str
    variable: str | None
    metavar: str | None
    help: str
    choices: tuple[str, ...] | None = None
    default: str | None = None

    @property
    def key(self) -> str:
        """The name of its value."""
        return self.flag.removeprefix("--").replace("-", "_")


OPTIONS: Final = (
    Option("--root", "CORTEX_HEALTH_ROOT", "DIR", "the folder that holds LIFEOS/ (default: ~/.claude)"),
    Option("--memory-root", "CORTEX_MEMORY_ROOT", "DIR", "the memory root itself (default: ROOT/LIFEOS/MEMORY)"),
    Option("--now", "CORTEX_HEALTH_NOW", "TIME", "judge by this time: ISO with a zone, or milliseconds since 1970"),
    Option("--index-manifest", "CORTEX_INDEX_MANIFEST", "FILE", "default: MEMORY/INDEX/index-manifest.json"),
    Option("--report", "CORTEX_HEALTH_REPORT_PATH", "FILE", "also write the report as JSON (mode 0600)"),
    Option("--textfile", "CORTEX_HEALTH_TEXTFILE", "FILE.prom", "also write metrics for node_exporter"),
    Option("--name", "CORTEX_HEALTH_NAME", "NAME", "the `memory` label of every metric (default: default)"),
    Option("--format", None, None, "what stdout carries (default: text)", ("text", "json", "nagios", "html")),
    Option("--block-on", None, None, "which verdicts exit non-zero (default: warn)", ("warn", "critical"), "warn"),
)
NO_WRITE_VARIABLE: Final = "CORTEX_HEALTH_NO_WRITE"
# The arguments of other commands.
_DETAILS: Final = ("action", "key", "reason", "until", "live", "file", "format")
_MEANS_NO: Final = ("", "0", "false", "no")


class Setting(NamedTuple):
    """A value, and the option or variable that it came from."""

    value: str
    source: str


class Options(NamedTuple):
    """What is asked for. None where neither option nor variable says anything.

    `details` holds what the arguments of another command say, by their names.
    """

    command: str | None
    finding: str | None
    root: Setting | None
    memory_root: Setting | None
    now: Setting | None
    index_manifest: Setting | None
    report: Setting | None
    textfile: Setting | None
    name: str
    format: str
    block_on: str
    no_write: bool
    quiet: bool
    details: Mapping[str, Any]
    plain: bool = False


def parse(arguments: Sequence[str], environment: Mapping[str, str]) -> Options:
    """Return what is asked for.

    Raises:
        SystemExit: A usage error (2, its message on stderr), or help or version were asked for (0, on stdout).
    """
    parser = build_parser()
    given = parser.parse_args(arguments)
    if given.root is not None and given.memory_root is not None:
        parser.error("--root and --memory-root exclude each other: give one of them")
    if given.json and given.format not in (None, "json"):
        parser.error(f"--json and --format {given.format} exclude each other: give one of them")
    if given.name == "":
        parser.error("--name needs a name")
    settings = {option.key: _setting(option, getattr(given, option.key), environment) for option in OPTIONS}
    return Options(
        command=given.command,
        finding=getattr(given, "finding", None),
        **_roots(settings),
        **{key: settings[key] for key in ("now", "index_manifest", "report", "textfile")},
        name=_text(settings["name"], "default"),
        format="json" if given.json else _text(settings["format"], "text"),
        block_on=_text(settings["block_on"], "warn"),
        no_write=given.no_write or environment.get(NO_WRITE_VARIABLE, "").lower() not in _MEANS_NO,
        plain=getattr(given, "plain", False),
        quiet=given.quiet,
        details={name: getattr(given, name, None) for name in _DETAILS},
    )


def _setting(option: Option, given: str | None, environment: Mapping[str, str]) -> Setting | None:
    if given is not None:
        return Setting(given, option.flag)
    value = environment.get(option.variable, "") if option.variable else ""
    if value:
        return Setting(value, option.variable or "")
    return Setting(option.default, "default") if option.default else None


def _text(setting: Setting | None, otherwise: str) -> str:
    return otherwise if setting is None else setting.value


def _roots(settings: Mapping[str, Setting | None]) -> dict[str, Setting | None]:
    """Return the one root that counts: the first given of --memory-root, --root, and the variables, root's first."""
    root, memory_root = settings["root"], settings["memory_root"]
    if root is not None and (memory_root is None or memory_root.source != "--memory-root"):
        memory_root = None
    else:
        root = None
    return {"root": root, "memory_root": memory_root}


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="memory-health",
        usage="memory-health [options] [drill | explain FINDING | history | hook | noise ... | replay FILE | schema]",
        description="Judge whether a file-backed memory is alive. Missing evidence is never green.",
        epilog="Exit codes: 0 ok, 1 warn, 2 critical, crash or usage error, 130 interrupted.",
        allow_abbrev=False,
    )
    for option in OPTIONS:
        variable = f" [{option.variable}]" if option.variable else ""
        parser.add_argument(option.flag, metavar=option.metavar, choices=option.choices, help=option.help + variable)
    parser.add_argument("--json", action="store_true", help="the same as --format json")
    no_write = f"leave neither history row nor ledger [{NO_WRITE_VARIABLE}]"
    parser.add_argument("--no-write", action="store_true", help=no_write)
    parser.add_argument("--quiet", action="store_true", help="print nothing unless something is new, worse or cleared")
    parser.add_argument("--version", action="version", version=f"memory-health {__version__}")
    # `prog` is given, since argparse would import half a toolbox to work it out.
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="other commands", prog=parser.prog)
    explain = commands.add_parser("explain", help="what a finding means, and the way back", allow_abbrev=False)
    explain.add_argument("finding", metavar="FINDING", choices=tuple(CATALOGUE), help="its id, such as retrieval-stale")
    explain.add_argument("--live", action="store_true", help="and how this memory stands to it now")
    commands.add_parser("history", help="the last verdicts, and when they changed", allow_abbrev=False)
    replay = commands.add_parser("replay", help="judge again what a JSON report has frozen", allow_abbrev=False)
    replay.add_argument("file", metavar="FILE", help="as --report wrote it")
    commands.add_parser("drill", help="damage a copy of the evidence, and see it go red", allow_abbrev=False)
    _add_noise(commands)
    hook = commands.add_parser(
        "hook", help="one line at an agent's stop event, where something changed", allow_abbrev=False
    )
    hook.add_argument("--plain", action="store_true", help="print the line itself, not a JSON object")
    commands.add_parser("schema", help="the JSON Schema of the report", allow_abbrev=False)
    return parser


def _add_noise(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser("noise", help="what is silenced, and for how long", allow_abbrev=False)
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True, prog=parser.prog)
    actions.add_parser("status", help="everything that is open", allow_abbrev=False)
    silence = actions.add_parser("silence", help="tell something no more, for a time", allow_abbrev=False)
    silence.add_argument("key", metavar="KEY", help="as `noise status` shows it, such as retrieval::retrieval-stale")
    silence.add_argument("--reason", metavar="TEXT", required=True, help="why, for whoever asks later")
    silence.add_argument("--until", metavar="DATE", help="2026-08-31, or an instant with a zone (default: in 14 days)")
    unsilence = actions.add_parser("unsilence", help="tell it again", allow_abbrev=False)
    unsilence.add_argument("key", metavar="KEY", help="as `noise status` shows it")
    actions.add_parser("clear", help="begin a new ledger; a damaged one is kept beside it", allow_abbrev=False)
    actions.add_parser("ingest", help="take alerts of other sources from stdin, a JSON object a line")
