"""A skill as a folder: edits of its files. What it is on disk: test_skill_store.py."""

from __future__ import annotations

from typing import Any

import pytest

from skillpipe.skill import apply_to_folder
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
