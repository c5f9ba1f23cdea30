"""Lay out a run: the tasks of each split, checked, and one batch of train tasks per step.

Reads: the environment's data, the initial skill, conf/ (only whether params.yaml is up to date with it).
Writes: train.jsonl, val.jsonl, test.jsonl, batches/<step>.jsonl, splits.json (how tasks were cut) and summary.json
in the folder `out`.
Model calls: none.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from omegaconf import MISSING

from skillpipe import config, roles, sections
from skillpipe.artifacts import new_folder, write_record, write_rows
from skillpipe.envs import Calls, manifest, most_calls, warnings
from skillpipe.envs.opening import environment
from skillpipe.errors import SkillpipeError
from skillpipe.estimate import WORTHWHILE_STEPS, Extent, estimate, too_small
from skillpipe.records import SPLITS, Estimate, PlanSummary, Split, Task, Usage
from skillpipe.schedule import step_keys
from skillpipe.sections import Execution
from skillpipe.skill import body_for_target, read_folder, validate
from skillpipe.splits import batches, check_splits


@dataclass
class Args(sections.Plan):
    """plan's section of params.yaml and its paths."""

    conf: str = MISSING
    skill: str = MISSING
    prompts: str = "prompts"
    out: str = MISSING
    execution: Execution = MISSING


def plan(
    tasks: Mapping[Split, Sequence[Task]], steps: Sequence[str], batch_size: int, seed: int, stratify: bool
) -> dict[str, list[Task]]:
    """The batch of each step. Raises SkillpipeError for splits that cannot be trained and judged on."""
    check_splits(tasks, batch_size)
    return dict(zip(steps, batches(tasks["train"], batch_size, seed, stratify=stratify), strict=False))


def warn_of_skill(folder: str) -> tuple[str, ...]:
    """What is amiss with the initial skill: warnings, since training starts from whatever there is."""
    text = read_folder(folder)["SKILL.md"].decode()
    findings = validate(text, None if Path(folder).is_file() else Path(folder).name)
    return tuple(f"{folder}: line {finding.line}: {finding.message}" for finding in findings)


def estimated(
    args: Args, tasks: Mapping[Split, Sequence[Task]], attempt: Calls, steps: int, slow_updates: int
) -> Estimate:
    """What a run of this length takes at most. Raises SkillpipeError for a cost cap that cannot be kept."""
    skill = body_for_target(read_folder(args.skill)["SKILL.md"].decode())
    nothing = Usage()
    with roles.target(args.target, args.execution, args.budget, nothing) as target:
        price, max_tokens = target.list_price, target.max_tokens
    with roles.optimizer(args.optimizer, args.execution, args.budget, nothing, prompts="") as optimizer:
        calls = steps * optimizer.calls_per_step(args.batch_size) + slow_updates * optimizer.calls_per_epoch()
    tests = 3 if args.test_last else 2
    return estimate(
        tasks,
        skill,
        Extent(steps, args.batch_size, slow_updates, args.slow_update_samples, args.repeats, tests),
        max_tokens=max_tokens,
        price=price,
        optimizer_calls=calls,
        attempt=attempt,
    )


def require_fresh(params_digest: str, conf: str) -> None:
    """Raise SkillpipeError when conf/ has changed since params.yaml was composed from it."""
    if config.conf_digest(conf) != params_digest:
        raise SkillpipeError(
            f"{conf}/ has changed since params.yaml was composed from it; type `python stages/compose.py` (with the "
            "overrides you want, such as env=inbox) and run again"
        )


@config.stage("plan", Args)
def main(args: Args) -> None:
    require_fresh(args.conf_digest, args.conf)
    with environment(args.env, args.judge, args.execution, args.budget, Usage(), args.prompts) as env:
        tasks = {split: env.tasks(split) for split in SPLITS}
        noted, how, attempt = warnings(env), manifest(env, tasks), most_calls(env)
    steps = step_keys(args.num_epochs, args.steps_per_epoch)
    planned = plan(tasks, steps, args.batch_size, args.seed, args.stratify)
    few = estimated(args, tasks, attempt, WORTHWHILE_STEPS, 0)
    found = (*warn_of_skill(args.skill), *noted, *too_small(args.budget, few))
    summary = PlanSummary(
        train=len(tasks["train"]),
        val=len(tasks["val"]),
        test=len(tasks["test"]),
        batch_size=args.batch_size,
        batches=tuple(steps),
        estimate=estimated(args, tasks, attempt, len(steps), args.num_epochs - 1 if args.slow_update else 0),
        warnings=found,
    )
    with new_folder(args.out) as out:
        for split in SPLITS:
            write_rows(out / f"{split}.jsonl", tasks[split])
        for step, batch in planned.items():
            write_rows(out / "batches" / f"{step}.jsonl", batch)
        write_record(out / "splits.json", how)
        write_record(out / "summary.json", summary)
    for warning in found:
        print(f"warning: {warning}", file=sys.stderr)


if __name__ == "__main__":
    main()
