"""The environment: tasks from rows, an episode per task, the summed reward as its score."""

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import skyrl_gym
from omegaconf import OmegaConf

from skillpipe.artifacts import read_jsonl
from skillpipe.envs import Calls
from skillpipe.envs.skyrl import calls, rows
from skillpipe.errors import SkillpipeError
from skillpipe.models import Model, ModelError, Request
from skillpipe.records import Message, Rollout, RolloutStatus, Split, Task, Usage
from skillpipe.scoring import Score
from skillpipe.skyhook import recorded

# Sums of rewards such as 0.1 miss the end of their range by a few bits.
TOLERANCE = 1e-9


class SkyRL:
    """Plays one episode of a registered SkyRL Gym environment per task.

    The skill is the system message; what the environment says are user messages; the target's replies are actions.
    The episode ends when the environment is done, or after `max_turns` replies. Its score is the sum R of the steps'
    rewards: hard is 1 if R is at least `pass_at`, else 0, and soft where R lies in `reward_range`, in [0, 1].

    An exception of the environment, and an R that is not in the range, are a judge_error: no score. Metrics are the sum
    ("reward"), the sum of each reward that skillpipe.skyhook adds up, by its name, and the numbers of the environment's
    get_metrics; in that order where names are the same, and only what is finite.

    Args:
        env_id: what the environment is registered as.
        modules: what to import before it is made, in this process: the modules that register it; none for SkyRL's own.
        data: a folder with train, val and test.jsonl; rows.py says what a row is.
        prompt: what an episode begins with, with {input} where the row's input goes.
        data_as: how a task reaches the constructor. "extras", SkyRL's way: as `extras`, a dict of the row's fields,
            the answer and max_turns. "keywords": each of the row's fields is an argument of its own.
        arguments: the constructor's other arguments, the same for each task; maps come as OmegaConf's, which SkyRL's
            environments expect of env_config.
        max_turns: most replies of an episode.
        reward_range: the least and the most that the rewards of an episode can add up to.
        pass_at: the sum that passes.
    """

    def __init__(
        self,
        *,
        env_id: str,
        modules: Sequence[str],
        data: str,
        prompt: str,
        data_as: str,
        arguments: Mapping[str, Any],
        max_turns: int,
        reward_range: Sequence[float],
        pass_at: float,
    ) -> None:
        _check(prompt, data_as, max_turns, reward_range, pass_at)
        self._code = rows.load(modules)
        if env_id not in skyrl_gym.registry:
            raise SkillpipeError(
                f"env.env_id is {env_id!r}; registered are {', '.join(sorted(skyrl_gym.registry))}; if another module "
                "registers it, name that in env.modules"
            )
        self._env_id, self._folder, self._prompt = env_id, Path(data), prompt
        self._as_extras = data_as == "extras"
        self._arguments = {key: _config(value) for key, value in arguments.items()}
        self._max_turns = max_turns
        self._low, self._high = reward_range
        self._pass_at = pass_at

    @property
    def most_calls(self) -> Calls:
        """One of the target for each turn."""
        return Calls(target=self._max_turns)

    def tasks(self, split: Split) -> list[Task]:
        path = self._folder / f"{split}.jsonl"
        if not path.is_file():
            raise SkillpipeError(f"{path}: no such file; env.data must name a folder with train, val and test.jsonl")
        return [rows.read_task(row, where, self._prompt, self._code) for where, row in read_jsonl(path)]

    async def run(self, task: Task, skill: str, target: Model) -> Rollout:
        played = _Episode()
        score: Score | None = None
        with recorded() as rewards:
            try:
                await self._play(task, skill, target, played)
                played.metrics = {**played.metrics, **calls.named_sums(rewards), "reward": played.reward}
                score = self._score(played)
            except ModelError as error:
                played.usage += Usage(calls=1)
                return _rollout(task, played, "infra_error", None, str(error))
            except calls.EnvironmentFault as error:
                return _rollout(task, played, "judge_error", None, str(error))
        return _rollout(task, played, "passed" if score.hard == 1 else "failed", score, score.reason)

    async def _play(self, task: Task, skill: str, target: Model, played: "_Episode") -> None:
        """Play to the end. Raises ModelError and EnvironmentFault; `played` then holds what was said until then."""
        here = f"env {self._env_id}"
        game = await calls.apart(here, calls.make, self._env_id, self._constructed_with(task))
        try:
            prompt = copy.deepcopy(task.data.get(rows.PROMPT, [{"role": "user", "content": task.input}]))
            played.messages += await calls.apart(f"{here}: init", calls.begin, game, prompt)
            while not played.done and played.turns < self._max_turns:
                request = Request((Message("system", skill), *played.messages))
                reply = await target.complete(request)
                played.replied(reply.text, reply.usage, reply.finish == "length")
                played.stepped(await calls.apart(f"{here}: step", calls.step, game, reply.text))
            played.metrics = await calls.apart(f"{here}: get_metrics", calls.own_metrics, game)
        finally:
            await calls.apart(f"{here}: close", game.close)

    def _constructed_with(self, task: Task) -> dict[str, Any]:
        data = {key: value for key, value in task.data.items() if key not in (rows.CODE, rows.PROMPT)}
        if self._as_extras:
            return {**self._arguments, "extras": {"answer": task.answer, **data, "max_turns": self._max_turns}}
        return {**self._arguments, **data}

    def _score(self, played: "_Episode") -> Score:
        reward, low, high = played.reward, self._low, self._high
        if not low - TOLERANCE <= reward <= high + TOLERANCE:  # false for NaN too
            raise calls.EnvironmentFault(
                f"env {self._env_id}: reward {reward:g} is not in reward_range {low:g} to {high:g}"
            )
        soft = min(1.0, max(0.0, (reward - low) / (high - low)))
        if reward >= self._pass_at - TOLERANCE:
            return Score(1.0, soft)
        reason = f"reward {reward:g}, pass_at is {self._pass_at:g}"
        reason += "" if played.done else f"; not done after {played.turns} turns"
        return Score(0.0, soft, ("cut by the token limit; " if played.cut else "") + reason)


