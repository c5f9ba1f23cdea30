"""Run the candidate on val, as many tasks as the gate's decision needs.

Reads: the candidate's skill folder, val's tasks; of the state before the step: the folder of the current skill with its
val scores, and the candidates tried before; for the budget, what was `spent`.
Writes: rollouts in task order to the file `out`; none when the candidate is the current skill, or one whose scores on
val are known.
Model calls: at most one per val task and repeat to the target, and as in rollout.py to the judge.
"""

from dataclasses import dataclass, field
from pathlib import Path

from omegaconf import MISSING

from skillpipe import config, phases, roles, sections
from skillpipe.artifacts import read_rows, write_rows
from skillpipe.envs.opening import environment
from skillpipe.executor import read_run
from skillpipe.records import Task, Tried, ValScore
from skillpipe.scoring import Metric, require_coverage
from skillpipe.sections import Budget, Execution
from skillpipe.skill import read_folder
from skillpipe.state import known
from skillpipe.usage import used
from skillpipe.validation import validate


@dataclass
class Args(sections.Validate):
    """validate's section of params.yaml, its paths, how to run, and what may be spent. See rollout.py for `spent`."""

    skill: str = MISSING
    current: str = MISSING
    tried: str = MISSING
    tasks: str = MISSING
    prompts: str = "prompts"
    out: str = MISSING
    spent: list[str] = field(default_factory=list)
    execution: Execution = MISSING
    budget: Budget = MISSING


@config.stage("validate", Args)
def main(args: Args) -> None:
    files, current = read_folder(args.skill), read_folder(Path(args.current) / "skill")
    if files == current or known(read_rows(args.tried, Tried), files, current):
        write_rows(args.out, [])
        return
    spent, execution, budget = used(args.spent), args.execution, args.budget
    with phases.watched(phases.phase_of("validate", args.out, args.tasks)) as observer:
        run = read_run(execution, args.scores, args.out, args.repeats, observer)
        with (
            roles.target(args.target, execution, budget, spent.target) as target,
            environment(args.env, args.judge, execution, budget, spent.judge, args.prompts) as env,
        ):
            rollouts = validate(
                env,
                target,
                files["SKILL.md"].decode(),
                read_rows(args.tasks, Task),
                run,
                rule=config.build(args.rule, "gate.rule") if args.rule else None,
                metric=Metric(args.scores.metric, args.scores.mixed_weight),
                current=read_rows(Path(args.current) / "val.jsonl", ValScore),
                seed=args.seed,
            )
        require_coverage(rollouts, args.min_coverage, args.out)
    write_rows(args.out, rollouts)


if __name__ == "__main__":
    main()
