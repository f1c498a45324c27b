"""One run, wired: collect, read the clock, judge, remember, publish, report. It neither prints nor exits.

The clock is read after the evidence was collected, so that a row written meanwhile is not in the future. What fails
on the way out (history, ledger, textfile, report) becomes a finding in everything that is shown after it.
"""

import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final, NamedTuple

from msgspec.structs import replace

from cortex.layout import HEALTH_HISTORY, NOISE_LEDGER
from healthcheck import history
from healthcheck.clock import Clock
from healthcheck.collectors import collect
from healthcheck.evaluate import evaluate
from healthcheck.evidence import (
    Evidence,
    HistoryEvidence,
    Missing,
    NoiseEvidence,
    Observed,
    SetupEvidence,
    SetupFault,
    Unreadable,
)
from healthcheck.news import NOTHING, Ledger, Notices, Scope, take
from healthcheck.output import REPORT_MODE, TEXTFILE_MODE, describe_error, write_whole
from healthcheck.renderers import json_v1
from healthcheck.report import Report
from healthcheck.request import Request


class _Run(NamedTuple):
    """A run so far."""

    evidence: Evidence
    history_skipped: str | None = None
    notices: Notices = NOTHING

    def with_fault(self, finding: str, message: str, subject: str) -> "_Run":
        fault = SetupFault(finding, message, subject)
        if fault in self.evidence.setup.faults:  # a second attempt failed like the first
            return self
        faults = (*self.evidence.setup.faults, fault)
        return self._replace(evidence=replace(self.evidence, setup=SetupEvidence(faults)))


def audit(request: Request, clock: Clock, collected: Callable[[], object] | None = None) -> Report:
    """Do one run and return its report. `collected` is called once the evidence is in: what is left takes no time.

    Raises:
        ImportError: A textfile was asked for and prometheus-client cannot be imported.
    """
    began_ms = clock.wall_ms()
    evidence = collect(request.layout, request.manifest, request.faults)
    if collected is not None:
        collected()
    now = clock.wall_ms() if request.now is None else request.now
    report = partial(_report, request, now)
    run = _remember(request, _Run(evidence), report)
    run = _take_notice(request, run, report, _is_settled)
    if request.textfile is not None:
        run = _publish(request.textfile, run, report, began_ms, clock)
    if request.report is not None:
        written = _write_report(request.report, run, report)
        if written is not run and request.textfile is not None:
            written = _publish(request.textfile, written, report, began_ms, clock)
        run = written
    asked = {key for key, path in _OUTPUTS.items() if path(request) is not None}
    return report(_take_notice(request, run, report, asked.__contains__) if asked else run)


_Reporter = Callable[[_Run], Report]
# What only the end of a run can say, and what the run must have been asked for it.
_OUTPUTS: Final[Mapping[str, Callable[[Request], str | None]]] = {
    "setup::textfile-write-failed": lambda request: request.textfile,
    "setup::report-write-failed": lambda request: request.report,
}


def _is_settled(key: str) -> bool:
    return key not in _OUTPUTS


def _report(request: Request, now: int, run: _Run) -> Report:
    layout = request.layout
    return Report(
        name=request.name,
        home=str(layout.home),
        memory_root=str(layout.memory_root),
        now=now,
        thresholds=request.thresholds,
        evidence=run.evidence,
        assessment=evaluate(run.evidence, request.thresholds, now, run.history_skipped),
        notices=run.notices,
    )


def _remember(request: Request, run: _Run, report: _Reporter) -> _Run:
    """Append the history row, unless told not to or there is no folder for it."""
    if request.no_write:
        return run._replace(history_skipped="--no-write: this verdict is not remembered")
    log = request.layout.relative(request.layout.observability / HEALTH_HISTORY)
    try:
        written = history.append(request.layout, report(run))
    except OSError as error:
        message = f"The verdict could not be added to {log}: {describe_error(error)}."
        return run.with_fault("health-history-write-failed", message, log)
    if not written:
        return run._replace(history_skipped=f"no folder for {log}, and the auditor creates none")
    if isinstance(run.evidence.history, Missing):  # it was, until now
        return run._replace(evidence=replace(run.evidence, history=Observed(HistoryEvidence(log, 0))))
    return run


def _take_notice(request: Request, run: _Run, report: _Reporter, scope: Scope) -> _Run:
    """Tell the noise ledger of the findings, and learn what is news. Where it is damaged, everything is."""
    from healthcheck import notices

    judged = report(run)
    findings, write = judged.assessment.findings, not request.no_write
    try:
        news = notices.tell(request.layout, findings, judged.now, notify=request.notify, write=write, scope=scope)
    except notices.LedgerError as error:
        news = take(Ledger(), findings, judged.now, notify=request.notify, scope=scope).notices
        run = _with_damaged_ledger(request, run, str(error))
    news = Notices({**run.notices.standings, **news.standings}, (*run.notices.recovered, *news.recovered))
    return _with_ledger(request, run._replace(notices=news))


def _with_damaged_ledger(request: Request, run: _Run, reason: str) -> _Run:
    if isinstance(run.evidence.noise, Unreadable):  # that is said already
        return run
    ledger = request.layout.relative(request.layout.memory_root / NOISE_LEDGER)
    return run.with_fault("noise-ledger-damaged", f"The noise ledger {ledger} {reason}, so everything is told.", ledger)


def _with_ledger(request: Request, run: _Run) -> _Run:
    """Say of a ledger that this run began that it is there, so that the next run says the same."""
    path = request.layout.memory_root / NOISE_LEDGER
    if request.no_write or not isinstance(run.evidence.noise, Missing) or not os.path.lexists(path):
        return run
    noise = Observed(NoiseEvidence(request.layout.relative(path)))
    return run._replace(evidence=replace(run.evidence, noise=noise))


def _publish(path: str, run: _Run, report: _Reporter, began_ms: int, clock: Clock) -> _Run:
    """Write the textfile."""
    from healthcheck.renderers import prometheus

    try:
        _refuse_unread(path)
        text = prometheus.render(report(run), prometheus.RunTime(began_ms / 1000, clock.elapsed_s()))
        write_whole(path, text.encode("utf-8"), TEXTFILE_MODE)
    except (OSError, ValueError) as error:
        message = f"The metrics could not be written to {path}: {describe_error(error)}."
        return run.with_fault("textfile-write-failed", message, path)
    return run


def _refuse_unread(path: str) -> None:
    if not path.endswith(".prom"):
        raise OSError("node_exporter reads only names that end in .prom")


def _write_report(path: str, run: _Run, report: _Reporter) -> _Run:
    """Write the JSON report."""
    try:
        write_whole(path, json_v1.render(report(run)).encode("ascii"), REPORT_MODE)
    except (OSError, ValueError) as error:
        message = f"The report could not be written to {path}: {describe_error(error)}."
        return run.with_fault("report-write-failed", message, path)
    return run
