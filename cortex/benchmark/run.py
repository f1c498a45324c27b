"""`benchmark`: what the ranking of this memory finds of what labels say it should, and what that costs.

The report is the envelope's data, schema `lifeos-cortex-benchmark/v1`. Nothing in it repeats a query or a record.
"""

import resource
import sys
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Final, NamedTuple

from cortex.arguments import Call
from cortex.benchmark import metrics
from cortex.benchmark.label_file import read_label_file, report_name, write_report
from cortex.benchmark.labels import Label, NumberedLabel, check_known, read_labels
from cortex.benchmark.measure import DISCLOSURES, Measured, measure, read_queries
from cortex.benchmark.progress import Waiting
from cortex.corpus.digest import canonical_digest
from cortex.corpus.record import Record
from cortex.corpus.root import pin
from cortex.corpus.walk import survey
from cortex.envelope import JSONObject
from cortex.errors import CortexError, invalid
from cortex.retrieval.filters import valid_records
from cortex.sound import SoundCorpus, sound_corpus
from policies.limits import BENCHMARK_SAMPLES, BENCHMARK_TOP_K
from policies.timestamps import format_instant

SCHEMA: Final = "lifeos-cortex-benchmark/v1"
_DECIMALS: Final = 6
_NS_A_MS: Final = 1_000_000
_RSS_UNIT: Final = 1024 if sys.platform == "linux" else 1  # bytes
# Everything runs in the process that was started: no daemon, no index, no second core.
_PROCESSES: Final = 1
_PATHS: Final = {
    "bm25-baseline": "in process: rank, five records in full",
    "progressive": "in process: rank, five cards, one record in full",
}


class Outcome(NamedTuple):
    """What became of a label's query. `pairs` counts those in order, and all; None where there are no such ids."""

    recall: float
    reciprocal_rank: float
    pairs: tuple[int, int] | None
    false_recall: float | None
    tokens: dict[str, int]
    latencies: dict[str, list[int]]


class Footprint(NamedTuple):
    """What the run took of the machine, in bytes."""

    disk: int
    disk_growth: int
    peak_rss: int


def benchmark(call: Call) -> JSONObject:
    """Put every label's query to the ranking; say what came back; with `--output`, write that down too."""
    if call.has("--output") and not call.has("--allow-write"):
        raise CortexError("write_refused", "benchmark --output needs --allow-write on this very call")
    corpus = sound_corpus(call)
    now = call.now()
    data = read_label_file(call.options["--labels"])
    labels = _read_labels(data, corpus)
    written_to = report_name(corpus.root, call.options["--output"]) if call.has("--output") else None
    disk = _corpus_bytes(corpus.root)
    outcomes = _ask(labels, valid_records(corpus.records, now), _timer(call))
    grown = _corpus_bytes(corpus.root)
    footprint = Footprint(grown, grown - disk, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _RSS_UNIT)
    report: JSONObject = {
        "schema": SCHEMA,
        "generated_at": format_instant(now),
        "command": _command(call),
        "corpus_digest": canonical_digest(corpus.records),
        "labels_digest": sha256(data).hexdigest(),
        "records": len(corpus.records),
        "queries": len(outcomes),
        "top_k": BENCHMARK_TOP_K,
        "vector_config": None,
        # The ranking keeps nothing between two calls: each tokenises every record anew.
        "corpus_tokenizations": len(outcomes) * BENCHMARK_SAMPLES,
        "ranking_runs": len(outcomes) * BENCHMARK_SAMPLES,
        "configurations": [_configuration(name, outcomes, footprint) for name in DISCLOSURES],
        "saving": _saving(outcomes),
    }
    if written_to is not None:
        _write(call, written_to, report, now)
    return report


def _read_labels(data: bytes, corpus: SoundCorpus) -> list[NumberedLabel]:
    labels = read_labels(data)
    if not labels:
        raise invalid("the label file holds no label")
    read_queries(labels)
    check_known(labels, (record.id for record in corpus.records))
    return labels


