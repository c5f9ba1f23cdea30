"""optimizers/examples.py: failed tasks become worked examples."""

import asyncio
import re
from dataclasses import replace

import pytest

from samples import append, attempt, broken, failed, passed
from scripted import NO_MEMORY, remembered
from skillpipe.errors import SkillpipeError
from skillpipe.optimizers import Guidance
from skillpipe.optimizers.examples import Examples
from skillpipe.records import EditOutcome, Memory, Merged, Message, Ranking, TaskPair, Usage

SKILL = "# Answers\n\nAnswer with one word.\n"


def reflect(*rollouts, skill=SKILL, memory=NO_MEMORY):
    return asyncio.run(Examples().reflect(skill, rollouts, memory))


def contents(*rollouts, **given):
    return [edit.content for one in reflect(*rollouts, **given) for edit in one.edits]


def test_a_failed_task_is_proposed_as_it_was_sent_with_the_answer_it_should_have_had():
    assert contents(failed("t1", expected="no")) == ["Question t1? no"]


def test_what_the_target_said_is_not_proposed():
    assert "no idea" not in contents(failed("t1"))[0]


def test_passed_tasks_and_those_without_a_score_are_left_out():
    assert contents(passed("t1"), broken("t2"), failed("t3")) == ["Question t3? yes"]


def test_a_partial_pass_is_a_failure():
    assert contents(attempt("t1", 0.5)) == ["Question t1? yes"]


def test_every_edit_names_the_task_it_came_from():
    (one,) = reflect(failed("t1"), failed("t2", expected="no"))
    assert [edit.tasks for edit in one.edits] == [("t2",), ("t1",)]  # "no" comes before "yes"
    assert one.tasks == ("t1", "t2")
    assert (one.source, {edit.op for edit in one.edits}) == ("failure", {"append"})


def test_answers_take_turns_in_sorted_order():
    rows = [failed("t1"), failed("t2"), failed("t3"), failed("t4", expected="no"), failed("t5", expected="no")]
    assert [content.split()[1] for content in contents(*rows)] == ["t4?", "t1?", "t5?", "t2?", "t3?"]


def test_task_types_take_turns_where_tasks_have_them():
    rows = [failed("t1", expected="a", task_type="x"), failed("t2", expected="b", task_type="x"),
            failed("t3", expected="c", task_type="y")]  # fmt: skip
    assert [content.split()[1] for content in contents(*rows)] == ["t1?", "t3?", "t2?"]


YES, NO = [failed(f"y{n}") for n in (1, 2, 3)], [failed(f"n{n}", expected="no") for n in (1, 2, 3)]
PASSED = [passed("p1"), passed("p2"), passed("p3", expected="no"), passed("p4", expected="no")]


def shown(*rollouts, **given) -> list[str]:
    return [task for one in reflect(*rollouts, **given) for edit in one.edits for task in edit.tasks]


def test_failures_of_one_answer_alone_are_balanced_with_passed_tasks_of_another():
    assert shown(*PASSED, *YES) == ["p3", "y1", "p4", "y2", "y3"]
    assert shown(*PASSED, *NO) == ["n1", "p1", "n2", "p2", "n3"]
    (one,) = reflect(*PASSED, *NO)
    assert one.tasks == ("n1", "n2", "n3", "p1", "p2")
    assert one.reasoning.endswith("; 2 passed ones beside them, so that no answer is shown alone")
    assert one.patterns[0].tasks == ("n1", "n2", "n3")


def test_failures_of_several_answers_need_no_passed_task_beside_them():
    assert shown(*PASSED, *YES[:1], *NO[:2]) == ["n1", "y1", "n2", "p1"]
    assert shown(*PASSED, *YES[:2], *NO[:2]) == ["n1", "y1", "n2", "y2"]


def test_a_passed_task_that_was_shown_before_is_not_shown_again_for_balance():
    memory = Memory((remembered(append("Question p3? no")),))
    assert shown(*PASSED, YES[0], skill=SKILL + "\nQuestion p4? no\n", memory=memory) == ["y1"]
    assert shown(*PASSED, YES[0], memory=memory) == ["p4", "y1"]


