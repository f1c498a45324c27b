"""Bounds of the corpus, of evidence and of text, each named once. Sizes are bytes unless the name says otherwise."""

from typing import Final

KIB: Final = 1024
MIB: Final = 1024 * KIB
# The largest integer that JSON readers agree on.
LARGEST_INTEGER: Final = 2**53 - 1

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
LEDGER_MAX_BYTES: Final = 8 * MIB
REPORT_MAX_BYTES: Final = 16 * MIB

# What a report may repeat of a reviewer's own error.
REVIEWER_ERROR_CHARACTERS: Final = 240
# The head of an evidence log whose hash the history keeps.
HISTORY_HEAD_BYTES: Final = 4096
# At most so many of reviewer, retrieval and proposals may be declared not enabled.
NOT_ENABLED_AT_MOST: Final = 2

# Privacy: stripping repeats until nothing changes, at most so often.
PRIVACY_ROUNDS: Final = 4

# Retrieval. Queries are bounded in code points and in words; both bounds are included.
QUERY_MAX_CHARACTERS: Final = 2048
QUERY_MAX_WORDS: Final = 64
PAGE_SIZE: Final = 10
PAGE_SIZE_MOST: Final = 100
FAULTS_A_PAGE: Final = 100
WINDOW: Final = 5
WINDOW_MOST: Final = 100
EXPANSION_NODES: Final = 10
EXPANSION_NODES_MOST: Final = 100
EXPANSION_TOKENS: Final = 2000
EXPANSION_TOKENS_MOST: Final = 50_000
RECENCY_MOST: Final = 1e6

# The benchmark of retrieval. A label file is read whole; a command's bytes are those of its parts together.
LABELS_MAX_BYTES: Final = MIB
LABELS_MOST: Final = 1000
LABEL_IDS_MOST: Final = 100
LABEL_ID_CHARACTERS: Final = 256
LABEL_COMMAND_PARTS: Final = 32
LABEL_COMMAND_BYTES: Final = 16_384
BENCHMARK_TOP_K: Final = 5
BENCHMARK_SAMPLES: Final = 25
# A run that takes longer shows how far it is.
PROGRESS_AFTER_MS: Final = 1000

# Writes.
PAYLOAD_MAX_BYTES: Final = 262_144
# A command line carries no longer argument than this.
ARGUMENT_MAX_BYTES: Final = 131_071
FREE_TEXT_CHARACTERS: Final = 65_536
METADATA_CHARACTERS: Final = 1024
TARGET_PATH_CHARACTERS: Final = 4096
RELATED_MOST: Final = 64
RELATED_SLUG_CHARACTERS: Final = 256
# A note's file name, without what tells two names of one slug apart.
SLUG_CHARACTERS: Final = 64
# Hot memory. Near its bound the auditor speaks up. From so many entries up, a rewrite is looked at for what it drops.
HOT_ENTRIES_MOST: Final = 48
HOT_ENTRIES_NEAR: Final = 46
HOT_ENTRY_CHARACTERS: Final = 256
SHRINK_GUARD_FROM: Final = 10
SHRINK_FLOOR: Final = 3
SHRINK_EROSION: Final = 2
# Of each file, so many of its earlier states are kept.
SNAPSHOTS_KEPT: Final = 30
# How long a write waits for a lock, and how often it looks.
LOCK_WAIT_MS: Final = 5000
LOCK_POLL_MS: Final = 5

# Retention. What a query may mark at once; a run that would mark more than this and more than half is refused.
MATCHED_AT_MOST: Final = 20
MASS_FROM: Final = 20
# How long a mark may wait for the archive before the auditor speaks up.
ARCHIVE_OVERDUE_DAYS: Final = 45
