"""skill/rewrite.py: a new body becomes splices of lines, and nothing else moves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillpipe.records import Edit, EditOutcome
from skillpipe.skill import REGION_MARKERS, editable_body, protected_text, rewrite_body, split
from skillpipe.skill.exact import splice_between
from skillpipe.skill.lines import split_lines
from skillpipe.skill.parts import frontmatter_length, regions
from test_skill_properties import CONTENTS, any_text, documents, steady

FRONT = "---\nname: toy\ndescription: A toy.\n---\n"
REGION = "<!-- SLOW_UPDATE_START -->\nguidance\n<!-- SLOW_UPDATE_END -->\n"


def replayed(text: str, outcomes: list[EditOutcome]) -> str:
    for outcome in outcomes:
        lines = split_lines(text)
        splice = outcome.splice
        lines[splice.start : splice.start + splice.removed] = splice.lines
        text = "".join(lines)
    return text


def kept(text: str) -> tuple[str, str, list[str]]:
    """What no rewrite may touch: byte order mark, frontmatter and the texts of the regions."""
    lines = split_lines(text.removeprefix("\ufeff"))
    found = [region.text for region in regions(lines, frontmatter_length(lines))]
    return split(text).bom, split(text).frontmatter.rstrip("\r\n"), found


@st.composite
def rewrites(draw: st.DrawFn) -> tuple[str, str]:
    """A document, and its body with lines taken out, put in and moved."""
    text = draw(documents())
    lines = editable_body(text).split("\n")
    for _ in range(draw(st.integers(0, 4))):
        at, end = sorted((draw(st.integers(0, len(lines))), draw(st.integers(0, len(lines)))))
        lines[at:end] = draw(st.sampled_from([[], ["new"], [""], ["", "new", ""], ["- new", "- new"], lines[:2]]))
    return text, "\n".join(lines)


@steady
@given(rewrites() | st.tuples(documents() | any_text, st.sampled_from(CONTENTS) | any_text))
def test_replaying_the_splices_gives_the_new_text_byte_for_byte(pair):
    text, body = pair
    after, outcomes = rewrite_body(text, body)
    if after == text:
        assert all(outcome.status != "applied" and outcome.splice is None for outcome in outcomes)
    else:
        assert {outcome.status for outcome in outcomes} == {"applied"}
        assert replayed(text, outcomes) == after


@steady
@given(rewrites() | st.tuples(documents() | any_text, st.sampled_from(CONTENTS) | any_text))
def test_frontmatter_and_regions_keep_their_bytes_and_their_order(pair):
    text, body = pair
    assert kept(rewrite_body(text, body)[0]) == kept(text)


@steady
@given(documents() | any_text)
def test_the_body_as_it_is_changes_nothing_and_has_no_outcomes(text):
    body = editable_body(text)
    if body and rewrite_body("", body)[1][0].status == "applied":  # a body that could stand in a document at all
        assert rewrite_body(text, body) == (text, [])


@steady
@given(rewrites())
def test_without_regions_what_was_written_is_what_stands_there(pair):
    text, body = pair
    after, outcomes = rewrite_body(text, body)
    if not kept(text)[2] and outcomes and outcomes[0].status == "applied" and not split(body).frontmatter:
        assert editable_body(after).startswith(body.strip("\n"))  # a fence may have been closed


@steady
@given(rewrites(), st.integers(0, 40), st.integers(0, 12))
def test_no_body_grows_over_the_limits(pair, tokens, lines):
    text, body = pair
    after, _ = rewrite_body(text, body, max_tokens=tokens, max_lines=lines)
    assert len(split_lines(after)) <= max(lines, len(split_lines(text)))
    assert len(after.encode("utf-8")) <= max(4 * tokens, 4 * -(-len(text.encode("utf-8")) // 4))


def edits(text: str, body: str) -> list[tuple[str, str, str]]:
    return [(one.edit.op, one.edit.target, one.edit.content) for one in rewrite_body(text, body)[1]]


def test_every_change_is_told_as_the_edit_that_makes_it():
    text = FRONT + "# A\n\n- one\n- two\n- three\n- four\n\n## B\n\nx\n"
    body = "# A\n\n- one\n- 2\n- three\n- three and a half\n- four\n\nx\n\ny"
    assert edits(text, body) == [
        ("replace", "- two", "- 2"),
        ("insert_after", "- three", "- three and a half"),
        ("delete", "## B", ""),
        ("append", "", "y"),
    ]


def test_lines_are_those_of_the_document_before_and_after_each_change():
    _, (one, two) = rewrite_body(FRONT + "# A\n\n- a\n- b\n- c\n", "# A\n\n- a\n- a2\n- b\n- d")
    assert (one.old_lines, one.lines) == (None, (8, 8))
    assert (two.old_lines, two.lines) == ((10, 10), (10, 10))


def test_a_new_first_line_is_told_as_a_replace_of_the_line_that_it_goes_before():
    assert edits("# A\n", "intro\n\n# A") == [("replace", "# A", "intro\n\n# A")]


def test_what_is_added_at_the_end_lands_before_the_region():
    after, _ = rewrite_body(f"{FRONT}# A\n\n- a\n\n{REGION}", "# A\n\n- a\n- b")
    assert after == f"{FRONT}# A\n\n- a\n- b\n\n{REGION}"


def test_a_change_on_both_sides_of_a_region_leaves_it_where_it_is():
    text = f"# A\n\nold one\n\n{REGION}\nold two\n"
    after, outcomes = rewrite_body(text, "# A\n\nnew\n\nlast")
    assert after == f"# A\n\nnew\n\n{REGION}\nlast\n"
    assert [outcome.edit.op for outcome in outcomes] == ["replace", "replace"]


def test_a_body_that_was_empty_is_filled_before_the_region():
    after, (outcome,) = rewrite_body(FRONT + REGION, "# A\n\n- a")
    assert after == f"{FRONT}# A\n\n- a\n\n{REGION}"
    assert outcome.edit == Edit("append", "# A\n\n- a")


def test_new_lines_take_the_line_end_of_the_document():
    after, _ = rewrite_body("# A\r\n\r\n- a\r\n", "# A\n\n- a\n- b")
    assert after == "# A\r\n\r\n- a\r\n- b\r\n"


def test_a_last_line_without_a_line_end_gains_one_and_the_new_last_line_has_none():
    after, outcomes = rewrite_body("# A\n\n- a", "# A\n\n- a\n- b")
    assert after == "# A\n\n- a\n- b"
    assert replayed("# A\n\n- a", outcomes) == after


def test_frontmatter_that_comes_with_the_body_is_left_out():
    assert rewrite_body(FRONT + "# A\n", "---\nname: other\n---\n# B")[0] == FRONT + "# B\n"


@pytest.mark.parametrize(
    ("body", "status", "why"),
    [
        ("", "empty", "nothing but blanks"),
        (" \n\n", "empty", "nothing but blanks"),
        ("# B\n\0", "invalid", "a NUL character"),
        ("# B\n\ud800", "invalid", "half a surrogate pair"),
        ("# B\n<!--\nhidden", "invalid", "opens an HTML comment"),
        *(
            (f"# B\n{marker}", "invalid", "a marker of a protected region")
            for pair in REGION_MARKERS
            for marker in pair
        ),
    ],
)
def test_a_body_that_cannot_be_used_changes_nothing_and_says_why(body, status, why):
    text = f"{FRONT}# A\n\n{REGION}"
    after, (outcome,) = rewrite_body(text, body)
    assert (after, outcome.status, outcome.splice) == (text, status, None)
    assert why in outcome.reason


def test_a_body_over_the_limit_is_refused_with_the_numbers():
    text = "# A\n"
    after, (outcome,) = rewrite_body(text, "# A\n\nb\n\nc", max_lines=4)
    assert (after, outcome.status, outcome.edit.content) == (text, "invalid", "# A\n\nb\n\nc")
    assert outcome.reason == "the document would have 5 lines; at most 4 are allowed"


def test_a_document_over_the_limit_may_shrink():
    assert rewrite_body("# A\n\nb\n\nc\n\nd\n", "# A\n\nb\n\nc", max_lines=4)[0] == "# A\n\nb\n\nc\n"


def test_a_body_never_becomes_frontmatter():
    after, (outcome,) = rewrite_body("# A\n", "---\ntitle: x\n---\n# B")
    assert (after, outcome.status) == ("# A\n", "protected")


def test_a_code_fence_that_is_left_open_is_closed_before_the_region():
    after, _ = rewrite_body(f"# A\n\n{REGION}", "# A\n\n```\nrun")
    assert after == f"# A\n\n```\nrun\n```\n\n{REGION}"
    assert protected_text(after) == "guidance"


@given(
    st.lists(st.sampled_from(["a\n", "b\n", "\n"]), max_size=6), st.lists(st.sampled_from(["a\n", "\n"]), max_size=6)
)
def test_a_splice_between_two_texts_is_the_smallest_and_exact(old, new):
    splice = splice_between(old, new)
    assert [*old[: splice.start], *splice.lines, *old[splice.start + splice.removed :]] == new
    if splice.lines and splice.removed:
        assert splice.lines[0] != old[splice.start]
        assert splice.lines[-1] != old[splice.start + splice.removed - 1]
