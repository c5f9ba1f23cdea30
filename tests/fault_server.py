"""A chat server on the loopback address that fails as it is told, for tests and benchmarks.

`with FaultServer(script) as server:` serves OpenAI's chat protocol at `server.url` until the block ends. The
script names what each request meets (one of FAULTS), from its number and its last message. The answer to "x"
is "answer to x", or "y" where the script says "say y". As a program it is a slow but sound server:
`python fault_server.py SECONDS` prints its URL.
"""

import asyncio
import json
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

import uvicorn
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import Receive, Scope, Send

Script = Callable[[int, str], str]


def in_order(*faults: str) -> Script:
    """The faults one after the other; the last one for ever."""
    return lambda number, text: faults[min(number, len(faults) - 1)]


@dataclass
class Seen:
    """One request that reached the server."""

    text: str
    body: dict[str, Any]
    headers: dict[str, str]
    at: float = field(default_factory=time.monotonic)


class FaultServer:
    """The server. `seen` lists the requests in the order of arrival; `asked` counts them by last message."""

    def __init__(self, script: Script, latency_s: float = 0.0) -> None:
        self._script, self._latency_s = script, latency_s
        self.seen: list[Seen] = []
        config = uvicorn.Config(self, log_level="critical", lifespan="off", http="h11", timeout_graceful_shutdown=1)
        self._server = uvicorn.Server(config)
        # With the protocol named, asyncio sets TCP_NODELAY; without, each answer would come 40 ms late.
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        self._socket.bind(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True)

    @property
    def url(self) -> str:
        """What api_base is set to."""
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}/v1"

    @property
    def asked(self) -> Counter[str]:
        """How many requests there were for each last message."""
        return Counter(request.text for request in self.seen)

    def __enter__(self) -> "FaultServer":
        self._thread.start()
        while not self._server.started:
            time.sleep(0.005)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive, send)
        body = await request.json()
        text = str(body["messages"][-1]["content"])
        self.seen.append(Seen(text, body, dict(request.headers)))
        name = self._script(len(self.seen) - 1, text)
        await asyncio.sleep(self._latency_s)
        name, _, argument = name.partition(" ")
        if name in _BROKEN:
            await _BROKEN[name](receive, send)
        else:
            await _RESPONSES[name](body, argument)(scope, receive, send)


def _good(body: dict[str, Any], finish: str = "stop", text: str | None = None) -> dict[str, Any]:
    message = {"role": "assistant", "content": text or f"answer to {body['messages'][-1]['content']}"}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": body["model"],
        "choices": [{"index": 0, "finish_reason": finish, "message": message}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    }


def _error(status: int, message: str, code: str | None = None, **headers: str) -> Response:
    error = {"message": message, "type": code, "code": code, "param": None}
    return JSONResponse({"error": error}, status, {name.replace("_", "-"): text for name, text in headers.items()})


_JSON = "application/json"
_TOO_LONG = "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."
_NO_CREDIT = "You exceeded your current quota, please check your plan and billing details."
_RESPONSES: dict[str, Callable[[dict[str, Any], str], Response]] = {
    "ok": lambda body, _: JSONResponse(_good(body)),
    "say": lambda body, text: JSONResponse(_good(body, text=text)),
    "length": lambda body, _: JSONResponse(_good(body, "length")),
    "filtered": lambda body, _: JSONResponse(_good(body, "content_filter")),
    "empty_choices": lambda body, _: JSONResponse({**_good(body), "choices": []}),
    "surrogate": lambda body, _: Response(json.dumps(_good(body, text="half \ud83d pair")), 200, None, _JSON),
    "429": lambda _, wait: _error(429, "Too many requests", "rate_limit", **({"retry_after": wait} if wait else {})),
    "500": lambda *_: _error(500, "The server had an error"),
    "503": lambda *_: _error(503, "The engine is currently overloaded"),
    "529": lambda *_: _error(529, "Overloaded", "overloaded_error"),
    "html": lambda *_: HTMLResponse("<html><body>Welcome to the hotel's network</body></html>"),
    "html_502": lambda *_: HTMLResponse("<html><body><h1>502 Bad Gateway</h1></body></html>", 502),
    "401": lambda _, key: _error(401, f"Incorrect API key provided: {key}", "invalid_api_key"),
    "404": lambda *_: _error(404, "The model does not exist", "model_not_found"),
    "400": lambda _, text: _error(400, text or "Unknown parameter: foo", "invalid_request_error"),
    "quota": lambda *_: _error(429, _NO_CREDIT, "insufficient_quota"),
    "context": lambda *_: _error(400, _TOO_LONG, "context_length_exceeded"),
    "filter_400": lambda *_: _error(400, "Rejected by the content management policy", "content_filter"),
}


async def _hang(receive: Receive, send: Send) -> None:
    """Says nothing until the client leaves."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _trickle(receive: Receive, send: Send) -> None:
    """Never ends, and never is silent: a byte every 10 ms."""
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
    left = asyncio.ensure_future(_hang(receive, send))
    while not left.done():
        await send({"type": "http.response.body", "body": b" ", "more_body": True})
        await asyncio.wait({left}, timeout=0.01)


async def _reset(receive: Receive, send: Send) -> None:
    """Cuts the connection before a word. uvicorn has no public way: `receive` is a method of its request."""
    receive.__self__.transport.abort()  # type: ignore[attr-defined]


async def _half(receive: Receive, send: Send) -> None:
    """Promises 1,000 bytes, sends a few, and cuts the connection."""
    headers = [(b"content-type", b"application/json"), (b"content-length", b"1000")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b'{"id": "1", "choices": [{"mess', "more_body": True})
    await _reset(receive, send)


_BROKEN: dict[str, Callable[[Receive, Send], Any]] = {
    "hang": _hang,
    "trickle": _trickle,
    "reset": _reset,
    "half": _half,
}
FAULTS = [*_RESPONSES, *_BROKEN]


if __name__ == "__main__":
    with FaultServer(in_order("ok"), latency_s=float(sys.argv[1])) as running:
        print(running.url, flush=True)
        sys.stdin.read()
