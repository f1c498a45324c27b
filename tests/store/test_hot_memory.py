"""Hot memory: reading is lenient, writing has one shape, and no rewrite drops too much."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support.stores import RULE, bare, laid_out
from support.trees import fingerprint

from cortex.store.hot_memory import Turnover, parse, render, shrinks_too_much, turnover, updated
from policies.limits import SNAPSHOTS_KEPT

BEGIN, END = "<!-- BEGIN ENTRIES -->", "<!-- END ENTRIES -->"
PLAIN = (
    f"---\nlast_updated: x\nlast_updated_by: y\n---\n\nSaid by a person.\n\n{BEGIN}\nNAME: Ada\nRULE: brief\n{END}\n"
)


def entries(count):
    return [f"RULE: number {number}" for number in range(count)]


def set_to(names, actor="principal"):
    return {"type": "memory", "actor": actor, "op": "set", "entries": names}


@pytest.mark.parametrize(
    ("text", "frontmatter", "body", "found"),
    [
        ("", [], [], []),
        (PLAIN, ["last_updated: x", "last_updated_by: y"], ["Said by a person."], ["NAME: Ada", "RULE: brief"]),
        (PLAIN.replace("\n", "\r\n"), ["last_updated: x", "last_updated_by: y"], ["Said by a person."],
         ["NAME: Ada", "RULE: brief"]),
        ("\ufeff" + PLAIN, ["last_updated: x", "last_updated_by: y"], ["Said by a person."],
         ["NAME: Ada", "RULE: brief"]),
        ("RULE: a\nText\nROLE: b\nRULE: a", [], ["Text"], ["RULE: a", "ROLE: b"]),
        (f"{END}\nRULE: a\n{BEGIN}\n{BEGIN}\nx", [], ["x"], ["RULE: a"]),
        (f"---\nkey: 1\n{BEGIN}\nRULE: a\n{END}\n---\nx", [], ["---", "key: 1", "---", "x"], ["RULE: a"]),
        ("---\nkey: 1\nRULE: a\n", [], ["---", "key: 1"], ["RULE: a"]),
        ("---\nkey: 1\nRULE: in it\n---\nx\n---\ny", ["key: 1", "RULE: in it"], ["x", "---", "y"], []),
        ("---\n---\nx", [], ["x"], []),
        (f"RULE: {'x' * 250}\nRULE: {'x' * 251}", [], ["RULE: " + "x" * 251], ["RULE: " + "x" * 250]),
        ("RULE:x\nrule: x\n RULE: x\nRULE: \nRULE: ok", [], ["RULE:x", "rule: x", " RULE: x", "RULE: "], ["RULE: ok"]),
        (f"\n\nx\n\ny {BEGIN}\n \n", [], ["x", "", f"y {BEGIN}"], []),
    ],
)  # fmt: skip
def test_every_line_of_an_entry_s_shape_counts_and_all_else_is_kept(text, frontmatter, body, found):
    memory = parse(text.encode())
    assert (list(memory.frontmatter), list(memory.body), list(memory.entries)) == (frontmatter, body, found)


_LINES = st.sampled_from(
    [
        BEGIN,
        END,
        "---",
        "RULE: a",
        "NAME: b",
        "text",
        "",
        " ",
        "RULE: a\r",
        "---\r",
        "\ufeff",
        "key: 1",
        "RULE: ",
        "é\r",
    ]
)


@given(st.lists(_LINES).map("\n".join).map(str.encode) | st.binary(max_size=60))
@example(b"---\n" + BEGIN.encode() + b"\n---")
@example(b"\xff\nRULE: \xff")
def test_one_write_heals_any_damage_and_a_second_changes_nothing(data):
    """Writing has one shape; so one write heals any damage and a second changes nothing."""
    memory = parse(data)
    once = updated(memory, memory.entries, "t", "a")
    again = parse(render(once))
    assert again == once
    assert (again.body, again.entries) == (memory.body, memory.entries)
    assert render(updated(again, again.entries, "t", "a")) == render(once)


@pytest.mark.parametrize(
    ("before", "dropped", "added", "refused"),
    [
        (9, 9, 0, False),
        (10, 1, 0, False),
        (10, 2, 0, True),  # erosion
        (10, 2, 1, False),
        (10, 3, 1, True),
        (10, 10, 9, False),
        (10, 10, 3, True),
        (10, 10, 2, True),  # fewer than three are left
        (10, 8, 0, True),
        (10, 6, 0, True),  # more than half, none added
        (48, 48, 47, False),
        (48, 2, 0, True),
        (48, 1, 0, False),
    ],
)
def test_from_ten_entries_up_a_rewrite_that_drops_too_much_is_refused(before, dropped, added, refused):
    change = Turnover(tuple(entries(dropped)), tuple(f"ROLE: {number}" for number in range(added)))
    assert bool(shrinks_too_much(before, change)) == refused


def test_turnover_names_what_goes_and_what_comes():
    assert turnover(("a", "b"), ("b", "c")) == Turnover(("a",), ("c",))


def test_an_entry_is_appended_once_and_the_audit_counts_it(tmp_path):
    memory = laid_out(tmp_path)
    assert memory.remember({**RULE, "provenance": "deduced", "confidence": 0}).data["outcome"] == "appended"
    assert memory.remember(RULE).data["outcome"] == "unchanged"
    text = (tmp_path / "USER/PRINCIPAL/PRINCIPAL_MEMORY.md").read_text()
    assert text.count("RULE: answer first") == 1
    assert "last_updated: 2026-08-01T12:00:00.000Z\nlast_updated_by: claude\n" in text
    row = memory.rows("memory-writes.jsonl")[-1]
    assert (row["state"], row["entries_before"], row["entries_after"]) == ("done", 0, 1)
    assert (row["additions"], row["evictions"]) == (["RULE: answer first"], [])
    assert (row["provenance"], row["confidence"]) == ("deduced", 0)


def test_a_damaged_file_is_healed_by_an_entry_that_it_holds_already(tmp_path):
    memory = laid_out(tmp_path)
    path = tmp_path / "USER/PRINCIPAL/PRINCIPAL_MEMORY.md"
    path.write_text(f"{END}\nmine\nRULE: answer first\n{BEGIN}\n")
    assert memory.remember(RULE).data["outcome"] == "appended"
    lines = path.read_text().splitlines()
    assert lines[-3:] == [BEGIN, "RULE: answer first", END]
    assert "mine" in lines


@pytest.mark.parametrize(("names", "refused"), [(entries(48), False), (entries(49), True)])
def test_more_than_48_entries_are_refused_with_the_list(tmp_path, names, refused):
    memory = laid_out(tmp_path)
    said = memory.remember(set_to(names))
    assert (said.exit != 0) == refused
    if refused:
        assert said.refusal == (5, "governance_refused")
        assert "RULE: number 48" in said.message
    else:
        assert memory.remember({**RULE, "content": "RULE: one more"}).refusal == (5, "governance_refused")


def test_the_guard_judges_what_is_on_the_disk_and_names_what_would_go(tmp_path):
    memory = laid_out(tmp_path)
    path = tmp_path / "USER/PRINCIPAL/PRINCIPAL_MEMORY.md"
    path.write_text("\n".join(entries(12)))
    memory.call("status")
    before = fingerprint(tmp_path / "USER")
    said = memory.remember(set_to(entries(10)))
    assert said.refusal == (5, "governance_refused")
    assert "RULE: number 10" in said.message
    assert "RULE: number 11" in said.message
    assert "RULE: number 9" not in said.message
    assert fingerprint(tmp_path / "USER") == before
    assert memory.remember(set_to(entries(11))).exit == 0


def test_private_text_on_the_disk_stays_there_and_shows_nowhere(tmp_path):
    memory = laid_out(tmp_path)
    path = tmp_path / "USER/PRINCIPAL/PRINCIPAL_MEMORY.md"
    path.write_text("\n".join([*entries(10), "RULE: a<private>s3cret</private>", "RULE: b<private>s3cret</private>"]))
    assert "s3cret" not in memory.remember(set_to(entries(10))).message
    assert memory.remember(set_to([*entries(10), "RULE: c"])).exit == 0
    assert "s3cret" not in (memory.root / "OBSERVABILITY/memory-writes.jsonl").read_text()


def test_the_file_before_each_write_is_kept_thirty_times(tmp_path):
    memory = laid_out(tmp_path)
    for number in range(SNAPSHOTS_KEPT + 3):
        memory._replace(now=memory.now + number).remember({**RULE, "content": f"RULE: {number}"})
    kept = sorted((memory.root / "OBSERVABILITY/memory-snapshots").iterdir())
    assert len(kept) == SNAPSHOTS_KEPT
    assert [f"RULE: {number}\n" in kept[-1].read_text() for number in (31, 32)] == [True, False]
    assert "RULE: 2\n" in kept[0].read_text()


@pytest.mark.parametrize("actor", ["principal", "assistant"])
def test_each_actor_has_a_file_and_a_bare_root_gets_its_user_folder(tmp_path, actor):
    memory = bare(tmp_path / "vault")
    path = memory.remember(set_to(["NAME: Ada"], actor)).data["path"]
    assert (memory.root / path).read_text().count("NAME: Ada") == 1
