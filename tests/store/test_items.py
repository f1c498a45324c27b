"""Every rule of the item table, with a row that passes it and rows that break it; a refused call changes nothing."""

import json

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.stores import ITEMS, laid_out
from support.trees import fingerprint

from cortex.errors import CortexError
from cortex.store.items import check_session, read_item

GONE = object()
KEEP = "x" * 65_536
RELATION = {"slug": "harbour-walk", "type": "supports"}


@pytest.fixture(scope="module")
def memory(tmp_path_factory):
    return laid_out(tmp_path_factory.mktemp("items"))


def item(kind, **changes):
    return {key: value for key, value in {**ITEMS[kind], **changes}.items() if value is not GONE}


ACCEPTED = [
    ("memory", {}),
    ("memory", {"actor": "assistant", "op": "add", "provenance": "explicit", "confidence": 0}),
    ("memory", {"provenance": "deduced", "confidence": 1}),
    ("memory", {"provenance": "inferred", "confidence": 0.5}),
    ("memory", {"content": "RULE: " + "x" * 250}),
    *(("memory", {"content": f"{prefix}: x"}) for prefix in ("NAME", "ROLE", "RELATION", "PREFERENCE", "RULE")),
    ("memory", {"content": GONE, "op": "set", "entries": ["NAME: Ada", "RULE: x --> y <!-- z"]}),
    ("memory", {"content": GONE, "op": "set", "entries": []}),
    ("idea", {"title": "x" * 1024, "content": KEEP, "source_session": "s" * 1024, "confidence": 1.0}),
    ("idea", {"content": "a\tb\r\nc\n---\n<!-- x -->\n\u2028"}),
    ("idea", {"title": 'He said "hi" \\ -- ok: # x'}),
    ("idea", {"related": [RELATION] * 64}),
    ("idea", {"related": [{"slug": "A.b_c-9", "type": "part-of"}]}),
    ("idea", {"related": [{"slug": "x" * 256, "type": "caused-by"}]}),
    *(
        ("idea", {"related": [{"slug": "x", "type": relation}]})
        for relation in ("supports", "contradicts", "extends", "instance-of", "preceded-by", "related")
    ),
    ("knowledge", {}),
    ("knowledge", {"entity_type": "company", "source_session": "2026-08-01T12-30-45-123Z"}),
    ("knowledge", {"entity_type": "research", "related": [], "confidence": 0}),
    ("proposal", {"target_kind": "definition", "observed_across_sessions": 3, "source_session": "none-of-it"}),
    ("proposal", {"edit": KEEP, "rationale": KEEP, "confidence": 1}),
]
REFUSED = [
    # unknown and missing fields
    ("memory", {"title": "x"}, "title"),
    ("idea", {"colour": "red"}, "colour"),
    ("idea", {"tags": []}, "tags"),
    ("knowledge", {"title": "x"}, "title"),
    ("proposal", {"content": "x"}, "content"),
    ("idea", {"related": [{**RELATION, "weight": 1}]}, "related"),
    ("idea", {"related": [{"slug": "x"}]}, "related"),
    *(
        (kind, {field: GONE}, field)
        for kind, field in (
            ("memory", "actor"),
            ("memory", "content"),
            ("idea", "title"),
            ("idea", "content"),
            ("knowledge", "entity_type"),
            ("knowledge", "name"),
            ("knowledge", "content"),
            ("proposal", "target_file"),
            ("proposal", "edit"),
            ("proposal", "confidence"),
            ("proposal", "rationale"),
        )
    ),
    ("memory", {"op": "set"}, "entries"),
    ("memory", {"op": "set", "entries": []}, "content"),
    ("memory", {"entries": []}, "entries"),
    # types and enums
    ("memory", {"actor": "user"}, "actor"),
    ("memory", {"op": "delete"}, "op"),
    ("memory", {"provenance": "guessed"}, "provenance"),
    ("memory", {"content": 5}, "content"),
    ("memory", {"content": GONE, "op": "set", "entries": "RULE: x"}, "entries"),
    ("memory", {"content": GONE, "op": "set", "entries": ["RULE: x", 5]}, "entries"),
    ("idea", {"title": None}, "title"),
    ("idea", {"title": ["x"]}, "title"),
    ("idea", {"source_session": None}, "source_session"),
    ("idea", {"related": {}}, "related"),
    ("idea", {"related": ["x"]}, "related"),
    ("idea", {"related": [{"slug": "x", "type": "knows"}]}, "related"),
    ("knowledge", {"entity_type": "place"}, "entity_type"),
    ("proposal", {"target_kind": "Style"}, "target_kind"),
    ("proposal", {"observed_across_sessions": -1}, "observed_across_sessions"),
    ("proposal", {"observed_across_sessions": 1.5}, "observed_across_sessions"),
    ("proposal", {"observed_across_sessions": True}, "observed_across_sessions"),
    # bounds
    ("idea", {"confidence": -0.01}, "confidence"),
    ("idea", {"confidence": 1.01}, "confidence"),
    ("idea", {"confidence": True}, "confidence"),
    ("idea", {"confidence": "0.5"}, "confidence"),
    ("idea", {"content": KEEP + "x"}, "content"),
    ("idea", {"title": "x" * 1025}, "title"),
    ("idea", {"source_session": "s" * 1025}, "source_session"),
    ("idea", {"related": [RELATION] * 65}, "related"),
    ("idea", {"related": [{"slug": "x" * 257, "type": "related"}]}, "related[0].slug"),
    ("knowledge", {"name": "x" * 1025}, "name"),
    ("proposal", {"edit": KEEP + "x"}, "edit"),
    ("proposal", {"rationale": KEEP + "x"}, "rationale"),
    ("proposal", {"target_file": "x" * 4097}, "target_file"),
    ("memory", {"content": "RULE: " + "x" * 251}, "content"),
    # control characters and line breaks
    *(("idea", {"content": f"a{chr(code)}b"}, "content") for code in (0, 7, 8, 11, 12, 14, 31, 127, 128, 133, 159)),
    *(("idea", {"title": f"a{mark}b"}, "title") for mark in "\0\a\t\n\r\x7f\x85\u2028\u2029"),
    *(("knowledge", {"name": f"a{mark}b"}, "name") for mark in "\n\r\u2028\u2029"),
    ("proposal", {"target_file": "USER/DEFINITIONS.md\n"}, "target_file"),
    ("idea", {"title": "a\ud800b"}, "title"),
    ("idea", {"content": "\udfff"}, "content"),
    # what could break out of frontmatter or a comment
    *(("idea", {"title": title}, "title") for title in ("---", "--- x", "<!-- x", "x -->", "a<!--b")),
    ("knowledge", {"name": "A\ntype: proposal\nid: x"}, "name"),
    # hot memory's entries
    ("memory", {"content": "be brief"}, "content"),
    ("memory", {"content": "rule: be brief"}, "content"),
    ("memory", {"content": "RULE:be brief"}, "content"),
    ("memory", {"content": " RULE: x"}, "content"),
    ("memory", {"content": "RULE: "}, "content"),
    ("memory", {"content": "RULE: \u3000"}, "content"),
    ("memory", {"content": "RULE: a\nRULE: b"}, "content"),
    ("memory", {"content": "RULE: a\rb"}, "content"),
    ("memory", {"content": "RULE: a\u2028b"}, "content"),
    ("memory", {"content": "RULE: <!-- BEGIN ENTRIES -->"}, "content"),
    ("memory", {"content": "RULE: x <!-- END ENTRIES --> y"}, "content"),
    ("memory", {"content": GONE, "op": "set", "entries": ["RULE: a", "x"]}, "entries[1]"),
    ("memory", {"content": GONE, "op": "set", "entries": ["RULE: a", "RULE: a"]}, "entries"),
    # sessions
    *(
        ("idea", {"source_session": session}, "source_session")
        for session in (
            "", " ", "\u00a0", "none", "None", "NONE", "- x", "-x", "? x", ":x", "[x]", "{x}", "#x", "&x", "*x", "!x",
            "|x", ">x", "'x'", '"x"', "%x", "@x", "`x", ",x", "a: b", "a #b", "a:", " x", "x ", "true", "No", "~",
            "null", "12", "1.5", "0x1f", "1e5", "12:30", "2026-08-01", ".inf", ".NaN", "<<", "=", "x'",
        )
    ),
    # slugs
    *(
        ("idea", {"related": [{"slug": slug, "type": "related"}]}, "slug")
        for slug in ("", "-x", ".x", "a b", "ü", "a/b")
    ),
    # a target with private markup; text that is empty after stripping
    ("proposal", {"target_file": "USER/<private>x</private>DEFINITIONS.md"}, "target_file"),
    ("proposal", {"target_file": "USER/DEFINITIONS.md</private>"}, "target_file"),
    ("idea", {"title": "<private>x</private>"}, "title"),
    ("idea", {"title": " \u3000"}, "title"),
    ("idea", {"content": " <private>all of it</private>\n"}, "content"),
    ("knowledge", {"name": "<private>x</private>"}, "name"),
    ("memory", {"content": "RULE: <private>x</private>"}, "content"),
    ("memory", {"content": GONE, "op": "set", "entries": ["RULE: a<private>1</private>", "RULE: a"]}, "entries"),
    ("proposal", {"edit": "<private>x</private>"}, "edit"),
    ("proposal", {"rationale": "<private>x</private>"}, "rationale"),
    ("idea", {"source_session": "<private>x</private>"}, "source_session"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "changes"), ACCEPTED)
