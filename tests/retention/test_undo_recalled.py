"""`undo` gives the bytes back or names who touched them; `recalled` counts all or none, and once."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.stores import AGENT, NOW, OPERATOR, laid_out
from support.vaults import Vault, ago, files, note, plans

BODIES = st.sampled_from(["Text.\n", "no end", "", "---\nnot a header\n---\n", "记忆 \U0001f41f\r\n"])
EXTRA = st.lists(
    st.sampled_from(
        ["# a comment", "title: 'odd: quoting'", "tags: [a, b]", "text: |\n  block\n  # not a comment",
         "emoji: \U0001f41f",         "wake: 10:00", '"quoted key": 1', "recall_count: 1", "记忆: 是"]
    ),
    unique=True,
    max_size=5,
)  # fmt: skip


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(extra=EXTRA, body=BODIES, crlf=st.booleans())
def test_unmarking_gives_the_original_bytes_back(tmp_path_factory, extra, body, crlf):
    """`undo` of any applied plan gives the bytes back where nobody touched the files since."""
    vault = Vault(tmp_path_factory.mktemp("v") / "vault")
    data = note("\n".join([f"created: {ago(400)}", *extra]) + "\n", body)
    path = vault.put("L3", "x", data.replace(b"\n", b"\r\n") if crlf else data)
    before = path.read_bytes()
    plan = vault.forget()["plan"]
    assert path.read_bytes() != before
    assert vault.call("undo", plan).data["undone"] == 1
    assert path.read_bytes() == before


def marked_vault(folder):
    vault = Vault(folder / "vault")
    for name in "abc":
        vault.put("L3", name, f"created: {ago(400)}\n")
    before = files(vault.path)
    return vault, before, vault.forget()["plan"]


def test_what_somebody_touched_since_refuses_the_whole_and_is_named(tmp_path):
    vault, before, plan = marked_vault(tmp_path)
    touched = vault.level("L3") / "b.md"
    touched.write_bytes(touched.read_bytes() + b"More.\n")
    (vault.level("L3") / "c.md").unlink()
    marked = files(vault.path)
    said = vault.call("undo", plan)
    assert said.refusal == (5, "governance_refused")
    assert "b.md was changed since" in said.message
    assert "c.md is gone" in said.message
    assert "a.md" not in said.message
    assert files(vault.path) == marked
    assert vault.call("undo", plan, "--only", "L3://a").data["undone"] == 1
    assert (vault.level("L3") / "a.md").read_bytes() == before["记忆/L3-情节/a.md"]


def test_a_dry_run_shows_where_each_step_stands(tmp_path):
    vault, _, plan = marked_vault(tmp_path)
    marked = files(vault.path)
    data = vault.call("undo", plan, "--dry-run", operator=False).data
    assert [step["stands"] for step in data["steps"]] == ["after"] * 3
    assert files(vault.path) == marked


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        (("nothing",), (3, "not_found")),
        (("../../x",), (3, "not_found")),
        (("PLAN", "more"), (4, "invalid_input")),
        (("PLAN", "--only", "L3://no-such"), (3, "not_found")),
        ((), (4, "invalid_input")),
    ],
)
def test_what_names_no_plan_or_step_is_refused(tmp_path, words, refusal):
    vault, _, plan = marked_vault(tmp_path)
    assert vault.call("undo", *[plan if word == "PLAN" else word for word in words]).refusal == refusal


def test_a_plan_that_was_tampered_with_does_nothing(tmp_path):
    vault, _, plan = marked_vault(tmp_path)
    path = vault.path / f"_meta/plans/{plan}.json"
    document = json.loads(path.read_text())
    document["steps"][0]["patch"]["before"] = "eHh4"
    path.write_text(json.dumps(document))
    marked = files(vault.path)
    assert vault.call("undo", plan).refusal == (5, "governance_refused")
    assert files(vault.path)["记忆/L3-情节/a.md"] == marked["记忆/L3-情节/a.md"]
    path.write_text("{}")
    assert vault.call("undo", plan).refusal == (4, "integrity_error")


def with_notes(folder, **headers):
    memory = laid_out(folder)
    for name, header in headers.items():
        (memory.root / "KNOWLEDGE" / f"{name}.md").write_bytes(note(header) if header is not None else b"no header\n")
    return memory


def test_a_recall_is_counted_in_each_note(tmp_path):
    memory = with_notes(tmp_path, a="id: a\nlevel: L3\nrecall_count: 2  # so far\ncreated: 2026-01-01\n", b="id: b\n")
    data = memory.call("recalled", "a", "b", "a", *AGENT).data
    assert [(one["id"], one["recall_count"]) for one in data["items"]] == [("a", 3), ("b", 1)]
    text = (memory.root / "KNOWLEDGE/a.md").read_text()
    assert "recall_count: 3\n" in text
    assert "last_recalled: 2026-08-01T12:00:00.000Z\n" in text
    assert memory.call("check").exit == 0
    assert memory.rows("memory-writes.jsonl")[-1]["actor"] == "claude"


def test_the_same_call_counts_once_and_a_later_one_again(tmp_path):
    memory = with_notes(tmp_path, a="id: a\n")
    for already in (False, True):
        assert memory.call("recalled", "a", *AGENT).data["already"] is already
    assert memory._replace(now=NOW + 1).call("recalled", "a", *AGENT).data["items"][0]["recall_count"] == 2


@pytest.mark.parametrize(
    ("header", "refusal"),
    [
        ("id: b\nrecall_count: many\n", (5, "governance_refused")),
        ("id: b\nrecall_count: -1\n", (5, "governance_refused")),
        ("id: b\ntitle: A: B\n", (5, "governance_refused")),
        ("id: other\n", (3, "not_found")),
    ],
)
def test_one_that_cannot_count_refuses_all(tmp_path, header, refusal):
    memory = with_notes(tmp_path, a="id: a\n", b=header)
    before = files(memory.root)
    assert memory.call("recalled", "a", "b", *AGENT).refusal == refusal
    assert files(memory.root) == before
    assert plans(memory.root) == []


@pytest.mark.parametrize("identity", [(), AGENT[:2], AGENT[2:]])
def test_counting_is_an_agents_act(tmp_path, identity):
    memory = with_notes(tmp_path, a="id: a\n")
    assert memory.call("recalled", "a", *identity).refusal == (5, "write_refused")


def test_a_recall_can_be_taken_back_by_an_operator(tmp_path):
    memory = with_notes(tmp_path, a="id: a\n")
    before = files(memory.root)
    plan = memory.call("recalled", "a", *AGENT).data["plan"]
    assert memory.call("undo", plan, *OPERATOR).data["undone"] == 1
    assert files(memory.root) == before
