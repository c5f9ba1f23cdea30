"""estimate.py, the module and the script: what a run is going to take, before it is paid for."""

import dataclasses

import pytest
from dvc.utils.hydra import compose_and_dump

from estimate import estimate as told
from samples import task
from skillpipe.artifacts import read_record
from skillpipe.envs import Calls
from skillpipe.estimate import WORTHWHILE_STEPS, Extent, estimate, too_small
from skillpipe.models import Price
from skillpipe.records import Estimate, PlanSummary
from skillpipe.sections import Budget, Limits
from skillpipe.skill import count_tokens
from workbench import STAGES

FREE = Limits(None, None, None)
FEW = Estimate(100, 4000, 1000, 0.5, 12, 7)
PLAN = ("conf=conf", "skill=skills/toy", "out=runs/plan")
# 6 train tasks of 10 tokens, 2 val tasks of 10 and 30 tokens, 3 test tasks of 20: a token is about 4 bytes.
TASKS = {
    "train": [task(f"a{number}", text="x" * 40) for number in range(6)],
    "val": [task("b1", text="x" * 40), task("b2", text="x" * 120)],
    "test": [task(f"c{number}", text="x" * 80) for number in range(3)],
}


def of(**changes) -> Estimate:
    sizes = {"steps": 3, "batch_size": 4, "slow_updates": 0, "samples": 5, "repeats": 1, "tests": 2}
    settings = {"max_tokens": 16, "price": Price(1.0, 10.0), "optimizer_calls": 15, "attempt": Calls()}
    extent = Extent(**sizes | {name: changes.pop(name) for name in list(changes) if name in sizes})
    return estimate(TASKS, "y" * 400, extent, **settings | changes)


def test_a_run_takes_val_before_and_after_each_step_a_batch_each_and_test_twice():
    assert of().target_calls == 3 * 4 + 4 * 2 + 2 * 3


def test_every_call_reads_the_skill_and_its_task():
    assert count_tokens("y" * 400) == 100
    assert of().target_input_tokens == 26 * 100 + 12 * 10 + 8 * 20 + 6 * 20


def test_every_call_writes_at_most_its_limit_and_costs_what_it_reads_and_writes():
    assert of().target_output_tokens == 26 * 16
    assert of().target_cost_usd == pytest.approx((3000 * 1.0 + 416 * 10.0) / 1e6)


def test_an_answer_without_a_limit_makes_output_and_cost_unknown_and_not_zero():
    assert (of(max_tokens=None).target_output_tokens, of(max_tokens=None).target_cost_usd) == (None, None)


def test_an_unknown_price_makes_the_cost_alone_unknown():
    assert of(price=None) == dataclasses.replace(of(), target_cost_usd=None)


def test_a_slow_update_takes_its_samples_twice_and_val_once():
    assert of(slow_updates=2).target_calls - of().target_calls == 2 * (2 * 5 + 2)


def test_a_slow_update_samples_no_more_tasks_than_there_are():
    assert of(slow_updates=1, samples=50).target_calls - of().target_calls == 2 * 6 + 2


def test_repeats_multiply_val_alone():
    assert of(repeats=3).target_calls - of().target_calls == 2 * 4 * 2


def test_an_attempt_of_several_turns_takes_as_many_calls_and_reads_as_often():
    turns = of(attempt=Calls(target=3, judge=2))
    assert turns.target_calls == 3 * of().target_calls
    assert turns.target_input_tokens == 3 * of().target_input_tokens
    assert turns.target_output_tokens == 3 * of().target_output_tokens
    assert (turns.judge_calls, of().judge_calls) == (2 * 26, 0)


def test_a_third_test_takes_test_once_more():
    assert of(tests=3).target_calls - of().target_calls == 3


