"""Read what the steps of a run left beside their state, as far as there is any."""

from collections.abc import Sequence
from pathlib import Path

from skillpipe.artifacts import read_record, read_rows
from skillpipe.page.view import StepFiles
from skillpipe.records import ApplyReport, Rollout


def read_steps(runs: str | Path, keys: Sequence[str]) -> tuple[StepFiles, ...]:
    """The candidate's report and the val rollouts of each step of `keys`, in that order.

    A file that is not there is left out, since a run may have failed before it, and so is a step without any. Raises
    SkillpipeError for one that is there and malformed.
    """
    return tuple(step for key in keys if (step := _read(Path(runs) / key, key)) != StepFiles(key))


def _read(folder: Path, key: str) -> StepFiles:
    report, val = folder / "candidate" / "report.json", folder / "val.jsonl"
    return StepFiles(
        key,
        read_record(report, ApplyReport) if report.is_file() else None,
        tuple(read_rows(val, Rollout)) if val.is_file() else (),
    )
