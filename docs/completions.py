"""Shell completions (bash, zsh, fish), of what the parsers know. They read no files and call no program."""

from collections.abc import Iterable, Iterator, Sequence

from tools import Command, Option, Tool

MADE = "# Made by `make docs` from the parser: change that, not this file.\n"


def bash(tool: Tool) -> str:
    """Return the completion for bash."""
    function = f"_{tool.name.replace('-', '_')}"
    every = [*tool.options, *(option for command in tool.commands for option in command.options)]
    valued = "|".join(sorted({flag for option in every if option.metavar for flag in option.flags}))
    return f"""{MADE}{function}() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD - 1]}} word command= skip=
  if [[ $current == = ]]; then current=; elif [[ $previous == = ]]; then previous=${{COMP_WORDS[COMP_CWORD - 2]}}; fi
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD - 1}}"; do
    if [[ $word == = ]]; then skip=1; continue; fi
    if [[ -n $skip ]]; then skip=; continue; fi
    case $word in
      {valued}) skip=1 ;;
      -*) ;;
      *) command="${{command:+$command }}$word" ;;
    esac
  done
  case $previous in
{"".join(_bash_values(every))}  esac
  case "$command " in
{"".join(_bash_commands(tool))}  esac
}}
complete -F {function} {tool.name}
"""


def _bash_values(options: Iterable[Option]) -> Iterator[str]:
    """Yield what completes the value of each option."""
    for written, option in {option.flags: option for option in options if option.metavar}.items():
        reply = {
            "folder": 'mapfile -t COMPREPLY < <(compgen -d -- "$current"); compopt -o filenames 2>/dev/null; ',
            "file": 'mapfile -t COMPREPLY < <(compgen -f -- "$current"); compopt -o filenames 2>/dev/null; ',
            "other": f"{_bash_reply(option.choices)}; " if option.choices else "",
        }[option.kind]
        yield f"    {'|'.join(written)}) {reply}return ;;\n"


def _bash_commands(tool: Tool) -> Iterator[str]:
    """Yield what may follow each command, those of two words first; without a command, all that may begin."""
    names = [command.name for command in tool.commands]
    for command in sorted(tool.commands, key=lambda one: -one.name.count(" ")):
        yield f'    "{command.name} "*) {_bash_reply([*command.choices, *_flags(command.options)])} ;;\n'
    for first in dict.fromkeys(name.split()[0] for name in names if " " in name):
        seconds = [name.split()[1] for name in names if name.startswith(f"{first} ")]
        yield f'    "{first} ") {_bash_reply(seconds)} ;;\n'
    firsts = dict.fromkeys(name.split()[0] for name in names)
    yield f'    " ") {_bash_reply([*firsts, *_flags(tool.options)])} ;;\n'


def _bash_reply(words: Iterable[str]) -> str:
    return f"""mapfile -t COMPREPLY < <(compgen -W '{" ".join(words)}' -- "$current")"""


def _flags(options: Iterable[Option]) -> list[str]:
    return [flag for option in options for flag in option.flags if flag.startswith("--")]


def zsh(tool: Tool) -> str:
    """Return the completion for zsh."""
    function = f"_{tool.name.replace('-', '_')}"
    commands = "".join(f"    {_quoted(f'{name}:{summary}')}\n" for name, summary in _first_words(tool))
    cases = "".join(
        f"      {name})\n        _arguments{_zsh_options(options)}{_zsh_arguments(choices)}\n        ;;\n"
        for name, options, choices in _by_first_word(tool)
    )
    return f"""#compdef {tool.name}
{MADE}{function}() {{
  local curcontext="$curcontext" state line
  typeset -A opt_args
  local -a commands=(
{commands}  )
  _arguments -C{_zsh_options(tool.options)} '1: :->command' '*:: :->argument'
  case $state in
    command) _describe command commands ;;
    argument) case $words[1] in
{cases}    esac ;;
  esac
}}
{function} "$@"
"""


def _zsh_options(options: Iterable[Option]) -> str:
    parts = []
    for option in options:
        meaning = option.help.replace("[", "(").replace("]", ")").replace(":", "\\:")
        action = {"folder": "_files -/", "file": "_files", "other": f"({' '.join(option.choices)})"}[option.kind]
        value = f":{option.metavar.split('|')[0]}:{action}" if option.metavar else ""
        parts += [f" \\\n    {_quoted(f'{flag}[{meaning}]{value}')}" for flag in option.flags if flag.startswith("--")]
    return "".join(parts)


def _zsh_arguments(choices: Sequence[str]) -> str:
    return f" \\\n    {_quoted('1: :(' + ' '.join(choices) + ')')}" if choices else ""


def fish(tool: Tool) -> str:
    """Return the completion for fish."""
    start = f"complete -c {tool.name}"
    lines = [f"{start} -f"]
    lines += [f"{start} -n __fish_use_subcommand{_fish_option(option)}" for option in tool.options]
    lines += [f"{start} -n __fish_use_subcommand -a {name} -d {_quoted(text)}" for name, text in _first_words(tool)]
    for name, options, choices in _by_first_word(tool):
        condition = f"{start} -n '__fish_seen_subcommand_from {name}'"
        lines += [f"{condition} -a {_quoted(' '.join(choices))}"] if choices else []
        lines += [f"{condition}{_fish_option(option)}" for option in options]
    return MADE + "".join(f"{line}\n" for line in lines)


def _fish_option(option: Option) -> str:
    words = "".join(f" -l {flag[2:]}" if flag.startswith("--") else f" -s {flag[1:]}" for flag in option.flags)
    if option.metavar:
        words += {"folder": " -x -a '(__fish_complete_directories)'", "file": " -r -F"}.get(option.kind, " -x")
        words += f" -a {_quoted(' '.join(option.choices))}" if option.choices else ""
    return f"{words} -d {_quoted(option.help)}"


def _first_words(tool: Tool) -> list[tuple[str, str]]:
    """Return what a command line may begin with, and what it is for; commands that share a word share a line."""
    found: dict[str, list[str]] = {}
    for command in tool.commands:
        found.setdefault(command.name.split()[0], []).append(command.summary)
    return [(name, summaries[0] if len(summaries) == 1 else "; ".join(summaries)) for name, summaries in found.items()]


def _by_first_word(tool: Tool) -> Iterator[tuple[str, list[Option], list[str]]]:
    """Yield the options and the arguments that may follow a first word."""
    for first, _ in _first_words(tool):
        same: list[Command] = [command for command in tool.commands if command.name.split()[0] == first]
        seconds = [word for command in same for word in command.name.split()[1:]]
        options = list(dict.fromkeys(option for command in same for option in command.options))
        yield first, options, seconds or list(same[0].choices)


def _quoted(text: str) -> str:
    """Return text in single quotes for any of the shells; an apostrophe becomes a typographic one."""
    return "'" + text.replace("'", "\u2019") + "'"
