"""Suites, datasets and attempts that tests of environments are made of."""

import asyncio
import json
from pathlib import Path
from typing import Any

from scripted import PROMPTS, Said, Scripted
from skillpipe.envs.suite import Suite
from skillpipe.judging import Judge, ToolCall, tool_message
from skillpipe.models import Reply, Request
from skillpipe.records import Message, Rollout, Task, Usage

ITEM = {"id": "polite", "check": "The reply greets."}


def suite_task(key: str = "t1", **changes: Any) -> dict[str, Any]:
    """A task as a suite holds it. A change to None leaves the field out."""
    task = {
        "id": key,
        "category": "single_step",
        "description_for_judge": f"About {key}.",
        "prompt": f"Do {key}.",
        "rubric": [ITEM],
    } | changes
    return {name: value for name, value in task.items() if value is not None}


def write_suite(path: Path, *tasks: dict[str, Any], **changes: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"name": "toys", "tasks": list(tasks)} | changes), "utf-8")
    return path


def write_pair(
    folder: Path, prefix: str = "toys", train: int = 3, held_out: int = 4, word: str = "verification"
) -> Path:
    write_suite(folder / f"{prefix}_train.json", *(suite_task(f"{prefix}-a{number}") for number in range(train)))
    write_suite(folder / f"{prefix}_{word}.json", *(suite_task(f"{prefix}-b{number}") for number in range(held_out)))
    return folder


class Answers:
    """A target with one answer; an exception is raised."""

    def __init__(self, answer: str | Exception) -> None:
        self.answer, self.requests = answer, []

    async def complete(self, request: Request) -> Reply:
        self.requests.append(request)
        if isinstance(self.answer, Exception):
            raise self.answer
        return Reply(self.answer, Usage(1, 7, 2))

    def close(self) -> None:
        pass


def judge(*said: Said) -> tuple[Judge, Scripted]:
    """A judge whose model says these things in turn, and the model."""
    model = Scripted(*said)
    return Judge(model, str(PROMPTS), 4), model


def verdicts(**given: str) -> dict[str, Any]:
    """A judge's reply: item -> yes or no."""
    return {
        "items": [
            {"id": name, "verdict": verdict, "reason": f"so it is with {name}"} for name, verdict in given.items()
        ]
    }


def run(folder: Path, task: dict[str, Any], target: Answers, judge: Judge | None = None) -> Rollout:
    """The rollout of one task of a suite, written to a file and read as plan and rollout do."""
    write_suite(folder / "toys" / "toys_train.json", task)
    write_suite(folder / "toys" / "toys_verification.json", suite_task("v1"), suite_task("v2"))
    suite = Suite(str(folder / "toys"), None, None, judge)
    (read,) = suite.tasks("train")
    return asyncio.run(suite.run(Task(**json.loads(json.dumps(vars(read)))), "Be kind.", target))


def trajectory(*calls: ToolCall, response: str | None = "Done.") -> tuple[Message, ...]:
    """A request, these calls, and the response if there is one."""
    last = () if response is None else (Message("assistant", response),)
    return (Message("user", "Do it."), *map(tool_message, calls), *last)
