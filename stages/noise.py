"""Run one unchanged skill on val k times: what luck does to its score and to each gate: `python stages/noise.py k=5`.

Reads: a skill (its folder or its file; without `skill=...` the one that training starts from), the environment's val
tasks, conf/gate. Writes: nothing; prints the figures. Model calls: k per val task, to the target.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from statistics import fmean, stdev
from typing import Any

from omegaconf import MISSING, OmegaConf

from skillpipe import config, roles, sections
from skillpipe.envs.opening import environment
from skillpipe.errors import SkillpipeError
from skillpipe.executor import read_run, run_tasks
from skillpipe.gating import Rule, pair_up
from skillpipe.records import Usage, ValScore
from skillpipe.scoring import Metric, mean, require_coverage
from skillpipe.sections import Budget, Execution
from skillpipe.skill import body_for_target, read_folder
from skillpipe.state import val_scores

DETERMINISTIC = (
    "every run scored the same on every task: this target is deterministic, a changed score is the skill's doing"
)


@dataclass
class Args(sections.Rollout):
    """rollout's section of params.yaml, what to run how often, and what may be spent."""

    k: int = MISSING
    skill: str = ""
    prompts: str = "prompts"
    execution: Execution = MISSING
    budget: Budget = MISSING


def noise(runs: Sequence[Sequence[ValScore]], gates: Mapping[str, Rule], metric: Metric) -> list[str]:
    """Lines of figures about two or more runs of one skill on the same tasks.

    Mean, least, greatest and standard deviation (n - 1) of the runs' scores; how many tasks varied; and per gate the
    share of ordered pairs of runs in which its rule accepts the second over the first, though it is the same skill.
    """
    scores = [score for run in runs if (score := mean(run, metric)) is not None]
    if len(scores) < len(runs):
        raise SkillpipeError(f"{len(runs) - len(scores)} of {len(runs)} runs have no score at all")
    by_task = list(zip(*([metric.of(row) for row in run] for run in runs), strict=True))
    varied = sum(len(set(values) - {None}) > 1 for values in by_task)
    lines = [
        f"{len(runs)} runs of {len(by_task)} tasks: mean {fmean(scores):.3f}  min {min(scores):.3f}  "
        f"max {max(scores):.3f}  sd {stdev(scores):.3f}"
    ]
    if not varied:
        return [*lines, DETERMINISTIC]
    lines.append(f"{varied} of {len(by_task)} tasks did not score the same in every run")
    pairs = [pair_up(metric, before, after) for before, after in permutations(runs, 2)]
    lines.append(f"the same skill would have been accepted, of {len(pairs)} pairs of runs:")
    width = max(map(len, gates), default=0)
    for name, rule in gates.items():
        share = sum(bool(each) and rule.judge(each).accept for each in pairs) / len(pairs)
        lines.append(f"  {name:<{width}}  {share:4.0%}")
    return lines


def all_gates() -> dict[str, Rule]:
    """The rules of all files in conf/gate, by file name, in alphabetical order."""
    rules: dict[str, Rule] = {}
    for path in sorted((config.project_root() / "conf" / "gate").glob("*.yaml")):
        choice: Any = OmegaConf.to_container(OmegaConf.load(path), resolve=True)
        if not isinstance(choice, dict) or not isinstance(choice.get("rule"), dict):
            raise SkillpipeError(f"conf/gate/{path.name}: no rule; name one as conf/gate/strict.yaml does")
        rules[path.stem] = config.build(choice["rule"], f"conf/gate/{path.name}: rule")
    return rules


@config.stage("rollout", Args)
def main(args: Args) -> None:
    if args.k < 2:
        raise SkillpipeError(f"k is {args.k}; allowed is 2 or more: one run has no spread")
    metric, gates = Metric(args.scores.metric, args.scores.mixed_weight), all_gates()
    path = args.skill or config.read_params()["skill"]
    skill, label = body_for_target(read_folder(path)["SKILL.md"].decode()), f"{path} on val, {args.k} times"
    execution, budget, run = args.execution, args.budget, read_run(args.execution, args.scores, label, args.k)
    with (
        roles.target(args.target, execution, budget, Usage()) as target,
        environment(args.env, args.judge, execution, budget, Usage(), args.prompts) as env,
    ):
        rollouts = run_tasks(env, env.tasks("val"), skill, target, run)
    require_coverage(rollouts, args.min_coverage, label)
    runs = [val_scores(rollouts[number :: args.k]) for number in range(args.k)]
    print("\n".join(noise(runs, gates, metric)))


if __name__ == "__main__":
    main()
