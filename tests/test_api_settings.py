"""A model behind an API: what its settings send, cost and refuse, and which of them make another call."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from asking import REPLY_SCHEMA, a_model, a_request, ask, in_another_process, rows
from fault_server import FaultServer, in_order
from skillpipe.errors import SkillpipeError
from skillpipe.models import Reply
from skillpipe.records import Usage

pytestmark = pytest.mark.usefixtures("toy_key")


@pytest.mark.parametrize(
    ("changes", "cost"),
    [
        ({"price": {"input_per_mtok": 2.0, "output_per_mtok": 8.0}}, 60e-6),
        ({"model": "openai/gpt-4o-mini"}, 10 * 0.15e-6 + 5 * 0.6e-6),
        ({}, None),
    ],
    ids=["stated", "listed", "unknown"],
)
def test_a_cost_is_by_the_price_or_unknown(path: Path, changes: dict[str, Any], cost: float | None) -> None:
    with FaultServer(in_order("ok")) as server:
        model = a_model(server, path, **changes)
        ask(model, "x")
    assert rows(path)[0]["cost_usd"] == (None if cost is None else pytest.approx(cost))
    assert (model.list_price is None) == (cost is None)
    if model.list_price is not None:
        assert model.list_price.of(10, 5) == pytest.approx(cost)


@pytest.mark.parametrize(
    ("changes", "sent"),
    [
        ({"json_schema": "always"}, True),
        ({"json_schema": "never", "model": "openai/gpt-4o-mini"}, False),
        ({"json_schema": "auto", "model": "openai/gpt-4o-mini"}, True),
        ({"json_schema": "auto"}, False),
    ],
)
def test_the_schema_is_sent_where_it_is_understood(path: Path, changes: dict[str, Any], sent: bool) -> None:
    with FaultServer(in_order("ok")) as server:
        asyncio.run(a_model(server, path, **changes).complete(a_request("x", schema=REPLY_SCHEMA)))
    body = server.seen[0].body
    assert ("response_format" in body) == sent
    if sent:
        assert body["response_format"]["json_schema"]["schema"] == REPLY_SCHEMA


def test_what_is_sent_is_what_was_set(path: Path) -> None:
    with FaultServer(in_order("ok")) as server:
        model = a_model(server, path, seed=7, extra={"top_p": 0.5, "extra_body": {"min_p": 0.1}})
        for replicate in (0, 1):
            asyncio.run(model.complete(a_request("x", replicate=replicate)))
    first, second = (request.body for request in server.seen)
    system, user = {"role": "system", "content": "the skill"}, {"role": "user", "content": "x"}
    assert first == {
        "model": "toy", "messages": [system, user], "temperature": 0.0, "max_tokens": 50,
        "seed": 7, "top_p": 0.5, "min_p": 0.1,
    }  # fmt: skip
    assert second == {**first, "seed": 8}


CHANGES: dict[str, Any] = {
    "model": "openai/other", "temperature": 0.5, "max_tokens": 51, "seed": 1, "extra": {"top_p": 0.5},
    "drop_params": True, "json_schema": "never",
}  # fmt: skip
NO_CHANGES: dict[str, Any] = {
    "timeout_s": 30.0, "on_doubt": "stop", "price": {"input_per_mtok": 1.0, "output_per_mtok": 1.0},
    "retry": {"attempts": 1, "first_wait_s": 0.0, "max_wait_s": 0.0}, "api_key_env": "OTHER_KEY",
}  # fmt: skip


@pytest.mark.parametrize("name", [*CHANGES, *NO_CHANGES])
def test_the_key_holds_what_changes_a_reply_and_nothing_else(
    path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTHER_KEY", "another-key-0123456789")
    with FaultServer(in_order("ok")) as server:
        ask(a_model(server, path), "x")
        ask(a_model(server, path, **{name: {**CHANGES, **NO_CHANGES}[name]}), "x")
    assert len(server.seen) == (2 if name in CHANGES else 1)


@pytest.mark.parametrize("more", [{"replicate": 1}, {"schema": REPLY_SCHEMA}])
def test_another_replicate_or_schema_is_another_call(path: Path, more: dict[str, Any]) -> None:
    with FaultServer(in_order("ok")) as server:
        model = a_model(server, path)
        for request in (a_request("x"), a_request("x", **more)):
            asyncio.run(model.complete(request))
    assert len(server.seen) == 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": "toy"}, "provider/name"),
        ({"on_doubt": "maybe"}, "retry and stop"),
        ({"json_schema": "yes"}, "auto, always, never"),
        ({"api_base": "https://user:secret-word@host/v1"}, "openai.api_base: holds a key"),
        ({"extra": {"api_key": "secret-word"}}, "openai.extra.api_key: holds a key"),
        ({"retry": {"attempts": 0, "first_wait_s": 0, "max_wait_s": 1}}, "attempts of 1 or more"),
        ({"retry": {"attempts": 1, "first_wait_s": 2, "max_wait_s": 1}}, "first_wait_s <= max_wait_s"),
    ],
)
def test_a_setting_that_cannot_be_is_refused_with_what_is_allowed(
    path: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(SkillpipeError, match=message) as caught:
        a_model(None, path, **changes)
    assert "secret-word" not in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"api_base": "localhost:8000"}, "http://localhost:8000/v1"),
        ({"api_base": None}, "api_base is no address"),
        ({"on_doubt": "maybe"}, "retry and stop"),
    ],
)
def test_a_chat_server_needs_an_address(path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(SkillpipeError, match=message):
        a_model(None, path, "chat", **changes)


def test_a_chat_server_is_sent_what_was_set_and_imports_no_litellm(path: Path) -> None:
    script = """
import json, sys
import asking as t
model = t.a_model(None, **json.loads(sys.argv[1]))
print(t.asyncio.run(model.complete(t.a_request("x", schema=t.REPLY_SCHEMA))), "litellm" in sys.modules)
model.close()
"""
    with FaultServer(in_order("ok")) as server:
        given = {
            "wire": "chat", "path": str(path), "api_base": server.url, "seed": 7, "extra": {"top_p": 0.5},
            "json_schema": "always", "price": {"input_per_mtok": 2.0, "output_per_mtok": 8.0},
        }  # fmt: skip
        run = in_another_process(script, json.dumps(given))
    assert run.stdout.strip() == f"{Reply('answer to x', Usage(1, 10, 5, 60e-6))} False", run.stderr
    assert run.stderr == ""
    schema = {"name": "reply", "schema": REPLY_SCHEMA, "strict": False}
    system, user = {"role": "system", "content": "the skill"}, {"role": "user", "content": "x"}
    assert server.seen[0].body == {
        "model": "toy", "messages": [system, user], "temperature": 0.0, "max_tokens": 50, "seed": 7,
        "top_p": 0.5, "response_format": {"type": "json_schema", "json_schema": schema},
    }  # fmt: skip
    assert rows(path)[0]["cost_usd"] == pytest.approx(60e-6)
