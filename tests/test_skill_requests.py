"""What is taken for an edit, and what an edit reports."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from editing import HEAD, edit
from skillpipe.skill import apply_edits

# ---- requests ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("op", ["append", "APPEND", " Add ", "add-to-end"])
def test_known_aliases_of_an_operation_are_understood(op: str) -> None:
    report = apply_edits("x\n", [{"op": op, "content": "- y"}])[1][0]
    assert (report.op, report.status) == ("append", "applied")


@pytest.mark.parametrize(
    "bad",
    [
        *(None, 5, "append", [], b"x", {}, {"op": None}, {"op": []}, {"op": "insert_before", "target": "x"}),
        {"op": "append", "content": ["x"]},
        {"op": "delete"},
        {"op": "delete", "target": " \n"},
        {"op": "delete", "target": "\u200b"},
        {"op": "delete", "target": "x", "section": 3},
        {"op": "delete", "target": "x", "file": 3},
        {"op": "delete", "target": "x", "file": "other.md"},
    ],
)
def test_what_is_no_edit_is_invalid(bad: object) -> None:
    text, reports = apply_edits("x\n", [bad, {"op": "append", "content": "y"}])
    assert [report.status for report in reports] == ["invalid", "applied"]
    assert text == "x\n\ny\n"


def test_an_object_with_the_fields_is_an_edit() -> None:
    @dataclass(frozen=True)
    class Edit:
        op: str
        content: str = ""
        target: str = ""

    assert apply_edits("x\n", [Edit("append", "y"), Edit("delete", target="x")])[0] == "y\n"


# ---- reports and growth ------------------------------------------------------------------------------------------


def test_reports_say_which_lines_changed() -> None:
    text = HEAD + "- a\n- b\n\ntext\n"
    edits = [
        edit("insert_after", "- a", "- n\n- m"),
        edit("replace", "- b", "- B"),
        edit("delete", "- a"),
        edit("append", content="end"),
    ]
    _, reports = apply_edits(text, edits)
    assert [report.lines for report in reports] == [(6, 7), (8, 8), None, (11, 11)]
    assert [report.old_lines for report in reports] == [None, (8, 8), (5, 5), None]
    assert [report.splice for report in reports] == [(5, 0, 2), (7, 1, 1), (4, 1, 0), (9, 0, 2)]


def test_growth_is_limited_edit_by_edit_in_order() -> None:
    edits = [edit("append", content="a" * 80), edit("append", content="- b"), edit("delete", "x" * 20)]
    _, reports = apply_edits("x" * 20 + "\n", edits, max_tokens=10, max_lines=3)
    assert [report.status for report in reports] == ["invalid", "applied", "applied"]
    assert "26 tokens; at most 10" in reports[0].reason


def test_a_document_over_its_limits_may_shrink_but_not_grow() -> None:
    text = "- a\n- b\n- c\n"
    assert apply_edits(text, [edit("delete", "- b")], max_lines=1)[1][0].status == "applied"
    assert apply_edits(text, [edit("replace", "- b", "- B")], max_lines=1)[1][0].status == "applied"
    report = apply_edits(text, [edit("append", content="- d")], max_lines=1)[1][0]
    assert (report.status, "5 lines; at most 1" in report.reason) == ("invalid", True)
