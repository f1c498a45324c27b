"""The commands: from what was asked to what is printed and which code is returned. `cli` is the guard around them."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from cortex.places import Layout
from healthcheck.checks import CATALOGUE
from healthcheck.clock import Clock
from healthcheck.emergency import Progress
from healthcheck.exit_codes import ExitCode
from healthcheck.options import Options, parse
from healthcheck.output import write_stdout
from healthcheck.report import Report

SCHEMA_FILE: Final = Path(__file__).parent / "schemas" / "memory-health-v1.schema.json"


def run(arguments: list[str], clock: Clock, progress: Progress) -> ExitCode:
    """Do what the command line asks for, print it, and return what to exit with.

    `progress` is told how far the run came, for the emergency that may follow.

    Raises:
        SystemExit: A usage error, or help or version were printed.
        BaseException: Whatever went wrong and is no finding.
    """
    options = parse(arguments, os.environ)
    progress.judging = options.command is None
    text, code = _answer(options, os.environ, clock)
    progress.printing = True
    write_stdout(text)
    return code


def _answer(options: Options, environment: Mapping[str, str], clock: Clock) -> tuple[str, ExitCode]:
    match options.command:
        case "explain":
            from healthcheck.renderers import text

            spec = CATALOGUE[options.finding or ""]
            live = _live(spec.id, options, environment, clock) if options.details["live"] else ""
            return text.explain(spec) + live, ExitCode.OK
        case "hook":
            from healthcheck import hook

            return hook.answer(options, environment, clock), ExitCode.OK
        case "schema":
            return SCHEMA_FILE.read_text("ascii"), ExitCode.OK
        case "replay":
            return _replayed(options)
        case "drill":
            return _drilled(options, environment, clock)
        case "history":
            return _past(options, environment)
        case "noise":
            from healthcheck import noise_commands
            from healthcheck.request import request_of

            return noise_commands.answer(request_of(options, environment), options, clock)
        case _:
            return _judge(options, environment, clock)


def _live(finding: str, options: Options, environment: Mapping[str, str], clock: Clock) -> str:
    from healthcheck import live
    from healthcheck.audit import audit
    from healthcheck.request import request_of

    request = request_of(options, environment)
    quietly = request._replace(no_write=True, textfile=None, report=None)
    return live.explain(audit(quietly, clock), finding)


def _past(options: Options, environment: Mapping[str, str]) -> tuple[str, ExitCode]:
    from healthcheck import past
    from healthcheck.request import request_of

    request = request_of(options, environment)
    try:
        remembered = past.read(request.layout)
    except past.PastError as error:
        return refuse(str(error))
    if options.format == "json":
        return past.as_json(remembered), ExitCode.OK
    encoding = getattr(sys.stdout, "encoding", None) or ""
    return past.as_text(remembered, "blocks" if encoding.lower() == "utf-8" else "ascii"), ExitCode.OK


def _drilled(options: Options, environment: Mapping[str, str], clock: Clock) -> tuple[str, ExitCode]:
    from healthcheck import drill
    from healthcheck.output import describe_error
    from healthcheck.request import request_of

    try:
        turns = drill.drill(request_of(options, environment), clock)
    except OSError as error:
        return refuse(f"the evidence could not be copied: {describe_error(error)}")
    said = drill.as_json(turns) if options.format == "json" else drill.as_text(turns)
    return said, ExitCode.OK if drill.all_red(turns) else ExitCode.CRITICAL


def _replayed(options: Options) -> tuple[str, ExitCode]:
    from healthcheck import replay

    path = options.details["file"]
    try:
        report, is_same = replay.replay(path)
    except replay.ReplayError as error:
        return refuse(f"{path} {error}")
    if not is_same:
        refuse(f"{path} says otherwise: it was changed, or another version judged it")
    return _render(report, options.details["format"] or "json"), exit_code(report, options.block_on)


def refuse(reason: str) -> tuple[str, ExitCode]:
    """Say on stderr why a command cannot do what it was asked for; return what is left to print, and its exit code."""
    print(f"memory-health: {reason}".encode("ascii", "backslashreplace").decode("ascii"), file=sys.stderr)  # noqa: T201
    return "", ExitCode.USAGE


def _judge(options: Options, environment: Mapping[str, str], clock: Clock) -> tuple[str, ExitCode]:
    from healthcheck.audit import audit
    from healthcheck.request import request_of

    request = request_of(options, environment)
    report = audit(request, clock)
    says_nothing = options.quiet and not report.notices.speaks
    said = "" if says_nothing else _render(report, options.format, request.layout)
    return said, exit_code(report, options.block_on)


def exit_code(report: Report, block_on: str) -> ExitCode:
    """Return what the process exits with; only here does `--block-on` count."""
    code = ExitCode(report.overall)
    return ExitCode.OK if code is ExitCode.WARN and block_on == "critical" else code


def _render(report: Report, wanted: str, layout: Layout | None = None) -> str:
    match wanted:
        case "json":
            from healthcheck.renderers import json_v1

            return json_v1.render(report)
        case "nagios":
            from healthcheck.renderers import nagios

            return nagios.render(report)
        case "html":
            from healthcheck.collectors.course import read_course
            from healthcheck.course import Course
            from healthcheck.renderers import html

            return html.render(report, Course() if layout is None else read_course(layout))
        case _:
            from healthcheck.renderers import text

            return text.render(report, colour=_wants_colour(os.environ))


def _wants_colour(environment: Mapping[str, str]) -> bool:
    return sys.stdout is not None and sys.stdout.isatty() and not environment.get("NO_COLOR")
