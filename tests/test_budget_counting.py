"""budget.py: which calls count, when, and that the order of answers does not matter."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metering import CALL, REQUEST, Says, answered, ask, metered
from skillpipe.budget import BudgetExceeded
from skillpipe.models import ModelError, Reply, Request
from skillpipe.records import Message, Usage


class Silent(Says):
    """Answers nobody before `heard`."""

    def __init__(self) -> None:
        super().__init__()
        self.heard = asyncio.Event()

    async def complete(self, request: Request) -> Reply:
        reply = await super().complete(request)
        await self.heard.wait()
        return reply


class Doubtful(Says):
    """Tells, with its first reply, of two calls that it sent again."""

    doubts = 0

    async def complete(self, request: Request) -> Reply:
        self.doubts = 2
        return await super().complete(request)


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


def test_a_call_that_fails_counts_as_a_call():
    says = Says(ModelError("no line", permanent=False))
    failure, reply, refused = ask(metered(says, max_calls=2), 3)
    assert (type(failure), type(reply), type(refused)) == (ModelError, Reply, BudgetExceeded)


def test_calls_in_doubt_count_as_calls_and_stand_in_no_reply():
    says = Doubtful()
    model = metered(says, Usage(1), max_calls=5)
    *replies, refused = ask(model, 3)
    assert replies == [Reply("yes", CALL)] * 2
    assert "has used 5 calls (2 of them in doubt), 30 tokens," in str(refused)
    model.settle()


def test_calls_in_doubt_that_pass_the_limit_are_refused_when_all_is_settled():
    model = metered(Doubtful(), max_calls=2)
    assert answered(ask(model, 1)) == [True]
    with pytest.raises(BudgetExceeded, match=r"max_calls is 2: the target has used 3 calls \(2 of them in doubt\)"):
        model.settle()


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=12),
    st.integers(1, 60),
    st.integers(1, 12),
    st.integers(1, 12),
    st.sets(st.integers(0, 11)),
    st.randoms(use_true_random=False),
)
def test_whether_a_stage_stops_depends_on_what_its_calls_take_and_not_on_the_order_of_answers(
    tokens, max_tokens, max_calls, at_once, doubtful, chance
):
    """Cached calls answer at once and in order, live ones late and in any order: both stop, or neither does.

    Those whose number is in `doubtful` were in doubt.
    """

    async def run(yields: list[int]) -> bool:
        free = asyncio.Semaphore(at_once)

        class Late(Says):
            doubts = 0

            async def complete(self, request: Request) -> Reply:
                number = int(request.messages[1].content)
                for _ in range(yields[number]):
                    await asyncio.sleep(0)
                self.doubts += number in doubtful
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

    doubts = len(doubtful & {*range(len(tokens))})
    expected = sum(tokens) > max_tokens or len(tokens) + doubts > max_calls
    assert asyncio.run(run([0] * len(tokens))) == expected
    assert asyncio.run(run([chance.randrange(5) for _ in tokens])) == expected
