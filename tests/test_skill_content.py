"""Edits whose content, or what they leave behind, could break the document."""

from __future__ import annotations

import pytest

from editing import done, one, refused

# ---- content that could break the document -----------------------------------------------------------------------


def test_an_open_fence_in_content_is_closed() -> None:
    text, report = one("- a\n\nend\n", "insert_after", "- a", "```sh\nrun")
    assert text == "- a\n\n```sh\nrun\n```\n\nend\n"
    assert "closed" in report.reason


@pytest.mark.parametrize("content", ["<!-- open", "<script>\nlet x", "- a\n\n<!-- open"])
def test_content_with_open_html_is_refused(content: str) -> None:
    assert refused("a\n", "append", content=content).status == "invalid"
    assert refused("a\n\nb\n", "insert_after", "a", content).status == "invalid"
    assert refused("a\n\nb\n", "replace", "a", content).status == "invalid"
    assert refused("a\n\nb\n", "replace", "b", content).status == "invalid"


def test_a_fence_that_the_document_left_open_is_closed_before_an_append() -> None:
    text, report = one("a\n\n~~~~ sh\nrun\n", "append", content="- n")
    assert text == "a\n\n~~~~ sh\nrun\n~~~~\n\n- n\n"
    assert "line 3" in report.reason
    assert report.splice == (4, 0, 3)


def test_an_append_to_a_document_with_open_html_is_refused() -> None:
    assert refused("a\n\n<!-- open\n", "append", content="- n").status == "invalid"


@pytest.mark.parametrize("text", ["", "\ufeff", "\n"])
def test_content_never_becomes_frontmatter(text: str) -> None:
    assert done(text, "append", content="---\nname: x\n---").startswith(("\n---", "\ufeff\n---"))


def test_a_delete_never_turns_the_body_into_frontmatter() -> None:
    assert done("a\n\n---\nb\n---\n", "delete", "a") == "\n---\nb\n---\n"


def test_an_unclosed_frontmatter_is_not_closed_by_content() -> None:
    assert refused("---\nname: x\n", "append", content="b\n\n---\n\nc").status == "invalid"


def test_markers_are_taken_out_of_content_even_when_nested() -> None:
    content = "- a\n<!-- SLOW_UPDATE_START -->\n- b <!-- APPENDIX_<!-- APPENDIX_END -->START -->"
    assert done("x\n", "append", content=content) == "x\n\n- a\n- b\n"


def test_an_insert_that_could_only_land_in_a_region_is_protected() -> None:
    text = "- a\n  <!-- APPENDIX_START -->\n- b\n"
    assert refused(text, "insert_after", "- a", "- n").status == "protected"


def test_no_edit_puts_a_marker_together() -> None:
    text = "<!-- APPENDIX_START now -->\n\n- a\n"
    assert refused(text, "replace", "now -->", "-->").status == "protected"
    assert refused(text, "delete", " now").status == "protected"


def test_content_of_markers_alone_is_empty() -> None:
    assert refused("x\n", "append", content="<!-- SLOW_UPDATE_START -->\n").status == "empty"


@pytest.mark.parametrize("content", ["a\0b", "a\ud800b"])
def test_content_that_no_text_file_can_hold_is_invalid(content: str) -> None:
    assert refused("x\n", "append", content=content).status == "invalid"


# ---- replace and delete ------------------------------------------------------------------------------------------


def test_a_replaced_item_keeps_its_continuation() -> None:
    assert done("- a\n- b\n  more\n- c\n", "replace", "- b", "- B") == "- a\n- B\n  more\n- c\n"


def test_a_replaced_nested_item_keeps_its_indent() -> None:
    text = "- a\n  - b\n  - c\n"
    assert done(text, "replace", "- b", "- B1\n- B2") == "- a\n  - B1\n  - B2\n  - c\n"
    assert done(text, "replace", "  - b", "- B") == "- a\n  - B\n  - c\n"


def test_an_item_is_not_given_a_second_marker() -> None:
    assert done("- [x] old text\n", "replace", "old text", "- [ ] new") == "- [ ] new\n"
    assert done("## Old\n", "replace", "Old", "### New") == "### New\n"


def test_a_replaced_line_of_a_paragraph_gets_the_blank_line_it_needs() -> None:
    assert done("one\ntwo\nthree\n", "replace", "two", "- n") == "one\n- n\n\nthree\n"


def test_lines_for_part_of_an_item_stay_in_the_item() -> None:
    assert done("- a b\n- c\n", "replace", "b", "B\n\nmore") == "- a B\n\n  more\n- c\n"


@pytest.mark.parametrize(
    ("target", "content"),
    [("```sh", "text"), ("run", "```"), ("|---|", "x"), ("| 1 |", "# H"), ("- b", "Text.")],
)
def test_a_replace_that_breaks_the_rest_of_a_block_is_refused(target: str, content: str) -> None:
    text = "```sh\nrun\nstop\n```\n\n| a |\n|---|\n| 1 |\n| 2 |\n\n- a\n- b\n  - c\n"
    assert refused(text, "replace", target, content).status == "invalid"


def test_code_is_replaced_by_code() -> None:
    text = "```sh\nrun\nstop\n```\n"
    assert done(text, "replace", "run", "- x\n# y") == "```sh\n- x\n# y\nstop\n```\n"


@pytest.mark.parametrize(
    ("text", "target", "result"),
    [
        ("a\n\nb\n\nc\n", "b", "a\n\nc\n"),
        ("a\n\n\nb\n\nc\n", "b", "a\n\n\nc\n"),
        ("a\n\nb\n\n\nc\n", "b", "a\n\n\nc\n"),
        ("a\n\nb\n", "b", "a\n"),
        ("a\n\nb\n", "a", "b\n"),
        ("a\n# H\nb\n", "# H", "a\n\nb\n"),
        ("- a\n- b\n- c", "- c", "- a\n- b\n"),
        ("- a\n- b text\n", "b text", "- a\n"),
        ("- a b c\n", "b", "- a  c\n"),
        ("```\na\n\nb\n\nc\n```\n", "b", "```\na\n\n\nc\n```\n"),
    ],
)
def test_a_delete_takes_its_line_end_and_leaves_no_double_gap(text: str, target: str, result: str) -> None:
    assert done(text, "delete", target) == result


@pytest.mark.parametrize(
    ("text", "target"),
    [("- a\n- b\n  more\n", "- b"), ("- a\n- b\n  - c\n", "- b"), ("```\nx\n```\n\ny\n", "x\n```"), ("H\n---\n", "H")],
)
def test_a_delete_that_leaves_lines_to_another_block_is_refused(text: str, target: str) -> None:
    assert refused(text, "delete", target).status == "invalid"


def test_an_edit_that_would_change_nothing_is_a_duplicate() -> None:
    assert refused("- a\n", "replace", "- a", "- a").status == "duplicate"


def test_a_duplicate_is_found_where_it_is_nested() -> None:
    text = done("- a\n  - b\n", "insert_after", "- b", "- n\n- m")
    assert refused(text, "append", content="- n\n- m").status == "duplicate"
