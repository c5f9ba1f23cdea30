"""Rows of a data folder as tasks, and the environment's modules that go with them."""

import hashlib
import importlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from skillpipe.errors import SkillpipeError
from skillpipe.records import Task

# Fields of a row that the pipeline reads; all others are the environment's.
OWN = ("id", "input", "prompt", "answer", "task_type", "env_class")
CODE, PROMPT = "_code", "prompt"  # what Task.data holds besides the environment's fields


def load(modules: Sequence[str]) -> str:
    """Import the modules, which registers their environments in this process; a hash of their files, "" for none."""
    digest = hashlib.sha256()
    for name in modules:
        path = getattr(_import(name), "__file__", None)
        if path is None:
            raise SkillpipeError(f"env.modules: {name} is a folder; name the module in it that registers environments")
        digest.update(Path(path).read_bytes())
    return digest.hexdigest()[:16] if modules else ""


def _import(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except SkillpipeError:
        raise
    except ImportError as error:
        raise SkillpipeError(
            f"env.modules: {name} cannot be imported ({error}); name a module as seen from the project's folder: "
            "data/words/words.py is data.words.words"
        ) from error


def read_task(row: Any, where: str, prompt: str, code: str) -> Task:
    """One row as a task.

    A row has `id`, and the beginning of the conversation: `input`, a text that takes the place of {input} in `prompt`,
    or `prompt`, as SkyRL's data has it: a text, or messages of the roles user and assistant. The answer is `answer`,
    or else the ground truth in SkyRL's reward_spec or reward_model. `task_type` is optional, `env_class` is passed
    over. All other fields are the environment's and are in Task.data; a prompt of messages and `code` are beside
    them. Raises SkillpipeError that says where and what.
    """
    if not isinstance(row, dict):
        raise SkillpipeError(f"{where}: {type(row).__name__} found; each line is an object with id, input, answer")
    data = {key: value for key, value in row.items() if key not in OWN}
    if CODE in data:
        raise SkillpipeError(f"{where}: a field is named {CODE}, which is taken; rename it")
    given = row.get(PROMPT)
    if isinstance(given, list):
        _check_messages(given, where)
        data[PROMPT], text = given, "\n\n".join(message["content"] for message in given)
    elif given is not None:
        text = _text(given, f"{where}: prompt")
    else:
        text = prompt.replace("{input}", _text(row.get("input"), f"{where}: input"))
    if code:
        data[CODE] = code
    kind = row.get("task_type", "")
    if not isinstance(kind, str):
        raise SkillpipeError(f"{where}: task_type is {kind!r}; it must be a text")
    return Task(_text(row.get("id"), f"{where}: id"), text, _answer(row, where), kind, data=data)


def _answer(row: Mapping[str, Any], where: str) -> str:
    if "answer" in row:
        return _text(row["answer"], f"{where}: answer")
    for name in ("reward_spec", "reward_model"):
        spec = row.get(name)
        if isinstance(spec, dict) and spec.get("ground_truth") is not None:
            truth = spec["ground_truth"]
            plain = isinstance(truth, str | int | float)
            return _text(truth if plain else json.dumps(truth, sort_keys=True), f"{where}: {name}.ground_truth")
    raise SkillpipeError(
        f"{where}: no answer, and no ground_truth in reward_spec or reward_model; give an answer: what a good attempt "
        "ends in, shown to the optimizer"
    )


def _text(value: Any, where: str) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not value.strip():
        raise SkillpipeError(f"{where} is {value!r}; it must be a text that is not blank")
    return value


def _check_messages(messages: Sequence[Any], where: str) -> None:
    if not messages:
        raise SkillpipeError(f"{where}: prompt is empty; it needs a message")
    for message in messages:
        role = message.get("role") if isinstance(message, dict) else None
        if role == "system":
            raise SkillpipeError(
                f"{where}: prompt has a system message, which is the skill's place; move its text into the skill"
            )
        if role not in ("user", "assistant"):
            raise SkillpipeError(f"{where}: prompt: {message!r}; a message is an object with role (user, assistant)")
        _text(message.get("content"), f"{where}: prompt: content")
