"""Tests here are about what sleep keeps, not about when it reaches the disk: syncing costs nothing."""

import os
from pathlib import Path

import pytest
from support.stores import Memory, laid_out


@pytest.fixture(autouse=True)
def _fsync_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    """A memory as `init` lays it out."""
    return laid_out(tmp_path)
