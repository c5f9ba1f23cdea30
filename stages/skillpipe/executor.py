"""Run many tasks at once, in one process; rows come back in task order whoever answers first."""

import asyncio
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tqdm import tqdm

from skillpipe.envs import BatchEnvironment, Environment
from skillpipe.errors import SkillpipeError
from skillpipe.models import Model, Reply, Request
from skillpipe.phases import Observer
from skillpipe.records import Rollout, Task, Usage
from skillpipe.scoring import SoftScale
from skillpipe.sections import Execution, Scores


@dataclass(frozen=True)
class Run:
    """How tasks are run: everything but the tasks and the skill.

    Args:
        max_concurrency: attempts under way at once, 1 or more. It changes no result.
        label: what progress and errors call this run.
        finish: makes the final rollout of what the environment returned; see scoring.SoftScale.
        repeats: attempts at each task, 1 or more, numbered by Rollout.replicate.
        observer: is told of every attempt. It changes no result.
    """

    max_concurrency: int
    label: str
    finish: Callable[[Rollout], Rollout]
    repeats: int = 1
    observer: Observer | None = None

    def __post_init__(self) -> None:
        for key, value in (("execution.max_concurrency", self.max_concurrency), ("repeats", self.repeats)):
            if value < 1:
                raise SkillpipeError(f"{key} is {value}; allowed is 1 or more")


def read_run(
    execution: Execution, scores: Scores, label: str, repeats: int = 1, observer: Observer | None = None
) -> Run:
    """How the configuration has it."""
    return Run(execution.max_concurrency, label, SoftScale(scores.direction, scores.range), repeats, observer)


def run_tasks(
    environment: Environment,
    tasks: Sequence[Task],
    skill: str,
    target: Model,
    run: Run,
    enough: Callable[[Sequence[Rollout]], bool] | None = None,
) -> list[Rollout]:
    """`run.repeats` rollouts per task, in task order. Progress goes to stderr: a bar on a terminal, else lines.

    With `enough`, tasks are begun in order, and the rollouts of the shortest run of first tasks for which `enough` says
    yes are returned, whatever else had been begun by then: the result does not depend on concurrency.

    An exception of the environment is that attempt's infra_error; a SkillpipeError stops all at once, and so does a
    first `max_concurrency` of rollouts (at least 3) that all failed to run for one and the same reason: it will not
    get better.
    """
    return asyncio.run(_run_all(environment, tasks, skill, target, run, enough))


async def _run_all(
    environment: Environment,
    tasks: Sequence[Task],
    skill: str,
    target: Model,
    run: Run,
    enough: Callable[[Sequence[Rollout]], bool] | None,
) -> list[Rollout]:
    free = asyncio.Semaphore(run.max_concurrency)
    watch = _Watch(len(tasks) * run.repeats, run)
    first = _First(run.repeats, enough)

    async def one(place: int, task: Task, replicate: int) -> None:
        async with free:
            if first.enough:  # those under way are paid for: they end, and the ledger keeps them
                return
            if run.observer:
                run.observer.began(task.id, replicate)
            rollout = await _attempt(environment, task, skill, _Numbered(target, replicate))
            rollout = run.finish(replace(rollout, replicate=replicate))
            watch.saw(rollout)
            first.saw(place, rollout)

    if run.observer:
        run.observer.started(tasks, run.repeats)
    with watch.bar:
        if isinstance(environment, BatchEnvironment):
            return await _in_batches(environment, tasks, skill, target, run, watch)
        attempts = ((task, replicate) for task in tasks for replicate in range(run.repeats))
        jobs = [asyncio.ensure_future(one(place, *attempt)) for place, attempt in enumerate(attempts)]
        try:
            await asyncio.gather(*jobs)
        except BaseException:  # the first failure, or Ctrl-C, ends the others too; it goes on to the caller
            for job in jobs:
                job.cancel()
            await asyncio.gather(*jobs, return_exceptions=True)
            raise
    return first.rollouts


async def _in_batches(
    environment: BatchEnvironment, tasks: Sequence[Task], skill: str, target: Model, run: Run, watch: "_Watch"
) -> list[Rollout]:
    """All rollouts of each repeat in one go; nothing stops early."""
    rounds = []
    for replicate in range(run.repeats):
        for task in tasks:
            if run.observer:
                run.observer.began(task.id, replicate)
        rows = await environment.run_all(tasks, skill, _Numbered(target, replicate))
        rounds.append([run.finish(replace(row, replicate=replicate)) for row in rows])
        for row in rounds[-1]:
            watch.saw(row)
    return [row for rows in zip(*rounds, strict=True) for row in rows]


class _First:
    """The rollouts of the first tasks, without a gap: as many as there are, or as are enough."""

    def __init__(self, repeats: int, enough: Callable[[Sequence[Rollout]], bool] | None) -> None:
        self.rollouts: list[Rollout] = []
        self.enough = False
        self._repeats, self._is_enough = repeats, enough
        self._waiting: dict[int, Rollout] = {}

    def saw(self, place: int, rollout: Rollout) -> None:
        self._waiting[place] = rollout
        while not self.enough and len(self.rollouts) in self._waiting:
            self.rollouts.append(self._waiting.pop(len(self.rollouts)))
            if self._is_enough and len(self.rollouts) % self._repeats == 0:
                self.enough = self._is_enough(self.rollouts)


async def _attempt(environment: Environment, task: Task, skill: str, target: Model) -> Rollout:
    try:
        return await environment.run(task, skill, target)
    except SkillpipeError:
        raise
    except Exception as error:  # a defect of the environment: this task is missing data, counted in coverage
        reason = f"{type(error).__name__}: {error}"
        return Rollout(
            task.id,
            task.task_type,
            "infra_error",
            None,
            None,
            reason,
            task.answer,
            (),
            Usage(),
            reference=task.reference,
        )


class _Numbered:
    """The target, asked for one numbered sample."""

    def __init__(self, model: Model, replicate: int) -> None:
        self._model, self._replicate = model, replicate

    async def complete(self, request: Request) -> Reply:
        return await self._model.complete(replace(request, replicate=self._replicate))

    def close(self) -> None:
        """Whoever made the model closes it."""


class _Watch:
    """Shows progress, and gives up when nothing works."""

    def __init__(self, total: int, run: Run) -> None:
        self.bar = tqdm(total=total, desc=run.label, unit="task", disable=not sys.stderr.isatty(), dynamic_ncols=True)
        self._total, self._run, self._patience = total, run, max(3, run.max_concurrency)
        self._done = self._passed = 0
        self._reasons: Counter[str] = Counter()

    def saw(self, rollout: Rollout) -> None:
        self._done += 1
        self._passed += rollout.status == "passed"
        self._show()
        if self._run.observer:
            self._run.observer.saw(rollout)
        self._reasons[rollout.reason if rollout.status in ("infra_error", "judge_error") else ""] += 1
        if self._done == self._patience and len(self._reasons) == 1 and "" not in self._reasons:
            reason = next(iter(self._reasons))
            raise SkillpipeError(f"{self._run.label}: the first {self._done} tasks all failed to run: {reason}")

    def _show(self) -> None:
        self.bar.set_postfix_str(f"passing {self._passed}/{self._done}", refresh=False)
        self.bar.update()
        tenth = 10 * self._done // self._total != 10 * (self._done - 1) // self._total
        if self.bar.disable and tenth:
            line = f"{self._run.label}: {self._done}/{self._total} tasks, passing {self._passed}"
            print(line, file=sys.stderr, flush=True)
