"""Notes: a file a name, sound when it is read back, and grown without touching what people wrote."""

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from support.stores import IDEA, PERSON, bare, laid_out
from support.trees import fingerprint

from cortex.corpus.markdown import parse_note
from cortex.store.items import read_item
from cortex.store.notes import Place, Source, id_of, new_note, quoted, slug_of

LATER = 60_000
APPENDED = "## Appended 2026-08-01T12:01:00.000Z"


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Tide clock", "tide-clock"),
        ("  A -- b_C.9  ", "a-b-c-9"),
        ("C++", "c"),
        ("Ünal", "nal"),
        ("x" * 70, "x" * 64),
        ("x" * 63 + " y", "x" * 63),
        ("../../etc/passwd", "etc-passwd"),
        ("张三", "u-615db57aa314"),
        ("🎉", "u-e65f66c47d3d"),
    ],
)
def test_a_name_has_a_slug(name, slug):
    assert slug_of(name) == slug or slug.startswith("u-")
    assert len(slug_of(name)) == len(slug)


def test_names_in_any_script_make_notes_of_their_own(tmp_path):
    memory = laid_out(tmp_path)
    names = ["张三", "李四", "Ünal", "nal", "🎉", "C", "C++", "C#", "Ц", "é", "e\u0301"]
    paths = {memory.remember({**IDEA, "title": name, "content": f"about {name}"}).data["path"] for name in names}
    assert len(paths) == len(names)
    for name in names:
        again = memory.remember({**IDEA, "title": name, "content": "more"}).data
        assert again["outcome"] == "appended"
        assert f"about {name}\n" in (memory.root / again["path"]).read_text()
    assert memory.records() == len(names)


def test_a_new_note_says_what_it_was_given(tmp_path):
    memory = laid_out(tmp_path)
    item = {
        **PERSON,
        "name": 'The "ferry" office',
        "content": "Line\n---\n<!-- x -->",
        "source_session": "s-1",
        "confidence": 0.25,
        "related": [{"slug": "tide-clock", "type": "supports"}, {"slug": "12", "type": "extends"}],
    }
    data = memory.remember(item).data
    assert data["path"] == "KNOWLEDGE/People/the-ferry-office.md"
    assert data["id"] == id_of("the-ferry-office", "2026-08-01T12:00:00.000Z")
    record = memory.call("get", data["id"]).data["items"][0]
    assert (record["title"], record["type"]) == ('The "ferry" office', "person")
    assert record["provenance"] == {"source": "claude", "session": "s-1", "path": data["path"]}
    assert record["related"] == ["tide-clock", "12"]
    head, body = (memory.root / data["path"]).read_text().split("---\n", 2)[1:]
    assert yaml.safe_load(head) | {"created": None, "updated": None} == {
        "id": data["id"], "type": "person", "title": 'The "ferry" office', "tags": [], "status": "active",
        "confidence": 0.25, "source_kind": "claude", "source_session": "s-1", "created": None, "updated": None,
        "related": [{"slug": "tide-clock", "type": "supports"}, {"slug": "12", "type": "extends"}],
    }  # fmt: skip
    assert body == '\n# The "ferry" office\n\nLine\n---\n<!-- x -->\n'


NOTE = """---
title: Tide clock
{frontmatter}
---
Mine.
"""


