"""Measures a dry run of forgetting over 10,000 levelled notes, 500 of them due, against `cortex status` on the same.

    python benchmarks/retention.py

How it is measured is said in measure.py. Nothing is written into the memory.
"""

import sys
import tempfile
from pathlib import Path

from measure import in_turn, mebibytes, milliseconds, show_table

COMMAND = str(Path(sys.executable).with_name("cortex"))
NOW = "2026-08-01T12:00:00Z"
NOTES = 10_000
DUE_EVERY = 20
BODY = "What was said about the tide and the harbour, in a paragraph of the usual length. " * 20


def make_notes(root: Path) -> None:
    """Write the notes: every twentieth is due, the others are young or were recalled often."""
    folder = root / "KNOWLEDGE" / "notes"
    folder.mkdir(parents=True)
    for number in range(NOTES):
        due = number % DUE_EVERY == 0
        created = "2024-01-01T00:00:00Z" if due else "2026-07-01T10:00:00Z"
        header = (
            f'id: kb_{number:012x}\ntype: memory\ntitle: "Note {number}: a thing"\n'
            f"level: L{2 + number // DUE_EVERY % 2}\n"
            f"tags: [a, b]\ncreated: {created}\nupdated: {created}\nrecall_count: {number % 3 if due else number % 9}\n"
        )
        (folder / f"n{number:05}.md").write_text(f"---\n{header}---\n\n# Note {number}\n\n{BODY}\n", encoding="utf-8")


def main() -> None:
    """Make the memory, measure both commands in turn, print the table."""
    with tempfile.TemporaryDirectory() as folder:
        make_notes(Path(folder))
        root = ("--memory-root", folder)
        status = [COMMAND, "status", *root]
        forget = [COMMAND, "forget", "--dry-run", "--now", NOW, *root]
        base, dry_run = in_turn([status, forget])
        rows = [
            ["cortex status", milliseconds(base.seconds), mebibytes(base.peak_mib), "1.0"],
            [
                "cortex forget --dry-run",
                milliseconds(dry_run.seconds),
                mebibytes(dry_run.peak_mib),
                f"{dry_run.seconds / base.seconds:.1f}",
            ],
        ]
        show_table(["10,000 levelled notes, 500 due", "time", "peak memory", "times status"], rows)


if __name__ == "__main__":
    main()
