"""A Markdown file as a record: fields, related and what privacy takes away."""

import pytest

from cortex.corpus.markdown import EPOCH, parse_note
from cortex.corpus.record import Flaw, Parsed, Record

PATH = "KNOWLEDGE/n.md"


def note(text: str, path: str = PATH) -> Record:
    result = parse_note(path, text).result
    assert isinstance(result, Record), result
    return result


def test_a_file_without_frontmatter_is_a_record_of_defaults() -> None:
    assert note("just text\n") == Record(
        "path:9d8f034441a6889d", "memory", PATH, EPOCH, EPOCH, ("canonical", None, PATH), "just text\n", (), None, None,
        0, 0, None, None,
    )  # fmt: skip


def test_a_file_that_is_empty_from_the_start_is_a_record() -> None:
    assert note("").content == ""


def test_every_field_is_taken_from_its_name() -> None:
    text = (
        "---\nid: r1\ntype: idea\ntitle: T\ncreated: 2024-01-01\nupdated: 2024-01-02\nsource_kind: feed\n"
        "source_session: s1\nvalid_from: 2024-01-01\nvalid_until: 2025-01-01\nrelated: [r2]\n---\nbody\n"
    )
    record = note(text)
    assert record[:6] == ("r1", "idea", "T", "2024-01-01", "2024-01-02", ("feed", "s1", PATH))
    assert record[6:10] == (text, ("r2",), "2024-01-01", "2025-01-01")
    assert record[10:] == (1704067200000, 1704153600000, 1704067200000, 1735689600000)


@pytest.mark.parametrize(
    ("lines", "field", "value"),
    [
        ("id:r1", "id", "r1"),
        ("id: a\nid: b", "id", "b"),
        ('id: "r1"', "id", "r1"),
        ("id: 'r1\"", "id", "r1"),
        ('id: " r1 "', "id", " r1 "),
        ("id: ''r1''", "id", "'r1'"),
        ("id: r1 # x", "id", "r1 # x"),
        ("id:\t\u00a0r1\u3000\ufeff", "id", "r1"),
        (" id: r1", "id", "path:9d8f034441a6889d"),
        ("id : r1", "id", "path:9d8f034441a6889d"),
        ("ID: r1", "id", "path:9d8f034441a6889d"),
        ("ïd: r1", "id", "path:9d8f034441a6889d"),
        ("id：r1", "id", "path:9d8f034441a6889d"),
        ("id:", "id", "path:9d8f034441a6889d"),
        ('id: ""', "id", "path:9d8f034441a6889d"),
        ("title: a\rb", "title", "a\rb"),
        ("title: a\u2028id: b", "title", "a\u2028id: b"),
        ("title:\nname: N", "title", "N"),
        ("title: T:with:colons", "title", "T:with:colons"),
        ("title: >\n  folded", "title", ">"),
        ("name: N", "title", "N"),
        ("date: 2024-01-01", "created", "2024-01-01"),
        ("ts: 2024-01-01", "created", "2024-01-01"),
        ("ts: 2024-01-01\ndate: 2024-01-02", "created", "2024-01-02"),
        ("created: 2024-01-01\ndate: soon", "created", "2024-01-01"),
        ("created: 2024-01-01", "updated", "2024-01-01"),
        ("created: 2024-01-01\nlast_updated: 2024-01-02", "updated", "2024-01-02"),
        ("type: Weird Type/1", "type", "Weird Type/1"),
        ("valid_from:", "valid_from", None),
        ("source: S", "provenance", ("S", None, PATH)),
        ("source: S\nsource_kind: K", "provenance", ("K", None, PATH)),
        ("source_session: ", "provenance", ("canonical", None, PATH)),
    ],
)  # fmt: skip
def test_a_scalar_is_what_the_last_line_of_its_name_says(lines: str, field: str, value: object) -> None:
    for end in ("\n", "\r\n"):
        text = f"---\n{lines}\n---\nalpha\n".replace("\n", end)
        assert getattr(note(text), field) == value


