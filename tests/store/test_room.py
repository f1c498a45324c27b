"""Room: what is counted before a new note is what readers count, and the last file that fits is the last."""

import pytest
from support.stores import IDEA, Memory, bare, laid_out

from cortex.corpus.root import pin
from cortex.corpus.walk import survey
from cortex.store import room
from cortex.store.room import Room, taken
from policies import limits

FILES = ["a.md", "b.jsonl", "c.txt", "_d.md", ".e.md", "sub/f.md", "sub/_g/h.md", "OBSERVABILITY/i.md", "x.md/j.md"]


@pytest.mark.parametrize("corpus", ["", "KNOWLEDGE", "MEMORY/KNOWLEDGE"])
@pytest.mark.parametrize("sized_from", [0, 1024])
@pytest.mark.parametrize("files", [FILES, [name for name in FILES if not name.endswith(".jsonl")]])
def test_files_and_bytes_are_those_that_readers_count(tmp_path, monkeypatch, corpus, files, sized_from):
    monkeypatch.setattr(room, "SIZED_FROM", sized_from)
    for number, name in enumerate(files):
        path = tmp_path / corpus / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x" * number)
    with pin(tmp_path) as root:
        found = survey(root)
        is_sized = sized_from == 0 or "b.jsonl" in files
        assert taken(root.descriptor, corpus) == Room(len(found.files), found.size_bytes if is_sized else 0)


def test_the_last_file_that_fits_is_the_last(tmp_path, monkeypatch):
    memory = laid_out(tmp_path)
    monkeypatch.setattr("cortex.store.remember.CORPUS_MAX_FILES", 2)
    for number in range(3):
        said = memory.remember({**IDEA, "title": f"Number {number}"})
        assert (said.exit == 0) == (number < 2)
    assert said.refusal == (5, "governance_refused")
    assert memory.remember({**IDEA, "title": "Number 0"}).data["outcome"] == "appended"


def test_what_would_bring_the_corpus_past_its_bytes_is_refused(tmp_path):
    memory = bare(tmp_path / "vault")
    memory.remember({**IDEA, "title": "Before"})
    for number in range(16):
        with (memory.root / f"{number}.jsonl").open("wb") as file:
            file.truncate(limits.CORPUS_MAX_FILE_BYTES)
    assert memory.remember(IDEA).refusal == (5, "governance_refused")
    assert memory.remember({**IDEA, "title": "Before"}).refusal == (5, "governance_refused")


def test_a_note_that_would_be_too_large_is_refused(tmp_path):
    memory: Memory = laid_out(tmp_path)
    path = memory.root / memory.remember(IDEA).data["path"]
    with path.open("ab") as file:
        file.write(b"x" * (limits.CORPUS_MAX_FILE_BYTES - path.stat().st_size))
    assert memory.call("check").exit == 0
    assert memory.remember(IDEA).refusal == (5, "governance_refused")
    assert memory.call("check").exit == 0