@dataclass
class _Episode:
    """What has happened so far. `cut` says that the token limit cut the last reply."""

    messages: list[Message] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    reward: float = 0.0
    turns: int = 0
    done: bool = False
    cut: bool = False
    metrics: dict[str, float] = field(default_factory=dict)

    def replied(self, text: str, usage: Usage, cut: bool) -> None:
        self.messages.append(Message("assistant", text))
        self.usage += usage
        self.turns, self.cut = self.turns + 1, cut

    def stepped(self, step: calls.Step) -> None:
        self.messages[-1:] = [Message("assistant", step.said), *step.observations]
        self.reward, self.done = self.reward + step.reward, step.done


def _rollout(task: Task, played: _Episode, status: RolloutStatus, score: Score | None, reason: str) -> Rollout:
    hard, soft = (score.hard, score.soft) if score else (None, None)
    metrics = {name: value for name, value in played.metrics.items() if math.isfinite(value)}
    said = tuple(played.messages)
    return Rollout(
        task.id, task.task_type, status, hard, soft, reason, task.answer, said, played.usage, metrics=metrics
    )


def _config(value: Any) -> Any:
    return OmegaConf.create(dict(value)) if isinstance(value, Mapping) else value


def _check(prompt: str, data_as: str, max_turns: int, reward_range: Sequence[float], pass_at: float) -> None:
    if "{input}" not in prompt:
        raise SkillpipeError(f"env.prompt is {prompt!r}; it must hold {{input}}, where the task's input goes")
    if data_as not in ("extras", "keywords"):
        raise SkillpipeError(f"env.data_as is {data_as!r}; allowed are extras and keywords")
    if max_turns < 1:
        raise SkillpipeError(f"env.max_turns is {max_turns}; allowed is 1 or more")
    if len(reward_range) != 2 or not -math.inf < reward_range[0] < reward_range[1] < math.inf:
        raise SkillpipeError(f"env.reward_range is {list(reward_range)}; allowed are two numbers, the lower one first")
    low, high = reward_range
    if not low < pass_at <= high:
        raise SkillpipeError(f"env.pass_at is {pass_at:g}; allowed is more than {low:g}, at most {high:g}")
