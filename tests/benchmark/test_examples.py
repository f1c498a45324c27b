"""The labelled example memory: its labels are honest, and the page about retrieval says what it comes to."""

import json
import re
from pathlib import Path

import pytest
from support.stores import Memory

ROOT = Path(__file__).parent.parent.parent
NOTES = ROOT / "examples" / "notes"
LABELS = NOTES / "BENCHMARKS" / "labels.jsonl"
PAGE = (ROOT / "docs" / "retrieval.md").read_text(encoding="utf-8")
ROWS = [json.loads(line) for line in LABELS.read_bytes().splitlines()]
MEMORY = Memory(NOTES, NOTES)


@pytest.fixture(scope="module")
def report():
    """The report over all labels."""
    return MEMORY.call("benchmark", "--labels", str(LABELS)).data


def test_there_are_enough_labels_over_enough_languages():
    assert len(ROWS) >= 30
    scripts = ("[a-z]", "[а-я]", "[\u4e00-\u9fff]", "[\u3040-\u30ff]")
    assert all(any(re.search(script, row["query"]) for row in ROWS) for script in scripts)


def test_the_page_says_what_the_benchmark_says(report):
    assert f"a memory of {report['records']} records" in PAGE
    assert f"with {report['queries']} labels" in PAGE
    for each in report["configurations"]:
        cells = (each["name"], f"{each['recall_at_5']:.3f}", f"{each['mrr']:.3f}", f"{each['injected_tokens']:,}")
        assert list(cells) in [line.split() for line in PAGE.splitlines()]
    saving = report["saving"]
    assert f"inject {saving['injected_tokens']:,} tokens less than five records, {saving['share']:.0%}".replace(
        "%", " %"
    ) in PAGE.replace("\n", " ")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_a_label_still_returns_what_it_says(row):
    execution = row["provenance"]["query_execution"]
    words = [word for word in execution["command"] if not word.startswith("--memory-root")]
    returned = [card["id"] for card in MEMORY.call(*words[1:]).data["items"]]
    assert returned == execution["returned_ids"]
