"""Make the state that training starts from: the initial skill, its val scores, an empty lineage.

Reads: the initial skill folder, its rollouts on val. Writes: a state folder. Model calls: none.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from omegaconf import MISSING

from skillpipe import config, sections
from skillpipe.artifacts import read_rows
from skillpipe.records import Rollout
from skillpipe.scoring import Metric
from skillpipe.skill import read_folder
from skillpipe.state import State, write_state
from skillpipe.transition import first


@dataclass
class Args(sections.Start):
    """start's section of params.yaml and its paths."""

    skill: str = MISSING
    val: str = MISSING
    out: str = MISSING


def start(skill: Mapping[str, bytes], rollouts: Sequence[Rollout], metric: Metric) -> State:
    """A state in which the initial skill is both current and best. At least one rollout must have a score."""
    return first(skill, rollouts, metric)


@config.stage("start", Args)
def main(args: Args) -> None:
    metric = Metric(args.scores.metric, args.scores.mixed_weight)
    write_state(args.out, start(read_folder(args.skill), read_rows(args.val, Rollout), metric))


if __name__ == "__main__":
    main()
