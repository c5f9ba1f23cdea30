"""diff.py: a patch that `git apply` takes."""

import subprocess

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skillpipe.diff import folder_diff

TEXT = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n"


def apply_with_git(folder, old, new, name="skills/a/SKILL.md"):
    """The file's bytes after `git apply` of the diff from `old` to `new`."""
    target = folder / name
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(old)
    patch = folder_diff({"SKILL.md": old}, {"SKILL.md": new}, {"SKILL.md": name})
    command = ["git", "-c", "core.autocrlf=false", "apply", "-"]
    done = subprocess.run(command, cwd=folder, input=patch.encode(), capture_output=True, check=False)
    assert done.returncode == 0, f"{done.stderr.decode()}\n{patch}"
    return target.read_bytes()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (TEXT, TEXT + "ten\n"),
        (TEXT, TEXT.replace("two\n", "").replace("eight", "EIGHT")),
        (TEXT, "zero\n" + TEXT),
        (TEXT.replace("\n", "\r\n"), TEXT.replace("\n", "\r\n") + "ten\r\n"),
        ("one\r\ntwo\n", "one\ntwo\r\n"),
        ("one\ntwo", "one\ntwo\nthree"),
        ("one\ntwo", "one\ntwo\n"),
        ("one\ntwo\n", "one\ntwo"),
        ("one\ntwo", "ONE\ntwo"),
        ("a\u2028b\fc\x85d\n", "a\u2028b\fC\x85d\n"),
        ("one\rtwo\n", "one\rTWO\n"),
        ("\ufeffone\n", "\ufeffone\ntwo\n"),
        ("", "one\n"),
        ("one\n", ""),
        ("-- \n+++ x\n@@ -1 +1 @@\n", "--- x\n+++ x\n@@ -1 +1 @@\n"),
        ("one \t\n", "one \t\ntwo  \n"),
    ],
)
def test_git_turns_the_old_file_into_the_new_one_byte_by_byte(tmp_path, old, new):
    assert apply_with_git(tmp_path, old.encode(), new.encode()) == new.encode()


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(*[st.lists(st.sampled_from(["a", "b", "c", "\r", "\x0c", "é", "\n"]), max_size=14).map("".join)] * 2)
def test_git_takes_the_diff_of_any_two_texts(tmp_path, old, new):
    if old != new:
        assert apply_with_git(tmp_path, old.encode(), new.encode()) == new.encode()


@pytest.mark.parametrize("name", ["skills/two words/SKILL.md", "skills/é/SKILL.md", 'skills/q"t/SKILL.md', "SKILL.md"])
def test_git_finds_a_file_of_any_name(tmp_path, name):
    assert apply_with_git(tmp_path, b"one\n", b"two\n", name) == b"two\n"


def test_equal_folders_have_an_empty_diff():
    assert folder_diff({"SKILL.md": b"one\n"}, {"SKILL.md": b"one\n"}, {"SKILL.md": "a/SKILL.md"}) == ""


def test_only_files_that_differ_are_in_the_diff_by_path_and_others_need_not_be_text():
    old = {"b.md": b"one\n", "SKILL.md": b"one\n", "logo.png": b"\xff\xfe"}
    new = old | {"b.md": b"two\n", "SKILL.md": b"two\n"}
    patch = folder_diff(old, new, {path: f"s/{path}" for path in old})
    headers = [line for line in patch.splitlines() if line.startswith("diff ")]
    assert headers == ["diff --git a/s/SKILL.md b/s/SKILL.md", "diff --git a/s/b.md b/s/b.md"]


def test_the_same_folders_give_the_same_patch():
    old, new = {"SKILL.md": TEXT.encode()}, {"SKILL.md": b"x\n" + TEXT.encode()}
    assert len({folder_diff(old, new, {"SKILL.md": "SKILL.md"}) for _ in range(3)}) == 1
