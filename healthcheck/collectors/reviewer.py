"""Does something still review sessions into memory? The reviewer's log, and the folders of its runs.

A folder named after an instant is a run that began then. Other entries are passed over and counted; a link of such a
name is neither, and proves nothing.
"""

import os
from collections.abc import Iterable
from typing import Final, NamedTuple

from cortex.layout import OBSERVABILITY, REVIEWER_LOG, REVIEWER_RUNS
from cortex.nofollow import NotRegularError
from cortex.places import Layout
from healthcheck.collectors.folder import describe, open_memory_folder, read_evidence_log, shown
from healthcheck.collectors.rows import Log, Row
from healthcheck.evidence import (
    Collected,
    Malformed,
    Missing,
    Observed,
    ReviewerEvidence,
    ReviewerRow,
    RunFolders,
    Unreadable,
)
from policies.limits import REVIEWER_ERROR_CHARACTERS
from policies.shapes import reviewer_error, reviewer_status, reviewer_time, run_time

PARSE_ERROR: Final = "parse-error.txt"


class _Run(NamedTuple):
    began_at: int
    has_parse_error: bool


class _Runs(NamedTuple):
    runs: tuple[_Run, ...] = ()
    ignored: int = 0


def collect_reviewer(layout: Layout) -> Collected[ReviewerEvidence]:
    """Read the reviewer's log and look at its run folders. Missing where there is neither log nor run."""
    log = read_evidence_log(layout, REVIEWER_LOG)
    if isinstance(log, Unreadable):
        return log
    folders = _look_at_runs(layout)
    if isinstance(folders, Unreadable):
        return folders
    if isinstance(log, Missing):
        if not folders.runs:
            return log
        log = Log(0, Malformed(), None)
    last = _judged(log.last)
    after = last.ended_at if last else None
    return Observed(
        ReviewerEvidence(
            log=shown(layout, layout.observability / REVIEWER_LOG),
            runs=shown(layout, layout.observability / REVIEWER_RUNS),
            rows=log.rows,
            malformed=log.malformed,
            last=last,
            all_runs=_summary(folders.runs),
            newer_runs=_summary(run for run in folders.runs if after is None or run.began_at > after),
            ignored_folders=folders.ignored,
        )
    )


def _judged(last: Row | None) -> ReviewerRow | None:
    if last is None:
        return None
    return ReviewerRow(
        last.line, reviewer_status(last.value), reviewer_time(last.value), _public(reviewer_error(last.value))
    )


def _public(error: str | None) -> str | None:
    """Return what a report may repeat of an error; None where nothing is left of it."""
    if not error:
        return None
    from cortex.privacy import strip_private

    return strip_private(error)[:REVIEWER_ERROR_CHARACTERS] or None


def _look_at_runs(layout: Layout) -> _Runs | Unreadable:
    folder = open_memory_folder(layout, OBSERVABILITY, REVIEWER_RUNS)
    if isinstance(folder, Missing):
        return _Runs()
    if isinstance(folder, Unreadable):
        return folder
    path = layout.observability / REVIEWER_RUNS
    found = []
    try:
        for entry in _entries(folder):
            path = layout.observability / REVIEWER_RUNS / entry.name
            found.append(_run(entry, folder))
    except OSError as error:
        return Unreadable(shown(layout, path), describe(error))
    finally:
        os.close(folder)
    runs = tuple(run for run in found if run)
    return _Runs(runs, ignored=len(found) - len(runs))


def _entries(folder: int) -> list[os.DirEntry[str]]:
    """Return the entries by name, so that of several faults the same one is told every time."""
    with os.scandir(folder) as entries:
        return sorted(entries, key=lambda entry: entry.name)


def _run(entry: os.DirEntry[str], folder: int) -> _Run | None:
    began_at = run_time(entry.name)
    if began_at is None:
        return None
    if entry.is_symlink():
        raise NotRegularError("is a link")
    return _Run(began_at, _has_parse_error(entry.name, folder)) if entry.is_dir(follow_symlinks=False) else None


def _has_parse_error(name: str, folder: int) -> bool:
    try:
        os.stat(f"{name}/{PARSE_ERROR}", dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _summary(runs: Iterable[_Run]) -> RunFolders:
    group = tuple(runs)
    if not group:
        return RunFolders()
    return RunFolders(
        count=len(group),
        oldest_at=min(run.began_at for run in group),
        newest_at=max(run.began_at for run in group),
        with_parse_error=sum(run.has_parse_error for run in group),
    )
