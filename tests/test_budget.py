"""budget.py: what a role may use, kept before each call is sent."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillpipe.budget import BudgetExceeded, Metered
from skillpipe.models import ModelError, Price, Reply, Request
from skillpipe.records import Message, Usage
from skillpipe.sections import Limits

REQUEST = Request((Message("system", ""), Message("user", "x")))
CALL = Usage(1, 10, 5, 0.25)
NOTHING = Usage()


class Says:
    """A model whose replies use what they are told to, or fail. `asked` counts the requests that reached it."""

    list_price = Price(1.0, 2.0)

    def __init__(self, *usages: Usage | Exception) -> None:
        self._usages, self.asked, self.closed = list(usages), 0, False

    async def complete(self, request: Request) -> Reply:
        self.asked += 1
        usage = self._usages.pop(0) if self._usages else CALL
        if isinstance(usage, Exception):
            raise usage
        return Reply("yes", usage)

    def close(self) -> None:
        self.closed = True


class Silent(Says):
    """Answers nobody before `heard`."""

    def __init__(self) -> None:
        super().__init__()
        self.heard = asyncio.Event()

    async def complete(self, request: Request) -> Reply:
        reply = await super().complete(request)
        await self.heard.wait()
        return reply


def metered(model: Says, spent: Usage = NOTHING, **limits: float) -> Metered:
    every = {"max_calls": None, "max_tokens": None, "max_cost_usd": None} | limits
    return Metered(model, "target", Limits(**every), spent)


def ask(model: Metered, times: int) -> list[Reply | BaseException]:
    """One after the other; a failure stands in the place of its reply."""

    async def run():
        return [(await asyncio.gather(model.complete(REQUEST), return_exceptions=True))[0] for _ in range(times)]

    return asyncio.run(run())


def answered(results: list) -> list[bool]:
    return [isinstance(result, Reply) for result in results]


def test_without_limits_every_call_is_sent_and_answered_as_the_model_does():
    says = Says()
    model = metered(says)
    assert ask(model, 3) == [Reply("yes", CALL)] * 3
    model.settle()
    assert says.asked == 3


def test_calls_are_counted_as_they_begin_so_that_none_is_sent_past_the_limit():
    async def run():
        says = Silent()
        model = metered(says, max_calls=3)
        jobs = [asyncio.ensure_future(model.complete(REQUEST)) for _ in range(5)]
        refused, _ = await asyncio.wait(jobs, timeout=10, return_when=asyncio.FIRST_COMPLETED)
        assert all(isinstance(job.exception(), BudgetExceeded) for job in refused)
        says.heard.set()
        done = await asyncio.gather(*jobs, return_exceptions=True)
        return says.asked, [isinstance(one, Reply) for one in done]

    assert asyncio.run(run()) == (3, [True, True, True, False, False])


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


def test_a_call_that_fails_counts_as_a_call():
    says = Says(ModelError("no line", permanent=False))
    failure, reply, refused = ask(metered(says, max_calls=2), 3)
    assert (type(failure), type(reply), type(refused)) == (ModelError, Reply, BudgetExceeded)


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


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=12),
    st.integers(1, 60),
    st.integers(1, 12),
    st.integers(1, 12),
    st.randoms(use_true_random=False),
)
def test_whether_a_stage_stops_depends_on_what_its_calls_take_and_not_on_the_order_of_answers(
    tokens, max_tokens, max_calls, at_once, chance
):
    """Cached calls answer at once and in order, live ones late and in any order: both stop, or neither does."""

    async def run(yields: list[int]) -> bool:
        free = asyncio.Semaphore(at_once)

        class Late(Says):
            async def complete(self, request: Request) -> Reply:
                number = int(request.messages[1].content)
                for _ in range(yields[number]):
                    await asyncio.sleep(0)
                return Reply("", Usage(1, tokens[number], 0))

        model = metered(Late(), max_tokens=max_tokens, max_calls=max_calls)

        async def one(number: int) -> None:
            async with free:
                await model.complete(Request((Message("system", ""), Message("user", str(number)))))

        try:
            await asyncio.gather(*(one(number) for number in range(len(tokens))))
            model.settle()
        except BudgetExceeded:
            return True
        return False

    expected = sum(tokens) > max_tokens or len(tokens) > max_calls
    assert asyncio.run(run([0] * len(tokens))) == expected
    assert asyncio.run(run([chance.randrange(5) for _ in tokens])) == expected
