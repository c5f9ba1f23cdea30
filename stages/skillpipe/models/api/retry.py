"""When to try again, and how long to wait: the one place where calls are repeated."""

import random
from dataclasses import dataclass

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt

from skillpipe.errors import SkillpipeError
from skillpipe.models.api.faults import CallFailed


@dataclass(frozen=True)
class Retry:
    """How often a call is tried in all, and the waits in between, in seconds.

    The k-th wait is drawn from [w/2, w] for w = first_wait_s * 2**(k-1), at most max_wait_s. It is no shorter
    than what the server asks for (Retry-After), up to max_wait_s.
    """

    attempts: int
    first_wait_s: float
    max_wait_s: float

    def __post_init__(self) -> None:
        if self.attempts < 1 or not 0 <= self.first_wait_s <= self.max_wait_s:
            raise SkillpipeError(
                f"retry: {self}; allowed are attempts of 1 or more, and 0 <= first_wait_s <= max_wait_s"
            )

    def tries(self) -> AsyncRetrying:
        """What calls an async function until it succeeds; the last failure is raised as it is."""
        return AsyncRetrying(
            stop=stop_after_attempt(self.attempts),
            wait=self._wait,
            retry=retry_if_exception(_transient),
            reraise=True,
        )

    def _wait(self, state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        asked = error.fault.retry_after_s if isinstance(error, CallFailed) else None
        backoff = min(self.max_wait_s, self.first_wait_s * 2.0 ** min(state.attempt_number - 1, 30))
        # Jitter: calls that failed together must not come back together. It changes no reply.
        wait = backoff * random.uniform(0.5, 1.0)
        if asked is not None:
            wait = max(wait, min(self.max_wait_s, asked * random.uniform(1.0, 1.1)))
        return wait


def _transient(error: BaseException) -> bool:
    return isinstance(error, CallFailed) and not error.fault.permanent
