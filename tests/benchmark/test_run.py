"""`benchmark`: its report says what `search` and `get` would say, and it writes only where it is allowed to."""

import json
import os
from hashlib import sha256
from importlib.resources import files
from itertools import count
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from support.indexes import adopt
from support.labels import asking, changed, encode
from support.stores import NOW, Memory, Said
from support.terminals import at_a_terminal

from cortex.arguments import Host
from cortex.benchmark.label_file import write_report
from cortex.cli import answer
from cortex.errors import CortexError
from cortex.store.store import open_store

MS = 1_000_000
SCHEMA = Draft202012Validator(
    json.loads(files("cortex").joinpath("schemas/lifeos-cortex-benchmark-v1.schema.json").read_bytes())
)
REPORT_KEYS = [
    "schema", "generated_at", "command", "corpus_digest", "labels_digest", "records", "queries", "top_k",
    "vector_config", "indexes", "corpus_tokenizations", "ranking_runs", "cards_sha256", "configurations", "saving",
]  # fmt: skip
CONFIGURATION_KEYS = [
    "name", "recall_at_5", "mrr", "temporal_accuracy", "false_recall", "injected_tokens", "p95_latency_ms",
    "latency_samples", "disk_bytes", "disk_growth_bytes", "process_count", "peak_rss_bytes", "execution_path",
]  # fmt: skip
LABELS = [
    asking("q1", "oak bridge", "a", "b", temporal_expected_order=["a", "b"]),
    asking("q2", "bridge oak", "b", false_ids=["a", "c"]),
    asking("q3", "pine", "a", "c", temporal_expected_order=["c", "a"]),
    asking("q4", "мост", "d"),
]


def run(memory: Memory, labels: bytes | Path, *words: str, step: int = MS) -> Said:
    """Run the benchmark with a timer that goes on by `step` nanoseconds whenever it is asked."""
    path = labels if isinstance(labels, Path) else memory.home.parent / "labels.jsonl"
    if isinstance(labels, bytes):
        path.write_bytes(labels)
    ticks = count(0, step)
    host = Host({}, lambda: NOW, str(memory.root), timer=lambda: next(ticks))
    output, status = answer(["benchmark", "--labels", str(path), *words], host)
    return Said(status, json.loads(output))


