"""Help for people, made from the table of commands."""

from collections.abc import Sequence

from cortex.commands import COMMANDS, COMMON, OPTIONS, Command
from cortex.errors import Exit

# What each exit code means.
EXITS = {
    Exit.DONE: "done",
    Exit.INTERNAL: "a fault in the program",
    Exit.NOT_FOUND: "an id, anchor or expansion root is not there",
    Exit.REFUSED_INPUT: "bad arguments, or the canonical files are not sound",
    Exit.REFUSED_WRITE: "no permission to write, or refused by the store's rules",
    Exit.INTERRUPTED: "interrupted",
}


def help_for(arguments: Sequence[str]) -> str:
    """Return the help of the command that `arguments` begin with, else of the program."""
    words = [" ".join(arguments[:count]) for count in (2, 1)]
    command = next((COMMANDS[name] for name in words if name in COMMANDS), None)
    return help_of_program() if command is None else help_of_command(command)


def help_of_program() -> str:
    """Return the overview: commands, common options, exit codes."""
    commands = [(usage(command), command.summary) for command in COMMANDS.values()]
    exits = [(str(int(status)), meaning) for status, meaning in EXITS.items()]
    return "\n".join((
        "usage: cortex COMMAND [arguments] [options]",
        "",
        "A local memory for agents: Markdown and JSONL files, searched where they lie.",
        "Every command prints one JSON object; --text prints the same for people.",
        "",
        "commands:",
        *_columns(commands),
        "",
        "options of every command:",
        *_columns([_option_row(name) for name in COMMON]),
        *_columns([("--help", "this help, or that of a command"), ("--version", "the version")]),
        "",
        "exit codes:",
        *_columns(exits),
        "",
    ))  # fmt: skip


def help_of_command(command: Command) -> str:
    """Return the help of one command."""
    own = [_option_row(name) for name in command.options]
    return "\n".join((
        f"usage: cortex {usage(command)} [options]",
        "",
        f"{command.summary[0].upper()}{command.summary[1:]}.",
        "",
        *(["options:", *_columns(own), ""] if own else []),
        "options of every command:",
        *_columns([_option_row(name) for name in COMMON]),
        "",
    ))  # fmt: skip


def usage(command: Command) -> str:
    """Return how a command is called, without its optional parts."""
    needed = [option_usage(name) for name in _needed(command)]
    return " ".join(part for part in (command.name, command.positionals.usage, *needed) if part)


def option_usage(name: str) -> str:
    """Return how an option is written."""
    metavar = OPTIONS[name].metavar
    return name if metavar is None else f"{name} {metavar}"


def _needed(command: Command) -> tuple[str, ...]:
    own = () if command.needed is None else (command.needed,)
    if command.kind == "read" or command.reads_bare:
        return own
    return (*own, "--adapter" if command.kind == "agent" else "--operator", "--allow-write")


def _option_row(name: str) -> tuple[str, str]:
    return option_usage(name), OPTIONS[name].help


def _columns(rows: Sequence[tuple[str, str]]) -> list[str]:
    width = max(26, *(len(left) for left, _ in rows))
    return [f"  {left:<{width}}  {right}" for left, right in rows]
