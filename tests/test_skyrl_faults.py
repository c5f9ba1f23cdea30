"""envs/skyrl: what goes wrong in an episode is missing data; blocking steps run side by side."""

import asyncio
import contextlib
import threading
from collections.abc import Iterator

import pytest
import skyrl_gym

from skillpipe.errors import SkillpipeError
from skillpipe.models import ModelError
from skillpipe.records import Message, Usage
from skillpipe.skyhook import Bindings
from skyrl_toys import TASK, Game, Says, environment, play, registered


@pytest.fixture(autouse=True)
def game() -> Iterator[None]:
    with registered():
        yield


def test_a_call_that_fails_is_missing_data_and_keeps_what_was_said_and_used():
    rollout = play("a", ModelError("timed out", permanent=False))
    assert (rollout.status, rollout.hard, rollout.reason) == ("infra_error", None, "timed out")
    assert [message.content for message in rollout.trajectory] == ["Start", "a", "turn 1"]
    assert rollout.usage == Usage(2, 7, 2, 0.5)


@pytest.mark.parametrize("place", ["init", "step"])
@pytest.mark.parametrize("error", [KeyError("gone"), StopIteration("gone")])
def test_an_environment_that_raises_is_missing_data_with_place_and_error(place, error):
    rollout = play(odd={place: error})
    assert (rollout.status, rollout.hard) == ("judge_error", None)
    assert rollout.reason == f"env toy_game: {place}: {type(error).__name__}: {error}"


def test_a_constructor_that_raises_is_missing_data():
    rollout = play(arguments={"unknown": 1})
    assert rollout.status == "judge_error"
    assert "unexpected keyword argument 'unknown'" in rollout.reason


@pytest.mark.parametrize(
    "output", [{"reward": None}, {"reward": "much"}, {"observations": [{"role": "user"}]}, {"observations": [{}]}]
)
def test_what_is_no_step_is_missing_data(output):
    assert play(odd={"output": output}).status == "judge_error"


def test_an_environment_that_begins_with_no_message_is_missing_data():
    assert play(odd={"observed": []}).reason == "env toy_game: init: ValueError: no message to begin with"


def test_a_reply_is_kept_when_the_step_after_it_raises():
    rollout = play("hello", odd={"step": KeyError("gone")})
    assert rollout.trajectory[-1] == Message("assistant", "hello")
    assert rollout.usage.calls == 1


def test_what_the_user_must_mend_stops_the_run():
    with pytest.raises(SkillpipeError, match="no key"):
        play(odd={"step": SkillpipeError("no key")})


@pytest.mark.parametrize("answer", ["a", ModelError("no", permanent=True), SkillpipeError("no")])
def test_an_environment_is_closed_once_however_its_episode_ends(answer):
    with contextlib.suppress(SkillpipeError):
        play(answer)
    assert [game.closed for game in Game.made] == [1]


def test_steps_at_once_do_not_wait_for_each_other():
    met = threading.Barrier(3, timeout=30)

    class Blocking(Game):
        def step(self, action):
            met.wait()
            return super().step(action)

    Bindings()["toy_blocking"](Blocking)
    try:
        playing = environment(env_id="toy_blocking")

        async def three():
            return await asyncio.gather(*(playing.run(TASK, "", Says("a")) for _ in range(3)))

        assert [rollout.status for rollout in asyncio.run(three())] == ["passed"] * 3
    finally:
        skyrl_gym.envs.deregister("toy_blocking")


def test_a_cancelled_episode_waits_for_its_step_and_then_closes():
    begun, go_on, order = threading.Event(), threading.Event(), []

    class Slow(Game):
        def step(self, action):
            begun.set()
            go_on.wait(30)
            order.append("stepped")
            return super().step(action)

        def close(self):
            order.append("closed")

    async def broken_off():
        job = asyncio.ensure_future(environment(env_id="toy_slow").run(TASK, "", Says("a")))
        await asyncio.to_thread(begun.wait, 30)
        job.cancel()
        assert await asyncio.wait([job], timeout=0.2) == (set(), {job})
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await job

    Bindings()["toy_slow"](Slow)
    try:
        asyncio.run(broken_off())
    finally:
        skyrl_gym.envs.deregister("toy_slow")
    assert order == ["stepped", "closed"]
