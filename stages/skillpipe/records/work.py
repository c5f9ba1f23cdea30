"""What is done and what it is worth: tasks, attempts, scores, usage. Nothing but data."""

from dataclasses import dataclass, field
from typing import Literal

Split = Literal["train", "val", "test"]
RolloutStatus = Literal["passed", "failed", "judge_error", "infra_error"]

SPLITS: tuple[Split, ...] = ("train", "val", "test")


@dataclass(frozen=True)
class Message:
    """One message of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class Usage:
    """What model calls used: number of calls, tokens as the model counts them, and US dollars.

    `cost_usd` is None where a price is not known; a sum with an unknown in it is unknown.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = 0.0

    def __add__(self, other: "Usage") -> "Usage":
        unknown = self.cost_usd is None or other.cost_usd is None
        return Usage(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            None if unknown else (self.cost_usd or 0.0) + (other.cost_usd or 0.0),
        )


@dataclass(frozen=True)
class Spent:
    """What model calls used, by role."""

    target: Usage = field(default_factory=Usage)
    optimizer: Usage = field(default_factory=Usage)

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(self.target + other.target, self.optimizer + other.optimizer)


@dataclass(frozen=True)
class Task:
    """One item of work. `input` is what the target is sent, rendered; `answer` what it should say.

    `id` is unique over all splits; so is `input`. `task_type` groups tasks in reports and may be empty.
    """

    id: str
    input: str
    answer: str
    task_type: str = ""


@dataclass(frozen=True)
class Rollout:
    """One attempt at one task.

    `hard` and `soft` are in [0, 1], higher is better, and None unless status is passed or failed: what could not be
    run or judged is missing data, not a zero. `reason` says why it was not passed. `expected` is the task's answer.
    `trajectory` leaves out the system message, which is the skill.
    """

    task: str
    task_type: str
    status: RolloutStatus
    hard: float | None
    soft: float | None
    reason: str
    expected: str
    trajectory: tuple[Message, ...]
    usage: Usage


@dataclass(frozen=True)
class ValScore:
    """What a state keeps of one val rollout: scores and no text, so that no val text can reach an optimizer."""

    task: str
    task_type: str
    hard: float | None
    soft: float | None
