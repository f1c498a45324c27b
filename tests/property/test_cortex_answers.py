"""What holds for every answer of `cortex`, over generated memories. A sentence of the contract a test."""

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cortex.arguments import Host
from cortex.cli import answer

NOW = 1_786_363_200_000
WORDS = st.lists(st.sampled_from(["oak", "elm", "fir", "橡树", "Ünal", "<private>s3cret</private>"]), max_size=8)
NOTES = st.lists(
    st.builds(
        lambda words, day, kind, related: {
            "body": " ".join(words),
            "created": f"2026-01-{day:02d}",
            "type": kind,
            "related": [f"n{number}" for number in related],
        },
        WORDS,
        st.integers(1, 28),
        st.sampled_from(["idea", "note"]),
        st.lists(st.integers(0, 7), max_size=3),
    ),
    min_size=1,
    max_size=8,
)


def write(folder: Path, notes, order):
    (folder / "KNOWLEDGE").mkdir()
    for number in order:
        note = notes[number]
        row = {
            "id": f"n{number}",
            "title": f"Title {number}",
            "content": note["body"] or ".",
            "updated": note["created"],
            **{key: note[key] for key in ("created", "type", "related")},
        }
        if number % 2:
            with (folder / "KNOWLEDGE" / "rows.jsonl").open("a", encoding="utf-8") as rows:
                rows.write(json.dumps(row) + "\n")
        else:
            front = "\n".join(f"{key}: {row[key]}" for key in ("id", "type", "title", "created", "updated"))
            related = f"related: [{', '.join(row['related'])}]"
            text = f"---\n{front}\n{related}\n---\n{note['body']}\n"
            (folder / "KNOWLEDGE" / f"n{number}.md").write_text(text, encoding="utf-8")


def ask(root, *words):
    output, status = answer([*words, "--memory-root", str(root)], Host({}, lambda: NOW))
    return json.loads(output), status, output


def in_memory(notes, check, order=None):
    with TemporaryDirectory() as folder:
        write(Path(folder), notes, order or range(len(notes)))
        return check(folder)


@settings(max_examples=25, deadline=None)
@given(NOTES, st.randoms(use_true_random=False))
def test_results_do_not_depend_on_the_order_in_which_files_were_made(notes, shuffle):
    """Search results do not depend on file order."""
    order = list(range(len(notes)))
    shuffle.shuffle(order)

    def results(root):
        searched = ask(root, "search", "oak 橡树 elm")[0]["data"]
        return searched, ask(root, "rebuild", "--from-canonical")[0]["data"]["canonical_digest"]

    assert in_memory(notes, results) == in_memory(notes, results, order)


@settings(max_examples=25, deadline=None)
@given(NOTES, st.integers(1, 3))
def test_pages_partition_the_results(notes, size):
    """Paging partitions the results: every hit on exactly one page, in order."""

    def check(root):
        whole = ask(root, "search", "oak elm", "--page-size", "100")[0]["data"]
        pages = [
            ask(root, "search", "oak elm", "--page-size", str(size), "--page", str(number))[0]["data"]["items"]
            for number in range(1, whole["total"] + 2)
        ]
        assert [card for page in pages for card in page] == whole["items"]

    in_memory(notes, check)


@settings(max_examples=25, deadline=None)
@given(NOTES)
def test_no_card_holds_content_and_no_answer_what_is_private(notes):
    """A card never holds content, and private text never gets out."""

    def check(root):
        for words in (
            ["search", "oak s3cret"],
            ["search", "oak", "--expand", "n0", "--explain", "n0"],
            ["timeline", "--anchor", "2026-01-10", "--before", "100", "--after", "100"],
            ["get", "n0"],
            ["check", "--list"],
        ):
            envelope, status, raw = ask(root, *words)
            assert status in (0, 3)
            assert b"s3cret" not in raw
            for card in (envelope["data"] or {}).get("items", []):
                assert ("content" in card) is (words[0] == "get")
                assert words[0] == "get" or "Title" not in json.dumps(card)

    in_memory(notes, check)


@settings(max_examples=15, deadline=None)
@given(NOTES)
def test_two_runs_give_the_same_bytes(notes):
    """Same files, same arguments, same now: same bytes out."""

    def check(root):
        for words in (["search", "oak elm"], ["status"], ["export", "n0"], ["timeline", "--anchor", "n0"]):
            assert ask(root, *words)[2] == ask(root, *words)[2]

    in_memory(notes, check)


@pytest.mark.parametrize(
    "variables",
    [{"PYTHONHASHSEED": "1"}, {"PYTHONHASHSEED": "2", "TZ": "Asia/Kathmandu"}, {"LC_ALL": "C"}, {"LANG": "tr_TR"}],
)
def test_results_do_not_depend_on_hash_seed_locale_or_time_zone(variables):
    root = Path(__file__).parents[2]
    command = [
        *(sys.executable, "-m", "cortex", "search", "cards 策略", "--memory-root", "examples/memory"),
        *("--now", "2026-08-10", "--expand", "idea-cards", "--to", "2026-07-15"),
    ]

    def run(extra):
        environment = {"PATH": os.environ["PATH"], **extra}
        return subprocess.run(command, cwd=root, env=environment, capture_output=True, check=True).stdout

    plain = run({})
    assert json.loads(plain)["data"]["total"] >= 1
    assert run(variables) == plain
