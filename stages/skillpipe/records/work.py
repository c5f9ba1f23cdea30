"""What is done and what it is worth: tasks, attempts, scores, usage. Nothing but data."""

from dataclasses import dataclass, field
from typing import Any, Literal

Split = Literal["train", "val", "test"]
RolloutStatus = Literal["passed", "failed", "skipped", "timeout", "judge_error", "infra_error"]

SPLITS: tuple[Split, ...] = ("train", "val", "test")


@dataclass(frozen=True)
class Message:
    """One message of a conversation. `tool` is what a tool was asked or gave back, as the environment writes it."""

    role: Literal["system", "user", "assistant", "tool"]
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
    judge: Usage = field(default_factory=Usage)

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(self.target + other.target, self.optimizer + other.optimizer, self.judge + other.judge)


@dataclass(frozen=True)
class Task:
    """One item of work. `input` is what the target is sent, rendered; `answer` what it should say, empty where no one
    text is right.

    `id` is unique over all splits; so is `input`. `task_type` groups tasks in reports and may be empty. `reference` may
    be shown to the optimizer and never to the target. `data` is the environment's own: any JSON object.
    """

    id: str
    input: str
    answer: str
    task_type: str = ""
    reference: str = ""
    data: dict[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Rollout:
    """One attempt at one task.

    `hard` and `soft` are in [0, 1], higher is better, and None unless status is passed, failed or timeout (the target
    took too long: its failure): what could not be run or judged is missing data, not a zero. `skipped` was not needed.
    `reason` says why it was not passed. `expected` is the task's answer, `reference` its reference. `trajectory` leaves
    out the system message, which is the skill. `usage` is the target's, `judge_usage` that of a model that judged.
    `replicate` numbers the attempts at one task, from 0. `metrics` are the environment's own figures.
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
    replicate: int = 0
    metrics: dict[str, float] = field(default_factory=dict, hash=False)
    reference: str = ""
    judge_usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True)
class SplitManifest:
    """Where tasks came from and how they were cut into splits. `seed` is None where nothing was shuffled.

    `mode` is own (the environment says no more), dir (each split stands by itself), ratio or head; `cut` is what was
    asked for, such as 2:1:7. The three counts are of tasks.
    """

    source: str
    mode: Literal["own", "dir", "ratio", "head"]
    cut: str
    seed: int | None
    train: int
    val: int
    test: int


@dataclass(frozen=True)
class ValScore:
    """What a state keeps of one val task: scores and no text, so that no val text can reach an optimizer.

    Scores are means over the task's repeats that have one; None where none has.
    """

    task: str
    task_type: str
    hard: float | None
    soft: float | None
