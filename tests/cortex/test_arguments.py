"""The command line is strict: what is not in the table is refused, and refusals come in the contract's order."""

import pytest

from cortex.arguments import Host, parse_call, wants_help
from cortex.commands import COMMANDS, COMMON, OPTIONS
from cortex.errors import CortexError

NOW = 1_786_363_200_000


def call(*words, environment=None):
    return parse_call(words, Host(environment or {"HOME": "/home/x"}, lambda: NOW))


def refusal(*words, environment=None):
    with pytest.raises(CortexError) as caught:
        call(*words, environment=environment)
    return caught.value.code, caught.value.message


@pytest.mark.parametrize(
    ("words", "positionals", "options"),
    [
        (["status"], (), {}),
        (["search", "a b"], ("a b",), {}),
        (["search", "--type", "idea", "a"], ("a",), {"--type": "idea"}),
        (["search", "--type=idea", "a"], ("a",), {"--type": "idea"}),
        (["search", "--type=a=b", "q"], ("q",), {"--type": "a=b"}),
        (["search", "-q"], ("-q",), {}),
        (["get", "--text", "--", "--x", "--text"], ("--x", "--text"), {"--text": ""}),
        (["get", ""], ("",), {}),
        (["index", "verify"], (), {}),
        (["index", "status", "--text"], (), {"--text": ""}),
        (
            ["index", "build", "--adopt", "r.json", "--operator=ada", "--allow-write"],
            (),
            {"--adopt": "r.json", "--operator": "ada", "--allow-write": ""},
        ),
        (["search", "a", "--no-index"], ("a",), {"--no-index": ""}),
        (["timeline", "--anchor=--x"], (), {"--anchor": "--x"}),
    ],
)
def test_words_are_told_apart(words, positionals, options):
    parsed = call(*words)
    assert (parsed.positionals, parsed.options) == (positionals, options)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ([], "invalid_input", "no command"),
        ([""], "invalid_input", "no command"),
        (["frob"], "invalid_input", "unknown command 'frob'"),
        (["STATUS"], "invalid_input", "unknown command"),
        (["proposals list"], "invalid_input", "unknown command"),
        (["index"], "invalid_input", "index is followed by one of: build, refresh, verify, drop, status"),
        (["index", "burn"], "invalid_input", "index is followed by one of: build, refresh, verify, drop, status"),
        (["index verify"], "invalid_input", "unknown command"),
        (["index", "verify", "x"], "invalid_input", "index verify takes no arguments"),
        (["index", "verify", "--no-index"], "invalid_input", "no option --no-index"),
        (["index", "verify", "--operator", "ada"], "invalid_input", "no option --operator"),
        (["get", "a", "--no-index"], "invalid_input", "no option --no-index"),
        (["rebuild", "--from-canonical", "--no-index"], "invalid_input", "no option --no-index"),
        (["status", "--no-index=yes"], "invalid_input", "takes no value"),
        (["benchmark label", "q", "a"], "invalid_input", "unknown command"),
        (["benchmark", "labels"], "invalid_input", "takes no arguments"),
        (["--memory-root", "x", "status"], "invalid_input", "unknown command"),
        (["status", "--nope"], "invalid_input", "no option --nope"),
        (["status", "--type", "x"], "invalid_input", "no option --type"),
        (["status", "--mem", "x"], "invalid_input", "no option --mem"),
        (["status", "--memory-root"], "invalid_input", "needs a value"),
        (["status", "--memory-root", ""], "invalid_input", "needs a value"),
        (["status", "--memory-root="], "invalid_input", "needs a value"),
        (["status", "--memory-root", "--text"], "invalid_input", "needs a value"),
        (["status", "--text", "--text"], "invalid_input", "given twice"),
        (["status", "--text=yes"], "invalid_input", "takes no value"),
        (["status", "--adapter", "gpt"], "invalid_input", "claude, hermes, codex, subagent"),
        (["status", "x", "--adapter", "gpt"], "invalid_input", "claude, hermes, codex, subagent"),
        (["status", "x"], "invalid_input", "takes no arguments"),
        (["search"], "invalid_input", "exactly one query"),
        (["search", "a", "b"], "invalid_input", "exactly one query"),
        (["get"], "invalid_input", "1 to 100 ids"),
        (["get", *["a"] * 101], "invalid_input", "1 to 100 ids"),
        (["timeline"], "invalid_input", "needs --anchor"),
        (["rebuild"], "invalid_input", "needs --from-canonical"),
        (["remember"], "write_refused", "--adapter"),
        (["remember", "{}", "--allow-write"], "write_refused", "--adapter"),
        (["remember", "{}", "{}", "--adapter", "claude"], "write_refused", "--allow-write"),
        (["index", "build"], "write_refused", "index build needs --operator NAME and --allow-write"),
        (["index", "refresh", "--operator", "ada"], "write_refused", "--allow-write"),
        (["index", "drop", "--adapter", "claude", "--allow-write"], "write_refused", "--operator"),
        (["index", "build", "x", "--operator", "ada"], "write_refused", "--allow-write"),
        (["index", "build", "x", "--operator", "ada", "--allow-write"], "invalid_input", "takes no arguments"),
        (["remember", "--adapter", "claude", "--allow-write"], "invalid_input", "one JSON payload"),
        (["remember", "{}", "--adapter", "root", "--allow-write"], "invalid_input", "--adapter"),
    ],
)
def test_what_is_not_in_the_table_is_refused(words, code, said):
    refused, message = refusal(*words)
    assert refused == code
    assert said in message