@pytest.mark.parametrize(
    ("role", "limits", "said"),
    [
        ("target", Limits(99, None, None), "budget.target.max_calls is 99; 3 steps take up to 100"),
        ("target", Limits(None, 4999, None), "budget.target.max_tokens is 4999; 3 steps take up to 5000"),
        ("target", Limits(None, None, 0.4), "budget.target.max_cost_usd is 0.4; 3 steps take up to 0.5"),
        ("optimizer", Limits(11, None, None), "budget.optimizer.max_calls is 11; 3 steps take up to 12"),
        ("judge", Limits(6, None, None), "budget.judge.max_calls is 6; 3 steps take up to 7"),
    ],
    ids=str,
)
def test_a_limit_that_cannot_pay_for_three_steps_is_warned_of(role, limits, said):
    assert WORTHWHILE_STEPS == 3
    assert too_small(Budget(**{"target": FREE, "optimizer": FREE, "judge": FREE} | {role: limits}), FEW) == [said]


def test_every_limit_that_is_too_small_has_a_warning_of_its_own():
    warnings = too_small(Budget(Limits(1, 1, 0.0), Limits(1, None, None), Limits(1, None, None)), FEW)
    assert [warning.split()[0] for warning in warnings] == [
        "budget.target.max_calls", "budget.target.max_tokens", "budget.target.max_cost_usd",
        "budget.optimizer.max_calls", "budget.judge.max_calls",
    ]  # fmt: skip


def test_a_limit_that_is_just_enough_is_not_warned_of_nor_is_one_of_what_is_not_known():
    assert too_small(Budget(Limits(100, 5000, 0.5), Limits(12, 1, 0.0), Limits(7, 1, 0.0)), FEW) == []
    unknown = dataclasses.replace(FEW, target_cost_usd=None)
    assert too_small(Budget(Limits(None, None, 0.0), FREE, FREE), unknown) == []


def lines(expected: Estimate, *warnings: str) -> dict[str, str]:
    plan = PlanSummary(20, 10, 10, 8, ("e1s1", "e2s1"), expected, warnings)
    return {line[:16].strip(): line[16:].strip() for line in told(plan).splitlines()}


def test_the_estimate_is_told_in_figures():
    assert lines(FEW) == {
        "steps": "2, of 8 train tasks and 10 val tasks each",
        "target calls": "at most 100, tests included",
        "target tokens": "about 4000 in, at most 1000 out; more as the skill grows",
        "target cost": "at most about $0.5000",
        "optimizer calls": "at most 12",
        "judge calls": "at most 7",
    }


def test_what_is_not_known_is_told_so():
    said = lines(dataclasses.replace(FEW, target_output_tokens=None, target_cost_usd=None))
    assert said["target tokens"].startswith("about 4000 in, no limit out")
    assert said["target cost"] == "not known: no price"


def test_the_plans_warnings_come_last():
    plan = PlanSummary(20, 10, 10, 8, ("e1s1",), FEW, ("too little", "too late"))
    assert told(plan).splitlines()[-2:] == ["warning: too little", "warning: too late"]


def test_the_script_prints_the_estimate_of_the_plan(bench):
    bench.done("plan", *PLAN)
    summary = read_record(bench.root / "runs" / "plan" / "summary.json", PlanSummary)
    assert bench.done("estimate") == told(summary) + "\n"


def test_before_a_plan_the_script_refuses_by_name(bench):
    assert bench.refused("estimate").startswith("runs/plan/summary.json: no such file")


@pytest.mark.parametrize(
    ("choice", "keys"),
    [
        ("optimizer=model", ["optimizer.model"]),
        ("target=litellm", ["target.model"]),
        ("target=chat_server", ["target.model", "target.api_base"]),
    ],
)
def test_plan_asks_for_a_value_that_nobody_gave_and_says_what_to_type(bench, choice, keys):
    """compose.py refuses such a choice; `dvc exp run` composes by itself, and writes it."""
    conf, plugins = str(bench.root / "conf"), str(STAGES)
    overrides = ["env=toy", "target=toy", "gate=toy", choice]
    compose_and_dump(bench.root / "params.yaml", conf, None, "config", plugins, overrides)
    settings, words = (" ".join(f"{dash}{key}=..." for key in keys) for dash in ("-S ", ""))
    assert bench.refused("plan", *PLAN) == (
        f"params.yaml: no value for {', '.join(keys)}; type `dvc exp run {settings}` or "
        f"`python stages/compose.py {words}`, each with the other overrides that you want"
    )
