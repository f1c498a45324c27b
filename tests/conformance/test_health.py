"""The reference vectors: 240 trees and 18 pieces of evidence, judged as the reference judged them.

Compared are, for reviewer, retrieval, proposals, observability and index: the evidence's status, the numbers measured,
the hashes, the finding ids with their severities, and the overall verdict of these. The checks that the vectors do not
have (corpus, setup, history) may find nothing that is not in a table. Where ours differs on purpose, the case stands in
`health_differences` with its reason and our outcome, and is held to that; a case there that agrees is an error.
"""

import json
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from conformance.health_differences import ASSESSMENTS, DIFFERENCES, KEPT, OTHER_FINDINGS, Outcome
from support.running import run

from healthcheck.evaluate import evaluate
from healthcheck.evidence import (
    AdoptedIndex,
    Collected,
    CorpusEvidence,
    Evidence,
    Malformed,
    Missing,
    NoIndex,
    ObservabilityEvidence,
    Observed,
    ProposalEvidence,
    RetrievalEvidence,
    RetrievalRow,
    ReviewerEvidence,
    ReviewerRow,
    RunFolders,
    SetupEvidence,
    Unreadable,
)
from policies.thresholds import THRESHOLDS, effective_thresholds
from policies.timestamps import parse_timestamp

VECTORS: Final = Path(__file__).parent / "vectors" / "health"
CASES: Final = sorted(path.parent.name for path in VECTORS.glob("*/expected.json"))
CHECKS: Final = ("reviewer", "retrieval", "proposals", "observability", "index")
BADNESS: Final = {"ok": 0, "warn": 1, "critical": 2}
VARIABLES: Final = {
    "".join(part.title() if n else part for n, part in enumerate(threshold.name.split("_"))): threshold.variable
    for threshold in THRESHOLDS
}

# What a finding says of the evidence it was made from, in the reference's words. Where there is no finding, or one
# about time or amount alone, the evidence was taken as good.
REVIEWER_STATUSES: Final = {
    "reviewer-evidence-missing": "missing",
    "reviewer-evidence-invalid": "invalid",
    "reviewer-latest-failed": "failed",
    "reviewer-latest-parse-failed": "parse-failed",
    "reviewer-latest-timed-out": "timed-out",
}
RETRIEVAL_STATUSES: Final = {
    "retrieval-missing": "missing",
    "retrieval-evidence-malformed": "invalid",
    "retrieval-evidence-invalid": "invalid",
}
INDEX_STATUSES: Final = {
    "index-evidence-missing": "absent",
    "index-manifest-invalid": "invalid",
    "index-integrity-mismatch": "mismatch",
}


def test_all_vectors_are_there() -> None:
    assert len(CASES) == 240
    assert len(list(assessments())) == 18


def environment_of(expected: Mapping[str, Any]) -> dict[str, str]:
    """Return thresholds and clock of a case as variables; a name that is none of ours has no variable."""
    overrides = {VARIABLES[name]: value for name, value in expected["thresholds"].items() if name in VARIABLES}
    spelled = {name: value if isinstance(value, str) else json.dumps(value) for name, value in overrides.items()}
    return {**spelled, "CORTEX_HEALTH_NOW": str(expected["now"])}


def audited(case: str, expected: Mapping[str, Any], root: Path) -> dict[str, Any]:
    """Make the case's tree, run memory-health on it, and return its report."""
    shutil.copytree(VECTORS / case / "tree", root, symlinks=True)
    for line in expected["setup"]:
        subprocess.run(["bash", "-c", line.replace("{ROOT}", str(root))], cwd=root, check=True, capture_output=True)
    arguments = ["--root", expected.get("root", "{ROOT}"), "--json", "--no-write"]
    if "index_manifest" in expected:
        arguments += ["--index-manifest", expected["index_manifest"]]
    answer = run(*(part.replace("{ROOT}", str(root)) for part in arguments), environment=environment_of(expected))
    report = answer.report
    assert answer.exit_code == report["exit_code"] == BADNESS[report["overall"]]
    assert answer.stderr == ""
    return report


def findings_of(report: Mapping[str, Any], *, of_vectors: bool) -> frozenset[tuple[str, str]]:
    """Return ids and severities of the findings of the checks that the vectors have, or of the others."""
    return frozenset(
        (found["id"], found["severity"]) for found in report["findings"] if (found["check"] in CHECKS) is of_vectors
    )


def overall_of(findings: frozenset[tuple[str, str]]) -> str:
    return max((severity for _, severity in findings), key=BADNESS.__getitem__, default="ok")


