"""Run many tasks at once, in one process; rows come back in task order whoever answers first."""

import asyncio
import sys
from collections import Counter
from collections.abc import Sequence

from tqdm import tqdm

from skillpipe.envs import Environment
from skillpipe.errors import SkillpipeError
from skillpipe.models import Model
from skillpipe.records import Rollout, Task, Usage


def run_tasks(
    environment: Environment,
    tasks: Sequence[Task],
    skill: str,
    target: Model,
    *,
    max_concurrency: int,
    label: str,
) -> list[Rollout]:
    """One rollout per task, in task order. Progress goes to stderr: a bar on a terminal, else a line per 10 %.

    An exception of the environment is that task's infra_error; a SkillpipeError stops all at once, and so does a
    first `max_concurrency` of rollouts (at least 3) that all failed to run for one and the same reason: it will not
    get better.
    """
    if max_concurrency < 1:
        raise SkillpipeError(f"execution.max_concurrency is {max_concurrency}; allowed is 1 or more")
    return asyncio.run(_run_all(environment, tasks, skill, target, max_concurrency, label))


async def _run_all(
    environment: Environment,
    tasks: Sequence[Task],
    skill: str,
    target: Model,
    max_concurrency: int,
    label: str,
) -> list[Rollout]:
    free = asyncio.Semaphore(max_concurrency)
    watch = _Watch(len(tasks), label, patience=max(3, max_concurrency))

    async def one(task: Task) -> Rollout:
        async with free:
            try:
                rollout = await environment.run(task, skill, target)
            except SkillpipeError:
                raise
            except Exception as error:  # a defect of the environment: this task is missing data, counted in coverage
                reason = f"{type(error).__name__}: {error}"
                rollout = Rollout(task.id, task.task_type, "infra_error", None, None, reason, task.answer, (), Usage())
            watch.saw(rollout)
            return rollout

    with watch.bar:
        jobs = [asyncio.ensure_future(one(task)) for task in tasks]
        try:
            return list(await asyncio.gather(*jobs))
        except BaseException:  # the first failure, or Ctrl-C, ends the others too; it goes on to the caller
            for job in jobs:
                job.cancel()
            await asyncio.gather(*jobs, return_exceptions=True)
            raise


class _Watch:
    """Shows progress, and gives up when nothing works."""

    def __init__(self, total: int, label: str, patience: int) -> None:
        self.bar = tqdm(total=total, desc=label, unit="task", disable=not sys.stderr.isatty(), dynamic_ncols=True)
        self._total, self._label, self._patience = total, label, patience
        self._done = self._passed = 0
        self._reasons: Counter[str] = Counter()

    def saw(self, rollout: Rollout) -> None:
        self._done += 1
        self._passed += rollout.status == "passed"
        self._show()
        self._reasons[rollout.reason if rollout.status == "infra_error" else ""] += 1
        if self._done == self._patience and len(self._reasons) == 1 and "" not in self._reasons:
            reason = next(iter(self._reasons))
            raise SkillpipeError(f"{self._label}: the first {self._done} tasks all failed to run: {reason}")

    def _show(self) -> None:
        self.bar.set_postfix_str(f"passing {self._passed}/{self._done}", refresh=False)
        self.bar.update()
        tenth = 10 * self._done // self._total != 10 * (self._done - 1) // self._total
        if self.bar.disable and tenth:
            line = f"{self._label}: {self._done}/{self._total} tasks, passing {self._passed}"
            print(line, file=sys.stderr, flush=True)
