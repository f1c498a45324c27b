"""Proposals: nothing is accepted that was not seen, nothing is applied twice, and nothing by itself."""

import json
import subprocess

import pytest
from support.stores import AGENT, OPERATOR, PROPOSAL, bare, laid_out
from support.trees import fingerprint

from policies.tiers import TARGETS

QUEUE = "pending-proposals.jsonl"


def proposed(memory, **changes):
    return memory.propose({**PROPOSAL, **changes}).data["id"]


def test_a_proposal_is_a_row_in_the_queue_and_changes_nothing_else(tmp_path):
    memory = laid_out(tmp_path)
    before = fingerprint(tmp_path / "USER")
    data = memory.propose({**PROPOSAL, "observed_across_sessions": 2, "source_session": "s"}).data
    assert memory.rows(QUEUE) == [
        {
            "id": data["id"], "ts": "2026-08-01T12:00:00.000Z", "status": "pending",
            "target_file": "USER/DEFINITIONS.md", "target_kind": "definition", "edit": PROPOSAL["edit"],
            "confidence": 0.5, "rationale": PROPOSAL["rationale"], "observed_across_sessions": 2,
            "source_session": "s",
        }
    ]  # fmt: skip
    assert fingerprint(tmp_path / "USER") == before
    assert memory.propose(PROPOSAL).data["id"] != data["id"]


@pytest.mark.parametrize(
    ("kind", "sent", "target"),
    [
        *((None, path, path) for paths in TARGETS.values() for path in paths),
        (None, "{home}/USER/DEFINITIONS.md", "USER/DEFINITIONS.md"),
        *((kind, "anything/../at all", paths[0]) for kind, paths in TARGETS.items() if len(paths) == 1),
        ("identity", "{home}/USER/DIGITAL_ASSISTANT/DA_IDENTITY.md", "USER/DIGITAL_ASSISTANT/DA_IDENTITY.md"),
    ],
)
def test_the_target_is_the_kind_s_file_or_the_one_that_was_sent(tmp_path, kind, sent, target):
    memory = laid_out(tmp_path)
    item = {**PROPOSAL, "target_file": sent.format(home=tmp_path), **({"target_kind": kind} if kind else {})}
    assert memory.propose(item).data["target_file"] == target


@pytest.mark.parametrize(
    "changes",
    [
        {"target_file": "DEFINITIONS.md"},
        {"target_file": "./USER/DEFINITIONS.md"},
        {"target_file": "USER/../USER/DEFINITIONS.md"},
        {"target_file": "../USER/DEFINITIONS.md"},
        {"target_file": "~/USER/DEFINITIONS.md"},
        {"target_file": "/etc/passwd"},
        {"target_file": "USER/PRINCIPAL/PRINCIPAL_MEMORY.md"},
        {"target_file": "KNOWLEDGE/Ideas/x.md"},
        {"target_file": "USER/SOMETHING.md"},
        {"target_file": "USER/DEFINITIONS.md", "target_kind": "identity"},
    ],
)
def test_what_nothing_may_be_proposed_for_is_refused(tmp_path, changes):
    memory = laid_out(tmp_path)
    before = fingerprint(tmp_path)
    assert memory.propose({**PROPOSAL, **changes}).refusal == (5, "governance_refused")
    assert fingerprint(tmp_path) == before


def test_a_torn_row_gets_a_line_of_its_own(tmp_path):
    memory = laid_out(tmp_path)
    queue = memory.root / "OBSERVABILITY" / QUEUE
    queue.write_bytes(b'{"id":"x","st')
    proposed(memory)
    torn, row, end = queue.read_bytes().split(b"\n")
    assert (torn, end) == (b'{"id":"x","st', b"")
    assert json.loads(row)["status"] == "pending"


def test_the_list_shows_what_is_there_by_status(tmp_path):
    memory = laid_out(tmp_path)
    first, second = proposed(memory), proposed(memory, edit="b")
    memory.decide(second, "reject")
    assert [row["id"] for row in memory.call("proposals", "list").data["items"]] == [first, second]
    assert [row["id"] for row in memory.call("proposals", "list", "--status", "rejected").data["items"]] == [second]
    assert memory.call("proposals", "list", "--status", "open").refusal == (4, "invalid_input")
    assert memory.call("proposals", "show", "nobody").refusal == (3, "not_found")
    assert memory.call("proposals", "show", first, *AGENT[:2]).exit == 0


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, "{edit}\n"),
        ("", "{edit}\n"),
        ("a\n", "a\n\n{edit}\n"),
        ("a", "a\n\n{edit}\n"),
        ("\ufeffa\r\n", "\ufeffa\r\n\n{edit}\n"),
    ],
)
def test_accepting_appends_the_edit_once_and_the_diff_said_so(tmp_path, before, after):
    memory = laid_out(tmp_path)
    target = tmp_path / "USER/DEFINITIONS.md"
    if before is not None:
        target.write_bytes(before.encode())
    identity = proposed(memory)
    diff = memory.call("proposals", "show", identity).data["diff"]
    assert memory.decide(identity, "accept").data["applied_to"] == "USER/DEFINITIONS.md"
    assert target.read_bytes().decode() == after.format(edit=PROPOSAL["edit"])
    assert memory.rows(QUEUE)[0]["status"] == "accepted"
    again = memory.call("proposals", "decide", identity, "accept", "--digest", "0" * 64, *OPERATOR)
    assert again.refusal == (5, "governance_refused")
    patched = tmp_path / "patched"
    patched.write_bytes((before or "").encode())
    subprocess.run(["patch", "-s", str(patched)], input=diff.encode(), check=True)
    assert patched.read_bytes() == target.read_bytes()


