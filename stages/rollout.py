"""Run a skill on tasks: the baseline and each candidate on val, each step's batch of train, and test at the end.

Reads: a skill folder, a file of tasks; a second skill folder `unless`, when given; for the budget, what was `spent`.
Writes: one rollout per task, in task order, to the file `out`; none when the skill equals the one in `unless`,
whose rollouts are known.
Model calls: one per task, to the target.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from omegaconf import MISSING

from skillpipe import config, roles, sections
from skillpipe.artifacts import read_rows, write_rows
from skillpipe.envs import Environment
from skillpipe.executor import run_tasks
from skillpipe.models import Model
from skillpipe.records import Rollout, StepRecord, Task, Usage
from skillpipe.scoring import require_coverage
from skillpipe.sections import Budget, Execution
from skillpipe.skill import body_for_target, read_folder


@dataclass
class Args(sections.Rollout):
    """rollout's section of params.yaml, its paths, how to run, and what may be spent.

    `spent` are the files that say what this run has used before: histories and rollouts.
    """

    skill: str = MISSING
    tasks: str = MISSING
    out: str = MISSING
    unless: str = ""
    spent: list[str] = field(default_factory=list)
    execution: Execution = MISSING
    budget: Budget = MISSING


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


def target_usage(paths: Sequence[str]) -> Usage:
    """What the target has used: by the histories (history.jsonl) and rollouts (any other file) among `paths`."""
    usage = Usage()
    for path in paths:
        if Path(path).name == "history.jsonl":
            usage += sum((row.spent.target for row in read_rows(path, StepRecord)), Usage())
        else:
            usage += sum((row.usage for row in read_rows(path, Rollout)), Usage())
    return usage


@config.stage("rollout", Args)
def main(args: Args) -> None:
    files = read_folder(args.skill)
    if args.unless and files == read_folder(args.unless):
        write_rows(args.out, [])
        return
    tasks = read_rows(args.tasks, Task)
    environment: Environment = config.build(args.env, "env")
    skill, concurrency = files["SKILL.md"].decode(), args.execution.max_concurrency
    with roles.target(args.target, args.execution, args.budget, target_usage(args.spent)) as target:
        rollouts = rollout(environment, target, skill, tasks, concurrency, args.out)
    require_coverage(rollouts, args.min_coverage, args.out)
    write_rows(args.out, rollouts)


if __name__ == "__main__":
    main()