def test_an_item_that_keeps_the_rules_is_read(kind, changes):
    read = read_item(item(kind, **changes))
    assert read.__struct_config__.tag == kind


@pytest.mark.parametrize(("kind", "changes", "field"), REFUSED)
def test_an_item_that_breaks_a_rule_is_refused_by_the_name_of_its_field_and_changes_nothing(
    memory, kind, changes, field
):
    before = fingerprint(memory.home)
    said = memory.write(item(kind, **changes))
    assert said.refusal == (4, "invalid_input")
    assert field in said.message
    assert fingerprint(memory.home) == before


@pytest.mark.parametrize(
    ("payload", "said"),
    [
        ('{"type":"idea","title":"t","content":"c","confidence":NaN}', "NaN"),
        ('{"type":"idea","title":"t","content":"c","confidence":1e999}', "too large"),
        ('{"type":"idea","title":"t","content":"c","content":"d"}', "twice"),
        ('{"type":"idea","title":"t","content":"c","related":[{"slug":"a","slug":"b","type":"related"}]}', "twice"),
        ('{"type":"idea","title":"t","content":"c"} x', "no strict JSON"),
        ('{"type":"idea","title":' + "[" * 50 + "]" * 50 + "}", "title"),
        ('{"type":"idea","title":' + "[" * 100_000 + "}", "nested"),
    ],
)
def test_a_payload_that_is_no_strict_json_or_nested_without_end_is_refused(memory, payload, said):
    before = fingerprint(memory.home)
    refused = memory.call("remember", payload, "--adapter", "claude", "--allow-write")
    assert refused.refusal == (4, "invalid_input")
    assert said in refused.message
    assert fingerprint(memory.home) == before


