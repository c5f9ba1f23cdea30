"""executor.py: many tasks at once, rows in task order."""

import asyncio
import io
import sys
from dataclasses import replace

import pytest

from samples import attempt, broken, tasks
from skillpipe.errors import SkillpipeError
from skillpipe.executor import Run, run_tasks
from skillpipe.models import Reply, Request
from skillpipe.records import Message, Rollout, Usage


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


class Numbered:
    """A model that answers with the number of the sample that it is asked for."""

    async def complete(self, request):
        return Reply(str(request.replicate), Usage(1))

    def close(self):
        pass


class Sampling:
    """An environment whose rollouts say what the target answered."""

    def tasks(self, split):
        return []

    async def run(self, task, skill, target):
        reply = await target.complete(Request((Message("user", task.input),)))
        return replace(attempt(task.id, 1.0), reason=reply.text)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def run(environment, count=8, concurrency=4, enough=None, **more) -> list[Rollout]:
    told = Run(concurrency, "here", more.pop("finish", lambda rollout: rollout), **more)
    return run_tasks(environment, tasks(count), "skill", Numbered(), told, enough)


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


def test_each_repeat_asks_for_a_sample_of_its_own_and_rows_of_a_task_stand_together():
    rows = run(Sampling(), 3, 4, repeats=2)
    assert [(row.task, row.replicate, row.reason) for row in rows] == [
        ("t0", 0, "0"), ("t0", 1, "1"), ("t1", 0, "0"), ("t1", 1, "1"), ("t2", 0, "0"), ("t2", 1, "1"),
    ]  # fmt: skip


def test_no_repeats_are_refused_by_name():
    with pytest.raises(SkillpipeError, match="repeats is 0; allowed is 1 or more"):
        run(Scripted(), repeats=0)


def test_every_rollout_is_finished_before_anybody_sees_it():
    seen = []

    class Watching:
        def started(self, tasks, repeats=1):
            seen.append(len(tasks))

        def began(self, task, replicate=0):
            pass

        def saw(self, rollout):
            seen.append(rollout.reason)

    rows = run(Scripted(), 3, finish=lambda row: replace(row, reason="finished"), observer=Watching())
    assert {row.reason for row in rows} == {"finished"}
    assert seen == [3, "finished", "finished", "finished"]


@pytest.mark.parametrize("concurrency", [1, 2, 5, 20])
def test_the_first_rows_that_are_enough_are_the_same_whatever_runs_at_once(concurrency):
    rows = run(Scripted(), 20, concurrency, enough=lambda done: len(done) >= 7)
    assert [row.task for row in rows] == [f"t{number}" for number in range(7)]


def test_once_it_is_enough_no_further_task_is_begun():
    environment = Scripted()
    run(environment, 40, 1, enough=lambda done: len(done) == 3)
    assert environment.begun == ["t0", "t1", "t2"]


def test_whether_it_is_enough_is_asked_of_whole_tasks():
    asked = []
    run(Scripted(), 4, 2, enough=lambda done: asked.append(len(done)), repeats=2)
    assert asked == [2, 4, 6, 8]


def test_when_it_is_never_enough_all_rows_come():
    assert len(run(Scripted(), 9, 4, enough=lambda done: False)) == 9
