"""One call from its reservation to its settlement."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from skillpipe.ledger import Call, Ledger
from skillpipe.models import Reply
from skillpipe.models.api.faults import CallFailed, Fault
from skillpipe.models.api.retry import Retry

# How often to ask for an answer that another process is fetching, in seconds.
POLL_S = 0.05
# How long a cancelled call may still take: an answer that is on its way has been paid for.
GRACE_S = 1.0

Send = Callable[[], Coroutine[Any, Any, Reply]]


class GivenUp(Exception):
    """A call that failed for good after `attempts` tries, the last of them with `fault`. The ledger knows."""

    def __init__(self, fault: Fault, attempts: int) -> None:
        super().__init__(fault.kind)
        self.fault = fault
        self.attempts = attempts


async def answered(ledger: Ledger, call: Call, send: Send, retry: Retry) -> Reply:
    """The answer from the ledger or from `send`, which makes one try and raises CallFailed.

    Of two that want the same call at once, in whatever processes, one sends and the other waits; it takes
    over when the first fails or dies. Raises GivenUp; InDoubt as the ledger does. Cancelled or broken off
    while a try is under way, the call is in doubt.
    """
    while (found := ledger.claim(call)) == "busy":
        await asyncio.sleep(POLL_S)
    if isinstance(found, Reply):
        return found
    attempts, under_way = 0, False

    async def once() -> Reply:
        nonlocal attempts, under_way
        attempts, under_way = attempts + 1, True
        try:
            answer = await _try(send, lambda late: ledger.settle(call, late, attempts))
        except CallFailed:
            under_way = False
            raise
        return answer

    try:
        return ledger.settle(call, await retry.tries()(once), attempts)
    except CallFailed as error:
        ledger.fail(call, error.fault.kind, error.fault.detail, attempts)
        raise GivenUp(error.fault, attempts) from None
    except BaseException:  # cancelled, Ctrl-C or a defect: written down as what it is, and passed on
        if under_way:
            ledger.abandon(call, attempts)
        else:
            ledger.fail(call, "cancelled", "cancelled between two tries", attempts)
        raise


async def _try(send: Send, keep: Callable[[Reply], object]) -> Reply:
    """One try. Cancelled, it gets GRACE_S to end; an answer that comes in that time goes to `keep`."""
    task = asyncio.ensure_future(send())
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        try:
            await asyncio.wait({task}, timeout=GRACE_S)
            if task.done() and not task.cancelled() and task.exception() is None:
                keep(task.result())
        finally:
            task.cancel()
        raise
