"""Nothing private gets into an index: secrets are planted wherever a text can stand, and looked for in every byte."""

import json
from pathlib import Path

import pytest
from index.corpora import note, put, row
from index.forging import Parts
from support.indexes import adopt, say
from support.stores import Memory

from cortex.index.terms import every

# A word in Latin, one in Cyrillic, and characters that stand nowhere else, so that no pair of them may be found.
SECRETS = ("zqxj7", "жъщы", "龘靐")
SPELLINGS = ("zqxj7", "жъщы", "龘", "靐")
PRIVATE = f"<private>{' '.join(SECRETS)}</private>"
OPEN = f"<private>{' '.join(SECRETS)}"
CUT = f"<private-{' '.join(SECRETS)}"
NOTES = {
    **{
        f"the field {name}": note("Public.", **{"id": "n", name: f"{value}{PRIVATE}"})
        for name, value in {
            "id": "n", "type": "idea", "title": "Seen", "name": "Seen", "source": "desk", "source_kind": "desk",
            "source_session": "s1", "created": "2026-01-01", "updated": "2026-01-02", "valid_until": "2030-01-01",
            "related": "[a, b]", "unknown": "field",
        }.items()
    },
    **{
        f"the whole field {name}": note("Public.", **{"id": "n", name: PRIVATE})
        for name in ("id", "type", "title", "source", "source_session", "created", "valid_from", "related")
    },
    "a related link": note("Public.", id="n", related=f"[a, {PRIVATE}, '{PRIVATE}b', [[c{PRIVATE}]]]"),
    "the content": note(f"Public {PRIVATE} public.\n{PRIVATE}\n", id="n"),
    "content that is not closed": note(f"Public {OPEN}", id="n"),
    "content behind what reads like an opener": note(f"Public {CUT} and more", id="n"),
    "all of the content": PRIVATE,
    "nested": note(f"Public <private>a{PRIVATE}{' '.join(SECRETS)}</private>", id="n"),
    "header and all": f"<private>{note(' '.join(SECRETS), id=SECRETS[0])}</private>Public.",
}  # fmt: skip
ROWS = {
    **{
        f"the value of {name}": {name: f"{value}{PRIVATE}"}
        for name, value in {
            "id": "r", "type": "idea", "title": "Seen", "content": "Seen", "source": "desk", "source_kind": "desk",
            "source_session": "s1", "created": "2026-01-01", "updated": "2026-03-03", "valid_from": "2020-01-01",
        }.items()
    },
    **{f"all of {name}": {name: PRIVATE} for name in ("id", "title", "content", "source_session", "source")},
    "related": {"related": ["a", PRIVATE, f"b{PRIVATE}", CUT]},
    "content that is not closed": {"content": f"Public {OPEN}"},
    "a title behind what reads like an opener": {"title": f"Public {CUT}"},
}  # fmt: skip


def files_of_index(memory: Memory) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (memory.root / "INDEX").iterdir()}


def assert_keeps_its_secrets(memory: Memory) -> None:
    """Look in the bytes of every file, in what JSON escapes, and in every key."""
    files = files_of_index(memory)
    assert sorted(files) == ["adoption.json", "index-manifest.json", "lexical-1.blocks", "lexical-1.json"]
    parts = Parts(memory.root)
    keys = {key for _, block in parts.terms for key, _ in every(block)} | {key for key, _ in parts.terms}
    texts = [data.decode("utf-8", "replace") for data in files.values()]
    texts += [json.dumps(json.loads(parts.sections[name]), ensure_ascii=False) for name in ("names", "notes")]
    texts += [parts.sections[name].decode() for name in ("paths", "ids")]
    for spelling in SPELLINGS:
        assert not [text for text in texts if spelling in text.lower()]
        assert not [key for key in keys if spelling in key]


@pytest.mark.parametrize("text", NOTES.values(), ids=NOTES)
def test_nothing_private_of_a_note_is_in_its_index(tmp_path: Path, text: str):
    memory = Memory(tmp_path, tmp_path)
    put(tmp_path, "KNOWLEDGE/secret.md", text)
    put(tmp_path, "KNOWLEDGE/witness.md", note("A witness.", id="w"))
    adopt(tmp_path)
    assert_keeps_its_secrets(memory)
    assert b"witness" in files_of_index(memory)["lexical-1.blocks"]


@pytest.mark.parametrize("fields", ROWS.values(), ids=ROWS)
def test_nothing_private_of_a_row_is_in_its_index(tmp_path: Path, fields: dict[str, object]):
    memory = Memory(tmp_path, tmp_path)
    put(tmp_path, "KNOWLEDGE/rows.jsonl", json.dumps({**json.loads(row("r", "Public.")), **fields}, ensure_ascii=False))
    put(tmp_path, "KNOWLEDGE/witness.md", note("A witness.", id="w"))
    adopt(tmp_path)
    assert_keeps_its_secrets(memory)
    assert b"witness" in files_of_index(memory)["lexical-1.blocks"]


def test_a_secret_that_stands_outside_of_its_tag_is_found_by_this_test(tmp_path: Path):
    memory = Memory(tmp_path, tmp_path)
    put(tmp_path, "KNOWLEDGE/a.md", note(f"{PRIVATE} {SECRETS[2]}x", id="a"))
    adopt(tmp_path)
    with pytest.raises(AssertionError):
        assert_keeps_its_secrets(memory)


def test_nothing_private_is_in_the_audit_of_an_index_nor_in_what_its_commands_print(tmp_path: Path):
    memory = Memory(tmp_path, tmp_path)
    for number, text in enumerate(NOTES.values()):
        put(tmp_path, f"KNOWLEDGE/{number}.md", text.replace("id: n", f"id: n{number}"))
    adopt(tmp_path)
    for words in (
        ("index", "status"),
        ("index", "verify"),
        ("status",),
        ("search", SECRETS[0]),
        ("search", SECRETS[2]),
    ):
        said = say(tmp_path, *words)
        assert (said.exit, said.notes) == (0, "")
        assert not any(secret in said.output.decode() for secret in SECRETS)
    audit = (memory.root / "OBSERVABILITY/memory-writes.jsonl").read_text()
    assert "INDEX/index-manifest.json" in audit
    assert not any(secret in audit for secret in SECRETS)


def test_what_becomes_private_is_gone_with_the_next_refresh(tmp_path: Path):
    path = put(tmp_path, "KNOWLEDGE/a.md", note(f"Public {' '.join(SECRETS)}", id="a"))
    adopt(tmp_path)
    path.write_text(note(f"Public {PRIVATE}", id="a"), encoding="utf-8")
    for words in (("search", SECRETS[0]), ("search", SECRETS[2])):
        assert b'"total":0' in say(tmp_path, *words).output
    adopt(tmp_path, reuse=True)
    assert not [
        name for name, data in files_of_index(Memory(tmp_path, tmp_path)).items() if SECRETS[0].encode() in data
    ]
