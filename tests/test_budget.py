"""budget.py: what a role may use, kept before each call is sent."""

import pytest

from metering import CALL, Says, answered, ask, metered
from skillpipe.budget import BudgetExceeded, Metered
from skillpipe.models import Price, Reply, Request
from skillpipe.records import Usage
from skillpipe.sections import Limits


def test_without_limits_every_call_is_sent_and_answered_as_the_model_does():
    says = Says()
    model = metered(says)
    assert ask(model, 3) == [Reply("yes", CALL)] * 3
    model.settle()
    assert says.asked == 3


@pytest.mark.parametrize(
    ("limit", "spent"),
    [
        ({"max_calls": 2}, Usage()),
        ({"max_calls": 7}, Usage(5)),
        ({"max_tokens": 30}, Usage()),
        ({"max_tokens": 29}, Usage()),
        ({"max_tokens": 130}, Usage(1, 60, 40)),
        ({"max_cost_usd": 0.5}, Usage()),
        ({"max_cost_usd": 1.5}, Usage(1, 0, 0, 1.0)),
    ],
    ids=str,
)
def test_a_call_is_refused_once_what_was_used_before_and_now_has_reached_a_limit(limit, spent):
    says = Says()
    assert answered(ask(metered(says, spent, **limit), 4)) == [True, True, False, False]
    assert says.asked == 2


@pytest.mark.parametrize("limit", [{"max_tokens": 15}, {"max_cost_usd": 0.25}, {"max_calls": 1}], ids=str)
def test_what_comes_to_a_limit_exactly_is_in_order(limit):
    model = metered(Says(), **limit)
    ask(model, 1)
    model.settle()


@pytest.mark.parametrize("limit", [{"max_tokens": 14}, {"max_cost_usd": 0.2}], ids=str)
def test_a_last_call_that_passes_a_limit_is_refused_when_all_is_settled(limit):
    model = metered(Says(), **limit)
    assert answered(ask(model, 1)) == [True]
    with pytest.raises(BudgetExceeded, match=next(iter(limit))):
        model.settle()


def test_costs_that_come_to_the_limit_but_for_the_last_bits_are_in_order():
    assert 0.1 + 0.1 + 0.1 > 0.3
    model = metered(Says(*[Usage(1, 1, 1, 0.1)] * 4), max_cost_usd=0.3)
    assert answered(ask(model, 3)) == [True] * 3
    model.settle()
    assert answered(ask(model, 1)) == [False]


def test_the_message_names_the_key_the_figures_and_the_command():
    message = str(ask(metered(Says(), Usage(1, 100, 20, 0.5), max_calls=2), 2)[1])
    assert message.startswith("budget.target.max_calls is 2: the target has used 2 calls, 135 tokens, $0.7500 ")
    assert "`python stages/compose.py budget.target.max_calls=...`" in message
    assert "and `dvc repro`, each with the overrides of this run" in message
    assert "\n" not in message


def test_a_message_without_a_known_price_makes_none_up():
    unknown = Usage(1, 10, 5, None)
    assert "1 calls, 15 tokens, at an unknown price" in str(ask(metered(Says(unknown), max_calls=1), 2)[1])


def test_an_unknown_price_under_a_cost_cap_is_refused_with_the_way_to_state_one():
    model = metered(Says(Usage(1, 10, 5, None)), max_cost_usd=9)
    reply, refused = ask(model, 2)
    assert isinstance(reply, Reply)
    with pytest.raises(BudgetExceeded, match=r"price: \{input_per_mtok: \.\.\., output_per_mtok: \.\.\.\}"):
        model.settle()
    assert isinstance(refused, BudgetExceeded)


def test_an_unknown_price_without_a_cost_cap_is_no_obstacle():
    model = metered(Says(Usage(1, 10, 5, None)), max_calls=9)
    assert answered(ask(model, 2)) == [True, True]
    model.settle()


def test_the_price_is_the_models_and_closing_closes_it():
    says = Says()
    model = metered(says)
    model.close()
    assert says.closed
    assert model.list_price == Price(1.0, 2.0)
    assert Metered(Plain(), "target", Limits(None, None, None), Usage()).list_price is None


class Plain:
    """A user's model without a price."""

    async def complete(self, request: Request) -> Reply:
        return Reply("yes", CALL)

    def close(self) -> None:
        pass
