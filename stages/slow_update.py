"""At an epoch's end: compare its skill with that of the epoch before, and write guidance into the skill.

Reads: the last state of the epoch, the current skill of the epoch before, train's and val's tasks, prompts.
Writes: the folder `out`: pairs.jsonl, candidate/, val.jsonl and the state that the next epoch starts from.
Model calls: none when both skills are the same, or training has ended. Else of the target: two per sampled train task,
and at most one per val task and repeat; of the optimizer: one; none by a program.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from omegaconf import MISSING

from skillpipe import config, roles, sections
from skillpipe.artifacts import new_folder, read_rows, write_record, write_rows
from skillpipe.candidate import SKILL_FILE, Limits, with_region
from skillpipe.comparing import pair_up, sample
from skillpipe.envs import Environment
from skillpipe.envs.opening import environment
from skillpipe.executor import Run, read_run, run_tasks
from skillpipe.gating import Off, Rule
from skillpipe.judgement import read_judgement
from skillpipe.models import Model
from skillpipe.optimizers import Guidance, Optimizer
from skillpipe.records import ApplyReport, EditOutcome, Rollout, Task, TaskPair
from skillpipe.scoring import require_coverage
from skillpipe.sections import Budget, Execution
from skillpipe.skill import body_for_target, read_folder, read_region, write_folder
from skillpipe.state import State, known, read_state, write_state
from skillpipe.transition import Evaluated, Judgement, advance
from skillpipe.validation import validate


@dataclass
class Args(sections.SlowUpdate):
    """slow_update's section of params.yaml, its epoch and paths, how to run, and what may be spent."""

    epoch: str = MISSING
    before: str = MISSING
    state: str = MISSING
    train: str = MISSING
    val: str = MISSING
    prompts: str = MISSING
    out: str = MISSING
    execution: Execution = MISSING
    budget: Budget = MISSING


@dataclass(frozen=True)
class Way:
    """How an epoch is compared and its guidance validated. `rule` is None where all val tasks are to be run."""

    samples: int
    pair_policy: str
    seed: int
    min_coverage: float
    compared: Run
    validated: Run
    rule: Rule | None
    limits: Limits


@dataclass(frozen=True)
class Updated:
    """What a slow update made: its evidence, its candidate, the candidate's rollouts on val, the state after it."""

    pairs: Sequence[TaskPair]
    candidate: Mapping[str, bytes]
    report: ApplyReport
    val: Sequence[Rollout]
    state: State


def slow_update(
    epoch: str,
    state: State,
    before: Mapping[str, bytes],
    train: Sequence[Task],
    val: Sequence[Task],
    env: Environment,
    target: Model,
    optimizer: Optimizer,
    judgement: Judgement,
    way: Way,
) -> Updated:
    """The update at the end of `epoch`, whose last state is `state`; `before` is the skill of the epoch before.

    The skill stays as it is when both are the same, when the pairs of the policy are none, and when the optimizer has
    nothing to say or could not be understood; its notes to itself are kept even where its guidance is rejected.
    """
    skill, metric = state.current.skill, judgement.metric
    rollouts: list[Rollout] = []
    pairs: list[TaskPair] = []
    if not state.stop and before != skill:
        tasks = sample(train, way.samples, way.seed, epoch)
        old, new = (_run(env, tasks, files, target, way) for files in (before, skill))
        rollouts, pairs = [*old, *new], pair_up(old, new, metric, way.pair_policy)
    guidance = _guide(state, epoch, pairs, optimizer)
    candidate, report = _candidate(epoch, skill, guidance, pairs, way.limits)
    done: list[Rollout] = []
    if candidate != skill and not known(state.tried, candidate, skill):
        text, scores = candidate[SKILL_FILE].decode(), state.current.val
        done = validate(
            env, target, text, val, way.validated, rule=way.rule, metric=metric, current=scores, seed=way.seed
        )
        require_coverage(done, way.min_coverage, way.validated.label)
    why = guidance.failure or ("the pairs gave no new guidance" if pairs else "nothing to compare")
    evaluated = Evaluated(candidate, report, done, rollouts, unchanged="no_change", why=why)
    after = advance(state, evaluated, judgement)
    after = replace(after, memory=replace(after.memory, notes=guidance.notes or after.memory.notes))
    return Updated(pairs, candidate, report, done, after)


def _run(env: Environment, tasks: Sequence[Task], skill: Mapping[str, bytes], target: Model, way: Way) -> list[Rollout]:
    rollouts = run_tasks(env, tasks, body_for_target(skill[SKILL_FILE].decode()), target, way.compared)
    require_coverage(rollouts, way.min_coverage, way.compared.label)
    return rollouts


def _guide(state: State, epoch: str, pairs: Sequence[TaskPair], optimizer: Optimizer) -> Guidance:
    if not pairs:
        return Guidance("")
    text = state.current.skill[SKILL_FILE].decode()
    return asyncio.run(optimizer.compare(text, read_region(text, "slow_update"), pairs, state.recalled(epoch)))


def _candidate(
    epoch: str, skill: Mapping[str, bytes], guidance: Guidance, pairs: Sequence[TaskPair], limits: Limits
) -> tuple[dict[str, bytes], ApplyReport]:
    candidate, outcomes = dict(skill), list[EditOutcome]()
    tasks = [pair.after.task for pair in pairs]
    if guidance.text:
        candidate, outcomes = with_region(skill, "slow_update", guidance.text, tasks, limits)
    return candidate, ApplyReport(
        step=epoch,
        edit_budget=1,
        changed=candidate != skill,
        outcomes=tuple(outcomes),
        reasoning=guidance.reasoning,
        reply_failures=int(bool(guidance.failure)),
        usage=guidance.usage,
    )


@config.stage("slow_update", Args)
def main(args: Args) -> None:
    state, judgement, way = read_state(args.state), read_judgement(args.gate), _way(args)
    if not args.gated:
        judgement = replace(judgement, rule=Off(), policies=())
    spent, execution, budget, validated = state.spent, args.execution, args.budget, args.validate
    with (
        roles.target(validated.target, execution, budget, spent.target) as target,
        environment(validated.env, validated.judge, execution, budget, spent.judge, args.prompts) as env,
        roles.optimizer(args.optimizer, execution, budget, spent.optimizer, args.prompts) as optimizer,
    ):
        updated = slow_update(
            args.epoch,
            state,
            read_folder(args.before),
            read_rows(args.train, Task),
            read_rows(args.val, Task),
            env,
            target,
            optimizer,
            judgement,
            way,
        )
    with new_folder(args.out) as out:
        write_rows(out / "pairs.jsonl", updated.pairs)
        write_folder(out / "candidate" / "skill", updated.candidate)
        write_record(out / "candidate" / "report.json", updated.report)
        write_rows(out / "val.jsonl", updated.val)
        write_state(out / "state", updated.state)


def _way(args: Args) -> Way:
    validated, execution = args.validate, args.execution
    rule = validated.rule if args.gated else None
    return Way(
        samples=args.samples,
        pair_policy=args.pair_policy,
        seed=validated.seed,
        min_coverage=validated.min_coverage,
        compared=read_run(execution, validated.scores, f"{args.out}/compared"),
        validated=read_run(execution, validated.scores, f"{args.out}/val", validated.repeats),
        rule=config.build(rule, "gate.rule") if rule else None,
        limits=Limits(PurePath(args.skill_name).name, (SKILL_FILE,), args.max_skill_tokens, args.max_skill_lines),
    )


if __name__ == "__main__":
    main()
