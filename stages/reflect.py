"""Read this step's attempts and propose edits.

Reads: the step's rollouts on train, the state before it. Writes: patches, one per line, to the file `out`.
Model calls: of the optimizer: one per minibatch, and one more for a reply that cannot be used; none by a program.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from omegaconf import MISSING

from skillpipe import config, roles, sections
from skillpipe.artifacts import read_rows, write_rows
from skillpipe.optimizers import Optimizer
from skillpipe.records import Patch, Rollout
from skillpipe.sections import Budget, Execution
from skillpipe.state import State, read_state


@dataclass
class Args(sections.Reflect):
    """reflect's section of params.yaml, its paths, how to run, and what may be spent."""

    state: str = MISSING
    rollouts: str = MISSING
    prompts: str = MISSING
    out: str = MISSING
    execution: Execution = MISSING
    budget: Budget = MISSING


def reflect(optimizer: Optimizer, state: State, rollouts: Sequence[Rollout]) -> list[Patch]:
    """The optimizer's patches for the current skill, in its order."""
    skill = state.current.skill["SKILL.md"].decode()
    return asyncio.run(optimizer.reflect(skill, rollouts, state.lineage, state.refused))


@config.stage("reflect", Args)
def main(args: Args) -> None:
    state = read_state(args.state)
    rollouts = read_rows(args.rollouts, Rollout)
    with roles.optimizer(args.optimizer, args.execution, args.budget, state.spent.optimizer, args.prompts) as optimizer:
        patches = reflect(optimizer, state, rollouts)
    write_rows(args.out, patches)


if __name__ == "__main__":
    main()
