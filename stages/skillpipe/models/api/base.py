"""What the models of this folder share: the ledger around each call, the key, the messages, the errors."""

import asyncio
import base64
import hashlib
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from skillpipe.errors import SkillpipeError
from skillpipe.ledger import Call, Ledger, canonical, key_of
from skillpipe.models import Image, ModelError, Price, Reply, Request
from skillpipe.models.api.calling import GivenUp, answered
from skillpipe.models.api.faults import CallFailed, Fault, advice
from skillpipe.models.api.retry import Retry
from skillpipe.records import Usage
from skillpipe.secrets import Secrets, refuse_secrets

# Part of every key: raise it when the same settings come to mean another request.
REQUEST_VERSION = 1


class ApiModel(ABC):
    """A model that completes chats through some wire, and pays for no answer twice.

    Args:
        wire: the settings of one wire alone that an answer depends on, and its name. They must hold no key.
        provider: who answers, for messages.
    What an answer depends on, over any wire:
        model: as the provider calls it.
        api_base: the server's address; None is the provider's own.
        temperature, max_tokens: of one answer; None leaves it to the provider.
        seed: sent where it is not None, plus the request's replicate; few providers heed it.
        extra: further fields of the request, such as reasoning_effort or top_p.
    The key and the price:
        api_key_env: the environment variable that holds the key; None where no key is needed.
        price: {input_per_mtok, output_per_mtok} in US dollars, or None.
    How it is run:
        timeout_s: for one try, as a whole.
        ledger, on_doubt: see Ledger.
        retry: the fields of Retry.

    Nothing is opened before the first request.
    """

    def __init__(
        self,
        wire: Mapping[str, Any],
        *,
        provider: str,
        model: str,
        api_base: str | None,
        temperature: float | None,
        max_tokens: int | None,
        seed: int | None,
        extra: Mapping[str, Any],
        api_key_env: str | None,
        price: Mapping[str, float] | None,
        timeout_s: float,
        ledger: str | Path,
        on_doubt: Literal["retry", "stop"],
        retry: Mapping[str, Any],
    ) -> None:
        if on_doubt not in ("retry", "stop"):
            raise SkillpipeError(f"{provider}: on_doubt is {on_doubt!r}; allowed are retry and stop")
        self._settings = {
            **wire,
            "model": model,
            "api_base": api_base,
            "temperature": temperature,
            "max_tokens": max_tokens,
            "seed": seed,
            "extra": dict(extra),
        }
        refuse_secrets(self._settings, provider)
        self._model, self.max_tokens = model, max_tokens
        self._provider, self._key_env = provider, api_key_env
        self._price = Price(**price) if price is not None else None
        self._timeout_s, self._retry = timeout_s, Retry(**retry)
        self._ledger_path, self._on_doubt = ledger, on_doubt
        self._secrets = Secrets([api_key_env] if api_key_env else [])
        self._ledger: Ledger | None = None

    @abstractmethod
    def _arguments(self, request: Request, key: str | None) -> dict[str, Any]:
        """What `_send` is given. SkillpipeError when nothing can be sent at all."""

    @abstractmethod
    async def _send(self, arguments: dict[str, Any]) -> Reply:
        """One try. Raises CallFailed for whatever the server or the network does wrong."""

    @property
    def list_price(self) -> Price | None:
        """What tokens cost, as far as known before a call: None means that a cost cap cannot be kept."""
        return self._price

    @property
    def doubts(self) -> int:
        """How many calls of the requests so far had been sent by a process that died, see Ledger; 0 once closed."""
        return self._ledger.doubts if self._ledger else 0

    async def complete(self, request: Request) -> Reply:
        """Answer one request, from the ledger when it is known there."""
        ledger = self._opened()
        call = self._call(request)
        reply = ledger.find(call)
        if reply is None:
            arguments = self._arguments(request, self._key())
            try:
                reply = await answered(ledger, call, lambda: self._timed(arguments), self._retry)
            except GivenUp as error:
                raise self._model_error(error) from None
        return reply

    def close(self) -> None:
        """Write down the hit rate and close the ledger."""
        if self._ledger is not None:
            self._ledger.close()
            self._ledger = None

    def _opened(self) -> Ledger:
        if self._ledger is None:
            self._ledger = Ledger(
                self._ledger_path,
                experiment=os.environ.get("DVC_EXP_NAME", "workspace"),
                on_doubt=self._on_doubt,
                secrets=self._secrets,
            )
        return self._ledger

    def _call(self, request: Request) -> Call:
        described = canonical(
            {
                **self._settings,
                "version": REQUEST_VERSION,
                "messages": messages(replace(request, images=())),
                "schema": request.schema,
                "replicate": request.replicate,
                **_digests(request.images),
            }
        )
        return Call(key_of(described), self._model, described)

    def _key(self) -> str | None:
        if self._key_env is None:
            return None
        key = os.environ.get(self._key_env)
        if not key:
            raise SkillpipeError(
                f"{self._provider}: {self._key_env}, which api_key_env names, is not set: export {self._key_env}=..."
            )
        return key

    async def _timed(self, arguments: dict[str, Any]) -> Reply:
        """One try, over in time even when bytes keep trickling in."""
        try:
            return await asyncio.wait_for(self._send(arguments), self._timeout_s)
        except asyncio.TimeoutError:
            raise CallFailed(Fault("timeout", None, "")) from None

    def _model_error(self, error: GivenUp) -> ModelError:
        text = advice(
            error.fault,
            provider=self._provider,
            model=self._model,
            api_key_env=self._key_env,
            attempts=error.attempts,
        )
        return ModelError(self._secrets.redact(text), permanent=error.fault.permanent)


