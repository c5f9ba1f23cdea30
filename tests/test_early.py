"""gating/early.py: fewer calls, same decision."""

import itertools
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pairing import FRACTIONS, PASSES, RULES, decide
from samples import scores
from skillpipe.errors import SkillpipeError
from skillpipe.gating import Off, Paired, Strict, Veto, open_tasks, order, pair_up, settled
from skillpipe.records import ACCEPTED, ValScore
from skillpipe.scoring import HARD, SOFT

EXACT = [rule for rule in RULES if not isinstance(rule, Off)]


def rows(values, types) -> list[ValScore]:
    return [ValScore(f"v{number}", types[number % len(types)], value, value) for number, value in enumerate(values)]


def stopped_after(rule, current, candidate, seed=1) -> list[ValScore]:
    """The candidate's rows on the tasks that were run, one after the other, until its rejection was certain."""
    by_task = {row.task: row for row in candidate}
    done: list[ValScore] = []
    for task in order(HARD, current, seed):
        if settled(rule, HARD, current, done):
            break
        done.append(by_task[task])
    return done


def accepted(rule, current, candidate, ran) -> bool:
    """The gate's word when the tasks that were not run have no score."""
    kept = {row.task for row in ran}
    left = [row.task for row in candidate if row.task not in kept]
    seen = [row if row.task in kept else ValScore(row.task, row.task_type, None, None) for row in candidate]
    return decide(current, seen, rule=rule, not_needed=left).action in ACCEPTED


@st.composite
def cases(draw, values):
    """A rule, then current and candidate on the same tasks, some without a score, of up to three types."""
    both = draw(st.lists(st.tuples(st.one_of(values, st.none()), st.one_of(values, st.none())), max_size=14))
    types = draw(st.sampled_from(["a", "ab", "abc", "aab"]))
    before, after = zip(*both, strict=True) if both else ((), ())
    return draw(st.sampled_from(RULES)), rows(before, types), rows(after, types)


@settings(max_examples=1500)
@given(cases(PASSES), st.integers(0, 3))
def test_stopping_early_decides_as_a_full_run_on_passed_and_failed_tasks(case, seed):
    rule, current, candidate = case
    ran = stopped_after(rule, current, candidate, seed)
    assert accepted(rule, current, candidate, ran) == accepted(rule, current, candidate, candidate)


@settings(max_examples=600)
@given(cases(FRACTIONS), st.integers(0, 3))
def test_stopping_early_decides_as_a_full_run_on_fractions(case, seed):
    rule, current, candidate = case
    ran = stopped_after(rule, current, candidate, seed)
    assert accepted(rule, current, candidate, ran) == accepted(rule, current, candidate, candidate)


@pytest.mark.parametrize("rule", EXACT)
@given(st.lists(st.tuples(PASSES, st.one_of(PASSES, st.none())), max_size=6), st.lists(PASSES, max_size=4))
@settings(max_examples=60)
def test_settled_exactly_when_every_outcome_of_the_rest_is_rejected(rule, done, rest):
    current = rows([*(before for before, _ in done), *rest], "ab")
    so_far = rows([after for _, after in done], "ab")
    ends = itertools.product((0.0, 1.0, None), repeat=len(rest))
    ended = (rows([*(after for _, after in done), *end], "ab") for end in ends)
    any_passes = any(accepted(rule, current, candidate, candidate) for candidate in ended)
    assert settled(rule, HARD, current, so_far) == (not any_passes)


@pytest.mark.parametrize("rule", EXACT)
def test_a_useless_candidate_is_rejected_before_all_tasks_are_run(rule):
    current = scores(*[0.0] * 10, *[1.0] * 10)
    assert len(stopped_after(rule, current, scores(*[0.0] * 20))) < 20


def test_an_accepted_candidate_is_run_on_all_tasks():
    current, candidate = scores(*[0.0] * 10, *[1.0] * 10), scores(*[1.0] * 20)
    for rule in RULES:
        assert len(stopped_after(rule, current, candidate)) == 20


def test_without_a_gate_nothing_stops_early():
    assert len(stopped_after(Off(), scores(1, 1, 1), scores(0, 0, 0))) == 3


def test_strict_stops_once_the_losses_outweigh_what_is_left_to_gain():
    current = scores(0, 0, 1, 1)
    assert not settled(Strict(0.0), HARD, current, scores(0))
    assert settled(Strict(0.0), HARD, current, scores(0, 0))


def test_paired_stops_once_significance_is_out_of_reach():
    current = scores(*[0.0] * 6, 1.0)
    assert not settled(Paired(0.05), HARD, current, scores(0))
    assert settled(Paired(0.05), HARD, current, scores(0, 0))


def test_a_veto_stops_at_the_first_loss_too_many():
    current = scores(*[0.0] * 9, 1.0)
    lost = [ValScore("v9", "", 0.0, 0.0)]
    assert settled(Veto(Strict(0.0), 0, None), HARD, current, lost)
    assert not settled(Veto(Strict(0.0), 1, None), HARD, current, lost)


def test_what_decides_soonest_comes_first():
    current = scores(1, 0, None, 0.5, 1, 0)
    tasks = order(HARD, current, 1)
    assert [set(tasks[:3]), set(tasks[3:5]), tasks[5:]] == [{"v1", "v3", "v5"}, {"v0", "v4"}, ["v2"]]


@given(st.lists(st.one_of(FRACTIONS, st.none()), max_size=20), st.integers())
def test_the_order_names_every_task_once_and_depends_on_scores_and_seed_alone(hard, seed):
    tasks = order(HARD, scores(*hard), seed)
    assert Counter(tasks) == Counter(f"v{number}" for number in range(len(hard)))
    assert tasks == order(HARD, scores(*hard), seed)


def test_another_seed_gives_another_order():
    current = scores(*[0.0] * 30)
    assert order(HARD, current, 1) != order(HARD, current, 2)
    assert order(HARD, current, 1) != [row.task for row in current]


def test_the_order_goes_by_the_runs_metric():
    current = [ValScore("a", "", 1.0, 0.5), ValScore("b", "", 0.0, 1.0)]
    assert (order(HARD, current, 1), order(SOFT, current, 1)) == (["b", "a"], ["a", "b"])


@pytest.mark.parametrize("so_far", [[ValScore("other", "", 1.0, 1.0)], [*scores(1), *scores(1)]])
def test_scores_of_an_unknown_task_or_of_one_twice_are_refused(so_far):
    with pytest.raises(SkillpipeError, match="not of the same tasks"):
        settled(Strict(0.0), HARD, scores(0, 0), so_far)


def test_a_task_that_was_run_without_a_score_is_not_waited_for():
    assert settled(Strict(0.0), HARD, scores(0), scores(None))


def test_the_stop_rule_of_training_looks_at_all_tasks_that_have_a_score():
    current = scores(1, 1, None)
    assert [task.task for task in open_tasks(HARD, current)] == ["v0", "v1"]
    assert not Strict(0.0).can_pass([], open_tasks(HARD, current))
    assert Strict(0.0).can_pass(pair_up(HARD, current, scores(1, 1, 1)), open_tasks(HARD, scores(0.9)))
