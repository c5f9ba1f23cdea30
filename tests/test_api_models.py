"""A model behind an API: what each fault leads to, what it costs, that nothing is paid twice and no key told.

Every fault comes from a real server on the loopback address, through the real litellm.
"""

import asyncio
import json
import os
import random
import subprocess
import sys
import time
import traceback
from pathlib import Path
from typing import Any

import pytest

from fault_server import FaultServer, in_order
from skillpipe.errors import SkillpipeError
from skillpipe.ledger import InDoubt, report
from skillpipe.ledger.database import connect
from skillpipe.models import ModelError, Reply, Request
from skillpipe.models.api import ChatServer, LitellmModel
from skillpipe.records import Message, Usage

STAGES = Path(__file__).parent.parent / "stages"
KEY = "pl4nted-0123456789-key"
SETTINGS: dict[str, Any] = {
    "model": "openai/toy",
    "api_base": None,
    "api_key_env": "TOY_KEY",
    "temperature": 0.0,
    "max_tokens": 50,
    "seed": None,
    "extra": {},
    "drop_params": False,
    "json_schema": "auto",
    "price": None,
    "timeout_s": 20.0,
    "on_doubt": "retry",
    "retry": {"attempts": 3, "first_wait_s": 0.001, "max_wait_s": 0.002},
}


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOY_KEY", KEY)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "calls.sqlite"


Model = LitellmModel | ChatServer


def a_model(server: FaultServer | None, path: Path | str, wire: str = "litellm", **changes: Any) -> Model:
    base = server.url if server else "http://127.0.0.1:9/v1"
    settings = {**SETTINGS, "api_base": base, "ledger": path, **changes}
    if wire == "litellm":
        return LitellmModel(**settings)
    own = {"model": "toy", "json_schema": settings["json_schema"] == "always"}
    return ChatServer(**{name: value for name, value in settings.items() if name != "drop_params"} | own)


both_wires = pytest.mark.parametrize("wire", ["litellm", "chat"])


def a_request(text: str, **more: Any) -> Request:
    return Request((Message("system", "the skill"), Message("user", text)), **more)


def ask(model: Model, *texts: str) -> list[Reply | BaseException]:
    """Ask all at once; a failure stands in the place of its reply."""

    async def run() -> list[Reply | BaseException]:
        calls = [model.complete(a_request(text)) for text in texts]
        return await asyncio.gather(*calls, return_exceptions=True)

    return asyncio.run(run())


def rows(path: Path) -> list[dict[str, Any]]:
    db = connect(path, create=False)
    found = list(report.export(db))
    db.close()
    return found


TRANSIENT = {
    "429": "rate_limit",
    "429 0": "rate_limit",
    "500": "server_error",
    "503": "overloaded",
    "529": "overloaded",
    "html": "bad_reply",
    "html_502": "server_error",
    "empty_choices": "bad_reply",
    "half": "connection",
    "reset": "connection",
    "hang": "timeout",
    "trickle": "timeout",
}
PERMANENT = {
    "401": "auth",
    "quota": "quota",
    "404": "unknown_model",
    "400": "bad_request",
    "context": "context_length",
    "filtered": "content_filter",
    "filter_400": "content_filter",
}


def patience(fault: str) -> dict[str, float]:
    """A short time-out for the faults that need one to be seen."""
    return {"timeout_s": 0.3} if fault in ("hang", "trickle") else {}


@pytest.mark.parametrize("fault", TRANSIENT)
@both_wires
def test_a_transient_fault_is_tried_again(path: Path, wire: str, fault: str) -> None:
    with FaultServer(in_order(fault, fault, "ok")) as server:
        [reply] = ask(a_model(server, path, wire, **patience(fault)), "x")
    assert reply == Reply("answer to x", Usage(1, 10, 5, None))
    assert len(server.seen) == 3
    [row] = rows(path)
    assert (row["state"], row["attempts"], row["error_class"]) == ("done", 3, None)


@pytest.mark.parametrize(("fault", "kind"), TRANSIENT.items())
@both_wires
def test_a_fault_that_stays_ends_after_the_last_try(path: Path, wire: str, fault: str, kind: str) -> None:
    with FaultServer(in_order(fault)) as server:
        [error] = ask(a_model(server, path, wire, **patience(fault)), "x")
    assert isinstance(error, ModelError)
    assert not error.permanent
    assert "after 3 tries" in str(error)
    assert len(server.seen) == 3
    [row] = rows(path)
    assert (row["state"], row["attempts"], row["error_class"], row["reply"]) == ("failed", 3, kind, None)


