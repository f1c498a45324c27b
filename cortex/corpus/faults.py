"""What can be wrong with the canonical files, as data: one caller stops at the first fault, another lists them all.

Paths are relative to the memory root, with `/`. Messages are clauses that name neither path nor line, since those
stand beside them, and that repeat no unstripped text and no unknown key's name.
"""

from typing import Final, Literal, NamedTuple

FaultKind = Literal[
    "link",
    "special-file",
    "unreadable",
    "name",
    "limit",
    "encoding",
    "control-character",
    "json",
    "field",
    "timestamp",
    "order-of-times",
    "duplicate-id",
]
NoteKind = Literal["withheld", "cut-by-untrusted-opener"]

REMEDIES: Final[dict[FaultKind, str]] = {
    "link": "Put the file or folder itself in the place of the link, or move the link out of the memory.",
    "special-file": "Move it out of the memory, or put a regular file (or folder) in its place.",
    "unreadable": "Give this user the right to read it, and see that nothing moves or rewrites it meanwhile.",
    "name": "Rename it: valid UTF-8, without a private tag.",
    "limit": "Split, archive or remove files until the corpus is within the limit.",
    "encoding": "Save the text as UTF-8.",
    "control-character": "Remove the character; of the control characters only tab and line ends are allowed.",
    "json": "Mend the line: one JSON object, no key twice, nothing after it.",
    "field": "Give the field a value of the right kind.",
    "timestamp": "Write it as YYYY-MM-DD, or YYYY-MM-DDThh:mm:ssZ (or ±hh:mm for the Z).",
    "order-of-times": "Correct the two dates: updated is not before created, valid_from is before valid_until.",
    "duplicate-id": "Give one of the two records another id.",
}


class Fault(NamedTuple):
    """Something that makes the corpus unsound. `line` counts from 1; None where the whole file is meant."""

    path: str
    line: int | None
    kind: FaultKind
    message: str
    remedy: str


class Note(NamedTuple):
    """Something that its owner may want to know, and that is no fault. `identity` is the id of what was withheld."""

    path: str
    line: int | None
    kind: NoteKind
    message: str
    identity: str | None = None


class CorpusError(Exception):
    """The corpus is not sound. `str()` names the path, and the line where there is one."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(describe(fault))
        self.fault = fault


def fault(path: str, line: int | None, kind: FaultKind, message: str) -> Fault:
    """Return a fault with the remedy of its kind."""
    return Fault(path, line, kind, message, REMEDIES[kind])


def describe(found: Fault | Note) -> str:
    """Return a fault or note as one clause: `KNOWLEDGE/log.jsonl, line 3: is not valid JSON`."""
    where = found.path if found.line is None else f"{found.path}, line {found.line}"
    return f"{where}: {found.message}"
