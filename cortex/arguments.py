"""The command line, strictly: what is not in the table is refused, nothing is abbreviated, guessed or passed over."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from cortex.commands import COMMANDS, COMMON, OPTIONS, Command
from cortex.errors import CortexError, invalid
from policies.limits import LARGEST_INTEGER
from policies.timestamps import parse_instant

ADAPTERS: Final = ("claude", "hermes", "codex", "subagent")
DEFAULT_BELOW_HOME: Final = ".claude/LIFEOS/MEMORY"
# Stands between the values of a repeated option: no argument can hold it.
_BETWEEN: Final = "\0"


class Host(NamedTuple):
    """What a call takes from the process around it: the environment, the clock, and a root that overrides all.

    `clock` counts milliseconds since 1970. `may_fork` says that the process is ours alone, without threads. `timer`
    counts nanoseconds from any moment on, for what measures durations; None: the clock has to do.
    """

    environment: Mapping[str, str]
    clock: Callable[[], int]
    memory_root: str | None = None
    may_fork: bool = False
    timer: Callable[[], int] | None = None


class Call(NamedTuple):
    """A call whose arguments are in order and permitted. A flag's value is the empty string."""

    command: Command
    positionals: tuple[str, ...]
    options: dict[str, str]
    host: Host

    def has(self, option: str) -> bool:
        """Tell whether an option was given."""
        return option in self.options

    def every(self, option: str) -> tuple[str, ...]:
        """Return the values of an option that may be given more than once, in order."""
        return tuple(self.options[option].split(_BETWEEN)) if option in self.options else ()

    def integer(self, option: str, default: int, least: int, most: int) -> int:
        """Return an option's value as an integer within bounds, both included."""
        text = self.options.get(option)
        if text is None:
            return default
        value = int(text) if text.isascii() and text.isdigit() and len(text) <= len(str(LARGEST_INTEGER)) else -1
        if not least <= value <= most:
            raise invalid(f"{option} takes plain digits from {least} to {most}")
        return value

    def memory_root(self) -> str:
        """Return the memory root that this call names; it need not exist."""
        environment = self.host.environment
        chosen = self.host.memory_root or self.options.get("--memory-root") or environment.get("CORTEX_MEMORY_ROOT")
        return chosen or f"{environment.get('HOME') or _home()}/{DEFAULT_BELOW_HOME}"

    def now(self) -> int:
        """Return the time of the call, in milliseconds since 1970: as told, else by the clock."""
        told = self.options.get("--now") or self.host.environment.get("CORTEX_HEALTH_NOW")
        if not told:
            return self.host.clock()
        instant = parse_instant(told)
        if instant is None:
            source = "--now" if self.has("--now") else "CORTEX_HEALTH_NOW"
            raise invalid(f"{source} is neither a timestamp with a zone nor milliseconds since 1970")
        return instant


def _home() -> str:
    from pathlib import Path

    return str(Path.home())


def wants_help(arguments: Sequence[str]) -> bool:
    """Tell whether `--help` stands anywhere before `--`: it then wins over everything else."""
    before = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "--help" in before


def parse_call(arguments: Sequence[str], host: Host) -> Call:
    """Return the call that `arguments` spell.

    Raises:
        CortexError: `invalid_input` for bad arguments; `write_refused` for a write without identity or permission.
    """
    command = _find_command(arguments)
    call = Call(command, *_split(command, arguments[len(command.name.split()) :]), host)
    _check_adapter(call)
    _check_permission(call)
    _check_shape(call)
    return call


def _find_command(arguments: Sequence[str]) -> Command:
    """Return the command that the first two words name, `proposals list`, or the first."""
    name = arguments[0] if arguments else ""
    # A blank within the first word makes it no name: `proposals list` is two words.
    names = () if " " in name else (" ".join(arguments[:2]), name)
    command = next((COMMANDS[known] for known in names if known in COMMANDS), None)
    if command is not None:
        return command
    below = [known.removeprefix(f"{name} ") for known in COMMANDS if known.startswith(f"{name} ")]
    if below:
        raise invalid(f"{name} is followed by one of: {', '.join(below)}")
    raise invalid(f"unknown command {name!r}; the commands are: {', '.join(COMMANDS)}" if name else _NO_COMMAND)


def _split(command: Command, words: Sequence[str]) -> tuple[tuple[str, ...], dict[str, str]]:
    """Tell options from positionals, left to right."""
    positionals: list[str] = []
    options: dict[str, str] = {}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--":
            positionals += rest
            break
        if not word.startswith("--"):
            positionals.append(word)
            continue
        name, separator, value = word.partition("=")
        taken = _take_value(command, name, value if separator else None, options, rest)
        options[name] = f"{options[name]}{_BETWEEN}{taken}" if name in options else taken
    return tuple(positionals), options


def _take_value(command: Command, name: str, attached: str | None, seen: Mapping[str, str], rest: list[str]) -> str:
    if name not in (*COMMON, *command.options):
        raise invalid(f"{command.name} has no option {name}; see: cortex {command.name} --help")
    if name in seen and not OPTIONS[name].repeatable:
        raise invalid(f"{name} was given twice")
    if OPTIONS[name].metavar is None:
        if attached is not None:
            raise invalid(f"{name} takes no value")
        return ""
    if attached is None and rest and not rest[0].startswith("--"):
        attached = rest.pop(0)
    if not attached:
        raise invalid(f"{name} needs a value: {name} {OPTIONS[name].metavar}")
    return attached


def _check_adapter(call: Call) -> None:
    if call.has("--adapter") and call.options["--adapter"] not in ADAPTERS:
        raise invalid(f"--adapter takes one of: {', '.join(ADAPTERS)}")


def _check_permission(call: Call) -> None:
    """Identity is not permission: a write needs both, on this very call, before anything else of it is looked at.

    An agent is no operator and an operator no agent. What only shows (a dry run) is a read.
    """
    command = call.command
    kind = "operator" if command.acts_with and call.has(command.acts_with) else command.kind
    only_shows = call.has("--dry-run") or call.has(command.reads_with) or (command.reads_bare and not call.positionals)
    if kind == "read" or only_shows:
        return
    identities = IDENTITIES[kind]
    if not (any(map(call.has, identities)) and call.has("--allow-write")):
        raise CortexError(
            "write_refused", f"{command.name} needs {' or '.join(identities)} NAME and --allow-write on this very call"
        )
    if call.has("--operator") and call.has("--adapter"):
        raise CortexError("write_refused", "an agent (--adapter) is no operator, and an operator no agent: name one")
    if kind == "operator" and call.has("--adapter"):
        raise CortexError("write_refused", f"{command.name} is an operator's act: an agent (--adapter) does not do it")


def _check_shape(call: Call) -> None:
    command = call.command
    if not command.positionals.least <= len(call.positionals) <= command.positionals.most:
        raise invalid(f"{command.name} {command.positionals.refusal}")
    if command.needed is not None and not call.has(command.needed):
        raise invalid(f"{command.name} needs {command.needed}")


IDENTITIES: Final = {
    "agent": ("--adapter",),
    "operator": ("--operator",),
    "either": ("--operator", "--adapter"),
}
_NO_COMMAND: Final = f"no command; the commands are: {', '.join(COMMANDS)}"
