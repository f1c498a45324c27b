"""The `cortex` command: one call, one JSON object on stdout, one exit status.

Rules:
- stdout carries the envelope (or, with --text and --help, words) and nothing else; notes go to stderr.
- Whatever goes wrong becomes an envelope. Only a reader that has gone away, and SIGINT, end without one; and hooks,
  which answer their host and not a person.
- Nothing but the interpreter's own modules is imported before the guard, so that a broken installation answers too.
"""

import gc
import os
import sys
from collections.abc import Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    from cortex.arguments import Call, Host
    from cortex.envelope import JSONObject


def command() -> "NoReturn":
    """Carry out the process's call and end the process, at once: nothing is left to do for what it read."""
    gc.disable()  # what it reads has no cycles
    status = main(sys.argv[1:])
    if sys.stderr is not None:
        sys.stderr.flush()
    os._exit(status)


def main(arguments: Sequence[str]) -> int:
    """Carry out the call that `arguments`, the words after the program's name, spell; return the exit status."""
    words = list(arguments)
    try:
        output, status = answer(words)
        _write(output)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        _silence_stdout()
        return 0
    except OSError as error:
        print(f"cortex: cannot write the answer: {error.strerror}", file=sys.stderr)  # noqa: T201 - for people
        return 1
    return status


def answer(words: list[str], host: "Host | None" = None) -> tuple[bytes, int]:
    """Return what a call prints and the status it exits with, whatever goes wrong; of this process where no host."""
    try:
        return _run(words, host)
    except Exception as error:  # noqa: BLE001 - the outermost guard: any fault becomes an envelope
        _trace(error)
        return _internal_error(words[0] if words else "", type(error).__name__), 1


def _run(words: list[str], host: "Host | None") -> tuple[bytes, int]:
    from cortex.arguments import wants_help

    if wants_help(words):
        from cortex.help import help_for

        return help_for(words).encode(), 0
    if words[:1] == ["--version"]:
        from policies import __version__

        return f"cortex {__version__}\n".encode(), 0
    if words[:1] == ["hook"]:
        from cortex.hook import read_stdin, run

        return run(words, host or _process_host(), read_stdin), 0
    from cortex.envelope import exit_of, render

    envelope, as_text = dispatch(words, host or _process_host())
    if as_text:
        from cortex.text_output import render_text

        return render_text(envelope).encode(errors="backslashreplace"), exit_of(envelope)
    return render(envelope), exit_of(envelope)


def dispatch(words: Sequence[str], host: "Host") -> "tuple[JSONObject, bool]":
    """Carry out one call in this process; return its envelope, and whether it asked for text."""
    from cortex.arguments import parse_call
    from cortex.envelope import failure, success
    from cortex.errors import CortexError

    name = words[0] if words else ""
    as_text = "--text" in words[: words.index("--")] if "--" in words else "--text" in words
    try:
        call = parse_call(words, host)
        return success(name, _handler(call.command.handler)(call)), as_text
    except CortexError as error:
        return failure(name, error), as_text


def _handler(reference: str) -> "Callable[[Call], JSONObject]":
    from importlib import import_module

    module, _, function = reference.partition(":")
    handler: Callable[[Call], JSONObject] = getattr(import_module(module), function)
    return handler


def _process_host() -> "Host":
    from cortex.arguments import Host

    return Host(os.environ, process_clock, may_fork=True, timer=process_timer)


def process_clock() -> int:
    """Return the time, in milliseconds since 1970."""
    import time

    return time.time_ns() // 1_000_000  # noqa: TID251 - the one place where `cortex` reads the clock


def process_timer() -> int:
    """Return nanoseconds from some moment on, for durations."""
    import time

    return time.perf_counter_ns()


def _internal_error(command: str, kind: str) -> bytes:
    """Spell the envelope of a fault by hand: what would do it properly may be what is broken."""
    import json

    message = f"{kind} inside cortex; CORTEX_DEBUG=1 shows where"
    error = {"code": "internal_error", "message": message}
    envelope = {"schema": "lifeos-cortex/v1", "ok": False, "command": command, "data": None, "error": error}
    return (json.dumps(envelope, separators=(",", ":")) + "\n").encode()


def _trace(error: Exception) -> None:
    """Send a stripped trace to stderr where it was asked for."""
    if os.environ.get("CORTEX_DEBUG") != "1":
        return
    import traceback

    from cortex.privacy import strip_private

    print(strip_private("".join(traceback.format_exception(error))), file=sys.stderr)  # noqa: T201 - asked for


def _write(output: bytes) -> None:
    """Write all of it, also into a pipe whose reader is slow and which somebody made non-blocking."""
    if sys.stdout is None:
        raise OSError(9, "stdout is closed")
    sys.stdout.flush()
    descriptor = sys.stdout.fileno()
    rest = memoryview(output)
    while rest:
        try:
            rest = rest[os.write(descriptor, rest) :]
        except BlockingIOError:
            import select

            select.select([], [descriptor], [])


def _silence_stdout() -> None:
    """Keep the interpreter from complaining, as it ends, about the pipe that was closed."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
