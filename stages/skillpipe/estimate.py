"""How much a run is going to take, before anything is paid. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skillpipe.envs import Calls
from skillpipe.models import Price
from skillpipe.records import Estimate, Split, Task
from skillpipe.sections import Budget, Limits
from skillpipe.skill import count_tokens

# A run that its budget ends before this many steps has nothing to show.
WORTHWHILE_STEPS = 3


@dataclass(frozen=True)
class Extent:
    """How long a run is: `steps` of `batch_size` train tasks, `slow_updates` of `samples` train tasks each, done twice.

    Val is run `repeats` times per task, in whole; `tests` skills are tested.
    """

    steps: int
    batch_size: int
    slow_updates: int
    samples: int
    repeats: int
    tests: int


def estimate(
    tasks: Mapping[Split, Sequence[Task]],
    skill: str,
    extent: Extent,
    *,
    max_tokens: int | None,
    price: Price | None,
    optimizer_calls: int,
    attempt: Calls,
) -> Estimate:
    """What a run takes at most: val for the baseline, each step and each slow update; where it stops early, it is less.

    `skill` is the body as the target reads it, `max_tokens` the longest answer, `attempt` what one attempt takes. Where
    that is several calls of the target, each reads the skill and the task; what was said before is not counted.
    """
    validations = 1 + extent.steps + extent.slow_updates
    attempts = {
        "train": extent.steps * extent.batch_size + 2 * extent.slow_updates * min(extent.samples, len(tasks["train"])),
        "val": validations * extent.repeats * len(tasks["val"]),
        "test": extent.tests * len(tasks["test"]),
    }
    total = sum(attempts.values())
    read = total * count_tokens(skill)
    for split, rows in tasks.items():
        read += round(attempts[split] * sum(count_tokens(task.input) for task in rows) / len(rows))
    calls, read = total * attempt.target, read * attempt.target
    written = None if max_tokens is None else calls * max_tokens
    cost = None if price is None or written is None else price.of(read, written)
    return Estimate(calls, read, written, cost, optimizer_calls, total * attempt.judge)


def too_small(budget: Budget, few: Estimate) -> list[str]:
    """A warning for each limit that cannot pay for the run `few`, which is a short one: WORTHWHILE_STEPS steps."""
    tokens = few.target_input_tokens + (few.target_output_tokens or 0)
    needs = [
        ("target", budget.target, few.target_calls, tokens, few.target_cost_usd),
        ("optimizer", budget.optimizer, few.optimizer_calls, None, None),
        ("judge", budget.judge, few.judge_calls, None, None),
    ]
    return [warning for role, limits, *need in needs for warning in _short(role, limits, need)]


def _short(role: str, limits: Limits, need: Sequence[float | None]) -> list[str]:
    names = ("max_calls", "max_tokens", "max_cost_usd")
    pairs = [(name, getattr(limits, name), needed) for name, needed in zip(names, need, strict=True)]
    return [
        f"budget.{role}.{name} is {limit:g}; {WORTHWHILE_STEPS} steps take up to {needed:g}"
        for name, limit, needed in pairs
        if limit is not None and needed is not None and limit < needed
    ]
