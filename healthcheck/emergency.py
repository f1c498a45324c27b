"""The answer of a run that could not finish: one line on stderr, a report where stdout still works, critical metrics.

1. It is made by hand, of the standard library and the catalogue: an import may be what is broken.
2. It reads the command line crudely, since the parser may not have come to it.
3. It repeats no text of an exception: that could be content of the memory. It says which kind, and where.
4. Each step is tried for itself; what fails here fails silently, but the line on stderr and the exit code stay.
"""

import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from typing import Any, Final

from healthcheck.checks import CATALOGUE, CHECKS, FINDINGS, Severity
from healthcheck.clock import Clock
from healthcheck.exit_codes import ExitCode
from healthcheck.output import TEXTFILE_MODE, StdoutError, write_stdout, write_whole
from healthcheck.signals import Stopped, handled_by
from policies import __version__
from policies.timestamps import format_instant

_FINDING: Final = "health-internal-error"
_COMMANDS: Final = frozenset({"drill", "explain", "history", "hook", "noise", "replay", "schema"})
_UNDONE: Final = "the run ended before it was judged"


class Progress:
    """How far a run came: whether it is one that judges (None: not known), and whether stdout may hold part of it."""

    def __init__(self) -> None:
        self.judging: bool | None = None
        self.printing = False


def respond(arguments: list[str], fault: BaseException, clock: Clock, progress: Progress) -> ExitCode:
    """Answer for a run that ended with `fault`, and return what to exit with."""
    if isinstance(fault, SystemExit):
        return _left(ExitCode(int(fault.code or 0)))
    if isinstance(fault, KeyboardInterrupt):
        _say("interrupted")
        return ExitCode.INTERRUPTED
    with handled_by(signal.SIG_IGN):
        reason = describe(fault)
        _say(reason)
        if progress.judging is not False and not _COMMANDS & set(arguments):
            _try(lambda: _publish(arguments, reason, clock))
            if not progress.printing or isinstance(fault, UnicodeEncodeError):
                _try(lambda: write_stdout(_document(arguments, reason, clock)))
    return ExitCode.CRASHED


def _left(code: ExitCode) -> ExitCode:
    """Return the parser's exit code, once help or version are out to the last byte."""
    try:
        if code is ExitCode.OK:
            write_stdout("")
    except StdoutError as error:
        _say(str(error))
        return ExitCode.CRASHED
    return code


def describe(fault: BaseException) -> str:
    """Return what happened in one line without a word of anybody's content: `KeyError at report.py:12`."""
    match fault:
        case Stopped() | StdoutError():
            return str(fault)
        case ImportError():
            return f"cannot import {fault.name or 'a module'}"
        case UnicodeEncodeError():
            return f"stdout's encoding {fault.encoding} cannot take a character of the report"
        case _:
            return f"{type(fault).__name__}{_place(fault)}"


def _place(fault: BaseException) -> str:
    place, step = "", fault.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        place, step = f" at {code.co_filename.rpartition('/')[2]}:{step.tb_lineno}", step.tb_next
    return place


def _say(reason: str) -> None:
    line = f"memory-health: {reason}\n".encode("ascii", "backslashreplace").decode("ascii")
    _try(lambda: (sys.stderr.write(line), sys.stderr.flush()))


def _try(step: Callable[[], object]) -> None:
    try:
        step()
    except Exception:  # noqa: BLE001  (rule 4)
        return


def _asked(arguments: list[str], flag: str, variable: str, otherwise: str = "") -> str:
    """Return the value of an option, else of its variable, else `otherwise`, without the parser."""
    value = None
    for argument, following in zip(arguments, [*arguments[1:], None], strict=True):
        if argument == flag and following is not None:
            value = following
        elif argument.startswith(f"{flag}="):
            value = argument.removeprefix(f"{flag}=")
    return value or os.environ.get(variable, "") or otherwise


def _name(arguments: list[str]) -> str:
    name = _asked(arguments, "--name", "CORTEX_HEALTH_NAME", "default")
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _message(reason: str) -> str:
    return f"The run ended early ({reason}), so nothing is known."


