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
from skillpipe.records import Memory, Patch, Rollout
from skillpipe.sections import Budget, Execution
from skillpipe.state import read_state


@dataclass
class Args(sections.Reflect):
    """reflect's section of params.yaml, its step, its paths, how to run, and what may be spent."""

    step: str = MISSING
    state: str = MISSING
    rollouts: str = MISSING
    prompts: str = MISSING
    out: str = MISSING
    execution: Execution = MISSING
    budget: Budget = MISSING


def reflect(optimizer: Optimizer, skill: str, rollouts: Sequence[Rollout], memory: Memory) -> list[Patch]:
    """The optimizer's patches for the current skill, in its order."""
    return asyncio.run(optimizer.reflect(skill, rollouts, memory))


@config.stage("reflect", Args)
def main(args: Args) -> None:
    state = read_state(args.state)
    rollouts = read_rows(args.rollouts, Rollout)
    skill, memory = state.current.skill["SKILL.md"].decode(), state.recalled(args.step)
    with roles.optimizer(args.optimizer, args.execution, args.budget, state.spent.optimizer, args.prompts) as optimizer:
        patches = reflect(optimizer, skill, rollouts, memory)
    write_rows(args.out, patches)


if __name__ == "__main__":
    main()
