"""A memory with something of every kind in it. Tests here are not about power failures: syncing costs nothing."""

import os
from pathlib import Path

import pytest
from index.corpora import write_rich
from support.indexes import adopt
from support.stores import Memory, laid_out


@pytest.fixture(autouse=True)
def _fsync_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    """A memory as `init` lays it out, with a rich corpus and no index."""
    laid = laid_out(tmp_path)
    write_rich(laid.root)
    return laid


@pytest.fixture
def adopted(memory: Memory) -> Memory:
    """The same, answered from an index."""
    adopt(memory.root)
    return memory
