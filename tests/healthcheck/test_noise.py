"""The noise ledger as a command keeps it: `--quiet`, `memory-health noise`, damage, and what noise never touches."""

import io
import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
from support.health_tree import DAY, MINUTE, NOW, retrieval_row, reviewer_row, set_time, write_h0, write_rows
from support.metrics import series_in
from support.running import Run, run, run_sabotaged

STALE = "retrieval::retrieval-stale"
LATER = NOW + 2 * DAY


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A memory in which all is well, for a day."""
    return write_h0(tmp_path / "R")


def ledger_of(root: Path) -> Path:
    return root / "LIFEOS" / "MEMORY" / "CORTEX" / "noise.json"


def health(root: Path, now: int, *arguments: str | Path) -> Run:
    return run("--root", root, "--now", str(now), *arguments)


def silence(root: Path, now: int = LATER, *more: str, key: str = STALE) -> Run:
    return health(root, now, "noise", "silence", key, "--reason", "on holiday", *more)


def ask_again(root: Path, now: int) -> None:
    log = root / "LIFEOS" / "MEMORY" / "OBSERVABILITY" / "memory-retrievals.jsonl"
    with log.open("a") as file:
        file.write(json.dumps(retrieval_row(now)) + "\n")
    set_time(log, now)


def test_quiet_says_what_changed_and_the_exit_code_says_the_rest(root: Path) -> None:
    assert health(root, NOW, "--quiet") == Run(0, "", "")
    first = health(root, LATER, "--quiet")
    assert first.exit_code == 1
    assert "warn retrieval-stale (retrieval), new\n" in first.stdout
    assert health(root, LATER + 1, "--quiet") == Run(1, "", "")
    ask_again(root, LATER)
    cleared = health(root, LATER + 2, "--quiet")
    assert cleared.exit_code == 0
    assert f"cleared: {STALE}\n" in cleared.stdout
    assert health(root, LATER + 3, "--quiet") == Run(0, "", "")


def test_quiet_takes_every_format_and_still_writes_what_was_asked_for(root: Path, tmp_path: Path) -> None:
    asked = ("--quiet", "--json", "--textfile", tmp_path / "m.prom", "--report", tmp_path / "r.json")
    assert health(root, LATER, *asked).finding_ids == ["retrieval-stale"]
    for path in ("m.prom", "r.json"):
        (tmp_path / path).unlink()
    assert health(root, LATER + 1, *asked) == Run(1, "", "")
    assert json.loads((tmp_path / "r.json").read_text("utf-8"))["overall"] == "warn"
    assert 'overall="warn"} 1.0' in (tmp_path / "m.prom").read_text("utf-8")


def test_text_shows_since_when_a_finding_is_unchanged(root: Path) -> None:
    assert "retrieval-stale (retrieval), new\n" in health(root, LATER).stdout
    assert "retrieval-stale (retrieval), unchanged since 2026-08-12T12:00:00.000Z\n" in health(root, LATER + 1).stdout
    for number in range(1, 5):
        shown = health(root, LATER + number * 2 * MINUTE).stdout
    assert "unchanged since 2026-08-12T12:00:00.000Z, a known deviation\n" in shown


def test_a_recovery_stands_in_one_report(root: Path) -> None:
    assert health(root, LATER, "--json").report["recovered"] == []
    ask_again(root, LATER)
    assert health(root, LATER + 1, "--json").report["recovered"] == ["retrieval-stale"]
    assert health(root, LATER + 2, "--json").report["recovered"] == []


def test_what_is_silenced_comes_last_marked(root: Path) -> None:
    write_rows(root / "LIFEOS/MEMORY/OBSERVABILITY/pending-proposals.jsonl", [{"status": "pending"}] * 11, LATER)
    health(root, LATER)
    assert silence(root).stdout == f"{STALE} is silenced until 2026-08-26T12:00:00.000Z\n"
    lines = health(root, LATER + 1).stdout.splitlines()
    marked = lines.index("warn retrieval-stale (retrieval), silenced until 2026-08-26T12:00:00.000Z")
    assert lines.index("warn proposal-backlog-high (proposals), unchanged since 2026-08-12T12:00:00.000Z") < marked
    assert [line for line in lines if line.startswith("ok: ")] == [lines[marked - 2]]


CLOCKS = {"memory_health_last_run_timestamp_seconds", "memory_health_run_duration_seconds"}


def without_noise(report: dict[str, Any]) -> dict[str, Any]:
    for found in report["findings"]:
        del found["silenced"]
    return {name: value for name, value in report.items() if name != "evidence"}


def test_silencing_changes_no_verdict_and_one_metric_alone(root: Path, tmp_path: Path) -> None:
    """Silencing changes no exit code, no JSON severity, no metric but the one that says it is silenced."""
    textfile = tmp_path / "m.prom"
    health(root, LATER)
    loud = health(root, LATER, "--json", "--textfile", textfile)
    before = series_in(textfile.read_text("utf-8"))
    silence(root)
    quiet = health(root, LATER, "--json", "--textfile", textfile)
    after = series_in(textfile.read_text("utf-8"))
    assert quiet.exit_code == loud.exit_code == 1
    assert [found["silenced"] for found in quiet.report["findings"]] == [True]
    assert [found["silenced"] for found in loud.report["findings"]] == [False]
    assert without_noise(quiet.report) == without_noise(loud.report) | {"checks": quiet.report["checks"]}
    changed = {sample[0] for sample in before if before[sample] != after[sample]}
    assert changed - CLOCKS == {"memory_health_finding_silenced"}


def test_a_silence_that_ran_out_is_a_finding_until_somebody_decides(root: Path) -> None:
    health(root, LATER)
    silence(root, LATER, "--until", "2026-08-13")
    assert health(root, LATER + DAY // 2 - 1, "--json").finding_ids == ["retrieval-stale"]
    expired = health(root, LATER + DAY // 2, "--json")
    assert expired.finding_ids == ["noise-silence-expired", "retrieval-stale"]
    assert expired.report["findings"][0]["evidence"]["subjects"] == [STALE]
    assert health(root, LATER + DAY // 2, "noise", "unsilence", STALE).exit_code == 0
    assert health(root, LATER + DAY, "--json").finding_ids == ["retrieval-stale"]


def test_a_silence_of_what_healed_never_runs_out(root: Path) -> None:
    health(root, LATER)
    silence(root, LATER, "--until", "2026-08-13")
    ask_again(root, LATER + DAY)
    assert health(root, LATER + DAY, "--json").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("noise", "silence", "no::such", "--reason", "x"), "nothing open is called 'no::such'"),
        (("noise", "silence", STALE, "--reason", " "), "--reason needs a reason"),
        (("noise", "silence", STALE, "--reason", "x", "--until", "soon"), "--until is 'soon'"),
        (("noise", "silence", STALE, "--reason", "x", "--until", "2026-08-12"), "which is over"),
        (("noise", "silence", STALE, "--reason", "x", "--until", "2026-08-20T10:00:00"), "with a zone"),
        (("noise", "silence", "noise::noise-silence-expired", "--reason", "x"), "cannot be silenced"),
        (("noise", "silence", STALE), "required: --reason"),
        (("noise", "unsilence", STALE), "is not silenced"),
        (("noise",), "required: ACTION"),
    ],
)
def test_what_makes_no_sense_is_refused_and_changes_nothing(root: Path, arguments: tuple[str, ...], said: str) -> None:
    health(root, LATER)
    before = ledger_of(root).read_bytes()
    refused = health(root, LATER, *arguments)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert said in refused.stderr
    assert ledger_of(root).read_bytes() == before


def test_status_lists_what_is_open_as_text_and_as_json(root: Path) -> None:
    assert health(root, NOW, "noise", "status").stdout == "nothing is open\n"
    health(root, LATER)
    silence(root)
    assert health(root, LATER, "noise", "status").stdout == (
        f"silenced: {STALE} (finding)\n"
        "  seen 1 times, first 2026-08-12T12:00:00.000Z, last 2026-08-12T12:00:00.000Z\n"
        "  until 2026-08-26T12:00:00.000Z: on holiday\n"
    )
    (row,) = json.loads(health(root, LATER, "--json", "noise", "status").stdout)["open"]
    assert (row["key"], row["state"], row["reason"]) == (STALE, "silenced", "on holiday")


def ingest(root: Path, monkeypatch: pytest.MonkeyPatch, now: int, *lines: object) -> Run:
    data = b"".join(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n" for line in lines)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    return health(root, now, "noise", "ingest")


def test_ingest_prints_what_is_new_and_what_recovered(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alerts = [{"organ": "heart", "note": f"no answer, attempt {number}"} for number in range(3)]
    assert ingest(root, monkeypatch, NOW, *alerts).stdout == "new: heart::no answer, attempt #\n"
    assert ingest(root, monkeypatch, NOW + 1, alerts[0], {"organ": None}).stdout == "new: ?::\n"
    assert ingest(root, monkeypatch, NOW + 2, {"organ": "heart", "ok": True}).stdout == (
        "recovered: heart::no answer, attempt #\n"
    )
    assert ingest(root, monkeypatch, NOW + 3, alerts[0]).stdout == "new: heart::no answer, attempt #\n"
    assert json.loads(ledger_of(root).read_bytes())["alerts"]["heart::no answer, attempt #"]["count"] == 1
    assert health(root, NOW + 4, "--json").exit_code == 0


@pytest.mark.parametrize(
    "line", [b"{", b"[]\n", b"null\n", b'{"organ":1}\n', b'{"organ":"a","organ":"b"}\n', b"\xff\n"]
)
def test_lines_are_taken_all_together_or_not_at_all(root: Path, monkeypatch: pytest.MonkeyPatch, line: bytes) -> None:
    refused = ingest(root, monkeypatch, NOW, {"organ": "heart", "note": "no answer"}, line)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "line 2 " in refused.stderr
    assert not ledger_of(root).exists()


def test_private_text_of_an_alert_is_not_kept(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = ingest(root, monkeypatch, NOW, {"organ": "heart", "note": "a <private>s3cret</private> b"})
    assert "s3cret" not in said.stdout
    assert b"s3cret" not in ledger_of(root).read_bytes()


DAMAGE: dict[str, Any] = {
    "empty": lambda path: path.write_bytes(b""),
    "torn": lambda path: path.write_bytes(path.read_bytes()[:-20]),
    "another schema": lambda path: path.write_bytes(b'{"schema":"memory-health-noise/v2"}'),
    "a field too many": lambda path: path.write_text('{"schema":"memory-health-noise/v1","more":1}'),
    "a duplicate key": lambda path: path.write_text('{"schema":"memory-health-noise/v1","reminded":1,"reminded":2}'),
    "a list": lambda path: path.write_bytes(b"[]"),
    "a folder": lambda path: (path.unlink(), path.mkdir()),
    "a link": lambda path: (path.rename(path.parent / "elsewhere"), path.symlink_to("elsewhere")),
    "a FIFO": lambda path: (path.unlink(), os.mkfifo(path)),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_where_the_ledger_is_damaged_everything_is_told_and_the_damage_too(root: Path, kind: str) -> None:
    health(root, LATER, "--quiet")
    silence(root)
    DAMAGE[kind](ledger_of(root))
    for _ in range(2):
        told = health(root, LATER + 1, "--quiet", "--json")
        assert told.exit_code == 1
        assert told.finding_ids == ["noise-ledger-damaged", "retrieval-stale"]
        assert not any(found["silenced"] for found in told.report["findings"])
    assert silence(root).exit_code == 2
    cleared = health(root, LATER + 2, "noise", "clear")
    assert cleared.stdout.startswith(
        "cleared; the damaged ledger is kept as noise.json.corrupt-2026-08-12T12-00-00-002Z"
    )
    assert health(root, LATER + 3, "--json").finding_ids == ["retrieval-stale"]


def test_a_ledger_that_cannot_be_written_leaves_the_old_one_and_says_so(root: Path) -> None:
    """A limit on file sizes stands in for a full disk."""
    health(root, LATER)
    before = ledger_of(root).read_bytes()
    limited = (
        "import resource, signal, sys\nsys.dont_write_bytecode = True\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
    )
    limited += f"resource.setrlimit(resource.RLIMIT_FSIZE, ({len(before) - 20}, {len(before) - 20}))"
    (root / "LIFEOS/MEMORY/OBSERVABILITY/memory-health.jsonl").unlink()
    told = run_sabotaged(limited, "--root", root, "--now", str(LATER + DAY), "--json")
    assert "noise-ledger-damaged" in told.finding_ids
    assert told.exit_code == 1
    assert ledger_of(root).read_bytes() == before
    assert [path.name for path in ledger_of(root).parent.iterdir() if path.name.endswith(".tmp")] == []


def test_a_folder_that_is_no_folder_is_a_finding(root: Path) -> None:
    ledger_of(root).parent.write_bytes(b"")
    told = health(root, LATER, "--json")
    assert "noise-ledger-damaged" in told.finding_ids
    assert ledger_of(root).parent.read_bytes() == b""


def test_no_write_leaves_the_ledger_as_it_is(root: Path) -> None:
    health(root, LATER, "--no-write")
    assert not ledger_of(root).parent.exists()
    health(root, LATER)
    before = ledger_of(root).read_bytes()
    assert "retrieval-stale (retrieval), unchanged since" in health(root, LATER + 1, "--no-write").stdout
    assert ledger_of(root).read_bytes() == before


def test_a_green_memory_gets_no_ledger_and_a_folder_that_is_none_gets_nothing(root: Path, tmp_path: Path) -> None:
    health(root, NOW)
    assert not ledger_of(root).parent.exists()
    (tmp_path / "vault").mkdir()
    run("--memory-root", tmp_path / "vault")
    assert list((tmp_path / "vault").iterdir()) == []


def test_a_new_ledger_is_private_and_an_old_one_keeps_its_mode(root: Path) -> None:
    health(root, LATER)
    assert stat.S_IMODE(ledger_of(root).stat().st_mode) == 0o600
    ledger_of(root).chmod(0o640)
    health(root, LATER + 1)
    assert stat.S_IMODE(ledger_of(root).stat().st_mode) == 0o640


def test_a_textfile_that_fails_is_told_once_and_cleared_once(root: Path, tmp_path: Path) -> None:
    bad, good = ("--textfile", tmp_path / "missing" / "m.prom"), ("--textfile", tmp_path / "m.prom")
    assert "textfile-write-failed (setup), new" in health(root, NOW, "--quiet", *bad).stdout
    assert health(root, NOW + 1, "--quiet", *bad) == Run(2, "", "")
    assert health(root, NOW + 2, "--quiet") == Run(0, "", ""), "a run without a textfile can say nothing of it"
    assert "cleared: setup::textfile-write-failed" in health(root, NOW + 3, "--quiet", *good).stdout
    assert health(root, NOW + 4, "--quiet", *good) == Run(0, "", "")


def test_a_busy_ledger_is_waited_for_and_then_reported(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from cortex.store.store import open_store
    from healthcheck import notices

    health(root, LATER)
    monkeypatch.setattr(notices, "_POLLS", 1)
    with open_store(str(root / "LIFEOS" / "MEMORY")) as store, store.locks.hold("CORTEX/noise.json"):
        assert "noise-ledger-damaged" in health(root, LATER + 1, "--json").finding_ids
    assert health(root, LATER + 2, "--json").finding_ids == ["retrieval-stale"]


def test_the_reviewer_failing_is_told_though_it_was_silenced_by_convergence_never(root: Path) -> None:
    log = root / "LIFEOS/MEMORY/OBSERVABILITY/reviewer-runs.jsonl"
    write_rows(log, [reviewer_row(ok=False, parse_ok=True)])
    for number in range(8):
        health(root, NOW + number * 2 * MINUTE)
    told = health(root, NOW + DAY // 2, "--quiet")
    assert told.exit_code == 2
    assert "critical reviewer-latest-failed (reviewer), new" in told.stdout


@pytest.mark.parametrize(
    ("config", "converged"),
    [
        (b'{"noise_converge_at": 2}', True),
        (b'{"noise_converge_at": 2, "noise_window_ms": 7200000}', False),
        (b"{", False),
    ],
)
def test_how_often_a_warning_is_told_is_the_memorys_own_parameter(
    root: Path, config: bytes, *, converged: bool
) -> None:
    """Twice, an hour apart; a file that cannot be read leaves the defaults."""
    ledger_of(root).parent.mkdir()
    (ledger_of(root).parent / "config.json").write_bytes(config)
    for now in (LATER, LATER + 60 * MINUTE):
        health(root, now)
    assert json.loads(ledger_of(root).read_bytes())["findings"][STALE]["converged"] is converged
