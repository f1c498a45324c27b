"""What a run is asked, made of options and environment.

A value that makes no sense becomes a fault, and so a finding: a timer that nobody watches still publishes it.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from cortex.layout import DEFAULT_HEALTH_ROOT, MEMORY_BELOW_ROOT
from cortex.places import Layout, layout_of
from healthcheck.evidence import SetupFault
from healthcheck.options import Options, Setting
from healthcheck.renderers.printable import valid
from policies.thresholds import EffectiveThreshold, InvalidOverride, effective_thresholds
from policies.timestamps import parse_instant

_QUOTED_AT_MOST: Final = 80


class Request(NamedTuple):
    """What a run is asked. `now` is milliseconds since 1970, None for the clock; `faults` are of the asking itself.

    `notify` says that the run's news is told to somebody, and so is none for the next.
    """

    layout: Layout
    thresholds: Mapping[str, EffectiveThreshold]
    name: str = "default"
    manifest: Path | None = None
    now: int | None = None
    no_write: bool = False
    notify: bool = False
    textfile: str | None = None
    report: str | None = None
    faults: tuple[SetupFault, ...] = ()


def request_of(options: Options, environment: Mapping[str, str]) -> Request:
    """Return the request; relative paths are read against the working directory."""
    thresholds, invalid = effective_thresholds(environment)
    now = None if options.now is None else parse_instant(options.now.value)
    faults = (
        *_root_fault(options.memory_root or options.root),
        *_clock_fault(options.now, now),
        *(_threshold_fault(override, thresholds[override.name]) for override in invalid),
    )
    return Request(
        layout=layout_of(_memory_root(options)),
        thresholds=thresholds,
        name=valid(options.name),
        manifest=None if options.index_manifest is None else Path(options.index_manifest.value).absolute(),
        now=now,
        no_write=options.no_write,
        notify=options.quiet,
        textfile=None if options.textfile is None else options.textfile.value,
        report=None if options.report is None else options.report.value,
        faults=faults,
    )


def _memory_root(options: Options) -> Path:
    if options.memory_root is not None:
        return Path(options.memory_root.value).absolute()
    root = os.path.expanduser(DEFAULT_HEALTH_ROOT) if options.root is None else options.root.value  # noqa: PTH111  (takes a missing HOME)
    return Path(root).absolute().joinpath(*MEMORY_BELOW_ROOT)


def quoted(value: str) -> str:
    """Return a value for a message: in ASCII, in quotes, cut at 80 characters."""
    text = ascii(value)
    return text if len(text) <= _QUOTED_AT_MOST else f"{text[:_QUOTED_AT_MOST]}..."


def _root_fault(root: Setting | None) -> tuple[SetupFault, ...]:
    if root is None or os.path.isdir(root.value):  # noqa: PTH112  (false, not an error, for odd names)
        return ()
    message = f"{root.source} names {quoted(root.value)}, which is no folder."
    return (SetupFault("health-root-invalid", message, root.source),)


def _clock_fault(asked: Setting | None, now: int | None) -> tuple[SetupFault, ...]:
    if asked is None or now is not None:
        return ()
    message = f"{asked.source} is {quoted(asked.value)}, which is no time to judge by; the real clock was used."
    return (SetupFault("health-clock-invalid", message, asked.source),)


def _threshold_fault(override: InvalidOverride, used: EffectiveThreshold) -> SetupFault:
    message = (
        f"{override.variable} is {quoted(override.value)}, which is no number above 0; "
        f"the default {used.default} was used for {override.name}."
    )
    return SetupFault("cortex-threshold-invalid", message, override.variable)
