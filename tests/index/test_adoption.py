"""Adoption is by evidence: a report on this very corpus, which the index bears out to the last card."""

import json
import os
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from index.corpora import note, put
from index.forging import Parts, forge
from support.indexes import adopt, say
from support.labels import asking, encode
from support.stores import OPERATOR, Memory, Said
from support.trees import fingerprint

from policies.limits import REPORT_MAX_BYTES

LABELS = encode(
    asking("q1", "oak bridge", "oak", "bridge", temporal_expected_order=["oak", "bridge"]),
    asking("q2", "橡树 oak", "r2", "p1", false_ids=["elm", "r4"]),
    asking("q3", "fir", "p2", "fir"),
    asking("q4", "мост", "bridge", "elm"),
    asking("q5", "pine", "fir", "hot"),
)
Report = dict[str, Any]


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    path = tmp_path / "labels.jsonl"
    path.write_bytes(LABELS)
    return path


def benchmark(memory: Memory, labels: Path, *words: str) -> Report:
    return memory.call("benchmark", "--labels", str(labels), *words).data


def saved(report: object, folder: Path, name: str = "report.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(report, ensure_ascii=False), encoding="utf-8")
    return path


def build(memory: Memory, report: Path, *words: str) -> Said:
    return memory.call("index", "build", "--adopt", str(report), *words, *OPERATOR)


def test_a_report_of_this_corpus_adopts(memory: Memory, labels: Path, tmp_path: Path):
    report = saved(benchmark(memory, labels), tmp_path)
    data = build(memory, report).data
    assert (data["adopted"], data["warnings"], "next" in data) == (True, [], False)
    adoption = json.loads((memory.root / "INDEX/adoption.json").read_bytes())
    assert adoption == {
        "schema": "lifeos-cortex-index-adoption/v1",
        "operator": "ada",
        "adopted_at": "2026-08-01T12:00:00.000Z",
        "canonical_sha256": memory.call("rebuild", "--from-canonical").data["canonical_digest"],
        "report_sha256": sha256(report.read_bytes()).hexdigest(),
    }
    assert len(memory.call("status").data["indexes"]) == 1
    told = memory.call("index", "status").data
    assert (told["answers"], told["why_not"]) == (True, None)
    assert told["adopted"] == {key: value for key, value in adoption.items() if key != "schema"}


def test_a_report_that_was_written_into_the_memory_adopts(memory: Memory, labels: Path):
    written = memory.root / "BENCHMARKS/cortex-benchmark-v1-index.json"
    benchmark(memory, labels, "--output", str(written), "--allow-write")
    assert build(memory, written).data["adopted"] is True


def test_a_report_in_the_envelope_that_it_was_printed_in_adopts(memory: Memory, labels: Path, tmp_path: Path):
    printed = tmp_path / "printed.json"
    printed.write_bytes(say(memory.root, "benchmark", "--labels", str(labels)).output)
    assert json.loads(printed.read_bytes())["schema"] == "lifeos-cortex/v1"
    assert build(memory, printed).data["adopted"] is True


def test_the_labels_may_have_moved_where_they_are_named(memory: Memory, labels: Path, tmp_path: Path):
    report = saved(benchmark(memory, labels), tmp_path)
    moved = labels.rename(tmp_path / "moved.jsonl")
    assert build(memory, report).refusal == (3, "not_found")
    assert build(memory, report, "--labels", str(moved)).data["adopted"] is True


def test_a_report_is_judged_at_the_time_at_which_it_was_made(memory: Memory, labels: Path, tmp_path: Path):
    # At that time `old` was valid, and now it is not: the cards are others.
    then = benchmark(memory, labels, "--now", "2026-01-20")
    assert then["cards_sha256"] != benchmark(memory, labels)["cards_sha256"]
    assert build(memory, saved(then, tmp_path)).data["adopted"] is True


def test_the_report_of_an_index_finds_and_shows_the_same(memory: Memory, labels: Path):
    adopt(memory.root)
    through, without = benchmark(memory, labels), benchmark(memory, labels, "--no-index")
    assert [index["path"] for index in through["indexes"]] == ["INDEX/lexical-1.json"]
    assert (without["indexes"], through["corpus_tokenizations"], without["corpus_tokenizations"]) == ([], 0, 125)
    same = ("cards_sha256", "corpus_digest", "labels_digest", "saving", "records", "queries", "ranking_runs")
    assert [through[name] for name in same] == [without[name] for name in same]
    measured = ("recall_at_5", "mrr", "temporal_accuracy", "false_recall", "injected_tokens")
    for mine, theirs in zip(through["configurations"], without["configurations"], strict=True):
        assert [mine[name] for name in measured] == [theirs[name] for name in measured]
        assert mine["disk_bytes"] - theirs["disk_bytes"] == sum(
            (memory.root / "INDEX" / name).stat().st_size for name in ("lexical-1.json", "lexical-1.blocks")
        )
        assert "by index" in mine["execution_path"]
        assert "by index" not in theirs["execution_path"]
    # What is measured tells something: it is neither nothing nor everything.
    assert 0 < through["configurations"][0]["mrr"] < 1


def test_a_benchmark_in_doubt_of_its_index_reads_every_file_and_adopts(memory: Memory, labels: Path, tmp_path: Path):
    adopt(memory.root)
    os.truncate(memory.root / "INDEX/lexical-1.blocks", 5)
    report = benchmark(memory, labels)
    assert report["indexes"] == []
    assert build(memory, saved(report, tmp_path)).data["adopted"] is True


# What is no evidence.


def changed(**changes: object) -> Callable[[Report], object]:
    return lambda report: {**report, **changes}


def finding(what: str, value: object, at: int = 1) -> Callable[[Report], object]:
    """Return what changes one finding of one configuration."""

    def change(report: Report) -> object:
        report["configurations"][at][what] = value
        return report

    return change


REFUSED: dict[str, tuple[Callable[[Report], object], tuple[int, str], str]] = {
    "of another corpus": (changed(corpus_digest="0" * 64), (5, "governance_refused"), "another corpus"),
    "of no corpus": (changed(corpus_digest=None), (5, "governance_refused"), "another corpus"),
    "of an index": (changed(indexes=[{"path": "x"}]), (5, "governance_refused"), "made with an index"),
    "that knows no indexes": (changed(indexes=None), (5, "governance_refused"), "made with an index"),
    "with other labels": (changed(labels_digest="0" * 64), (5, "governance_refused"), "labels are not those"),
    "with another recall": (finding("recall_at_5", 0.123), (5, "governance_refused"), "recall_at_5 of progressive"),
    "with another recall of all": (finding("recall_at_5", 1, 0), (5, "governance_refused"), "recall_at_5 of bm25"),
    "with another mrr": (finding("mrr", 1.0), (5, "governance_refused"), "mrr of progressive"),
    "with another order in time": (finding("temporal_accuracy", None), (5, "governance_refused"), "temporal_accuracy"),
    "with another false recall": (finding("false_recall", 1.0), (5, "governance_refused"), "false_recall"),
    "with other tokens": (finding("injected_tokens", 1), (5, "governance_refused"), "injected_tokens of progressive"),
    "with a finding that is a text": (finding("mrr", "0.5"), (5, "governance_refused"), "mrr of progressive"),
    "with other cards": (changed(cards_sha256="0" * 64), (5, "governance_refused"), "cards"),
    "without cards": (changed(cards_sha256=None), (5, "governance_refused"), "cards"),
    "without configurations": (changed(configurations=[]), (5, "governance_refused"), "does not find"),
    "with configurations that are none": (changed(configurations="x"), (5, "governance_refused"), "does not find"),
    "with configurations of no name": (
        changed(configurations=[5, {}, {"name": []}]), (5, "governance_refused"), "does not find",
    ),
    "at another time": (changed(generated_at="2026-01-20T00:00:00Z"), (5, "governance_refused"), "the index does not"),
    "at no time": (changed(generated_at="soon"), (4, "invalid_input"), "generated_at"),
    "at a time that is a number": (changed(generated_at=5), (4, "invalid_input"), "generated_at"),
    "by no command": (changed(command=None), (4, "invalid_input"), "--labels"),
    "by a command without labels": (changed(command=["cortex", "--labels"]), (4, "invalid_input"), "--labels"),
    "by a command whose labels are no text": (changed(command=["--labels", 5]), (4, "invalid_input"), "--labels"),
    "by labels that are not there": (changed(command=["--labels", "/none"]), (3, "not_found"), ""),
    "of another schema": (changed(schema="lifeos-cortex-benchmark/v2"), (4, "invalid_input"), "is none of"),
    "that is a list": (lambda report: [report], (4, "invalid_input"), "is none of"),
    "that is null": (lambda _: None, (4, "invalid_input"), "is none of"),
    "in an envelope of a call that failed": (
        lambda _: {"schema": "lifeos-cortex/v1", "ok": False, "data": None}, (4, "invalid_input"), "is none of",
    ),
    "in two envelopes": (
        lambda report: {"schema": "lifeos-cortex/v1", "data": {"schema": "lifeos-cortex/v1", "data": report}},
        (4, "invalid_input"), "is none of",
    ),
}  # fmt: skip


def left(memory: Memory) -> dict[str, tuple[int, int, str]]:
    """Return what of a memory must not change where nothing is adopted: all but locks."""
    return {name: what for name, what in fingerprint(memory.home).items() if "/locks" not in name}


@pytest.mark.parametrize(("change", "refusal", "said"), REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("is_adopted", [False, True], ids=["no index before", "an adopted one before"])
def test_a_report_that_proves_nothing_is_refused_and_nothing_is_written(
    memory: Memory, labels: Path, tmp_path: Path, change, refusal, said, is_adopted: bool
):
    report = saved(change(benchmark(memory, labels)), tmp_path)
    if is_adopted:
        adopt(memory.root)
    else:
        memory.call("index", "drop", *OPERATOR)  # which makes the folders that a build makes too
    (memory.root / "INDEX").mkdir(exist_ok=True)
    before = left(memory)
    refused = build(memory, report)
    assert refused.refusal == refusal
    assert said in refused.message
    assert "\n" not in refused.message
    assert _without_times(left(memory)) == _without_times(before)
    assert len(memory.call("status").data["indexes"]) == is_adopted


def _without_times(tree: dict[str, tuple[int, int, str]]) -> dict[str, tuple[int, str]]:
    """Leave out when folders were touched: whoever looks at the clock makes a file and takes it away."""
    return {name: (mode, held) for name, (mode, _, held) in tree.items()}


def make_link(path: Path) -> None:
    real = path.with_name("real.json")
    path.rename(real)
    path.symlink_to(real)


def make_large(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b" " * REPORT_MAX_BYTES)


FILES: dict[str, tuple[Callable[[Path], object], tuple[int, str], str]] = {
    "missing": (Path.unlink, (3, "not_found"), "the report is not there"),
    "empty": (lambda path: os.truncate(path, 0), (4, "invalid_input"), "the report is"),
    "torn": (lambda path: os.truncate(path, 99), (4, "invalid_input"), "the report is not valid JSON"),
    "no UTF-8": (lambda path: path.write_bytes(b'{"a":"\xff"}'), (4, "invalid_input"), "the report is"),
    "a key twice": (lambda path: path.write_text('{"a":1,"a":2}'), (4, "invalid_input"), "the report"),
    "brackets without end": (lambda path: path.write_text("[" * 100_000), (4, "invalid_input"), "the report"),
    "a folder": (lambda path: (path.unlink(), path.mkdir()), (4, "invalid_input"), "is a folder"),
    "a link": (make_link, (4, "invalid_input"), "is a link"),
    "a FIFO": (lambda path: (path.unlink(), os.mkfifo(path)), (4, "invalid_input"), "is a FIFO"),
    "too large": (make_large, (4, "invalid_input"), "larger than"),
}


@pytest.mark.parametrize(("spoil", "refusal", "said"), FILES.values(), ids=FILES)
def test_a_file_that_is_no_report_is_refused(memory: Memory, labels: Path, tmp_path: Path, spoil, refusal, said):
    report = saved(benchmark(memory, labels), tmp_path)
    spoil(report)
    refused = build(memory, report)
    assert refused.refusal == refusal
    assert said in refused.message
    assert not (memory.root / "INDEX").exists()


def test_a_name_that_no_file_can_have_is_refused(memory: Memory, tmp_path: Path):
    for name in (str(tmp_path / ("x" * 300)), "a\0b"):
        assert memory.call("index", "build", "--adopt", name, *OPERATOR).refusal == (4, "invalid_input")


LABEL_FILES: dict[str, tuple[Callable[[Path], object], tuple[int, str]]] = {
    "changed": (lambda path: path.write_bytes(LABELS + b"\n"), (5, "governance_refused")),
    "empty": (lambda path: os.truncate(path, 0), (5, "governance_refused")),
    "missing": (Path.unlink, (3, "not_found")),
    "a folder": (lambda path: (path.unlink(), path.mkdir()), (4, "invalid_input")),
}


@pytest.mark.parametrize(("spoil", "refusal"), LABEL_FILES.values(), ids=LABEL_FILES)
@pytest.mark.parametrize("is_named", [False, True], ids=["named by the report", "named by --labels"])
def test_labels_that_are_not_those_of_the_report_are_refused(
    memory: Memory, labels: Path, tmp_path: Path, spoil, refusal, is_named: bool
):
    report = saved(benchmark(memory, labels), tmp_path)
    spoil(labels)
    assert build(memory, report, *(("--labels", str(labels)) if is_named else ())).refusal == refusal
    assert memory.call("index", "status").data["answers"] is False


def test_a_report_of_the_corpus_as_it_was_is_refused_as_soon_as_anything_has_changed(memory: Memory, labels, tmp_path):
    report = saved(benchmark(memory, labels), tmp_path)
    put(memory.root, "KNOWLEDGE/late.md", note("Nothing that a label asks for.", id="late"))
    assert build(memory, report).refusal == (5, "governance_refused")
    (memory.root / "KNOWLEDGE/late.md").unlink()
    assert build(memory, report).data["adopted"] is True


def test_a_report_of_an_indexed_run_is_refused(memory: Memory, labels: Path, tmp_path: Path):
    adopt(memory.root)
    report = saved(benchmark(memory, labels), tmp_path)
    refused = build(memory, report)
    assert (refused.refusal, "--no-index" in refused.message) == ((5, "governance_refused"), True)
    assert build(memory, saved(benchmark(memory, labels, "--no-index"), tmp_path)).data["adopted"] is True


def test_an_index_that_would_find_something_else_is_not_adopted(
    memory: Memory, labels: Path, tmp_path: Path, monkeypatch
):
    """The index that is being built is what is asked: one that counts wrongly is found out."""
    from cortex.index import postings

    report = saved(benchmark(memory, labels), tmp_path)
    monkeypatch.setattr(postings, "unicode_terms", lambda _: [])
    refused = build(memory, report)
    assert refused.refusal == (5, "governance_refused")
    assert "the index does not" in refused.message
    assert not (memory.root / "INDEX/index-manifest.json").exists()


def test_evidence_is_asked_of_the_index_that_is_built_not_of_the_one_in_force(
    memory: Memory, labels: Path, tmp_path: Path
):
    report = saved(benchmark(memory, labels), tmp_path)
    adopt(memory.root)

    def poisoned(parts: Parts) -> None:
        parts.terms = []

    forge(memory.root, poisoned)
    assert build(memory, report).data["adopted"] is True
    assert memory.call("index", "verify").data["verified"] is True


def test_a_memory_that_is_spoilt_while_its_index_is_built_is_refused(
    memory: Memory, labels: Path, tmp_path: Path, monkeypatch
):
    from cortex.index import evidence

    report, real = saved(benchmark(memory, labels), tmp_path), evidence.read_label_file

    def late(path: str) -> bytes:
        put(memory.root, "KNOWLEDGE/bad.jsonl", "{")
        return real(path)

    monkeypatch.setattr(evidence, "read_label_file", late)
    refused = build(memory, report)
    assert (refused.refusal, "changed while its index was built" in refused.message) == ((4, "integrity_error"), True)
    assert not (memory.root / "INDEX/index-manifest.json").exists()
