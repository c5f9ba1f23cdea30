"""All that a later step may know: the current and the best skill with their val scores, history, lineage.

On disk, a folder of one shape whoever wrote it (start or gate):

    current/skill/  current/val.jsonl  best/skill/  best/val.jsonl  history.jsonl  lineage.jsonl
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from skillpipe.artifacts import new_folder, read_rows, write_rows
from skillpipe.errors import SkillpipeError
from skillpipe.records import EditOutcome, LineageRow, Rollout, Spent, StepRecord, ValScore
from skillpipe.skill import read_folder, write_folder


@dataclass(frozen=True)
class Version:
    """A skill, as the files of its folder, and its score on each val task, in task order."""

    skill: dict[str, bytes]
    val: tuple[ValScore, ...]


@dataclass(frozen=True)
class State:
    """History and lineage are oldest first; the history's first row is the baseline."""

    current: Version
    best: Version
    history: tuple[StepRecord, ...]
    lineage: tuple[LineageRow, ...]

    @property
    def spent(self) -> Spent:
        """What the run has used up to here, by role."""
        return sum((row.spent for row in self.history), Spent())

    @property
    def refused(self) -> tuple[EditOutcome, ...]:
        """The edits of all steps that could not be applied, oldest first."""
        return tuple(outcome for row in self.history for outcome in row.refused)


def val_scores(rollouts: Sequence[Rollout]) -> tuple[ValScore, ...]:
    """The scores of val rollouts without their text, in the same order."""
    return tuple(ValScore(row.task, row.task_type, row.hard, row.soft) for row in rollouts)


def read_state(folder: str | Path) -> State:
    """Read a state folder. Raises SkillpipeError that names what is missing or malformed."""
    folder = Path(folder)
    if not folder.is_dir():
        raise SkillpipeError(f"{folder}: no such folder; run `dvc repro` up to the step before")
    return State(
        current=_read_version(folder / "current"),
        best=_read_version(folder / "best"),
        history=tuple(read_rows(folder / "history.jsonl", StepRecord)),
        lineage=tuple(read_rows(folder / "lineage.jsonl", LineageRow)),
    )


def write_state(folder: str | Path, state: State) -> None:
    """Write a state folder, whole or not at all, in place of one that is there."""
    with new_folder(folder) as fresh:
        for name, version in (("current", state.current), ("best", state.best)):
            write_folder(fresh / name / "skill", version.skill)
            write_rows(fresh / name / "val.jsonl", version.val)
        write_rows(fresh / "history.jsonl", state.history)
        write_rows(fresh / "lineage.jsonl", state.lineage)


def _read_version(folder: Path) -> Version:
    return Version(read_folder(folder / "skill"), tuple(read_rows(folder / "val.jsonl", ValScore)))