def test_nothing_is_accepted_that_was_not_seen(tmp_path):
    """A proposal is accepted only with the digest of the diff as it would be applied now."""
    memory = laid_out(tmp_path)
    target = tmp_path / "USER/DEFINITIONS.md"
    target.write_text("first\n" + "line\n" * 50)
    identity = proposed(memory)
    digest = memory.call("proposals", "show", identity).data["digest"]
    target.write_text("First\n" + "line\n" * 50)
    before = fingerprint(tmp_path / "USER")
    for verdict in ("accept", "reject"):
        said = memory.call("proposals", "decide", identity, verdict, "--digest", digest, *OPERATOR)
        assert said.refusal == (5, "governance_refused")
    assert fingerprint(tmp_path / "USER") == before
    assert memory.rows(QUEUE)[0]["status"] == "pending"
    assert memory.decide(identity, "accept").exit == 0


def test_an_edited_proposal_can_be_seen_and_accepted_in_its_new_words(tmp_path):
    memory = laid_out(tmp_path)
    identity = proposed(memory)
    assert (
        memory.decide(identity, "edit", "--edit", "Slack: <private>no</private>when it stands.").data["status"]
        == "edited"
    )
    assert memory.rows(QUEUE)[0]["edit"] == "Slack: when it stands."
    assert memory.decide(identity, "accept").data["status"] == "accepted"
    assert (tmp_path / "USER/DEFINITIONS.md").read_text() == "Slack: when it stands.\n"


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        (["accept", "--edit", "x"], (4, "invalid_input")),
        (["edit"], (4, "invalid_input")),
        (["edit", "--edit", "a\x07"], (4, "invalid_input")),
        (["edit", "--edit", "<private>x</private>"], (4, "invalid_input")),
        (["approve"], (4, "invalid_input")),
    ],
)
def test_a_decision_that_makes_no_sense_is_refused(tmp_path, words, refusal):
    memory = laid_out(tmp_path)
    identity = proposed(memory)
    digest = memory.call("proposals", "show", identity).data["digest"]
    assert memory.call("proposals", "decide", identity, *words, "--digest", digest, *OPERATOR).refusal == refusal


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        ((), (5, "write_refused")),
        (AGENT, (5, "write_refused")),
        (OPERATOR[:2], (5, "write_refused")),
        (OPERATOR[2:], (5, "write_refused")),
        ((*OPERATOR, "--adapter", "claude"), (5, "write_refused")),
        (("--operator", "<private>x</private>", "--allow-write"), (4, "invalid_input")),
        (("--operator", "a\nb", "--allow-write"), (4, "invalid_input")),
    ],
)
def test_deciding_laying_out_and_mending_are_an_operator_s_acts(tmp_path, words, refusal):
    memory = laid_out(tmp_path)
    identity = proposed(memory)
    before = fingerprint(tmp_path)
    digest = memory.call("proposals", "show", identity).data["digest"]
    for act in (("proposals", "decide", identity, "accept", "--digest", digest), ("init",), ("mend", QUEUE)):
        assert memory.call(*act, *words).refusal == refusal
    assert fingerprint(tmp_path) == before


def test_an_operator_does_not_remember_as_an_agent(tmp_path):
    memory = laid_out(tmp_path)
    for command in ("remember", "propose"):
        assert memory.call(command, "{}", *OPERATOR).exit in (4, 5)


ROW = {"id": "p1", "status": "pending", "target_file": "USER/DEFINITIONS.md", "edit": "x", "note": "kept"}


