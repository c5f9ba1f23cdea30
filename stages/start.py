"""Make the state that training starts from: the initial skill, its val scores, an empty lineage.

Reads: the initial skill folder, its rollouts on val. Writes: a state folder. Model calls: none.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from omegaconf import MISSING

from skillpipe import config
from skillpipe.artifacts import read_rows
from skillpipe.errors import SkillpipeError
from skillpipe.records import Decision, Rollout, Spent, StepRecord, Usage
from skillpipe.scoring import coverage, mean
from skillpipe.skill import read_folder
from skillpipe.state import State, Version, val_scores, write_state


@dataclass
class Args:
    """start's paths."""

    skill: str = MISSING
    val: str = MISSING
    out: str = MISSING


def start(skill: Mapping[str, bytes], rollouts: Sequence[Rollout]) -> State:
    """A state in which the initial skill is both current and best. At least one rollout must have a score."""
    initial = Version(dict(skill), val_scores(rollouts))
    score = mean(rollouts)
    if score is None:
        raise SkillpipeError("start: no val task was scored with the initial skill; run the baseline stage again")
    n = sum(row.hard is not None for row in rollouts)
    record = StepRecord(
        step="start",
        decision=Decision("baseline", "the initial skill", score, None, n),
        current=score,
        best=score,
        coverage=coverage(rollouts),
        train_hard=None,
        edits_proposed=0,
        edits_applied=0,
        spent=Spent(target=sum((row.usage for row in rollouts), Usage())),
    )
    return State(initial, initial, (record,), ())


@config.stage(None, Args)
def main(args: Args) -> None:
    write_state(args.out, start(read_folder(args.skill), read_rows(args.val, Rollout)))


if __name__ == "__main__":
    main()
