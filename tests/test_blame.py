"""blame.py: each line of the best skill back to the edit that wrote it."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from skillpipe.artifacts import write_rows
from skillpipe.blame import as_text, blame, edits_of_best, main, name_of, read_blame
from skillpipe.errors import SkillpipeError
from skillpipe.lineage import splice_in_folder
from skillpipe.records import Action, Edit, LineageRow
from skillpipe.skill import apply_to_folder, write_folder
from workbench import SKILL

Folder = dict[str, bytes]
INITIAL = {"SKILL.md": SKILL.encode(), "notes.txt": b"one\r\ntwo"}
STEPS: list[tuple[str, Action, list[Edit]]] = [
    ("e1s1", "accept_new_best", [Edit("append", "- be brief", tasks=("t1", "t2", "t3")), Edit("append", "- be kind")]),
    ("e1s2", "reject", [Edit("append", "- shout")]),
    ("e1s3", "accept_new_best", [
        Edit("replace", "- be very brief", target="- be brief", tasks=("t4",)),
        Edit("replace", "Use CAPITALS.", target="Use capitals."),
        Edit("append", "three", file="notes.txt"),
        Edit("delete", target="- be kind"),
    ]),
    ("e2s1", "accept", [Edit("append", "- not better than the best")]),
]  # fmt: skip


def run_of(steps: Sequence[tuple[str, Action, list[Edit]]]) -> tuple[list[LineageRow], dict[str, Folder]]:
    """The lineage of these steps, and the candidate of each; a rejected one is built on by none."""
    current, rows, candidates = dict(INITIAL), [], {}
    for step, action, edits in steps:
        candidate = current
        for rank, edit in enumerate(edits, start=1):
            before = candidate
            candidate, (report,) = apply_to_folder(before, [edit], editable=["**"])
            assert report.status == "applied", report
            splice = splice_in_folder(before, candidate, edit.file, report.splice)
            rows.append(LineageRow(step, rank, edit, report.old_lines, report.lines, action, 0.25, 0.5, splice))
        candidates[step] = candidate
        current = current if action == "reject" else candidate
    return rows, candidates


LINEAGE, CANDIDATES = run_of(STEPS)
BEST = CANDIDATES["e1s3"]


@pytest.fixture
def results(tmp_path: Path) -> Path:
    write_folder(tmp_path / "initial", INITIAL)
    write_folder(tmp_path / "best", BEST)
    write_rows(tmp_path / "lineage.jsonl", LINEAGE)
    return tmp_path


def test_the_accepted_edits_that_blame_names_rebuild_the_best_skill_byte_for_byte(results, capsys):
    assert main([str(results / "best" / "SKILL.md"), "--json"]) == 0
    skill = INITIAL
    for edit in json.loads(capsys.readouterr().out)["edits"]:
        skill, (report,) = apply_to_folder(skill, [edit], editable=["**"])
        assert report.status == "applied"
    assert skill == BEST


def test_each_line_is_shown_with_its_origin_and_all_lines_make_up_the_file(results):
    found = read_blame(results / "best" / "SKILL.md")
    assert "".join(line.text for line in found.lines).encode() == BEST["SKILL.md"]
    origins = {line.text.strip(): [name_of(row) for row in line.edits] for line in found.lines}
    assert origins["# Toy"] == []
    assert origins["- be very brief"] == ["e1s3#1", "e1s1#1"]
    assert origins["Use CAPITALS."] == ["e1s3#2"]


def test_a_chain_of_edits_says_whether_it_ends_in_the_initial_skill(results):
    initial = {line.text.strip(): line.initial for line in read_blame(results / "best" / "SKILL.md").lines}
    assert (initial["# Toy"], initial["Use CAPITALS."], initial["- be very brief"]) == (True, True, False)


def test_a_line_that_only_gained_its_line_end_keeps_its_origin(results):
    lines = read_blame(results / "best" / "notes.txt").lines
    assert [(line.text, len(line.edits)) for line in lines] == [
        ("one\r\n", 0), ("two\r\n", 0), ("\r\n", 1), ("three\r\n", 1),
    ]  # fmt: skip


def test_an_edit_of_which_no_line_is_left_is_named_all_the_same(results):
    found = read_blame(results / "best" / "SKILL.md")
    assert [name_of(row) for row in found.without_a_line] == ["e1s1#2", "e1s3#4"]
    assert "e1s3#4: delete, of which no line is left: '- be kind'" in as_text(found)


def test_rejected_edits_and_those_after_the_best_skill_are_no_part_of_it():
    assert {row.step for row in edits_of_best(INITIAL, BEST, LINEAGE)} == {"e1s1", "e1s3"}


def test_the_initial_skill_as_the_best_has_no_edits():
    assert edits_of_best(INITIAL, INITIAL, LINEAGE) == ()


def test_of_two_steps_with_the_best_skill_the_later_one_counts():
    undone = [("e3s1", "accept", [Edit("delete", target="- not better than the best")])]
    rows, candidates = run_of([*STEPS, *undone])
    assert candidates["e3s1"] == BEST
    assert edits_of_best(INITIAL, BEST, rows)[-1].step == "e3s1"


def test_a_best_skill_that_no_step_had_is_refused():
    changed = BEST | {"SKILL.md": BEST["SKILL.md"] + b"- by hand\n"}
    with pytest.raises(SkillpipeError, match="none that the 7 accepted edits"):
        edits_of_best(INITIAL, changed, LINEAGE)


def test_the_text_has_edit_scores_tasks_number_and_line(results, capsys):
    assert main([str(results / "best" / "SKILL.md")]) == 0
    lines = capsys.readouterr().out.splitlines()
    [told] = [line for line in lines if line.endswith("- be very brief")]
    assert told.split() == ["e1s3#1", "<", "e1s1#1", "0.250", "->", "0.500", "t4", "9)", "-", "be", "very", "brief"]
    assert lines[0].split() == ["initial", "1)", "---"]


@pytest.mark.parametrize("name", ["SKILL.md", "best/none.md"])
def test_a_path_that_is_no_file_of_a_best_skill_is_refused_in_one_line(results, capsys, name):
    assert main([str(results / name)]) == 1
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 1
    assert told[0].startswith("error: ")


def test_a_file_that_no_edit_touched_is_all_initial():
    assert all(line.initial and not line.edits for line in blame(INITIAL, LINEAGE[:2], "notes.txt").lines)
