"""Val scores of two skills, task by task."""

from collections.abc import Sequence

from skillpipe.errors import SkillpipeError
from skillpipe.gating.contract import OpenTask, Pair
from skillpipe.records import ValScore
from skillpipe.scoring import Metric


def pair_up(metric: Metric, before: Sequence[ValScore], after: Sequence[ValScore]) -> list[Pair]:
    """The tasks that both skills have a score for, in task order.

    Raises SkillpipeError unless both lists are of the same tasks in the same order.
    """
    if [row.task for row in before] != [row.task for row in after]:
        raise SkillpipeError("val scores of two skills are not of the same tasks; run `dvc repro` from plan on")
    scored = ((old, metric.of(old), metric.of(new)) for old, new in zip(before, after, strict=True))
    return [Pair(row.task, row.task_type, old, new) for row, old, new in scored if old is not None and new is not None]


def open_tasks(metric: Metric, current: Sequence[ValScore]) -> list[OpenTask]:
    """The tasks that the current skill has a score for, none of them run with a candidate yet, in the same order.

    `rule.can_pass([], open_tasks(metric, current))` is false when no candidate whatever can pass.
    """
    scored = ((row, metric.of(row)) for row in current)
    return [OpenTask(row.task, row.task_type, before) for row, before in scored if before is not None]
