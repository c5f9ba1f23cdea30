"""Score any skill on any split, with no training: `python stages/eval.py skill=path/to/SKILL.md split=val`.

Reads: a skill (its folder or its file), the environment's data. Writes: nothing; prints the scores.
Model calls: one per task, to the target.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from omegaconf import MISSING

from skillpipe import config, roles, sections
from skillpipe.envs.opening import environment
from skillpipe.errors import SkillpipeError
from skillpipe.executor import read_run, run_tasks
from skillpipe.records import SPLITS, Rollout, Usage
from skillpipe.scoring import SOFT, coverage, mean, require_coverage
from skillpipe.sections import Budget, Execution
from skillpipe.skill import body_for_target, read_folder


@dataclass
class Args(sections.Rollout):
    """rollout's section of params.yaml, what to score, how to run, and what may be spent."""

    skill: str = MISSING
    split: str = MISSING
    prompts: str = "prompts"
    execution: Execution = MISSING
    budget: Budget = MISSING


def evaluate(rollouts: Sequence[Rollout]) -> str:
    """One line of figures: mean hard and soft score over the scored tasks, number of tasks, share scored."""
    hard, soft = mean(rollouts), mean(rollouts, SOFT)
    scores = "no task was scored" if hard is None or soft is None else f"hard {hard:.3f}  soft {soft:.3f}"
    return f"{scores}  n {len(rollouts)}  coverage {coverage(rollouts):.3f}"


@config.stage("rollout", Args)
def main(args: Args) -> None:
    split = next((split for split in SPLITS if split == args.split), None)
    if split is None:
        raise SkillpipeError(f"split is {args.split!r}; allowed are {', '.join(SPLITS)}")
    skill, label = body_for_target(read_folder(args.skill)["SKILL.md"].decode()), f"{args.skill} on {split}"
    execution, budget, run = args.execution, args.budget, read_run(args.execution, args.scores, label)
    with (
        roles.target(args.target, execution, budget, Usage()) as target,
        environment(args.env, args.judge, execution, budget, Usage(), args.prompts) as env,
    ):
        rollouts = run_tasks(env, env.tasks(split), skill, target, run)
    print(evaluate(rollouts))
    require_coverage(rollouts, args.min_coverage, label)


if __name__ == "__main__":
    main()