@pytest.mark.parametrize(
    ("text", "identity"),
    [
        ("---\nid: r1\n---", "r1"),
        ("---\r\nid: r1\r\n---\r\nx", "r1"),
        ("---\nid: r1\n---x\n---\n", "r1"),
        ("---\n---\nid: r1\n---\n", "path:9d8f034441a6889d"),
        ("---\r\n---\r\nid: r1\r\n---\r\n", "path:9d8f034441a6889d"),
        ("--- \nid: r1\n---\n", "path:9d8f034441a6889d"),
        (" ---\nid: r1\n---\n", "path:9d8f034441a6889d"),
        ("----\nid: r1\n----\n", "path:9d8f034441a6889d"),
        ("\n---\nid: r1\n---\n", "path:9d8f034441a6889d"),
        ("---\rid: r1\r---\r", "path:9d8f034441a6889d"),
        ("---\nid: r1\n---\r", "path:9d8f034441a6889d"),
        ("---\nid: r1\n...\n", "path:9d8f034441a6889d"),
        ("---\nid: r1\n", "path:9d8f034441a6889d"),
        ("---", "path:9d8f034441a6889d"),
    ],
)
def test_the_frontmatter_lies_between_two_lines_that_are_exactly_three_dashes(text: str, identity: str) -> None:
    assert note(text).id == identity


@pytest.mark.parametrize(
    ("lines", "related"),
    [
        ("related: [a, b]", ("a", "b")),
        ("related: []", ()),
        ("related: [a, , b,]", ("a", "b")),
        ("related: [\"a, b\", 'c', d]", ("a, b", "c", "d")),
        ("related: [a, b] # both", ("a", "b")),
        ("related: [[[a]], [[b|B]], [[c#part]]]", ("a", "b", "c")),
        ("related: [[a]]", ("a",)),
        ("related: [[a]], [[b, c]]", ("a", "b, c")),
        ("related: ['[[a b]]']", ("a b",)),
        ("related: [O'Brien, D'Arcy]", ("O'Brien", "D'Arcy")),
        ("related: a", ()),
        ("related: [a, b", ()),
        ("related:\n  - slug: a\n    type: supports\n  - slug: 'b'", ("a", "b")),
        ("related:\n    slug: a", ("a",)),
        ("related:\n- slug: a\n- slug:b", ("a", "b")),
        ("related:\n- a\n-   b\n-c\n-- d", ("a", "b")),
        ("related:\n- path:9d8f034441a6889d\n- https://x.example/y", ("path:9d8f034441a6889d", "https://x.example/y")),
        ("related:\n- name: a\n- weight:\n- b", ("b",)),
        ("related:\n\n  # none\n- a", ("a",)),
        ("related: # links\n- a", ("a",)),
        ("related:\n- a # first\n- C#\n- # nothing\n- 'x # y' # z", ("a", "C#", "x # y")),
        ('related:\n- [[a]]\n- "[[b|c]]"\n- [[d #e]] # f', ("a", "b", "d")),
        ("related:\n- a\ntags:\n- b", ("a",)),
        ("related:\n- a\nslug: b\n- c", ("a",)),
        ("related: [x]\nrelated:\n- a", ("a",)),
        ("related:\n- a\nrelated: [x]", ("x",)),
        ("related:\n- a\n- a", ("a", "a")),
        ("related:\n- \"\"\n- ' '\n- a", ("a",)),
        ("- slug: a\nslug: b", ()),
        ("tags: [a]\n\n- b", ()),
        ("Related: [a]", ()),
    ],
)  # fmt: skip
def test_related_comes_from_the_related_lines_of_the_frontmatter_alone(lines: str, related: tuple[str, ...]) -> None:
    body = "---\n- slug: body\nrelated: [body]\n"
    for end in ("\n", "\r\n"):
        assert note(f"---\n{lines}\n{body}".replace("\n", end)).related == related


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("KNOWLEDGE/WORK/a.md", "work"),
        ("WORK/a.md", "work"),
        ("KNOWLEDGE/WORK/x/a.md", "work"),
        ("KNOWLEDGE/NETWORK/a.md", "memory"),
        ("KNOWLEDGE/work/a.md", "memory"),
        ("KNOWLEDGE/WORK.md", "memory"),
    ],
)
def test_a_file_below_a_folder_named_work_is_of_that_type(path: str, kind: str) -> None:
    assert note("alpha", path).type == kind


