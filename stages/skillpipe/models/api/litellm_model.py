"""Any provider's model, through litellm."""

import importlib
import logging
import os
from typing import Any, Literal

from skillpipe.errors import SkillpipeError
from skillpipe.models import Price, Reply, Request
from skillpipe.models.api.base import ApiModel, a_reply, messages, response_format, sampling
from skillpipe.models.api.faults import CallFailed, Fault, classify
from skillpipe.models.api.pricing import list_price

INSTALL = "pip install -c constraints.txt -e ."


class LitellmModel(ApiModel):
    """Completes chats with any model that litellm knows.

    Args:
        model: provider/name, as litellm writes it.
        drop_params: leave out what the provider does not know, instead of failing.
        json_schema: hold the model to a request's schema: "auto" (where litellm says that it can be),
            "always" or "never".
        shared: the other arguments of ApiModel, by its names; `extra` are further arguments of litellm.completion,
            and a `price` of None is litellm's list.

    litellm is imported when the first answer is not known: that takes seconds.
    """

    def __init__(
        self, *, model: str, drop_params: bool, json_schema: Literal["auto", "always", "never"], **shared: Any
    ) -> None:
        provider, slash, name = (model or "").partition("/")
        if not (provider and slash and name):
            raise SkillpipeError(f"litellm: model is {model!r}; give it as provider/name: openai/gpt-5-mini")
        if json_schema not in ("auto", "always", "never"):
            raise SkillpipeError(f"litellm: json_schema is {json_schema!r}; allowed are auto, always, never")
        wire = {"wire": "litellm", "drop_params": drop_params, "json_schema": json_schema}
        super().__init__(wire, provider=provider, model=model, **shared)

    @property
    def list_price(self) -> Price | None:
        """The stated price, else litellm's."""
        return self._price or list_price(self._model)

    def _arguments(self, request: Request, key: str | None) -> dict[str, Any]:
        litellm = load()  # here, not in a try: importing must not count as waiting for an answer
        settings = self._settings
        arguments: dict[str, Any] = {
            "model": self._model,
            "messages": messages(request),
            "drop_params": settings["drop_params"],
            "timeout": self._timeout_s,
            "num_retries": 0,  # litellm's own, and those of the libraries under it: calling.py repeats calls
            "max_retries": 0,
            **sampling(settings, request),
            **settings["extra"],
        }
        if settings["api_base"]:
            arguments["api_base"] = settings["api_base"]
            # Without any key, litellm would send the user's own, from its usual variable, to this server.
            key = key or "none"
        if key:
            arguments["api_key"] = key
        if request.schema is not None and self._holds(litellm):
            arguments["response_format"] = response_format(request)
        return arguments

    def _holds(self, litellm: Any) -> bool:
        """Whether the model is to be held to a request's schema."""
        wanted = self._settings["json_schema"]
        return wanted == "always" or (wanted == "auto" and bool(litellm.supports_response_schema(model=self._model)))

    async def _send(self, arguments: dict[str, Any]) -> Reply:
        try:
            response = await load().acompletion(**arguments)
        except Exception as error:  # whatever it is, it becomes a CallFailed that says so
            raise CallFailed(classify(error)) from None
        if not response.choices:
            raise CallFailed(Fault("bad_reply", None, "an answer without choices"))
        choice, usage = response.choices[0], getattr(response, "usage", None)
        read = (usage.prompt_tokens or 0) if usage else 0
        written = (usage.completion_tokens or 0) if usage else 0
        cost = self._price.of(read, written) if self._price else response._hidden_params.get("response_cost")
        return a_reply(
            text=choice.message.content,
            finish=choice.finish_reason,
            input_tokens=read,
            output_tokens=written,
            cost_usd=cost,
        )


def load() -> Any:
    """litellm, quiet, with the price list that it carries: it looks nothing up."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    try:
        litellm: Any = importlib.import_module("litellm")
    except ImportError as error:
        raise SkillpipeError(f"litellm: not installed ({error}): {INSTALL}") from error
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    logging.getLogger("LiteLLM").disabled = True  # at level DEBUG it shows whole requests
    return litellm
