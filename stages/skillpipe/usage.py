"""What a run has used so far, as its files say."""

from collections.abc import Sequence
from pathlib import Path

from skillpipe.artifacts import read_rows
from skillpipe.records import Rollout, Spent, StepRecord, Usage


def of_rollouts(rollouts: Sequence[Rollout]) -> Spent:
    """What the target and the judge used."""
    target, judge = (row.usage for row in rollouts), (row.judge_usage for row in rollouts)
    return Spent(target=sum(target, Usage()), judge=sum(judge, Usage()))


def used(paths: Sequence[str]) -> Spent:
    """What has been used: by the histories (history.jsonl) and rollouts (any other file) among `paths`."""
    spent = Spent()
    for path in paths:
        if Path(path).name == "history.jsonl":
            spent += sum((row.spent for row in read_rows(path, StepRecord)), Spent())
        else:
            spent += of_rollouts(read_rows(path, Rollout))
    return spent
