"""A living memory, judged; then one damage after another, each on a fresh copy, judged again.

    make demo
    python examples/demo.py build DIR    only builds the living memory, in a folder that is not there yet

Everything happens in a temporary folder. The memory is made by `cortex` and judged by `memory-health --json`,
each run a process of its own, with one fixed clock, so the demo says the same on any day. It exits 0 only where every
run exits, judges and finds what it should: the demo is a test as well.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cortex.corpus.digest import canonical_digest
from cortex.corpus.reader import iter_records
from cortex.corpus.root import pin
from policies.timestamps import format_instant, parse_timestamp

NOW = parse_timestamp("2026-08-01T12:00:00Z") or 0
SESSIONS = Path(__file__).parent.parent / "tests" / "data" / "transcripts"
HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
WORDS = {0: "ok", 1: "warn", 2: "critical"}
STYLES = {"ok": "green", "warn": "yellow", "critical": "bold red"}

# What an agent was told, each item a number of days ago.
ITEMS = (
    (30, {
        "type": "idea",
        "title": "A clock that shows the tide",
        "content": "The face turns once in twelve hours and twenty-five minutes. Two hands would only confuse.",
        "related": [{"slug": "what-the-harbour-walk-taught", "type": "caused-by"}],
    }),
    (29, {
        "type": "knowledge",
        "entity_type": "research",
        "name": "What the harbour walk taught",
        "content": "Low water uncovers the old slipway. Ask the ferry office for the tables of 1998.",
        "confidence": 0.8,
    }),
    (28, {
        "type": "knowledge",
        "entity_type": "person",
        "name": "The ferry office",
        "content": "Opens at seven. Prefers a call to a letter.",
    }),
    (27, {"type": "memory", "actor": "principal", "content": "PREFERENCE: a call before a letter"}),
)  # fmt: skip
AGENT = ("--adapter", "claude", "--allow-write")
OPERATOR = ("--operator", "demo", "--allow-write")


class Case(NamedTuple):
    """One damage, what does it, and what the command should make of it."""

    damage: str
    act: Callable[["Memory"], None]
    exit_code: int
    findings: tuple[str, ...]
    environment: Mapping[str, str] = {}


class Verdict(NamedTuple):
    """What a run said: its exit code, and `overall` and the ids of the findings from its report."""

    exit_code: int
    overall: str
    findings: tuple[str, ...]


class Memory:
    """The files of one memory below `root`, the folder that holds `LIFEOS/`."""

    def __init__(self, root: Path) -> None:
        """Name the files; nothing is made yet."""
        self.root = root
        self.base = root / "LIFEOS" / "MEMORY"
        self.knowledge = self.base / "KNOWLEDGE"
        self.logs = self.base / "OBSERVABILITY"
        self.reviewer = self.logs / "reviewer-runs.jsonl"
        self.retrieval = self.logs / "memory-retrievals.jsonl"
        self.proposals = self.logs / "pending-proposals.jsonl"
        self.marker = root / "LIFEOS" / "CORTEX_INDEX_POLICY.json"
        self.manifest = self.base / "INDEX" / "index-manifest.json"
        self.index = self.base / "INDEX" / "titles.json"

    def write(self, path: Path, text: str, age_ms: int = HOUR_MS) -> None:
        """Write a file that was last changed `age_ms` before the demo's clock."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        seconds = (NOW - age_ms) / 1000
        os.utime(path, (seconds, seconds))

    def set_times(self, age_ms: int) -> None:
        """Let every file have been changed so long before the demo's clock: the commands ran by the real one."""
        seconds = (NOW - age_ms) / 1000
        for path in self.root.rglob("*"):
            os.utime(path, (seconds, seconds))

    def write_rows(self, path: Path, *rows: Mapping[str, object]) -> None:
        """Write a log, one row a line."""
        self.write(path, "".join(json.dumps(row) + "\n" for row in rows))


def stamp(age_ms: int) -> str:
    """The timestamp of an instant so long before the demo's clock."""
    return format_instant(NOW - age_ms)


def reviewer_row(age_ms: int) -> dict[str, object]:
    """A reviewer run that succeeded: two items written, one passed over by a guard."""
    return {
        "ts": stamp(age_ms),
        "ok": True,
        "runId": stamp(age_ms).replace(":", "-").replace(".", "-"),
        "transcript": "session-0042.jsonl",
        "exchanges": 12,
        "inference_duration_ms": 8450,
        "parse_ok": True,
        "dispatch_summary": {
            "total": 3,
            "by_type": {"memory": 1, "idea": 1, "knowledge": 1, "proposal": 0},
            "succeeded": 2,
            "failed": 0,
            "failures": [],
            "skipped_guard": 1,
            "skips": [{"type": "memory", "reason": "already known"}],
            "proposals_auto_applied": 0,
            "proposals_auto_apply_failed": 0,
        },
    }


