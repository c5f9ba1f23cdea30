"""Make the candidate: the best of the merged edits, as many as the edit budget allows, applied to the current skill.

Reads: the step's merged edits, the state before it.
Writes: the folder `out` with the candidate's skill/ and report.json: what became of every edit.
Model calls: none.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from omegaconf import MISSING
from skillpipe import config
from skillpipe.artifacts import new_folder, read_record, write_record
from skillpipe.errors import SkillpipeError
from skillpipe.records import ApplyReport, EditOutcome, Merged
from skillpipe.skill import apply_to_folder, write_folder
from skillpipe.state import read_state


@dataclass
class Args(config.Apply):
    """apply's section of params.yaml, its step, edit budget and paths."""

    step: str = MISSING
    edit_budget: int = MISSING
    state: str = MISSING
    merged: str = MISSING
    out: str = MISSING


def apply(
    skill: Mapping[str, bytes],
    merged: Merged,
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
    for edit in merged.edits:
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
    return candidate, ApplyReport(merged.step, edit_budget, candidate != dict(skill), tuple(outcomes))


@config.stage("apply", Args)
def main(args: Args) -> None:
    if args.edit_budget < 0:
        raise SkillpipeError(f"edit_budget is {args.edit_budget}; allowed is 0 or more")
    candidate, report = apply(
        read_state(args.state).current.skill,
        read_record(args.merged, Merged),
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
