"""Merge the patches of a step into one ranked list of edits.

Reads: the step's patches, the state before it. Writes: the merged list to the file `out`.
Model calls: of the optimizer: one per batch of patches to merge; none by a program.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from omegaconf import MISSING

from skillpipe import config, roles, sections
from skillpipe.artifacts import read_rows, write_record
from skillpipe.optimizers import Optimizer
from skillpipe.records import Memory, Merged, Patch
from skillpipe.sections import Budget, Execution
from skillpipe.state import read_state


@dataclass
class Args(sections.Aggregate):
    """aggregate's section of params.yaml, its step, its paths, how to run, and what may be spent."""

    step: str = MISSING
    state: str = MISSING
    patches: str = MISSING
    prompts: str = MISSING
    out: str = MISSING
    execution: Execution = MISSING
    budget: Budget = MISSING


def aggregate(optimizer: Optimizer, step: str, skill: str, patches: Sequence[Patch], memory: Memory) -> Merged:
    """The optimizer's merge of all patches for the skill."""
    return asyncio.run(optimizer.merge(step, skill, patches, memory))


@config.stage("aggregate", Args)
def main(args: Args) -> None:
    state, patches = read_state(args.state), read_rows(args.patches, Patch)
    skill = state.current.skill["SKILL.md"].decode()
    spent = sum((patch.usage for patch in patches), state.spent.optimizer)
    with roles.optimizer(args.optimizer, args.execution, args.budget, spent, args.prompts) as optimizer:
        merged = aggregate(optimizer, args.step, skill, patches, state.recalled(args.step))
    write_record(args.out, merged)


if __name__ == "__main__":
    main()
