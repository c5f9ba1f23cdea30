"""A toy environment of SkyRL Gym for tests, which pays what it is told to, and a target for it."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import skyrl_gym
from skyrl_gym.envs.base_text_env import BaseTextEnv

from skillpipe.envs.skyrl import SkyRL
from skillpipe.models import Reply, Request
from skillpipe.records import Rollout, Task, Usage

TASK = Task("t1", "Start", "c", "kind", data={"rewards": [0.25, 0.5, 0.25]})


class Game(BaseTextEnv):
    """Pays `rewards` in turn, and is done when they are spent. `odd` says how it misbehaves."""

    odd: ClassVar[dict[str, Any]] = {}
    made: ClassVar[list["Game"]] = []

    def __init__(self, env_config: Any = None, extras: Any = None) -> None:
        super().__init__()
        self.env_config, self.extras, self.closed = env_config, extras, 0
        self.made.append(self)

    def init(self, prompt):
        self._fail_in("init")
        return self.odd.get("observed", prompt), {}

    def step(self, action):
        self._fail_in("step")
        self.turns += 1
        rewards = self.extras["rewards"]
        step = {
            "observations": [{"role": "user", "content": f"turn {self.turns}"}],
            "reward": float(rewards[self.turns - 1]),
            "done": self.turns == len(rewards),
            "metadata": {},
        }
        return step | self.odd.get("output", {})

    def get_metrics(self):
        return self.odd.get("metrics", {})

    def close(self):
        self.closed += 1

    def _fail_in(self, place):
        if place in self.odd:
            raise self.odd[place]


class Says:
    """A target with answers in turn, the last one for ever; an exception is raised."""

    def __init__(self, *answers: Any) -> None:
        self.answers, self.requests = list(answers), []

    async def complete(self, request: Request) -> Reply:
        self.requests.append(request)
        said = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(said, Exception):
            raise said
        return said if isinstance(said, Reply) else Reply(said, Usage(1, 7, 2, 0.5))

    def close(self) -> None:
        pass


@contextmanager
def registered() -> Iterator[None]:
    """The toy, under the id toy_game."""
    Game.made.clear()
    skyrl_gym.register("toy_game", entry_point=Game)
    try:
        yield
    finally:
        skyrl_gym.envs.deregister("toy_game")


def play(*answers: Any, task: Task = TASK, odd: Any = None, **changes: Any) -> Rollout:
    return asyncio.run(environment(odd, **changes).run(task, "Be brief.", Says(*answers or ["a"])))


def environment(odd: Any = None, **changes: Any) -> SkyRL:
    Game.odd = odd or {}
    settings: dict[str, Any] = {
        "env_id": "toy_game", "modules": [], "data": "data", "prompt": "{input}", "data_as": "extras",
        "arguments": {}, "max_turns": 5, "reward_range": [-1.0, 1.0], "pass_at": 1.0,
    }  # fmt: skip
    return SkyRL(**(settings | changes))


def paid(*rewards: float) -> Task:
    return Task("t1", "Start", "c", data={"rewards": list(rewards)})