@pytest.mark.parametrize(
    ("lines", "flaws"),
    [
        ("created: soon", [Flaw("timestamp", 'created is no timestamp: "soon"')]),
        ("date: 2026-02-30", [Flaw("timestamp", 'created is no timestamp: "2026-02-30"')]),
        ("updated: later", [Flaw("timestamp", 'updated is no timestamp: "later"')]),
        ("valid_from: 2024", [Flaw("timestamp", 'valid_from is no timestamp: "2024"')]),
        ("valid_until: 2024", [Flaw("timestamp", 'valid_until is no timestamp: "2024"')]),
        (
            "created: x\nupdated: y\nvalid_from: 2024-01-02\nvalid_until: 2024-01-01",
            [
                Flaw("timestamp", 'created is no timestamp: "x"'),
                Flaw("timestamp", 'updated is no timestamp: "y"'),
                Flaw("order-of-times", "is valid from a time that is not before the end of its validity"),
            ],
        ),
        (f"created: {'9' * 50}", [Flaw("timestamp", f'created is no timestamp: "{"9" * 40}…"')]),
        ("created: 2024-01-02\nupdated: 2024-01-01", [Flaw("order-of-times", "is updated before it was created")]),
        ("updated: 1969-12-31", [Flaw("order-of-times", "is updated before it was created")]),
        (
            "valid_from: 2024-01-01T01:00+01:00\nvalid_until: 2024-01-01",
            [Flaw("order-of-times", "is valid from a time that is not before the end of its validity")],
        ),
        ('id: " "', [Flaw("field", "id is blank")]),
        ('id: " "\ndate: x', [Flaw("field", "id is blank"), Flaw("timestamp", 'created is no timestamp: "x"')]),
    ],
)
def test_every_value_that_makes_no_sense_is_a_flaw_that_names_it(lines: str, flaws: list[Flaw]) -> None:
    assert parse_note(PATH, f"---\n{lines}\n---\n").result == tuple(flaws)


@pytest.mark.parametrize(
    "created",
    ["'2026-08-01T10:00:00'", "2026-08-01 10:00:00+02:00", "1786363200000", "2026-02-16 05:27:54 PST"],
)
def test_a_date_of_another_form_is_refused_and_never_read_as_a_wrong_instant(created: str) -> None:
    flaws = parse_note(PATH, f"---\ncreated: {created}\n---\n").result
    assert flaws == (Flaw("timestamp", 'created is no timestamp: "{}"'.format(created.strip("'"))),)


@pytest.mark.parametrize(
    ("text", "withheld"),
    [
        ("<private>all of it</private>", True),
        ("<private>all of it</private> \n", True),
        ("<privateer>", True),
        ("---\nid: <private>r1</private>\n---\nx", True),
        ("---\ntype: <private>t</private>\n---\nx", True),
        ("---\ntitle: <private>t</private>\nname: N\n---\nx", True),
        ("---\nname: '<private>t</private>'\n---\nx", True),
        ("---\ncreated: <private>2024-01-01</private>\n---\nx", True),
        ("---\ncreated: 2024<private>-01-01</private>\n---\nx", True),
        ("---\ndate: 2024-01-0<private>1</private>\n---\nx", True),
        ("---\nupdated: 2024-01-0<private>1</private>\n---\nx", True),
        ("---\nid: r<private>1</private>\n---\nx", False),
        ("---\ncreated: 2024-01-01<private>T10:00Z</private>\n---\nx", False),
        ("---\n<private>id: r1\n</private>title: T\n---\nx", False),
        ("---\nid: r1\nnote: <private>\n---\nx", False),
        ("---\nsource: <private>s</private>\n---\nx", False),
        ("---\nname: <private>t</private>\ntitle: T\n---\nx", False),
        ("---\nid:\n---\n<private>x</private>", False),
        ("", False),
        (" \n", False),
    ],
)
def test_a_record_of_which_privacy_leaves_nothing_to_tell_is_withheld(text: str, *, withheld: bool) -> None:
    result = parse_note(PATH, text).result
    assert (result is None) == withheld
    assert not isinstance(result, tuple) or isinstance(result, Record)


def test_what_is_withheld_keeps_the_id_that_it_goes_by() -> None:
    assert parse_note(PATH, "---\nid: r1\ntitle: <private>t</private>\n---\nx") == Parsed(None, "r1")
    assert parse_note(PATH, "---\nid: <private>r1</private>\n---\nx") == Parsed(None, "path:9d8f034441a6889d")


def test_a_private_span_can_take_a_field_away() -> None:
    record = note("---\n<private>id: s3cret\nvalid_from: soon\n</private>title: T<private>s3cret</private>\n---\nx")
    assert (record.id, record.title, record.valid_from) == ("path:9d8f034441a6889d", "T", None)
    assert "s3cret" not in repr(record)


def test_frontmatter_is_read_from_the_stripped_text() -> None:
    assert note("<private>x</private>---\nid: r1\n---\n").id == "r1"


def test_a_date_that_is_wrong_without_any_private_part_is_a_flaw_beside_one() -> None:
    flaws = parse_note(PATH, "---\ncreated: soon\n---\n<private>x</private>y").result
    assert flaws == (Flaw("timestamp", 'created is no timestamp: "soon"'),)


def test_a_cut_is_told() -> None:
    assert parse_note(PATH, "a <private-repo> b").cut
    assert not parse_note(PATH, "a <private> b").cut
