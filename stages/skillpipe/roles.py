"""Open the three roles that ask models, from their choices in the configuration."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

from skillpipe.budget import Metered
from skillpipe.config import build
from skillpipe.errors import SkillpipeError
from skillpipe.optimizers import Optimizer
from skillpipe.records import Usage
from skillpipe.sections import Budget, Choice, Execution


@contextmanager
def target(choice: Choice, execution: Execution, budget: Budget, spent: Usage) -> Iterator[Metered]:
    """The target, metered. It is closed at the end, and its budget settled if nothing went wrong before."""
    with _metered(choice | execution.target, "target", budget, spent) as model:
        yield model


@contextmanager
def optimizer(choice: Choice, execution: Execution, budget: Budget, spent: Usage, prompts: str) -> Iterator[Optimizer]:
    """The optimizer. One with `api`, the choice of a model, is given that model, metered, `prompts` and concurrency."""
    if "api" not in choice:
        yield cast(Optimizer, build(choice, "optimizer"))
        return
    own = {key: value for key, value in choice.items() if key not in ("api", "model")}
    with _metered(choice["api"] | execution.optimizer, "optimizer", budget, spent) as model:
        concurrency = execution.optimizer_max_concurrency
        yield cast(Optimizer, build(own, "optimizer", model=model, prompts=prompts, max_concurrency=concurrency))


@contextmanager
def judge(choice: Choice, execution: Execution, budget: Budget, spent: Usage) -> Iterator[Metered]:
    """The model that judges, metered. It is closed at the end, like the target. For a choice that names one."""
    with _metered(choice | execution.judge, "judge", budget, spent) as model:
        yield model


@contextmanager
def _metered(choice: Choice, role: str, budget: Budget, spent: Usage) -> Iterator[Metered]:
    limits = {"target": budget.target, "optimizer": budget.optimizer, "judge": budget.judge}[role]
    model = Metered(build(choice, role), role, limits, spent)
    try:
        if limits.max_cost_usd is not None and model.list_price is None:
            raise SkillpipeError(
                f"budget.{role}.max_cost_usd is {limits.max_cost_usd:g} and the price of {choice.get('model', role)} "
                "is not known; state it beside the model: price: {input_per_mtok: ..., output_per_mtok: ...}, US "
                "dollars per million tokens"
            )
        yield model
        model.settle()
    finally:
        model.close()
