"""How the scripts keep the budget: what they count, how they stop, what plan says before anything is paid."""

import re
from dataclasses import replace

import pytest
import yaml

from samples import append, failed, passed, patch
from skillpipe.artifacts import read_record, read_rows, write_record, write_rows
from skillpipe.records import Merged, Patch, PlanSummary, Rollout, Spent, Task, Usage
from skillpipe.state import write_state
from workbench import state

TALKER = """\
from skillpipe.models import Price, Reply
from skillpipe.records import Usage

REPLIES = {
    "Correct": '{"edits": [{"op": "append", "content": "- a rule", "tasks": ["t1"]}]}',
    "Merge": '{"edits": [{"op": "append", "content": "- a rule", "from": [0, 1]}]}',
    "Choose": '{"selected": [1]}',
}


class Talker:
    def __init__(self, priced, **settings):
        if priced:
            self.list_price = Price(1.0, 1.0)

    async def complete(self, request):
        return Reply(REPLIES[request.messages[-1].content.split()[1]], Usage(1, 10, 5, 1.0))

    def close(self):
        pass
"""
USED = Usage(3, 30, 3, 1.5)
TASKS = [Task(word, f"Word: {word}\nCapitals:", word.upper()) for word in ("wordba", "wordbb", "wordbc")]


def used_before():
    """A state after a step in which the optimizer used USED."""
    begun = state(1, 0, used=Usage(2, 20, 2))
    step = replace(begun.history[0], step="e1s1", spent=Spent(optimizer=USED))
    return replace(begun, history=(*begun.history, step))


PATCHES = [replace(patch(append(f"- {letter}")), usage=Usage(1, 10, 1, 0.5)) for letter in "ab"]
MERGED = Merged("e1s2", 2, "", (append("- a"), append("- b")), usage=Usage(4, 40, 4, 2.0))
STEP = {
    "reflect": ("step=e1s2", "state=state", "rollouts=rollouts.jsonl", "prompts=prompts", "out=out.jsonl"),
    "aggregate": ("step=e1s2", "state=state", "patches=patches.jsonl", "prompts=prompts", "out=out.json"),
    "apply": ("step=e1s2", "edit_budget=1", "state=state", "merged=merged.json", "prompts=prompts", "out=out"),
}
PLAN = ("conf=conf", "skill=skills/toy", "out=runs/plan")
WORDS = ("skill=skills/toy", "tasks=tasks.jsonl", "out=runs/rollouts.jsonl")


@pytest.fixture
def bench(bench):
    """With tasks to run, and an optimizer that is a model."""
    params = yaml.safe_load((bench.root / "params.yaml").read_text("utf-8"))
    api = {"_target_": "talker.Talker", "priced": True}
    optimizer = {
        "_target_": "skillpipe.optimizers.model.ModelOptimizer", "source": "x", "model_source": "x", "model": "t",
        "minibatch_size": 1, "merge_batch_size": 2, "trajectory_tokens": 1000, "reflect_on": "failures", "api": api,
        "update_mode": "patch", "execution_notes": False,
    }  # fmt: skip
    for section in ("plan", "reflect", "aggregate", "apply"):
        params[section]["optimizer"] = optimizer
    bench.write("params.yaml", yaml.safe_dump(params))
    bench.write("talker.py", TALKER)
    write_state(bench.root / "state", used_before())
    write_rows(bench.root / "rollouts.jsonl", [failed("t1"), failed("t2")])
    write_rows(bench.root / "patches.jsonl", PATCHES)
    write_record(bench.root / "merged.json", MERGED)
    write_rows(bench.root / "tasks.jsonl", TASKS)
    return bench


def stopped(bench, *words: str) -> str:
    """The one line with which a rollout ends that the budget stops, leaving every file; progress aside."""
    before = bench.files()
    ended = bench.run_here("rollout", *WORDS, *words)
    lines = [line for line in ended.err.splitlines() if not re.search(r"\d+/\d+ tasks, passing", line)]
    assert (ended.code, ended.out, len(lines)) == (1, "", 1), ended.err
    assert bench.files() == before
    return lines[0]


@pytest.mark.parametrize("limit", ["max_calls=2", "max_tokens=8"])
def test_a_rollout_that_the_budget_stops_says_so_in_one_line_and_writes_nothing(bench, limit):
    name, value = limit.split("=")
    said = stopped(bench, f"budget.target.{limit}")
    assert said.startswith(f"error: budget.target.{name} is {value}: the target has used ")


def test_a_budget_that_is_enough_changes_no_byte(bench):
    assert bench.run_here("rollout", *WORDS).code == 0
    free = (bench.root / "runs" / "rollouts.jsonl").read_bytes()
    assert bench.run_here("rollout", *WORDS, "budget.target.max_calls=3").code == 0
    assert (bench.root / "runs" / "rollouts.jsonl").read_bytes() == free != b""


def test_what_was_spent_before_is_the_sum_over_all_files(bench):
    write_state(bench.root / "state", state(1, 0, used=Usage(2, 20, 2)))
    write_rows(bench.root / "known.jsonl", [passed("t1"), failed("t2")])
    spent = "spent=[state/history.jsonl,known.jsonl,known.jsonl]"
    assert "has used 6 calls, 66 tokens," in stopped(bench, spent, "budget.target.max_calls=6")
    assert bench.run_here("rollout", *WORDS, spent, "budget.target.max_calls=9").code == 0


