"""Which files are the corpus, and what is wrong with a tree before any of its files is read."""

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cortex.corpus import walk
from cortex.corpus.faults import REMEDIES, CorpusError, describe, fault
from cortex.corpus.folders import OPEN_FOLDERS_AT_MOST, Folders
from cortex.corpus.root import pin
from cortex.corpus.walk import Survey, survey

NOBODY = 65534


@contextmanager
def as_somebody_else() -> Iterator[None]:
    """Root may read everything, so a test that root runs looks on as a user without rights."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(user)


def make(root: Path, *paths: str, text: str = "alpha\n") -> None:
    for path in paths:
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def walked(root: Path) -> Survey:
    with pin(root) as pinned:
        return survey(pinned)


def paths(root: Path) -> list[str]:
    seen = walked(root)
    assert seen.faults == ()
    return [file.path for file in seen.files]


def faults(root: Path) -> list[tuple[str, str]]:
    return [(found.path, found.kind) for found in walked(root).faults]


TREE = ("KNOWLEDGE/a.md", "KNOWLEDGE/b/c.jsonl", "A_MEMORY.md", "loose.md", "MEMORY/KNOWLEDGE/n.md", "People/p.md")


@pytest.mark.parametrize(
    ("files", "folder", "corpus"),
    [
        (TREE, "KNOWLEDGE", ["A_MEMORY.md", "KNOWLEDGE/a.md", "KNOWLEDGE/b/c.jsonl"]),
        (TREE[3:], "MEMORY/KNOWLEDGE", ["MEMORY/KNOWLEDGE/n.md"]),
        (("MEMORY/x.md", "a.md", "p/q.md"), "", ["MEMORY/x.md", "a.md", "p/q.md"]),
        (("knowledge/a.md", "A_MEMORY.md"), "", ["A_MEMORY.md", "knowledge/a.md"]),
        (("MEMORY",), "", []),
        ((), "", []),
    ],
)
def test_the_corpus_is_knowledge_or_the_nested_one_or_the_bare_root(
    tmp_path: Path, files: tuple[str, ...], folder: str, corpus: list[str]
) -> None:
    make(tmp_path, *files)
    assert paths(tmp_path) == corpus
    assert walked(tmp_path).folder == folder


def test_folders_that_are_ours_are_no_corpus_of_a_bare_root(tmp_path: Path) -> None:
    ours = ("OBSERVABILITY", "INDEX", "CORTEX", "BENCHMARKS", "USER", "archive", "归档")
    make(tmp_path, *[f"{name}/x.md" for name in ours], "Notes/archive/x.md", "index/x.md")
    assert paths(tmp_path) == ["Notes/archive/x.md", "index/x.md"]


def test_an_empty_knowledge_hides_everything_else(tmp_path: Path) -> None:
    make(tmp_path, "MEMORY/KNOWLEDGE/n.md", "a.md")
    (tmp_path / "KNOWLEDGE").mkdir()
    assert paths(tmp_path) == []


@pytest.mark.parametrize(
    ("path", "counts"),
    [
        ("KNOWLEDGE/a.md", True),
        ("KNOWLEDGE/a.jsonl", True),
        ("KNOWLEDGE/漢字/日本.md", True),
        ("KNOWLEDGE/-dash.md", True),
        ("KNOWLEDGE/notes.md/inner.md", True),
        ("KNOWLEDGE/rows.jsonl/more.md", True),
        ("KNOWLEDGE/archive/a.md", True),
        ("KNOWLEDGE/a.MD", False),
        ("KNOWLEDGE/a.Jsonl", False),
        ("KNOWLEDGE/a.md.bak", False),
        ("KNOWLEDGE/a.txt", False),
        ("KNOWLEDGE/_a.md", False),
        ("KNOWLEDGE/.a.md", False),
        ("KNOWLEDGE/._a.md", False),
        ("KNOWLEDGE/_d/a.md", False),
        ("KNOWLEDGE/.d/a.md", False),
        ("DA_MEMORY.md", True),
        ("MEMORY.md", False),
        ("_MEMORY.md", False),
        ("_A_MEMORY.md", False),
        (".A_MEMORY.md", False),
        ("a_memory.md", False),
        ("A_MEMORY.jsonl", False),
    ],
)
def test_md_and_jsonl_count_and_names_with_a_leading_dot_or_underscore_do_not(
    tmp_path: Path, path: str, *, counts: bool
) -> None:
    (tmp_path / "KNOWLEDGE").mkdir()
    make(tmp_path, path)
    assert paths(tmp_path) == ([path] if counts else [])


def test_files_come_in_the_order_of_their_whole_paths(tmp_path: Path) -> None:
    make(tmp_path, "KNOWLEDGE/a/x.md", "KNOWLEDGE/a-b.md", "KNOWLEDGE/a0.md", "KNOWLEDGE/B.md", "KNOWLEDGE/ä.md")
    names = ["B.md", "a-b.md", "a/x.md", "a0.md", "ä.md"]
    assert paths(tmp_path) == [f"KNOWLEDGE/{name}" for name in names]


def test_sizes_are_those_of_the_files(tmp_path: Path) -> None:
    make(tmp_path, "KNOWLEDGE/a.md", text="12345")
    make(tmp_path, "KNOWLEDGE/b.md", text="")
    seen = walked(tmp_path)
    assert ([file.size for file in seen.files], seen.size_bytes) == ([5, 0], 5)


def link(name: str, target: str) -> Callable[[Path], None]:
    def act(root: Path) -> None:
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).symlink_to(target)

    return act


def fifo(name: str) -> Callable[[Path], None]:
    return lambda root: os.mkfifo(root / name)


def unix_socket(root: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(root / "KNOWLEDGE/s.md"))


@pytest.mark.parametrize(
    ("act", "expected"),
    [
        (link("KNOWLEDGE/l.md", "ok.md"), [("KNOWLEDGE/l.md", "link")]),
        (link("KNOWLEDGE/gone.md", "nowhere"), [("KNOWLEDGE/gone.md", "link")]),
        (link("KNOWLEDGE/l.txt", "ok.md"), [("KNOWLEDGE/l.txt", "link")]),
        (link("KNOWLEDGE/d/deep.md", "../ok.md"), [("KNOWLEDGE/d/deep.md", "link")]),
        (link("KNOWLEDGE/dl", "d"), [("KNOWLEDGE/dl", "link")]),
        (link("KNOWLEDGE/self", "."), [("KNOWLEDGE/self", "link")]),
        (link("KNOWLEDGE/out", "/tmp"), [("KNOWLEDGE/out", "link")]),
        (link("KNOWLEDGE/_l.md", "ok.md"), []),
        (link("other.md", "KNOWLEDGE/ok.md"), []),
        (link("X_MEMORY.md", "KNOWLEDGE/ok.md"), [("X_MEMORY.md", "link")]),
        (lambda root: (root / "X_MEMORY.md").mkdir(), [("X_MEMORY.md", "special-file")]),
        (fifo("X_MEMORY.md"), [("X_MEMORY.md", "special-file")]),
        (fifo("KNOWLEDGE/x.md"), [("KNOWLEDGE/x.md", "special-file")]),
        (fifo("KNOWLEDGE/x.txt"), []),
        (unix_socket, [("KNOWLEDGE/s.md", "special-file")]),
        (lambda root: make(root, "KNOWLEDGE/<private>s3cret.md"), [("KNOWLEDGE/", "name")]),
        (lambda root: make(root, "KNOWLEDGE/a<private>s3cret/b.md"), [("KNOWLEDGE/a", "name")]),
        (lambda root: make(root, "KNOWLEDGE/a<privateer>.md"), [("KNOWLEDGE/a", "name")]),
        (lambda root: make(root, "KNOWLEDGE/a</private>.md"), [("KNOWLEDGE/a.md", "name")]),
        (lambda root: make(root, "KNOWLEDGE/x</private>y.md"), [("KNOWLEDGE/xy.md", "name")]),
        (lambda root: make(root, "KNOWLEDGE/<b>.md", "KNOWLEDGE/<private>.txt"), []),
        (lambda root: (root / "KNOWLEDGE" / os.fsdecode(b"\xff")).mkdir(), [("KNOWLEDGE/\\xff", "name")]),
        (lambda root: os.mknod(bytes(root) + b"/KNOWLEDGE/\xff.md"), [("KNOWLEDGE/\\xff.md", "name")]),
        (lambda root: os.mknod(bytes(root) + b"/KNOWLEDGE/\xff.txt"), []),
    ],
)  # fmt: skip
def test_every_fault_of_shape_is_found(
    tmp_path: Path, act: Callable[[Path], None], expected: list[tuple[str, str]]
) -> None:
    make(tmp_path, "KNOWLEDGE/ok.md", "KNOWLEDGE/d/ok.md")
    act(tmp_path)
    assert faults(tmp_path) == expected
    assert all(found.remedy == REMEDIES[found.kind] for found in walked(tmp_path).faults)
    assert "s3cret" not in repr(walked(tmp_path).faults)


@pytest.mark.parametrize(
    ("act", "expected"),
    [
        (lambda root: make(root, "KNOWLEDGE"), [("KNOWLEDGE", "special-file")]),
        (link("KNOWLEDGE", "real"), [("KNOWLEDGE", "link")]),
        (link("KNOWLEDGE", "nowhere"), [("KNOWLEDGE", "link")]),
        (link("MEMORY", "real"), [("MEMORY", "link")]),
        (link("MEMORY", "../outside"), [("MEMORY", "link")]),
        (link("MEMORY", "nowhere"), [("MEMORY", "link")]),
        (lambda root: make(root, "MEMORY/KNOWLEDGE"), [("MEMORY/KNOWLEDGE", "special-file")]),
        (link("MEMORY/KNOWLEDGE", "../real"), [("MEMORY/KNOWLEDGE", "link")]),
    ],
)  # fmt: skip
def test_what_should_be_the_corpus_and_is_none_is_a_fault(
    tmp_path: Path, act: Callable[[Path], None], expected: list[tuple[str, str]]
) -> None:
    make(tmp_path, "real/KNOWLEDGE/a.md")
    act(tmp_path)
    assert faults(tmp_path) == expected
    assert walked(tmp_path).files == ()


@pytest.mark.parametrize("name", ["KNOWLEDGE/a.md", "KNOWLEDGE/d", "KNOWLEDGE"])
def test_what_this_user_may_not_read_is_a_fault(tmp_path: Path, name: str) -> None:
    make(tmp_path, "KNOWLEDGE/a.md", "KNOWLEDGE/d/b.md")
    for folder in (tmp_path, tmp_path / "KNOWLEDGE", tmp_path / "KNOWLEDGE/d"):
        folder.chmod(0o755)
    with pin(tmp_path) as pinned, as_somebody_else():
        assert survey(pinned).faults == ()
    (tmp_path / name).chmod(0)
    try:
        with pin(tmp_path) as pinned, as_somebody_else():
            found = survey(pinned).faults
    finally:
        (tmp_path / name).chmod(0o755)
    assert [(fault.path, fault.kind) for fault in found] == [(name, "unreadable")]


class TestLimits:
    @pytest.fixture(autouse=True)
    def _small(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(walk, "CORPUS_MAX_FILES", 5)
        monkeypatch.setattr(walk, "CORPUS_MAX_FILE_BYTES", 10)
        monkeypatch.setattr(walk, "CORPUS_MAX_BYTES", 40)

    @pytest.mark.parametrize(
        ("sizes", "expected"),
        [
            ([1] * 5, []),
            ([1] * 6, [("KNOWLEDGE", "limit")]),
            ([10, 10], []),
            ([1, 11, 12], [("KNOWLEDGE/1.md", "limit"), ("KNOWLEDGE/2.md", "limit")]),
            ([8] * 5, []),
            ([9, 8, 8, 8, 8], [("KNOWLEDGE", "limit")]),
        ],
    )
    def test_a_corpus_may_reach_a_limit_but_not_pass_it(
        self, tmp_path: Path, sizes: list[int], expected: list[tuple[str, str]]
    ) -> None:
        for number, size in enumerate(sizes):
            make(tmp_path, f"KNOWLEDGE/{number}.md", text="x" * size)
        assert faults(tmp_path) == expected

    def test_hot_files_count_too(self, tmp_path: Path) -> None:
        make(tmp_path, *[f"KNOWLEDGE/{n}.md" for n in range(5)], "A_MEMORY.md")
        assert faults(tmp_path) == [("KNOWLEDGE", "limit")]

    def test_past_the_limit_of_files_the_walk_stops_and_what_it_saw_is_there(self, tmp_path: Path) -> None:
        make(tmp_path, *[f"KNOWLEDGE/{n}/x.md" for n in range(9)])
        seen = walked(tmp_path)
        assert len(seen.files) == 6
        assert "stopped" in seen.faults[0].message


class TestRoot:
    def test_a_root_may_be_a_link_and_is_resolved_once(self, tmp_path: Path) -> None:
        make(tmp_path, "real/KNOWLEDGE/a.md")
        (tmp_path / "alias").symlink_to("real")
        with pin(tmp_path / "alias") as pinned:
            (tmp_path / "alias").unlink()
            assert pinned.path == os.path.realpath(tmp_path / "real")
            assert [file.path for file in survey(pinned).files] == ["KNOWLEDGE/a.md"]

    def test_a_pinned_root_stays_the_same_folder_when_its_name_moves_on(self, tmp_path: Path) -> None:
        make(tmp_path, "root/KNOWLEDGE/a.md")
        with pin(tmp_path / "root") as pinned:
            (tmp_path / "root").rename(tmp_path / "moved")
            make(tmp_path, "root/KNOWLEDGE/other.md")
            assert [file.path for file in survey(pinned).files] == ["KNOWLEDGE/a.md"]

    @pytest.mark.parametrize(
        ("name", "kind"),
        [
            ("nothing", "unreadable"),
            ("file", "special-file"),
            ("fifo", "special-file"),
            ("dangling", "unreadable"),
            ("loop", "unreadable"),
            ("file/below", "unreadable"),
            ("a\0b", "unreadable"),
        ],
    )
    def test_a_root_that_is_no_folder_is_refused_by_name(self, tmp_path: Path, name: str, kind: str) -> None:
        make(tmp_path, "file")
        os.mkfifo(tmp_path / "fifo")
        (tmp_path / "dangling").symlink_to("nowhere")
        (tmp_path / "loop").symlink_to("loop")
        with pytest.raises(CorpusError) as caught:
            pin(f"{tmp_path}/{name}")
        assert caught.value.fault.kind == kind
        assert str(caught.value).startswith(f"{tmp_path}/{name}: the memory root ")


def open_descriptors() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


class TestDescriptors:
    @pytest.fixture
    def deep(self, tmp_path: Path) -> Iterator[Path]:
        """A tree far deeper than a path may be long, with a file and a sibling on every level."""
        top = descriptor = os.open(tmp_path, os.O_RDONLY)
        for level in range(OPEN_FOLDERS_AT_MOST * 4):
            os.mkdir("folder-with-a-long-name", dir_fd=descriptor)
            os.mkdir(f"z{level}", dir_fd=descriptor)
            os.close(os.open("a.md", os.O_CREAT | os.O_WRONLY, dir_fd=descriptor))
            below = os.open("folder-with-a-long-name", os.O_RDONLY, dir_fd=descriptor)
            if descriptor != top:
                os.close(descriptor)
            descriptor = below
        os.close(descriptor)
        os.close(top)
        yield tmp_path
        os.system(f"rm -rf '{tmp_path}/folder-with-a-long-name'")

    def test_however_deep_a_tree_is_only_so_many_folders_are_open(
        self, deep: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        most = 0
        opened = Folders.descriptor

        def counting(self: Folders, folder: str) -> int:
            nonlocal most
            result = opened(self, folder)
            most = max(most, open_descriptors())
            return result

        before = open_descriptors()
        monkeypatch.setattr(Folders, "descriptor", counting)
        assert len(paths(deep)) == OPEN_FOLDERS_AT_MOST * 4
        assert before < most <= before + OPEN_FOLDERS_AT_MOST + 4
        assert open_descriptors() == before


def test_a_fault_reads_as_one_clause() -> None:
    assert describe(fault("a.jsonl", 3, "json", "is no JSON object")) == "a.jsonl, line 3: is no JSON object"
    assert str(CorpusError(fault("a.md", None, "link", "is a link"))) == "a.md: is a link"
