"""The catalogue: every check and every finding, each with its meaning, its remedy and its way back to green.

This is the one place where a finding is named. `docs/findings.md`, `memory-health explain`, the report, the textfile
and the tests are all made from it. How to add a check: CONTRIBUTING.md.
"""

from enum import IntEnum
from typing import Final, Literal, NamedTuple

CheckId = Literal[
    "reviewer",
    "retrieval",
    "proposals",
    "observability",
    "index",
    "hot_memory",
    "retention",
    "corpus",
    "ratchet",
    "noise",
    "setup",
    "history",
]
CheckStatus = Literal["ok", "warn", "critical", "not-enabled", "skipped"]


class Severity(IntEnum):
    """How bad a finding is; also what a run exits with."""

    OK = 0
    WARN = 1
    CRITICAL = 2

    @property
    def word(self) -> Literal["ok", "warn", "critical"]:
        """The word for it in every output."""
        return _WORDS[self]


_WORDS: Final[dict[Severity, Literal["ok", "warn", "critical"]]] = {
    Severity.OK: "ok",
    Severity.WARN: "warn",
    Severity.CRITICAL: "critical",
}


class Check(NamedTuple):
    """One question that the auditor asks. `evidence` says of which files."""

    id: CheckId
    title: str
    evidence: str


class FindingSpec(NamedTuple):
    """One answer that is not green."""

    id: str
    check: CheckId
    severity: Severity
    meaning: str
    rule: str
    remedy: str
    way_back: str


CHECKS: Final = (
    Check(
        "reviewer",
        "Does something still review sessions into memory?",
        "OBSERVABILITY/reviewer-runs.jsonl, reviewer-runs/",
    ),
    Check("retrieval", "Is the memory still being asked?", "OBSERVABILITY/memory-retrievals.jsonl"),
    Check("proposals", "Are proposals being decided?", "OBSERVABILITY/pending-proposals.jsonl"),
    Check("observability", "Are the logs of a size and age that can be kept?", "OBSERVABILITY/**/*.jsonl, *.log"),
    Check(
        "index",
        "Does an adopted index still match its sources?",
        "INDEX/index-manifest.json or CORTEX_INDEX_POLICY.json",
    ),
    Check(
        "hot_memory",
        "Is what an agent always has before it whole, with room left?",
        "USER/PRINCIPAL/PRINCIPAL_MEMORY.md, USER/DIGITAL_ASSISTANT/DA_MEMORY.md",
    ),
    Check("retention", "Does what was marked to be archived leave in time?", "KNOWLEDGE/**/*.md (their headers)"),
    Check("corpus", "Can the canonical files be read safely?", "KNOWLEDGE/**"),
    Check(
        "ratchet",
        "Is all the evidence still there that was there before?",
        "OBSERVABILITY/memory-health.jsonl beside the logs, memory-writes.jsonl",
    ),
    Check("noise", "May what is silenced stay silent?", "CORTEX/noise.json"),
    Check(
        "setup",
        "Was this run asked something sensible, and could it answer?",
        "options, environment, CORTEX_HEALTH_POLICY.json",
    ),
    Check("history", "Is this verdict remembered?", "OBSERVABILITY/memory-health.jsonl"),
)

# Checks that the health policy may declare not enabled.
CAN_BE_NOT_ENABLED: Final = ("reviewer", "retrieval", "proposals")

_WARN = Severity.WARN
_CRITICAL = Severity.CRITICAL
_NEW_REVIEW = "Only a new reviewer run that succeeds helps: start the reviewer by hand and look at what it says."
_NEW_RETRIEVAL = "Only a new retrieval helps: ask the memory something, recorded (`cortex search QUERY --record`)."
_BUILD_INDEX = "`cortex index build --operator NAME --allow-write`"
_REFRESH_INDEX = "`cortex index refresh --operator NAME --allow-write`"
_DROP_INDEX = "`cortex index drop --operator NAME --allow-write` withdraws it and leaves the no-index marker"
_OTHER_INDEX = "An index of another tool: build it anew with that tool."
_MOVE_ROW = "`cortex mend LOG --operator NAME --allow-write` moves them into a file of their own beside the log."

