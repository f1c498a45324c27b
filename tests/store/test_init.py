"""`init` lays out what is missing, touches nothing that is there, and never hides a record; nor does `remember`."""

import json

import pytest
from support.stores import IDEA, OPERATOR, PERSON, PROPOSAL, RULE, Memory, bare, laid_out
from support.trees import fingerprint

NOTE = "---\ntitle: Harbour\n---\nx\n"
LAYOUTS = {
    "empty": {},
    "bare": {"a.md": NOTE, "sub/b.md": NOTE, "log.jsonl": ""},
    "KNOWLEDGE": {"KNOWLEDGE/a.md": NOTE, "PRINCIPAL_MEMORY.md": "x"},
    "nested": {"MEMORY/KNOWLEDGE/a.md": NOTE, "MEMORY/KNOWLEDGE/deep/b.md": NOTE},
    "nested and empty": {"MEMORY/KNOWLEDGE/x.txt": ""},
    "only hidden": {"_draft.md": NOTE},
    "ours alone": {"OBSERVABILITY/x.md": NOTE, "archive/y.md": NOTE},
}


def with_files(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize("named", ["MEMORY", "vault"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_in_each_layout_no_command_lowers_the_number_of_records(tmp_path, layout, named):
    root = with_files(bare(tmp_path / named).root, LAYOUTS[layout])
    memory = Memory(root, tmp_path if named == "MEMORY" else root)
    before = memory.records()
    assert memory.call("init", str(root), *OPERATOR).exit == 0
    assert memory.records() == before
    for count, item in enumerate((IDEA, PERSON), 1):
        assert memory.remember(item).exit == 0
        assert memory.records() == before + count
    for item in (RULE, PROPOSAL):
        assert memory.write(item).exit == 0
        assert memory.records() == before + 2
    assert memory.call("init", *OPERATOR).data["created"] == []
    assert memory.records() == before + 2


@pytest.mark.parametrize(
    ("layout", "makes_knowledge"),
    [("empty", True), ("bare", False), ("KNOWLEDGE", True), ("nested", False), ("nested and empty", False),
     ("only hidden", True), ("ours alone", True)],
)  # fmt: skip
def test_a_knowledge_folder_is_made_only_where_no_record_would_be_hidden(tmp_path, layout, makes_knowledge):
    root = with_files(bare(tmp_path / "vault").root, LAYOUTS[layout])
    bare(root).call("init", *OPERATOR)
    assert (root / "KNOWLEDGE/Ideas").is_dir() == makes_knowledge


@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_is_there_keeps_its_bytes_its_mode_and_its_time(tmp_path, layout):
    root = with_files(bare(tmp_path / "MEMORY").root, LAYOUTS[layout])
    with_files(tmp_path, {"USER/PRINCIPAL/PRINCIPAL_MEMORY.md": "mine", "CORTEX_INDEX_POLICY.json": "mine"})
    folders = {path for path in tmp_path.rglob("*") if path.is_dir()}
    before = {name: value for name, value in fingerprint(tmp_path).items() if tmp_path / name not in folders}
    data = Memory(root, tmp_path).call("init", *OPERATOR).data
    after = fingerprint(tmp_path)
    assert {name: after[name] for name in before} == before
    assert {"USER/PRINCIPAL/PRINCIPAL_MEMORY.md", "CORTEX_INDEX_POLICY.json"} <= set(data["kept"])


def test_a_new_memory_has_its_folders_hot_files_queue_and_marker(tmp_path):
    memory = laid_out(tmp_path)
    for folder in ("KNOWLEDGE/Ideas", "KNOWLEDGE/People", "KNOWLEDGE/Companies", "KNOWLEDGE/Research", "OBSERVABILITY"):
        assert (memory.root / folder).is_dir()
    marker = json.loads((tmp_path / "CORTEX_INDEX_POLICY.json").read_text())
    assert marker == {"schema": "lifeos-cortex-index-policy/v1", "policy": "no-index-v1"}
    assert (memory.root / "OBSERVABILITY/pending-proposals.jsonl").read_bytes() == b""
    for name in ("PRINCIPAL/PRINCIPAL_MEMORY.md", "DIGITAL_ASSISTANT/DA_MEMORY.md"):
        assert "<!-- BEGIN ENTRIES -->\n<!-- END ENTRIES -->\n" in (tmp_path / "USER" / name).read_text()
    assert {row["actor"] for row in memory.rows("memory-writes.jsonl")} == {"ada"}


def test_anything_but_a_root_named_memory_has_everything_within(tmp_path):
    memory = bare(tmp_path / "vault")
    memory.call("init", *OPERATOR)
    assert [path.name for path in tmp_path.iterdir()] == ["vault"]
    assert (memory.root / "USER/PRINCIPAL/PRINCIPAL_MEMORY.md").exists()


def test_an_adopted_index_gets_no_marker_against_it(tmp_path):
    root = with_files(bare(tmp_path / "vault").root, {"INDEX/index-manifest.json": "{}"})
    assert "CORTEX_INDEX_POLICY.json" not in bare(root).call("init", *OPERATOR).data["created"]


def test_a_folder_and_a_memory_root_are_one_too_many(tmp_path):
    memory = bare(tmp_path / "vault")
    said = memory.call("init", "x", "--memory-root", "y", *OPERATOR)
    assert said.refusal == (4, "invalid_input")


def test_a_link_on_the_way_is_refused_before_anything_is_made(tmp_path):
    root = bare(tmp_path / "MEMORY").root
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "USER").mkdir()
    (tmp_path / "USER/PRINCIPAL").symlink_to(tmp_path / "elsewhere")
    before = fingerprint(tmp_path)
    assert Memory(root, tmp_path).call("init", *OPERATOR).refusal == (5, "governance_refused")
    assert fingerprint(tmp_path) == before
