"""The textfile parses back to the values that were written, whatever was judged; its series are always the same."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.evidences import reports
from support.health_tree import NOW
from support.metrics import Series, series_in

from healthcheck.checks import CHECKS, FINDINGS
from healthcheck.evidence import NoIndex, Observed
from healthcheck.renderers import prometheus
from healthcheck.renderers.printable import valid
from healthcheck.report import Report, measures
from policies import __version__
from policies.thresholds import THRESHOLDS

FEW = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
RUN = prometheus.RunTime(began_s=1_786_363_200.25, took_s=0.0421)
STATUS_NUMBERS = {"ok": 0, "warn": 1, "critical": 2, "not-enabled": -1}


class Read:
    """Series as read back; `value` finds one by its name without the prefix, and its labels."""

    def __init__(self, text: str) -> None:
        self.series: Series = series_in(text)

    def value(self, name: str, **labels: str) -> float:
        (value,) = [
            value
            for (sample, sample_labels), value in self.series.items()
            if sample == f"memory_health_{name}" and labels == {k: v for k, v in sample_labels if k != "memory"}
        ]
        return value

    def shape(self) -> set[tuple[str, tuple[tuple[str, str], ...]]]:
        return {(name, tuple(label for label in labels if label[0] != "memory")) for name, labels in self.series}


def rendered(report: Report) -> tuple[str, Read]:
    text = prometheus.render(report, RUN)
    return text, Read(text)


@FEW
@given(reports())
def test_the_verdict_comes_back(report: Report) -> None:
    _, read = rendered(report)
    assert read.value("status") == report.overall
    assert [read.value("overall", overall=word) for word in ("ok", "warn", "critical")] == [
        word == report.overall.word for word in ("ok", "warn", "critical")
    ]
    for result in report.assessment.checks:
        number = read.value("check_status", check=result.check)
        assert number == STATUS_NUMBERS.get(result.status, number)
        assert number <= 0 or result.status in {"warn", "critical"}
    found = {finding.id for finding in report.assessment.findings}
    for spec in FINDINGS:
        assert read.value("finding", id=spec.id, severity=spec.severity.word) == (spec.id in found)


@FEW
@given(reports())
def test_the_measures_come_back(report: Report) -> None:
    """A time that never was is 0; a number that nobody measured is below 0."""
    _, read = rendered(report)
    measured = measures(report.evidence)
    for name in ("proposals_pending", "observability_bytes", "observability_files"):
        number = getattr(measured, name)
        assert read.value(name) == (-1 if number is None else float(number))
    for name, instant in (("reviewer", measured.reviewer_at), ("retrieval", measured.retrieval_at)):
        assert read.value("evidence_timestamp_seconds", evidence=name) == (0 if instant is None else instant / 1000)
    oldest = measured.observability_oldest_at
    assert read.value("observability_oldest_timestamp_seconds") == (0 if oldest is None else oldest / 1000)
    has_none = isinstance(report.evidence.index, Observed) and isinstance(report.evidence.index.value, NoIndex)
    assert read.value("index_state", state="no-index") == has_none


@FEW
@given(reports())
def test_the_thresholds_come_back_in_base_units(report: Report) -> None:
    _, read = rendered(report)
    words = {"ms": ("seconds", 1000), "bytes": ("bytes", 1), "proposals": ("proposals", 1)}
    for threshold in THRESHOLDS:
        word, divisor = words[threshold.unit]
        expected = float(report.thresholds[threshold.name].value) / divisor
        assert read.value(f"threshold_{word}", threshold=threshold.name) == expected


@FEW
@given(reports(), st.text(max_size=20) | st.sampled_from(['a"b\\c\nd', "\\n", "}"]))
def test_every_series_is_there_in_every_run_under_the_name_of_its_memory(report: Report, name: str) -> None:
    text, read = rendered(report._replace(name=name))
    assert {dict(labels)["memory"] for _, labels in read.series} == {valid(name)}
    other = Report("other", "", "", NOW, report.thresholds, report.evidence, report.assessment)
    assert read.shape() == rendered(other)[1].shape()
    assert text.endswith("\n")
    assert not text.endswith("\n\n")


@FEW
@given(reports(), reports())
def test_help_and_series_are_constant_between_runs(one: Report, other: Report) -> None:
    """No path, hash, version or free text but the memory's name is in any of them, or they would differ."""
    texts = [rendered(report)[0] for report in (one, other)]
    comments = [[line for line in text.split("\n") if line.startswith("#")] for text in texts]
    assert comments[0] == comments[1]
    assert rendered(one)[1].shape() == rendered(other)[1].shape()
    assert len(rendered(one)[1].series) == len([line for line in texts[0].split("\n") if line and line[0] != "#"])


@FEW
@given(reports())
def test_the_run_itself_comes_back(report: Report) -> None:
    _, read = rendered(report)
    assert read.value("last_run_timestamp_seconds") == RUN.began_s
    assert read.value("run_duration_seconds") == RUN.took_s
    assert read.value("build_info", version=__version__) == 1
    assert {check.id for check in CHECKS} == {
        dict(labels)["check"] for name, labels in read.series if name.endswith("_check_status")
    }
