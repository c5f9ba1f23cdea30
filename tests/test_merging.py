"""merging.py: many patches become one ranked list of edits."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samples import append, patch
from skillpipe.merging import join_observations, merge_by_support
from skillpipe.records import Edit, Observation, Patch, Usage

EDITS = st.builds(
    Edit,
    op=st.sampled_from(["append", "insert_after"]),
    content=st.sampled_from(["a", "b", " a\n"]),
    target=st.sampled_from(["", "t"]),
    tasks=st.lists(st.sampled_from(["1", "2", "3"]), unique=True, max_size=2).map(tuple),
    support=st.integers(1, 3),
    source=st.sampled_from(["failure", "success"]),
)
PATCHES = st.lists(st.builds(lambda edits: patch(*edits), st.lists(EDITS, max_size=4)), max_size=4)


def merge(*edits: Edit) -> tuple[Edit, ...]:
    return merge_by_support("e1s1", [patch(*edits)]).edits


def identity(edit: Edit) -> tuple[str, ...]:
    return edit.file, edit.op, edit.section.strip(), edit.target.strip(), edit.content.strip()


def test_the_same_edit_twice_is_one_edit_with_the_support_of_both():
    (merged,) = merge(append("be brief", support=2), append("be brief", support=3))
    assert (merged.content, merged.support) == ("be brief", 5)


def test_blanks_around_an_edit_do_not_make_it_another():
    assert [edit.content for edit in merge(append("be brief"), append("  be brief\n"))] == ["be brief"]


@pytest.mark.parametrize(
    "change",
    [{"op": "delete"}, {"content": "x"}, {"target": "x"}, {"section": "## X"}, {"file": "references/x.md"}],
)
def test_edits_that_differ_in_what_they_do_stay_apart(change):
    edit = Edit("replace", "be brief", "be long", "## Style")
    assert len(merge(edit, replace(edit, **change))) == 2


def test_tasks_are_joined_in_order_of_appearance_without_repetition():
    (merged,) = merge(append("x", "t2", "t1"), append("x", "t1", "t3"))
    assert merged.tasks == ("t2", "t1", "t3")


def test_most_supported_comes_first():
    assert [edit.content for edit in merge(append("a"), append("b", support=3), append("c", support=2))] == [
        "b",
        "c",
        "a",
    ]


def test_at_equal_support_failures_come_before_successes():
    success = replace(append("a"), source="success")
    assert [edit.content for edit in merge(success, append("b"))] == ["b", "a"]


def test_support_counts_more_than_the_source():
    success = replace(append("a", support=2), source="success")
    assert [edit.content for edit in merge(append("b"), success)] == ["a", "b"]


def test_equals_stay_in_the_order_in_which_they_were_proposed():
    assert [edit.content for edit in merge(append("c"), append("a"), append("b"))] == ["c", "a", "b"]


@pytest.mark.parametrize("sources", [("failure", "success"), ("success", "failure")])
def test_an_edit_that_any_failure_proposed_comes_from_a_failure(sources):
    (merged,) = merge(*(replace(append("x"), source=source) for source in sources))
    assert merged.source == "failure"


def test_an_edit_that_only_successes_proposed_comes_from_a_success():
    (merged,) = merge(*[replace(append("x"), source="success")] * 2)
    assert merged.source == "success"


def test_edits_are_counted_before_merging_over_all_patches():
    merged = merge_by_support("e1s2", [patch(append("a"), append("b")), patch(append("a"))])
    assert (merged.step, merged.proposed, len(merged.edits)) == ("e1s2", 3, 2)


def test_the_reasons_of_all_patches_are_kept_and_empty_ones_left_out():
    patches = [patch(reasoning="one"), patch(), patch(reasoning="two")]
    assert merge_by_support("e1s1", patches).reasoning == "one\ntwo"


def test_failed_patches_are_counted_and_all_usage_adds_up():
    spent = Usage(1, 10, 1, 0.5)
    bad = replace(patch(), failure="no JSON", usage=spent)
    merged = merge_by_support("e1s1", [bad, replace(patch(append("a")), usage=spent), patch()])
    assert (merged.failures, merged.usage, merged.fallback) == (1, spent + spent, "")


@pytest.mark.parametrize("patches", [[], [patch()]])
def test_no_proposals_merge_to_an_empty_list(patches):
    merged = merge_by_support("e1s1", patches)
    assert (merged.proposed, merged.edits) == (0, ())


def test_observations_that_say_the_same_are_one_with_the_tasks_of_all():
    found = [Observation("No unit.", ("t2",)), Observation("prose", ("t1",)), Observation("no  unit", ("t3", "t2"))]
    assert join_observations(found) == (Observation("No unit.", ("t2", "t3")), Observation("prose", ("t1",)))


def test_patterns_and_notes_of_all_patches_are_kept_apart_from_each_other():
    one = Patch("failure", ("t1",), "", (), patterns=(Observation("a", ("t1",)),), notes=(Observation("b"),))
    two = Patch("failure", ("t2",), "", (), patterns=(Observation("b"), Observation("a", ("t2",))))
    merged = merge_by_support("e1s1", [one, two])
    assert merged.patterns == (Observation("a", ("t1", "t2")), Observation("b"))
    assert merged.notes == (Observation("b"),)


def test_of_several_bodies_the_one_is_taken_that_most_failed_tasks_are_behind():
    def whole(body: str, count: int, source="failure") -> Patch:
        return Patch(source, tuple(f"t{number}" for number in range(count)), "", (), body=body)

    assert merge_by_support("e1s1", [whole("s", 9, "success"), whole("a", 1), whole("b", 2), whole("c", 2)]).body == "b"
    assert merge_by_support("e1s1", [whole("s", 1, "success"), whole("", 9)]).body == "s"
    assert merge_by_support("e1s1", [whole("", 9)]).body == ""


@given(PATCHES)
def test_no_edit_is_lost_and_none_stands_twice(patches):
    merged = merge_by_support("e1s1", patches).edits
    proposed = {identity(edit) for one in patches for edit in one.edits}
    assert len(merged) == len(proposed)
    assert {identity(edit) for edit in merged} == proposed


@given(PATCHES)
def test_support_is_neither_lost_nor_made(patches):
    merged = merge_by_support("e1s1", patches).edits
    assert sum(edit.support for edit in merged) == sum(edit.support for one in patches for edit in one.edits)


@given(PATCHES)
def test_merging_what_is_merged_changes_nothing(patches):
    merged = merge_by_support("e1s1", patches).edits
    assert merge(*merged) == merged


@given(PATCHES, st.randoms(use_true_random=False))
def test_the_order_of_patches_decides_nothing_but_ties(patches, random):
    shuffled = random.sample(patches, len(patches))
    here, there = (merge_by_support("e1s1", each).edits for each in (patches, shuffled))
    assert [(edit.support, edit.source) for edit in here] == [(edit.support, edit.source) for edit in there]
    assert {(identity(edit), edit.support) for edit in here} == {(identity(edit), edit.support) for edit in there}
