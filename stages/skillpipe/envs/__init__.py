"""What an environment is to this pipeline: tasks by split, and a way to run one of them.

Choices live one file or folder each beside this one and are named by `_target_` in conf/env; a user's own needs no base
class, only the two members of Environment. docs/environments.md shows one in 15 lines.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from skillpipe.models import Model
from skillpipe.records import Rollout, Split, SplitManifest, Task


class Environment(Protocol):
    """Gives tasks and runs them.

    It may have a property `parting`, a Parting: how its tasks were cut into splits; a property `most_calls`, a Calls,
    where an attempt takes other calls than one of the target; and a method `warnings()`, which gives what plan should
    warn of, a line each. One that takes an argument `judge` is given the run's judge, a skillpipe.judging.Judge, where
    one is configured.
    """

    def tasks(self, split: Split) -> list[Task]:
        """All tasks of a split, in their order. Raises SkillpipeError that says where the data is wrong."""
        ...

    async def run(self, task: Task, skill: str, target: Model) -> Rollout:
        """One attempt at one task by a target that is given `skill`, the body that it reads.

        May be awaited many times at once; depends on its arguments alone. A failed call or scorer is a rollout
        with status infra_error or judge_error and no score. An exception fails this task in the same way, but a
        SkillpipeError stops the stage. `task.reference` may stand in the rollout and never in what the target is sent.
        """
        ...


@dataclass(frozen=True)
class Calls:
    """How many calls one attempt takes at most, for the estimate of a run. A provider's faults are not counted in."""

    target: int = 1
    judge: int = 0


@dataclass(frozen=True)
class Parting:
    """Where tasks come from and how they are cut into splits. `seed` is None where nothing is shuffled."""

    source: str
    mode: Literal["own", "dir", "ratio", "head"]
    cut: str = ""
    seed: int | None = None


def manifest(environment: Environment, tasks: Mapping[Split, Sequence[Task]]) -> SplitManifest:
    """What plan writes down of an environment's splits: the same data and settings give the same bytes."""
    parting: Parting = getattr(environment, "parting", Parting(type(environment).__name__, "own"))
    sizes = {split: len(part) for split, part in tasks.items()}
    return SplitManifest(
        source=parting.source,
        mode=parting.mode,
        cut=parting.cut,
        seed=parting.seed,
        train=sizes["train"],
        val=sizes["val"],
        test=sizes["test"],
    )


def most_calls(environment: Environment) -> Calls:
    """What one attempt takes at most; one call of the target for an environment that does not say."""
    calls: Calls = getattr(environment, "most_calls", Calls())
    return calls


def warnings(environment: Environment) -> tuple[str, ...]:
    """What plan should warn of, as the environment sees it; nothing for one without a method `warnings`."""
    said = getattr(environment, "warnings", None)
    return tuple(said()) if said else ()


@runtime_checkable
class BatchEnvironment(Environment, Protocol):
    """An environment that runs many tasks in one go, and then better than one by one."""

    async def run_all(self, tasks: Sequence[Task], skill: str, target: Model) -> list[Rollout]:
        """One rollout per task, in task order; as `run` for each of them. No task is given twice."""
        ...
