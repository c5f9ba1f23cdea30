"""A skill on disk: read whole or not at all, written whole or not at all, and never through a link."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from skillpipe.errors import SkillpipeError
from skillpipe.skill import read_folder, write_folder
from test_skill_folder import FILES


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def refusal(path: Path) -> str:
    with pytest.raises(SkillpipeError) as caught:
        read_folder(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    return message


def test_what_is_written_is_read_back_byte_for_byte(tmp_path: Path) -> None:
    write_folder(tmp_path / "new" / "a", FILES)
    assert read_folder(tmp_path / "new" / "a") == FILES
    assert list(read_folder(tmp_path / "new" / "a")) == sorted(FILES)
    assert names(tmp_path / "new") == ["a"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no executable bit")
def test_a_script_with_a_shebang_is_executable(tmp_path: Path) -> None:
    write_folder(tmp_path / "a", FILES)
    assert os.access(tmp_path / "a" / "scripts" / "run.py", os.X_OK)
    assert not os.access(tmp_path / "a" / "SKILL.md", os.X_OK)


def test_writing_replaces_a_folder_whole(tmp_path: Path) -> None:
    write_folder(tmp_path / "a", FILES)
    write_folder(tmp_path / "a", {"SKILL.md": b"new\n"})
    assert read_folder(tmp_path / "a") == {"SKILL.md": b"new\n"}
    assert names(tmp_path) == ["a"]


def test_a_failed_write_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_folder(tmp_path / "a", FILES)
    rename = Path.rename

    def failing(self: Path, target: Path) -> Path:
        if self.name == "new":
            raise OSError("disk full")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(OSError, match="disk full"):
        write_folder(tmp_path / "a", {"SKILL.md": b"new\n"})
    assert read_folder(tmp_path / "a") == FILES
    assert names(tmp_path) == ["a"]


def test_a_single_markdown_file_is_a_skill(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_bytes(b"\xef\xbb\xbf# A\r\n")
    assert read_folder(tmp_path / "notes.md") == {"SKILL.md": b"\xef\xbb\xbf# A\r\n"}


def test_what_is_no_skill_is_refused_in_one_line(tmp_path: Path) -> None:
    assert "no such folder" in refusal(tmp_path / "nothing")
    (tmp_path / "empty").mkdir()
    assert "no SKILL.md" in refusal(tmp_path / "empty")
    (tmp_path / "empty" / "skill.md").write_text("x")
    if names(tmp_path / "empty") == ["skill.md"]:
        assert "rename skill.md" in refusal(tmp_path / "empty")
    (tmp_path / "x.txt").write_text("x")
    refusal(tmp_path / "x.txt")
    (tmp_path / "latin.md").write_bytes(b"caf\xe9")
    assert "not UTF-8" in refusal(tmp_path / "latin.md")


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege on Windows")
def test_a_link_out_of_the_folder_is_refused_and_one_inside_is_read(tmp_path: Path) -> None:
    root = tmp_path / "a"
    write_folder(root, FILES)
    (root / "inside.md").symlink_to("references/deep/more.md")
    assert read_folder(root)["inside.md"] == FILES["references/deep/more.md"]
    for name, target in {"out.md": "../x.md", "abs": "/etc/hostname", "dir": "references", "gone": "nothing"}.items():
        (tmp_path / "x.md").write_text("x")
        (root / name).symlink_to(target)
        with pytest.raises(SkillpipeError, match=name):
            read_folder(root)
        (root / name).unlink()


@pytest.mark.skipif(sys.platform == "win32", reason="no named pipes in the file system of Windows")
def test_what_is_neither_file_nor_folder_is_refused(tmp_path: Path) -> None:
    write_folder(tmp_path / "a", FILES)
    os.mkfifo(tmp_path / "a" / "pipe")
    with pytest.raises(SkillpipeError, match="pipe"):
        read_folder(tmp_path / "a")


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege on Windows")
def test_a_link_is_never_written_through(tmp_path: Path) -> None:
    write_folder(tmp_path / "real", FILES)
    (tmp_path / "link").symlink_to("real")
    with pytest.raises(SkillpipeError, match="link"):
        write_folder(tmp_path / "link", {"SKILL.md": b""})
    assert read_folder(tmp_path / "real") == FILES


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"x.md": b""},
        {"SKILL.md": b"", "../x": b""},
        {"SKILL.md": b"", "a": b"", "a/b": b""},
        {"SKILL.md": b"", "": b""},
    ],
)
def test_files_that_are_no_skill_are_not_written(tmp_path: Path, files: dict[str, bytes]) -> None:
    with pytest.raises(SkillpipeError):
        write_folder(tmp_path / "a", files)
    assert names(tmp_path) == []


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    with pytest.raises(SkillpipeError, match="is a file"):
        write_folder(tmp_path / "a", FILES)
