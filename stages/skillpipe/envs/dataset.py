"""Tasks from a folder of JSONL files: one prompt, one answer, one scorer."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from skillpipe.artifacts import read_jsonl
from skillpipe.errors import SkillpipeError
from skillpipe.models import Model, ModelError, Request
from skillpipe.records import Message, Rollout, RolloutStatus, Split, Task, Usage
from skillpipe.scoring import Score


class Dataset:
    """A question and its answer per line: `id`, `input`, `answer`, optional `task_type`; other fields are left alone.

    `prompt` is what the target is sent, with {input} where the line's input goes. The skill is the system message.
    """

    def __init__(self, data: str, prompt: str, scorer: Callable[[str, str], Score]) -> None:
        if "{input}" not in prompt:
            raise SkillpipeError(f"env.prompt is {prompt!r}; it must hold {{input}}, where the task's input goes")
        self._folder = Path(data)
        self._prompt = prompt
        self._scorer = scorer

    def tasks(self, split: Split) -> list[Task]:
        path = self._folder / f"{split}.jsonl"
        if not path.is_file():
            raise SkillpipeError(f"{path}: no such file; env.data must name a folder with train, val and test.jsonl")
        return [self._task(value, where) for where, value in read_jsonl(path)]

    async def run(self, task: Task, skill: str, target: Model) -> Rollout:
        asked = Message("user", task.input)
        try:
            reply = await target.complete(Request((Message("system", skill), asked)))
        except ModelError as error:
            return _rollout(task, (asked,), Usage(calls=1), "infra_error", None, str(error))
        trajectory = (asked, Message("assistant", reply.text))
        try:
            score = self._scorer(reply.text, task.answer)
        except SkillpipeError:
            raise
        except Exception as error:  # a user's scorer: this task has no score, the run goes on and counts it
            reason = f"scorer: {type(error).__name__}: {error}"
            return _rollout(task, trajectory, reply.usage, "judge_error", None, reason)
        reason = (
            "cut by the token limit; " + score.reason if reply.finish == "length" and score.reason else score.reason
        )
        return _rollout(task, trajectory, reply.usage, "passed" if score.hard == 1 else "failed", score, reason)

    def _task(self, value: Any, where: str) -> Task:
        if not isinstance(value, dict):
            raise SkillpipeError(
                f"{where}: {type(value).__name__} found; each line is an object with id, input, answer"
            )
        for field in ("id", "input", "answer"):
            if isinstance(value.get(field), int | float) and not isinstance(value[field], bool):
                value[field] = str(value[field])
            if not isinstance(value.get(field), str) or not value[field].strip():
                raise SkillpipeError(f"{where}: {field} is {value.get(field)!r}; it must be a text that is not blank")
        task_type = value.get("task_type", "")
        if not isinstance(task_type, str):
            raise SkillpipeError(f"{where}: task_type is {task_type!r}; it must be a text")
        return Task(value["id"], self._prompt.replace("{input}", value["input"]), value["answer"], task_type)


def _rollout(
    task: Task,
    trajectory: tuple[Message, ...],
    usage: Usage,
    status: RolloutStatus,
    score: Score | None,
    reason: str,
) -> Rollout:
    hard, soft = (score.hard, score.soft) if score else (None, None)
    return Rollout(task.id, task.task_type, status, hard, soft, reason, task.answer, trajectory, usage)
