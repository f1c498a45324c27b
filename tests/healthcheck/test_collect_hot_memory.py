"""The hot files as the auditor sees them: counted, their markers looked at, nothing of them kept."""

import os
from pathlib import Path

import pytest
from support.memories import Places, Recipe, write
from support.stores import OPERATOR, RULE, Memory

from cortex.places import layout_of
from healthcheck.collectors.hot_memory import collect_hot_memory
from healthcheck.evidence import HotFile, HotMemoryEvidence, Missing, Observed, Unreadable
from policies.limits import CORPUS_MAX_FILE_BYTES

BEGIN, END = "<!-- BEGIN ENTRIES -->", "<!-- END ENTRIES -->"
NAME = "USER/PRINCIPAL/PRINCIPAL_MEMORY.md"


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return write(Recipe(), tmp_path)


def hot(places: Places, text: str) -> Path:
    path = places.home / NAME
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    return path


def collected(places: Places) -> object:
    return collect_hot_memory(layout_of(places.home / "MEMORY"))


@pytest.mark.parametrize(
    ("text", "entries", "sound"),
    [
        (f"{BEGIN}\n{END}\n", 0, True),
        (f"---\nx: 1\n---\ntext\n{BEGIN}\nRULE: a\nNAME: b\n{END}", 2, True),
        (f"{BEGIN}\r\nRULE: a\r\n{END}\r\n", 1, True),
        ("RULE: a\n", 1, False),
        ("", 0, False),
        (f"{END}\nRULE: a\n{BEGIN}\n", 1, False),
        (f"{BEGIN}\n{BEGIN}\nRULE: a\n{END}\n", 1, False),
        (f"{BEGIN}\nRULE: a\n{END}\n{BEGIN}\n{END}\n", 1, False),
        (f" {BEGIN}\nRULE: a\n{END}\n", 1, False),
        (f"{BEGIN}\nRULE: a\n", 1, False),
    ],
)
def test_entries_are_counted_and_markers_are_one_pair_in_order_or_not(
    places: Places, text: str, entries: int, sound: bool
) -> None:
    hot(places, text)
    assert collected(places) == Observed(HotMemoryEvidence((HotFile(NAME, entries, sound),)))


def test_where_no_actor_has_a_file_it_is_missing(places: Places) -> None:
    assert isinstance(collected(places), Missing)
    (places.home / "USER").mkdir()
    assert isinstance(collected(places), Missing)


def test_a_user_folder_that_is_a_link_is_followed_and_nothing_below_it_is(places: Places, tmp_path: Path) -> None:
    path = hot(places, f"{BEGIN}\n{END}\n")
    (places.home / "USER").rename(tmp_path / "elsewhere")
    (places.home / "USER").symlink_to(tmp_path / "elsewhere")
    assert collected(places) == Observed(HotMemoryEvidence((HotFile(NAME, 0, markers_sound=True),)))
    path.rename(tmp_path / "moved.md")
    path.symlink_to(tmp_path / "moved.md")
    assert collected(places) == Unreadable(NAME, "is a link")


def test_what_is_no_regular_file_is_unreadable(places: Places) -> None:
    path = hot(places, "")
    path.unlink()
    os.mkfifo(path)
    assert collected(places) == Unreadable(NAME, "is a FIFO")


def test_a_file_that_is_larger_than_any_note_is_unreadable(places: Places) -> None:
    path = hot(places, "")
    os.truncate(path, CORPUS_MAX_FILE_BYTES + 1)
    assert isinstance(collected(places), Unreadable)


def test_damaged_markers_are_put_right_by_remembering_one_entry(places: Places) -> None:
    """The way back of hot-memory-markers."""
    hot(places, f"{END}\nRULE: a\n")
    memory = Memory(places.home / "MEMORY", places.home)
    assert memory.remember(RULE).exit == 0
    assert collected(places) == Observed(HotMemoryEvidence((HotFile(NAME, 2, markers_sound=True),)))
    assert memory.call("init", *OPERATOR).exit == 0
    assert len(collected(places).value.files) == 2  # type: ignore[attr-defined]
