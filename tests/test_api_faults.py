"""A model behind an API: what each fault leads to. Every fault comes from a real server on the loopback address."""

import random
from pathlib import Path

import pytest

from asking import SETTINGS, a_model, ask, both_wires, rows
from fault_server import FaultServer, in_order
from skillpipe.ledger import report
from skillpipe.ledger.database import connect
from skillpipe.models import ModelError, Reply
from skillpipe.records import Usage

pytestmark = pytest.mark.usefixtures("toy_key")

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


@both_wires
def test_a_reply_that_no_file_can_hold_is_made_writable(path: Path, wire: str) -> None:
    with FaultServer(in_order("surrogate")) as server:
        [reply] = ask(a_model(server, path, wire), "x")
    assert isinstance(reply, Reply)
    assert reply.text == "half \ufffd pair"
