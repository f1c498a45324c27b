"""The logs below OBSERVABILITY/ are measured by number, bytes and times; what cannot be measured is named."""

import os
import socket
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import damage
from support.health_tree import DAY, MINUTE, NOW
from support.memories import Log, Places, Recipe, set_age, write
from support.nobody import as_nobody, give_to_nobody, open_folder, skip_where_modes_do_not_bind

from cortex.places import layout_of
from healthcheck.collectors.observability import DEEPEST, collect_observability
from healthcheck.evidence import Missing, ObservabilityEvidence, Observed, Unreadable

LOG_FOLDER: Final = "MEMORY/OBSERVABILITY"
BARE: Final = Recipe(reviewer=None, retrieval=None, proposals=None)


def measured(places: Places) -> ObservabilityEvidence:
    found = collect_observability(layout_of(places.memory_root))
    assert isinstance(found, Observed)
    return found.value


def with_logs(folder: Path, *logs: Log) -> Places:
    return write(BARE._replace(logs=logs), folder)


def test_logs_are_counted_and_the_oldest_and_newest_named(tmp_path: Path) -> None:
    logs = Log("a.jsonl", 10, 3 * DAY), Log("sub/deep/b.log", 5, 4 * DAY), Log("sub/c.jsonl", 1, MINUTE)
    assert measured(with_logs(tmp_path, *logs)) == ObservabilityEvidence(
        folder=LOG_FOLDER,
        files=3,
        size_bytes=16,
        oldest_at=NOW - 4 * DAY,
        oldest=f"{LOG_FOLDER}/sub/deep/b.log",
        newest_at=NOW - MINUTE,
        newest=f"{LOG_FOLDER}/sub/c.jsonl",
    )


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("x.log", True),
        (".hidden.jsonl", True),
        (".log", True),
        (".hidden/x.log", True),
        ("._x.jsonl", True),
        ("folder.log/x.jsonl", True),
        ("sub/memory-health.jsonl", True),
        ("memory-health.jsonl", False),
        ("x.LOG", False),
        ("x.Jsonl", False),
        ("x.log.gz", False),
        ("x.json", False),
        ("log", False),
        ("folder.log/x", False),
    ],
)
def test_what_is_a_log_is_told_by_its_name(tmp_path: Path, name: str, counts: bool) -> None:
    assert measured(with_logs(tmp_path, Log(name, 7, MINUTE))).size_bytes == (7 if counts else 0)


def test_an_empty_folder_has_no_logs(tmp_path: Path) -> None:
    assert measured(with_logs(tmp_path)) == ObservabilityEvidence(folder=LOG_FOLDER, files=0, size_bytes=0)


def test_what_is_no_regular_file_is_not_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    places = with_logs(tmp_path, Log("a.log", 3, MINUTE))
    folder = places.observability
    (folder / "link.log").symlink_to(folder / "a.log")
    (folder / "dangling.log").symlink_to("nowhere")
    (folder / "folder").symlink_to(tmp_path)
    (folder / "empty.log").mkdir()
    os.mkfifo(folder / "fifo.log")
    with socket.socket(socket.AF_UNIX) as made:
        monkeypatch.chdir(folder)  # the path of a socket may be no longer than 107 bytes
        made.bind("socket.log")
    assert (measured(places).files, measured(places).unreadable) == (1, ())


def test_times_are_whole_milliseconds_cut_not_rounded(tmp_path: Path) -> None:
    places = with_logs(tmp_path, Log("a.log", 3, 0))
    os.utime(places.observability / "a.log", ns=(0, NOW * 1_000_000 + 999_999))
    assert measured(places).oldest_at == NOW
    os.utime(places.observability / "a.log", ns=(0, -1))
    assert measured(places).newest_at == -1


def test_of_logs_of_one_age_the_first_by_path_is_named(tmp_path: Path) -> None:
    places = with_logs(tmp_path, *(Log(name, 1, MINUTE) for name in ("b.log", "a.log", "a/z.log")))
    assert measured(places).oldest == measured(places).newest == f"{LOG_FOLDER}/a.log"


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from(["", "x/", "y/"]), st.integers(0, 3)), max_size=6))
def test_order_of_listing_changes_nothing(found: list[tuple[str, str, int]]) -> None:
    """The same logs, made in another order, measure the same."""
    logs = {f"{folder}{name}.log": Log(f"{folder}{name}.log", age, age) for name, folder, age in found}
    results = []
    for order in (list(logs.values()), list(reversed(logs.values()))):
        with open_folder() as folder:
            results.append(measured(with_logs(folder, *order)))
    assert results[0] == results[1]


@pytest.mark.parametrize(
    ("replace", "expected"),
    [
        (damage.delete, Missing(f"no {LOG_FOLDER}")),
        (damage.replace_by_file, Unreadable(LOG_FOLDER, "is a file")),
        (damage.replace_by_link, Unreadable(LOG_FOLDER, "is a link")),
        (damage.replace_by_dangling_link, Unreadable(LOG_FOLDER, "is a link")),
        (damage.replace_by_fifo, Unreadable(LOG_FOLDER, "is a FIFO")),
    ],
)
def test_what_lies_in_the_place_of_the_folder_is_told(tmp_path: Path, replace: damage.Damage, expected: Any) -> None:
    places = with_logs(tmp_path, Log("a.log", 3, MINUTE))
    replace(places.observability)
    assert collect_observability(layout_of(places.memory_root)) == expected


def test_a_folder_without_permission_is_named_and_the_rest_measured() -> None:
    with open_folder() as folder:
        skip_where_modes_do_not_bind(folder)
        places = with_logs(folder, Log("a.log", 3, MINUTE), Log("sub/b.log", 300, DAY), Log("x/c.log", 4, MINUTE))
        (places.observability / "sub").chmod(0)
        (places.observability / "x").chmod(0o444)
        (places.observability / "a.log").chmod(0)
        give_to_nobody(folder)
        with as_nobody():
            found = measured(places)
    assert (found.files, found.size_bytes) == (1, 3)
    assert found.unreadable == (
        f"{LOG_FOLDER}/sub cannot be read (permission denied)",
        f"{LOG_FOLDER}/x/c.log cannot be read (permission denied)",
    )


def test_a_tree_deeper_than_the_walk_goes_is_named_and_the_rest_measured(tmp_path: Path) -> None:
    places = with_logs(tmp_path, Log("d/" * DEEPEST + "a.log", 3, MINUTE), Log("d/" * (DEEPEST + 1) + "b.log", 5, DAY))
    found = measured(places)
    assert found.size_bytes == 3
    assert found.unreadable == (f"{LOG_FOLDER}/{'d/' * (DEEPEST + 1)}".rstrip("/") + " is nested too deep",)


def test_a_name_is_shown_without_control_characters_and_stray_bytes(tmp_path: Path) -> None:
    places = with_logs(tmp_path)
    path = os.fsencode(places.observability) + b"/a\n\x1b[31m\xff\xc3\xbc.log"
    Path(os.fsdecode(path)).write_bytes(b"x")
    set_age(Path(os.fsdecode(path)), MINUTE)
    assert measured(places).oldest == f"{LOG_FOLDER}/a\\n\\x1b[31m\\udcffü.log"
