"""Nothing of the memory's content appears in any output, error or trace, in health or in sickness."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest
from support.health_tree import HOUR, MINUTE, NOW, run_id
from support.memories import Places, Recipe, RunFolder, manifest_of, proposed, retrieved, reviewed, write, write_rows
from support.running import run, run_process, run_sabotaged

SECRET: Final = re.compile(r"s3cret", re.IGNORECASE)
FORMATS: Final = ("text", "json", "nagios")
NOTE = "---\nid: s3cret-id\ntitle: s3cret-title\ns3cret_key: s3cret\n---\ns3cret-text\n<private>s3cret</private>\n"


def plant_everywhere(root: Path, index: str = "manifest") -> Places:
    """Write a memory whose every field and every file holds a secret, healthy as far as that goes."""
    places = write(Recipe(run_folders=(RunFolder(2 * HOUR, parse_error=True),), index=index), root)
    write_rows(places.reviewer_log, [{"s3cret-key": "s3cret"}, reviewed(HOUR, transcript="s3cret-transcript")])
    write_rows(places.retrieval_log, [{"s3cret-key": "s3cret"}, retrieved(MINUTE, query_hash="s3cret-hash")])
    write_rows(places.proposal_queue, [{**proposed(1, "s3cret-status"), "id": "s3cret-id", "note": "s3cret-note"}])
    write_rows(places.observability / "tool-activity.jsonl", [{"s3cret-key": "s3cret"}])
    folder = places.observability / "reviewer-runs" / run_id(NOW - 2 * HOUR)
    (folder / "parse-error.txt").write_text("s3cret-answer", encoding="utf-8")
    (folder / "answer.json").write_text("s3cret-answer", encoding="utf-8")
    ideas = places.memory_root / "KNOWLEDGE" / "Ideas"
    ideas.mkdir(parents=True)
    (ideas / "note.md").write_text(NOTE, encoding="utf-8")
    return places


def overwrite(place: str, *rows: object) -> Callable[[Places], None]:
    return lambda places: write_rows(getattr(places, place), rows)


def overwrite_bytes(place: str, data: bytes) -> Callable[[Places], None]:
    def spoil(places: Places) -> None:
        getattr(places, place).write_bytes(data)

    return spoil


def add_note(data: bytes) -> Callable[[Places], None]:
    def spoil(places: Places) -> None:
        (places.memory_root / "KNOWLEDGE" / "Ideas" / "other.md").write_bytes(data)

    return spoil


def add_rows(data: bytes) -> Callable[[Places], None]:
    def spoil(places: Places) -> None:
        (places.memory_root / "KNOWLEDGE" / "Ideas" / "rows.jsonl").write_bytes(data)

    return spoil


TORN = b'{"s3cret-key":"s3cret", torn s3cret\n'
PRIVATE_ERROR = "before <private>s3cret</private> after"
SICKNESSES: Final[dict[str, Callable[[Places], None]]] = {
    "none": lambda _: None,
    "reviewer row torn": overwrite_bytes("reviewer_log", TORN),
    "reviewer row of another shape": overwrite("reviewer_log", reviewed(HOUR, **{"s3cret-key": "s3cret"})),
    "reviewer row with a time that is none": overwrite("reviewer_log", reviewed(HOUR, ts="s3cret", runId="s3cret")),
    "reviewer row of types": overwrite(
        "reviewer_log", reviewed(HOUR, dispatch_summary={"by_type": {"s3cret": "s3cret"}})
    ),
    "reviewer failed, private error": overwrite("reviewer_log", reviewed(HOUR, ok=False, error=PRIVATE_ERROR)),
    "reviewer failed, unclosed error": overwrite("reviewer_log", reviewed(HOUR, ok=False, error="x <private>s3cret")),
    "reviewer failed, list of errors": overwrite(
        "reviewer_log", reviewed(HOUR, ok=False, error=["a <private>", "s3cret", "</private> timeout"])
    ),
    "reviewer failed, look-alike tag": overwrite("reviewer_log", reviewed(HOUR, ok=False, error="x <рrivate>s3cret")),
    "reviewer failed, secret past the cut": overwrite(
        "reviewer_log", reviewed(HOUR, ok=False, error="x" * 236 + "<private>s3cret</private>")
    ),
    "reviewer failed, object for an error": overwrite(
        "reviewer_log", reviewed(HOUR, ok=False, error={"s3cret": "s3cret"})
    ),
    "retrieval row torn": overwrite_bytes("retrieval_log", TORN),
    "retrieval row of another shape": overwrite("retrieval_log", retrieved(MINUTE, **{"s3cret-key": "s3cret"})),
    "retrieval time that is none": overwrite("retrieval_log", retrieved(MINUTE, ts="s3cret")),
    "proposal row torn": overwrite_bytes("proposal_queue", TORN),
    "proposal with a duplicate key": overwrite_bytes("proposal_queue", b'{"s3cret":1,"s3cret":2}\n'),
    "proposal without a status": overwrite("proposal_queue", {"id": "s3cret"}),
    "manifest torn": overwrite_bytes("manifest", TORN),
    "manifest with another key": overwrite("manifest", {"s3cret-key": "s3cret"}),
    "manifest with other values": overwrite("manifest", {
        "schema": "s3cret", "canonical_sha256": "s3cret", "index_path": "index.bin", "index_sha256": "s3cret",
        "indexed_at": "s3cret",
    }),
    "index changed": overwrite_bytes("index", b"s3cret"),
    "marker torn": lambda places: (places.manifest.unlink(), overwrite_bytes("marker", TORN)(places))[-1],
    "note with control characters": add_note(b"---\nid: s3cret\n---\ns3cret\x00\n"),
    "note of bad UTF-8": add_note(b"s3cret\xff\n"),
    "note with a date that is none": add_note(b"---\nid: x\ncreated: s3cret\n---\ns3cret\n"),
    "note with the same id": add_note(NOTE.encode()),
    "row torn": add_rows(TORN),
    "row with another key": add_rows(b'{"s3cret-key":"s3cret"}\n'),
    "row with values of other types": add_rows(b'{"id":["s3cret"],"type":"s3cret"}\n'),
    "history torn": overwrite_bytes("history", TORN),
    "history of another shape": overwrite("history", {"s3cret-key": "s3cret"}),
}  # fmt: skip


def adopt(places: Places) -> None:
    """Make the manifest fit the index file, so that the canonical files are read and measured."""
    places.manifest.write_text(json.dumps(manifest_of(places, 1)), encoding="utf-8")


@pytest.mark.parametrize("sickness", SICKNESSES)
def test_no_output_of_any_format_holds_a_secret(tmp_path: Path, sickness: str) -> None:
    root = tmp_path / "root"
    root.mkdir()
    places = plant_everywhere(root)
    adopt(places)
    SICKNESSES[sickness](places)
    arguments = ("--root", places.root, "--now", str(NOW))
    files = (tmp_path / "report.json", tmp_path / "memory.prom")
    outputs = []
    for name in FORMATS:
        answer = run(*arguments, "--format", name, "--report", files[0], "--textfile", files[1], "--no-write")
        outputs += [answer.stdout, answer.stderr, *(path.read_text("utf-8") for path in files)]
    if "history" not in sickness:
        run(*arguments)
        outputs.append(places.history.read_text("utf-8"))
    assert not [output for output in outputs if SECRET.search(output)]


def test_the_debug_trace_of_a_process_holds_no_secret(tmp_path: Path) -> None:
    """Python's own switches for debugging bring nothing of the content to light either."""
    places = plant_everywhere(tmp_path)
    SICKNESSES["reviewer row torn"](places)
    SICKNESSES["row torn"](places)
    switches = {"PYTHONDEVMODE": "1", "PYTHONVERBOSE": "", "PYTHONFAULTHANDLER": "1", "DEBUG": "1", "CORTEX_DEBUG": "1"}
    answer = run_process("--root", places.root, "--now", str(NOW), "--json", environment=switches)
    assert answer.exit_code == 2
    assert not SECRET.search(answer.stdout + answer.stderr)


@pytest.mark.parametrize("call", ["os.scandir", "os.fstat", "os.read", "os.stat", "json.JSONDecoder.decode"])
@pytest.mark.parametrize("error", ["RuntimeError", "ValueError", "KeyError", "OSError"])
def test_an_exception_whose_text_is_a_secret_keeps_it(tmp_path: Path, call: str, error: str) -> None:
    places = plant_everywhere(tmp_path)
    module = call.split(".", maxsplit=1)[0]
    prelude = f"import {module}\ndef broken(*a, **k): raise {error}('s3cret')\n{call} = broken"
    answer = run_sabotaged(prelude, "--root", places.root, "--now", str(NOW), "--json", "--no-write")
    assert answer.exit_code in {1, 2}
    assert not SECRET.search(answer.stdout + answer.stderr)
    assert "Traceback" not in answer.stderr
