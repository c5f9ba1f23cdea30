"""gating: the whole decision on a candidate, by the strict rule where the rule does not matter."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pairing import FRACTIONS, decide, three_skills, typed
from samples import scores
from skillpipe.errors import SkillpipeError
from skillpipe.gating import Off, Paired, Strict, Verdict, beats, unchanged
from skillpipe.records import ACCEPTED, TypeScore, ValScore
from skillpipe.scoring import HARD, SOFT, Metric

SKILLS = three_skills()


def gain(old, new):
    """The exact gain over the tasks that both have a score for."""
    both = [(a.hard, b.hard) for a, b in zip(old, new, strict=True) if a.hard is not None and b.hard is not None]
    return sum((Fraction(str(b)) - Fraction(str(a)) for a, b in both), Fraction())


class Unasked:
    """A rule or a policy that must not be asked."""

    def judge(self, pairs):
        raise AssertionError

    def __call__(self, review):
        raise AssertionError


def test_one_more_passed_task_is_enough():
    decision = decide(scores(0, 0, 1), scores(0, 1, 1))
    assert (decision.action, decision.n) == ("accept_new_best", 3)
    assert decision.current == pytest.approx(1 / 3)
    assert decision.candidate == pytest.approx(2 / 3)
    assert decision.reason == "a gain, better than the best so far: 1 -> 2 of 3, 1 gained, 0 lost"


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
    decision = decide(scores(0, 0), scores(1, 0), best=scores(0, 1))
    assert decision.action == "accept"
    assert decision.reason.startswith("a gain, not better than the best: ")


def test_the_tasks_that_changed_are_named_in_task_order():
    decision = decide(scores(0, 1, 0.5, 1, 0), scores(1, 0, 1, 1, 0))
    assert (decision.gained, decision.lost) == (("v0", "v2"), ("v1",))


@pytest.mark.parametrize(("passes", "action"), [(1, "reject"), (2, "accept_new_best")])
def test_a_mean_gain_of_exactly_min_delta_is_not_enough(passes, action):
    candidate = scores(*[1] * passes, *[0] * (10 - passes))
    assert decide(scores(*[0] * 10), candidate, rule=Strict(0.1)).action == action


def test_a_task_without_a_score_counts_for_neither_side():
    decision = decide(scores(None, 1, 0), scores(1, None, 0))
    assert (decision.action, decision.n) == ("reject", 1)
    assert (decision.gained, decision.lost) == ((), ())


def test_a_score_of_zero_counts():
    assert decide(scores(0), scores(0)).n == 1


@pytest.mark.parametrize("rule", [Strict(0.0), Paired(0.05), Off(), Unasked()])
def test_without_a_common_score_any_rule_rejects_and_no_score_is_made_up(rule):
    decision = decide(scores(None, 1), scores(1, None), rule=rule, policies=[Unasked()])
    assert (decision.action, decision.current, decision.candidate, decision.n) == ("reject", None, None, 0)
    assert decision.reason == "no val task has a score for both skills"


@given(SKILLS, st.sampled_from([0.0, 0.1, 0.25]))
def test_accepted_exactly_when_the_exact_gain_is_above_min_delta(skills, min_delta):
    current, best, candidate = skills
    decision = decide(current, candidate, best, Strict(min_delta))
    needed = Fraction(str(min_delta)) * decision.n
    assert (decision.action in ACCEPTED) == (gain(current, candidate) > needed)


@given(SKILLS)
def test_a_new_best_beats_both_the_current_and_the_best(skills):
    current, best, candidate = skills
    is_best = decide(current, candidate, best).action == "accept_new_best"
    assert is_best == (gain(current, candidate) > 0 and gain(best, candidate) > 0)


@given(SKILLS)
def test_of_two_skills_at_most_one_is_accepted_over_the_other(skills):
    one, two, _ = skills
    assert "reject" in (decide(one, two).action, decide(two, one).action)


@given(SKILLS)
def test_exchanging_the_skills_exchanges_scores_gains_and_losses(skills):
    one, two, _ = skills
    there, back = decide(one, two), decide(two, one)
    assert (there.current, there.candidate, there.gained, there.lost) == (
        back.candidate,
        back.current,
        back.lost,
        back.gained,
    )


@given(st.lists(st.one_of(st.none(), FRACTIONS), min_size=1, max_size=8))
def test_no_skill_is_accepted_over_itself(hard):
    assert decide(scores(*hard), scores(*hard)).action == "reject"


@pytest.mark.parametrize("other", [scores(1), (ValScore("v1", "", 1.0, 1.0), ValScore("v0", "", 1.0, 1.0))])
@pytest.mark.parametrize("role", ["candidate", "best"])
def test_scores_of_other_tasks_or_in_another_order_are_refused(other, role):
    skills = {"current": scores(0, 0), "best": scores(0, 0), "candidate": scores(0, 1)} | {role: other}
    with pytest.raises(SkillpipeError, match="not of the same tasks"):
        decide(**skills)


@pytest.mark.parametrize("metric", [SOFT, Metric("mixed", 0.5)])
def test_the_metric_decides_what_is_compared(metric):
    current, candidate = [ValScore("v0", "", 1.0, 0.2)], [ValScore("v0", "", 0.5, 0.9)]
    assert decide(current, candidate).action == "reject"
    decision = decide(current, candidate, metric=metric)
    assert decision.action == "accept_new_best"
    assert decision.current == {"soft": 0.2, "mixed": 0.6}[metric.name]
    assert decision.candidate == {"soft": 0.9, "mixed": 0.7}[metric.name]


def test_mean_scores_by_type_are_over_the_pairs_in_order_of_first_appearance():
    decision = decide(typed("baab", 0, 1, 0, None), typed("baab", 1, 1, 1, 1))
    assert decision.by_type == (TypeScore("b", 1, 0.0, 1.0), TypeScore("a", 2, 0.5, 1.0))


def test_tasks_without_types_have_no_scores_by_type():
    assert decide(scores(0, 0), scores(1, 0)).by_type == ()


def test_the_rules_p_value_is_kept():
    assert decide(scores(0, 0), scores(1, 1), rule=Paired(0.05)).p_value == 0.25
    assert decide(scores(0, 0), scores(1, 1)).p_value is None


def test_coverage_is_over_the_tasks_that_were_needed():
    decision = decide(scores(0, 0, 0, 1), scores(0, None, None, None), not_needed=["v2", "v3"])
    assert (decision.coverage, decision.not_needed) == (0.5, 2)
    assert decision.reason == "a tie: 0 -> 0 of 1, 0 gained, 0 lost, 2 not needed"


def test_at_most_is_the_mean_if_every_task_that_was_not_needed_were_passed():
    decision = decide(scores(1, 1, None, 1), scores(0, 0.5, None, None), not_needed=["v2", "v3"])
    assert decision.at_most == 0.5  # (0 + 0.5 + 1) / 3: v2 has no score to compare with


def test_where_all_tasks_were_needed_there_is_no_at_most():
    assert decide(scores(1, 1), scores(0, None)).at_most is None


def test_a_candidate_that_passes_though_tasks_were_left_out_is_an_error_not_an_acceptance():
    with pytest.raises(SkillpipeError, match="accepts a candidate that was not run on 1 val tasks"):
        decide(scores(0, 0), scores(1, None), not_needed=["v1"])


def test_a_rule_may_be_any_object_with_the_members():
    class AtLeastTwo:
        def judge(self, pairs):
            return Verdict(sum(pair.change > 0 for pair in pairs) >= 2, "at least two")

    assert decide(scores(0, 0), scores(1, 0), rule=AtLeastTwo()).action == "reject"
    assert decide(scores(0, 0), scores(1, 1), rule=AtLeastTwo()).action == "accept_new_best"


@given(SKILLS)
def test_beating_another_skill_is_an_exact_sum_over_common_tasks(skills):
    one, two, _ = skills
    assert beats(HARD, one, two) == (gain(one, two) > 0)


@pytest.mark.parametrize("action", ["skip_no_patches", "no_change", "stopped"])
def test_an_unchanged_skill_keeps_its_score_and_has_no_candidate_score(action):
    decision = unchanged(scores(1, 0, None), HARD, "no edit was proposed", action)
    assert (decision.action, decision.current, decision.candidate, decision.n) == (action, 0.5, None, 2)
    assert (decision.reason, decision.coverage) == ("no edit was proposed", 2 / 3)


def test_an_unchanged_skills_score_is_by_the_runs_metric():
    assert unchanged([ValScore("v0", "", 1.0, 0.25)], SOFT, "", "no_change").current == 0.25


def test_an_unchanged_skill_without_scores_has_none_made_up():
    assert unchanged(scores(None), HARD, "", "no_change").current is None