def tokens(*values: object) -> int:
    text = "".join(json.dumps(value, ensure_ascii=False, separators=(",", ":")) for value in values)
    return -(-len(text.encode()) // 4)


def test_the_report_has_the_published_keys_and_counts(memory):
    report = run(memory, encode(*LABELS)).data
    assert list(report) == REPORT_KEYS
    assert [list(each) for each in report["configurations"]] == [CONFIGURATION_KEYS] * 2
    assert [each["name"] for each in report["configurations"]] == ["bm25-baseline", "progressive"]
    assert report["schema"] == "lifeos-cortex-benchmark/v1"
    assert report["generated_at"] == "2026-08-01T12:00:00.000Z"
    assert (report["records"], report["queries"], report["top_k"], report["vector_config"]) == (4, 4, 5, None)
    assert report["ranking_runs"] == report["corpus_tokenizations"] == 4 * 25
    assert report["corpus_digest"] == memory.call("rebuild", "--from-canonical").data["canonical_digest"]


@pytest.mark.parametrize("labels", [LABELS, LABELS[3:]], ids=["all metrics", "some null"])
def test_the_report_is_what_its_published_schema_says(memory, labels):
    SCHEMA.validate(run(memory, encode(*labels)).data)


def test_the_schema_knows_no_other_report(memory):
    report = run(memory, encode(*LABELS)).data
    assert not SCHEMA.is_valid({**report, "surprise": 1})
    for key in REPORT_KEYS:
        assert not SCHEMA.is_valid({name: value for name, value in report.items() if name != key})


def test_the_report_names_the_call_and_the_labels(memory):
    report = run(memory, encode(*LABELS), "--now", "2026-08-05", "--adapter=claude").data
    labels = str(memory.home.parent / "labels.jsonl")
    assert report["command"] == [
        "cortex", "benchmark", "--labels", labels, "--now", "2026-08-05", "--adapter", "claude",
    ]  # fmt: skip
    assert report["labels_digest"] == sha256(encode(*LABELS)).hexdigest()


def test_metrics_are_means_over_the_labels_that_have_them(memory):
    # q1 finds a, b in this order; q2 finds a before b, and a is false; q3 finds c and not a; q4 finds d.
    baseline, progressive = run(memory, encode(*LABELS)).data["configurations"]
    for each in (baseline, progressive):
        assert each["recall_at_5"] == (1 + 1 + 0.5 + 1) / 4
        assert each["mrr"] == (1 + 0.5 + 1 + 1) / 4
        assert each["temporal_accuracy"] == 0.5
        assert each["false_recall"] == 0.5


def test_a_metric_that_no_label_has_is_null(memory):
    for each in run(memory, encode(LABELS[3])).data["configurations"]:
        assert (each["temporal_accuracy"], each["false_recall"]) == (None, None)


@pytest.mark.parametrize("labelled", [LABELS[0], LABELS[3]], ids=lambda labelled: labelled["query"])
def test_tokens_are_those_of_what_search_and_get_print(memory, labelled):
    data = run(memory, encode(labelled)).data
    cards = memory.call("search", labelled["query"], "--page-size", "5").data["items"]
    records = memory.call("get", *[card["id"] for card in cards]).data["items"]
    whole, less = tokens(records), tokens(cards, records[:1])
    assert [each["injected_tokens"] for each in data["configurations"]] == [whole, less]
    assert data["saving"] == {"injected_tokens": whole - less, "share": round((whole - less) / whole, 6)}


def test_the_report_says_which_cards_were_shown(memory):
    """One hash of the cards of every query, and of its first record in full, as `search` and `get` print them."""
    shown = []
    for labelled in LABELS:
        cards = memory.call("search", labelled["query"], "--page-size", "5").data["items"]
        first = memory.call("get", cards[0]["id"]).data["items"]
        shown.append("".join(json.dumps(each, ensure_ascii=False, separators=(",", ":")) for each in (cards, first)))
    report = run(memory, encode(*LABELS)).data
    assert report["cards_sha256"] == sha256("\n".join(shown).encode()).hexdigest()
    (memory.root / "KNOWLEDGE" / "c.md").write_text("---\nid: c\ncreated: 2026-03-01\n---\npine.\n")
    assert run(memory, encode(*LABELS)).data["cards_sha256"] != report["cards_sha256"]


def test_through_an_index_a_run_finds_and_shows_the_same_and_says_so(memory):
    without = run(memory, encode(*LABELS)).data
    adopt(memory.root)
    report = run(memory, encode(*LABELS)).data
    SCHEMA.validate(report)
    assert run(memory, encode(*LABELS), "--no-index").data["indexes"] == without["indexes"] == []
    assert [index["path"] for index in report["indexes"]] == ["INDEX/lexical-1.json"]
    assert (report["corpus_tokenizations"], report["ranking_runs"]) == (0, 100)
    assert report["cards_sha256"] == without["cards_sha256"]
    found = ("name", "recall_at_5", "mrr", "temporal_accuracy", "false_recall", "injected_tokens")
    for mine, theirs in zip(report["configurations"], without["configurations"], strict=True):
        assert [mine[name] for name in found] == [theirs[name] for name in found]


def test_of_many_results_five_are_disclosed(memory):
    for number in range(9):
        (memory.root / "KNOWLEDGE" / f"n{number}.md").write_text(f"---\nid: n{number}\n---\nelm {'x ' * number}")
    labelled = asking("q", "elm", "n0", "n8", temporal_expected_order=["n0", "n8"])
    data = run(memory, encode(labelled)).data
    records = memory.call("get", *[f"n{number}" for number in range(5)]).data["items"]
    assert data["configurations"][0]["injected_tokens"] == tokens(records)
    assert data["configurations"][0]["recall_at_5"] == 0.5
    assert data["configurations"][0]["temporal_accuracy"] == 0.0


def test_what_is_not_valid_now_is_not_found(memory):
    note = "---\nid: old\nvalid_until: 2026-07-01\n---\nash\n"
    (memory.root / "KNOWLEDGE" / "old.md").write_text(note)
    labels = encode(asking("q", "ash", "old"))
    assert run(memory, labels).data["configurations"][0]["mrr"] == 0.0
    assert run(memory, labels, "--now", "2026-06-01").data["configurations"][0]["mrr"] == 1.0


def test_a_ranking_is_shared_by_both_disclosures(memory):
    # A ranking and each disclosure take one step of the timer: either way takes two.
    for each in run(memory, encode(*LABELS)).data["configurations"]:
        assert (each["p95_latency_ms"], each["latency_samples"]) == (2.0, 100)


def test_of_the_samples_the_95th_percentile_is_told(memory):
    # At its n-th question the timer says n² ms: sample s takes 10 + 24 s ms (six questions each, from the second on),
    # and the 24th of 25 is the 95th percentile.
    path = memory.home.parent / "labels.jsonl"
    path.write_bytes(encode(LABELS[3]))
    asked = count()
    host = Host({}, lambda: NOW, str(memory.root), timer=lambda: next(asked) ** 2 * MS)
    output, _ = answer(["benchmark", "--labels", str(path)], host)
    assert json.loads(output)["data"]["configurations"][0]["p95_latency_ms"] == 10 + 24 * 23


def test_what_the_machine_gave_is_in_bytes(memory):
    on_disk = sum(path.stat().st_size for path in (memory.root / "KNOWLEDGE").iterdir())
    for each in run(memory, encode(*LABELS)).data["configurations"]:
        assert (each["disk_bytes"], each["disk_growth_bytes"], each["process_count"]) == (on_disk, 0, 1)
        assert 5_000_000 < each["peak_rss_bytes"] < 4_000_000_000


def test_without_a_timer_the_clock_has_to_do(memory):
    path = memory.home.parent / "labels.jsonl"
    path.write_bytes(encode(LABELS[3]))
    data = memory.call("benchmark", "--labels", str(path)).data
    assert data["configurations"][0]["p95_latency_ms"] == 0.0


def test_nothing_of_a_query_or_a_record_is_in_the_report(memory):
    said = json.dumps(run(memory, encode(*LABELS)).envelope, ensure_ascii=False)
    assert not any(word in said for word in ("oak", "pine", "мост", "桥", "q1"))


# Label files as they lie on the disk.


def put_link(path: Path) -> None:
    real = path.with_name("real.jsonl")
    real.write_bytes(encode(*LABELS))
    path.symlink_to(real)


BAD_FILES = {
    "a link": (put_link, "is a link"),
    "a folder": (Path.mkdir, "is a folder"),
    "a FIFO": (os.mkfifo, "is a FIFO"),
    "nothing in it": (Path.touch, "holds no label"),
    "blank lines alone": (lambda path: path.write_bytes(b"\n \n"), "holds no label"),
    "1,001 rows": (lambda path: path.write_bytes(encode(*[{"id": n} for n in range(1001)])), "row 1001: "),
    "a byte-order mark": (lambda path: path.write_bytes(b"\xef\xbb\xbf" + encode(*LABELS)), "row 1: begins with"),
    "a NUL": (lambda path: path.write_bytes(encode(*LABELS) + b"\0"), "row 5: holds a NUL"),
    "too much": (lambda path: path.write_bytes(b"\n" * (1024 * 1024 + 1)), "at most 1048576 bytes"),
    "a query without terms": (
        lambda path: path.write_bytes(encode(LABELS[0], asking("q", "?!", "a"))),
        "row 2: query: the query has no searchable terms",
    ),
    "a query of 65 terms": (
        lambda path: path.write_bytes(encode(asking("q", "a " * 65, "a"))),
        "row 1: query: a query has at most 64 terms",
    ),
    "an id that no record has": (
        lambda path: path.write_bytes(encode(*LABELS, changed("false_ids", ["ghost"]) | {"id": "q9"})),
        "row 5: false_ids: names an id that no record",
    ),
}


@pytest.mark.parametrize(("make", "said"), BAD_FILES.values(), ids=BAD_FILES)
def test_a_bad_label_file_is_refused_in_one_line(memory, tmp_path, make, said):
    path = tmp_path / "labels.jsonl"
    make(path)
    refused = run(memory, path)
    assert refused.refusal == (4, "invalid_input")
    assert said in refused.message
    assert "\n" not in refused.message


def test_a_label_file_that_is_not_there_is_not_found(memory, tmp_path):
    assert run(memory, tmp_path / "none.jsonl").refusal == (3, "not_found")


def test_a_label_file_that_may_not_be_read_is_refused(memory, tmp_path):
    path = tmp_path / f"{'x' * 300}.jsonl"  # too long a name
    assert run(memory, path).refusal == (4, "invalid_input")


def test_an_unsound_memory_comes_before_its_labels(memory, tmp_path):
    (memory.root / "KNOWLEDGE" / "bad.jsonl").write_text("{")
    assert run(memory, tmp_path / "none.jsonl").refusal == (4, "integrity_error")


# The report as a file.


def output(memory: Memory, name: str = "cortex-benchmark-v1-august.json") -> list[str]:
    return ["--output", str(memory.root / "BENCHMARKS" / name), "--allow-write"]


def test_a_report_is_written_once_and_audited(memory):
    data = run(memory, encode(*LABELS), *output(memory)).data
    written = memory.root / "BENCHMARKS" / "cortex-benchmark-v1-august.json"
    assert json.loads(written.read_bytes()) == data
    assert [path.name for path in written.parent.iterdir()] == [written.name]
    assert [(row["act"], row["state"], row["path"]) for row in memory.rows("memory-writes.jsonl")] == [
        ("benchmark", state, "BENCHMARKS/cortex-benchmark-v1-august.json") for state in ("intent", "done")
    ]

    before = written.read_bytes()
    again = run(memory, encode(*LABELS), *output(memory))
    assert again.refusal == (5, "governance_refused")
    assert written.read_bytes() == before
    assert run(memory, encode(*LABELS), *output(memory, "cortex-benchmark-v2-august.json")).exit == 0


def test_a_report_that_is_there_is_refused_before_anything_is_ranked(memory):
    (memory.root / "BENCHMARKS").mkdir()
    (memory.root / "BENCHMARKS" / "cortex-benchmark-v1-august.json").touch()
    path = memory.home.parent / "labels.jsonl"
    path.write_bytes(encode(*LABELS))
    host = Host({}, lambda: NOW, str(memory.root), timer=lambda: pytest.fail("it was ranked"))
    _, status = answer(["benchmark", "--labels", str(path), *output(memory)], host)
    assert status == 5


def test_a_report_that_somebody_else_has_written_meanwhile_is_left(memory):
    (memory.root / "BENCHMARKS").mkdir()
    (memory.root / "BENCHMARKS" / "cortex-benchmark-v1-a.json").write_text("theirs")
    with open_store(str(memory.root)) as store, pytest.raises(CortexError, match="never written over"):
        write_report(store, "BENCHMARKS/cortex-benchmark-v1-a.json", b"ours", "keeper", NOW)
    assert (memory.root / "BENCHMARKS" / "cortex-benchmark-v1-a.json").read_text() == "theirs"


def test_a_report_needs_permission(memory):
    refused = run(memory, encode(*LABELS), *output(memory)[:2])
    assert refused.refusal == (5, "write_refused")
    assert not (memory.root / "BENCHMARKS").exists()


@pytest.mark.parametrize(
    "name",
    [
        "report.json", "cortex-benchmark-v1.json", "cortex-benchmark-v1-.json", "cortex-benchmark-v-a.json",
        "cortex-benchmark-vx-a.json", "cortex-benchmark-v1-a.jsonl", "cortex-benchmark-v1-a b.json",
        "cortex-benchmark-v1-ä.json", "Cortex-benchmark-v1-a.json", "sub/cortex-benchmark-v1-a.json",
        "../cortex-benchmark-v1-a.json", "../KNOWLEDGE/cortex-benchmark-v1-a.json",
    ],
)  # fmt: skip
def test_a_report_lies_in_one_folder_under_one_kind_of_name(memory, name):
    (memory.root / "BENCHMARKS" / "sub").mkdir(parents=True)
    refused = run(memory, encode(*LABELS), "--allow-write", "--output", f"{memory.root}/BENCHMARKS/{name}")
    assert refused.refusal == (4, "invalid_input")


def test_a_report_is_not_written_through_a_link(memory, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (memory.root / "BENCHMARKS").symlink_to(tmp_path / "elsewhere")
    assert run(memory, encode(*LABELS), *output(memory)).refusal == (4, "invalid_input")
    assert list((tmp_path / "elsewhere").iterdir()) == []

    (memory.root / "BENCHMARKS").unlink()
    (memory.root / "BENCHMARKS").mkdir()
    (memory.root / "BENCHMARKS" / "cortex-benchmark-v1-august.json").symlink_to(tmp_path / "nothing")
    assert run(memory, encode(*LABELS), *output(memory)).refusal == (5, "governance_refused")
    assert not (tmp_path / "nothing").exists()


def test_the_memory_may_be_reached_through_a_link(memory, tmp_path):
    (tmp_path / "link").symlink_to(memory.root)
    linked = Memory(tmp_path / "link", tmp_path / "link")
    assert run(linked, encode(*LABELS), *output(linked)).exit == 0
    assert (memory.root / "BENCHMARKS" / "cortex-benchmark-v1-august.json").exists()


# What a person sees who waits.


def test_a_bar_is_drawn_for_a_person_who_waits_longer_than_a_second(memory, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    with at_a_terminal() as shown:
        run(memory, encode(*LABELS), step=20 * MS)
    assert "queries" in shown.getvalue()


def test_no_bar_is_drawn_for_a_run_of_less_than_a_second(memory, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    with at_a_terminal() as shown:
        run(memory, encode(*LABELS), step=MS)
    assert shown.getvalue() == ""


def test_no_bar_is_drawn_where_nobody_sits(memory, capfd):
    run(memory, encode(*LABELS), step=20 * MS)
    assert capfd.readouterr() == ("", "")


# The commands' own words.


@pytest.mark.parametrize(
    ("words", "refusal", "said"),
    [
        (("benchmark",), (4, "invalid_input"), "needs --labels"),
        (("benchmark", "x", "--labels", "f"), (4, "invalid_input"), "takes no arguments"),
        (("benchmark", "--labels", "f", "--yes"), (4, "invalid_input"), "no option --yes"),
        (("benchmark", "--labels", "f", "--operator", "keeper"), (4, "invalid_input"), "no option --operator"),
        (("benchmark", "label", "q", "a", "--labels", "f"), (5, "write_refused"), "--operator"),
    ],
)
def test_words_that_do_not_belong_are_refused(memory, words, refusal, said):
    refused = memory.call(*words)
    assert refused.refusal == refusal
    assert said in refused.message
