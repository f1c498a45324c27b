"""Properties of what is printed: whatever was judged, the report is strict JSON of the published shape."""

import json

from hypothesis import HealthCheck, given, settings
from support.evidences import reports
from support.reports import checked_report, statuses

from healthcheck.renderers import json_v1
from healthcheck.report import Report

FEW = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


@FEW
@given(reports())
def test_every_report_is_one_strict_document_of_the_published_shape(report: Report) -> None:
    text = json_v1.render(report)
    document = checked_report(text)
    assert text.isascii()
    assert text.endswith("}\n")
    assert statuses(document) == {result.check: result.status for result in report.assessment.checks}
    assert [found["id"] for found in document["findings"]] == [found.id for found in report.assessment.findings]
    assert document["exit_code"] == int(report.overall)
    assert sum(document["counts"].values()) == len(document["checks"])
    assert json.loads(json.dumps(document)) == document


@FEW
@given(reports())
def test_the_same_report_gives_the_same_bytes(report: Report) -> None:
    assert json_v1.render(report) == json_v1.render(report)
