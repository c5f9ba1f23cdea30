"""skill/regions.py: what the program alone may write."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillpipe.records import Edit
from skillpipe.skill import REGION_MARKERS, body_for_target, editable_body, protected_text, read_region, write_region
from test_skill_properties import CONTENTS, any_text, documents, steady
from test_skill_rewrite import FRONT, kept, replayed

TEXT = FRONT + "# A\n\n- a\n"
SLOW = "<!-- SLOW_UPDATE_START -->\nguidance\n<!-- SLOW_UPDATE_END -->\n"
APPENDIX = "<!-- APPENDIX_START -->\n- note\n<!-- APPENDIX_END -->\n"
NAMES = st.sampled_from(["slow_update", "appendix"])
WRITTEN = st.sampled_from([*CONTENTS, "guidance", "- one\n- two\n"]) | any_text


def written(text: str, name: str, content: str) -> str:
    after, outcome = write_region(text, name, content)
    assert outcome.status == "applied", outcome.reason
    return after


def test_a_region_is_made_at_the_end_of_the_body_when_it_is_needed_first():
    assert written(TEXT, "slow_update", "guidance") == f"{TEXT}\n{SLOW}"
    assert written(TEXT, "appendix", "\n- note\n") == f"{TEXT}\n{APPENDIX}"


def test_slow_update_stands_before_the_appendix_whichever_came_first():
    both = f"{TEXT}\n{SLOW}\n{APPENDIX}"
    assert written(f"{TEXT}\n{APPENDIX}", "slow_update", "guidance") == both
    assert written(f"{TEXT}\n{SLOW}", "appendix", "- note") == both


def test_what_stands_between_the_markers_is_replaced_and_nothing_else():
    text = f"{TEXT}\n{SLOW}\n- b\n\n{APPENDIX}"
    after, outcome = write_region(text, "slow_update", "other\n\nwords")
    assert after == text.replace("guidance", "other\n\nwords")
    assert outcome.edit == Edit("replace", "other\n\nwords", "guidance", region="slow_update")
    assert (outcome.old_lines, outcome.lines) == ((10, 10), (10, 12))


def test_empty_content_empties_a_region_and_makes_none():
    after, outcome = write_region(f"{TEXT}\n{SLOW}", "slow_update", " \n")
    assert after == f"{TEXT}\n<!-- SLOW_UPDATE_START -->\n<!-- SLOW_UPDATE_END -->\n"
    assert outcome.edit == Edit("delete", "", "guidance", region="slow_update")
    assert body_for_target(after) == body_for_target(TEXT)
    unchanged, outcome = write_region(TEXT, "slow_update", "")
    assert (unchanged, outcome.status, outcome.splice) == (TEXT, "empty", None)


def test_what_the_region_says_already_is_a_duplicate():
    text = f"{TEXT}\n{SLOW}".replace("\n", "\r\n")
    after, outcome = write_region(text, "slow_update", "guidance\n")
    assert (after, outcome.status) == (text, "duplicate")


def test_line_ends_are_those_of_the_document_and_reading_gives_plain_ones():
    after = written("# A\r\n", "appendix", "one\ntwo")
    assert after == "# A\r\n\r\n<!-- APPENDIX_START -->\r\none\r\ntwo\r\n<!-- APPENDIX_END -->\r\n"
    assert read_region(after, "appendix") == "one\ntwo"


def test_trailing_blank_lines_stay_behind_a_new_region_and_a_missing_line_end_is_made():
    assert written("# A\n\n\n", "appendix", "- note") == f"# A\n\n{APPENDIX}\n\n"
    assert written("# A", "appendix", "- note") == f"# A\n\n{APPENDIX}"


def test_a_code_fence_that_is_open_at_the_end_is_closed_first():
    assert written("# A\n\n```\nrun\n", "appendix", "- note") == f"# A\n\n```\nrun\n```\n\n{APPENDIX}"


def test_both_regions_are_read_together_without_markers():
    assert protected_text(f"{TEXT}\n{SLOW}\n{APPENDIX}") == "guidance\n\n- note"
    assert protected_text(TEXT) == ""


@pytest.mark.parametrize("marker", [marker for pair in REGION_MARKERS for marker in pair])
def test_content_that_holds_a_marker_is_refused(marker):
    after, outcome = write_region(TEXT, "slow_update", f"a {marker} b")
    assert (after, outcome.status, outcome.splice) == (TEXT, "invalid", None)


@pytest.mark.parametrize(
    ("text", "content", "status", "why"),
    [
        (TEXT, "<!-- open", "invalid", "opens an HTML comment"),
        (TEXT, "a\0", "invalid", "NUL"),
        (TEXT, "\ud800", "invalid", "half a surrogate pair"),
        ("# A\n\n<!-- open\n", "a", "invalid", "the document ends inside"),
        ("# A\n\n<!-- SLOW_UPDATE_START -->\nopen\n", "a", "protected", "never closes"),
        (
            "<!-- SLOW_UPDATE_START -->\n<!-- APPENDIX_START -->\n<!-- SLOW_UPDATE_END -->\n",
            "a",
            "protected",
            "overlaps",
        ),
    ],
)
def test_what_cannot_be_written_changes_nothing_and_says_why(text, content, status, why):
    after, outcome = write_region(text, "slow_update", content)
    assert (after, outcome.status) == (text, status)
    assert why in outcome.reason


def test_no_region_grows_over_the_limits():
    after, outcome = write_region(TEXT, "slow_update", "guidance", max_tokens=20)
    assert (after, outcome.status) == (TEXT, "invalid")
    assert outcome.reason.endswith("at most 20 are allowed")
    assert write_region(TEXT, "slow_update", "guidance", max_tokens=40)[1].status == "applied"


@steady
@given(documents() | any_text, NAMES, WRITTEN)
def test_replaying_the_splice_gives_the_new_text_and_a_refusal_leaves_the_old(text, name, content):
    after, outcome = write_region(text, name, content)
    assert (after == text) == (outcome.status != "applied") == (outcome.splice is None)
    if outcome.splice:
        assert replayed(text, [outcome]) == after


@steady
@given(documents() | any_text, NAMES, WRITTEN)
def test_all_else_stays_frontmatter_body_and_the_other_region(text, name, content):
    after, _ = write_region(text, name, content)
    other = "appendix" if name == "slow_update" else "slow_update"
    assert kept(after)[:2] == kept(text)[:2]
    assert read_region(after, other) == read_region(text, other)
    assert editable_body(after).startswith(editable_body(text))  # a fence may have been closed


@steady
@given(documents() | any_text, NAMES, WRITTEN)
def test_what_was_written_is_what_is_read_and_writing_it_again_changes_nothing(text, name, content):
    after, outcome = write_region(text, name, content)
    if outcome.status == "applied":
        assert read_region(after, name).startswith(outcome.edit.content)
        assert write_region(after, name, read_region(after, name))[0] == after
