"""skyhook.py: what may be a reward, how results add up, and who can listen."""

import asyncio
import inspect
import itertools
import math
import threading
from decimal import Decimal
from fractions import Fraction
from functools import partial

import pytest

from skillpipe.skyhook import Binding, env, recorded

NUMBERS = itertools.count()


@pytest.fixture
def binding() -> Binding:
    """A binding of an id that no other test has."""
    return env[f"rewarded_{next(NUMBERS)}"]


def earning(binding: Binding, *values) -> Binding:
    for number, value in enumerate(values):
        binding.reward(lambda value=value: value, name=f"r{number}")
    return binding


class AddOnly:
    """Can be added to 0 and to its like, and nothing else."""

    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        return AddOnly(self.value + other.value) if isinstance(other, AddOnly) else NotImplemented

    def __radd__(self, other):
        return self if other == 0 else NotImplemented

    def __eq__(self, other):
        return isinstance(other, AddOnly) and self.value == other.value

    __hash__ = None


class FloatOnly:
    def __float__(self):
        return 1.0


def test_without_rewards_the_sum_is_the_integer_0(binding):
    total = binding.sum_rewards()
    assert total == 0
    assert type(total) is int


@pytest.mark.parametrize(
    ("values", "total"),
    [
        ((Decimal("0.1"), Decimal("0.2")), Decimal("0.3")),
        ((Fraction(1, 3), Fraction(1, 6)), Fraction(1, 2)),
        ((10**400, 10**400), 2 * 10**400),
        ((1 + 2j, 3 + 4j), 4 + 6j),
        ((AddOnly(2), AddOnly(3)), AddOnly(5)),
        ((True, True), 2),
        ((math.inf, 1.0), math.inf),
    ],
)
def test_results_keep_their_own_kind_of_addition(binding, values, total):
    found = earning(binding, *values).sum_rewards()
    assert found == total
    assert type(found) is type(total)


@pytest.mark.parametrize("values", [("1.0",), (None,), ([1],), (FloatOnly(),), (Decimal("0.1"), Fraction(1, 2))])
def test_results_that_cannot_be_added_are_pythons_type_error(binding, values):
    with pytest.raises(TypeError):
        earning(binding, *values).sum_rewards()


def test_nan_passes_through(binding):
    assert math.isnan(earning(binding, math.nan, 1.0).sum_rewards())


@pytest.mark.parametrize("values", [(0.1,) * 10, (1e16, 1.0, -1e16)])
def test_floats_are_as_precise_as_the_built_in_sum(binding, values):
    assert earning(binding, *values).sum_rewards() == sum(values)


async def coroutine_function():
    return 1.0


async def async_generator():
    yield 1.0


class AsyncCallable:
    async def __call__(self):
        return 1.0


ASYNC = [coroutine_function, partial(coroutine_function), async_generator, AsyncCallable(), partial(AsyncCallable())]


@pytest.mark.parametrize("function", ASYNC)
def test_an_asynchronous_reward_is_refused_at_registration(binding, function):
    with pytest.raises(TypeError, match="synchronous"):
        binding.reward(function, name="late")
    assert binding.rewards == {}


def test_a_coroutine_as_a_result_is_closed_and_refused_with_both_names(binding):
    coroutine = coroutine_function()
    binding.reward(lambda: coroutine, name="sneaky")
    with pytest.raises(TypeError, match=r"rewarded_\d+.*sneaky"):
        binding.sum_rewards()
    assert inspect.getcoroutinestate(coroutine) == inspect.CORO_CLOSED


def test_another_awaitable_or_generator_is_left_to_sum(binding):
    with pytest.raises(TypeError, match="unsupported operand"):
        earning(binding, (number for number in [1])).sum_rewards()


def test_a_callable_without_a_name_is_registered_under_a_given_one(binding):
    constant = partial(float, "2.5")
    assert binding.reward(constant, name="bonus") is constant
    assert binding.rewards["bonus"]() == 2.5


def test_a_given_name_goes_before_the_functions_own(binding):
    binding.reward(len, name="bonus")
    assert list(binding.rewards) == ["bonus"]


def test_a_lambda_without_a_name_is_named_as_python_names_it(binding):
    binding.reward(lambda: 1)
    assert list(binding.rewards) == ["<lambda>"]


def test_a_name_is_kept_as_it_is(binding):
    earning(binding).reward(len, name="a")
    binding.reward(len, name="  a ")
    assert list(binding.rewards) == ["a", "  a "]


def test_the_name_is_a_keyword(binding):
    with pytest.raises(TypeError):
        binding.reward(len, "bonus")


@pytest.mark.parametrize(
    ("function", "name", "error"),
    [
        (None, None, TypeError),
        (3, "three", TypeError),
        (partial(float, "2.5"), None, TypeError),
        (len, 123, TypeError),
        (len, "", ValueError),
        (len, "  ", ValueError),
    ],
)
def test_what_is_no_reward_or_no_name_is_refused(binding, function, name, error):
    with pytest.raises(error):
        binding.reward(function, name=name)
    assert binding.rewards == {}


def test_a_second_reward_of_a_name_is_refused_and_the_first_stays(binding):
    binding.reward(len)
    with pytest.raises(ValueError, match="'len' is registered already"):
        binding.reward(abs, name="len")
    assert binding.rewards == {"len": len}


def test_one_function_may_be_a_reward_of_two_environments(binding):
    binding.reward(len)
    other = env[f"rewarded_{next(NUMBERS)}"]
    assert other.reward(len) is len


def test_a_listener_is_given_each_calls_results_by_name(binding):
    earning(binding, 1.0, -0.5)
    with recorded() as calls:
        binding.sum_rewards()
        binding.sum_rewards()
    assert calls == [{"r0": 1.0, "r1": -0.5}] * 2


def test_a_listener_hears_nothing_after_its_block(binding):
    with recorded() as calls:
        pass
    binding.sum_rewards()
    assert calls == []


def test_listeners_at_once_hear_their_own_calls_and_those_of_their_threads(binding):
    met = threading.Barrier(3, timeout=30)

    def value_once_all_are_called(value):
        met.wait()
        return value

    binding.reward(value_once_all_are_called, name="value")

    async def episode(value):
        with recorded() as calls:
            await asyncio.to_thread(binding.sum_rewards, value)
            await asyncio.to_thread(binding.sum_rewards, value)
        return calls

    async def three():
        return await asyncio.gather(*(episode(value) for value in range(3)))

    assert asyncio.run(three()) == [[{"value": value}] * 2 for value in range(3)]
