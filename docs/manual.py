"""Manual pages in roff (man(7)), of what the parsers know."""

from collections.abc import Iterable

from tools import Command, Option, Tool

from policies import __version__


def manual(tool: Tool, see_also: str) -> str:
    """Return the page of a tool, section 1."""
    lines = [
        '.\\" Made by `make docs` from the parser: change that, not this file.',
        f'.TH "{_text(tool.name.upper())}" "1" "" "memory-health {__version__}" "User Commands"',
        ".SH NAME",
        f"{_text(tool.name)} \\- {_text(tool.title)}",
        ".SH SYNOPSIS",
        *_between((f".B {_text(tool.name)}\n{_text(words)}" for words in tool.synopsis), ".br"),
        ".SH DESCRIPTION",
        *_between(map(_text, tool.description), ".PP"),
        ".SH OPTIONS",
        *(line for option in tool.options for line in _option(option)),
        ".SH COMMANDS",
        *(line for command in tool.commands for line in _command(command, tool)),
        ".SH EXIT STATUS",
        *(line for pair in tool.exits for line in _pair(*pair)),
        ".SH ENVIRONMENT",
        *(line for pair in tool.variables for line in _pair(*pair)),
        ".SH SEE ALSO",
        f".BR {see_also} (1)",
    ]
    return "\n".join(lines) + "\n"


def _text(text: str) -> str:
    """Return text as roff prints it: no escapes, no requests, hyphens that can be copied."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace('"', "\\(dq")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


def _between(parts: Iterable[str], separator: str) -> list[str]:
    lines = [line for part in parts for line in (part, separator)]
    return lines[:-1]


def _pair(term: str, meaning: str) -> list[str]:
    return [".TP", f".B {_text(term)}", _text(meaning)]


def _option(option: Option) -> list[str]:
    written = ", ".join(option.flags) + ("" if option.metavar is None else f" {option.metavar}")
    return _pair(written, option.help)


def _command(command: Command, tool: Tool) -> list[str]:
    """Return a command with its own options; what stands in OPTIONS is not repeated."""
    own = [option for option in command.options if option not in tool.options and "--help" not in option.flags]
    inner = [line for option in own for line in _option(option)]
    return [*_pair(command.usage, command.summary), *([".RS", *inner, ".RE"] if inner else [])]
