"""What a run may spend, role by role, kept before each call is sent."""

from skillpipe.errors import SkillpipeError
from skillpipe.models import Model, Price, Reply, Request
from skillpipe.records import Usage
from skillpipe.sections import Limits


class BudgetExceeded(SkillpipeError):
    """A call that the budget does not allow: it was not sent, and all that was paid for is in the ledger."""


class Metered:
    """A model whose calls are counted against the limits of its role.

    Calls count the same whether a provider answers them or the ledger does: a run that stops, stops at the same place
    when it is repeated. Calls are counted as they begin; tokens and cost as replies come, so that calls under way may
    pass those limits, and `settle` refuses what they came to. A limit that is met exactly ends a run only where another
    call is to be sent.

    Args:
        model: answers.
        role: "target" or "optimizer", for messages.
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

    async def complete(self, request: Request) -> Reply:
        """Answer one request. Raises BudgetExceeded in place of sending it when a limit is reached."""
        tokens, cost = self._tokens(), self._used.cost_usd
        self._hold("max_calls", self._begun, self._limits.max_calls, full=True)
        self._hold("max_tokens", tokens, self._limits.max_tokens, full=True)
        self._hold("max_cost_usd", cost, self._limits.max_cost_usd, full=True)
        self._begun += 1
        reply = await self._model.complete(request)
        self._used += reply.usage
        return reply

    def settle(self) -> None:
        """Raise BudgetExceeded when the calls that were made came to more than the limits allow."""
        self._hold("max_tokens", self._tokens(), self._limits.max_tokens, full=False)
        self._hold("max_cost_usd", self._used.cost_usd, self._limits.max_cost_usd, full=False)

    def close(self) -> None:
        """Close the model."""
        self._model.close()

    def _tokens(self) -> int:
        return self._used.input_tokens + self._used.output_tokens

    def _hold(self, name: str, used: float | None, limit: float | None, *, full: bool) -> None:
        """Raise BudgetExceeded when `used` is over the limit, or has reached it (`full`)."""
        if limit is None:
            return
        key = f"budget.{self._role}.{name}"
        if used is None:
            raise BudgetExceeded(
                f"{key} is {limit:g} and a call's price is not known; state it in the configuration: "
                "price: {input_per_mtok: ..., output_per_mtok: ...}, US dollars per million tokens"
            )
        if used > limit or (full and used == limit):
            cost = "at an unknown price" if self._used.cost_usd is None else f"${self._used.cost_usd:.4f}"
            raise BudgetExceeded(
                f"{key} is {limit:g}: the {self._role} has used {self._begun} calls, {self._tokens()} tokens, {cost} "
                f"in this run; what was paid for is kept. Raise the limit, `dvc exp run -S {key}=...` or "
                f"`python stages/compose.py {key}=...` and `dvc repro`, each with the overrides of this run: it goes "
                "on from here without paying again"
            )