def test_open_answers_and_task_types_need_no_balance():
    open_answers = [passed(f"o{n}", expected=f"answer {n}") for n in range(9)]
    assert shown(*open_answers, failed("t1")) == ["t1"]
    assert shown(*[replace(row, task_type="x") for row in (*PASSED, *YES)]) == ["y1", "y2", "y3"]


def test_nothing_failed_means_nothing_to_balance():
    assert reflect(*PASSED) == []


def test_what_the_skill_says_already_is_not_proposed_again():
    assert contents(failed("t1"), skill=SKILL + "\nQuestion t1? yes\n") == []


def test_what_the_skill_says_already_is_recognized_over_other_line_ends():
    rollout = failed("t1")
    asked = replace(rollout.trajectory[0], content="Question t1?\nAnswer:")
    rollout = replace(rollout, trajectory=(asked, *rollout.trajectory[1:]))
    assert contents(rollout) == ["Question t1?\nAnswer: yes"]
    assert contents(rollout, skill="# Answers\r\n\r\nQuestion t1?\r\nAnswer: yes\r\n") == []


def test_an_earlier_edit_is_not_proposed_again_whatever_was_decided():
    for action in ("accept_new_best", "accept", "reject"):
        memory = Memory((remembered(append("Question t1? yes"), action=action), remembered()))
        assert contents(failed("t1"), failed("t2"), memory=memory) == ["Question t2? yes"]


def test_an_edit_that_could_not_be_applied_is_not_proposed_again():
    refused = [EditOutcome(append("Question t1? yes"), "protected", "", None, None)]
    memory = Memory((remembered(refused=refused),))
    assert contents(failed("t1"), failed("t2"), memory=memory) == ["Question t2? yes"]


def test_the_same_task_twice_in_a_batch_is_proposed_once():
    assert contents(failed("t1"), failed("t1")) == ["Question t1? yes"]


def test_without_a_failure_there_is_no_patch():
    assert reflect(passed("t1"), broken("t2")) == []
    assert reflect() == []


def test_an_attempt_that_took_too_long_is_a_failure_too():
    assert contents(replace(failed("t1"), status="timeout")) == ["Question t1? yes"]


def test_several_attempts_at_a_task_are_one_example():
    (one,) = reflect(failed("t1"), replace(failed("t1"), replicate=1))
    assert (one.tasks, [edit.content for edit in one.edits]) == (("t1",), ["Question t1? yes"])


def test_the_reasoning_counts_examples_and_kinds():
    (one,) = reflect(failed("t1"), failed("t2"), failed("t3", expected="no"))
    assert one.reasoning.startswith("3 failed tasks")
    assert "2 kinds" in one.reasoning


def test_merging_keeps_the_balanced_order():
    patches = reflect(failed("t1"), failed("t2"), failed("t3", expected="no"))
    merged = asyncio.run(Examples().merge("e1s1", SKILL, patches, NO_MEMORY))
    assert [edit.tasks for edit in merged.edits] == [("t3",), ("t1",), ("t2",)]
    assert (merged.step, merged.proposed) == ("e1s1", 3)


def test_the_rank_is_the_merged_order_and_costs_nothing():
    merged = Merged("e1s1", 2, "", (append("a"), append("b")))
    assert asyncio.run(Examples().rank(SKILL, merged, 1, NO_MEMORY)) == Ranking((0, 1))


def patterns(*rollouts) -> list[tuple[str, tuple[str, ...]]]:
    return [(found.text, found.tasks) for one in reflect(*rollouts) for found in one.patterns]


def says(rollout, text: str):
    return replace(rollout, trajectory=(rollout.trajectory[0], Message("assistant", text)))


def test_there_is_a_pattern_for_each_answer_with_the_two_commonest_mistakes():
    rows = [says(failed(f"t{number}"), said) for number, said in enumerate(["a", "b", "b", "c"])]
    assert patterns(*rows, failed("t9", expected="no")) == [
        ("1 failed: expected 'no', got 'no idea' (1 x)", ("t9",)),
        ("4 failed: expected 'yes', got 'b' (2 x); expected 'yes', got 'a' (1 x)", ("t0", "t1", "t2", "t3")),
    ]


