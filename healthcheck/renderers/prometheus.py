"""The report as Prometheus text for node_exporter's textfile collector.

Every series in every run, with label values from fixed lists, constant HELP, and no sample timestamps. A time that
never was is 0; a number that was not measured is -1: neither absent nor NaN, which alerts would not see.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple, assert_never

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from healthcheck.checks import CHECKS, FINDINGS, CheckStatus, Severity
from healthcheck.evidence import (
    AdoptedIndex,
    Collected,
    Missing,
    NoIndex,
    ObservabilityEvidence,
    Observed,
    ProbeFailed,
    Unreadable,
)
from healthcheck.renderers.printable import valid
from healthcheck.report import Measures, Report, measures
from policies import __version__
from policies.thresholds import THRESHOLDS

_STATUS_NUMBERS: Final[Mapping[CheckStatus, int]] = {
    "ok": 0, "warn": 1, "critical": 2, "not-enabled": -1, "skipped": -2,
}  # fmt: skip
_TIMED_EVIDENCE: Final = (
    ("reviewer", "reviewer_at"),
    ("retrieval", "retrieval_at"),
    ("observability", "observability_newest_at"),
    ("index", "index_at"),
)
_READABLE_EVIDENCE: Final = (
    "reviewer", "retrieval", "proposals", "observability", "index", "hot_memory", "retention", "corpus", "history",
)  # fmt: skip
_INDEX_STATES: Final = ("no-index", "adopted", "missing", "unreadable", "probe-failed")
# Unit of a threshold: what its series is called and how many of the threshold make one of the series.
_THRESHOLD_SERIES: Final = (("ms", "seconds", 1000), ("bytes", "bytes", 1), ("proposals", "proposals", 1))


class RunTime(NamedTuple):
    """When the run began, in seconds since 1970, and how many seconds it took so far; by the real clock."""

    began_s: float
    took_s: float


class _Series(NamedTuple):
    """A metric: its name and HELP, the names of its labels but `memory`, and its samples."""

    name: str
    help: str
    labels: tuple[str, ...]
    samples: Iterable[tuple[tuple[str, ...], float]]


def render(report: Report, run: RunTime) -> str:
    """Return every series, with a final newline."""
    registry = CollectorRegistry()
    registry.register(_Families(valid(report.name), [*_verdict(report), *_evidence(report), *_run(run)]))
    return generate_latest(registry).decode("utf-8")


class _Families(Collector):
    """Hands prometheus-client the series as gauges."""

    def __init__(self, memory: str, series: list[_Series]) -> None:
        self._memory = memory
        self._series = series

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield the gauges in their order."""
        for series in self._series:
            family = GaugeMetricFamily(f"memory_health_{series.name}", series.help, labels=("memory", *series.labels))
            for values, number in series.samples:
                family.add_metric((self._memory, *values), number)
            yield family


def _one(name: str, text: str, number: float) -> _Series:
    return _Series(name, text, (), [((), number)])


def _verdict(report: Report) -> Iterator[_Series]:
    found = {finding.id for finding in report.assessment.findings}
    silenced = {finding.id for finding in report.assessment.findings if report.notices.is_silenced(finding)}
    yield _one("status", "The verdict: 0 ok, 1 warn, 2 critical.", report.overall)
    yield _Series(
        "overall", "The verdict as one series of three that is 1.", ("overall",),
        [((severity.word,), severity == report.overall) for severity in Severity],
    )  # fmt: skip
    statuses = {result.check: _STATUS_NUMBERS[result.status] for result in report.assessment.checks}
    yield _Series(
        "check_status", "Each check: 0 ok, 1 warn, 2 critical, -1 not enabled, -2 skipped.", ("check",),
        [((check.id,), statuses[check.id]) for check in CHECKS],
    )  # fmt: skip
    yield _Series(
        "finding", "Each finding of the catalogue: 1 where it was made.", ("id", "severity"),
        [((spec.id, spec.severity.word), spec.id in found) for spec in FINDINGS],
    )  # fmt: skip
    yield _Series(
        "finding_silenced", "Each finding of the catalogue: 1 where it is silenced.", ("id",),
        [((spec.id,), spec.id in silenced) for spec in FINDINGS],
    )  # fmt: skip


def _evidence(report: Report) -> Iterator[_Series]:
    measured, evidence = measures(report.evidence), report.evidence
    yield _Series(
        "evidence_timestamp_seconds", "When the evidence was last written, by its own account; 0: never.",
        ("evidence",), [((name,), _seconds(getattr(measured, field))) for name, field in _TIMED_EVIDENCE],
    )  # fmt: skip
    yield _Series(
        "evidence_readable", "1 where the evidence is there and was read as a whole.", ("evidence",),
        [((name,), _readable(getattr(evidence, name))) for name in _READABLE_EVIDENCE],
    )  # fmt: skip
    for unit, word, divisor in _THRESHOLD_SERIES:
        names = [limit.name for limit in THRESHOLDS if limit.unit == unit]
        text = f"The thresholds of this run, in {word}; the label is the threshold's name in the report."
        samples = [((name,), float(report.thresholds[name].value) / divisor) for name in names]
        yield _Series(f"threshold_{word}", text, ("threshold",), samples)
    yield from _numbers(measured)
    state = _index_state(evidence.index)
    yield _Series(
        "index_state", "The state of the index as one series that is 1.", ("state",),
        [((name,), name == state) for name in _INDEX_STATES],
    )  # fmt: skip


def _numbers(measured: Measures) -> Iterator[_Series]:
    pending = _count(measured.proposals_pending)
    yield _one("proposals_pending", "Proposals waiting for a decision; -1: not measured.", pending)
    yield _one("observability_bytes", "Bytes in all logs; -1: not measured.", _count(measured.observability_bytes))
    yield _one("observability_files", "Number of logs; -1: not measured.", _count(measured.observability_files))
    oldest = _seconds(measured.observability_oldest_at)
    yield _one("observability_oldest_timestamp_seconds", "When the oldest log was last written; 0: never.", oldest)


def _run(run: RunTime) -> Iterator[_Series]:
    yield _one("last_run_timestamp_seconds", "When this run began, by the real clock.", run.began_s)
    yield _one("run_duration_seconds", "How long this run took until it wrote this.", run.took_s)
    yield _Series("build_info", "The version of memory-health, as a label.", ("version",), [((__version__,), 1)])


def _seconds(instant: int | None) -> float:
    return 0 if instant is None else instant / 1000


def _count(number: int | None) -> int:
    return -1 if number is None else number


def _readable(collected: object) -> bool:
    if not isinstance(collected, Observed):
        return False
    value = collected.value
    return not (isinstance(value, ObservabilityEvidence) and value.unreadable)


def _index_state(index: Collected[NoIndex | AdoptedIndex]) -> str:
    match index:
        case Observed(value=NoIndex()):
            return "no-index"
        case Observed():
            return "adopted"
        case Missing():
            return "missing"
        case Unreadable():
            return "unreadable"
        case ProbeFailed():
            return "probe-failed"
        case _:
            assert_never(index)