@pytest.mark.parametrize(
    ("frontmatter", "grown", "related"),
    [
        ("created: 2026-01-01", "created: 2026-01-01\nupdated: {now}\nrelated:\n{new}", ["new"]),
        ("updated: 2026-01-01 \ncolour: red # mine", "updated: {now}\ncolour: red # mine\nrelated:\n{new}", ["new"]),
        ("last_updated: 2026-01-01", "last_updated: 2026-01-01\nupdated: {now}\nrelated:\n{new}", ["new"]),
        ("updated: {now}\nrelated: []", "updated: {now}\nrelated:\n{new}", ["new"]),
        ("updated: {now}\nrelated:", "updated: {now}\nrelated:\n{new}", ["new"]),
        ('updated: {now}\nrelated: [a, "b c"]\nx: 1',
         'updated: {now}\nrelated:\n  - "a"\n  - "b c"\n{new}\nx: 1', ["a", "b c", "new"]),
        ("updated: {now}\nrelated:\n- slug: a\n  type: extends\nx: 1",
         "updated: {now}\nrelated:\n- slug: a\n  type: extends\n{new}\nx: 1", ["a", "new"]),
        ("updated: {now}\nrelated:\n  - new", "updated: {now}\nrelated:\n  - new", ["new"]),
        ("related: [new]\nupdated: 2026-01-01", "related: [new]\nupdated: {now}", ["new"]),
        ("updated: 2027-01-01", "updated: 2027-01-01\nrelated:\n{new}", ["new"]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_an_existing_note_keeps_its_bytes_but_updated_and_related(
    tmp_path, frontmatter, grown, related, line_end, mark
):
    memory = laid_out(tmp_path)._replace(now=bare(tmp_path / "x").now + LATER)
    names = {"now": "2026-08-01T12:01:00.000Z", "new": '  - slug: "new"\n    type: supports'}
    path = memory.root / "KNOWLEDGE/Ideas/tide-clock.md"
    path.write_bytes((mark + NOTE.format(frontmatter=frontmatter.format(**names)).replace("\n", line_end)).encode())
    path.chmod(0o640)
    item = {**IDEA, "content": "x", "related": [{"slug": "new", "type": "supports"}], "source_session": "s"}
    data = memory.remember(item).data
    section = f"\n{APPENDED}\n\n_claude · session s_\n\nx\n"
    wanted = mark + (NOTE.format(frontmatter=grown.format(**names)) + section).replace("\n", line_end)
    assert path.read_bytes().decode() == wanted
    assert path.stat().st_mode & 0o777 == 0o640
    assert memory.call("get", data["id"]).data["items"][0]["related"] == related


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("---\ntitle: Tide clock\nupdated: yesterday\n---\nx", "integrity_error"),
        ("---\ntitle: Tide clock\n---\nx \x07", "integrity_error"),
        ("---\ntitle: Tide clock\nrelated: [a,\n  b]\n---\nx", "governance_refused"),
        ("---\ntitle: Tide clock\n---\nx <private>", "governance_refused"),
    ],
)
def test_a_note_that_cannot_grow_soundly_is_left_as_it_is(tmp_path, text, code):
    memory = laid_out(tmp_path)
    (memory.root / "KNOWLEDGE/Ideas/tide-clock.md").write_text(text)
    before = fingerprint(memory.root / "KNOWLEDGE")
    said = memory.remember({**IDEA, "related": [{"slug": "new", "type": "related"}]})
    assert said.refusal[1] == code
    assert fingerprint(memory.root / "KNOWLEDGE") == before


@pytest.mark.parametrize(
    ("title", "content"), [("a <", "private> all of this"), ("a <", "/private> b"), ("<", "pri\u200bvate x")]
)
def test_what_would_join_up_to_a_private_tag_is_refused(tmp_path, title, content):
    memory = laid_out(tmp_path)
    assert memory.remember({**IDEA, "title": title, "content": content}).refusal == (5, "governance_refused")
    assert memory.records() == 0


def test_notes_of_one_slug_and_one_instant_have_ids_of_their_own(tmp_path):
    memory = laid_out(tmp_path)
    items = [
        IDEA,
        *({**PERSON, "name": "Tide clock", "entity_type": kind} for kind in ("person", "company", "research")),
    ]
    assert len({memory.remember(item).data["id"] for item in items}) == 4
    assert memory.records() == 4


def test_where_a_link_lies_in_the_way_nothing_is_written(tmp_path):
    memory = laid_out(tmp_path)
    outside = tmp_path / "outside.md"
    outside.write_text("---\ntitle: Tide clock\n---\nx")
    (memory.root / "KNOWLEDGE/Ideas/tide-clock.md").symlink_to(outside)
    assert memory.remember(IDEA).refusal == (5, "governance_refused")
    assert outside.read_text() == "---\ntitle: Tide clock\n---\nx"


_TEXT = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=30)


@settings(max_examples=200)
@given(_TEXT)
def test_a_quoted_title_reads_back_from_yaml_as_it_was(text):
    """Titles are quoted and escaped."""
    assert yaml.safe_load(f"title: {quoted(text)}\n") == {"title": text}


@settings(max_examples=100)
@given(_TEXT, _TEXT)
def test_a_note_that_is_written_is_a_sound_record_with_its_content_in_it(title, content):
    """The result must read back as a sound record before it replaces the file."""
    from cortex.errors import CortexError

    try:
        item = read_item({"type": "idea", "title": title, "content": content})
        data = new_note(item, Place("KNOWLEDGE/Ideas/x.md", "x"), Source("claude", 0))
    except CortexError:
        return
    record = parse_note("KNOWLEDGE/Ideas/x.md", data.decode()).result
    assert record.content == data.decode()
    assert item.content.rstrip("\n") in record.content
