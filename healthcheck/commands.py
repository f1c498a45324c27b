"""The commands: from what was asked to what is printed and which code is returned. `cli` is the guard around them."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

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

            return text.explain(CATALOGUE[options.finding or ""]), ExitCode.OK
        case "schema":
            return SCHEMA_FILE.read_text("ascii"), ExitCode.OK
        case _:
            report = _audit(options, environment, clock)
            return _render(report, options.format), exit_code(report, options.block_on)


def _audit(options: Options, environment: Mapping[str, str], clock: Clock) -> Report:
    from healthcheck.audit import audit
    from healthcheck.request import request_of

    return audit(request_of(options, environment), clock)


def exit_code(report: Report, block_on: str) -> ExitCode:
    """Return what the process exits with; only here does `--block-on` count."""
    code = ExitCode(report.overall)
    return ExitCode.OK if code is ExitCode.WARN and block_on == "critical" else code


def _render(report: Report, wanted: str) -> str:
    match wanted:
        case "json":
            from healthcheck.renderers import json_v1

            return json_v1.render(report)
        case "nagios":
            from healthcheck.renderers import nagios

            return nagios.render(report)
        case _:
            from healthcheck.renderers import text

            return text.render(report, colour=_wants_colour(os.environ))


def _wants_colour(environment: Mapping[str, str]) -> bool:
    return sys.stdout is not None and sys.stdout.isatty() and not environment.get("NO_COLOR")
