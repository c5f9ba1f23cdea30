"""One question to the target and what became of it: for environments whose tasks are one message."""

from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic

from skillpipe.errors import SkillpipeError
from skillpipe.models import Model, ModelError, Request
from skillpipe.records import Message, Rollout, RolloutStatus, Task, Usage
from skillpipe.scoring import Score


@dataclass(frozen=True)
class Said:
    """What the target said to one task.

    `failure` says why there is no answer, and is empty if there is one. `cut` tells that the token limit ended the
    answer. `seconds` is how long the call took, waiting included; an answer that the ledger knew takes none.
    """

    trajectory: tuple[Message, ...]
    usage: Usage
    failure: str = ""
    cut: bool = False
    seconds: float = 0.0

    @property
    def response(self) -> str:
        """The answer as the target gave it; empty if there is none."""
        return self.trajectory[-1].content if self.trajectory[-1].role == "assistant" else ""


@dataclass(frozen=True)
class Outcome:
    """How an attempt ended. `score` is None exactly where the status has none (infra_error, judge_error, skipped)."""

    status: RolloutStatus
    score: Score | None
    reason: str
    metrics: dict[str, float] = field(default_factory=dict)
    judge_usage: Usage = field(default_factory=Usage)


async def ask(task: Task, skill: str, target: Model) -> Said:
    """Send the skill as system message and the task's input as user message. SkillpipeError is raised."""
    asked = Message("user", task.input)
    begun = monotonic()
    try:
        reply = await target.complete(Request((Message("system", skill), asked)))
    except ModelError as error:
        return Said((asked,), Usage(calls=1), failure=str(error) or "the call failed, and does not say why")
    answer = Message("assistant", reply.text)
    return Said((asked, answer), reply.usage, cut=reply.finish == "length", seconds=monotonic() - begun)


def rollout(task: Task, said: Said, outcome: Outcome) -> Rollout:
    """The record of an attempt. A reason to fail tells that the answer was cut, if it was."""
    hard, soft = (outcome.score.hard, outcome.score.soft) if outcome.score else (None, None)
    cut = said.cut and bool(outcome.reason)
    return Rollout(
        task=task.id,
        task_type=task.task_type,
        status=outcome.status,
        hard=hard,
        soft=soft,
        reason=f"cut by the token limit; {outcome.reason}" if cut else outcome.reason,
        expected=task.answer,
        trajectory=said.trajectory,
        usage=said.usage,
        metrics=outcome.metrics,
        reference=task.reference,
        judge_usage=outcome.judge_usage,
    )


async def attempt(task: Task, skill: str, target: Model, scorer: Callable[[str, str], Score]) -> Rollout:
    """Ask, and score the answer against the task's. A call that failed is infra_error, a scorer that raised
    judge_error: both without a score. A SkillpipeError of either is raised."""
    said = await ask(task, skill, target)
    if said.failure:
        return rollout(task, said, Outcome("infra_error", None, said.failure))
    try:
        score = scorer(said.response, task.answer)
        if not isinstance(score, Score):
            raise TypeError(f"it returned {score!r}, a scorer returns a Score")
    except SkillpipeError:
        raise
    except Exception as error:  # a user's scorer: this task has no score, the run goes on and counts it
        return rollout(task, said, Outcome("judge_error", None, f"scorer: {type(error).__name__}: {error}"))
    return rollout(task, said, Outcome("passed" if score.hard == 1 else "failed", score, score.reason))
