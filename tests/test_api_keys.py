"""A model behind an API: its key is asked for by name, sent where it belongs, and told nobody."""

import traceback
from pathlib import Path

import pytest

from asking import KEY, a_model, ask, both_wires, rows
from fault_server import FaultServer, in_order
from skillpipe.errors import SkillpipeError
from skillpipe.models import ModelError, Reply
from skillpipe.records import Usage

pytestmark = pytest.mark.usefixtures("toy_key")


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