@pytest.mark.parametrize(("fault", "kind"), PERMANENT.items())
@both_wires
def test_a_permanent_fault_is_not_tried_again(path: Path, wire: str, fault: str, kind: str) -> None:
    with FaultServer(in_order(fault, "ok")) as server:
        [error] = ask(a_model(server, path, wire), "x")
    assert isinstance(error, ModelError)
    assert error.permanent
    assert len(server.seen) == 1
    [row] = rows(path)
    assert (row["state"], row["attempts"], row["error_class"]) == ("failed", 1, kind)


@both_wires
def test_equal_faults_have_equal_messages(path: Path, wire: str) -> None:
    """The executor stops early when all calls fail alike, and it tells by the message."""
    with FaultServer(lambda number, text: f"400 no such thing, request req_{number}abcdefgh") as server:
        errors = ask(a_model(server, path, wire), "x", "y")
    assert str(errors[0]) == str(errors[1])
    assert "no such thing" in str(errors[0])


@both_wires
def test_a_server_that_is_not_there_is_a_connection_fault(path: Path, wire: str) -> None:
    [error] = ask(a_model(None, path, wire), "x")
    assert isinstance(error, ModelError)
    assert not error.permanent
    assert "could not be reached" in str(error)
    assert rows(path)[0]["error_class"] == "connection"


def test_a_failed_call_is_made_again_in_the_next_run(path: Path) -> None:
    with FaultServer(in_order("401", "ok")) as server:
        model = a_model(server, path)
        assert isinstance(ask(model, "x")[0], ModelError)
        assert ask(model, "x") == [Reply("answer to x", Usage(1, 10, 5, None))]
    assert rows(path)[0]["attempts"] == 2


@both_wires
def test_a_reply_cut_by_the_token_limit_says_so_also_from_the_ledger(path: Path, wire: str) -> None:
    with FaultServer(in_order("length")) as server:
        for _ in range(2):
            model = a_model(server, path, wire)
            [reply] = ask(model, "x")
            assert isinstance(reply, Reply)
            assert reply.finish == "length"
            model.close()
    assert len(server.seen) == 1


@pytest.mark.parametrize(("asked", "most", "least"), [("0.3", 5.0, 0.3), ("30", 0.2, 0.2)])
@both_wires
def test_retry_after_is_kept_up_to_the_longest_wait(
    path: Path, wire: str, asked: str, most: float, least: float
) -> None:
    with FaultServer(in_order(f"429 {asked}", "ok")) as server:
        retry = {"attempts": 2, "first_wait_s": 0.001, "max_wait_s": most}
        assert isinstance(ask(a_model(server, path, wire, retry=retry), "x")[0], Reply)
    first, second = server.seen
    assert least <= second.at - first.at < 10


@both_wires
def test_of_500_calls_with_one_in_five_failing_none_is_lost_or_made_twice(path: Path, wire: str) -> None:
    chance = random.Random(1)
    served: list[str] = []

    def script(number: int, text: str) -> str:
        if chance.random() < 0.2:
            return chance.choice(["429", "429 0", "500", "503", "529"])
        served.append(text)
        return "ok"

    texts = [f"question {number}" for number in range(500)]
    with FaultServer(script) as server:
        model = a_model(server, path, wire, retry={**SETTINGS["retry"], "attempts": 10})
        replies: list[Reply | BaseException] = []
        for start in range(0, 500, 100):
            replies += ask(model, *texts[start : start + 100])
        model.close()
    assert replies == [Reply(f"answer to {text}", Usage(1, 10, 5, None)) for text in texts]
    assert sorted(served) == sorted(texts)
    assert 550 < len(server.seen) < 700
    db = connect(path, create=False)
    [spent] = report.spend(db, path, "model")
    assert (spent.done, spent.failed, spent.in_doubt, spent.resent) == (500, 0, 0, 0)
    assert spent.attempts == len(server.seen)
    assert (spent.input_tokens, spent.output_tokens) == (5000, 2500)


def test_one_question_asked_at_once_by_many_is_sent_once(path: Path) -> None:
    with FaultServer(in_order("ok"), latency_s=0.1) as server:
        assert ask(a_model(server, path), *["x"] * 20) == [Reply("answer to x", Usage(1, 10, 5, None))] * 20
    assert len(server.seen) == 1


