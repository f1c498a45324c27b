"""From files to evidence: one collector a check, each behind the same guard.

A collector answers with what it measured, with `Missing` or with `Unreadable`. It reads no clock, changes nothing, and
keeps nothing of the memory's content. One that crashes becomes `ProbeFailed`, and the others still run.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from cortex.places import Layout
from healthcheck.collectors.corpus import collect_corpus
from healthcheck.collectors.history import collect_history
from healthcheck.collectors.hot_memory import collect_hot_memory
from healthcheck.collectors.index import collect_index
from healthcheck.collectors.noise import collect_noise
from healthcheck.collectors.observability import collect_observability
from healthcheck.collectors.policy import collect_policy
from healthcheck.collectors.proposals import collect_proposals
from healthcheck.collectors.ratchet import collect_ratchet
from healthcheck.collectors.retention import collect_retention
from healthcheck.collectors.retrieval import collect_retrieval
from healthcheck.collectors.reviewer import collect_reviewer
from healthcheck.evidence import Collected, Evidence, ProbeFailed, SetupEvidence, SetupFault

T = TypeVar("T")


def collect(layout: Layout, manifest: Path | None, setup: tuple[SetupFault, ...]) -> Evidence:
    """Return everything that is judged. `manifest` is the index manifest that the operator named, if any."""
    reviewer = guarded(lambda: collect_reviewer(layout))
    retrieval = guarded(lambda: collect_retrieval(layout))
    proposals = guarded(lambda: collect_proposals(layout))
    return Evidence(
        setup=SetupEvidence(setup),
        policy=guarded(lambda: collect_policy(layout)),
        reviewer=reviewer,
        retrieval=retrieval,
        proposals=proposals,
        observability=guarded(lambda: collect_observability(layout)),
        index=guarded(lambda: collect_index(layout, manifest)),
        hot_memory=guarded(lambda: collect_hot_memory(layout)),
        retention=guarded(lambda: collect_retention(layout)),
        corpus=guarded(lambda: collect_corpus(layout)),
        ratchet=guarded(lambda: collect_ratchet(layout, reviewer, retrieval, proposals)),
        noise=guarded(lambda: collect_noise(layout)),
        history=guarded(lambda: collect_history(layout)),
    )


def guarded(probe: Callable[[], Collected[T]]) -> Collected[T]:
    """Return what a collector answers, or that it crashed: by the exception's kind, since its text may be private."""
    try:
        return probe()
    except Exception as error:  # noqa: BLE001  whatever it is, the other checks still have to run
        return ProbeFailed(type(error).__name__)
