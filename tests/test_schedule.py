"""schedule.py: the steps of a run and the edit budget of each."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillpipe.errors import SkillpipeError
from skillpipe.schedule import edit_budget, epoch_of, is_step, last_state, step_keys, unroll, unroll_epochs

FALLING = ("linear", "cosine")


@st.composite
def runs(draw):
    """(total, maximum, minimum) of a run that is allowed."""
    minimum = draw(st.integers(0, 20))
    return draw(st.integers(1, 60)), draw(st.integers(minimum, 40)), minimum


def budgets(total: int, maximum: int, minimum: int, schedule: str) -> list[int]:
    return [edit_budget(step, total, maximum, minimum, schedule) for step in range(1, total + 1)]


@given(runs())
def test_constant_is_the_maximum_at_every_step(run):
    total, maximum, minimum = run
    assert budgets(total, maximum, minimum, "constant") == [maximum] * total


@given(runs(), st.sampled_from(FALLING))
def test_a_falling_budget_stays_between_minimum_and_maximum(run, schedule):
    total, maximum, minimum = run
    assert all(minimum <= budget <= maximum for budget in budgets(total, maximum, minimum, schedule))


@given(runs(), st.sampled_from(FALLING))
def test_a_falling_budget_never_rises(run, schedule):
    row = budgets(*run, schedule)
    assert row == sorted(row, reverse=True)


@given(runs().filter(lambda run: run[0] > 1), st.sampled_from(FALLING))
def test_the_last_step_of_a_falling_schedule_has_the_minimum(run, schedule):
    assert budgets(*run, schedule)[-1] == run[2]


@given(runs(), st.sampled_from(("constant", *FALLING)))
def test_a_run_of_one_step_has_the_maximum(run, schedule):
    assert budgets(1, run[1], run[2], schedule) == [run[1]]


@pytest.mark.parametrize(
    ("total", "maximum", "minimum", "schedule", "expected"),
    [
        (4, 4, 4, "linear", [4, 4, 4, 4]),
        (4, 5, 1, "linear", [4, 3, 2, 1]),
        (4, 8, 0, "linear", [6, 4, 2, 0]),
        (2, 5, 2, "linear", [4, 2]),  # 3.5 rounds half to even
        (4, 9, 1, "cosine", [8, 5, 2, 1]),
        (6, 10, 0, "cosine", [9, 8, 5, 2, 1, 0]),
    ],
)
def test_budgets_worked_out_by_hand(total, maximum, minimum, schedule, expected):
    assert budgets(total, maximum, minimum, schedule) == expected


def test_cosine_keeps_more_budget_early_and_less_late_than_linear():
    linear, cosine = budgets(20, 30, 0, "linear"), budgets(20, 30, 0, "cosine")
    assert cosine[4] > linear[4]
    assert cosine[14] < linear[14]


@pytest.mark.parametrize(("maximum", "minimum"), [(1, 2), (4, -1), (-1, -1)])
def test_a_minimum_above_the_maximum_or_below_zero_is_refused_with_both_numbers(maximum, minimum):
    with pytest.raises(SkillpipeError, match=f"edit_budget={maximum}, min_edit_budget={minimum}: allowed is"):
        edit_budget(1, 4, maximum, minimum, "constant")


def test_an_unknown_schedule_is_refused_with_the_allowed_ones():
    with pytest.raises(SkillpipeError, match="schedule=cosin: allowed are constant, linear, cosine, autonomous"):
        edit_budget(1, 4, 4, 1, "cosin")


def test_step_keys_stand_in_training_order():
    assert step_keys(2, 3) == ["e1s1", "e1s2", "e1s3", "e2s1", "e2s2", "e2s3"]


@pytest.mark.parametrize(("epochs", "steps"), [(0, 2), (2, 0), (-1, 1)])
def test_a_run_without_steps_is_refused_with_both_numbers(epochs, steps):
    with pytest.raises(SkillpipeError, match=f"num_epochs is {epochs}, steps_per_epoch is {steps}"):
        step_keys(epochs, steps)


@given(st.integers(1, 5), st.integers(1, 5))
def test_each_step_follows_the_one_before_it_and_the_first_follows_start(epochs, steps):
    unrolled = unroll(epochs, steps, 4, 1, "constant", False)
    assert list(unrolled) == step_keys(epochs, steps)
    assert [row["previous"] for row in unrolled.values()] == ["start", *unrolled][:-1]


@given(runs(), st.sampled_from(("constant", *FALLING)))
def test_each_step_carries_its_own_budget(run, schedule):
    total, maximum, minimum = run
    unrolled = unroll(1, total, maximum, minimum, schedule, False)
    assert [row["edit_budget"] for row in unrolled.values()] == budgets(total, maximum, minimum, schedule)


def test_an_autonomous_budget_is_left_to_the_optimizer():
    assert budgets(3, 4, 1, "autonomous") == [None] * 3
    assert {row["edit_budget"] for row in unroll(1, 3, 4, 1, "autonomous", False).values()} == {"null"}


def test_with_slow_updates_an_epoch_starts_from_the_one_before_it():
    unrolled = unroll(3, 2, 4, 1, "constant", True)
    assert [row["previous"] for row in unrolled.values()] == ["start", "e1s1", "e1s2", "e2s1", "e2", "e3s1"]


def test_a_slow_update_follows_every_epoch_but_the_first_which_has_nothing_to_compare_with():
    assert unroll_epochs(3, 2, True) == {
        "e2": {"last": "e2s2", "before": "e1s2"},
        "e3": {"last": "e3s2", "before": "e2"},
    }
    assert unroll_epochs(1, 2, True) == unroll_epochs(3, 2, False) == {}


@pytest.mark.parametrize(
    ("epochs", "slow", "expected"), [(1, True, "e1s2"), (1, False, "e1s2"), (2, False, "e2s2"), (3, True, "e3")]
)
def test_the_last_state_is_the_last_slow_updates_or_the_last_steps(epochs, slow, expected):
    assert last_state(epochs, 2, slow) == expected


def test_a_key_tells_its_epoch_and_whether_it_is_a_step():
    assert [epoch_of(key) for key in ("e1s2", "e12s3", "e12", "start")] == ["e1", "e12", "e12", "start"]
    assert [is_step(key) for key in ("e1s2", "e12", "start")] == [True, False, False]


@given(st.integers(1, 5), st.integers(1, 5), st.booleans())
def test_one_more_epoch_changes_no_earlier_step_under_the_constant_schedule(epochs, steps, slow):
    shorter, longer = (unroll(number, steps, 4, 1, "constant", slow) for number in (epochs, epochs + 1))
    assert {key: longer[key] for key in shorter} == shorter
