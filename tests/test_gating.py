"""gating.py: accept or reject a candidate by its val scores."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samples import scores
from skillpipe.errors import SkillpipeError
from skillpipe.gating import Strict, no_change
from skillpipe.records import ValScore

HARD = st.one_of(st.none(), st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.5, 1.0]))


@st.composite
def three_skills(draw):
    """Val scores of the current, the best and a candidate skill on the same tasks."""
    count = draw(st.integers(1, 12))
    return tuple(scores(*draw(st.lists(HARD, min_size=count, max_size=count))) for _ in range(3))


def decide(current, candidate, best=None, min_delta=0.0):
    return Strict(min_delta).decide(current, best or current, candidate)


def gain(old, new):
    """The exact gain over the tasks that both have a score for."""
    pairs = [(a.hard, b.hard) for a, b in zip(old, new, strict=True) if a.hard is not None and b.hard is not None]
    return sum((Fraction(str(b)) - Fraction(str(a)) for a, b in pairs), Fraction())


def test_one_more_passed_task_is_enough():
    decision = decide(scores(0, 0, 1), scores(0, 1, 1))
    assert (decision.action, decision.n) == ("accept_new_best", 3)
    assert decision.current == pytest.approx(1 / 3)
    assert decision.candidate == pytest.approx(2 / 3)


def test_a_tie_is_rejected_and_called_a_tie():
    decision = decide(scores(0, 1), scores(1, 0))
    assert decision.action == "reject"
    assert decision.reason == "a tie: 1 -> 1 of 2, 1 gained, 1 lost"


def test_a_tie_of_fractions_is_a_tie_though_their_floats_differ():
    old, new = scores(0.1, 0.2, 0.0), scores(0.0, 0.0, 0.3)
    assert 0.1 + 0.2 != 0.3
    assert decide(old, new).action == decide(new, old).action == "reject"


def test_a_loss_is_rejected():
    assert decide(scores(1, 1), scores(1, 0)).action == "reject"


def test_better_than_current_but_not_than_best_is_accepted_without_a_new_best():
    assert decide(scores(0, 0), scores(1, 0), best=scores(0, 1)).action == "accept"


def test_the_tasks_that_changed_are_named_in_task_order():
    decision = decide(scores(0, 1, 0.5, 1, 0), scores(1, 0, 1, 1, 0))
    assert (decision.gained, decision.lost) == (("v0", "v2"), ("v1",))


@pytest.mark.parametrize(("passes", "action"), [(1, "reject"), (2, "accept_new_best")])
def test_a_mean_gain_of_exactly_min_delta_is_not_enough(passes, action):
    candidate = scores(*[1] * passes, *[0] * (10 - passes))
    assert decide(scores(*[0] * 10), candidate, min_delta=0.1).action == action


def test_a_task_without_a_score_counts_for_neither_side():
    decision = decide(scores(None, 1, 0), scores(1, None, 0))
    assert (decision.action, decision.n) == ("reject", 1)
    assert (decision.gained, decision.lost) == ((), ())


def test_a_score_of_zero_counts():
    assert decide(scores(0), scores(0)).n == 1


def test_without_a_common_score_the_candidate_is_rejected_and_no_score_is_made_up():
    decision = decide(scores(None, 1), scores(1, None))
    assert (decision.action, decision.current, decision.candidate, decision.n) == ("reject", None, None, 0)
    assert decision.reason == "no val task has a score for both skills"


@given(three_skills(), st.sampled_from([0.0, 0.1, 0.25]))
def test_accepted_exactly_when_the_exact_gain_is_above_min_delta(skills, min_delta):
    current, best, candidate = skills
    decision = decide(current, candidate, best, min_delta)
    needed = Fraction(str(min_delta)) * decision.n
    assert (decision.action != "reject") == (gain(current, candidate) > needed)


@given(three_skills())
def test_a_new_best_beats_both_the_current_and_the_best(skills):
    current, best, candidate = skills
    is_best = decide(current, candidate, best).action == "accept_new_best"
    assert is_best == (gain(current, candidate) > 0 and gain(best, candidate) > 0)


@given(three_skills())
def test_of_two_skills_at_most_one_is_accepted_over_the_other(skills):
    one, two, _ = skills
    assert "reject" in (decide(one, two).action, decide(two, one).action)


@given(three_skills())
def test_exchanging_the_skills_exchanges_scores_gains_and_losses(skills):
    one, two, _ = skills
    there, back = decide(one, two), decide(two, one)
    assert (there.current, there.candidate, there.gained, there.lost) == (
        back.candidate,
        back.current,
        back.lost,
        back.gained,
    )


@given(st.lists(HARD, min_size=1, max_size=8))
def test_no_skill_is_accepted_over_itself(hard):
    assert decide(scores(*hard), scores(*hard)).action == "reject"


@pytest.mark.parametrize("other", [scores(1), (ValScore("v1", "", 1.0, 1.0), ValScore("v0", "", 1.0, 1.0))])
@pytest.mark.parametrize("role", ["candidate", "best"])
def test_scores_of_other_tasks_or_in_another_order_are_refused(other, role):
    skills = {"current": scores(0, 0), "best": scores(0, 0), "candidate": scores(0, 1)} | {role: other}
    with pytest.raises(SkillpipeError, match="not of the same tasks"):
        Strict(0.0).decide(**skills)


@pytest.mark.parametrize("value", [-0.1, 1, 1.5, math.nan])
def test_a_min_delta_outside_its_range_is_refused_with_the_range(value):
    with pytest.raises(SkillpipeError, match=f"min_delta is {value}; allowed is 0 up to 1"):
        Strict(value)


def test_no_change_keeps_the_current_score_and_has_no_candidate_score():
    decision = no_change(scores(1, 0, None), "no edit was proposed")
    assert (decision.action, decision.current, decision.candidate, decision.n) == ("no_change", 0.5, None, 2)
    assert decision.reason == "no edit was proposed"


def test_no_change_of_a_skill_without_scores_makes_none_up():
    assert no_change(scores(None), "").current is None
