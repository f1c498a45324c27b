"""A memory of four notes to be labelled. Syncing costs nothing here."""

import os

import pytest
from support.asking import write
from support.stores import Memory, bare

NOTES = {
    "a": ("2026-01-01", "oak bridge oak"),
    "b": ("2026-02-01", "oak tree, and a long sentence about a bridge that nobody has crossed for some years"),
    "c": ("2026-03-01", "pine"),
    "d": ("2026-04-01", "мост через реку, 桥"),
}


@pytest.fixture
def memory(tmp_path) -> Memory:
    """A memory whose notes are NOTES."""
    root = bare(tmp_path / "root").root
    for name, (created, text) in NOTES.items():
        write(root, **{f"{name}_md": f"---\nid: {name}\ncreated: {created}\n---\n{text}\n"})
    return Memory(root, root)


@pytest.fixture(autouse=True)
def _fsync_costs_nothing(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda _: None)
