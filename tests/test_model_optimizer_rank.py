"""optimizers/model: ranking edits; and the optimizer's settings."""

import asyncio

import pytest

from samples import append
from scripted import CALL, NO_MEMORY, SKILL, Scripted, optimizer, part, proposals
from skillpipe.errors import SkillpipeError
from skillpipe.models import ModelError
from skillpipe.records import Merged, Ranking, Usage

DOWN = ModelError("overloaded", permanent=False)


def rank(model, *edits, edit_budget=2) -> Ranking:
    merged = Merged("e1s1", len(edits), "", edits)
    return asyncio.run(optimizer(model).rank(SKILL, merged, edit_budget, NO_MEMORY))


@pytest.mark.parametrize("edit_budget", [0, 3, 4])
def test_no_call_is_made_when_there_is_no_choice(edit_budget):
    assert rank(Scripted(), *map(append, "abc"), edit_budget=edit_budget) == Ranking((0, 1, 2))


def test_the_chosen_come_first_and_all_others_follow_as_they_were():
    model = Scripted({"reasoning": "c helps most", "selected": [2, 0]})
    assert rank(model, *map(append, "abcd")) == Ranking((2, 0, 1, 3), "c helps most", "", CALL)
    assert proposals(model.prompts[0]) == ["a", "b", "c", "d"]
    assert part(model.prompts[0], "skill") == SKILL
    assert model.prompts[0].endswith("Choose 2 of the proposals.\n")


@pytest.mark.parametrize(
    ("selected", "order"),
    [
        ([1, 1, 1.0], (1, 0, 2, 3)),
        ([9, -1, 3], (3, 0, 1, 2)),
        ([3, 2, 1, 0], (3, 2, 1, 0)),
        ([10**30, 0], (0, 1, 2, 3)),
    ],
)
def test_repeated_and_impossible_numbers_are_ignored_and_too_many_do_no_harm(selected, order):
    found = rank(Scripted({"selected": selected}), *map(append, "abcd"))
    assert (found.order, found.fallback) == (order, "")


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("the first two", "no JSON: no object in the reply"),
        ({"selected": []}, "selected holds none of the indices 0 to 3"),
        ({"selected": [4]}, "selected holds none of the indices 0 to 3"),
        ({"selected": ["1"]}, "schema: $.selected[0]"),
    ],
)
def test_after_two_unusable_choices_the_order_stays_and_the_reason_is_told(said, why):
    model = Scripted(said, said)
    found = rank(model, *map(append, "abcd"))
    assert (found.order, found.reasoning, found.usage) == ((0, 1, 2, 3), "", CALL + CALL)
    assert why in found.fallback
    assert why in model.prompts[1]


def test_a_ranking_that_could_not_be_asked_for_is_told():
    assert rank(Scripted(DOWN), *map(append, "abcd")) == Ranking((0, 1, 2, 3), "", "overloaded", Usage(1))


def test_without_a_budget_the_model_says_how_many_to_try_and_which():
    model = Scripted({"reasoning": "two will do", "selected": [2, 0, 2, 9]})
    assert rank(model, *map(append, "abcd"), edit_budget=None) == Ranking((2, 0, 1, 3), "two will do", "", CALL, 2)
    assert model.prompts[0].startswith("# Decide how many edits")
    assert proposals(model.prompts[0]) == ["a", "b", "c", "d"]
    assert "Choose" not in model.prompts[0]


def test_none_is_a_choice_too_and_more_than_all_are_all():
    assert rank(Scripted({"selected": []}), *map(append, "ab"), edit_budget=None).chosen == 0
    assert rank(Scripted({"selected": [0, 1, 2, 1]}), *map(append, "ab"), edit_budget=None).chosen == 2


@pytest.mark.parametrize(("count", "half"), [(2, 1), (3, 2), (5, 3)])
def test_without_a_usable_decision_the_most_supported_half_is_tried_and_that_is_told(count, half):
    found = rank(Scripted("all", {"selected": [7]}), *map(append, "abcde"[:count]), edit_budget=None)
    assert (found.order, found.chosen, found.usage) == (tuple(range(count)), half, CALL + CALL)
    assert "selected holds none of the indices" in found.fallback
    assert found.fallback.endswith(f"; the {half} most supported of {count} edits are tried")


@pytest.mark.parametrize("count", [0, 1])
def test_without_a_budget_no_call_is_made_for_a_single_edit_or_none(count):
    found = rank(Scripted(), *map(append, "a" * count), edit_budget=None)
    assert found == Ranking(tuple(range(count)), chosen=count)


def test_with_a_budget_the_optimizer_chooses_no_number():
    assert rank(Scripted({"selected": [1]}), *map(append, "abc")).chosen is None


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ({"minibatch_size": 0}, "optimizer.minibatch_size is 0; allowed is 1 or more"),
        ({"merge_batch_size": 1}, "optimizer.merge_batch_size is 1; allowed is 2 or more"),
        ({"trajectory_tokens": 0}, "optimizer.trajectory_tokens is 0; allowed is 1 or more"),
        ({"max_concurrency": 0}, "optimizer.max_concurrency is 0; allowed is 1 or more"),
        ({"update_mode": "patches"}, "optimizer.update_mode is 'patches'; allowed are patch, rewrite and full_rewrite"),
        ({"reflect_on": "all"}, "optimizer.reflect_on is 'all'; allowed are failures and both"),
    ],
)
def test_a_setting_that_cannot_be_is_refused(setting, said):
    with pytest.raises(SkillpipeError) as caught:
        optimizer(Scripted(), **setting)
    assert str(caught.value) == said
