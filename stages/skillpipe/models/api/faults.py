"""What can go wrong with a call, whether it would go wrong again, and what mends it."""

import asyncio
import re
from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "rate_limit", "overloaded", "server_error", "timeout", "connection", "bad_reply",
    "auth", "quota", "unknown_model", "context_length", "content_filter", "bad_request",
]  # fmt: skip
PERMANENT: frozenset[Kind] = frozenset(
    ("auth", "quota", "unknown_model", "context_length", "content_filter", "bad_request")
)

_BY_STATUS: Mapping[int, Kind] = {
    401: "auth", 402: "quota", 403: "auth", 404: "unknown_model", 408: "timeout", 409: "overloaded",
    429: "rate_limit", 503: "overloaded", 529: "overloaded",
}  # fmt: skip
# What a status alone does not tell, first match first. litellm gives status 500 to a broken connection and to
# a page that is no JSON.
_TOLD_BY_TEXT: tuple[tuple[Container[int], re.Pattern[str], Kind], ...] = (
    (
        (400, 403, 429),  # not "billing" alone: a plain rate limit points there too
        re.compile(r"insufficient_quota|current quota|credit balance|billing[ _](?:hard|not)", re.IGNORECASE),
        "quota",
    ),
    ((400, 403, 422), re.compile(r"content[ _-]?(?:filter|(?:management )?policy)", re.IGNORECASE), "content_filter"),
    (
        (400, 413, 422),
        re.compile(r"context[ _-]?(?:length|window|size)|maximum context|(?:prompt|input) is too long", re.IGNORECASE),
        "context_length",
    ),
    ((500,), re.compile(r"connection (?:error|reset|refused|aborted)|disconnected", re.IGNORECASE), "connection"),
    ((500,), re.compile(r"invalid response|not valid json|expecting value|<html", re.IGNORECASE), "bad_reply"),
    (range(500, 600), re.compile(r"overloaded|over capacity|server is busy", re.IGNORECASE), "overloaded"),
)
# What differs between equal faults, and what litellm puts before the provider's words.
_REQUEST_ID = re.compile(
    r"\b(?:req|chatcmpl|request)[-_][\w-]{8,}|\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.IGNORECASE
)
_PREFIX = re.compile(r"^\s*(?:(?:litellm\.)?\w*(?:Error|Timeout|Exception)\w*\s*[:-]\s*)+")


@dataclass(frozen=True)
class Fault:
    """One failed try.

    `detail` is what the provider said, in one line, without request ids. It may hold secrets.
    """

    kind: Kind
    status: int | None
    detail: str
    retry_after_s: float | None = None

    @property
    def permanent(self) -> bool:
        """Whether the same request would fail again."""
        return self.kind in PERMANENT


class CallFailed(Exception):
    """One try failed. Stays inside this folder: a ModelError leaves it."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.kind)
        self.fault = fault


def classify(error: BaseException) -> Fault:
    """The fault behind an exception: by its HTTP status and text, else by its class.

    Reads attributes that litellm's and OpenAI's exceptions share (`status_code`, `response.headers`), so that
    no library of a provider is imported. What cannot be told apart is taken to be transient.
    """
    name, status = type(error).__name__, getattr(error, "status_code", None)
    if isinstance(error, asyncio.TimeoutError | TimeoutError) or "Timeout" in name:
        return Fault("timeout", None, "")  # its text counts milliseconds
    if status is None:
        return Fault("bad_reply", None, _one_line(str(error)))
    response = getattr(error, "response", None)
    headers = getattr(response, "headers", None) or getattr(error, "litellm_response_headers", None) or {}
    return fault_of(status, str(error), headers, hint=f"{name} {getattr(error, 'code', None)}")


def fault_of(status: int, text: str, headers: Mapping[str, str], hint: str = "") -> Fault:
    """The fault behind an HTTP answer. `hint` is read for its kind and not shown."""
    return Fault(_kind(status, f"{hint} {text}"), status, _one_line(text), _retry_after(headers))


def _kind(status: int, text: str) -> Kind:
    for statuses, pattern, kind in _TOLD_BY_TEXT:
        if status in statuses and pattern.search(text):
            return kind
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    return "server_error" if status >= 500 else "bad_request"


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asked to wait, if it said so in seconds (a date is not read)."""
    try:
        return max(0.0, float(headers["retry-after"]))
    except (KeyError, ValueError):
        return None


def _one_line(text: str) -> str:
    line = _REQUEST_ID.sub("...", _PREFIX.sub("", " ".join(text.split())))
    return line if len(line) <= 300 else line[:300] + "..."


# What each fault means to people, and what mends it.
_ADVICE: Mapping[Kind, str] = {
    "auth": "refused the key in {key}: put a valid key into that variable",
    "quota": "says that the account of {key} has no credit left: add credit, or name another key's variable"
    " in api_key_env, and run again; what is paid for is kept",
    "unknown_model": "does not know {model}, or not at this address: mend model or api_base",
    "context_length": "says that the request is too long for {model}: shorten the skill or the input,"
    " or choose a model that reads more",
    "content_filter": "filtered the request or its answer: change the task or the model",
    "bad_request": "refused the request: mend extra, max_tokens or seed, or set drop_params: true",
    "rate_limit": "is over its rate limit: lower execution.max_concurrency or raise retry.attempts",
    "overloaded": "is overloaded: lower execution.max_concurrency, or run again later",
    "server_error": "failed: run again later",
    "timeout": "did not answer in time: raise timeout_s, or run again later",
    "connection": "could not be reached: is api_base right, and the server up?",
    "bad_reply": "sent no readable answer: is api_base the address of its API?",
}


def advice(fault: Fault, *, provider: str, model: str, api_key_env: str | None, attempts: int) -> str:
    """One line for people: who failed, how, and what to do. The same for equal faults. May hold secrets."""
    key = api_key_env or f"{provider}'s usual variable (api_key_env names none)"
    after = [f"HTTP {fault.status}"] if fault.status else []
    after += [f"after {attempts} tries"] if attempts > 1 else []
    seen = f" ({', '.join(after)})" if after else ""
    said = f"; it said: {fault.detail}" if fault.detail else ""
    return f"{provider} {_ADVICE[fault.kind].format(key=key, model=model)}{seen}{said}"