FINDINGS: Final = (
    FindingSpec(
        "reviewer-latest-failed", "reviewer", _CRITICAL,
        "The last reviewer run failed. Earlier successes do not count against it.",
        "The last row says ok false or parse_ok false, and is neither a time-out nor a failed parse.",
        "Read the row's error, mend its cause, run the reviewer again.",
        _NEW_REVIEW,
    ),
    FindingSpec(
        "reviewer-latest-parse-failed", "reviewer", _CRITICAL,
        "The reviewer's last answer did not parse, or its log holds a line that is no JSON object.",
        "A malformed line anywhere in the log; parse-error.txt in a run folder newer than the last row; or a last row with parse_ok false.",
        "Look at the named lines or at parse-error.txt. A writer that was killed leaves a torn line.",
        f"Malformed lines: {_MOVE_ROW} A failed parse: {_NEW_REVIEW}",
    ),
    FindingSpec(
        "reviewer-latest-timed-out", "reviewer", _CRITICAL,
        "The reviewer ran out of time, or began a run that never ended.",
        "A run folder newer than the last row, older than the grace; or a failed last row whose error speaks of a time-out.",
        "See whether the reviewer still runs; stop it if it hangs; run it again.",
        f"{_NEW_REVIEW} A folder of a run that will never end may be moved out of reviewer-runs/.",
    ),
    FindingSpec(
        "reviewer-evidence-invalid", "reviewer", _CRITICAL,
        "The reviewer's evidence proves nothing: its last row has an unknown shape, or the files cannot be read.",
        "The last row is neither a success, a skip nor a failure of the known shape, or its time cannot be read; or log or run folder is a link, a folder, a FIFO, or not readable.",
        "Put a regular, readable log in place; update the reviewer if it writes another shape.",
        f"Unreadable: restore the named path as a regular file (or folder) that this user can read. Another shape: `cortex mend reviewer-runs.jsonl --row N` moves that row aside. {_NEW_REVIEW}",
    ),
    FindingSpec(
        "reviewer-evidence-missing", "reviewer", _WARN,
        "Nothing shows that a reviewer ever ran.",
        "No row in the log and no run folder.",
        "Start the reviewer, or declare it not enabled in CORTEX_HEALTH_POLICY.json.",
        f"{_NEW_REVIEW} Or declare the part not enabled.",
    ),
    FindingSpec(
        "reviewer-future", "reviewer", _WARN,
        "The reviewer's evidence is dated ahead of the clock and proves nothing.",
        "The last row's time, or a newer run folder's, is later than now.",
        "Compare the clocks of the reviewer's host and of this one.",
        "Set the clock right, then run the reviewer again; or wait until that time has passed.",
    ),
    FindingSpec(
        "reviewer-stale", "reviewer", _WARN,
        "The last healthy reviewer run is older than the limit.",
        "now - its time > reviewer_stale_ms.",
        "See why the reviewer has not run: its timer, its host, its log.",
        _NEW_REVIEW,
    ),
    FindingSpec(
        "retrieval-missing", "retrieval", _WARN,
        "Nothing shows that the memory was ever asked.",
        "No log, or no row in it.",
        "Let what retrieves from the memory record it in OBSERVABILITY/memory-retrievals.jsonl (`cortex search --record`, or CORTEX_RECORD_RETRIEVALS=1), or declare the part not enabled.",
        f"{_NEW_RETRIEVAL} Or declare the part not enabled.",
    ),
    FindingSpec(
        "retrieval-evidence-malformed", "retrieval", _WARN,
        "The retrieval log holds a line that is no JSON object, or its last row has an unknown shape.",
        "Any malformed line; or a last row that is not exactly ts, query_hash, returned_count, duration_ms and, optionally, top_score.",
        "Look at the named lines. A writer that was killed leaves a torn line.",
        f"Malformed lines: {_MOVE_ROW} Another shape: {_NEW_RETRIEVAL} Or move that row aside: `cortex mend memory-retrievals.jsonl --row N`.",
    ),
    FindingSpec(
        "retrieval-evidence-invalid", "retrieval", _WARN,
        "The retrieval log cannot be read.",
        "It is a link, a folder, a FIFO or a device, its parent is no folder, or it may not be read.",
        "Put a regular, readable file in its place.",
        "Restore the path named in the finding as a regular file that this user can read.",
    ),
    FindingSpec(
        "retrieval-future", "retrieval", _WARN,
        "The last retrieval is dated ahead of the clock and proves nothing.",
        "Its time is later than now.",
        "Compare the clocks of the recording host and of this one.",
        "Set the clock right, then ask the memory something; or wait until that time has passed.",
    ),
    FindingSpec(
        "retrieval-stale", "retrieval", _WARN,
        "The memory has not been asked for longer than the limit.",
        "now - the last retrieval's time > retrieval_stale_ms.",
        "See whether agents still use the memory, and whether retrievals are still recorded.",
        _NEW_RETRIEVAL,
    ),
    FindingSpec(
        "proposal-evidence-missing", "proposals", _WARN,
        "There is no proposal queue. (An empty one is fine.)",
        "No OBSERVABILITY/pending-proposals.jsonl.",
        "Restore the queue, or create an empty file where proposals are used; else declare the part not enabled.",
        "Restore the file, or let `cortex init --operator NAME --allow-write` create it; or declare the part not enabled.",
    ),
    FindingSpec(
        "proposal-evidence-malformed", "proposals", _WARN,
        "The proposal queue cannot be trusted: a line is no JSON object, a row has no status, or the file cannot be read.",
        "A malformed line; a row whose status is missing, null or no string; or no regular, readable file.",
        "Look at the named lines, or put a regular, readable file in place.",
        f"Malformed lines and rows without a status: {_MOVE_ROW} A file that cannot be read: restore it as a regular file.",
    ),
    FindingSpec(
        "proposal-backlog-high", "proposals", _WARN,
        "More proposals wait for a decision than the limit allows.",
        "Rows with status exactly `pending` > proposal_backlog.",
        "Decide the oldest proposals.",
        "`cortex proposals list --status pending`, `show ID`, `decide ID accept|reject|edit`, until no more than the limit are pending.",
    ),
    FindingSpec(
        "observability-evidence-missing", "observability", _WARN,
        "There are no logs at all.",
        "No OBSERVABILITY/ folder, or no .jsonl or .log below it.",
        "Check that this is the memory that is in use, and that its tools may write logs.",
        "Let the reviewer, the retrieval tool or another part write its log again.",
    ),
    FindingSpec(
        "observability-evidence-invalid", "observability", _WARN,
        "The logs could not be measured, in part or as a whole.",
        "OBSERVABILITY/ is a link or no folder, or something below it cannot be read.",
        "Make the named paths readable for the user that runs this check.",
        "Restore OBSERVABILITY/ as a folder of its own; give this user the right to read what is named.",
    ),
    FindingSpec(
        "observability-bytes-exceeded", "observability", _WARN,
        "The logs together have grown past the limit.",
        "Bytes of all .jsonl and .log files > observability_max_bytes.",
        "Compress or rotate the largest logs that nobody writes any more.",
        "Compress logs nobody writes any more (gzip), until the sum is at the limit or below.",
    ),
    FindingSpec(
        "observability-age-exceeded", "observability", _WARN,
        "A log was last written longer ago than the limit: what wrote it has stopped, or it should be archived.",
        "now - the oldest log's modification time > observability_max_age_ms.",
        "See whether its writer should still be running; else compress or archive the log.",
        "Revive the writer, or compress (gzip) the named log.",
    ),
    FindingSpec(
        "observability-future", "observability", _WARN,
        "A log's modification time is ahead of the clock, so ages prove nothing.",
        "The newest modification time is later than now.",
        "Compare the clocks of the writing host and of this one.",
        "Set the clock right and let the log be written again; or wait until that time has passed.",
    ),
    FindingSpec(
        "index-manifest-invalid", "index", _CRITICAL,
        "The index manifest, what it names, or the no-index marker cannot be trusted.",
        "Not a regular file of strict JSON with exactly the known fields; a path that leaves its folder; blocks of a cortex index that are not what its table says; or sources that cannot be read to measure them.",
        "Build the index and its manifest anew, or withdraw both and leave the no-index marker.",
        f"{_BUILD_INDEX} makes index and manifest anew; {_DROP_INDEX}. Move a link, a folder or a FIFO in a file's place away first. {_OTHER_INDEX}",
    ),
    FindingSpec(
        "index-integrity-mismatch", "index", _CRITICAL,
        "The adopted index is not of these sources, or is not the file that was adopted.",
        "The measured hash of the canonical records, or of the index file, differs from the manifest's.",
        "Refresh the index from the canonical files. Where `cortex sleep config index_refresh true` allows it, `cortex sleep tick` does so for an index that answers and is not damaged.",
        f"{_REFRESH_INDEX} brings the index up to date; {_DROP_INDEX}. {_OTHER_INDEX}",
    ),
    FindingSpec(
        "index-freshness-invalid", "index", _WARN,
        "The index is dated ahead of the clock and proves nothing.",
        "indexed_at is later than now.",
        "Compare the clocks of the indexing host and of this one.",
        f"Set the clock right and run {_REFRESH_INDEX}, or wait until that time has passed; {_DROP_INDEX}. {_OTHER_INDEX}",
    ),
    FindingSpec(
        "index-stale", "index", _WARN,
        "The adopted index is older than the limit.",
        "now - indexed_at > index_stale_ms.",
        "Refresh the index.",
        f"{_REFRESH_INDEX} makes the index anew; {_DROP_INDEX}. {_OTHER_INDEX}",
    ),
    FindingSpec(
        "index-evidence-missing", "index", _WARN,
        "Nothing says whether this memory has an index or does without one on purpose.",
        "Neither an index manifest nor the no-index marker.",
        "Write the marker, or build an index.",
        f"`cortex init --operator NAME --allow-write` or `cortex index drop --operator NAME --allow-write` writes the marker CORTEX_INDEX_POLICY.json; {_BUILD_INDEX} builds an index.",
    ),
    FindingSpec(
        "hot-memory-markers", "hot_memory", _CRITICAL,
        "Hot memory cannot be read, or its markers are damaged, so that other readers see none or half of its entries.",
        "A hot file is a link, no file or unreadable; or its marker lines are not exactly one pair, BEGIN before END.",
        "Put a readable file in its place; repair the markers.",
        "Remember any entry for that actor: one write puts the file into its shape (or put the two marker lines right by hand).",
    ),
    FindingSpec(
        "hot-memory-near-cap", "hot_memory", _WARN,
        "Hot memory is nearly full; soon nothing can be added.",
        "46 of 48 entries or more.",
        "Let an agent set a shorter list, an entry or two less at a time, or edit the file.",
        "Remove entries from the named file until fewer than 46 are left.",
    ),
    FindingSpec(
        "retention-archive-overdue", "retention", _WARN,
        "A note was marked to be archived and still lies where it lay, or its mark has no date that proves anything.",
        "archive_pending is true, and archive_marked_at is older than 45 days, unreadable, missing, or ahead of the clock.",
        "See whether `cortex archive` still runs. It never moves L0, nor a note whose place in the archive is taken.",
        "cortex archive --operator NAME --allow-write (or take the mark out: cortex undo with the plan that set it).",
    ),
    FindingSpec(
        "corpus-unsound", "corpus", _WARN,
        "The canonical files hold something that reading would refuse.",
        "A link, a special file, an unreadable folder, a bad name, or a limit passed, seen without reading content.",
        "Move the named thing out of KNOWLEDGE/, or put a regular file in its place.",
        "Move what is named out of KNOWLEDGE/ (links are not followed), until nothing is named.",
    ),
    FindingSpec(
        "evidence-vanished", "ratchet", _CRITICAL,
        "An evidence log is less than it was, and nothing says that it was shortened on purpose.",
        "Against the highest state in the history: the log is gone or not readable, is smaller, begins with other bytes, or ends with an earlier row; of the proposal queue: an id is gone. An audited write since then accounts for what it removed, and for no more.",
        "Find out what shortened the log, and restore it from a backup if you can.",
        "Restore the log; or give an operator's word that the loss is accepted: `cortex mend LOG --accept-loss --operator NAME --allow-write`.",
    ),
    FindingSpec(
        "noise-ledger-damaged", "noise", _WARN,
        "What was told before, and what is silenced, is not known: everything is told.",
        "CORTEX/noise.json is no regular, readable file of strict JSON with exactly the known fields, or it could not be written.",
        "Damaged: begin a new ledger. Not written: free space, or give this user the right to write in CORTEX/.",
        "`memory-health noise clear` keeps the damaged ledger beside a new one; silences have to be given again. A ledger that could not be written: make CORTEX/ writable for this user, then run again.",
    ),
    FindingSpec(
        "noise-silence-expired", "noise", _WARN,
        "What an operator silenced for a time is still there, and the time is over.",
        "The end of a silence is not after now, and what it silenced is among the findings (or is an open alert of another source).",
        "See whether the reason still holds; mend what was silenced, or silence it anew.",
        "`memory-health noise unsilence KEY`, or `memory-health noise silence KEY --reason TEXT` for another time; or mend what was silenced.",
    ),
    FindingSpec(
        "health-root-invalid", "setup", _CRITICAL,
        "The folder to audit is not there or is no folder.",
        "A root was given, by option or variable, and it is no folder.",
        "Correct the option or variable named in the finding.",
        "Give --root the folder that holds LIFEOS/, or --memory-root the memory itself.",
    ),
    FindingSpec(
        "health-clock-invalid", "setup", _CRITICAL,
        "The time to judge by makes no sense; the real clock was used.",
        "--now or CORTEX_HEALTH_NOW is neither a timestamp with a zone nor milliseconds since 1970.",
        "Correct or unset the option or variable.",
        "Unset CORTEX_HEALTH_NOW, or write it as 2026-08-01T12:00:00Z.",
    ),
    FindingSpec(
        "cortex-threshold-invalid", "setup", _CRITICAL,
        "A threshold's variable holds no number above 0; the default was used.",
        "The value is not ASCII digits with optional fraction and exponent, finite and above 0.",
        "Correct or unset the variable named in the finding.",
        "Unset the variable, or set it to plain digits.",
    ),
    FindingSpec(
        "health-policy-invalid", "setup", _CRITICAL,
        "The policy that says which parts are not enabled cannot be trusted; all parts were judged.",
        "CORTEX_HEALTH_POLICY.json is not a regular file of strict JSON with exactly schema memory-health-policy/v1 and not_enabled (at most two of reviewer, retrieval, proposals, each with a reason).",
        "Correct the file.",
        "Correct or remove CORTEX_HEALTH_POLICY.json.",
    ),
    FindingSpec(
        "health-internal-error", "setup", _CRITICAL,
        "Part of this run crashed. What it would have said is unknown, and so not green.",
        "An exception that is no finding.",
        "Run again; if it stays, report it with the one line on stderr.",
        "Only a run without the fault helps.",
    ),
    FindingSpec(
        "textfile-write-failed", "setup", _CRITICAL,
        "The metrics could not be published, so an older file may still say ok.",
        "The textfile's folder is missing or not writable, its name does not end in .prom, or something that is no regular file has it.",
        "Name a file that ends in .prom, in a folder that is there and that the user running this check may write to.",
        "Create the folder named in the finding, writable for this user, then run again.",
    ),
    FindingSpec(
        "report-write-failed", "setup", _CRITICAL,
        "The report that was asked for could not be written.",
        "Its folder is missing or not writable, or something that is no regular file has its name.",
        "Create the folder, or name another file.",
        "Create the folder named in the finding, writable for this user, then run again.",
    ),
    FindingSpec(
        "health-history-unreadable", "history", _WARN,
        "The history of verdicts cannot be read.",
        "OBSERVABILITY/memory-health.jsonl is a link, a folder, a FIFO, not readable, or its last whole line is no JSON object.",
        "Put a regular, readable file in its place; keep the old one.",
        "Move the damaged history aside (keep it); the next run begins a new one.",
    ),
    FindingSpec(
        "health-history-write-failed", "history", _WARN,
        "This verdict could not be added to the history.",
        "The row could not be appended.",
        "Free space, or give this user the right to write OBSERVABILITY/memory-health.jsonl.",
        "Make the file writable for this user, or run with --no-write on purpose.",
    ),
)  # fmt: skip

CATALOGUE: Final = {spec.id: spec for spec in FINDINGS}
