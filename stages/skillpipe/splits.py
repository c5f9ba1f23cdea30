"""Train, val and test: kept apart, and train cut into batches. Pure."""

import random
from collections.abc import Iterator, Mapping, Sequence

from skillpipe.errors import SkillpipeError
from skillpipe.records import SPLITS, Split, Task


def check_splits(tasks: Mapping[Split, Sequence[Task]], batch_size: int) -> None:
    """Raise SkillpipeError unless every split has tasks, no id or input stands twice, and a batch can be filled."""
    first: dict[tuple[str, str], str] = {}
    for split in SPLITS:
        if not tasks[split]:
            raise SkillpipeError(f"{split}: no tasks found; every split needs at least one")
        for task in tasks[split]:
            for field, value in (("id", task.id), ("input", task.input.strip())):
                where = f"{split} task {task.id!r}"
                if (field, value) in first:
                    raise SkillpipeError(
                        f"{where}: the same {field} stands in {first[field, value]}; ids and inputs must be unique "
                        "over all splits, or held-out scores mean nothing: remove one of the two"
                    )
                first[field, value] = where
    size = len(tasks["train"])
    if not 1 <= batch_size <= size:
        raise SkillpipeError(f"batch_size is {batch_size} and train has {size} tasks; allowed is 1 to {size}")


def batches(train: Sequence[Task], size: int, seed: int) -> Iterator[list[Task]]:
    """Batches without end, `size` distinct tasks each (size <= len(train)).

    Train is shuffled once per pass, seeded from (seed, pass), and dealt out in order, so that every task has been
    seen before any comes again; a batch that ends one pass is filled up from the next. The n-th batch depends on
    train, size and seed alone.
    """
    waiting: list[Task] = []
    deal = 0
    while True:
        if len(waiting) < size:
            following = list(train)
            random.Random(f"{seed}/{deal}").shuffle(following)
            held = {task.id for task in waiting}
            # those already waiting go to the end of the new pass, so that no batch holds one twice
            waiting += [task for task in following if task.id not in held]
            waiting += [task for task in following if task.id in held]
            deal += 1
        yield waiting[:size]
        waiting = waiting[size:]
