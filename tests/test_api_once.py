"""A model behind an API: no call is paid twice, whoever repeats it, gives it up or dies; nothing is opened in vain."""

import asyncio
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from asking import SETTINGS, STAGES, Model, a_model, a_request, ask, both_wires, in_another_process, rows
from fault_server import FaultServer, in_order
from skillpipe.ledger import InDoubt, Ledger, report
from skillpipe.ledger.database import connect
from skillpipe.models import Reply
from skillpipe.records import Usage
from skillpipe.secrets import Secrets

pytestmark = pytest.mark.usefixtures("toy_key")


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


def test_one_question_asked_at_once_by_many_is_sent_once(path: Path) -> None:
    with FaultServer(in_order("ok"), latency_s=0.1) as server:
        assert ask(a_model(server, path), *["x"] * 20) == [Reply("answer to x", Usage(1, 10, 5, None))] * 20
    assert len(server.seen) == 1


def test_a_waiter_takes_over_when_the_first_fails(path: Path) -> None:
    with FaultServer(in_order("400", "ok"), latency_s=0.1) as server:
        outcomes = ask(a_model(server, path), "x", "x")
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["ModelError", "Reply"]
    assert len(server.seen) == 2


@both_wires
def test_a_model_tells_how_many_calls_of_dead_processes_it_took_over_and_no_reply_does(path: Path, wire: str) -> None:
    with FaultServer(in_order("ok")) as server:
        model = a_model(server, path, wire)
        dead = Ledger(path, experiment="e", on_doubt="retry", secrets=Secrets([], {}))
        for text in ("x", "y"):
            dead.claim(model._call(a_request(text)))
        dead.close()
        assert model.doubts == 0
        assert ask(model, "x", "y", "z") == [Reply(f"answer to {text}", Usage(1, 10, 5, None)) for text in "xyz"]
    assert model.doubts == 2


RERUN = """
import asyncio, json, sys
class Blocked:
    def find_spec(self, name, *rest):
        if name.split(".")[0] in ("litellm", "openai"):
            raise AssertionError(f"{name} was imported")
sys.meta_path.insert(0, Blocked())
import asking as t
model = t.LitellmModel(**json.loads(sys.argv[1]))
print(t.ask(model, *sys.argv[2:]))
"""


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
import asking as t
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


def test_nothing_is_opened_before_the_first_request(path: Path) -> None:
    model = a_model(None, path)
    model.close()
    assert not path.exists()
