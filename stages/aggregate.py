"""Merge the patches of a step into one ranked list of edits.

Reads: the step's patches. Writes: the merged list to the file `out`. Model calls: none with a program as optimizer.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from omegaconf import MISSING
from skillpipe import config
from skillpipe.artifacts import read_rows, write_record
from skillpipe.optimizers import Optimizer
from skillpipe.records import Merged, Patch


@dataclass
class Args(config.Aggregate):
    """aggregate's section of params.yaml, its step and its paths."""

    step: str = MISSING
    patches: str = MISSING
    out: str = MISSING


def aggregate(optimizer: Optimizer, step: str, patches: Sequence[Patch]) -> Merged:
    """The optimizer's merge of all patches."""
    return asyncio.run(optimizer.merge(step, patches))


@config.stage("aggregate", Args)
def main(args: Args) -> None:
    optimizer: Optimizer = config.build(args.optimizer, "optimizer")
    write_record(args.out, aggregate(optimizer, args.step, read_rows(args.patches, Patch)))


if __name__ == "__main__":
    main()
