"""A server that speaks OpenAI's chat protocol, asked directly: vLLM, llama.cpp, Ollama, OpenRouter, OpenAI.

For many calls to a fast server: a call costs a fraction of the CPU time that it costs through litellm, and no
seconds are spent on importing that.
"""

import asyncio
import importlib
import json
from collections.abc import AsyncGenerator
from typing import Any
from urllib.parse import urlsplit

from skillpipe.errors import SkillpipeError
from skillpipe.models import Reply, Request
from skillpipe.models.api.base import ApiModel, a_reply, messages, response_format, sampling
from skillpipe.models.api.faults import CallFailed, Fault, Kind, fault_of

INSTALL = "pip install -c constraints.txt -e ."


class ChatServer(ApiModel):
    """Completes chats by POST to {api_base}/chat/completions.

    Args:
        model: the name by which the server knows it.
        api_base: the server's address, up to and without /chat/completions.
        json_schema: whether to hold the model to a request's schema.
        shared: the other arguments of ApiModel, by its names; `extra` are further fields of the request's body, such
            as top_p or chat_template_kwargs.
    """

    def __init__(self, *, model: str, api_base: str, json_schema: bool, **shared: Any) -> None:
        address = urlsplit(api_base or "")
        if address.scheme not in ("http", "https") or not address.hostname:
            raise SkillpipeError("chat server: api_base is no address; give one such as http://localhost:8000/v1")
        if not model:
            raise SkillpipeError("chat server: model is empty; give the name by which the server knows it")
        wire = {"wire": "chat", "json_schema": json_schema}
        super().__init__(wire, provider=address.hostname, model=model, api_base=api_base, **shared)
        self._sessions: AsyncGenerator[Any, None] | None = None
        self._session: Any = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def _arguments(self, request: Request, key: str | None) -> dict[str, Any]:
        aiohttp()
        body: dict[str, Any] = {"model": self._model, "messages": messages(request)}
        body |= {**sampling(self._settings, request), **self._settings["extra"]}
        if request.schema is not None and self._settings["json_schema"]:
            body["response_format"] = response_format(request)
        return {"json": body, "headers": {"Authorization": f"Bearer {key}"} if key else {}}

    async def _send(self, arguments: dict[str, Any]) -> Reply:
        url = self._settings["api_base"].rstrip("/") + "/chat/completions"
        session = await self._connected()
        try:
            async with session.post(url, **arguments, allow_redirects=False) as response:
                status, headers, raw = response.status, response.headers, await response.read()
        except (OSError, aiohttp().ClientError) as error:
            # Not the exception's text: it differs from call to call.
            kind: Kind = "timeout" if isinstance(error, TimeoutError) else "connection"
            raise CallFailed(Fault(kind, None, type(error).__name__)) from None
        text = raw.decode(errors="replace")
        if status != 200:
            raise CallFailed(fault_of(status, _message(text), headers))
        try:
            return self._reply(json.loads(text))
        except (ValueError, LookupError, TypeError, AttributeError):
            raise CallFailed(Fault("bad_reply", None, f"no chat completion: {text[:100]!r}")) from None

    def _reply(self, completion: dict[str, Any]) -> Reply:
        choice, usage = completion["choices"][0], completion.get("usage") or {}
        read, written = usage.get("prompt_tokens") or 0, usage.get("completion_tokens") or 0
        return a_reply(
            text=choice["message"].get("content"),
            finish=choice.get("finish_reason"),
            input_tokens=read,
            output_tokens=written,
            cost_usd=self._price.of(read, written) if self._price else None,
        )

    async def _connected(self) -> Any:
        """The connections of the running event loop: they cannot be used in another one."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._sessions = _session()
            # This does not wait, so no two tasks are in here at once.
            self._session = await anext(self._sessions)
            self._loop = loop
        return self._session


async def _session() -> AsyncGenerator[Any, None]:
    """One set of connections. asyncio.run closes a generator that is still open, and so them, at its end."""
    # No limit, no time-out: how many calls are under way, and how long, is decided elsewhere.
    connector, forever = aiohttp().TCPConnector(limit=0), aiohttp().ClientTimeout(total=None)
    async with aiohttp().ClientSession(connector=connector, timeout=forever) as session:
        yield session


def aiohttp() -> Any:
    """The library, imported when the first answer is not known."""
    try:
        return importlib.import_module("aiohttp")
    except ImportError as error:
        raise SkillpipeError(f"chat server: aiohttp is not installed ({error}): {INSTALL}") from error


def _message(text: str) -> str:
    """What an error's body says: OpenAI's form (message and code), or as it is."""
    try:
        error = json.loads(text)["error"]
        return f"{error['message']} ({error['code']})" if error.get("code") else str(error["message"])
    except (ValueError, LookupError, TypeError, AttributeError):
        return text
