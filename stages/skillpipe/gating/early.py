"""Fewer calls, same decision: run first what decides soonest, and stop when the candidate can no longer be accepted.

Only a certain rejection stops a validation early. An accepted candidate becomes the current skill, which the next one
is compared with, so it needs the scores of all its tasks.
"""

import random
from collections.abc import Sequence

from skillpipe.errors import SkillpipeError
from skillpipe.gating.contract import Rule
from skillpipe.gating.pairs import open_tasks, pair_up
from skillpipe.records import ValScore
from skillpipe.scoring import Metric


def order(metric: Metric, current: Sequence[ValScore], seed: int) -> list[str]:
    """The ids of all val tasks in the order in which to run a candidate on them.

    First those that the current skill does not pass, since only they can be gained; then those it passes; last those it
    has no score for, which decide nothing. Shuffled within each group by the seed and nothing else: the order is the
    same for all candidates of one current skill, and a file sorted by difficulty does no harm.
    """
    tasks = [(_group(metric, row), row.task) for row in current]
    random.Random(f"{seed}/val").shuffle(tasks)
    return [task for _, task in sorted(tasks, key=lambda entry: entry[0])]


def settled(rule: Rule, metric: Metric, current: Sequence[ValScore], so_far: Sequence[ValScore]) -> bool:
    """Whether the candidate is certain to be rejected, whatever becomes of the tasks that it was not run on yet.

    `so_far` holds the candidate's scores on the tasks that are done, in any order; a task that was run and has no score
    is done too. Raises SkillpipeError for a task that `current` does not hold, or that stands twice.
    """
    done = {row.task: row for row in so_far}
    known = [row for row in current if row.task in done]
    if not len(known) == len(done) == len(so_far):
        raise SkillpipeError("val scores of two skills are not of the same tasks; run `dvc repro` from plan on")
    waiting = open_tasks(metric, [row for row in current if row.task not in done])
    return not rule.can_pass(pair_up(metric, known, [done[row.task] for row in known]), waiting)


def _group(metric: Metric, row: ValScore) -> int:
    score = metric.of(row)
    return 2 if score is None else int(score == 1)
