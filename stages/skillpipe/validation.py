"""Run a candidate on val, and no more tasks than the gate's decision needs."""

from collections.abc import Sequence

from skillpipe.envs import Environment
from skillpipe.executor import Run, run_tasks
from skillpipe.gating import Rule, early
from skillpipe.models import Model
from skillpipe.records import Rollout, Task, Usage, ValScore
from skillpipe.scoring import Metric
from skillpipe.skill import body_for_target
from skillpipe.state import val_scores


def validate(
    environment: Environment,
    target: Model,
    skill: str,
    tasks: Sequence[Task],
    run: Run,
    *,
    rule: Rule | None,
    metric: Metric,
    current: Sequence[ValScore],
    seed: int,
) -> list[Rollout]:
    """The rollouts of `skill` on `tasks`, in task order.

    With a `rule`, tasks run in the order of early.order, and as soon as no outcome of the rest could make the rule
    accept, the rest is left out: a rollout with the status skipped each. `current` are the current skill's scores.
    """
    body = body_for_target(skill)
    if rule is None:
        return run_tasks(environment, tasks, body, target, run)
    known = {task.id: task for task in tasks}
    ordered = [known[key] for key in early.order(metric, current, seed)]
    done = run_tasks(
        environment,
        ordered,
        body,
        target,
        run,
        enough=lambda rows: early.settled(rule, metric, current, val_scores(rows)),
    )
    by_task: dict[str, list[Rollout]] = {}
    for row in done:
        by_task.setdefault(row.task, []).append(row)
    return [row for task in tasks for row in by_task.get(task.id) or [_not_needed(task)]]


def _not_needed(task: Task) -> Rollout:
    reason = "not needed: no outcome could have changed the gate's decision"
    return Rollout(task.id, task.task_type, "skipped", None, None, reason, task.answer, (), Usage())
