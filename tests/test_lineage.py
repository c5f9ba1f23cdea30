"""lineage.py: each edit's exact change, replayed byte for byte."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from skillpipe.errors import SkillpipeError
from skillpipe.lineage import replay, replay_folder, splice_in_folder, splice_of
from skillpipe.records import Edit, LineageRow, Splice
from skillpipe.skill import apply_edits, apply_to_folder
from skillpipe.skill.lines import body_of, split_lines
from test_skill_properties import any_text, pairs

steady = settings(deadline=None, derandomize=True, max_examples=150, suppress_health_check=list(HealthCheck))


def splices(text: str, edits: list[Any]) -> tuple[str, list[tuple[str, Splice, tuple[int, int, int]]]]:
    """The document after the edits; of each applied one the text before it, its splice, and what its report says."""
    found = []
    for edit in edits:
        after, (report,) = apply_edits(text, [edit])
        if report.splice:
            found.append((text, splice_of(text, after, report.splice), report.splice))
        text = after
    return text, found


def made(edit: Edit, splice: Splice | None) -> LineageRow:
    return LineageRow("e1s1", 1, edit, None, None, "accept", 0.5, 1.0, splice)


@steady
@given(pairs())
def test_the_splices_of_all_edits_replayed_give_the_document_byte_for_byte(pair: tuple[str, list[Any]]) -> None:
    text, edits = pair
    after, found = splices(text, edits)
    assert replay(text, [splice for _, splice, _ in found]) == after


@steady
@given(any_text, any_text, any_text)
def test_so_they_do_for_any_text(text: str, target: str, content: str) -> None:
    edits = [
        {"op": "insert_after", "target": target, "content": content},
        {"op": "append", "content": content},
        {"op": "replace", "target": text[3:9], "content": content},
        {"op": "delete", "target": text[:5]},
    ]
    after, found = splices(text, edits)
    assert replay(text, [splice for _, splice, _ in found]) == after


@steady
@given(pairs())
def test_a_splice_is_the_reports_but_for_one_line_that_gained_its_end_or_holds_the_byte_order_mark(
    pair: tuple[str, list[Any]],
) -> None:
    for before, splice, (start, removed, added) in splices(*pair)[1]:
        wider = start - splice.start
        assert (splice.removed - wider, len(splice.lines) - wider) == (removed, added)
        assert wider in (0, 1)
        if wider:
            old = split_lines(before)[splice.start]
            assert body_of(old) == old == body_of(splice.lines[0])


@pytest.mark.parametrize("text", ["\ufeff", "\ufeff# A\n", "\ufeff# A"])
def test_a_byte_order_mark_stays_where_it_is(text: str) -> None:
    after, found = splices(text, [{"op": "append", "content": "- n"}, {"op": "delete", "target": "# A"}])
    assert after.startswith("\ufeff")
    assert replay(text, [splice for _, splice, _ in found]) == after


def test_a_last_line_that_gains_its_end_is_part_of_the_splice() -> None:
    _, [(_, splice, _)] = splices("# A\n- a", [{"op": "append", "content": "- n"}])
    assert splice == Splice(1, 1, ("- a\n", "\n", "- n\n"))


def test_a_file_beside_the_skill_is_replayed_as_well() -> None:
    files = {"SKILL.md": b"# A\n", "scripts/run.sh": b"one\r\ntwo"}
    edit = Edit("append", "three", file="scripts/run.sh")
    after, (report,) = apply_to_folder(files, [edit], editable=["**"])
    splice = splice_in_folder(files, after, report.file, report.splice)
    assert replay_folder(files, [made(edit, splice)]) == after != files


def test_an_edit_that_was_not_applied_has_no_splice() -> None:
    files = {"SKILL.md": b"# A\n"}
    after, (report,) = apply_to_folder(files, [Edit("delete", target="nowhere")])
    assert splice_in_folder(files, after, report.file, report.splice) is None


@pytest.mark.parametrize(
    ("row", "told"),
    [
        (made(Edit("append", "x"), None), "has no splice"),
        (made(Edit("append", "x", file="a.md"), Splice(0, 0, ("x\n",))), "a.md, which the skill has not"),
        (made(Edit("append", "x"), Splice(3, 1, ("x\n",))), "lines 3 to 4 in a file of 1 lines"),
    ],
)
def test_a_row_that_does_not_fit_the_skill_is_refused(row: LineageRow, told: str) -> None:
    with pytest.raises(SkillpipeError, match=told):
        replay_folder({"SKILL.md": b"# A\n"}, [row])