def messages(request: Request) -> list[dict[str, Any]]:
    """The messages as they are sent; an empty one is not, since some providers refuse it.

    Images follow the text of the first user message, as parts in OpenAI's form, which litellm translates.
    """
    filled = (message for message in request.messages if message.content)
    sent: list[dict[str, Any]] = [{"role": message.role, "content": message.content} for message in filled]
    shown = next((message for message in sent if message["role"] == "user"), None)
    if request.images and shown:
        shown["content"] = [{"type": "text", "text": shown["content"]}, *map(_part, request.images)]
    return sent


def _part(image: Image) -> dict[str, Any]:
    data = base64.b64encode(image.data).decode()
    return {"type": "image_url", "image_url": {"url": f"data:{image.media_type};base64,{data}"}}


def _digests(images: Sequence[Image]) -> dict[str, Any]:
    """What the ledger keeps of images: enough to tell them apart. Nothing for none, so that older keys hold."""
    return {"images": [[one.media_type, hashlib.sha256(one.data).hexdigest()] for one in images]} if images else {}


def sampling(settings: Mapping[str, Any], request: Request) -> dict[str, Any]:
    """The settings of every wire that are sent where they are set. Each replicate has a seed of its own."""
    names = ("temperature", "max_tokens")
    sent = {name: settings[name] for name in names if settings[name] is not None}
    if settings["seed"] is not None:
        sent["seed"] = settings["seed"] + request.replicate
    return sent


def response_format(request: Request) -> dict[str, Any]:
    """How a request's schema is sent. Not "strict": that allows only a part of JSON Schema."""
    schema = {"name": "reply", "schema": request.schema, "strict": False}
    return {"type": "json_schema", "json_schema": schema}


def a_reply(
    *, text: str | None, finish: str | None, input_tokens: int, output_tokens: int, cost_usd: float | None
) -> Reply:
    """The reply as every wire gives it. CallFailed when the provider's filter took it away.

    Lone surrogates, which no file can hold, become U+FFFD.
    """
    if finish == "content_filter":
        raise CallFailed(Fault("content_filter", None, "finish_reason content_filter"))
    writable = (text or "").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    ended: Literal["stop", "length"] = "length" if finish == "length" else "stop"
    return Reply(writable, Usage(1, input_tokens, output_tokens, cost_usd), ended)
