"""envs/opening.py: an environment is given the judge that the configuration names, and needs none otherwise."""

import asyncio

import pytest

from scripted import CALL, PROMPTS
from skillpipe.budget import BudgetExceeded
from skillpipe.envs import warnings
from skillpipe.envs.opening import environment
from skillpipe.errors import SkillpipeError
from skillpipe.models import Reply
from skillpipe.records import Usage
from skillpipe.sections import Budget, Execution, Limits
from suites import Answers, write_pair

FREE = Limits(None, None, None)
EXECUTION = Execution(4, 2, {}, {}, {"threads": 3})
NONE = {"source": "somewhere"}
JUDGE = {"_target_": "test_opening.Says", "source": "somewhere"}
PLAIN = {"_target_": "test_opening.Plain", "source": "somewhere"}
opened: list["Says"] = []


class Says:
    """A judge's model; keeps its arguments, and whether it was closed."""

    def __init__(self, threads: int) -> None:
        self.threads, self.closed = threads, 0
        opened.append(self)

    async def complete(self, request):
        return Reply('{"items": [{"id": "polite", "verdict": "yes", "reason": "so"}]}', CALL)

    def close(self):
        self.closed += 1


class Plain:
    """An environment that knows no judge."""


def enter(env, judge, limits=FREE, spent=None):
    budget = Budget(target=FREE, optimizer=FREE, judge=limits)
    return environment(env, judge, EXECUTION, budget, spent or Usage(), str(PROMPTS))


@pytest.fixture
def suite(tmp_path):
    opened.clear()
    folder = write_pair(tmp_path / "toys")
    return {"_target_": "skillpipe.envs.suite.Suite", "source": "x", "data": str(folder), "pair": None, "head": None}


def run(env):
    return asyncio.run(env.run(env.tasks("train")[0], "Be kind.", Answers("Hello!")))


def test_without_a_judge_an_environment_gets_no_such_argument():
    with enter(PLAIN, NONE) as env:
        assert type(env).__name__ == "Plain"
        assert warnings(env) == ()


def test_a_judge_judges_with_the_arguments_of_its_role_and_is_closed_at_the_end(suite):
    with enter(suite, JUDGE) as env:
        assert run(env).judge_usage == CALL
        assert (opened[0].threads, opened[0].closed) == (3, 0)
    assert opened[0].closed == 1


def test_without_a_judge_nobody_judges_and_nothing_is_opened(suite):
    with enter(suite, NONE) as env:
        assert run(env).metrics["unjudged"] == 1.0
    assert opened == []


def test_a_judge_for_an_environment_that_knows_none_is_refused(suite):
    with (
        pytest.raises(SkillpipeError, match=r"Plain.* takes no arguments; one that takes no argument judge needs"),
        enter(PLAIN, JUDGE),
    ):
        pass
    assert opened[0].closed == 1


def test_the_judge_has_a_budget_of_its_own_and_what_was_spent_before_counts(suite):
    limits = Limits(1, None, None)
    with enter(suite, JUDGE, limits) as env:
        assert run(env).status == "passed"
    with (
        pytest.raises(BudgetExceeded, match=r"budget\.judge\.max_calls is 1"),
        enter(suite, JUDGE, limits, CALL) as env,
    ):
        run(env)


def test_tasks_of_a_suite_are_those_of_its_files(suite):
    with enter(suite, JUDGE) as env:
        assert [task.id for task in env.tasks("train")] == [f"toys-a{number}" for number in range(3)]
