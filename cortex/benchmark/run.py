"""`benchmark`: what the ranking of this memory finds of what labels say it should, and what that costs.

The report is the envelope's data, schema `lifeos-cortex-benchmark/v1`. Nothing in it repeats a query or a record.
"""

import resource
import sys
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Final, NamedTuple

from cortex.answering import answer
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
from cortex.index.opening import file_sizes
from cortex.memory import Memory, ReadMemory
from cortex.sound import sound_corpus
from policies.limits import BENCHMARK_SAMPLES, BENCHMARK_TOP_K
from policies.timestamps import format_instant

SCHEMA: Final = "lifeos-cortex-benchmark/v1"
_DECIMALS: Final = 6
_NS_A_MS: Final = 1_000_000
_RSS_UNIT: Final = 1024 if sys.platform == "linux" else 1  # bytes
# Everything runs in the process that was started: no daemon, no second core.
_PROCESSES: Final = 1
_SHOWN: Final = {"bm25-baseline": "five records in full", "progressive": "five cards, one record in full"}


class Outcome(NamedTuple):
    """What became of a label's query. `pairs` counts those in order, and all; None where there are no such ids."""

    recall: float
    reciprocal_rank: float
    pairs: tuple[int, int] | None
    false_recall: float | None
    tokens: dict[str, int]
    latencies: dict[str, list[int]]
    cards: bytes


class Footprint(NamedTuple):
    """What the run took of the machine, in bytes."""

    disk: int
    disk_growth: int
    peak_rss: int


def benchmark(call: Call) -> JSONObject:
    """Put every label's query to the ranking; say what came back; with `--output`, write that down too."""
    if call.has("--output") and not call.has("--allow-write"):
        raise CortexError("write_refused", "benchmark --output needs --allow-write on this very call")
    return answer(call, _benchmark)


def _benchmark(call: Call, memory: Memory) -> JSONObject:
    corpus = memory if isinstance(memory, ReadMemory) else sound_corpus(call)
    now = call.now()
    data = read_label_file(call.options["--labels"])
    labels = check_labels(data, corpus.records)
    written_to = report_name(corpus.root, call.options["--output"]) if call.has("--output") else None
    disk = _bytes_on_disk(memory)
    outcomes = ask(labels, _alone(memory), now, _timer(call))
    grown = _bytes_on_disk(memory)
    footprint = Footprint(grown, grown - disk, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _RSS_UNIT)
    rankings = len(outcomes) * BENCHMARK_SAMPLES
    configurations = [
        {"name": name, **findings, **_costs(name, outcomes, footprint, memory)}
        for name, findings in findings_of(outcomes).items()
    ]
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
        "indexes": list(memory.indexes),
        # Without an index, the ranking keeps nothing between two calls: each tokenises every record anew.
        "corpus_tokenizations": 0 if memory.indexes else rankings,
        "ranking_runs": rankings,
        "cards_sha256": cards_sha256(outcomes),
        "configurations": configurations,
        "saving": _saving(outcomes),
    }
    if written_to is not None:
        _write(call, written_to, report, now)
    return report


def check_labels(data: bytes, records: Sequence[Record]) -> list[NumberedLabel]:
    """Return the labels of a file's content.

    Raises:
        CortexError: `invalid_input` naming what is wrong: a row, its query, or an id that no record has.
    """
    labels = read_labels(data)
    if not labels:
        raise invalid("the label file holds no label")
    read_queries(labels)
    check_known(labels, (record.id for record in records))
    return labels


def ask(
    labels: Sequence[NumberedLabel],
    memory: Memory,
    now: int,
    timer: Callable[[], int],
    samples: int = BENCHMARK_SAMPLES,
) -> list[Outcome]:
    """Put every label's query to a memory; the arguments are those of `measure`."""
    outcomes = []
    with Waiting("queries", len(labels), timer) as waiting:
        for _, label in labels:
            outcomes.append(_judge(label, measure(label.query, memory, now, timer, samples)))
            waiting.step()
    return outcomes


def findings_of(outcomes: Sequence[Outcome]) -> dict[str, JSONObject]:
    """Return what each configuration found and would inject: the same on every machine, with an index or without."""
    return {
        name: {**_quality(outcomes), "injected_tokens": sum(each.tokens[name] for each in outcomes)}
        for name in DISCLOSURES
    }


def cards_sha256(outcomes: Sequence[Outcome]) -> str:
    """Return one hash of all the cards, and of the records behind the first of them."""
    return sha256(b"\n".join([each.cards for each in outcomes])).hexdigest()


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
        measured.cards,
    )


def _timer(call: Call) -> Callable[[], int]:
    host = call.host
    return host.timer or (lambda: host.clock() * _NS_A_MS)


def _alone(memory: Memory) -> Memory:
    """Return the memory such that it is asked in this process alone."""
    return ReadMemory(memory.root, memory.records, memory.notes) if isinstance(memory, ReadMemory) else memory


def _bytes_on_disk(memory: Memory) -> int:
    """Return the bytes of the corpus, and of the index that it is asked through."""
    with pin(memory.root) as pinned:
        corpus = survey(pinned).size_bytes
        return corpus + (sum(file_sizes(pinned.descriptor)) if memory.indexes else 0)


def _costs(name: str, outcomes: Sequence[Outcome], footprint: Footprint, memory: Memory) -> JSONObject:
    latencies = [sample for each in outcomes for sample in each.latencies[name]]
    return {
        "p95_latency_ms": round(metrics.percentile(latencies, 95) / _NS_A_MS, 3),
        "latency_samples": len(latencies),
        "disk_bytes": footprint.disk,
        "disk_growth_bytes": footprint.disk_growth,
        "process_count": _PROCESSES,
        "peak_rss_bytes": footprint.peak_rss,
        "execution_path": f"in process: {'rank by index' if memory.indexes else 'rank'}, {_SHOWN[name]}",
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