@pytest.mark.parametrize(
    ("row", "can_be_accepted"),
    [
        (ROW, True),
        ({**ROW, "status": "sent"}, True),
        ({**ROW, "target_kind": "somewhere"}, True),
        ({**ROW, "target_file": "/etc/passwd"}, False),
        ({**ROW, "edit": 5}, False),
        ({"id": "p1", "status": "pending"}, False),
        ({**ROW, "edit": "<private>x</private>"}, False),
    ],
)
def test_a_row_of_another_writer_can_be_shown_and_rejected_and_keeps_what_is_not_ours(tmp_path, row, can_be_accepted):
    memory = laid_out(tmp_path)
    queue = memory.root / "OBSERVABILITY" / QUEUE
    lines = [b"{torn", json.dumps(row).encode() + b"\r", b"", b'{"id":"p2"}']
    queue.write_bytes(b"\n".join(lines))
    shown = memory.call("proposals", "show", "p1").data
    assert shown["can_be_accepted"] == can_be_accepted
    if not can_be_accepted:
        assert memory.decide("p1", "accept").refusal == (5, "governance_refused")
    assert memory.decide("p1", "reject").data["status"] == "rejected"
    first, changed, *rest = queue.read_bytes().split(b"\n")
    assert [first, *rest] == [b"{torn", b"", b'{"id":"p2"}']
    assert changed.endswith(b"\r")
    assert json.loads(changed) == {**row, "status": "rejected"}


@pytest.mark.parametrize("status", ["accepted", "rejected", "applied-elsewhere", "auto-applied", "Pending", None])
def test_what_is_decided_is_not_decided_again(tmp_path, status):
    memory = laid_out(tmp_path)
    (memory.root / "OBSERVABILITY" / QUEUE).write_text(json.dumps({**ROW, "status": status}) + "\n")
    assert memory.decide("p1", "reject").refusal == (5, "governance_refused")


def test_two_rows_of_one_id_are_not_decided(tmp_path):
    memory = laid_out(tmp_path)
    (memory.root / "OBSERVABILITY" / QUEUE).write_text(f"{json.dumps(ROW)}\n{json.dumps(ROW)}\n")
    assert memory.call("proposals", "show", "p1").refusal == (4, "integrity_error")


def test_an_edit_that_was_applied_before_the_queue_could_say_so_is_not_applied_again(tmp_path):
    memory = laid_out(tmp_path)
    identity = proposed(memory)
    queue = memory.root / "OBSERVABILITY" / QUEUE
    pending = queue.read_bytes()
    memory.decide(identity, "accept")
    queue.write_bytes(pending)
    before = (tmp_path / "USER/DEFINITIONS.md").read_bytes()
    data = memory.decide(identity, "accept").data
    assert (data["status"], len(data["warnings"])) == ("accepted", 1)
    assert (tmp_path / "USER/DEFINITIONS.md").read_bytes() == before


def test_private_text_of_the_target_does_not_show_and_an_edit_is_not_hidden_in_it(tmp_path):
    memory = laid_out(tmp_path)
    target = tmp_path / "USER/DEFINITIONS.md"
    target.write_text("<private>\ns3cret\n</private>\ns3cret no more")
    identity = proposed(memory)
    shown = memory.call("proposals", "show", identity).data
    assert "\ns3cret\n" not in shown["diff"]
    assert memory.decide(identity, "accept").exit == 0
    assert target.read_text() == f"<private>\ns3cret\n</private>\ns3cret no more\n\n{PROPOSAL['edit']}\n"
    target.write_text("open <private>")
    assert memory.decide(proposed(memory, edit="b"), "accept").refusal == (5, "governance_refused")


def test_a_bare_folder_has_its_own_user_folder_and_queue(tmp_path):
    memory = bare(tmp_path / "vault")
    assert memory.decide(proposed(memory), "accept").data["applied_to"] == "USER/DEFINITIONS.md"
    assert (memory.root / "USER/DEFINITIONS.md").read_text() == f"{PROPOSAL['edit']}\n"


@pytest.mark.parametrize("name", ["USER/DEFINITIONS.md", "USER/CONFIG"])
def test_a_target_that_is_reached_through_a_link_is_not_applied_to(tmp_path, name):
    memory = laid_out(tmp_path / "home")
    identity = proposed(
        memory, target_file="USER/CONFIG/OPERATIONAL_RULES.md" if "CONFIG" in name else "USER/DEFINITIONS.md"
    )
    outside = tmp_path / "outside"
    outside.mkdir() if "CONFIG" in name else outside.write_text("theirs")
    (memory.home / name).symlink_to(outside)
    before = fingerprint(tmp_path)
    assert memory.call("proposals", "show", identity).data["can_be_accepted"] is False
    assert fingerprint(tmp_path) == before
    assert memory.decide(identity, "accept").refusal == (5, "governance_refused")
    assert [*outside.iterdir()] == [] if outside.is_dir() else outside.read_text() == "theirs"
    assert memory.decide(identity, "reject").exit == 0
