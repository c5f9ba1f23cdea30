"""Make the candidate: the best of the merged edits, as many as the edit budget allows, applied to the current skill.

Reads: the step's merged edits, the state before it.
Writes: the folder `out` with the candidate's skill/ and report.json: what became of every edit.
Model calls: of the optimizer: one, when there are more edits than the edit budget allows; none by a program.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from omegaconf import MISSING

from skillpipe import config, roles, sections
from skillpipe.artifacts import new_folder, read_record, write_record
from skillpipe.errors import SkillpipeError
from skillpipe.records import ApplyReport, EditOutcome, Merged, Ranking
from skillpipe.sections import Budget, Execution
from skillpipe.skill import apply_to_folder, write_folder
from skillpipe.state import read_state


@dataclass
class Args(sections.Apply):
    """apply's section of params.yaml, its step, edit budget and paths, how to run, and what may be spent."""

    step: str = MISSING
    edit_budget: int = MISSING
    state: str = MISSING
    merged: str = MISSING
    prompts: str = MISSING
    out: str = MISSING
    execution: Execution = MISSING
    budget: Budget = MISSING


def apply(
    skill: Mapping[str, bytes],
    merged: Merged,
    ranking: Ranking,
    edit_budget: int,
    *,
    skill_name: str,
    editable: Sequence[str],
    max_skill_tokens: int,
    max_skill_lines: int,
) -> tuple[dict[str, bytes], ApplyReport]:
    """The candidate, and one outcome per merged edit, in rank order.

    Edits are applied in rank order, each to the result of the one before. The budget counts edits that took effect:
    one that matches nothing costs nothing, and those left when it is spent are over_budget. The candidate equals the
    skill when no edit took effect.
    """
    candidate, outcomes, applied = dict(skill), [], 0
    for edit in (merged.edits[index] for index in ranking.order):
        if applied == edit_budget:
            outcomes.append(EditOutcome(edit, "over_budget", f"the edit budget is {edit_budget}", None, None))
            continue
        candidate, (report,) = apply_to_folder(
            candidate,
            [edit],
            editable=editable,
            folder_name=skill_name,
            max_tokens=max_skill_tokens,
            max_lines=max_skill_lines,
        )
        applied += report.status == "applied"
        outcomes.append(EditOutcome(edit, report.status, report.reason, report.old_lines, report.lines))
    return candidate, ApplyReport(
        step=merged.step,
        edit_budget=edit_budget,
        changed=candidate != dict(skill),
        outcomes=tuple(outcomes),
        reasoning=ranking.reasoning,
        reply_failures=merged.failures,
        fallbacks=tuple(reason for reason in (merged.fallback, ranking.fallback) if reason),
        usage=merged.usage + ranking.usage,
    )


@config.stage("apply", Args)
def main(args: Args) -> None:
    if args.edit_budget < 0:
        raise SkillpipeError(f"edit_budget is {args.edit_budget}; allowed is 0 or more")
    state, merged = read_state(args.state), read_record(args.merged, Merged)
    skill, spent = state.current.skill, state.spent.optimizer + merged.usage
    with roles.optimizer(args.optimizer, args.execution, args.budget, spent, args.prompts) as optimizer:
        ranking = asyncio.run(optimizer.rank(skill["SKILL.md"].decode(), merged, args.edit_budget))
    candidate, report = apply(
        skill,
        merged,
        ranking,
        args.edit_budget,
        skill_name=PurePath(args.skill_name).name,
        editable=args.editable,
        max_skill_tokens=args.max_skill_tokens,
        max_skill_lines=args.max_skill_lines,
    )
    with new_folder(args.out) as out:
        write_folder(out / "skill", candidate)
        write_record(out / "report.json", report)


if __name__ == "__main__":
    main()
