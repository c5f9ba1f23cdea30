"""A toy model for tests of the model optimizer: it says what the test tells it to, and keeps what it was asked."""

import asyncio
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from skillpipe.models import Reply, Request
from skillpipe.optimizers.model import ModelOptimizer
from skillpipe.records import Edit, EditOutcome, Memory, Observation, StepMemory, Usage

PROMPTS = Path(__file__).resolve().parents[1] / "prompts"
SKILL = "---\nname: toy\ndescription: A toy.\n---\n# Toy\n\nUse {{braces}} well.\n"

CALL = Usage(1, 100, 10, 0.5)
NO_MEMORY = Memory()
NOTHING: dict[str, Any] = {"reasoning": "all is well", "edits": []}

Said = str | dict[str, Any] | Reply | Exception


class Scripted:
    """Answers in turn from a list, or by a function of the request. Every call uses CALL."""

    def __init__(self, *said: Said, by: Callable[[Request], Said] | None = None) -> None:
        self._said, self._by = list(said), by
        self.requests: list[Request] = []

    async def complete(self, request: Request) -> Reply:
        self.requests.append(request)
        said = self._by(request) if self._by else self._said.pop(0)
        if isinstance(said, Exception):
            raise said
        if isinstance(said, Reply):
            return said
        return Reply(said if isinstance(said, str) else json.dumps(said), CALL)

    def close(self) -> None:
        pass

    @property
    def prompts(self) -> list[str]:
        """The last message of each request."""
        return [request.messages[-1].content for request in self.requests]


class Crowded(Scripted):
    """Answers nothing until `size` requests are under way, then the latest first; counts the most there ever were.

    `cancelled` counts those that were broken off.
    """

    def __init__(self, size: int, by: Callable[[Request], Said]) -> None:
        super().__init__(by=by)
        self._size = size
        self._waiting: list[asyncio.Event] = []
        self.most = self.cancelled = 0
        self._met = False

    async def complete(self, request: Request) -> Reply:
        turn = asyncio.Event()
        self._waiting.append(turn)
        self.most = max(self.most, len(self._waiting))
        if len(self._waiting) == self._size or (self._met and len(self._waiting) == 1):
            self._met = True
            turn.set()
        try:
            await asyncio.wait_for(turn.wait(), 30)  # only a failing test waits: for a crowd that never gathers
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        reply = await super().complete(request)
        self._waiting.remove(turn)
        if self._waiting:
            self._waiting[-1].set()
        return reply


def optimizer(model: Scripted, **changes: Any) -> ModelOptimizer:
    settings = {
        "prompts": str(PROMPTS),
        "minibatch_size": 2,
        "merge_batch_size": 2,
        "trajectory_tokens": 10_000,
        "reflect_on": "both",
        "update_mode": "patch",
        "execution_notes": False,
        "max_concurrency": 8,
    }
    return ModelOptimizer(model, **(settings | changes))


def by_title(**said: list[Said]) -> Callable[[Request], Said]:
    """For `by`: answers in turn to each prompt, named by the first word of its title (correct, strengthen, ...)."""
    return lambda request: said[request.messages[1].content.split()[1].lower()].pop(0)


def proposal(*edits: Any, reasoning: str = "why") -> dict[str, Any]:
    """A reply to a reflection."""
    return {"reasoning": reasoning, "edits": list(edits)}


def rule(content: str = "- be brief", tasks: Sequence[str] = ("t1",), **fields: Any) -> dict[str, Any]:
    """An edit as a model writes it."""
    return {"op": "append", "content": content, "tasks": list(tasks), **fields}


def part(prompt: str, tag: str) -> str:
    """What stands between the last such tags of a prompt."""
    return prompt.rpartition(f"\n<{tag}>\n")[2].partition(f"\n</{tag}>")[0]


def proposals(prompt: str) -> list[str]:
    """The contents of the proposals that a request shows, in order."""
    return [line.split('"content": "')[1].split('"')[0] for line in part(prompt, "proposals").split("\n")]


def remembered(
    *edits: Edit,
    step: str = "e1s1",
    action: str = "reject",
    scores: tuple[float | None, float | None] = (0.5, 0.25),
    refused: Sequence[EditOutcome] = (),
    patterns: Sequence[Observation] = (),
) -> StepMemory:
    """A step in which 9 of 15 attempts failed, as the memory keeps it."""
    return StepMemory(step, action, *scores, 15, 9, tuple(patterns), edits, tuple(refused))
