"""An adapter that was written for SkillOpt, as an environment: its items are the tasks, its rows the rollouts."""

import asyncio
import importlib
import json
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from functools import cached_property
from pathlib import Path
from typing import Any

from skillpipe.envs import Calls
from skillpipe.envs.skillopt.batches import METHODS, Batches, Item, overrides
from skillpipe.envs.skillopt.rows import read_rows, unscored
from skillpipe.errors import SkillpipeError
from skillpipe.models import Model
from skillpipe.records import SPLITS, Rollout, Split, Task


class SkillOpt:
    """Runs a subclass of SkillOpt's EnvAdapter, or of skillpipe.adapter.EnvAdapter, as it is.

    The adapter asks a model of its own, so the target of this pipeline is never asked: choose that model in the
    adapter's arguments, and know that the budget of the target does not hold it. What it used is unknown unless a row
    has `usage` (rows.py). The skill is given as its body, without frontmatter. A rollout of train items is told
    `use_eval_feedback=True`, as by SkillOpt's trainer. The adapter's own `reflect` is not used.

    Needed of the adapter, beyond what SkillOpt needs: all items of a split can be listed, and a part of them be run
    (batches.py says how). All tasks of a stage are one call of `rollout`, in a folder of its own that is thrown away;
    calls never overlap, and what they print goes to stderr. An exception in one is an infra_error of every task in it.

    Args:
        adapter: the adapter.
        cfg: what its setup is given; `out_root`, a temporary folder, is added unless it is there.
        data: the file or folder that the adapter's items come from, which the stage plan depends on.
        seed: given to whatever makes a batch.
        answer_field: the field of an item that says what is right, for the optimizer; empty for none.
        metrics: the figures of a row that are kept; none that time changes.
    """

    def __init__(
        self,
        *,
        adapter: Any,
        cfg: Mapping[str, Any],
        data: str,
        seed: int,
        answer_field: str,
        metrics: Sequence[str],
    ) -> None:
        self._name = type(adapter).__name__
        missing = [method for method in METHODS if not callable(getattr(adapter, method, None))]
        if missing:
            raise SkillpipeError(
                f"env.adapter: {self._name} has no {', '.join(missing)}; derive it from SkillOpt's EnvAdapter or from "
                "skillpipe.adapter.EnvAdapter"
            )
        self._adapter, self._cfg, self._seed = adapter, dict(cfg), seed
        self._data, self._answer_field, self._metrics = Path(data), answer_field, tuple(metrics)
        self._scratch = tempfile.TemporaryDirectory(prefix="skillpipe-adapter-")
        self._turn = threading.Lock()

    @property
    def most_calls(self) -> Calls:
        """None: the adapter asks a model of its own."""
        return Calls(target=0)

    def tasks(self, split: Split) -> list[Task]:
        """The adapter's items of a split, in its order."""
        with self._told("listing items"), redirect_stdout(sys.stderr):
            return [self._task(item) for item in self._items[split]]

    async def run(self, task: Task, skill: str, target: Model) -> Rollout:
        """One task in a batch of its own."""
        [rollout] = await self.run_all([task], skill, target)
        return rollout

    async def run_all(self, tasks: Sequence[Task], skill: str, target: Model) -> list[Rollout]:
        """One rollout per task, in task order; the tasks are of one split, and none is given twice."""
        return await asyncio.to_thread(self._run_all, tasks, skill)

    def _run_all(self, tasks: Sequence[Task], skill: str) -> list[Rollout]:
        with self._turn, redirect_stdout(sys.stderr):
            with self._told("building an environment"):
                split = self._split_of(tasks)
                environment = self._batches.environment(split, [task.id for task in tasks])
            folder = Path(tempfile.mkdtemp(dir=self._scratch.name))
            more = {"use_eval_feedback": True} if split == "train" else {}
            try:
                rows = self._adapter.rollout(environment, skill, str(folder), **more)
                return read_rows(tasks, rows, folder, skill, self._name, self._metrics)
            except SkillpipeError:
                raise
            except Exception as error:  # the adapter's: these tasks have no score, and coverage counts them
                reason = f"{self._name}.rollout: {type(error).__name__}: {error}".replace(str(folder), "out_dir")
                return [unscored(task, "infra_error", reason) for task in tasks]
            finally:
                shutil.rmtree(folder, ignore_errors=True)

    def _split_of(self, tasks: Sequence[Task]) -> Split:
        """Where the tasks are from. Raises SkillpipeError when an item is gone or not as it was planned."""
        known = {str(item["id"]): (split, item) for split in SPLITS for item in self._items[split]}
        for task in tasks:
            if task.id not in known or _plain(known[task.id][1]) != task.data:
                found = "has changed" if task.id in known else "is gone"
                raise SkillpipeError(
                    f"{self._name}: item {task.id!r} {found} since the run was planned; `dvc repro` plans it again"
                )
        splits = {known[task.id][0] for task in tasks}
        if len(splits) != 1:
            raise SkillpipeError(f"{self._name}: tasks of {', '.join(sorted(splits)) or 'no split'} in one batch")
        return splits.pop()

    @cached_property
    def _batches(self) -> Batches:
        if not self._data.exists():
            raise SkillpipeError(
                f"env.data: {self._data}: no such file or folder; name what the adapter's items come from"
            )
        cfg = {"out_root": self._scratch.name} | self._cfg
        self._adapter.setup(cfg)
        if self._adapter.requires_ray():
            _start_ray(self._name)
        if overrides(self._adapter, "reflect"):
            print(f"{self._name}.reflect is not used: the optimizer of conf/optimizer reflects", file=sys.stderr)
        return Batches(self._adapter, self._name, self._seed, str(cfg["out_root"]))

    @cached_property
    def _items(self) -> dict[Split, list[Item]]:
        return {split: self._batches.items(split) for split in SPLITS}

    def _task(self, item: Item) -> Task:
        key, data = str(item["id"]), _plain(item)
        content = {name: value for name, value in data.items() if name != "id"}
        # The whole item, so that two tasks are the same only if everything about them is.
        text = json.dumps(content, ensure_ascii=False, sort_keys=True) if content else key
        answer = data.get(self._answer_field, "") if self._answer_field else ""
        answer = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
        kinds = self._adapter.get_task_types()
        kind = item.get("task_type") or item.get("subtype") or (kinds[0] if len(kinds) == 1 else "")
        reference = self._adapter.build_reference_text(item)
        return Task(key, text, answer.strip(), str(kind), reference=reference, data=data)

    @contextmanager
    def _told(self, doing: str) -> Iterator[None]:
        try:
            yield
        except SkillpipeError:
            raise
        except Exception as error:  # the adapter's: nothing can be known about its tasks
            raise SkillpipeError(f"{self._name}: {doing}: {type(error).__name__}: {error}") from error


def _plain(item: Item) -> dict[str, Any]:
    """The fields of an item that JSON can hold, as JSON gives them back."""
    return {str(key): json.loads(text) for key, value in item.items() if (text := _as_json(value))}


def _as_json(value: Any) -> str:
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return ""


def _start_ray(name: str) -> None:
    try:
        ray = importlib.import_module("ray")
    except ImportError:
        raise SkillpipeError(f"{name} needs Ray, which is not installed; `pip install ray`") from None
    if not ray.is_initialized():
        ray.init(num_gpus=0)