def test_a_waiter_takes_over_when_the_first_fails(path: Path) -> None:
    with FaultServer(in_order("400", "ok"), latency_s=0.1) as server:
        outcomes = ask(a_model(server, path), "x", "x")
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["ModelError", "Reply"]
    assert len(server.seen) == 2


RERUN = """
import asyncio, json, sys
class Blocked:
    def find_spec(self, name, *rest):
        if name.split(".")[0] in ("litellm", "openai"):
            raise AssertionError(f"{name} was imported")
sys.meta_path.insert(0, Blocked())
import test_api_models as t
model = t.LitellmModel(**json.loads(sys.argv[1]))
print(t.ask(model, *sys.argv[2:]))
"""


def in_another_process(script: str, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    search = os.pathsep.join([str(STAGES), str(Path(__file__).parent)])
    everything = {**os.environ, "PYTHONPATH": search, **environ}
    command = [sys.executable, "-c", script, *arguments]
    return subprocess.run(command, env=everything, text=True, capture_output=True, timeout=120, check=False)


def test_a_rerun_sends_nothing_imports_no_litellm_and_needs_no_key(path: Path) -> None:
    with FaultServer(in_order("ok")) as server:
        model = a_model(server, path)
        replies = ask(model, "x", "y")
        model.close()
        settings = json.dumps({**SETTINGS, "api_base": server.url, "ledger": str(path)})
        rerun = in_another_process(RERUN, settings, "x", "y", TOY_KEY="")
        unknown = in_another_process(RERUN, settings, "z")
    assert rerun.stdout.strip() == str(replies), rerun.stderr
    assert "litellm was imported" in unknown.stdout + unknown.stderr  # the block works
    assert len(server.seen) == 2


def test_litellm_is_loaded_without_a_look_at_the_network() -> None:
    script = """
import socket
def refuse(*args, **kwargs): raise SystemExit(f"looked up {args}")
socket.getaddrinfo = socket.socket.connect = refuse
from skillpipe.models.api import litellm_model
print(len(litellm_model.load().model_cost) > 1000)
"""
    loaded = in_another_process(script)
    assert loaded.stdout.strip() == "True", loaded.stderr


@both_wires
def test_a_missing_key_is_refused_by_name_before_anything_is_sent(
    path: Path, wire: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TOY_KEY")
    with FaultServer(in_order("ok")) as server:
        [error] = ask(a_model(server, path, wire), "x")
    assert isinstance(error, SkillpipeError)
    assert "TOY_KEY" in str(error)
    assert "export TOY_KEY=" in str(error)
    assert server.seen == []
    assert rows(path) == []


def test_an_auth_error_names_provider_variable_and_fix(path: Path) -> None:
    with FaultServer(in_order("401")) as server:
        [error] = ask(a_model(server, path), "x")
    wanted = "openai refused the key in TOY_KEY: put a valid key into that variable (HTTP 401)"
    assert str(error).startswith(wanted)


@both_wires
def test_the_usual_key_is_not_sent_elsewhere(path: Path, wire: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "the-users-own-openai-key")
    with FaultServer(in_order("ok")) as server:
        ask(a_model(server, path, wire, api_key_env=None), "x")
    assert "own-openai" not in str(server.seen[0].headers)


PLANTED = {
    "in a 401": f"401 {KEY}",
    "in a 400": f"400 headers were {{'Authorization': 'Bearer {KEY}'}} for https://u:{KEY}@host/?key={KEY}",
    "another's key": "400 you sent sk-other-0123456789abcdef",
}


@pytest.mark.parametrize("fault", PLANTED.values(), ids=PLANTED.keys())
@both_wires
def test_no_key_reaches_an_error_a_log_or_the_ledger(
    path: Path, wire: str, fault: str, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    with FaultServer(in_order(fault)) as server:
        model = a_model(server, path, wire)
        [error] = ask(model, f"what is {KEY}?")
        model.close()
    assert isinstance(error, ModelError)
    printed = capfd.readouterr()
    told = "".join(traceback.format_exception(error)) + printed.out + printed.err + caplog.text
    told += "".join(file.read_bytes().decode("latin1") for file in path.parent.rglob("*") if file.is_file())
    assert KEY not in told
    assert "sk-other" not in told
    assert server.seen[0].headers["authorization"] == f"Bearer {KEY}"
    assert server.seen[0].text == f"what is {KEY}?"


@both_wires
def test_a_reply_that_repeats_the_key_is_the_same_fresh_and_from_the_ledger(path: Path, wire: str) -> None:
    with FaultServer(in_order("ok")) as server:
        model = a_model(server, path, wire)
        fresh, known = ask(model, f"tell {KEY}"), ask(model, f"tell {KEY}")
    assert fresh == known == [Reply("answer to tell [secret]", Usage(1, 10, 5, None))]
    assert len(server.seen) == 1


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


REPLY_SCHEMA = {"type": "object", "properties": {"edits": {"type": "array"}}}


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


async def cancelled_after(model: Model, seconds: float) -> float:
    """Start a call, cancel it, and return how long it took to end."""
    task = asyncio.ensure_future(model.complete(a_request("x")))
    await asyncio.sleep(seconds)
    begin = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    return time.monotonic() - begin


@pytest.fixture
def loaded(path: Path) -> None:
    """litellm, imported: what is timed below is not its import."""
    with FaultServer(in_order("ok")) as server:
        ask(a_model(server, path.with_name("other.sqlite")), "x")


@pytest.mark.usefixtures("loaded")
@both_wires
def test_a_cancelled_call_keeps_an_answer_that_is_on_its_way(path: Path, wire: str) -> None:
    with FaultServer(in_order("ok"), latency_s=0.4) as server:
        model = a_model(server, path, wire)
        assert asyncio.run(cancelled_after(model, 0.2)) < 1
        assert ask(model, "x") == [Reply("answer to x", Usage(1, 10, 5, None))]
    assert len(server.seen) == 1


@pytest.mark.usefixtures("loaded")
@both_wires
def test_a_cancelled_call_without_an_answer_ends_soon_and_is_in_doubt(path: Path, wire: str) -> None:
    with FaultServer(in_order("hang")) as server:
        model = a_model(server, path, wire, on_doubt="stop")
        assert asyncio.run(cancelled_after(model, 0.2)) < 2
        assert (rows(path)[0]["state"], rows(path)[0]["owner"]) == ("reserved", "")
        assert isinstance(ask(model, "x")[0], InDoubt)
    assert len(server.seen) == 1


@pytest.mark.usefixtures("loaded")
def test_a_call_cancelled_between_two_tries_is_not_in_doubt(path: Path) -> None:
    with FaultServer(in_order("500", "ok")) as server:
        retry = {"attempts": 2, "first_wait_s": 60.0, "max_wait_s": 60.0}
        model = a_model(server, path, on_doubt="stop", retry=retry)
        assert asyncio.run(cancelled_after(model, 0.3)) < 1
        assert rows(path)[0]["error_class"] == "cancelled"
        assert isinstance(ask(model, "x")[0], Reply)


KILLED = """
import sys
import test_api_models as t
model = t.a_model(None, sys.argv[1], "chat", api_base=sys.argv[2])
for start in range(0, 200, 20):
    replies = t.ask(model, *[f"q{number}" for number in range(start, start + 20)])
    assert all(isinstance(reply, t.Reply) for reply in replies), replies
"""


def test_a_killed_run_pays_again_for_no_more_than_was_under_way(path: Path) -> None:
    chance, kills = random.Random(2), 6
    texts = [f"q{number}" for number in range(200)]
    search = os.pathsep.join([str(STAGES), str(Path(__file__).parent)])
    with FaultServer(in_order("ok"), latency_s=0.05) as server:
        command = [sys.executable, "-c", KILLED, str(path), server.url]
        for _ in range(kills):
            enough = len(server.seen) + chance.randint(3, 35)
            child = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": search})
            while len(server.seen) < enough and child.poll() is None:
                time.sleep(0.001)
            child.kill()
            child.wait()
        final = ask(a_model(server, path, "chat"), *texts)
    assert final == [Reply(f"answer to {text}", Usage(1, 10, 5, None)) for text in texts]
    again = len(server.seen) - 200
    assert 0 < again <= kills * 20
    assert max(server.asked.values()) <= 1 + kills
    db = connect(path, create=False)
    [spent] = report.spend(db, path, "model")
    assert spent.done == 200
    assert again <= spent.resent <= kills * 20  # a call can be written down and not yet have left


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


@both_wires
def test_a_reply_that_no_file_can_hold_is_made_writable(path: Path, wire: str) -> None:
    with FaultServer(in_order("surrogate")) as server:
        [reply] = ask(a_model(server, path, wire), "x")
    assert isinstance(reply, Reply)
    assert reply.text == "half \ufffd pair"


def test_nothing_is_opened_before_the_first_request(path: Path) -> None:
    model = a_model(None, path)
    model.close()
    assert not path.exists()


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
import test_api_models as t
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
