"""Does what was marked to be archived wait too long? The headers of the canonical notes; nothing else of them."""

import os
import re
from collections.abc import Iterator
from typing import Any, Final

from cortex.places import Layout
from healthcheck.collectors.folder import printable, shown
from healthcheck.evidence import Collected, Missing, Observed, RetentionEvidence, Unreadable

UNCLEAR_LISTED: Final = 10
_HEAD_BYTES: Final = 64 * 1024
_LEVELLED = re.compile(rb"""\nlevel:[ \t]*["']?L[0-4]["']?[ \t\r]*(?:#[^\n]*)?\n""")
_OPENINGS: Final = (b"---\n", b"---\r\n", b"\xef\xbb\xbf---")
_CLOSING: Final = b"\n---"
_PENDING: Final = b"archive_pending"


class _Tally:
    """What was found so far."""

    def __init__(self) -> None:
        self.levelled = 0
        self.marks: list[tuple[int, str]] = []
        self.unclear: list[str] = []

    def look(self, path: str, header: bytes) -> None:
        """Take one note into account."""
        self.levelled += _LEVELLED.search(header) is not None
        if _PENDING not in header:
            return
        fields = _fields(header + b"---\n")
        if fields is None or fields.get("archive_pending") is True:
            marked_at = _instant((fields or {}).get("archive_marked_at"))
            if marked_at is None:
                self.unclear.append(path)
            else:
                self.marks.append((marked_at, path))


def collect_retention(layout: Layout) -> Collected[RetentionEvidence]:
    """Look at every canonical note. Missing where none has a level or a mark."""
    from cortex.corpus.faults import CorpusError

    tally = _Tally()
    try:
        for path, header in _headers(layout):
            tally.look(shown(layout, layout.memory_root / path), header)
    except CorpusError as error:
        if error.fault.message == "the memory root is not there":
            return Missing(f"no {shown(layout, layout.memory_root)}")
        return Unreadable(shown(layout, layout.memory_root), printable(error.fault.message))
    if not (tally.levelled or tally.marks or tally.unclear):
        return Missing("no note has a level")
    marks = sorted(tally.marks)
    (oldest_at, oldest), (newest_at, newest) = (marks[0], marks[-1]) if marks else ((None, None), (None, None))
    return Observed(
        RetentionEvidence(
            levelled=tally.levelled,
            pending=len(marks) + len(tally.unclear),
            oldest_at=oldest_at,
            oldest=oldest,
            newest_at=newest_at,
            newest=newest,
            unclear=len(tally.unclear),
            first_unclear=tuple(tally.unclear[:UNCLEAR_LISTED]),
        )
    )


def _headers(layout: Layout) -> Iterator[tuple[str, bytes]]:
    """Yield path and header of each note; what cannot be read is for the corpus's own check to name."""
    from cortex.corpus.folders import Folders
    from cortex.corpus.root import pin
    from cortex.corpus.walk import survey

    with pin(layout.memory_root) as root, Folders(root.descriptor) as folders:
        notes = (file.path for file in survey(root).files if file.path.endswith(".md"))
        yield from ((path, header) for path in notes if (header := _header(folders, path)))


def _header(folders: Any, path: str) -> bytes:
    """Return a note's header up to the line that closes it, nothing where it has none."""
    head = _head(folders, path)
    end = head.find(_CLOSING, 3)
    return head[: end + 1] if head.startswith(_OPENINGS) and end > 0 else b""


def _head(folders: Any, path: str) -> bytes:
    try:
        descriptor = folders.open_file(path)
    except OSError:
        return b""
    try:
        return os.pread(descriptor, _HEAD_BYTES, 0)
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def _fields(header: bytes) -> dict[str, Any] | None:
    """Return what a header says, None where it is none that can be trusted."""
    from cortex.retention.frontmatter import FrontmatterError, read_frontmatter

    try:
        return read_frontmatter(header)
    except FrontmatterError:
        return None


def _instant(value: object) -> int | None:
    from policies.timestamps import parse_timestamp

    return parse_timestamp(value) if isinstance(value, str) else None
