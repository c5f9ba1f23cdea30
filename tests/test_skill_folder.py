"""A skill as a folder: edits of its files, reading it from disk and writing it back."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from skillpipe.errors import SkillpipeError
from skillpipe.skill import apply_to_folder, read_folder, write_folder
from skillpipe.skill import folder as folder_module
from skillpipe.skill.folder import newly_broken
from skillpipe.skill.paths import is_editable, path_problem
from skillpipe.skill.validate import Finding

SKILL = b"---\nname: a\ndescription: b\n---\n# A\r\n\r\n- x\r\n"
FILES = {
    "SKILL.md": SKILL,
    "assets/logo.png": b"\x89PNG\xff",
    "references/deep/more.md": b"---\nk: v\n---\n- r\n",
    "scripts/run.py": b"#!/usr/bin/env python\ndef f():\n    x = 1\n\n\n    return x\n",
}


def edit(op: str, target: str = "", content: str = "", **more: Any) -> dict[str, Any]:
    return {"op": op, "target": target, "content": content, **more}


def one(made: object, *editable: str) -> tuple[dict[str, bytes], str, str]:
    files, reports = apply_to_folder(FILES, [made], editable=editable or ("SKILL.md",), folder_name="a")
    return files, reports[0].status, reports[0].reason


# ---- edits -------------------------------------------------------------------------------------------------------


def test_an_edit_without_a_file_is_for_skill_md() -> None:
    files, status, _ = one(edit("append", content="- y"))
    assert status == "applied"
    assert files == {**FILES, "SKILL.md": SKILL + b"\r\n- y\r\n"}
    assert list(files) == list(FILES)


def test_an_edit_may_name_another_file_that_is_editable() -> None:
    files, status, _ = one(edit("append", content="- s", file="references/deep/more.md"), "references/**/*.md")
    assert status == "applied"
    assert files["references/deep/more.md"] == b"---\nk: v\n---\n- r\n\n- s\n"


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (edit("insert_after", "x = 1", "    y = 2"), b"    x = 1\n    y = 2\n\n\n"),
        (edit("replace", "x = 1", "x = 2"), b"    x = 2\n"),
        (edit("append", content="    # end"), b"    return x\n\n    # end\n"),
        (edit("append", content="```\nopen"), b"    return x\n\n```\nopen\n"),
        (edit("delete", "    return x"), b"    x = 1\n\n\n"),
    ],
)
def test_a_script_is_edited_as_plain_lines(made: dict[str, Any], expected: bytes) -> None:
    files, status, reason = one({**made, "file": "scripts/run.py"}, "**")
    assert status == "applied", reason
    assert expected in files["scripts/run.py"]


def test_a_script_has_no_sections() -> None:
    assert one(edit("delete", "x = 1", section="# A", file="scripts/run.py"), "**")[1] == "invalid"


@pytest.mark.parametrize(
    "path",
    [
        *("../SKILL.md", "a/../../b", "/etc/passwd", "\\\\host\\x", "a\\b", "C:/x", "c:x", "./SKILL.md", "a//b", "a/"),
        *("..", ".", "a/./b", "a\0b", "a\nb", "no-such.md", "skill.md", "references", " SKILL.md"),
    ],
)
def test_a_path_that_is_no_file_of_the_skill_is_invalid(path: str) -> None:
    files, status, reason = one(edit("append", content="- y", file=path), "**")
    assert (files, status) == (FILES, "invalid")
    assert "\n" not in reason


def test_a_file_that_is_not_text_is_invalid() -> None:
    assert one(edit("append", content="y", file="assets/logo.png"), "**")[1] == "invalid"


def test_a_file_that_is_not_editable_is_protected() -> None:
    assert one(edit("append", content="y", file="scripts/run.py"))[1] == "protected"
    assert one(edit("append", content="y"), "references/*")[1] == "protected"


def test_limits_bound_skill_md_alone_and_edits_of_files_keep_their_order() -> None:
    edits = [
        edit("append", content="- y"),
        edit("append", content="- s", file="references/deep/more.md"),
        edit("replace", "- s", "- t", file="references/deep/more.md"),
        edit("delete", "- x"),
    ]
    files, reports = apply_to_folder(FILES, edits, editable=["**"], folder_name="a", max_lines=7)
    assert [report.status for report in reports] == ["invalid", "applied", "applied", "applied"]
    assert [report.index for report in reports] == [0, 1, 2, 3]
    assert [report.file for report in reports] == ["SKILL.md", *["references/deep/more.md"] * 2, "SKILL.md"]
    assert files["references/deep/more.md"].endswith(b"- t\n")


def test_files_that_did_not_change_are_the_same_objects() -> None:
    files, _, _ = one(edit("append", content="- y"))
    assert files["scripts/run.py"] is FILES["scripts/run.py"]


def test_an_edit_after_which_validate_finds_a_new_error_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def strict(text: str, folder_name: str | None) -> list[Finding]:
        return [Finding("error", 1, "no title")] if not text.startswith("# ") else []

    monkeypatch.setattr(folder_module, "validate", strict)
    edits = [edit("replace", "# A", "text"), edit("replace", "# A", "# B")]
    files, reports = apply_to_folder({"SKILL.md": b"# A\n\n- x\n"}, edits)
    assert [report.status for report in reports] == ["invalid", "applied"]
    assert files["SKILL.md"] == b"# B\n\n- x\n"


def test_an_error_that_was_there_before_is_no_new_one() -> None:
    assert newly_broken("---\nname: A\n---\n", "---\nname: A\n---\nx\n", "a") == ""
    assert newly_broken("x\n", "---\nname: a\n", "a") != ""


def test_a_skill_without_skill_md_refuses_edits_of_it() -> None:
    _, reports = apply_to_folder({"x.md": b""}, [edit("append", content="y")])
    assert reports[0].status == "invalid"


@pytest.mark.parametrize(
    ("glob", "path", "expected"),
    [
        ("SKILL.md", "SKILL.md", True),
        ("*.md", "SKILL.md", True),
        ("*.md", "references/a.md", False),
        ("**/*.md", "references/deep/a.md", True),
        ("**/*.md", "SKILL.md", True),
        ("references/**", "references/deep/a.txt", True),
        ("references/*", "references/deep/a.txt", False),
        ("a?.md", "ab.md", True),
        ("[ab].md", "a.md", False),
        ("skill.md", "SKILL.md", False),
    ],
)
def test_a_glob_matches_a_whole_path(glob: str, path: str, expected: bool) -> None:
    assert is_editable(path, [glob]) is expected


def test_plain_paths_are_no_problem() -> None:
    assert [path_problem(path) for path in ("SKILL.md", "a/b c/ü.md", "...", "a/..b")] == ["", "", "", ""]


# ---- disk --------------------------------------------------------------------------------------------------------


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
