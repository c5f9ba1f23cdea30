"""A suite as a file holds it, checked: Aiden's JSON form, and one key more, `regex` of a rubric's item."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator, ValidationError
from jsonschema.exceptions import best_match

from skillpipe.artifacts import read_json, read_text
from skillpipe.errors import SkillpipeError
from skillpipe.judging import Assertions, RubricItem
from skillpipe.judging.assertions import RequiredCall
from skillpipe.judging.rubric import read_rubric

# What a task may ask for that only an environment with a device, an agent or a memory can give.
_NEEDS = ("setup", "input_screenshot", "expected_recalled_memory_ids")
_SUITE_NEEDS = ("global_reset", "mock_environment")


@dataclass(frozen=True)
class SuiteTask:
    """One task of a suite.

    `prompt` is what the target is sent: the suite's prefix, then `own_prompt`. `needs` names the fields that ask for
    more than a model that answers, `repeats` how often the suite wants it run, `data` holds what its scoring needs.
    """

    id: str
    category: str
    prompt: str
    own_prompt: str
    rubric: tuple[RubricItem, ...]
    assertions: Assertions
    needs: tuple[str, ...]
    repeats: int
    data: Mapping[str, Any]


@dataclass(frozen=True)
class SuiteForm:
    """A suite: its name, the tasks in file order, and the suite's own fields that need more than a model."""

    name: str
    tasks: tuple[SuiteTask, ...]
    needs: tuple[str, ...]


def read_suite(path: Path) -> SuiteForm:
    """Read a suite. Raises SkillpipeError that names the file, the task by its id, the field, and what is allowed."""
    value = read_json(path)
    if not isinstance(value, dict):
        raise SkillpipeError(f"{path}: {type(value).__name__} found; a suite is an object with name and tasks")
    error = best_match(_schema().iter_errors(value))
    if error is not None:
        raise SkillpipeError(f"{path}: {_place(error, value)}: {_told(error)}")
    _check_observations(value.get("trace_observations", []), path)
    prefix, tasks = value.get("prompt_prefix", ""), {}
    for task in value["tasks"]:
        if task["id"] in tasks:
            raise SkillpipeError(f"{path}: task {task['id']!r} stands twice; every task needs an id of its own")
        tasks[task["id"]] = _task(task, prefix, f"{path}: task {task['id']!r}")
    return SuiteForm(value.get("name", path.stem), tuple(tasks.values()), _given(value, _SUITE_NEEDS))


def scoring_of(data: Mapping[str, Any], where: str) -> tuple[tuple[RubricItem, ...], Assertions]:
    """The rubric and the assertions out of a task's fields. Raises SkillpipeError for those that make no sense."""
    rubric = read_rubric(data["rubric"], where)
    hard = dict(data.get("hard_assertions", {}))
    calls = tuple(
        RequiredCall(call["tool"], call.get("input_contains", {})) for call in hard.pop("required_tool_calls", ())
    )
    lists: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in hard.items()}
    asserted = Assertions(
        **lists,
        required_tool_calls=calls,
        expected_answer=data.get("expected_answer") or "",
        option_letter=data.get("answer_format") == "option_letter",
    )
    both = sorted({*asserted.required_tools, *(call.tool for call in calls)} & set(asserted.forbidden_tools))
    if both:
        raise SkillpipeError(f"{where}: hard_assertions: {', '.join(both)} is both required and forbidden")
    if asserted.min_tool_calls > asserted.max_tool_calls:
        raise SkillpipeError(
            f"{where}: hard_assertions: min_tool_calls is {asserted.min_tool_calls} and max_tool_calls "
            f"{asserted.max_tool_calls}; the least must not be more than the most"
        )
    letter = asserted.expected_answer.strip()
    if asserted.option_letter and not (len(letter) == 1 and letter.isascii() and letter.isalpha()):
        raise SkillpipeError(
            f"{where}: expected_answer is {letter!r}; with answer_format option_letter it is one of A to Z"
        )
    return rubric, asserted


def _task(task: dict[str, Any], prefix: str, where: str) -> SuiteTask:
    for field in ("id", "prompt", "description_for_judge"):
        if not task[field].strip():
            raise SkillpipeError(f"{where}: {field} is blank")
    names = ("description_for_judge", "rubric", "hard_assertions", "expected_answer", "answer_format")
    data = {name: task[name] for name in names if task.get(name) is not None}
    rubric, asserted = scoring_of(data, where)
    return SuiteTask(
        id=task["id"],
        category=task["category"],
        own_prompt=task["prompt"],
        prompt=f"{prefix.rstrip()}\n\n{task['prompt']}" if prefix.strip() else task["prompt"],
        rubric=rubric,
        assertions=asserted,
        needs=_given(task, _NEEDS),
        repeats=max(1, task.get("repeats", 1)),
        data=data,
    )


def _given(value: Mapping[str, Any], names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in names if value.get(name))


def _check_observations(observations: list[dict[str, Any]], path: Path) -> None:
    for one in observations:
        if ("skill_name" in one) == ("tool_name" in one):
            raise SkillpipeError(f"{path}: trace_observations {one['id']!r}: give skill_name or tool_name, one of them")


def _place(error: ValidationError, suite: dict[str, Any]) -> str:
    """Where a suite breaks its form: a task by its id, if it has one, then the field."""
    path = list(error.absolute_path)
    if path[:1] != ["tasks"] or len(path) < 2:
        return ".".join(str(part) for part in path) or "suite"
    number = int(path[1])
    task = suite["tasks"][number]
    name = task.get("id") if isinstance(task, dict) else None
    label = f"task {name!r}" if isinstance(name, str) and name else f"task number {number + 1}"
    field = ".".join(str(part) for part in path[2:])
    return f"{label}: {field}" if field else label


def _told(error: ValidationError) -> str:
    message = " ".join(error.message.split())
    return message if len(message) <= 200 else f"{message[:200]}..."


@cache
def _schema() -> Draft202012Validator:
    return Draft202012Validator(json.loads(read_text(Path(__file__).parent / "suite.json")))
