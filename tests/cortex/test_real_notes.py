"""A thousand real notes: every fault is listed with its place, and once they are mended the commands answer."""

import re
import shutil
import tarfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from support.asking import ask, data, ids

ARCHIVE = Path(__file__).parents[1] / "data" / "real-memory.tar.gz"
EPOCH = re.compile(r"(?m)^(created|updated): ['\"]?(\d{12,13})['\"]?[ \t]*$")
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


@pytest.fixture(scope="module")
def notes(tmp_path_factory) -> Path:
    """The memory root of the real notes, as they were found."""
    folder = tmp_path_factory.mktemp("real")
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    return next(folder.rglob("KNOWLEDGE")).parent


@pytest.fixture(scope="module")
def mended(notes, tmp_path_factory) -> Path:
    """A copy with its dates, control characters and doubled id mended, as its owner would."""
    root = tmp_path_factory.mktemp("mended") / "MEMORY"
    shutil.copytree(notes, root)
    for path in sorted((root / "KNOWLEDGE").rglob("*.md")):
        text = path.read_bytes().decode()
        text = EPOCH.sub(lambda date: f"{date[1]}: {datetime.fromtimestamp(int(date[2]) // 1000, UTC):%FT%TZ}", text)
        path.write_bytes(CONTROL.sub("", text).encode())
    (twin,) = data(root, "check", "--list")["items"]
    path = root / twin["path"]
    path.write_text(re.sub("(?m)^id: .*$", "id: twin", path.read_text(encoding="utf-8"), count=1), encoding="utf-8")
    return root


def test_every_fault_of_the_notes_is_listed_by_kind_with_its_file_line_and_remedy(notes):
    pages = [data(notes, "check", "--list", "--page", str(number)) for number in range(1, 21)]
    faults = [fault for page in pages for fault in page["items"]]
    assert pages[0]["by_kind"] == {"control-character": 6, "duplicate-id": 1, "timestamp": 1900}
    assert (pages[0]["files"], pages[0]["records"], pages[0]["total"], len(faults)) == (1016, 3, 1907, 1907)
    assert all((notes / fault["path"]).is_file() and fault["remedy"] for fault in faults)
    assert {fault["line"] is None for fault in faults if fault["kind"] == "control-character"} == {False}
    assert ask(notes, "search", "publish")[1]["error"]["code"] == "integrity_error"


def test_once_they_are_mended_the_notes_answer(mended):
    assert data(mended, "check") == {"files": 1016, "records": 1016, "sound": True}
    cards = data(mended, "search", "publish notes to github pages", "--page-size", "3")["items"]
    assert [Path(card["provenance"]["path"]).stem for card in cards] == [
        "dendron.topic.publish.cook.github-action",
        "dendron.topic.publish.cook.github",
        "dendron.topic.publish-legacy.github",
    ]
    (note,) = data(mended, "get", cards[0]["id"])["items"]
    assert note["title"] == "GitHub Pages with GitHub Actions"
    around = ids(mended, "timeline", "--anchor", cards[0]["id"], "--before", "1", "--after", "1")
    assert around[1] == cards[0]["id"]
    assert data(mended, "rebuild", "--from-canonical")["equivalent"]
