"""The memory in process: the command line's own answers, permission by exact options, and nothing that raises."""

import json

import pytest

from cortex.adapter import create_adapter
from cortex.arguments import ADAPTERS, Host
from cortex.cli import answer
from cortex.writing import TYPES


@pytest.fixture
def memory(tmp_path):
    folder = tmp_path / "KNOWLEDGE"
    folder.mkdir()
    (folder / "oak.md").write_text("---\nid: oak\ncreated: 2026-01-01\n---\nAn oak.\n")
    (folder / "odd.md").write_text("---\nid: --odd\ncreated: 2026-01-02\n---\nAn odd oak.\n")
    return tmp_path


@pytest.mark.parametrize("name", ADAPTERS)
def test_every_host_gets_the_answers_of_the_command_line(memory, name):
    adapter = create_adapter(name, str(memory))
    host = Host({"CORTEX_MEMORY_ROOT": str(memory)}, adapter.clock)
    for asked, words in [
        (adapter.status(), ["status"]),
        (adapter.search("oak"), ["search", "oak"]),
        (adapter.timeline("oak"), ["timeline", "--anchor", "oak"]),
        (adapter.get("oak"), ["get", "oak"]),
        (adapter.export("oak", "oak"), ["export", "oak", "oak"]),
        (adapter.get("none"), ["get", "none"]),
    ]:
        output, status = answer(words, host)
        assert asked == (status, json.loads(output))


def test_an_id_that_looks_like_an_option_is_an_id(memory):
    adapter = create_adapter("claude", str(memory))
    assert adapter.get("--odd")[0] == 0
    assert adapter.timeline("--odd")[0] == 0
    assert adapter.search("--help")[1]["error"] is None


@pytest.mark.parametrize(
    "call",
    [
        lambda adapter: adapter.search(5),
        lambda adapter: adapter.timeline(None),
        lambda adapter: adapter.get("a", 1),
        lambda adapter: adapter.get(*["a"] * 101),
        lambda adapter: adapter.remember({1, 2}, {"allow_write": True}),
        lambda adapter: adapter.remember({"type": "idea", "n": float("nan")}, {"allow_write": True}),
    ],
)
def test_what_is_no_argument_is_refused_and_not_raised(memory, call):
    status, envelope = call(create_adapter("codex", str(memory)))
    assert (status, envelope["error"]["code"]) == (4, "invalid_input")


def test_an_unknown_host_is_refused_at_every_call(memory):
    assert create_adapter("gpt", str(memory)).status()[1]["error"]["code"] == "invalid_input"


def test_a_missing_memory_is_refused(tmp_path):
    assert create_adapter("claude", str(tmp_path / "none")).status()[1]["error"]["code"] == "integrity_error"


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (None, "write_refused"),
        ({}, "write_refused"),
        ({"allow_write": False}, "write_refused"),
        ({"allow_write": 1}, "invalid_input"),
        ({"allow_write": "yes"}, "invalid_input"),
        ({"allow_write": True, "force": True}, "invalid_input"),
        ({"allowWrite": True}, "invalid_input"),
        (True, "invalid_input"),
        (["allow_write"], "invalid_input"),
    ],
)
@pytest.mark.parametrize("command", sorted(TYPES))
def test_a_write_is_permitted_by_exactly_one_option(memory, command, options, code):
    adapter = create_adapter("subagent", str(memory))
    write = {"remember": adapter.remember, "propose": adapter.propose}[command]
    _, envelope = write({"type": "idea", "title": "t", "content": "c"}, options)
    assert envelope["error"]["code"] == code


def test_an_adapter_cannot_be_changed():
    with pytest.raises(AttributeError):
        create_adapter("claude").name = "codex"
