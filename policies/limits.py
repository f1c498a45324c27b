"""Bounds of the corpus, of evidence and of text, each named once. Sizes are bytes unless the name says otherwise."""

from typing import Final

KIB: Final = 1024
MIB: Final = 1024 * KIB

# The corpus (docs/corpus.md). Withheld records count towards the number of records.
CORPUS_MAX_FILES: Final = 10_000
CORPUS_MAX_FILE_BYTES: Final = 8 * MIB
CORPUS_MAX_BYTES: Final = 128 * MIB
CORPUS_MAX_RECORDS: Final = 50_000

# Evidence. A row longer than this is malformed, whatever it holds.
ROW_MAX_BYTES: Final = 16 * MIB
# A last line without its newline may be a writer in mid-append: it gets this long to finish.
TORN_ROW_ATTEMPTS: Final = 3
TORN_ROW_WAIT_MS: Final = 50
# Line numbers kept of malformed rows; all of them are counted.
MALFORMED_LINES_LISTED: Final = 10
MANIFEST_MAX_BYTES: Final = MIB
INDEX_MAX_BYTES: Final = 1024 * MIB

# What a report may repeat of a reviewer's own error.
REVIEWER_ERROR_CHARACTERS: Final = 240
# The head of an evidence log whose hash the history keeps.
HISTORY_HEAD_BYTES: Final = 4096
# At most so many of reviewer, retrieval and proposals may be declared not enabled.
NOT_ENABLED_AT_MOST: Final = 2

# Privacy: stripping repeats until nothing changes, at most so often.
PRIVACY_ROUNDS: Final = 4
