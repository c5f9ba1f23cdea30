"""roles.py: the target and the optimizer as the configuration chooses them, metered, and closed."""

import asyncio

import pytest

from skillpipe import roles
from skillpipe.budget import BudgetExceeded, Metered
from skillpipe.errors import SkillpipeError
from skillpipe.models import Price, Reply, Request
from skillpipe.optimizers.examples import Examples
from skillpipe.records import Message, Usage
from skillpipe.sections import Budget, Execution, Limits

FREE = Limits(None, None, None)
NOTHING = Usage()
EXECUTION = Execution(4, 2, {"threads": 3}, {"threads": 5})
REQUEST = Request((Message("system", ""), Message("user", "x")))
opened: list["Toy"] = []


class Toy:
    """A model that keeps what it was made of. It has a price if it is told one."""

    def __init__(self, name: str, threads: int, price: float | None = None) -> None:
        self.name, self.threads, self.closed = name, threads, 0
        if price is not None:
            self.list_price = Price(price, price)
        opened.append(self)

    async def complete(self, request: Request) -> Reply:
        return Reply(self.name, Usage(1, 10, 5, 0.5))

    def close(self) -> None:
        self.closed += 1


class Asks:
    """An optimizer that keeps what it was given."""

    def __init__(self, size: int, **given) -> None:
        self.size, self.given = size, given


TARGET = {"_target_": "test_roles.Toy", "source": "toys.py", "name": "target"}
OPTIMIZER = {
    "_target_": "test_roles.Asks", "source": "asks.py", "model_source": "toys.py", "size": 8, "model": "toy/one",
    "api": {"_target_": "test_roles.Toy", "name": "one"},
}  # fmt: skip


@pytest.fixture(autouse=True)
def fresh():
    opened.clear()


def budget(**limits: Limits) -> Budget:
    return Budget(**{"target": FREE, "optimizer": FREE} | limits)


def ask(model: Metered) -> Reply:
    return asyncio.run(model.complete(REQUEST))


def test_the_target_is_built_from_its_choice_and_how_to_run_it():
    with roles.target(TARGET, EXECUTION, budget(), NOTHING) as target:
        assert ask(target).text == "target"
    assert [(toy.name, toy.threads, toy.closed) for toy in opened] == [("target", 3, 1)]


def test_the_target_is_held_to_its_own_limits_and_to_what_was_spent():
    limits = budget(target=Limits(3, None, None), optimizer=Limits(0, 0, None))
    with roles.target(TARGET, EXECUTION, limits, Usage(2)) as target:
        assert ask(target).text == "target"
        with pytest.raises(BudgetExceeded, match=r"budget\.target\.max_calls is 3: the target has used 3 calls"):
            ask(target)


def test_a_budget_that_the_last_call_passed_is_refused_at_the_end():
    with (
        pytest.raises(BudgetExceeded, match=r"budget\.target\.max_tokens is 14"),
        roles.target(TARGET, EXECUTION, budget(target=Limits(None, 14, None)), NOTHING) as target,
    ):
        ask(target)
    assert opened[0].closed == 1


def test_what_went_wrong_before_is_told_and_not_what_it_cost():
    def fail() -> None:
        with roles.target(TARGET, EXECUTION, budget(target=Limits(None, 14, None)), NOTHING) as target:
            ask(target)
            raise KeyError("defect")

    with pytest.raises(KeyError, match="defect"):
        fail()
    assert opened[0].closed == 1


def test_an_optimizer_that_asks_a_model_is_given_it_metered_with_prompts_and_concurrency():
    limits = budget(optimizer=Limits(1, None, None), target=Limits(0, 0, None))
    with roles.optimizer(OPTIMIZER, EXECUTION, limits, NOTHING, "my/prompts") as optimizer:
        assert (optimizer.size, optimizer.given["prompts"], optimizer.given["max_concurrency"]) == (8, "my/prompts", 2)
        assert ask(optimizer.given["model"]).text == "one"
        with pytest.raises(BudgetExceeded, match=r"budget\.optimizer\.max_calls is 1: the optimizer has used 1 calls"):
            ask(optimizer.given["model"])
    assert set(optimizer.given) == {"model", "prompts", "max_concurrency"}
    assert [(toy.name, toy.threads, toy.closed) for toy in opened] == [("one", 5, 1)]


def test_an_optimizer_without_a_model_is_built_as_it_stands():
    choice = {"_target_": "skillpipe.optimizers.examples.Examples", "source": "x", "model_source": "x"}
    with roles.optimizer(choice, EXECUTION, budget(optimizer=Limits(0, 0, 0)), NOTHING, "prompts") as optimizer:
        assert type(optimizer) is Examples
    assert opened == []


def test_a_cost_cap_needs_a_price_that_is_known_before_anything_is_paid():
    capped = budget(target=Limits(None, None, 2.0), optimizer=Limits(None, None, 0.5))
    with pytest.raises(SkillpipeError, match=r"budget\.target\.max_cost_usd is 2 and the price of target is not known"):
        roles.target(TARGET, EXECUTION, capped, NOTHING).__enter__()
    with pytest.raises(SkillpipeError, match=r"optimizer\.max_cost_usd is 0\.5 .* price: \{input_per_mtok: \.\.\.,"):
        roles.optimizer(OPTIMIZER, EXECUTION, capped, NOTHING, "prompts").__enter__()
    with roles.target(TARGET | {"price": 0.0}, EXECUTION, capped, NOTHING) as target:
        assert target.list_price == Price(0.0, 0.0)


def test_choices_stay_as_they_were():
    before = (dict(TARGET), dict(OPTIMIZER), dict(OPTIMIZER["api"]))
    for role in (roles.target(TARGET, EXECUTION, budget(), NOTHING),
                 roles.optimizer(OPTIMIZER, EXECUTION, budget(), NOTHING, "p")):  # fmt: skip
        with role:
            pass
    assert (TARGET, OPTIMIZER, OPTIMIZER["api"]) == before
