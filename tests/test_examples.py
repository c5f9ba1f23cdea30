"""optimizers/examples.py: failed tasks become worked examples."""

import asyncio
from dataclasses import replace

from samples import append, attempt, broken, failed, passed
from skillpipe.optimizers.examples import Examples
from skillpipe.records import EditOutcome, LineageRow, Merged, Ranking

SKILL = "# Answers\n\nAnswer with one word.\n"


def reflect(*rollouts, skill=SKILL, tried=(), refused=()):
    return asyncio.run(Examples().reflect(skill, rollouts, tried, refused))


def contents(*rollouts, **given):
    return [edit.content for one in reflect(*rollouts, **given) for edit in one.edits]


def lineage_row(content: str, action: str) -> LineageRow:
    return LineageRow("e1s1", 1, append(content), None, (5, 5), action, 0.5, 0.5)


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
    assert one.tasks == ("t2", "t1")
    assert (one.source, {edit.op for edit in one.edits}) == ("failure", {"append"})


def test_answers_take_turns_in_sorted_order():
    rows = [failed("t1"), failed("t2"), failed("t3"), failed("t4", expected="no"), failed("t5", expected="no")]
    assert [content.split()[1] for content in contents(*rows)] == ["t4?", "t1?", "t5?", "t2?", "t3?"]


def test_task_types_take_turns_where_tasks_have_them():
    rows = [failed("t1", expected="a", task_type="x"), failed("t2", expected="b", task_type="x"),
            failed("t3", expected="c", task_type="y")]  # fmt: skip
    assert [content.split()[1] for content in contents(*rows)] == ["t1?", "t3?", "t2?"]


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
        assert contents(failed("t1"), tried=[lineage_row("Question t1? yes", action)]) == []


def test_an_edit_that_could_not_be_applied_is_not_proposed_again():
    refused = [EditOutcome(append("Question t1? yes"), "protected", "", None, None)]
    assert contents(failed("t1"), failed("t2"), refused=refused) == ["Question t2? yes"]


def test_the_same_task_twice_in_a_batch_is_proposed_once():
    assert contents(failed("t1"), failed("t1")) == ["Question t1? yes"]


def test_with_nothing_to_propose_there_is_no_patch():
    assert reflect(passed("t1")) == []
    assert reflect() == []


def test_the_reasoning_counts_examples_and_kinds():
    (one,) = reflect(failed("t1"), failed("t2"), failed("t3", expected="no"))
    assert one.reasoning.startswith("3 failed tasks")
    assert "2 kinds" in one.reasoning


def test_merging_keeps_the_balanced_order():
    patches = reflect(failed("t1"), failed("t2"), failed("t3", expected="no"))
    merged = asyncio.run(Examples().merge("e1s1", SKILL, patches))
    assert [edit.tasks for edit in merged.edits] == [("t3",), ("t1",), ("t2",)]
    assert (merged.step, merged.proposed) == ("e1s1", 3)


def test_the_rank_is_the_merged_order_and_costs_nothing():
    merged = Merged("e1s1", 2, "", (append("a"), append("b")))
    assert asyncio.run(Examples().rank(SKILL, merged, 1)) == Ranking((0, 1))
