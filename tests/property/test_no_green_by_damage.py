"""No green by damage: what is deleted, corrupted, made unreadable or replaced is never read as health."""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from support.damage import CORRUPTIONS, DAMAGES, FOLDER_DAMAGES, UNREADABLE
from support.health_tree import NOW, set_time
from support.indexes import adopt
from support.memories import Places, Recipe, write
from support.nobody import as_nobody, give_to_nobody, open_folder, restore_modes, skip_where_modes_do_not_bind
from support.recipes import recipes
from support.reports import statuses
from support.running import Run, run

BADNESS: Final = {"ok": 0, "not-enabled": 0, "skipped": 0, "warn": 1, "critical": 2}
# Checks whose evidence lies below OBSERVABILITY/: its damage is damage of each of them.
BELOW_OBSERVABILITY: Final = frozenset({"reviewer", "retrieval", "proposals", "observability"})


class Target(NamedTuple):
    """Something to damage: its place in a memory, and the checks that it is evidence of."""

    place: str
    checks: frozenset[str]


LOGS: Final = {
    "reviewer log": Target("reviewer_log", frozenset({"reviewer"})),
    "retrieval log": Target("retrieval_log", frozenset({"retrieval"})),
    "proposal queue": Target("proposal_queue", frozenset({"proposals"})),
}
INDEX_FILES: Final = {
    "manifest": Target("manifest", frozenset({"index"})),
    "index": Target("index", frozenset({"index"})),
    "marker": Target("marker", frozenset({"index"})),
}
OBSERVABILITY: Final = Target("observability", BELOW_OBSERVABILITY)


@pytest.fixture(autouse=True)
def _fsync_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with open_folder() as path:
        skip_where_modes_do_not_bind(path)
        yield path


def audited(places: Places) -> Run:
    with as_nobody():
        answer = run("--root", places.root, "--now", str(NOW), "--json", "--no-write")
    assert answer.stderr == ""
    return answer


def fresh(folder: Path, recipe: Recipe) -> Places:
    """Write the recipe below `folder`, whatever an earlier example left there."""
    root = folder / "root"
    if root.exists():
        restore_modes(root)
        shutil.rmtree(root)
    root.mkdir()
    places = write(recipe, root)
    give_to_nobody(root)
    return places


def is_in_force(target: Target, recipe: Recipe) -> bool:
    """Tell whether the target's check rests on it: a marker counts for nothing beside a manifest."""
    return target.place != "marker" or recipe.index == "marker"


def is_excepted(target: Target, name: str, recipe: Recipe) -> bool:
    """Tell whether the contract excepts this: a manifest removed beside a sound marker."""
    return target.place == "manifest" and name == "deleted" and "marker" in recipe.index


def spoil(path: Path, name: str) -> bool:
    """Do the damage; tell whether it did any (an empty queue has no first bytes to flip)."""
    before = path.read_bytes() if name in CORRUPTIONS else None
    (FOLDER_DAMAGES if path.is_dir() else DAMAGES)[name](path)
    return before is None or path.read_bytes() != before


def damage_shows(folder: Path, recipe: Recipe, target: Target, name: str) -> None:
    places = fresh(folder, recipe)
    path: Path = getattr(places, target.place)
    if not path.exists():
        return
    is_to_show = is_in_force(target, recipe) and not is_excepted(target, name, recipe)
    it_shows(places, target, lambda: done(places, path, name), is_to_show=is_to_show)


def done(places: Places, path: Path, name: str) -> bool:
    """Do the damage; tell whether it did any. Whatever it put there belongs to the user who audits."""
    is_done = spoil(path, name)
    if name != UNREADABLE:
        give_to_nobody(places.root)
    return is_done


def it_shows(places: Places, target: Target, do: Callable[[], bool], *, is_to_show: bool = True) -> None:
    """Hold the verdict after a damage against the one before it; `do` tells whether it did any."""
    before = statuses(audited(places).report)
    if not do():
        return
    answer = audited(places)
    after = statuses(answer.report)
    for check in target.checks:
        if before[check] == "ok" and is_to_show:
            assert after[check] in {"warn", "critical"}, check
    for check in (
        before.keys() - target.checks - (BELOW_OBSERVABILITY | {"history"} if target is OBSERVABILITY else set())
    ):
        assert BADNESS[after[check]] >= BADNESS[before[check]], check
    assert answer.exit_code == max(map(BADNESS.__getitem__, after.values()))


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("target", LOGS | INDEX_FILES)
def test_every_damage_of_every_file_shows_in_a_memory_that_was_green(folder: Path, target: str, damage: str) -> None:
    recipe = Recipe(index="marker" if target == "marker" else "manifest", notes=2)
    places = fresh(folder, recipe)
    assert audited(places).exit_code == 0
    damage_shows(folder, recipe, (LOGS | INDEX_FILES)[target], damage)


@pytest.mark.parametrize("damage", FOLDER_DAMAGES)
def test_every_damage_of_the_evidence_folder_shows_in_a_memory_that_was_green(folder: Path, damage: str) -> None:
    damage_shows(folder, Recipe(), OBSERVABILITY, damage)


def any_damage() -> st.SearchStrategy[tuple[Target, str]]:
    files = st.tuples(st.sampled_from([*LOGS.values(), *INDEX_FILES.values()]), st.sampled_from(sorted(DAMAGES)))
    return st.one_of(files, st.tuples(st.just(OBSERVABILITY), st.sampled_from(sorted(FOLDER_DAMAGES))))