def test_a_hundred_ids_are_taken():
    assert len(call("get", *["a"] * 100).positionals) == 100


@pytest.mark.parametrize(
    ("text", "value"),
    [("1", 1), ("100", 100), ("007", 7), ("0", None), ("101", None), ("+1", None), (" 5", None), ("1e1", None),
     ("0x10", None), ("１", None), ("²", None), ("-1", None), ("1.0", None), ("9" * 400, None)],
)  # fmt: skip
def test_integers_are_plain_ascii_digits_within_bounds(text, value):
    parsed = call("search", "q", "--page-size=" + text)
    if value is None:
        with pytest.raises(CortexError, match="--page-size takes plain digits from 1 to 100"):
            parsed.integer("--page-size", 10, 1, 100)
    else:
        assert parsed.integer("--page-size", 10, 1, 100) == value


@pytest.mark.parametrize(
    ("words", "environment", "root"),
    [
        (["--memory-root", "/a"], {"CORTEX_MEMORY_ROOT": "/b"}, "/a"),
        ([], {"CORTEX_MEMORY_ROOT": "/b"}, "/b"),
        ([], {"CORTEX_MEMORY_ROOT": "", "HOME": "/h"}, "/h/.claude/LIFEOS/MEMORY"),
        (["--memory-root", "~/a"], {}, "~/a"),
    ],
)
def test_the_memory_root_is_the_first_that_is_given(words, environment, root):
    assert call("status", *words, environment=environment).memory_root() == root


def test_an_override_of_the_host_beats_every_other_root():
    assert parse_call(["status", "--memory-root", "/a"], Host({}, lambda: NOW, "/z")).memory_root() == "/z"


@pytest.mark.parametrize(
    ("words", "environment", "now"),
    [
        ([], {}, NOW),
        ([], {"CORTEX_HEALTH_NOW": ""}, NOW),
        ([], {"CORTEX_HEALTH_NOW": "5"}, 5),
        (["--now", "1970-01-01T00:00:01Z"], {"CORTEX_HEALTH_NOW": "5"}, 1000),
    ],
)
def test_now_is_what_was_told_else_the_clock(words, environment, now):
    assert call("status", *words, environment=environment).now() == now


@pytest.mark.parametrize("text", ["yesterday", "2026-08-01T12:00:00", "-5", "1e9", "9" * 30])
def test_a_time_that_makes_no_sense_is_refused(text):
    with pytest.raises(CortexError, match="--now is neither"):
        call("status", f"--now={text}").now()


@pytest.mark.parametrize(
    ("words", "wanted"),
    [(["--help"], True), (["search", "x", "--help"], True), (["get", "--", "--help"], False), (["-h"], False)],
)
def test_help_wins_anywhere_before_two_dashes(words, wanted):
    assert wants_help(words) is wanted


def test_every_option_of_the_table_is_described_and_used():
    used = {*COMMON, *(option for command in COMMANDS.values() for option in command.options)}
    assert used == set(OPTIONS)


def test_whatever_asks_an_index_can_do_without():
    asking = {name for name, command in COMMANDS.items() if "--no-index" in command.options}
    assert asking == {"status", "search", "timeline", "benchmark"}
