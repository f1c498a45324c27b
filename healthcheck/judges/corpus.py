"""Can the canonical files be read safely? Only what shows without reading their content."""

from healthcheck.evidence import CorpusEvidence
from healthcheck.judgement import Facts, Judged, Limits, bad, good
from healthcheck.words import counted, size


def judge_corpus(evidence: CorpusEvidence, limits: Limits, now: int) -> Judged:  # noqa: ARG001  (all judges look alike)
    """Judge the walk over the canonical files. It has neither limits of its own nor times."""
    if evidence.faults:
        named = "; ".join(f"{fault.path}: {fault.message}" for fault in evidence.first_faults)
        return bad(
            "corpus-unsound",
            f"{counted(evidence.faults, 'fault')} below {evidence.folder} that reading would refuse: {named}.",
            Facts(
                path=evidence.folder,
                count=evidence.faults,
                paths=tuple(fault.path for fault in evidence.first_faults),
            ),
        )
    return good(f"{counted(evidence.files, 'canonical file')}, {size(evidence.size_bytes)}")
