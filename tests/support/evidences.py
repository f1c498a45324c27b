"""Hypothesis strategies for evidence as the collectors hand it on, for tests of the pure verdict and its renderers."""

from typing import TypeVar

from hypothesis import strategies as st
from support.health_tree import DAY, HOUR, MINUTE, NOW

from healthcheck.evaluate import evaluate
from healthcheck.evidence import (
    AdoptedIndex,
    Collected,
    CorpusEvidence,
    Evidence,
    HistoryEvidence,
    HotFile,
    HotMemoryEvidence,
    LogLoss,
    Malformed,
    Missing,
    NoIndex,
    NoiseEvidence,
    NotEnabled,
    ObservabilityEvidence,
    Observed,
    ProbeFailed,
    ProposalEvidence,
    RatchetEvidence,
    RetentionEvidence,
    RetrievalEvidence,
    RetrievalRow,
    ReviewerEvidence,
    ReviewerRow,
    RunFolders,
    SetupEvidence,
    SetupFault,
    ShapeFault,
    SilenceEvidence,
    Unreadable,
)
from healthcheck.judgement import Limits
from healthcheck.report import Report
from policies.thresholds import THRESHOLDS, effective_thresholds

T = TypeVar("T")

EDGES = tuple(limit + offset for limit in (10 * MINUTE, DAY, 7 * DAY, 30 * DAY) for offset in (-1, 0, 1))
# Text as names of files bring it: quotes, line ends, escapes, and the lone surrogates of bytes that are no UTF-8.
texts = st.text(max_size=12) | st.sampled_from(["", 'a"b', "a\\b", "a\nb", "\udcff", "</script>", "{}", "grün"])
instants = st.sampled_from([NOW - edge for edge in EDGES]) | st.integers(NOW - 40 * DAY, NOW + 2 * HOUR)
counts = st.integers(0, 30)
VALID, NOT_VALID = (st.just(answer) for answer in (True, False))
hashes = st.sampled_from(["a" * 64, "b" * 64])
malformed = st.just(Malformed()) | st.builds(Malformed, st.integers(1, 9), st.lists(st.integers(1, 99)).map(tuple))


def collected(observed: st.SearchStrategy[T]) -> st.SearchStrategy[Collected[T]]:
    """What a collector may answer: most often something observed."""
    whole = observed.map(Observed)
    others = st.builds(Missing, texts) | st.builds(Unreadable, texts, texts) | st.builds(ProbeFailed, texts)
    return st.one_of(whole, whole, others)


@st.composite
def run_folders(draw: st.DrawFn) -> RunFolders:
    """A group of run folders, often empty."""
    times = sorted(draw(st.lists(instants, max_size=3)))
    if not times:
        return RunFolders()
    return RunFolders(len(times), times[0], times[-1], draw(st.sampled_from([0, 0, 0, 1])))


@st.composite
def reviewers(draw: st.DrawFn) -> ReviewerEvidence:
    """The reviewer's evidence, its two groups of run folders consistent with each other."""
    status = st.sampled_from(["ok", "ok", "ok", "skipped", "failed", "parse-failed", "timed-out", "invalid"])
    row = st.builds(ReviewerRow, st.integers(1, 99), status, instants | st.none(), texts | st.none())
    newer = draw(run_folders())
    # All run folders: the newer ones, and perhaps an older one.
    older = draw(st.none() | st.just(NOW - 50 * DAY))
    everything = newer if older is None else RunFolders(
        newer.count + 1, older, older if newer.newest_at is None else newer.newest_at, newer.with_parse_error
    )  # fmt: skip
    last = draw(row | st.none())
    return ReviewerEvidence(
        "log",
        "runs",
        0 if last is None else 3,
        draw(malformed),
        last,
        everything,
        everything if last is None else newer,
    )


@st.composite
def observabilities(draw: st.DrawFn) -> ObservabilityEvidence:
    """The measure of all logs."""
    times = sorted(draw(st.lists(instants, max_size=3)))
    unreadable = tuple(draw(st.lists(texts, max_size=2)))
    sizes = st.sampled_from([0, 1, 2**28, 2**28 + 1, 2**60])
    if not times:
        return ObservabilityEvidence("logs", 0, 0, unreadable=unreadable)
    old, new = draw(texts), draw(texts)
    return ObservabilityEvidence("logs", len(times), draw(sizes), times[0], old, times[-1], new, unreadable)


