"""All that a later step may know: the current and the best skill with their val scores, history, lineage, memory.

On disk, a folder of one shape whoever wrote it (start, gate or slow_update):

    current/skill/  current/val.jsonl  best/skill/  best/val.jsonl
    history.jsonl  lineage.jsonl  tried.jsonl  memory.json  stop.txt
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from skillpipe.artifacts import new_folder, read_record, read_rows, read_text, write_record, write_rows, write_text
from skillpipe.errors import SkillpipeError
from skillpipe.records import LineageRow, Memory, Rollout, Spent, StepRecord, Tried, ValScore
from skillpipe.schedule import epoch_of
from skillpipe.skill import read_folder, write_folder


@dataclass(frozen=True)
class Version:
    """A skill, as the files of its folder, and its score on each val task, in task order."""

    skill: dict[str, bytes]
    val: tuple[ValScore, ...]

    @property
    def digest(self) -> str:
        """16 hex digits that stand for the skill's files, names and bytes."""
        return digest(self.skill)


@dataclass(frozen=True)
class State:
    """History, lineage and tried candidates are oldest first; the history's first row is the baseline.

    `stop` says why no further step works; it is empty while training goes on.
    """

    current: Version
    best: Version
    history: tuple[StepRecord, ...]
    lineage: tuple[LineageRow, ...]
    tried: tuple[Tried, ...] = ()
    memory: Memory = field(default_factory=Memory)
    stop: str = ""

    @property
    def spent(self) -> Spent:
        """What the run has used up to here, by role."""
        return sum((row.spent for row in self.history), Spent())

    def recalled(self, step: str) -> Memory:
        """What the optimizer remembers in `step`: the steps of the same epoch, and the notes."""
        steps = tuple(row for row in self.memory.steps if epoch_of(row.step) == epoch_of(step))
        return replace(self.memory, steps=steps)


def digest(skill: Mapping[str, bytes]) -> str:
    """16 hex digits that stand for a skill's files, names and bytes."""
    sha = hashlib.sha256()
    for name, data in sorted(skill.items()):
        sha.update(f"{name}\0{len(data)}\0".encode())
        sha.update(data)
    return sha.hexdigest()[:16]


def known(tried: Sequence[Tried], skill: Mapping[str, bytes], current: Mapping[str, bytes]) -> Tried | None:
    """The val scores of an earlier candidate of this run with the same files, None when they have to be found out.

    Scores that were cut short, since they could not change the decision, hold only against the same current skill.
    """
    wanted, against = digest(skill), digest(current)
    for row in reversed(tried):
        if row.digest == wanted and (row.complete or row.against == against):
            return row
    return None


def val_scores(rollouts: Sequence[Rollout]) -> tuple[ValScore, ...]:
    """A row per task, in order, without its text. Scores of repeats are averaged over those that have one."""
    groups: dict[str, list[Rollout]] = {}
    for row in rollouts:
        groups.setdefault(row.task, []).append(row)
    return tuple(
        ValScore(
            task,
            rows[0].task_type,
            _mean([row.hard for row in rows if row.hard is not None]),
            _mean([row.soft for row in rows if row.soft is not None]),
        )
        for task, rows in groups.items()
    )


def _mean(scores: Sequence[float]) -> float | None:
    return sum(scores) / len(scores) if scores else None


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
        tried=tuple(read_rows(folder / "tried.jsonl", Tried)),
        memory=read_record(folder / "memory.json", Memory),
        stop=read_text(folder / "stop.txt").strip(),
    )


def write_state(folder: str | Path, state: State) -> None:
    """Write a state folder, whole or not at all, in place of one that is there."""
    with new_folder(folder) as fresh:
        for name, version in (("current", state.current), ("best", state.best)):
            write_folder(fresh / name / "skill", version.skill)
            write_rows(fresh / name / "val.jsonl", version.val)
        write_rows(fresh / "history.jsonl", state.history)
        write_rows(fresh / "lineage.jsonl", state.lineage)
        write_rows(fresh / "tried.jsonl", state.tried)
        write_record(fresh / "memory.json", state.memory)
        write_text(fresh / "stop.txt", f"{state.stop}\n" if state.stop else "")


def _read_version(folder: Path) -> Version:
    return Version(read_folder(folder / "skill"), tuple(read_rows(folder / "val.jsonl", ValScore)))
