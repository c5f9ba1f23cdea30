"""Bind SkyRL environments and their reward functions with decorators.

    from skillpipe.skyhook import env

    @env.words                      # registers the class with skyrl_gym under the id "words"
    class Words(BaseTextEnv): ...

    @env.words.reward               # one part of its reward, under the function's name
    def solved(game, action): ...

    env.words.sum_rewards(self, action)     # in Words.step: all parts, added up

Nothing is wrapped, replaced or given a base class. Registration belongs to this process: import the module of an
environment wherever it is made (envs/skyrl.py does so for the modules that it is given). The statements come from the
description of Skyhook, https://github.com/LazaroHurtado/skyhook; docs/skyrl.md says where this differs.
"""

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any, TypeVar

from skillpipe.errors import SkillpipeError


class MissingExtra(SkillpipeError, ImportError):
    """A package of an extra is not installed."""


try:
    import skyrl_gym
except ImportError as error:
    raise MissingExtra(
        f"skillpipe.skyhook: SkyRL Gym cannot be imported ({error}): pip install 'skillpipe[skyrl]' (in a clone: pip "
        "install -e '.[skyrl]')"
    ) from error

Reward = Callable[..., Any]

AnyReward = TypeVar("AnyReward", bound=Reward)
AnyClass = TypeVar("AnyClass", bound=type)

# What `recorded` listens with: an entry per call of any sum_rewards in this context, name -> value.
_record: ContextVar[list[dict[str, Any]] | None] = ContextVar("skyhook_record", default=None)


class Binding:
    """One environment id: the class that is registered under it, and its rewards."""

    def __init__(self, env_id: str) -> None:
        self._id = env_id
        self._rewards: dict[str, Reward] = {}

    def __call__(self, environment: AnyClass) -> AnyClass:
        """Register a class with skyrl_gym under this id; returns the same class, unchanged.

        Raises TypeError for anything but a subclass of skyrl_gym.Env, and skyrl_gym's RegistrationError for an id
        that is taken: the first class stays.
        """
        if not (isinstance(environment, type) and issubclass(environment, skyrl_gym.Env)):
            raise TypeError(f"env[{self._id!r}]: {environment!r} found; only a subclass of skyrl_gym.Env is allowed")
        skyrl_gym.register(self._id, entry_point=environment)
        return environment

    def reward(self, function: AnyReward, *, name: str | None = None) -> AnyReward:
        """Register a reward under its own name or `name`; returns the same callable.

        Raises TypeError for what is not callable, is asynchronous or has no name that is a str, and ValueError for
        a name that is blank or taken in this environment; the rewards are then as they were.
        """
        if not callable(function):
            raise TypeError(f"env[{self._id!r}].reward: {function!r} is not callable")
        if _is_async(function):
            raise TypeError(f"env[{self._id!r}].reward: {function!r} is asynchronous; rewards must be synchronous")
        key = getattr(function, "__name__", None) if name is None else name
        if not isinstance(key, str):
            found = f"{function!r} has no name" if name is None else f"name is {name!r}"
            raise TypeError(f"env[{self._id!r}].reward: {found}; give one: reward(function, name='bonus')")
        if not key.strip():
            raise ValueError(f"env[{self._id!r}].reward: name is {key!r}; it must not be blank")
        if key in self._rewards:
            raise ValueError(f"env[{self._id!r}].reward: {key!r} is registered already; choose another name")
        self._rewards[key] = function
        return function

    @property
    def rewards(self) -> Mapping[str, Reward]:
        """The registered callables by name, in the order of registration: a live view that cannot be written to."""
        return MappingProxyType(self._rewards)

    def sum_rewards(self, /, *args: Any, **kwargs: Any) -> Any:
        """Call each reward once with these arguments, in the order of registration, and add up with sum().

        The rewards are those registered when the call begins; without any, the sum is the integer 0. Whatever a
        reward or the addition raises goes on to the caller, and no later reward is called. Nothing is converted,
        rounded or checked. A coroutine as a result is closed, never awaited, and raises TypeError.
        """
        results: dict[str, Any] = {}
        for name, function in tuple(self._rewards.items()):
            result = function(*args, **kwargs)
            if inspect.iscoroutine(result):
                result.close()
                raise TypeError(f"env[{self._id!r}]: reward {name!r} returned a coroutine; rewards must be synchronous")
            results[name] = result
        listener = _record.get()
        if listener is not None:
            listener.append(results)
        return sum(results.values())


class Bindings:
    """Every environment id has its one binding, made when it is first asked for: env.name, or env["any-name-v0"]."""

    def __init__(self) -> None:
        self._by_id: dict[str, Binding] = {}

    def __getitem__(self, env_id: str) -> Binding:
        """Raises TypeError for an id that is not a str, ValueError for one that is blank."""
        if not isinstance(env_id, str):
            raise TypeError(f"env[{env_id!r}]: {type(env_id).__name__} found; an environment id is a str")
        if not env_id.strip():
            raise ValueError(f"env[{env_id!r}]: an environment id must not be blank")
        return self._by_id.setdefault(env_id, Binding(env_id))

    def __getattr__(self, env_id: str) -> Binding:
        """Names with a leading underscore are Python's own, and no ids here: env["_x"] is."""
        if env_id.startswith("_"):
            raise AttributeError(f"env has no attribute {env_id!r}; an environment of that id is env[{env_id!r}]")
        return self[env_id]


@contextmanager
def recorded() -> Iterator[list[dict[str, Any]]]:
    """The results, by name, of each call of sum_rewards that is made while the block lasts, oldest first.

    It hears the calls of its own context alone: this asyncio task and the threads that asyncio.to_thread gives it,
    so that many episodes can be under way at once. A thread that an environment starts itself is not heard, and
    neither is a reward that is looked up in `rewards` and called there: those are the bare functions.
    """
    results: list[dict[str, Any]] = []
    token = _record.set(results)
    try:
        yield results
    finally:
        _record.reset(token)


def _is_async(function: Reward) -> bool:
    """Whether calling it gives a coroutine or an asynchronous generator, as far as can be told without a call."""
    while isinstance(function, functools.partial):
        function = function.func
    forms = (function, getattr(type(function), "__call__", None))  # noqa: B004 - the method itself is wanted
    return any(inspect.iscoroutinefunction(form) or inspect.isasyncgenfunction(form) for form in forms)


env = Bindings()
