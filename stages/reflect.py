"""Read this step's attempts and propose edits.

Reads: the step's rollouts on train, the state before it. Writes: patches, one per line, to the file `out`.
Model calls: none with a program as optimizer.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from omegaconf import MISSING
from skillpipe import config
from skillpipe.artifacts import read_rows, write_rows
from skillpipe.optimizers import Optimizer
from skillpipe.records import LineageRow, Patch, Rollout
from skillpipe.state import read_state


@dataclass
class Args(config.Reflect):
    """reflect's section of params.yaml and its paths."""

    state: str = MISSING
    rollouts: str = MISSING
    out: str = MISSING


def reflect(optimizer: Optimizer, skill: str, rollouts: Sequence[Rollout], tried: Sequence[LineageRow]) -> list[Patch]:
    """The optimizer's patches for the skill, in its order."""
    return asyncio.run(optimizer.reflect(skill, rollouts, tried))


@config.stage("reflect", Args)
def main(args: Args) -> None:
    state = read_state(args.state)
    rollouts = read_rows(args.rollouts, Rollout)
    optimizer: Optimizer = config.build(args.optimizer, "optimizer")
    skill = state.current.skill["SKILL.md"].decode()
    write_rows(args.out, reflect(optimizer, skill, rollouts, state.lineage))


if __name__ == "__main__":
    main()
