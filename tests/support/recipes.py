"""Hypothesis strategies for memories: every kind of evidence in every condition, independently of the others."""

from hypothesis import strategies as st
from support.health_tree import DAY, HOUR, MINUTE
from support.memories import INDEX_STATES, PROPOSAL_STATUSES, RETRIEVAL_ROWS, REVIEWER_ROWS, Log, Recipe, RunFolder

AGES = (-HOUR, -1, 0, 1, MINUTE, 10 * MINUTE, 10 * MINUTE + 1, HOUR, 30 * DAY, 30 * DAY + 1)
LOG_NAMES = ("a.log", ".hidden.jsonl", "sub/b.jsonl", "sub/deeper/c.log", "grün.log")


def rows(names: tuple[str, ...]) -> st.SearchStrategy[tuple[str, ...] | None]:
    """A log with up to three of these rows, most often whole and current, or no log at all."""
    some = st.lists(st.sampled_from(names), max_size=3).map(tuple)
    return st.one_of(st.just(("ok",)), some, st.none())


def logs() -> st.SearchStrategy[tuple[Log, ...]]:
    """Other logs, one a name."""
    one = st.builds(Log, st.sampled_from(LOG_NAMES), st.integers(0, 99), st.sampled_from(AGES))
    return st.lists(one, max_size=3, unique_by=lambda log: log.path).map(tuple)


def recipes() -> st.SearchStrategy[Recipe]:
    """Memories in every condition; simple and green ones first."""
    folders = st.lists(st.builds(RunFolder, st.sampled_from(AGES), st.booleans()), max_size=2)
    statuses = st.lists(st.sampled_from(PROPOSAL_STATUSES), max_size=12).map(tuple)
    return st.builds(
        Recipe,
        reviewer=rows(tuple(REVIEWER_ROWS)),
        run_folders=st.one_of(st.just(()), folders.map(tuple)),
        retrieval=rows(tuple(RETRIEVAL_ROWS)),
        proposals=st.one_of(st.just(("accepted",)), statuses, st.none()),
        logs=logs(),
        index=st.sampled_from(("marker", *INDEX_STATES)),
        notes=st.integers(0, 2),
    )