retrieval_rows = st.builds(RetrievalRow, st.integers(1, 99), VALID, instants) | st.builds(
    RetrievalRow, st.integers(1, 99), NOT_VALID, instants | st.none()
)
retrievals = st.builds(RetrievalEvidence, st.just("log"), counts, malformed, retrieval_rows | st.none())
proposals = st.builds(ProposalEvidence, st.just("queue"), counts, counts, malformed, malformed)
indexes = st.builds(NoIndex, texts) | st.builds(AdoptedIndex, texts, texts, instants, hashes, hashes, hashes, hashes)
hot_files = st.lists(st.builds(HotFile, texts, counts, st.booleans()), min_size=1, max_size=2).map(tuple)
marks = st.lists(instants, max_size=3).map(sorted)
retentions = st.builds(
    lambda levelled, marks, unclear: RetentionEvidence(
        levelled,
        len(marks) + unclear,
        *((marks[0], "old", marks[-1], "new") if marks else (None,) * 4),
        unclear,
        ("odd",) * min(unclear, 1),
    ),
    counts,
    marks,
    st.sampled_from([0, 0, 0, 1]),
)
shape_faults = st.lists(st.builds(ShapeFault, texts, texts, texts), max_size=3).map(tuple)
corpora = st.builds(CorpusEvidence, st.just("KNOWLEDGE"), counts, counts, st.just(0)) | st.builds(
    CorpusEvidence, st.just("KNOWLEDGE"), counts, counts, st.integers(1, 9), shape_faults
)
ways = st.lists(st.sampled_from(["gone", "smaller", "head", "earlier", "ids"]), min_size=1, unique=True).map(tuple)
losses = st.builds(LogLoss, texts, texts, ways, counts, counts | st.none(), counts)
silences = st.builds(SilenceEvidence, texts, instants, st.booleans())
noises = st.builds(NoiseEvidence, texts, st.lists(silences, max_size=3).map(tuple))
SETUP_FAULTS = ("health-root-invalid", "health-clock-invalid", "cortex-threshold-invalid", "textfile-write-failed")
faults = st.lists(st.builds(SetupFault, st.sampled_from(SETUP_FAULTS), texts, texts), max_size=3).map(tuple)
parts = st.dictionaries(st.sampled_from(["reviewer", "retrieval", "proposals"]), texts, max_size=2)
policies = st.just(Missing("no policy")) | collected(st.builds(NotEnabled, texts, parts))

evidences = st.builds(
    Evidence,
    setup=st.just(SetupEvidence()) | st.builds(SetupEvidence, faults),
    policy=policies,
    reviewer=collected(reviewers()),
    retrieval=collected(retrievals),
    proposals=collected(proposals),
    observability=collected(observabilities()),
    index=collected(indexes),
    hot_memory=collected(st.builds(HotMemoryEvidence, hot_files)),
    retention=collected(retentions),
    corpus=collected(corpora),
    ratchet=collected(st.builds(RatchetEvidence, st.lists(losses, max_size=2).map(tuple))),
    noise=collected(noises),
    history=collected(st.builds(HistoryEvidence, texts, counts)),
)


@st.composite
def limits(draw: st.DrawFn) -> Limits:
    """Thresholds in force: most often the defaults."""
    values = st.sampled_from(["1", "10", "0.5", "86400000", "1e300"])
    chosen = draw(st.just({}) | st.dictionaries(st.sampled_from([one.variable for one in THRESHOLDS]), values))
    return effective_thresholds(chosen)[0]


@st.composite
def reports(draw: st.DrawFn) -> Report:
    """Whole reports, judged by NOW."""
    evidence, in_force = draw(evidences), draw(limits())
    return Report(draw(texts), draw(texts), draw(texts), NOW, in_force, evidence, evaluate(evidence, in_force, NOW))
