"""Make the candidate: the best of the merged edits, as many as the edit budget allows, applied to the current skill.

Reads: the step's merged edits, the state before it.
Writes: the folder `out` with the candidate's skill/ and report.json: what became of every edit.
Model calls: of the optimizer: one, when there are more edits than the edit budget allows or when it chooses the budget;
one to rewrite the body; one to compact execution notes; none by a program.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import cast, get_args

from omegaconf import MISSING

from skillpipe import config, roles, sections
from skillpipe.artifacts import new_folder, read_record, write_record
from skillpipe.candidate import SKILL_FILE, Limits, Made, from_body, from_edits, note_lines, with_region
from skillpipe.errors import SkillpipeError
from skillpipe.optimizers import Optimizer
from skillpipe.records import ApplyReport, Edit, Memory, Merged, UpdateMode, Usage
from skillpipe.sections import Budget, Execution
from skillpipe.skill import write_folder
from skillpipe.state import read_state


@dataclass
class Args(sections.Apply):
    """apply's section of params.yaml, its step, edit budget and paths, how to run, and what may be spent.

    `edit_budget` is null where the optimizer chooses.
    """

    step: str = MISSING
    edit_budget: int | None = MISSING
    state: str = MISSING
    merged: str = MISSING
    prompts: str = MISSING
    out: str = MISSING
    execution: Execution = MISSING
    budget: Budget = MISSING


@dataclass(frozen=True)
class Way:
    """How a candidate is made. `max_notes` is the most lines of execution notes; None for none at all."""

    mode: UpdateMode
    edit_budget: int | None
    max_notes: int | None
    limits: Limits


async def apply(
    skill: Mapping[str, bytes], merged: Merged, memory: Memory, optimizer: Optimizer, way: Way
) -> tuple[dict[str, bytes], ApplyReport]:
    """The candidate and what became of every edit, in rank order; of a rewrite: its differences from the skill.

    The candidate equals the skill when nothing took effect. A rewrite that could not be had falls back to the edits
    that it should have carried out.
    """
    text = skill[SKILL_FILE].decode()
    ranking = await optimizer.rank(text, merged, way.edit_budget, memory)
    budget = ranking.chosen or 0 if way.edit_budget is None else way.edit_budget
    ranked = [merged.edits[index] for index in ranking.order]
    usage, fallbacks = merged.usage + ranking.usage, [merged.fallback, ranking.fallback]
    body, reasoning = merged.body, ranking.reasoning or merged.reasoning
    if way.mode == "rewrite" and ranked[:budget]:
        rewritten = await optimizer.rewrite(text, ranked[:budget], memory)
        body, usage = rewritten.body, usage + rewritten.usage
        reasoning = rewritten.reasoning or reasoning
        fallbacks.append(rewritten.failure and f"no rewrite, edits instead: {rewritten.failure}")
    if way.mode == "full_rewrite" and ranked and not body:
        raise SkillpipeError("update_mode is full_rewrite and this optimizer writes edits; set update_mode=patch")
    if body:
        candidate, outcomes = from_body(skill, body, _tasks(ranked[:budget]), way.limits)
    else:
        candidate, outcomes = from_edits(skill, ranked, budget, way.limits)
    if way.max_notes is not None:
        (candidate, noted), spent = await _note(candidate, merged, optimizer, way.max_notes, way.limits)
        outcomes, usage = [*outcomes, *noted], usage + spent
    return candidate, ApplyReport(
        step=merged.step,
        edit_budget=budget,
        changed=candidate != dict(skill),
        outcomes=tuple(outcomes),
        reasoning=reasoning,
        reply_failures=merged.failures,
        fallbacks=tuple(reason for reason in fallbacks if reason),
        usage=usage,
        mode=way.mode,
        patterns=merged.patterns,
    )


async def _note(
    candidate: dict[str, bytes], merged: Merged, optimizer: Optimizer, max_notes: int, limits: Limits
) -> tuple[Made, Usage]:
    lines, spent = note_lines(candidate, merged.notes), Usage()
    if not lines:
        return (candidate, []), spent
    if len(lines) > max_notes:
        lines, spent = await optimizer.compact(lines)
    tasks = dict.fromkeys(task for note in merged.notes for task in note.tasks)
    return with_region(candidate, "appendix", "\n".join(lines), tuple(tasks), limits), spent


def _tasks(edits: list[Edit]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(task for edit in edits for task in edit.tasks))


def _mode(named: str) -> UpdateMode:
    for mode in get_args(UpdateMode):
        if mode == named:
            return cast(UpdateMode, mode)
    raise SkillpipeError(f"update_mode is {named!r}; allowed are {', '.join(get_args(UpdateMode))}")


@config.stage("apply", Args)
def main(args: Args) -> None:
    if args.edit_budget is not None and args.edit_budget < 0:
        raise SkillpipeError(f"edit_budget is {args.edit_budget}; allowed is 0 or more, or null: the optimizer chooses")
    state, merged = read_state(args.state), read_record(args.merged, Merged)
    limits = Limits(PurePath(args.skill_name).name, args.editable, args.max_skill_tokens, args.max_skill_lines)
    notes = args.execution_notes.max_lines if args.execution_notes.enabled else None
    way, spent = Way(_mode(args.update_mode), args.edit_budget, notes, limits), state.spent.optimizer + merged.usage
    with roles.optimizer(args.optimizer, args.execution, args.budget, spent, args.prompts) as optimizer:
        made = apply(state.current.skill, merged, state.recalled(args.step), optimizer, way)
        candidate, report = asyncio.run(made)
    with new_folder(args.out) as out:
        write_folder(out / "skill", candidate)
        write_record(out / "report.json", report)


if __name__ == "__main__":
    main()