def test_a_payload_comes_by_argument_or_by_standard_input_and_has_a_bound(memory):
    """A strict JSON payload of at most 262,144 bytes, as an argument or on standard input (`-`)."""
    words = ("remember", "-", "--adapter", "claude", "--allow-write")
    payload = json.dumps({**ITEMS["idea"], "title": "By pipe"}).encode()
    assert memory.call(*words, stdin=payload + b" " * (262_144 - len(payload))).data["outcome"] == "created"
    for stdin in (payload + b" " * (262_145 - len(payload)), b"", b"\xff"):
        assert memory.call(*words, stdin=stdin).refusal == (4, "invalid_input")


def test_an_unknown_field_that_could_be_private_is_not_repeated(memory):
    refused = memory.remember({**ITEMS["idea"], "<private>s3cret</private>": 1})
    assert refused.refusal == (4, "invalid_input")
    assert "s3cret" not in json.dumps(refused.envelope)
    nested = memory.remember(item("idea", related=[{**RELATION, "S3CRET": 1}]))
    assert "S3CRET" not in json.dumps(nested.envelope)


@settings(max_examples=300)
@given(st.text(min_size=1, max_size=12) | st.from_regex(r"[-+0-9.:eEtTzZ_ xo#'\"]{1,12}", fullmatch=True))
@example("1:2")
@example("0b1")
@example("+.5")
@example("1_000.5")
@example("2026-8-1 1:2:3 Z")
@example("=")
def test_a_session_that_is_taken_reads_back_from_yaml_as_that_very_string(session):
    """A session that YAML would not read back as that very plain string is refused."""
    try:
        check_session("source_session", session)
    except CortexError:
        return
    assert yaml.safe_load(f"source_session: {session}\n") == {"source_session": session}


@pytest.mark.parametrize(
    "session", ["s1", "2026-08-01T12-30-45-123Z", "a:b", "a#b", "5f1c-77", "张三", "x-y_z.1", "1a"]
)
def test_a_plain_session_is_taken(session):
    check_session("source_session", session)
