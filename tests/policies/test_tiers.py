"""Where items may go: an allow-list, path by path."""

import pytest

from policies.tiers import FOLDERS, HOT_FILES, TARGETS, TIER_OF_TYPE, kind_of, target_of, tier_of

OUTSIDE = frozenset({"OBSERVABILITY", "INDEX", "CORTEX", "BENCHMARKS", "USER", "archive", "归档"})


@pytest.mark.parametrize(
    ("path", "corpus", "tier"),
    [
        ("USER/PRINCIPAL/PRINCIPAL_MEMORY.md", "KNOWLEDGE", "A"),
        ("USER/DIGITAL_ASSISTANT/DA_MEMORY.md", "", "A"),
        ("KNOWLEDGE/Ideas/x.md", "KNOWLEDGE", "B"),
        ("KNOWLEDGE/a/b/c.jsonl", "KNOWLEDGE", "B"),
        ("MEMORY/KNOWLEDGE/x.md", "MEMORY/KNOWLEDGE", "B"),
        ("Ideas/x.md", "", "B"),
        ("IDEAS/x.md", "KNOWLEDGE", "B"),
        ("USER/PROJECTS.md", "KNOWLEDGE", "B"),
        ("USER/CONTACTS.md", "KNOWLEDGE", "B"),
        ("USER/PRINCIPAL/PRINCIPAL_IDENTITY.md", "KNOWLEDGE", "C"),
        ("USER/DIGITAL_ASSISTANT/DA_IDENTITY.md", "KNOWLEDGE", "C"),
        ("USER/PRINCIPAL/WRITINGSTYLE.md", "KNOWLEDGE", "C"),
        ("USER/DEFINITIONS.md", "KNOWLEDGE", "C"),
        ("USER/CANONICAL_CONTENT.md", "KNOWLEDGE", "C"),
        ("USER/PRINCIPAL/RESUME.md", "KNOWLEDGE", "C"),
        ("USER/CONFIG/OPERATIONAL_RULES.md", "KNOWLEDGE", "C"),
        ("USER/OTHER.md", "KNOWLEDGE", "D"),
        ("USER/PRINCIPAL/principal_memory.md", "KNOWLEDGE", "D"),
        ("USER", "KNOWLEDGE", "D"),
        ("KNOWLEDGE", "KNOWLEDGE", "D"),
        ("KNOWLEDGE2/x.md", "KNOWLEDGE", "D"),
        ("Ideas/x.md", "KNOWLEDGE", "D"),
        ("KNOWLEDGE/x.md", "MEMORY/KNOWLEDGE", "D"),
        ("IDEAS", "KNOWLEDGE", "D"),
        ("OBSERVABILITY/memory-writes.jsonl", "", "D"),
        ("CORTEX/state.json", "", "D"),
        ("archive/x.md", "", "D"),
        ("归档/x.md", "", "D"),
        ("/KNOWLEDGE/x.md", "KNOWLEDGE", "D"),
        ("KNOWLEDGE/../USER/DEFINITIONS.md", "KNOWLEDGE", "D"),
        ("USER/../USER/DEFINITIONS.md", "KNOWLEDGE", "D"),
        ("./USER/DEFINITIONS.md", "KNOWLEDGE", "D"),
        ("USER//DEFINITIONS.md", "KNOWLEDGE", "D"),
        ("KNOWLEDGE/x\0.md", "KNOWLEDGE", "D"),
        ("", "", "D"),
    ],
)
def test_a_path_has_the_tier_that_the_table_gives_it_and_else_d(path, corpus, tier):
    assert tier_of(path, corpus, OUTSIDE) == tier


def test_every_place_that_an_item_leads_to_has_the_tier_of_its_type():
    assert {tier_of(path, "KNOWLEDGE", OUTSIDE) for path in HOT_FILES.values()} == {TIER_OF_TYPE["memory"]}
    notes = [f"KNOWLEDGE/{folder}/x.md" for folder in ("Ideas", *FOLDERS.values())]
    assert {tier_of(path, "KNOWLEDGE", OUTSIDE) for path in notes} == {TIER_OF_TYPE["idea"], TIER_OF_TYPE["knowledge"]}
    by_kind = {kind: {tier_of(path, "KNOWLEDGE", OUTSIDE) for path in paths} for kind, paths in TARGETS.items()}
    assert by_kind.pop("projects") == by_kind.pop("contacts") == {"B"}
    assert all(tiers == {TIER_OF_TYPE["proposal"]} for tiers in by_kind.values())


@pytest.mark.parametrize(
    ("kind", "sent", "target"),
    [
        ("style", "/etc/passwd", "USER/PRINCIPAL/WRITINGSTYLE.md"),
        ("projects", "USER/CONTACTS.md", "USER/PROJECTS.md"),
        ("identity", "USER/DIGITAL_ASSISTANT/DA_IDENTITY.md", "USER/DIGITAL_ASSISTANT/DA_IDENTITY.md"),
        ("identity", "USER/PRINCIPAL/PRINCIPAL_IDENTITY.md", "USER/PRINCIPAL/PRINCIPAL_IDENTITY.md"),
        ("identity", "USER/DEFINITIONS.md", None),
    ],
)
def test_a_kind_with_one_file_decides_the_target_and_identity_must_name_one_of_its_two(kind, sent, target):
    assert target_of(kind, sent) == target


@pytest.mark.parametrize(("target", "kind"), [("USER/DEFINITIONS.md", "definition"), ("USER/X.md", None), ("", None)])
def test_a_target_tells_its_kind(target, kind):
    assert kind_of(target) == kind


def test_every_target_tells_the_kind_that_it_belongs_to():
    assert all(kind_of(path) == kind for kind, paths in TARGETS.items() for path in paths)
