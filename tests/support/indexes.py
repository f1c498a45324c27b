"""An index over a memory, adopted as evidence would have it, and every answer with and without it."""

import sys
from io import StringIO
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from support.stores import NOW

from cortex.arguments import Host
from cortex.cli import answer
from cortex.index import adoption
from cortex.index.adoption import Built, Candidate, Request
from cortex.index.layout import Adoption
from cortex.store.store import open_store

NOTE = "cortex: the index was not used"


class Spoken(NamedTuple):
    """What a call printed: stdout, the exit status, stderr."""

    output: bytes
    exit: int
    notes: str


def adopt(root: Path, *, now: int = NOW, reuse: bool = False, act: str = "index build") -> Built:
    """Build an index and adopt it, as `index build --adopt` does once the evidence has been looked at."""

    def prove(candidate: Candidate) -> Adoption:
        return Adoption("ada", "2026-08-01T12:00:00.000Z", candidate.canonical_sha256, "0" * 64)

    with open_store(str(root)) as store:
        return adoption.build(store, Request(act, "ada", now), reuse=reuse, prove=prove)


def say(root: Path, *words: str, now: int = NOW) -> Spoken:
    """Make one call in this process."""
    notes = StringIO()
    with patch.object(sys, "stderr", notes):
        output, status = answer(list(words), Host({"HOME": "/nonexistent"}, lambda: now, str(root)))
    return Spoken(output, status, notes.getvalue())


def both_ways(root: Path, *words: str, now: int = NOW) -> tuple[Spoken, Spoken]:
    """Make one call through the index, and again without it."""
    return say(root, *words, now=now), say(root, *words, "--no-index", now=now)
