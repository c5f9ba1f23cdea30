"""What a run may spend, role by role, kept before each call is sent."""

from dataclasses import replace

from skillpipe.errors import SkillpipeError
from skillpipe.models import Model, Price, Reply, Request
from skillpipe.records import Usage
from skillpipe.sections import Limits

# Sums of prices are no exact numbers: 0.1 three times is more than 0.3. Costs are compared to so many decimals.
DECIMALS = 9


class BudgetExceeded(SkillpipeError):
    """A call that the budget does not allow: it was not sent, and all that was paid for is in the ledger."""


class Metered:
    """A model whose calls are counted against the limits of its role.

    Calls count the same whether a provider answers them or the ledger does: a run that stops, stops at the same place
    when it is repeated. Calls are counted as they begin; tokens and cost as replies come, and what the model tells of
    calls in doubt (`doubts`) as it tells it: calls under way may pass those limits, and `settle` refuses what they
    came to. A limit that is met exactly ends a run only where another call is to be sent.

    A call in doubt, which a process that died had sent and which is sent again, counts as one call more; its tokens
    are not known. It is counted here alone: no reply's usage holds it.

    Args:
        model: answers.
        role: "target", "optimizer" or "judge", for messages.
        limits: what the role may use in one training run; a limit that is None does not exist.
        spent: what it has used in this run before.
    """

    def __init__(self, model: Model, role: str, limits: Limits, spent: Usage) -> None:
        self._model, self._role, self._limits = model, role, limits
        self._begun, self._used = spent.calls, spent

    @property
    def list_price(self) -> Price | None:
        """The model's, if it has one."""
        price: Price | None = getattr(self._model, "list_price", None)
        return price

    @property
    def max_tokens(self) -> int | None:
        """The model's longest answer in tokens, if it has a limit."""
        tokens: int | None = getattr(self._model, "max_tokens", None)
        return tokens

    async def complete(self, request: Request) -> Reply:
        """Answer one request. Raises BudgetExceeded in place of sending it when a limit is reached."""
        self._hold(one_more=True)
        self._begun += 1
        reply = await self._model.complete(request)
        self._used += reply.usage
        return reply

    def settle(self) -> None:
        """Raise BudgetExceeded when the calls that were made came to more than the limits allow."""
        self._hold(one_more=False)

    def close(self) -> None:
        """Close the model."""
        self._model.close()

    def _hold(self, *, one_more: bool) -> None:
        doubts: int = getattr(self._model, "doubts", 0)
        used = replace(self._used, calls=self._begun + doubts)
        require_within(self._role, self._limits, used, doubts=doubts, one_more=one_more)


def require_within(role: str, limits: Limits, used: Usage, *, doubts: int = 0, one_more: bool = False) -> None:
    """Raise BudgetExceeded when `used` is over a limit, or `one_more` call would be.

    `doubts` says, for the message, how many of the calls were in doubt.
    """
    tokens = used.input_tokens + used.output_tokens
    cost = None if used.cost_usd is None else round(used.cost_usd, DECIMALS)
    for name, figure in (("max_calls", used.calls), ("max_tokens", tokens), ("max_cost_usd", cost)):
        limit = getattr(limits, name)
        key = f"budget.{role}.{name}"
        if limit is None:
            continue
        if figure is None:
            raise BudgetExceeded(
                f"{key} is {limit:g} and a call's price is not known; state it in the configuration: "
                "price: {input_per_mtok: ..., output_per_mtok: ...}, US dollars per million tokens"
            )
        if figure > limit or (one_more and figure == limit):
            calls = f"{used.calls} calls ({doubts} of them in doubt)" if doubts else f"{used.calls} calls"
            price = "at an unknown price" if cost is None else f"${cost:.4f}"
            raise BudgetExceeded(
                f"{key} is {limit:g}: the {role} has used {calls}, {tokens} tokens, {price} "
                f"in this run; what was paid for is kept. Raise the limit, `dvc exp run -S {key}=...` or "
                f"`python stages/compose.py {key}=...` and `dvc repro`, each with the overrides of this run: it goes "
                "on from here without paying again"
            )
