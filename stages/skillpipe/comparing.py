"""What two skills did on the same train tasks, sorted for a slow update. Pure."""

import random
from collections.abc import Sequence
from typing import Literal, get_args

from skillpipe.errors import SkillpipeError
from skillpipe.records import PairCategory, Rollout, Task, TaskPair
from skillpipe.scoring import Metric

PairPolicy = Literal["mixed", "changed", "unchanged"]

_CHANGED: tuple[PairCategory, ...] = ("improved", "regressed")


def sample(tasks: Sequence[Task], count: int, seed: int, epoch: str) -> list[Task]:
    """At most `count` of the tasks, drawn by seed and epoch, in their order."""
    if count < 1:
        raise SkillpipeError(f"slow_update.samples is {count}; allowed is 1 or more")
    drawn = random.Random(f"{seed}:{epoch}").sample(range(len(tasks)), min(count, len(tasks)))
    return [tasks[place] for place in sorted(drawn)]


def pair_up(before: Sequence[Rollout], after: Sequence[Rollout], metric: Metric, policy: str) -> list[TaskPair]:
    """The tasks that both skills have a score for, in order, by what became of them; only those of the policy.

    changed: improved and regressed; unchanged: persistent_fail (below 1 both times, and the same) and stable_success;
    mixed: all. (SkillOpt's four kinds; it compares hard scores, here the run's metric decides.)
    """
    if policy not in get_args(PairPolicy):
        raise SkillpipeError(f"slow_update.pair_policy is {policy!r}; allowed are {', '.join(get_args(PairPolicy))}")
    pairs = []
    for old, new in zip(before, after, strict=True):
        was, now = metric.of(old), metric.of(new)
        if was is None or now is None:
            continue
        category: PairCategory
        if now != was:
            category = "improved" if now > was else "regressed"
        else:
            category = "stable_success" if now == 1 else "persistent_fail"
        if policy == "mixed" or (policy == "changed") == (category in _CHANGED):
            pairs.append(TaskPair(category, old, new))
    return pairs