def test_there_is_a_pattern_for_each_task_type_where_tasks_have_them():
    rows = [failed("t1", expected="a", task_type="x"), failed("t2", expected="b", task_type="x")]
    assert patterns(*rows) == [
        ("2 failed of 'x': expected 'a', got 'no idea' (1 x); expected 'b', got 'no idea' (1 x)", ("t1", "t2"))
    ]


def test_a_pattern_is_short_however_long_the_answers_are():
    ((text, _),) = patterns(says(failed("t1", expected="x" * 500), "two\nlines " + "y" * 500))
    assert len(text) < 130
    assert "got 'two lines yyy" in text


def test_what_failed_is_told_also_when_there_is_nothing_new_to_propose():
    (one,) = reflect(failed("t1"), skill=SKILL + "\nQuestion t1? yes\n")
    assert (one.edits, one.patterns[0].tasks) == ((), ("t1",))


def ranked(*rollouts) -> Ranking:
    merged = asyncio.run(Examples().merge("e1s1", SKILL, reflect(*rollouts), NO_MEMORY))
    return asyncio.run(Examples().rank(SKILL, merged, None, NO_MEMORY))


def test_without_a_budget_one_example_of_each_kind_of_failure_is_tried():
    found = ranked(failed("t1"), failed("t2"), failed("t3", expected="no"), failed("t4", expected="maybe"))
    assert (found.order, found.chosen, found.usage) == ((0, 1, 2, 3), 3, Usage())
    assert found.reasoning == "3 of 4 examples: one for each kind of failure"


def test_without_a_budget_a_single_kind_is_tried_with_the_passed_one_beside_it():
    found = ranked(*PASSED, *YES)
    assert (found.order, found.chosen) == ((0, 1, 2, 3, 4), 2)
    assert found.reasoning == "2 of 5 examples: one for each kind of failure, and one of a passed task"


def test_without_a_budget_and_without_edits_none_is_tried():
    assert ranked(passed("t1")).chosen == 0


@pytest.mark.parametrize(
    ("settings", "way"),
    [
        ({"update_mode": "rewrite"}, "update_mode is rewrite; set update_mode=patch, or optimizer=model"),
        ({"update_mode": "full_rewrite"}, "update_mode is full_rewrite; set update_mode=patch, or optimizer=model"),
        ({"execution_notes": True}, "are enabled; set execution_notes.enabled=false, or optimizer=model"),
    ],
)
def test_it_writes_no_text_and_refuses_what_needs_some(settings, way):
    with pytest.raises(SkillpipeError, match=f"writes no text, but .*{re.escape(way)}"):
        Examples(**settings)


def test_it_has_no_notes_and_leaves_those_of_others_as_they_are():
    assert reflect(failed("t1"))[0].notes == ()
    assert asyncio.run(Examples().compact(["a", "b"])) == (["a", "b"], Usage())


def test_it_takes_no_calls():
    assert (Examples().calls_per_step(40), Examples().calls_per_epoch()) == (0, 0)


def compare(*pairs, skill=SKILL, guidance="") -> Guidance:
    return asyncio.run(Examples().compare(skill, guidance, pairs, NO_MEMORY))


def pair(key: str, category: str) -> TaskPair:
    return TaskPair(category, passed(key), failed(key))


def test_guidance_shows_tasks_that_got_worse_then_those_that_keep_failing():
    pairs = [
        pair("t1", "persistent_fail"),
        pair("t2", "improved"),
        pair("t3", "regressed"),
        pair("t4", "stable_success"),
    ]
    assert compare(*pairs).text == "Question t3? yes\n\nQuestion t1? yes"
    assert compare(*pairs).notes == ""


def test_guidance_grows_by_four_examples_at_most():
    pairs = [pair(f"t{number}", "persistent_fail") for number in range(6)]
    found = compare(*pairs, guidance="Question t9? no")
    assert found.text.split("\n\n") == ["Question t9? no", *(f"Question t{number}? yes" for number in range(4))]


def test_guidance_says_nothing_that_the_skill_says_already():
    assert compare(pair("t1", "regressed"), skill=SKILL + "\r\nQuestion t1? yes\r\n").text == ""
    assert compare().text == ""
