"""The command `memory-health`: the guard around everything else. It answers 0, 1, 2, or 130 (SIGINT).

1. Nothing but two modules that are part of the interpreter is imported before the guard stands, so that even a broken
   import is exit 2, not the interpreter's exit 1, which would read as a warning.
2. The clock is read here alone, by what the others are handed.
3. `hook` answers 0 whatever happens: an agent's host takes 2 for "do not stop".
"""

import sys
import time

# Options whose value follows them; the parser may be what is broken.
VALUED = frozenset({
    "--root", "--memory-root", "--now", "--index-manifest",
    "--report", "--textfile", "--name", "--format", "--block-on",
})  # fmt: skip
TYPE_CHECKING = False  # typing's own, without its import
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(argv: "Sequence[str] | None" = None) -> int:
    """Run the command with these arguments, the process's own by default, and return what to exit with."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    code = _answer(arguments)
    _drain_stderr()
    return 0 if command_of(arguments) == "hook" else code


def command_of(arguments: "Sequence[str]") -> "str | None":
    """Return the first argument that is neither an option nor the value of one."""
    before = ""
    for argument in arguments:
        if before not in VALUED and not argument.startswith("-"):
            return argument
        before = "" if before in VALUED else argument
    return None


def _answer(arguments: list[str]) -> int:
    began = time.perf_counter()  # noqa: TID251
    try:
        from healthcheck.clock import Clock
        from healthcheck.emergency import Progress, respond
        from healthcheck.signals import handled_by, stop
    except BaseException as fault:  # noqa: BLE001
        return _last_resort(fault)
    clock = Clock(_wall_ms, lambda: time.perf_counter() - began)  # noqa: TID251
    progress = Progress()
    try:
        with handled_by(stop):
            from healthcheck.commands import run

            return int(run(arguments, clock, progress))
    except BaseException as fault:  # noqa: BLE001
        try:
            return int(respond(arguments, fault, clock, progress))
        except BaseException as second:  # noqa: BLE001
            return _last_resort(second)


def _wall_ms() -> int:
    return time.time_ns() // 1_000_000  # noqa: TID251


def _last_resort(fault: BaseException) -> int:
    """Answer where not even the emergency answer could be given; `ExitCode` may be what could not be imported."""
    try:
        if sys.stderr is not None:
            print(f"memory-health: {type(fault).__name__}", file=sys.stderr)  # noqa: T201
    except (OSError, ValueError):
        pass  # it is full or closed; the exit code still says it
    return 130 if isinstance(fault, KeyboardInterrupt) else 2


def _drain_stderr() -> None:
    """Let go nowhere what stderr would not take: the interpreter flushes at its end, and exits 120 where that fails."""
    try:
        if sys.stderr is not None:
            sys.stderr.flush()
    except (OSError, ValueError):
        import os

        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
