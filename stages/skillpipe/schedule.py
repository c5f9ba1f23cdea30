"""How training unrolls: steps and epochs, which follows which, and the edit budget of each step."""

import itertools
import math
from typing import Any, Literal, get_args

from skillpipe.errors import SkillpipeError

Schedule = Literal["constant", "linear", "cosine", "autonomous"]


def edit_budget(step: int, total: int, maximum: int, minimum: int, schedule: str) -> int | None:
    """The most edits that step `step` (1-based) of `total` may apply; None where the optimizer chooses (autonomous).

    constant: `maximum` throughout. linear and cosine fall from `maximum` towards `minimum` with t = step / total,
    are rounded half to even; the last step is at `minimum` exactly. A run of one step
    has `maximum`. The rule is SkillOpt's scheduler (its docs: cosine learning-rate decay over all steps).
    """
    if not 0 <= minimum <= maximum:
        raise SkillpipeError(
            f"edit_budget={maximum}, min_edit_budget={minimum}: allowed is 0 <= min_edit_budget <= edit_budget"
        )
    if schedule not in get_args(Schedule):
        raise SkillpipeError(f"schedule={schedule}: allowed are {', '.join(get_args(Schedule))}")
    if schedule == "autonomous":
        return None
    if schedule == "constant" or total <= 1:
        return maximum
    done = step / total
    share = 1 - done if schedule == "linear" else (1 + math.cos(math.pi * done)) / 2
    # To nine digits first: a half stays a half, though cos(2 pi / 3) is a hair off.
    return round(round(minimum + (maximum - minimum) * share, 9))


def step_keys(num_epochs: int, steps_per_epoch: int) -> list[str]:
    """The keys of all steps in training order: e1s1, e1s2, ..., e2s1, ..."""
    if num_epochs < 1 or steps_per_epoch < 1:
        raise SkillpipeError(
            f"num_epochs is {num_epochs}, steps_per_epoch is {steps_per_epoch}; both must be at least 1"
        )
    return [f"e{epoch}s{step}" for epoch in range(1, num_epochs + 1) for step in range(1, steps_per_epoch + 1)]


def epoch_of(step: str) -> str:
    """The key of the epoch that a step or a slow update belongs to: `e1` for `e1s2`; `start` for the baseline."""
    return step.split("s")[0] if step != "start" else step


def is_step(key: str) -> bool:
    """Whether a state's key is that of a step, not of a slow update or the start."""
    return key != "start" and "s" in key


def unroll(
    num_epochs: int, steps_per_epoch: int, maximum: int, minimum: int, schedule: str, slow_update: bool
) -> dict[str, dict[str, Any]]:
    """The map that dvc.yaml iterates over: step key -> whose state it starts from, and its edit budget.

    In training order. The first step of an epoch starts from the slow update before it, if there is one. One more epoch
    adds keys and changes no earlier entry under the constant and autonomous schedules; under linear and cosine the
    budgets of all steps depend on the number of steps. `null` stands for a budget that the optimizer chooses.
    """
    keys = step_keys(num_epochs, steps_per_epoch)
    slow = unroll_epochs(num_epochs, steps_per_epoch, slow_update)
    budgets = [edit_budget(number, len(keys), maximum, minimum, schedule) for number in range(1, len(keys) + 1)]
    return {
        key: {
            "previous": epoch_of(before) if epoch_of(before) in slow and epoch_of(before) != epoch_of(key) else before,
            "edit_budget": "null" if budget is None else budget,
        }
        for before, key, budget in zip(["start", *keys], keys, budgets, strict=False)
    }


def unroll_epochs(num_epochs: int, steps_per_epoch: int, slow_update: bool) -> dict[str, dict[str, str]]:
    """The slow updates of a run: epoch key -> its last step, and whose state the last epoch ended with.

    None in the first epoch, which has nothing to compare with.
    """
    if not slow_update:
        return {}
    keys = step_keys(num_epochs, steps_per_epoch)
    ends = keys[steps_per_epoch - 1 :: steps_per_epoch]
    return {
        epoch_of(end): {"last": end, "before": before if number == 1 else epoch_of(before)}
        for number, (before, end) in enumerate(itertools.pairwise(ends), start=1)
    }


def last_state(num_epochs: int, steps_per_epoch: int, slow_update: bool) -> str:
    """The key of the last state of a run: a step, or the last epoch's slow update."""
    slow = unroll_epochs(num_epochs, steps_per_epoch, slow_update)
    return [*step_keys(num_epochs, steps_per_epoch), *slow][-1]