def cortex(memory: Memory, age_ms: int, *words: str) -> dict[str, Any]:
    """Run `cortex` on a memory, at a time so long before the demo's clock; return its data.

    Raises:
        SystemExit: It refused.
    """
    run = subprocess.run(
        [sys.executable, "-m", "cortex", *words, "--memory-root", memory.base, "--now", stamp(age_ms)],
        env=own_environment(),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if run.returncode:
        message = f"cortex {words[0]} exited {run.returncode}: {run.stdout or run.stderr}"
        raise SystemExit(message)
    data: dict[str, Any] = json.loads(run.stdout)["data"]
    return data


def own_environment() -> dict[str, str]:
    """The environment without the variables of the auditor and the memory."""
    return {name: value for name, value in os.environ.items() if not name.startswith("CORTEX_")}


def propose(memory: Memory, age_ms: int, word: str) -> str:
    """Let the agent propose a definition; return the proposal's id."""
    item = {
        "type": "proposal",
        "target_file": "USER/DEFINITIONS.md",
        "edit": f"{word}: see the tables of 1998.",
        "confidence": 0.6,
        "rationale": "The word came up twice.",
    }
    return str(cortex(memory, age_ms, "propose", json.dumps(item), *AGENT)["id"])


def build(root: Path) -> Memory:
    """Make a memory as people and agents do, with the real commands; it learns from transcripts of real sessions.

    It has current evidence of all kinds, and a small index that was adopted by a manifest.
    """
    memory = Memory(root)
    cortex(memory, 31 * DAY_MS, "init", *OPERATOR)
    for age, item in ITEMS:
        cortex(memory, age * DAY_MS, "remember", json.dumps(item), *AGENT)
    accepted = propose(memory, 2 * DAY_MS, "Slack water")
    digest = cortex(memory, DAY_MS, "proposals", "show", accepted)["digest"]
    cortex(memory, DAY_MS, "proposals", "decide", accepted, "accept", "--digest", digest, *OPERATOR)
    propose(memory, DAY_MS, "Neap tide")
    for age_ms in (26 * HOUR_MS, 2 * HOUR_MS):
        cortex(memory, age_ms, "search", "tide", "--record")
    cortex(memory, 3 * HOUR_MS, "sleep", "consolidate", "--transcripts", str(SESSIONS), *OPERATOR)
    adopt_index(memory)
    memory.set_times(HOUR_MS)
    return memory


def adopt_index(memory: Memory) -> None:
    """Write an index of the notes' titles, and in the marker's place the manifest that ties it to these notes."""
    with pin(memory.base) as pinned:
        records = list(iter_records(pinned))
    memory.write(memory.index, json.dumps({record.id: record.title for record in records}, indent=2) + "\n")
    manifest = {
        "schema": "lifeos-cortex-index/v1",
        "canonical_sha256": canonical_digest(records),
        "index_path": memory.index.name,
        "index_sha256": sha256(memory.index.read_bytes()).hexdigest(),
        "indexed_at": stamp(HOUR_MS),
    }
    memory.write(memory.manifest, json.dumps(manifest, indent=2) + "\n")
    memory.marker.unlink()


def leave_alone(_: Memory) -> None:
    """Change nothing: the fault lies elsewhere."""


def let_reviewer_go_stale(memory: Memory) -> None:
    """Leave the last success eight days back."""
    memory.write_rows(memory.reviewer, reviewer_row(8 * DAY_MS))


def time_out_reviewer(memory: Memory) -> None:
    """End a long row of successes with one run that ran out of time."""
    failed = {"ts": stamp(HOUR_MS), "ok": False, "runId": "late", "error": "inference timed out after 120 s"}
    memory.write_rows(memory.reviewer, *(reviewer_row(day * DAY_MS) for day in range(6, 0, -1)), failed)


def tear_reviewer_log(memory: Memory) -> None:
    """Cut the last row short, as a writer does that is killed."""
    memory.write(memory.reviewer, memory.reviewer.read_text(encoding="utf-8")[:-40])


def put_folder_for_log(memory: Memory) -> None:
    """Put a folder where the log was."""
    memory.retrieval.unlink()
    memory.retrieval.mkdir()


def lose_retrieval_log(memory: Memory) -> None:
    """Delete the log."""
    memory.retrieval.unlink()


def pile_up_proposals(memory: Memory) -> None:
    """Let eleven proposals wait; ten may."""
    for number in range(10):
        propose(memory, HOUR_MS, f"Word {number}")
    memory.set_times(HOUR_MS)


def edit_note(memory: Memory) -> None:
    """Change a note that the index was made of."""
    note = memory.knowledge / "People" / "the-ferry-office.md"
    memory.write(note, note.read_text(encoding="utf-8") + "Closed on Mondays.\n")


def lose_manifest(memory: Memory) -> None:
    """Delete the manifest, and leave no word that there is no index on purpose."""
    memory.manifest.unlink()


def forget_a_log(memory: Memory) -> None:
    """Leave a log that nobody has written for 40 days."""
    memory.write(memory.logs / "importer.log", "imported 3 notes\n", age_ms=40 * DAY_MS)


def lose_all_logs(memory: Memory) -> None:
    """Delete the whole folder of evidence."""
    shutil.rmtree(memory.logs)


CASES = (
    Case("none: the living memory", leave_alone, 0, ()),
    Case("no reviewer run for 8 days", let_reviewer_go_stale, 1, ("reviewer-stale",)),
    Case("the last reviewer run timed out", time_out_reviewer, 2, ("reviewer-latest-timed-out",)),
    Case("the reviewer log's last line is torn", tear_reviewer_log, 2, ("reviewer-latest-parse-failed",)),
    Case("a folder lies where the retrieval log was", put_folder_for_log, 1, ("retrieval-evidence-invalid",)),
    Case("the retrieval log is gone", lose_retrieval_log, 1, ("retrieval-missing",)),
    Case("11 proposals wait for a decision", pile_up_proposals, 1, ("proposal-backlog-high",)),
    Case("a note changed after it was indexed", edit_note, 2, ("index-integrity-mismatch",)),
    Case("the index manifest is gone", lose_manifest, 1, ("index-evidence-missing",)),
    Case("a log nobody has written for 40 days", forget_a_log, 1, ("observability-age-exceeded",)),
    Case(
        "all logs are gone",
        lose_all_logs,
        1,
        (
            "observability-evidence-missing",
            "proposal-evidence-missing",
            "retrieval-missing",
            "reviewer-evidence-missing",
        ),
    ),
    Case(
        "CORTEX_INDEX_STALE_MS=7d, which is no number",
        leave_alone,
        2,
        ("cortex-threshold-invalid",),
        {"CORTEX_INDEX_STALE_MS": "7d"},
    ),
)


def judge(memory: Memory, environment: Mapping[str, str]) -> Verdict:
    """Run `memory-health --json` on a memory, with no variable of the auditor's but those given.

    Raises:
        SystemExit: Its stdout is no report.
    """
    command = Path(sys.executable).with_name("memory-health")
    run = subprocess.run(
        [command, "--json", "--root", memory.root, "--now", format_instant(NOW)],
        env={**own_environment(), **environment},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    try:
        report = json.loads(run.stdout)
        return Verdict(run.returncode, report["overall"], tuple(sorted(f["id"] for f in report["findings"])))
    except (ValueError, KeyError) as error:
        message = f"memory-health exited {run.returncode} without a report: {run.stderr.strip()}"
        raise SystemExit(message) from error


def judge_all(folder: Path) -> list[Verdict]:
    """Build the living memory below `folder`, and judge a fresh copy of it after each damage."""
    living = build(folder / "living")
    verdicts = []
    for number, case in enumerate(CASES):
        copy = Memory(folder / f"copy-{number:02}")
        shutil.copytree(living.root, copy.root)
        case.act(copy)
        verdicts.append(judge(copy, case.environment))
    return verdicts


def as_expected(case: Case, verdict: Verdict) -> bool:
    """Tell whether a run exited, judged and found what it should."""
    return verdict == Verdict(case.exit_code, WORDS[case.exit_code], tuple(sorted(case.findings)))


def as_table(verdicts: list[Verdict]) -> Table:
    """Lay the runs out for people, one a row; a row that is not as it should be says so."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for heading in ("Damage", "Exit", "Verdict", "Findings"):
        table.add_column(heading, no_wrap=heading != "Damage")
    for case, verdict in zip(CASES, verdicts, strict=True):
        findings = "\n".join(verdict.findings) or "none"
        if not as_expected(case, verdict):
            findings += f"\nEXPECTED exit {case.exit_code}: {', '.join(case.findings) or 'none'}"
        overall = Text(verdict.overall, style=STYLES.get(verdict.overall, ""))
        table.add_row(case.damage, str(verdict.exit_code), overall, findings)
    return table


def main(arguments: list[str]) -> int:
    """Show every verdict; return 0 where each is what it should be, else 1."""
    if arguments[:1] == ["build"] and len(arguments) == 2:
        build(Path(arguments[1]))
        return 0
    with tempfile.TemporaryDirectory(prefix="memory-health-demo-") as folder:
        verdicts = judge_all(Path(folder))
    right = sum(map(as_expected, CASES, verdicts))
    console = Console(width=100, highlight=False)
    console.print("memory-health --json, on a living memory and on damaged copies of it:")
    console.print(as_table(verdicts))
    console.print(f"{right} of {len(CASES)} verdicts are what they should be.")
    return 0 if right == len(CASES) else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