def _document(arguments: list[str], reason: str, clock: Clock) -> str:
    wanted = "json" if "--json" in arguments else _asked(arguments, "--format", "", "text")
    match wanted:
        case "json":
            return json.dumps(_report(_name(arguments), reason, format_instant(clock.wall_ms())), indent=2) + "\n"
        case "nagios":
            return f"MEMORY CRITICAL - {_FINDING}: {_message(reason)}\n"
        case "html":
            return _page(_message(reason))
        case _:
            return f"CRITICAL: {_FINDING}: {_message(reason)}\n"


def _page(message: str) -> str:
    text = message.replace("&", "&amp;").replace("<", "&lt;").encode("ascii", "xmlcharrefreplace").decode("ascii")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>CRITICAL - memory</title>\n</head>\n'
        f"<body>\n<main>\n<h1>critical: {_FINDING}</h1>\n<p>{text}</p>\n</main>\n</body>\n</html>\n"
    )


def _report(name: str, reason: str, now: str) -> dict[str, Any]:
    """Return a valid report in which nothing was judged but the run itself."""
    spec = CATALOGUE[_FINDING]
    undone = [check.id for check in CHECKS if check.id != spec.check]
    checks = [{"id": check, "status": "skipped", "summary": _UNDONE} for check in undone]
    return {
        "schema": "memory-health/v1",
        "generated_at": now,
        "now": now,
        "overall": "critical",
        "exit_code": int(ExitCode.CRASHED),
        "name": name,
        "root": {"home": "", "memory_root": ""},
        "counts": {"ok": 0, "warn": 0, "critical": 1, "not_enabled": 0, "skipped": len(undone)},
        "checks": [*checks, {"id": spec.check, "status": "critical", "summary": _message(reason)}],
        "skipped": [{"check": check, "reason": _UNDONE} for check in undone],
        "thresholds": {},
        "evidence": {},
        "findings": [
            {
                "id": _FINDING,
                "severity": spec.severity.word,
                "check": spec.check,
                "message": _message(reason),
                "evidence": {"reason": reason},
                "remedy": spec.remedy,
                "way_back": spec.way_back,
                "silenced": False,
            }
        ],
        "recovered": [],
    }


def _publish(arguments: list[str], reason: str, clock: Clock) -> None:
    path = _asked(arguments, "--textfile", "CORTEX_HEALTH_TEXTFILE")
    if not path.endswith(".prom"):
        return
    name, now_s = _name(arguments), clock.wall_ms() / 1000
    try:
        text = _all_series(name, now_s, reason)
    except BaseException:  # noqa: BLE001  (whatever is broken: these are the series that alerts look at)
        text = _series_by_hand(name, now_s)
    write_whole(path, text.encode("utf-8"), TEXTFILE_MODE)


def _all_series(name: str, now_s: float, reason: str) -> str:
    from healthcheck.crashed import crashed_report
    from healthcheck.renderers import prometheus

    return prometheus.render(crashed_report(name, reason), prometheus.RunTime(now_s, 0))


def _series_by_hand(name: str, now_s: float) -> str:
    """Return the verdict's series without prometheus-client; the rest would be unknown anyway."""
    escaped = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    samples: dict[str, Mapping[str, float]] = {
        "status": {"": Severity.CRITICAL},
        "overall": {f',overall="{severity.word}"': severity is Severity.CRITICAL for severity in Severity},
        "check_status": {f',check="{check.id}"': _check_number(check.id) for check in CHECKS},
        "finding": {f',id="{spec.id}",severity="{spec.severity.word}"': spec.id == _FINDING for spec in FINDINGS},
        "last_run_timestamp_seconds": {"": now_s},
        "build_info": {f',version="{__version__}"': 1},
    }
    return "".join(
        f"# TYPE memory_health_{metric} gauge\n"
        + "".join(f'memory_health_{metric}{{memory="{escaped}"{more}}} {number:.3f}\n' for more, number in rows.items())
        for metric, rows in samples.items()
    )


def _check_number(check: str) -> int:
    return int(Severity.CRITICAL) if check == CATALOGUE[_FINDING].check else -2