def our_outcome(report: Mapping[str, Any]) -> Outcome:
    findings, evidence = findings_of(report, of_vectors=True), report["evidence"]
    ids = {found for found, _ in findings}
    statuses = {
        "reviewer": first_of(ids, REVIEWER_STATUSES) or reviewed_status(evidence["reviewer"]),
        "retrieval": first_of(ids, RETRIEVAL_STATUSES) or "ok",
        "proposals": "missing" if evidence["proposals"]["state"] == "missing" else "ok",
        "observability": "missing" if "observability-evidence-missing" in ids else "ok",
        "index": first_of(ids, INDEX_STATUSES) or {"no-index": "no-index-v1"}.get(evidence["index"]["state"], "ok"),
    }
    return Outcome(statuses, findings, overall_of(findings))


def first_of(ids: set[str], statuses: Mapping[str, str]) -> str | None:
    return next((status for found, status in statuses.items() if found in ids), None)


def reviewed_status(reviewer: Mapping[str, Any]) -> str:
    last = reviewer.get("last")
    return last["status"] if last else "ok"


def vector_outcome(expected: Mapping[str, Any]) -> Outcome | None:
    """Return the reference's outcome, or None where it threw."""
    if "error" in expected:
        return None
    evidence, assessment = expected["evidence"], expected["assessment"]
    statuses = {
        check: evidence[check].get("status") or ("ok" if evidence[check]["available"] else "missing")
        for check in CHECKS
    }
    return Outcome(statuses, vector_findings(assessment), assessment["overall"])


def vector_findings(assessment: Mapping[str, Any]) -> frozenset[tuple[str, str]]:
    return frozenset((found["id"], found["severity"]) for found in assessment["findings"])


def numbers_of_vector(evidence: Mapping[str, Any]) -> dict[str, object]:
    index = evidence["index"]
    return {
        "pending": evidence["proposals"]["pending"],
        "malformed proposals": evidence["proposals"]["malformedLines"],
        "bytes": evidence["observability"]["bytes"],
        "files": evidence["observability"]["files"],
        "oldest": evidence["observability"]["oldestMs"],
        "canonical hash": index.get("canonicalHash"),
        "index hash": index.get("indexHash"),
    }


def our_numbers(report: Mapping[str, Any]) -> dict[str, object]:
    proposals, logs, index = (report["evidence"][check] for check in ("proposals", "observability", "index"))
    oldest = logs.get("oldest_at")
    return {
        "pending": proposals.get("pending", 0),
        "malformed proposals": proposals.get("malformed", {}).get("lines", []),
        "bytes": logs.get("size_bytes", 0),
        "files": logs.get("files", 0),
        "oldest": None if oldest is None else parse_timestamp(oldest),
        "canonical hash": index.get("measured_canonical_sha256"),
        "index hash": index.get("measured_index_sha256"),
    }


def refuses_as_the_reference_throws(expected: Mapping[str, Any], report: Mapping[str, Any]) -> bool:
    """Tell whether a threshold that the reference throws at is our one setup finding, which names the variable."""
    error = expected["error"]
    faults = [found for found in report["findings"] if found["id"] == "cortex-threshold-invalid"]
    first = VARIABLES[error["message"].split()[0]] if error["name"] == "RangeError" else None
    return bool(first and faults and first in faults[0]["message"])


@pytest.mark.parametrize("case", CASES)
def test_a_tree_is_judged_as_the_reference_judged_it(case: str, tmp_path: Path) -> None:
    expected = json.loads((VECTORS / case / "expected.json").read_text("utf-8"))
    report = audited(case, expected, tmp_path / "root")
    ours, theirs = our_outcome(report), vector_outcome(expected)
    others = findings_of(report, of_vectors=False)
    if case in DIFFERENCES:
        difference = DIFFERENCES[case]
        assert ours.findings == difference.findings
        assert {check: ours.statuses[check] for check in difference.statuses} == difference.statuses
        assert others == difference.others
        assert report["overall"] == overall_of(ours.findings | others)
        assert ours != theirs or others, (
            f"{case} agrees with the vector: take it out of the table ({difference.reason})"
        )
        return
    if theirs is None:
        assert refuses_as_the_reference_throws(expected, report)
        assert ours.findings == frozenset()
        return
    assert ours == theirs
    assert our_numbers(report) == numbers_of_vector(expected["evidence"])
    assert others == OTHER_FINDINGS.get(case, frozenset())
    assert report["overall"] == overall_of(ours.findings | others)


