"""The two command lines in one shape, read off their own parsers: manual pages and shell completions are made of it."""

import argparse
from typing import Literal, NamedTuple

from cortex.commands import COMMANDS as CORTEX_COMMANDS
from cortex.commands import COMMON, OPTIONS
from cortex.help import EXITS, usage
from healthcheck.options import NO_WRITE_VARIABLE, build_parser
from healthcheck.options import OPTIONS as HEALTH_OPTIONS


class Option(NamedTuple):
    """An option: how it is written, what its value is called (None: it takes none), and which values there are."""

    flags: tuple[str, ...]
    metavar: str | None
    help: str
    choices: tuple[str, ...] = ()

    @property
    def kind(self) -> Literal["folder", "file", "other"]:
        """What the shell can complete a value with."""
        if self.metavar == "DIR":
            return "folder"
        return "file" if self.metavar is not None and self.metavar.startswith("FILE") else "other"


class Command(NamedTuple):
    """A command of a tool: its name (of one or two words), how it is called, and what its arguments may be."""

    name: str
    usage: str
    summary: str
    options: tuple[Option, ...] = ()
    choices: tuple[str, ...] = ()


class Tool(NamedTuple):
    """A command line. `options` stand before a command, or without one."""

    name: str
    title: str
    synopsis: tuple[str, ...]
    description: tuple[str, ...]
    options: tuple[Option, ...]
    commands: tuple[Command, ...]
    exits: tuple[tuple[str, str], ...]
    variables: tuple[tuple[str, str], ...]


def memory_health() -> Tool:
    """The auditor's command line."""
    parser = build_parser()
    (group,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))  # noqa: SLF001
    summaries = {one.dest: one.help or "" for one in group._choices_actions}  # noqa: SLF001
    commands = (_subcommand(name, summaries[name], one) for name, one in group.choices.items())
    variables = [(one.variable, f"stands in for {one.flag}") for one in HEALTH_OPTIONS if one.variable]
    return Tool(
        "memory-health",
        "judge whether a file-backed memory is alive",
        ("[options]", "[options] command [arguments]"),
        (
            parser.description or "",
            "It collects evidence, compares it with thresholds, and reports findings, each with its way back.",
        ),
        _options(parser),
        tuple(commands),
        (
            ("0", "ok; and of hook, always"),
            ("1", "warn"),
            ("2", "critical; also a crash and a usage error"),
            ("130", "interrupted from the keyboard"),
        ),
        (*variables, (NO_WRITE_VARIABLE, "stands in for --no-write")),
    )


def _subcommand(name: str, summary: str, parser: argparse.ArgumentParser) -> Command:
    arguments = [action for action in parser._actions if not action.option_strings]  # noqa: SLF001
    words = (name, *(str(action.metavar) for action in arguments))
    choices = tuple(str(choice) for action in arguments for choice in action.choices or ())
    return Command(name, " ".join(words), summary, _options(parser), choices)


def _options(parser: argparse.ArgumentParser) -> tuple[Option, ...]:
    return tuple(
        Option(
            tuple(action.option_strings),
            None if action.nargs == 0 else str(action.metavar or "|".join(action.choices or ())),
            action.help or "",
            tuple(action.choices or ()),
        )
        for action in parser._actions  # noqa: SLF001
        if action.option_strings
    )


def cortex() -> Tool:
    """The memory's command line."""
    common = tuple(_cortex_option(name) for name in COMMON)
    general = (
        *common,
        Option(("--help",), None, "this help, or that of a command"),
        Option(("--version",), None, "the version"),
    )
    commands = (
        Command(
            one.name,
            usage(one),
            one.summary,
            (*(_cortex_option(name) for name in one.options if name not in COMMON), *common),
        )
        for one in CORTEX_COMMANDS.values()
    )
    return Tool(
        "cortex",
        "ask a file-backed memory, and add to it",
        ("command [arguments] [options]",),
        (
            "A local memory for agents: Markdown and JSONL files, searched where they lie.",
            "Every command prints one JSON object; --text prints the same for people.",
        ),
        general,
        tuple(commands),
        tuple((str(int(status)), meaning) for status, meaning in EXITS.items()),
        (
            ("CORTEX_MEMORY_ROOT", "stands in for --memory-root"),
            ("CORTEX_HEALTH_NOW", "stands in for --now"),
        ),
    )


def _cortex_option(name: str) -> Option:
    option = OPTIONS[name]
    return Option((option.name,), option.metavar, option.help)