def no_damage_is_read_as_health(folder: Path, recipe: Recipe, damage: tuple[Target, str]) -> None:
    """Deleting, corrupting, making unreadable, or replacing evidence makes its check, if it was ok, warn or critical.

    And it never makes another check better. The logs of reviewer, retrieval and proposals are young and small here,
    so that a finding about size or age is never theirs alone, to go with them.
    """
    damage_shows(folder, recipe, *damage)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(recipe=recipes(), damage=any_damage())
def test_no_damage_is_read_as_health(folder: Path, recipe: Recipe, damage: tuple[Target, str]) -> None:
    no_damage_is_read_as_health(folder, recipe, damage)


@pytest.mark.proof
@settings(max_examples=3_000, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(recipe=recipes(), damage=any_damage())
def test_no_damage_is_read_as_health_in_thousands_of_memories(
    folder: Path, recipe: Recipe, damage: tuple[Target, str]
) -> None:
    no_damage_is_read_as_health(folder, recipe, damage)


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(junk=st.binary(max_size=200))
@pytest.mark.parametrize("target", LOGS | INDEX_FILES)
def test_arbitrary_bytes_instead_of_evidence_are_never_health(folder: Path, target: str, junk: bytes) -> None:
    places = fresh(folder, Recipe(index="marker" if target == "marker" else "manifest"))
    file = (LOGS | INDEX_FILES)[target]
    getattr(places, file.place).write_bytes(b"\x01" + junk)
    after = statuses(audited(places).report)
    assert all(after[check] in {"warn", "critical"} for check in file.checks)


# An index of cortex: its manifest, the table that this names, and the blocks that the table tells of.

PARTS: Final = {"manifest": "index-manifest.json", "table": "lexical-1.json", "blocks": "lexical-1.blocks"}
INDEX: Final = Target("manifest", frozenset({"index"}))


def fresh_with_index(folder: Path, recipe: Recipe) -> Places:
    """Write the recipe with an index that is built and adopted over it, and leaves no marker."""
    places = fresh(folder, recipe._replace(index="marker"))
    times = {path: path.stat().st_mtime_ns // 1_000_000 for path in places.observability.rglob("*")}
    adopt(places.memory_root, now=NOW)
    for path in places.observability.rglob("*"):
        set_time(path, times.get(path, NOW))
    give_to_nobody(places.root)
    return places


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("part", PARTS)
def test_every_damage_of_every_part_of_an_index_of_cortex_shows(folder: Path, part: str, damage: str) -> None:
    places = fresh_with_index(folder, Recipe(notes=2))
    assert audited(places).exit_code == 0
    path = places.manifest.with_name(PARTS[part])
    it_shows(places, INDEX, lambda: done(places, path, damage))


@pytest.mark.parametrize("damage", FOLDER_DAMAGES)
def test_every_damage_of_the_folder_of_an_index_of_cortex_shows(folder: Path, damage: str) -> None:
    places = fresh_with_index(folder, Recipe(notes=2))
    assert audited(places).exit_code == 0
    it_shows(places, INDEX, lambda: done(places, places.manifest.parent, damage))


class Edit(NamedTuple):
    """Some bytes in the place of others: where (in parts of the whole), how many go, what comes."""

    at: float
    cut: int
    put: bytes

    def made(self, data: bytes) -> bytes:
        """Return what becomes of some bytes."""
        start = int(self.at * len(data))
        return data[:start] + self.put + data[start + self.cut :]


def edits() -> st.SearchStrategy[Edit]:
    """Bytes that change, come or go, anywhere; a file cut short; one that goes on."""
    cut = st.one_of(st.integers(0, 40), st.just(1 << 30))
    return st.builds(Edit, st.floats(0, 1), cut, st.binary(max_size=40))


def says_less(before: bytes, after: bytes) -> bool:
    """Tell whether a manifest that was edited is damaged: one that differs in spaces or in its hour alone is not."""
    try:
        values = [json.loads(data) for data in (before, after)]
        return any(values[0][field] != values[1][field] for field in ("canonical_sha256", "index_path", "index_sha256"))
    except (ValueError, TypeError, LookupError):
        return True


def no_edit_of_an_index_is_read_as_health(folder: Path, recipe: Recipe, part: str, edit: Edit) -> None:
    """Whatever bytes of an index of cortex change, come or go, its check was not ok or is not, and none gets better."""
    places = fresh_with_index(folder, recipe)
    path = places.manifest.with_name(PARTS[part])
    before = path.read_bytes()
    after = edit.made(before)
    assume(after != before and (part != "manifest" or says_less(before, after)))

    def do() -> bool:
        path.write_bytes(after)
        return True

    it_shows(places, INDEX, do)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(recipe=recipes(), part=st.sampled_from(sorted(PARTS)), edit=edits())
def test_no_edit_of_an_index_is_read_as_health(folder: Path, recipe: Recipe, part: str, edit: Edit) -> None:
    no_edit_of_an_index_is_read_as_health(folder, recipe, part, edit)


@pytest.mark.proof
@settings(max_examples=800, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(recipe=recipes(), part=st.sampled_from(sorted(PARTS)), edit=edits())
def test_no_edit_of_an_index_is_read_as_health_in_hundreds_of_memories(
    folder: Path, recipe: Recipe, part: str, edit: Edit
) -> None:
    no_edit_of_an_index_is_read_as_health(folder, recipe, part, edit)


def test_the_index_over_every_recipe_is_ok_before_it_is_damaged(folder: Path) -> None:
    """Else the property above would prove nothing."""
    for notes in (0, 1, 2):
        report = audited(fresh_with_index(folder, Recipe(notes=notes))).report
        assert statuses(report)["index"] == "ok"
        assert report["evidence"]["index"]["state"] == "adopted"