@pytest.mark.parametrize(
    ("limit", "used"), [("max_calls=5", "6 calls, 66 tokens"), ("max_tokens=65", "6 calls, 66 tokens")]
)
def test_where_there_is_nothing_to_run_the_budget_is_kept_all_the_same(bench, limit, used):
    """test_best, of a run whose best skill is the initial one: what test_initial took is known only there."""
    write_state(bench.root / "state", state(1, 0, used=Usage(2, 20, 2)))
    write_rows(bench.root / "initial.jsonl", [passed(f"t{number}") for number in range(4)])
    words = ("unless=skills/toy", "spent=[state/history.jsonl,initial.jsonl]")
    assert f"has used {used}, $" in stopped(bench, *words, f"budget.target.{limit}")
    ended = bench.run_here("rollout", *WORDS, *words, "budget.target.max_calls=6", "budget.target.max_tokens=66")
    assert (ended.code, ended.err) == (0, "")
    assert read_rows(bench.root / "runs" / "rollouts.jsonl", Rollout) == []


def test_a_file_of_what_was_spent_that_is_missing_is_refused_by_name(bench):
    assert bench.refused("rollout", *WORDS, "spent=[gone.jsonl]").startswith("gone.jsonl: no such file")


def test_eval_keeps_the_budget_too(bench):
    ended = bench.run_here("eval", "skill=skills/toy", "split=val", "budget.target.max_calls=3")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.splitlines()[-1].startswith("error: budget.target.max_calls is 3")


@pytest.mark.parametrize(
    ("stage", "limits", "used"),
    [
        ("reflect", ("max_calls=3",), "3 calls, 33 tokens, $1.5000"),
        ("reflect", ("max_calls=4",), "4 calls, "),
        ("reflect", ("max_cost_usd=1.5",), "3 calls, 33 tokens, $1.5000"),
        ("aggregate", ("max_calls=5",), "5 calls, 55 tokens, $2.5000"),
        ("aggregate", ("max_tokens=69",), "6 calls, 70 tokens, $3.5000"),
        ("apply", ("max_calls=7",), "7 calls, 77 tokens, $3.5000"),
        ("apply", ("max_cost_usd=4",), "8 calls, 92 tokens, $4.5000"),
    ],
    ids=str,
)
def test_a_stage_of_the_optimizer_counts_the_run_and_its_own_step_so_far(bench, stage, limits, used):
    said = bench.refused(stage, *STEP[stage], *(f"budget.optimizer.{limit}" for limit in limits))
    assert said.startswith(f"budget.optimizer.{limits[0].split('=')[0]} is ")
    assert f": the optimizer has used {used}" in said


@pytest.mark.parametrize(("stage", "calls"), [("reflect", 5), ("aggregate", 6), ("apply", 8)])
def test_a_stage_of_the_optimizer_whose_budget_is_just_enough_goes_through(bench, stage, calls):
    ended = bench.run_here(stage, *STEP[stage], f"budget.optimizer.max_calls={calls}", "budget.target.max_calls=0")
    assert (ended.code, ended.err) == (0, "")


def test_a_stage_writes_down_what_its_calls_took(bench):
    for stage, words in STEP.items():
        assert bench.run_here(stage, *words).code == 0
    assert [one.usage for one in read_rows(bench.root / "out.jsonl", Patch)] == [Usage(1, 10, 5, 1.0)] * 2
    assert read_record(bench.root / "out.json", Merged).usage == Usage(3, 30, 7, 2.0)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("budget.target.max_cost_usd=1",),
            "budget.target.max_cost_usd is 1 and the price of target is not known; state it beside the model: price: {",
        ),
        (
            ("budget.optimizer.max_cost_usd=2", "optimizer.api.priced=false"),
            "budget.optimizer.max_cost_usd is 2 and the price of optimizer is not known",
        ),
    ],
)
def test_plan_refuses_a_cost_cap_without_a_price(bench, words, said):
    assert bench.refused("plan", *PLAN, *words).startswith(said)


def test_plan_warns_of_each_limit_that_cannot_pay_three_steps_and_goes_on(bench):
    words = ("budget.target.max_calls=83", "budget.optimizer.max_calls=83", "budget.optimizer.max_cost_usd=1")
    ended = bench.run_here("plan", *PLAN, *words)
    summary = read_record(bench.root / "runs" / "plan" / "summary.json", PlanSummary)
    # Three steps: 3 x 8 train, 4 x 10 val and 2 x 10 test tasks.
    assert summary.warnings[0] == "budget.target.max_calls is 83; 3 steps take up to 84"
    assert summary.warnings[1].startswith("budget.optimizer.max_calls is 83; 3 steps take up to ")
    assert len(summary.warnings) == 2
    assert ended.code == 0
    assert all(f"warning: {warning}" in ended.err for warning in summary.warnings)


def test_plan_is_content_with_a_budget_for_three_steps(bench):
    assert bench.run_here("plan", *PLAN, "budget.target.max_calls=84").err == ""
