"""page.scores, page.heading: scores with their intervals, and what is said about them."""

from dataclasses import replace

import pytest

from runs import a_run
from samples import attempt, broken
from skillpipe.page import heading
from skillpipe.page.scores import SMALL_VAL, best_val, by_task, score, scores, warnings, wilson
from skillpipe.page.words import signed, usage
from skillpipe.records import Usage
from skillpipe.state import Version


def test_intervals_are_wilsons():
    # Figures of R's prop.test(x, n, correct = FALSE), which is Wilson's: 7 of 20, 0 of 10, 10 of 10.
    for passed, n, low, high in ((7, 20, 0.1811918, 0.5671457), (0, 10, 0, 0.2775328), (10, 10, 0.7224672, 1)):
        assert wilson(passed / n, n) == pytest.approx((low, high), abs=1e-6)


@pytest.mark.parametrize("n", [1, 7, 40, 200])
def test_intervals_are_those_of_scipy_for_whole_counts(n):
    stats = pytest.importorskip("scipy.stats")
    for passed in range(0, n + 1, max(1, n // 9)):
        found = stats.binomtest(passed, n).proportion_ci(method="wilson")
        assert wilson(passed / n, n) == pytest.approx((found.low, found.high), abs=1e-9)


def test_what_has_no_score_counts_in_no_mean():
    assert score([1.0, None, 0.0, None]).n == 2
    assert score([None]) is None


def test_repeats_of_a_task_count_as_one_task():
    rows = [attempt("v0", 1), replace(attempt("v0", 0), replicate=1), attempt("v1", 1), broken("v2")]
    assert by_task(rows) == {"v0": 0.5, "v1": 1.0, "v2": None}


def run_of(before: int, after: int, tasks: int, tested: bool = True):
    """A run whose initial and best skills pass so many tasks of so many, on val as on test."""
    run = a_run(steps=1, tasks=tasks)
    rows = [[attempt(f"v{n}", float(n < passed)) for n in range(tasks)] for passed in (before, after)]
    val = tuple(replace(v, task=f"v{n}", hard=float(n < after)) for n, v in enumerate(run.state.best.val))
    best = Version({"SKILL.md": b"another"}, val)
    test = rows if tested else ([], [])
    return replace(run, state=replace(run.state, best=best), baseline=rows[0], test_initial=test[0], test_best=test[1])


def test_few_val_tasks_are_warned_of():
    few, enough = run_of(1, 19, SMALL_VAL - 1), run_of(1, 20, SMALL_VAL)
    assert any("Val has 19 tasks" in line for line in warnings(few, scores(few)))
    assert warnings(enough, scores(enough)) == []


def test_a_gain_within_the_interval_of_the_initial_score_is_warned_of_on_val_and_on_test():
    chance, gain = run_of(20, 24, 40), run_of(20, 30, 40)
    assert [line.split(",")[0] for line in warnings(chance, scores(chance))] == [
        "The best skill's score on val",
        "The best skill's score on test",
    ]
    assert warnings(gain, scores(gain)) == []


def test_the_initial_skill_as_the_best_is_no_gain_to_warn_of():
    run = a_run(steps=0)
    assert warnings(run, scores(run)) == []


def test_the_best_skills_val_rollouts_are_those_that_its_scores_come_from():
    run = a_run(steps=6)
    accepted = [row.step for row in run.state.history if row.decision.action == "accept_new_best"]
    assert accepted[-1] != run.steps[-1].step, "the last step is another one"
    assert best_val(run) == next(step.val for step in run.steps if step.step == accepted[-1])


def test_where_the_best_skills_val_rollouts_are_missing_no_others_stand_in():
    assert best_val(replace(a_run(steps=6), steps=())) == ()


@pytest.mark.parametrize(("before", "after", "word"), [(10, 30, "rose"), (30, 10, "fell"), (10, 10, "stayed the same")])
def test_the_verdict_is_that_of_the_test(before, after, word):
    run = run_of(before, after, 40)
    said = f"The test score {word}: {before / 40:.3f} to {after / 40:.3f} on 40 held-out tasks."
    assert heading.verdict(run, scores(run)) == said


def test_a_run_without_a_test_has_no_verdict_on_it():
    run = run_of(10, 30, 40, tested=False)
    assert heading.verdict(run, scores(run)) == "A candidate passed the gate; it has not been tested."


def test_calls_tokens_and_cost_are_those_of_every_step_and_of_the_tests():
    run = a_run(steps=3, tasks=30, early=False)
    told = dict(heading.facts(run, scores(run)))
    rollouts = [*(row for step in run.steps for row in step.val), *run.test_initial, *run.test_best]
    spent = sum((row.usage for row in rollouts), Usage())
    assert told["Target"] == f"small-model: {usage(spent)}"
    assert told["Optimizer"] == "large-model: 9 calls, 29\u202f400 tokens"
    assert told["Cost"] == f"${spent.cost_usd + 0.06:.4f}"


def test_val_by_another_metric_is_told_beside_the_hard_score():
    run = a_run(steps=2)
    assert "Val by the gate's metric" not in dict(heading.facts(run, scores(run)))
    history = tuple(replace(row, current=0.4, best=0.6) for row in run.state.history)
    soft = replace(run, state=replace(run.state, history=history))
    assert dict(heading.facts(soft, scores(soft)))["Val by the gate's metric"] == "0.400 to 0.600"


def test_differences_have_a_sign_and_a_real_minus():
    assert [signed(value) for value in (0.5, -0.1, 0.0, -0.0001)] == ["+0.500", "−0.100", "±0.000", "±0.000"]
