"""A model under a budget, for tests."""

import asyncio

from skillpipe.budget import Metered
from skillpipe.models import Price, Reply, Request
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