def _ask(labels: Sequence[NumberedLabel], records: Sequence[Record], timer: Callable[[], int]) -> list[Outcome]:
    outcomes = []
    with Waiting("queries", len(labels), timer) as waiting:
        for _, label in labels:
            outcomes.append(_judge(label, measure(label.query, records, timer)))
            waiting.step()
    return outcomes


def _judge(label: Label, measured: Measured) -> Outcome:
    """Return what a ranking is worth; the ranking itself, which may name every record, is not kept."""
    ranking, first = measured.ranking, measured.ranking[:BENCHMARK_TOP_K]
    order, false_ids = label.temporal_expected_order, label.false_ids
    return Outcome(
        metrics.recall(ranking, label.expected_ids, BENCHMARK_TOP_K),
        metrics.reciprocal_rank(ranking, label.expected_ids),
        metrics.pairs_in_order(first, order) if isinstance(order, tuple) else None,
        metrics.recall(ranking, false_ids, BENCHMARK_TOP_K) if isinstance(false_ids, tuple) else None,
        measured.tokens,
        measured.latencies,
    )


def _timer(call: Call) -> Callable[[], int]:
    host = call.host
    return host.timer or (lambda: host.clock() * _NS_A_MS)


def _corpus_bytes(root: str) -> int:
    with pin(root) as pinned:
        return survey(pinned).size_bytes


def _configuration(name: str, outcomes: Sequence[Outcome], footprint: Footprint) -> JSONObject:
    latencies = [sample for each in outcomes for sample in each.latencies[name]]
    return {
        "name": name,
        **_quality(outcomes),
        "injected_tokens": sum(each.tokens[name] for each in outcomes),
        "p95_latency_ms": round(metrics.percentile(latencies, 95) / _NS_A_MS, 3),
        "latency_samples": len(latencies),
        "disk_bytes": footprint.disk,
        "disk_growth_bytes": footprint.disk_growth,
        "process_count": _PROCESSES,
        "peak_rss_bytes": footprint.peak_rss,
        "execution_path": _PATHS[name],
    }


def _quality(outcomes: Sequence[Outcome]) -> JSONObject:
    """Return the means over the labels that a metric is defined for; null where there is none."""
    pairs = [each.pairs for each in outcomes if each.pairs is not None]
    right, all_pairs = sum(right for right, _ in pairs), sum(count for _, count in pairs)
    return {
        "recall_at_5": _rounded(metrics.mean([each.recall for each in outcomes])),
        "mrr": _rounded(metrics.mean([each.reciprocal_rank for each in outcomes])),
        "temporal_accuracy": _rounded(right / all_pairs if all_pairs else None),
        "false_recall": _rounded(
            metrics.mean([each.false_recall for each in outcomes if each.false_recall is not None])
        ),
    }


def _saving(outcomes: Sequence[Outcome]) -> JSONObject:
    """Return what the second way of disclosing injects less than the first, in tokens and as a share."""
    whole, cards = (sum(each.tokens[name] for each in outcomes) for name in DISCLOSURES)
    return {"injected_tokens": whole - cards, "share": round((whole - cards) / whole, _DECIMALS)}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DECIMALS)


def _command(call: Call) -> list[str]:
    """Return the call as it could be made again."""
    given = [part for name, value in call.options.items() for part in ((name, value) if value else (name,))]
    return ["cortex", call.command.name, *given]


def _write(call: Call, name: str, report: JSONObject, now: int) -> None:
    import json

    from cortex.store.store import open_store

    text = json.dumps(report, ensure_ascii=False, allow_nan=False, indent=2) + "\n"
    with open_store(call.memory_root()) as store:
        actor = call.options.get("--adapter", "benchmark")
        for warning in write_report(store, name, text.encode(errors="backslashreplace"), actor, now):
            sys.stderr.write(f"cortex: {warning}\n" if warning else "")