def test_every_oddity_that_the_vectors_mark_is_decided() -> None:
    marked = {case for case in CASES if "quirk" in json.loads((VECTORS / case / "expected.json").read_bytes())}
    assert marked - DIFFERENCES.keys() == KEPT.keys()
    assert all(KEPT.values())


def test_the_tables_name_cases_that_exist() -> None:
    assert DIFFERENCES.keys() | OTHER_FINDINGS.keys() <= set(CASES)
    assert not DIFFERENCES.keys() & OTHER_FINDINGS.keys()
    assert all(difference.reason for difference in DIFFERENCES.values())


def assessments() -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate((VECTORS / "assess.jsonl").read_text("utf-8").splitlines(), start=1):
        yield number, json.loads(line)


def reviewer_of(given: Mapping[str, Any] | None) -> Collected[ReviewerEvidence]:
    if given is None:
        return Missing("none given")
    row = ReviewerRow(1, given["status"], parse_timestamp(given.get("ts", "")))
    return Observed(ReviewerEvidence("log", "runs", 1, Malformed(), row, RunFolders(), RunFolders()))


def retrieval_of(given: Mapping[str, Any] | None) -> Collected[RetrievalEvidence]:
    if given is None:
        return Missing("none given")
    retrieved_at = parse_timestamp(given["ts"])
    valid = bool(given["queryHash"]) and given["durationMs"] >= 0 and retrieved_at is not None
    return Observed(RetrievalEvidence("log", 1, Malformed(), RetrievalRow(1, valid, retrieved_at)))


def proposals_of(given: Mapping[str, Any] | None) -> Collected[ProposalEvidence]:
    if given is None or not given.get("available", True):
        return Missing("none given")
    return Observed(ProposalEvidence("queue", given["pending"], given["pending"], Malformed(), Malformed()))


def observability_of(given: Mapping[str, Any] | None) -> Collected[ObservabilityEvidence]:
    if given is None or not given.get("available", True):
        return Missing("none given")
    oldest = given["oldestMs"]
    return Observed(ObservabilityEvidence("logs", given["files"], given["bytes"], oldest, None, oldest, None))


def index_of(given: Mapping[str, Any] | None, now: int) -> Collected[NoIndex | AdoptedIndex]:
    """Translate the index. Ours has no manifest without a time: such a one is no sound manifest."""
    match given:
        case {"status": "no-index-v1"}:
            return Observed(NoIndex("marker"))
        case {"status": "ok", "ageMs": int(age)}:
            return Observed(AdoptedIndex("m", "i", now - age, "a" * 64, "a" * 64, "b" * 64, "b" * 64))
        case {"status": "mismatch"}:
            return Observed(AdoptedIndex("m", "i", now, "a" * 64, "c" * 64, "b" * 64, "b" * 64))
        case {"status": "ok"}:
            return Unreadable("manifest", "has no time")
        case _:
            return Missing("none given")


def evidence_of(given: Mapping[str, Any]) -> Evidence:
    return Evidence(
        setup=SetupEvidence(),
        policy=Missing("no policy"),
        reviewer=reviewer_of(given.get("reviewer")),
        retrieval=retrieval_of(given.get("retrieval")),
        proposals=proposals_of(given.get("proposals")),
        observability=observability_of(given.get("observability")),
        index=index_of(given.get("index"), given["nowMs"]),
        hot_memory=Missing("not of the reference"),
        retention=Missing("not of the reference"),
        corpus=Observed(CorpusEvidence("KNOWLEDGE", 0, 0, 0)),
        ratchet=Missing("not of the reference"),
        noise=Missing("not of the reference"),
        history=Missing("no history"),
    )


@pytest.mark.parametrize(("number", "case"), list(assessments()))
def test_evidence_is_judged_as_the_reference_judged_it(number: int, case: dict[str, Any]) -> None:
    given = case["input"]
    overrides = {VARIABLES[name]: str(value) for name, value in given.get("thresholds", {}).items()}
    in_force, invalid = effective_thresholds(overrides)
    assert invalid == ()
    assessment = evaluate(evidence_of(given), in_force, given["nowMs"])
    ours = frozenset((found.id, found.severity.word) for found in assessment.findings)
    theirs = vector_findings(case["assessment"])
    if number in ASSESSMENTS:
        reason, expected = ASSESSMENTS[number]
        assert ours == expected, reason
        assert ours != theirs, f"line {number} agrees: take it out of the table"
    else:
        assert ours == theirs
        assert assessment.overall.word == case["assessment"]["overall"]
