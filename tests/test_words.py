"""The word-guessing example: its data are what their generator says, and the game is played as stated."""

import asyncio
import importlib
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import skyrl_gym
import yaml

from skillpipe import config
from skillpipe.records import Rollout
from skyrl_toys import Says

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "data" / "words"
SPLITS = ("train", "val", "test")
PERU = {"answer": "Lima", "choices": ["Oslo", "Lima", "Riga"], "max_turns": 3}


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.syspath_prepend(str(ROOT))


def rows(split: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / f"{split}.jsonl").read_text("utf-8").splitlines()]


def game() -> skyrl_gym.Env:
    importlib.import_module("data.words.words")
    return skyrl_gym.make("words", env_config={}, extras=PERU)


def played(*guesses: str) -> Rollout:
    """The first train task, Lima, by a target that guesses so."""
    environment = config.build(yaml.safe_load((ROOT / "conf/env/skyrl.yaml").read_text("utf-8"))["env"], "env")
    return asyncio.run(environment.run(environment.tasks("train")[0], "", Says(*guesses)))


def test_the_generator_writes_the_same_bytes(tmp_path):
    subprocess.run([sys.executable, FOLDER / "make.py", tmp_path], check=True)
    for split in SPLITS:
        assert (tmp_path / f"{split}.jsonl").read_bytes() == (FOLDER / f"{split}.jsonl").read_bytes()


@pytest.mark.parametrize(("split", "each"), [("train", 15), ("val", 10), ("test", 15)])
def test_each_kind_has_a_third_of_each_split(split, each):
    assert Counter(row["task_type"] for row in rows(split)) == {"capital": each, "past": each, "plural": each}


def test_no_word_or_clue_crosses_from_one_split_into_another():
    words = {split: {word for row in rows(split) for word in (row["input"], *row["choices"])} for split in SPLITS}
    assert not words["train"] & words["val"]
    assert not words["test"] & (words["train"] | words["val"])


def test_the_answer_is_one_of_three_different_choices():
    assert all(row["answer"] in row["choices"] and len(set(row["choices"])) == 3 for s in SPLITS for row in rows(s))


@pytest.mark.parametrize(
    ("guesses", "reward", "hard"),
    [(["Lima"], 0.9, 1), (["x", " lima.\n"], 0.8, 1), (["x", "x", "Lima"], 0.7, 1), (["x", "x", "x"], -0.3, 0)],
)
def test_an_episode_earns_a_word_less_its_guesses(guesses, reward, hard):
    rollout = played(*guesses)
    assert rollout.metrics["reward"] == pytest.approx(reward)
    assert rollout.hard == hard


def test_each_reward_is_a_metric_of_its_own_added_up_over_the_turns():
    metrics = played("x", "Lima").metrics
    assert metrics == pytest.approx({"solved": 1.0, "guess": -0.2, "reward": 0.8, "turns": 2})


@pytest.mark.parametrize(
    ("second", "left"), [("x", "Oslo or Lima"), ("oslo", "Lima or Riga"), ("Riga", "Oslo or Lima")]
)
def test_a_wrong_guess_is_answered_with_the_choices_and_then_with_two_that_were_not_guessed(second, left):
    playing = game()
    hints = [playing.step(guess)["observations"][0]["content"] for guess in ("Rome", second, "x")]
    assert hints == ["Wrong. Is it Oslo, Lima or Riga?\nWord:", f"Wrong. Is it {left}?\nWord:", "Wrong. It was Lima."]


def test_a_game_that_is_over_takes_no_guess_until_it_begins_again():
    with game() as playing:
        assert playing.step("Lima")["done"]
        with pytest.raises(RuntimeError, match="the game is over"):
            playing.step("Lima")
        playing.init([])
        assert playing.step("x")["metadata"] == {"turns": 1}


def test_a_sentence_with_the_word_in_it_is_no_guess():
    assert game().step("It is Lima")["reward"] == -0.1
