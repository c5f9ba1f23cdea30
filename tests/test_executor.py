"""executor.py: many tasks at once, rows in task order."""

import asyncio
import io
import sys

import pytest

from samples import attempt, broken, tasks
from skillpipe.errors import SkillpipeError
from skillpipe.executor import run_tasks
from skillpipe.records import Rollout


class Scripted:
    """An environment in which a task does what `acts` says: a rollout, or an exception. Later tasks answer first.

    It counts how many tasks run at once, and which have begun.
    """

    def __init__(self, **acts):
        self.acts, self.begun, self.running, self.most = acts, [], 0, 0

    def tasks(self, split):
        return []

    async def run(self, task, skill, target):
        self.begun.append(task.id)
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            for _ in range(50 - len(self.begun)):
                await asyncio.sleep(0)
            act = self.acts.get(task.id, attempt(task.id, 1.0))
            if isinstance(act, Exception):
                raise act
            return act
        finally:
            self.running -= 1


class Terminal(io.StringIO):
    def isatty(self):
        return True


def run(environment, count=8, concurrency=4) -> list[Rollout]:
    return run_tasks(environment, tasks(count), "skill", None, max_concurrency=concurrency, label="here")


def failing(count: int, reason: str = "no key") -> dict[str, Rollout]:
    return {f"t{number}": broken(f"t{number}", reason) for number in range(count)}


def test_rows_come_in_task_order_whoever_answers_first():
    assert [row.task for row in run(Scripted(), 12, 5)] == [f"t{number}" for number in range(12)]


@pytest.mark.parametrize("concurrency", [1, 3, 8, 20])
def test_as_many_tasks_run_at_once_as_are_allowed_and_no_more(concurrency):
    environment = Scripted()
    run(environment, 8, concurrency)
    assert environment.most == min(8, concurrency)


def test_how_many_run_at_once_changes_no_row():
    acts = {"t2": attempt("t2", 0.0), "t5": ValueError("odd")}
    assert run(Scripted(**acts), concurrency=1) == run(Scripted(**acts), concurrency=8)


@pytest.mark.parametrize("concurrency", [0, -1])
def test_no_concurrency_is_refused_by_name(concurrency):
    with pytest.raises(SkillpipeError, match=f"execution.max_concurrency is {concurrency}; allowed is 1 or more"):
        run(Scripted(), concurrency=concurrency)


def test_no_tasks_give_no_rows():
    assert run(Scripted(), count=0) == []


def test_an_exception_of_the_environment_is_that_tasks_missing_data_and_no_zero():
    row = run(Scripted(t1=KeyError("x")))[1]
    assert (row.status, row.hard, row.soft, row.reason) == ("infra_error", None, None, "KeyError: 'x'")
    assert (row.task, row.expected) == ("t1", "yes")


def test_one_failed_task_leaves_the_others_alone():
    rows = run(Scripted(t1=KeyError("x")))
    assert [row.status for row in rows].count("passed") == 7


def test_a_skillpipe_error_stops_all_and_is_passed_on():
    environment = Scripted(t0=SkillpipeError("the model file is missing"))
    with pytest.raises(SkillpipeError, match=r"^the model file is missing$"):
        run(environment, 30, 2)
    assert len(environment.begun) < 6
    assert environment.running == 0


def test_when_all_first_tasks_fail_for_one_reason_the_rest_is_not_tried():
    environment = Scripted(**failing(30))
    with pytest.raises(SkillpipeError, match="here: the first 4 tasks all failed to run: no key"):
        run(environment, 30, 4)
    assert len(environment.begun) < 12


def test_even_one_at_a_time_three_tasks_get_their_chance():
    with pytest.raises(SkillpipeError, match="the first 3 tasks all failed"):
        run(Scripted(**failing(30)), 30, 1)


@pytest.mark.parametrize(
    "acts",
    [
        failing(30) | {"t1": broken("t1", "timed out")},
        failing(30) | {"t1": attempt("t1", 0.0)},
        failing(30) | {"t1": attempt("t1", 1.0)},
        failing(2),
    ],
    ids=["another reason", "a wrong answer", "a right answer", "two failures"],
)
def test_anything_but_one_and_the_same_failure_goes_on(acts):
    assert len(run(Scripted(**acts), 30, 1)) == 30


def test_wrong_answers_are_no_failure_to_run():
    wrong = {f"t{number}": attempt(f"t{number}", 0.0) for number in range(8)}
    assert [row.status for row in run(Scripted(**wrong))] == ["failed"] * 8


def test_away_from_a_terminal_progress_is_a_line_per_tenth(capsys):
    run(Scripted(t3=attempt("t3", 0.0)), 40, 1)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 10
    assert lines[0] == "here: 4/40 tasks, passing 3"
    assert lines[-1] == "here: 40/40 tasks, passing 39"


def test_a_short_run_shows_each_task_once(capsys):
    run(Scripted(), 3, 1)
    assert [line.split()[1] for line in capsys.readouterr().err.splitlines()] == ["1/3", "2/3", "3/3"]


def test_on_a_terminal_progress_is_a_bar_with_done_passing_and_time_left(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    run(Scripted(t3=attempt("t3", 0.0)), 8)
    last = terminal.getvalue().split("\r")[-1]
    assert "here: 100%" in last
    assert "8/8" in last
    assert "passing 7/8" in last
    assert "<00:00" in last
