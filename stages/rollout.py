"""Run a skill on tasks: the baseline on val, each step's batch of train, and test at the end.

Reads: a skill folder, a file of tasks; a second skill folder `unless`, when given; the reason in `stop`, when given, of
a training that has ended; for the budget, what was `spent`.
Writes: rollouts in task order, `repeats` per task, to the file `out`; none when the skill equals the one in `unless`,
whose rollouts are known, or when training has ended.
Model calls: one per rollout to the target, and where there is a judge at least one per task with a rubric to it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from omegaconf import MISSING

from skillpipe import config, phases, roles, sections
from skillpipe.artifacts import read_rows, read_text, write_rows
from skillpipe.budget import require_within
from skillpipe.envs import Environment
from skillpipe.envs.opening import environment
from skillpipe.executor import Run, read_run, run_tasks
from skillpipe.models import Model
from skillpipe.records import Rollout, Task
from skillpipe.scoring import require_coverage
from skillpipe.sections import Budget, Execution
from skillpipe.skill import body_for_target, read_folder
from skillpipe.usage import used


@dataclass
class Args(sections.Rollout):
    """rollout's section of params.yaml, its paths, how to run, and what may be spent.

    `spent` are the files that say what this run has used before: histories and rollouts.
    """

    skill: str = MISSING
    tasks: str = MISSING
    prompts: str = "prompts"
    out: str = MISSING
    repeats: int = 1
    unless: str = ""
    stop: str = ""
    spent: list[str] = field(default_factory=list)
    execution: Execution = MISSING
    budget: Budget = MISSING


def rollout(environment: Environment, target: Model, skill: str, tasks: Sequence[Task], run: Run) -> list[Rollout]:
    """The rollouts of each task, in task order, by a target that is given the body of `skill`."""
    return run_tasks(environment, tasks, body_for_target(skill), target, run)


@config.stage("rollout", Args)
def main(args: Args) -> None:
    files, spent = read_folder(args.skill), used(args.spent)
    if (args.unless and files == read_folder(args.unless)) or (args.stop and read_text(args.stop)):
        require_within("target", args.budget.target, spent.target)  # what test_initial took is first known here
        write_rows(args.out, [])
        return
    tasks, skill = read_rows(args.tasks, Task), files["SKILL.md"].decode()
    execution, budget = args.execution, args.budget
    with phases.watched(phases.phase_of("rollout", args.out, args.tasks)) as observer:
        run = read_run(execution, args.scores, args.out, args.repeats, observer)
        with (
            roles.target(args.target, execution, budget, spent.target) as target,
            environment(args.env, args.judge, execution, budget, spent.judge, args.prompts) as env,
        ):
            rollouts = rollout(env, target, skill, tasks, run)
        require_coverage(rollouts, args.min_coverage, args.out)
    write_rows(args.out, rollouts)


if __name__ == "__main__":
    main()
