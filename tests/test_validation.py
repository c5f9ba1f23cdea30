"""validation.py: a candidate on val, and no more tasks than the decision needs."""

import pytest

from samples import scores, tasks
from skillpipe.executor import Run
from skillpipe.gating import Strict, Veto
from skillpipe.records import Rollout, Usage
from skillpipe.scoring import Metric
from skillpipe.validation import validate

HARD = Metric("hard", 0.5)


class Known:
    """An environment in which the candidate passes the tasks that it is told, and which counts what it runs."""

    def __init__(self, *passes):
        self.passes, self.ran = passes, []

    def tasks(self, split):
        return []

    async def run(self, task, skill, target):
        self.ran.append(task.id)
        hard = float(task.id in self.passes)
        return Rollout(task.id, "", "passed" if hard else "failed", hard, hard, "", "yes", (), Usage(1, 1, 1))


def run(environment, *current, rule=None, concurrency=1, repeats=1) -> list[Rollout]:
    told = Run(concurrency, "here", lambda rollout: rollout, repeats)
    rows, known = tasks(len(current), "v"), scores(*current)
    return validate(environment, None, "# Skill\n", rows, told, rule=rule, metric=HARD, current=known, seed=1)


def statuses(rows) -> dict[str, str]:
    return {row.task: row.status for row in rows}


def test_without_a_rule_every_task_is_run():
    environment = Known()
    assert set(statuses(run(environment, 1, 1, 0)).values()) == {"failed"}
    assert len(environment.ran) == 3


def test_tasks_that_the_current_skill_fails_come_first_and_end_it_when_none_is_won():
    environment = Known("v0", "v1", "v2")
    rows = run(environment, 1, 1, 1, 0, 0, rule=Strict(0.0))
    assert set(environment.ran) == {"v3", "v4"}
    assert statuses(rows) == {"v0": "skipped", "v1": "skipped", "v2": "skipped", "v3": "failed", "v4": "failed"}


def test_a_skipped_task_has_no_score_costs_nothing_and_says_why():
    row = run(Known(), 1, 1, 0, rule=Strict(0.0))[0]
    assert (row.hard, row.soft, row.usage) == (None, None, Usage())
    assert "could have changed the gate's decision" in row.reason


def test_as_long_as_it_can_pass_all_tasks_are_run():
    environment = Known("v0", "v1", "v2", "v3", "v4")
    assert "skipped" not in statuses(run(environment, 1, 1, 1, 0, 0, rule=Strict(0.0))).values()


def test_rows_are_in_task_order_whatever_order_they_ran_in():
    rows = run(Known("v3"), 1, 1, 1, 0, 0, rule=Strict(0.0))
    assert [row.task for row in rows] == ["v0", "v1", "v2", "v3", "v4"]


@pytest.mark.parametrize("concurrency", [2, 5, 20])
def test_how_many_run_at_once_changes_no_row(concurrency):
    current = [1, 0, 1, 0, 1, 1, 0, 1, 1, 1]
    rule = Veto(Strict(0.0), max_lost=0, max_types_worse=None)
    passing = ("v1", "v0", "v2")
    alone = run(Known(*passing), *current, rule=rule)
    assert run(Known(*passing), *current, rule=rule, concurrency=concurrency) == alone


def test_all_repeats_of_a_task_are_run_or_none():
    rows = run(Known(), 1, 0, 0, rule=Strict(0.0), repeats=3)
    assert [(row.task, row.status) for row in rows if row.status != "skipped"] == [("v1", "failed")] * 3 + [
        ("v2", "failed")
    ] * 3
