"""Make rollouts of the rows that an adapter gives back: checked, none invented, none lost."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from pathlib import Path
from typing import Any, SupportsFloat

from skillpipe.envs.skillopt.conversation import read_conversation
from skillpipe.errors import SkillpipeError
from skillpipe.records import Message, Rollout, RolloutStatus, Task, Usage

# The adapter asks a model of its own, and does not say what that cost.
UNKNOWN = Usage(cost_usd=None)


def read_rows(
    tasks: Sequence[Task], rows: Any, out_dir: Path, skill: str, name: str, metrics: Sequence[str]
) -> list[Rollout]:
    """One rollout per task, in task order, whatever the order of the rows.

    No row for a task is an infra_error; two, or a score that is no number from 0 to 1, a judge_error. hard 1 passes.
    Raises SkillpipeError for what is no list of dicts, and for a row of a task that was not asked for: then nobody
    knows what was run. `metrics` names the figures of a row that are kept. The folder's name is cut out of all texts,
    so that the same rollout always gives the same bytes.
    """
    given = _by_id(rows, {task.id for task in tasks}, name)
    rollouts = []
    for task in tasks:
        found = given.get(task.id, [])
        if len(found) == 1:
            rollout = _rollout(task, found[0], out_dir, skill, name, metrics)
        else:
            status: RolloutStatus = "judge_error" if found else "infra_error"
            reason = f"{name}.rollout gave {len(found) or 'no'} rows for id {task.id!r}; one is needed"
            rollout = unscored(task, status, reason)
        rollouts.append(_without(str(out_dir), rollout))
    return rollouts


def unscored(task: Task, status: RolloutStatus, reason: str) -> Rollout:
    """A rollout that has no score, and why."""
    return Rollout(
        task.id, task.task_type, status, None, None, reason, task.answer, (), UNKNOWN, reference=task.reference
    )


def _by_id(rows: Any, asked: set[str], name: str) -> dict[str, list[Mapping[str, Any]]]:
    if not isinstance(rows, list | tuple):
        raise SkillpipeError(f"{name}.rollout gave {type(rows).__name__}; it must give a list of dicts, one per item")
    given: dict[str, list[Mapping[str, Any]]] = {}
    for number, row in enumerate(rows):
        row = row.to_dict() if hasattr(row, "to_dict") else row
        where = f"{name}.rollout: row {number}"
        if not isinstance(row, Mapping):
            raise SkillpipeError(f"{where} is {type(row).__name__}; it must be a dict with id, hard and soft")
        key = row.get("id")
        key = str(key) if isinstance(key, Integral) and not isinstance(key, bool) else key
        if not isinstance(key, str) or key not in asked:
            raise SkillpipeError(
                f"{where} has id {key!r}, which is none of the {len(asked)} that it was to run; rollout must run the "
                "items of its env_manager and give each row the id of its item"
            )
        given.setdefault(key, []).append(row)
    return given


def _rollout(
    task: Task, row: Mapping[str, Any], out_dir: Path, skill: str, name: str, metrics: Sequence[str]
) -> Rollout:
    trajectory, damage = read_conversation(out_dir, task.id, skill)
    try:
        hard, soft = _fraction(row, "hard"), _fraction(row, "soft")
        usage = _usage(row.get("usage"))
        figures = {key: _figure(row, key) for key in metrics if key in row}
    except ValueError as error:
        return replace(unscored(task, "judge_error", f"{name}.rollout: {error}"), trajectory=trajectory)
    status: RolloutStatus = "passed" if hard == 1 else "failed"
    reason = "; ".join(text for text in (str(row.get("fail_reason") or ""), damage) if text)
    return Rollout(
        task=task.id,
        task_type=task.task_type,
        status=status,
        hard=hard,
        soft=soft,
        reason=reason,
        expected=task.answer,
        trajectory=trajectory,
        usage=usage,
        metrics=figures,
        reference=task.reference,
    )


def _fraction(row: Mapping[str, Any], key: str) -> float:
    value = _figure(row, key)
    if not 0 <= value <= 1:
        raise ValueError(f"{key} is {row[key]!r}; allowed is 0 to 1")
    return value


def _figure(row: Mapping[str, Any], key: str) -> float:
    value = row.get(key)
    if not isinstance(value, SupportsFloat) or not math.isfinite(value):
        raise ValueError(f"{key} is {value!r}; it must be a number")
    return float(value)


def _usage(value: Any) -> Usage:
    """What a row says it used, in the form of SkillOpt's model backends: prompt_tokens and completion_tokens.

    `calls` (1 unless given) and `cost_usd` (unknown unless given) may stand beside them.
    """
    if value is None:
        return UNKNOWN
    if not isinstance(value, Mapping):
        raise ValueError(f"usage is {value!r}; it must be a dict with prompt_tokens and completion_tokens")
    counts = {"calls": 1} | dict(value)
    for key in ("calls", "prompt_tokens", "completion_tokens"):
        if not isinstance(counts.get(key), Integral) or counts[key] < 0:
            raise ValueError(f"usage.{key} is {counts.get(key)!r}; it must be a whole number, 0 or more")
    cost = None if counts.get("cost_usd") is None else _figure(counts, "cost_usd")
    return Usage(int(counts["calls"]), int(counts["prompt_tokens"]), int(counts["completion_tokens"]), cost)


def _without(folder: str, rollout: Rollout) -> Rollout:
    said = tuple(Message(message.role, message.content.replace(folder, "out_dir")) for message in rollout.trajectory)
    return replace(rollout, reason=rollout.reason.replace(folder, "out_dir"), trajectory=said)
