"""How training unrolls: the steps of a run, which step follows which, and the edit budget of each."""

import math
from typing import Any, Literal

from skillpipe.errors import SkillpipeError

Schedule = Literal["constant", "linear", "cosine"]


def edit_budget(step: int, total: int, maximum: int, minimum: int, schedule: str) -> int:
    """The most edits that step `step` (1-based) of `total` may apply.

    constant: `maximum` throughout. linear and cosine fall from `maximum` towards `minimum` with t = step / total,
    are rounded half to even; the last step is at `minimum` exactly. A run of one step
    has `maximum`. The rule is SkillOpt's scheduler (its docs: cosine learning-rate decay over all steps).
    """
    if not 0 <= minimum <= maximum:
        raise SkillpipeError(
            f"edit_budget={maximum}, min_edit_budget={minimum}: allowed is 0 <= min_edit_budget <= edit_budget"
        )
    if schedule not in ("constant", "linear", "cosine"):
        raise SkillpipeError(f"schedule={schedule}: allowed are constant, linear, cosine")
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


def unroll(
    num_epochs: int, steps_per_epoch: int, maximum: int, minimum: int, schedule: str
) -> dict[str, dict[str, Any]]:
    """The map that dvc.yaml iterates over: step key -> the key of the step before it, and its edit budget.

    In training order. One more epoch adds keys and changes no earlier entry under the constant schedule; under
    linear and cosine the budgets of all steps depend on the number of steps.
    """
    keys = step_keys(num_epochs, steps_per_epoch)
    before = ["start", *keys]
    return {
        key: {
            "previous": before[number - 1],
            "edit_budget": edit_budget(number, len(keys), maximum, minimum, schedule),
        }
        for number, key in enumerate(keys, start=1)
    }
