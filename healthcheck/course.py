"""Earlier verdicts, as the history tells them: what a run was, and when verdicts changed. Pure."""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final, NamedTuple

from healthcheck.checks import Severity

# The most runs that are read and shown.
PAST_RUNS: Final = 5000


class PastRun(NamedTuple):
    """One run: when, in milliseconds since 1970, its verdict, and its findings as `check::id`."""

    at: int
    overall: Severity
    findings: tuple[str, ...] = ()


class Course(NamedTuple):
    """The last runs, oldest first.

    `older` says that there are more before them, `unreadable` how many lines among them are no runs, and `problem` why
    nothing could be read, where nothing could.
    """

    runs: tuple[PastRun, ...] = ()
    older: bool = False
    unreadable: int = 0
    problem: str | None = None


class Change(NamedTuple):
    """A run that found something else than the run before it, and by what the two differ."""

    run: PastRun
    new: tuple[str, ...]
    cleared: tuple[str, ...]


def change(before: PastRun, after: PastRun) -> Change | None:
    """Return what changed from a run to a later one; None where both found the same."""
    old, new = set(before.findings), set(after.findings)
    if old == new and before.overall == after.overall:
        return None
    return Change(after, tuple(sorted(new - old)), tuple(sorted(old - new)))


def changes(runs: Iterable[PastRun]) -> Iterator[Change]:
    """Yield every run that differs from the run before it, oldest first."""
    for before, after in pairwise(runs):
        found = change(before, after)
        if found is not None:
            yield found
