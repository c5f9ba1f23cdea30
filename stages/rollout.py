"""Run a skill on tasks: the baseline and each candidate on val, each step's batch of train, and test at the end.

Reads: a skill folder, a file of tasks; a second skill folder `unless`, when given.
Writes: one rollout per task, in task order, to the file `out`; none when the skill equals the one in `unless`,
whose rollouts are known.
Model calls: one per task, to the target.
"""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

from omegaconf import MISSING
from skillpipe import config
from skillpipe.artifacts import read_rows, write_rows
from skillpipe.config import Execution
from skillpipe.envs import Environment
from skillpipe.executor import run_tasks
from skillpipe.models import Model
from skillpipe.records import Rollout, Task
from skillpipe.scoring import require_coverage
from skillpipe.skill import body_for_target, read_folder


@dataclass
class Args(config.Rollout):
    """rollout's section of params.yaml, its paths, and how fast to run."""

    skill: str = MISSING
    tasks: str = MISSING
    out: str = MISSING
    unless: str = ""
    execution: Execution = MISSING


def rollout(
    environment: Environment,
    target: Model,
    skill: str,
    tasks: Sequence[Task],
    max_concurrency: int,
    label: str,
) -> list[Rollout]:
    """One rollout per task, in task order, by a target that is given the body of `skill`."""
    body = body_for_target(skill)
    return run_tasks(environment, tasks, body, target, max_concurrency=max_concurrency, label=label)


@config.stage("rollout", Args)
def main(args: Args) -> None:
    files = read_folder(args.skill)
    if args.unless and files == read_folder(args.unless):
        write_rows(args.out, [])
        return
    tasks = read_rows(args.tasks, Task)
    environment: Environment = config.build(args.env, "env")
    target: Model = config.build(args.target, "target", **args.execution.target)
    skill = files["SKILL.md"].decode()
    with closing(target):
        rollouts = rollout(environment, target, skill, tasks, args.execution.max_concurrency, args.out)
    require_coverage(rollouts, args.min_coverage, args.out)
    write_rows(args.out, rollouts)


if __name__ == "__main__":
    main()
