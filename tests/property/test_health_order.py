"""The order in which a file system lists things is nobody's choice, and changes nothing."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any, Self

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.health_tree import NOW
from support.memories import Recipe, write
from support.recipes import recipes
from support.running import run

FEW = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
MANY = settings(max_examples=2_000, deadline=None, suppress_health_check=list(HealthCheck))


class _Listing:
    """What `os.scandir` gives, in another order."""

    def __init__(self, entries: list[Any]) -> None:
        self._entries = iter(entries)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def __iter__(self) -> "_Listing":
        return self

    def __next__(self) -> Any:
        return next(self._entries)

    def close(self) -> None:
        return None


@contextmanager
def shuffled_listings(random: Random) -> Iterator[None]:
    """Let every listing of a folder come in another order."""
    scandir, listdir = os.scandir, os.listdir

    def shuffled_scandir(*arguments: Any) -> _Listing:
        with scandir(*arguments) as entries:
            return _Listing(shuffled(list(entries)))

    def shuffled(entries: list[Any]) -> list[Any]:
        random.shuffle(entries)
        return entries

    setattr(os, "scandir", shuffled_scandir)  # noqa: B010 - the system's own function, for a while
    setattr(os, "listdir", lambda *arguments: shuffled(listdir(*arguments)))  # noqa: B010
    try:
        yield
    finally:
        os.scandir, os.listdir = scandir, listdir


def order_changes_nothing(folder: Path, recipe: Recipe, seed: int) -> None:
    """Order of rows in a listing and of folders changes nothing: the report is the same, byte for byte."""
    root = folder / "root"
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir()
    arguments = ("--root", write(recipe, root).root, "--now", str(NOW), "--json", "--no-write")
    first = run(*arguments)
    assert run(*arguments) == first
    with shuffled_listings(Random(seed)):
        assert run(*arguments) == first
    assert first.report["exit_code"] == first.exit_code


@FEW
@given(recipes(), st.integers(0, 2**32))
def test_the_order_of_listings_changes_no_byte(
    tmp_path_factory: pytest.TempPathFactory, recipe: Recipe, seed: int
) -> None:
    order_changes_nothing(tmp_path_factory.getbasetemp(), recipe, seed)


@pytest.mark.proof
@MANY
@given(recipes(), st.integers(0, 2**32))
def test_the_order_of_listings_changes_no_byte_in_thousands_of_memories(
    tmp_path_factory: pytest.TempPathFactory, recipe: Recipe, seed: int
) -> None:
    order_changes_nothing(tmp_path_factory.getbasetemp(), recipe, seed)


def test_listings_really_come_in_another_order(tmp_path: Path) -> None:
    names = [f"n{number}" for number in range(50)]
    for name in names:
        (tmp_path / name).touch()
    with os.scandir(tmp_path) as entries:
        before = [entry.name for entry in entries]
    with shuffled_listings(Random(1)), os.scandir(tmp_path) as entries:
        after = [entry.name for entry in entries]
    assert sorted(after) == sorted(before)
    assert after != before
