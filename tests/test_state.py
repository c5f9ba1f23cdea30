"""state.py: all that a later step may know, in one folder of one shape."""

from dataclasses import replace

import pytest

from samples import append, broken
from skillpipe.errors import SkillpipeError
from skillpipe.records import ValScore
from skillpipe.state import State, Version, read_state, val_scores, write_state
from workbench import lineage, state, val

FILES = {"SKILL.md": b"---\r\nname: a\r\n---\r\n# A", "references/deep/a.md": b"x", "assets/logo.png": b"\xff\x00"}


def full() -> State:
    """A state whose current and best skills differ, with several files and a history."""
    begun = state(1, None, 0.5)
    best = Version(FILES, begun.current.val)
    row = replace(begun.history[0], step="e1s1", train_hard=0.25)
    return State(begun.current, best, (*begun.history, row), (lineage("e1s1", append("x", "t1")),))


def files(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_state_is_read_back_as_it_was_written(tmp_path):
    write_state(tmp_path / "state", full())
    assert read_state(tmp_path / "state") == full()


def test_a_state_has_one_shape_on_disk(tmp_path):
    write_state(tmp_path / "state", state(1, 0))
    assert set(files(tmp_path / "state")) == {
        "current/skill/SKILL.md", "current/val.jsonl", "best/skill/SKILL.md", "best/val.jsonl",
        "history.jsonl", "lineage.jsonl", "tried.jsonl", "memory.json", "stop.txt",
    }  # fmt: skip


def test_the_files_of_a_skill_keep_their_bytes(tmp_path):
    write_state(tmp_path / "state", full())
    assert {name: (tmp_path / "state" / "best" / "skill" / name).read_bytes() for name in FILES} == FILES


def test_the_same_state_gives_the_same_bytes(tmp_path):
    for name in ("one", "two"):
        write_state(tmp_path / name, full())
    assert files(tmp_path / "one") == files(tmp_path / "two")


def test_a_state_takes_the_place_of_an_older_one_whole(tmp_path):
    write_state(tmp_path / "state", full())
    write_state(tmp_path / "state", state(1))
    assert read_state(tmp_path / "state") == state(1)
    assert [path.name for path in tmp_path.iterdir()] == ["state"]


def test_a_state_that_cannot_be_written_leaves_the_older_one(tmp_path):
    write_state(tmp_path / "state", full())
    bad = replace(full(), lineage=(replace(full().lineage[0], rank=0),))
    with pytest.raises(SkillpipeError, match="rank"):
        write_state(tmp_path / "state", bad)
    assert read_state(tmp_path / "state") == full()
    assert [path.name for path in tmp_path.iterdir()] == ["state"]


def test_val_scores_hold_the_scores_in_order_and_no_text():
    assert val_scores([*val(1, 0), broken("v2")]) == (
        ValScore("v0", "", 1, 1),
        ValScore("v1", "", 0, 0),
        ValScore("v2", "", None, None),
    )


@pytest.mark.parametrize(
    ("name", "said"),
    [("history.jsonl", "history.jsonl: no such file"), ("best/val.jsonl", r"val\.jsonl: no such file"),
     ("best/skill/SKILL.md", "SKILL.md"), ("", "state: no such folder; run `dvc repro`")],
)  # fmt: skip
def test_a_state_with_something_missing_is_refused_by_name(tmp_path, name, said):
    if name:
        write_state(tmp_path / "state", full())
        (tmp_path / "state" / name).unlink()
    with pytest.raises(SkillpipeError, match=said):
        read_state(tmp_path / "state")


def test_a_row_that_does_not_fit_is_refused_with_its_place(tmp_path):
    write_state(tmp_path / "state", full())
    (tmp_path / "state" / "lineage.jsonl").write_text('{"step": "e1s1"}\n')
    with pytest.raises(SkillpipeError, match=r"lineage\.jsonl:1: "):
        read_state(tmp_path / "state")
