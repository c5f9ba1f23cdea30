"""The embedded model in a conversation of several turns: the real engine and the real file."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from skillpipe.models import Reply, Request
from skillpipe.models.llamacpp import LlamaCpp, find_model, load_engine
from skillpipe.records import Message

CONF = Path(__file__).resolve().parents[1] / "conf" / "target" / "embedded.yaml"
SKILL = "Guess the word.\n\nClue: the past tense of go\nWord: went\n\nClue: the plural of box\nWord: boxes"


class Heard:
    """The engine, and the prompts that it was sent."""

    def __init__(self, engine: Any) -> None:
        self.engine, self.prompts = engine, []

    def handle_completions(self, sent: dict[str, Any]) -> dict[str, Any]:
        self.prompts.append(sent["prompt"])
        return self.engine.handle_completions(sent)


@pytest.fixture(scope="module")
def model() -> Iterator[LlamaCpp]:
    settings = yaml.safe_load(CONF.read_text("utf-8"))["target"]
    model = LlamaCpp(**{key: settings[key] for key in settings if key not in ("_target_", "source")}, threads=1)
    path = find_model(settings["package"], settings["file"], settings["sha256"])
    model._server = Heard(load_engine(path, settings["n_ctx"], 1))
    yield model
    model.close()


def reply(model: LlamaCpp, *said: tuple[str, str]) -> Reply:
    messages = (Message("system", SKILL), *(Message(role, text) for role, text in said))
    return asyncio.run(model.complete(Request(messages)))


def test_an_earlier_reply_stands_behind_what_it_answered_as_in_a_worked_example(model):
    turns = ("user", "Clue: the plural of box\nWord:"), ("assistant", " boxer\n"), ("user", "Wrong, not boxer.\nWord:")
    as_one = "Clue: the plural of box\nWord: boxer\n\nWrong, not boxer.\nWord:"
    found = reply(model, *turns)
    assert model._server.prompts[-1] == f"{SKILL}\n\n{as_one}"
    assert found == reply(model, ("user", as_one))
    assert found.usage.input_tokens > reply(model, turns[0]).usage.input_tokens + 5


def test_an_empty_reply_leaves_no_trace(model):
    turns = ("user", "Clue: the past tense of eat\nWord:"), ("assistant", " \n"), ("user", "Wrong.\nWord:")
    reply(model, *turns)
    assert model._server.prompts[-1] == f"{SKILL}\n\nClue: the past tense of eat\nWord:\n\nWrong.\nWord:"


def test_what_was_said_before_decides_the_answer(model):
    first = ("user", "Clue: the past tense of sing\nWord:")
    answer = reply(model, first)
    hint = ("user", "Wrong. Is it walked or swam?\nWord:")
    assert reply(model, first, ("assistant", answer.text), hint).text != answer.text
