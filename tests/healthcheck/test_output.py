"""Files are written whole or not at all."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from healthcheck.output import TEXTFILE_MODE, describe_error, write_whole


@pytest.fixture
def umask_077() -> Iterator[None]:
    """A umask that would hide files from everybody else."""
    before = os.umask(0o077)
    yield
    os.umask(before)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.usefixtures("umask_077")
@pytest.mark.parametrize("mode", [0o644, 0o600])
def test_the_mode_is_exact_whatever_the_umask(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "m.prom"
    write_whole(str(path), b"1\n", mode)
    assert (path.read_bytes(), mode_of(path)) == (b"1\n", mode)


def test_an_older_file_is_replaced_with_its_mode_and_nothing_else_is_left(tmp_path: Path) -> None:
    path = tmp_path / "m.prom"
    path.write_bytes(b"old and longer\n")
    path.chmod(0o600)
    write_whole(str(path), b"new\n", TEXTFILE_MODE)
    assert (path.read_bytes(), mode_of(path)) == (b"new\n", 0o644)
    assert list(tmp_path.iterdir()) == [path]


def test_the_temporary_file_is_no_textfile_and_is_there_before_the_rename(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[str, int]] = []
    rename = os.rename

    def look(source: str, target: str) -> None:
        seen.append((source, mode_of(Path(source))))
        rename(source, target)

    monkeypatch.setattr("os.rename", look)
    write_whole(str(tmp_path / "m.prom"), b"1\n", TEXTFILE_MODE)
    ((temporary, mode),) = seen
    assert Path(temporary).parent == tmp_path
    assert not temporary.endswith(".prom")
    assert mode == 0o644


@pytest.mark.parametrize("call", ["fchmod", "write", "fsync", "rename"])
def test_after_a_failure_the_old_file_stands_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    path = tmp_path / "m.prom"
    path.write_bytes(b"old\n")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(f"os.{call}", fail)
    with pytest.raises(OSError, match="No space left"):
        write_whole(str(path), b"new\n", TEXTFILE_MODE)
    monkeypatch.undo()
    assert [(entry.name, entry.read_bytes()) for entry in tmp_path.iterdir()] == [("m.prom", b"old\n")]


@pytest.mark.parametrize("kind", ["link", "folder", "fifo"])
def test_what_is_no_regular_file_is_not_replaced(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "m.prom"
    match kind:
        case "link":
            path.symlink_to("nowhere")
        case "folder":
            path.mkdir()
        case _:
            os.mkfifo(path)
    before = path.lstat()
    with pytest.raises(OSError, match="no regular file"):
        write_whole(str(path), b"new\n", TEXTFILE_MODE)
    assert path.lstat() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_name_without_a_folder_lies_in_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_whole("m.prom", b"1\n", TEXTFILE_MODE)
    assert (tmp_path / "m.prom").read_bytes() == b"1\n"


def test_a_missing_folder_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_whole(str(tmp_path / "no" / "m.prom"), b"1\n", TEXTFILE_MODE)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(28, "No space left on device", "/secret"), "No space left on device"),
        (OSError("short"), "short"),
        (OSError(), "OSError"),
    ],
)
def test_an_error_is_told_without_a_path(error: OSError, words: str) -> None:
    assert describe_error(error) == words
