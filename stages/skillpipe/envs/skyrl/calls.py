"""Calls into an environment: each in a thread, since it may block, and what it gives checked there."""

import asyncio
import copy
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import skyrl_gym

from skillpipe.errors import SkillpipeError
from skillpipe.records import Message

Result = TypeVar("Result")


class EnvironmentFault(Exception):
    """The environment raised, or gave what is no step: this episode has no score."""


@dataclass(frozen=True)
class Step:
    """What came of one action. `said` is the action as the environment keeps it."""

    said: str
    observations: tuple[Message, ...]
    reward: float
    done: bool


def begin(game: "skyrl_gym.Env[Any, Any]", prompt: list[dict[str, str]]) -> tuple[Message, ...]:
    """The messages that the episode begins with."""
    observations, _ = game.init(prompt)
    messages = _messages(observations)
    if not messages:
        raise ValueError("no message to begin with")
    return messages


def step(game: "skyrl_gym.Env[Any, Any]", action: str) -> Step:
    """One step."""
    output = game.step(action)
    said = output.get("postprocessed_action")
    observations = _messages(output["observations"])
    return Step(action if said is None else str(said), observations, float(output["reward"]), bool(output["done"]))


def own_metrics(game: "skyrl_gym.Env[Any, Any]") -> dict[str, float]:
    """The numbers among what the environment's get_metrics gives, if it has one."""
    metrics: Mapping[str, Any] = game.get_metrics() if hasattr(game, "get_metrics") else {}
    return {str(name): number for name, value in metrics.items() if (number := _number(value)) is not None}


def named_sums(calls: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Each reward's values added up over the calls; a reward that was no number once is left out."""
    values: dict[str, list[float | None]] = {}
    for results in calls:
        for name, value in results.items():
            values.setdefault(name, []).append(_number(value))
    return {name: sum(n for n in numbers if n is not None) for name, numbers in values.items() if None not in numbers}


async def apart(what: str, function: Callable[..., Result], *args: Any, **kwargs: Any) -> Result:
    """The function's result, computed in a thread. An exception is an EnvironmentFault that says `what` was called.

    When cancelled, it waits for the thread: an environment is never in two calls at once.
    """

    def guarded() -> Result:
        try:
            return function(*args, **kwargs)
        except SkillpipeError:
            raise
        except Exception as error:  # in the thread, since a StopIteration cannot leave it
            raise EnvironmentFault(f"{what}: {type(error).__name__}: {error}") from error

    job = asyncio.ensure_future(asyncio.to_thread(guarded))
    try:
        return await asyncio.shield(job)
    except asyncio.CancelledError:
        await asyncio.wait([job])
        job.exception()  # seen; what counts is that the episode was broken off
        raise


def make(env_id: str, arguments: Mapping[str, Any]) -> "skyrl_gym.Env[Any, Any]":
    """An instance of its own: no two share an argument that can be changed."""
    return skyrl_gym.make(env_id, **copy.deepcopy(dict(arguments)))


def _messages(observations: Any) -> tuple[Message, ...]:
    """Whatever the environment says is said by the user; an assistant's message stays one."""
    messages = []
    for observation in observations:
        role: Literal["user", "assistant"] = "assistant" if observation["role"] == "assistant" else "user"
        if not isinstance(observation["content"], str):
            raise TypeError(f"an observation's content is {observation['content']!r}, no text")
        messages.append(Message(role, observation["content"]))
    return tuple(messages)


def _number(value: Any) -> float | None:
    """A number as a float, a bool as 1 or 0; None for everything else."""
    if isinstance(value, str):
        return None
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None
