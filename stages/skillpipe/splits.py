"""Train, val and test: kept apart, and train cut into batches. Pure."""

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from skillpipe.errors import SkillpipeError
from skillpipe.records import SPLITS, Split, Task

# So many offenders are named; the rest are counted.
_NAMED = 3


def check_splits(tasks: Mapping[Split, Sequence[Task]], batch_size: int) -> None:
    """Raise SkillpipeError unless every split has tasks, no id or input stands twice, and a batch can be filled.

    Inputs are compared as they are sent, without the blanks around them.
    """
    for split in SPLITS:
        if not tasks[split]:
            raise SkillpipeError(f"{split}: no tasks found; every split needs at least one")
    twins = _twins(tasks)
    if twins:
        more = f"; {len(twins) - _NAMED} more such" if len(twins) > _NAMED else ""
        raise SkillpipeError(
            f"{'; '.join(twins[:_NAMED])}{more}; ids and inputs must be unique over all splits, or held-out scores "
            "mean nothing: remove one of the two"
        )
    size = len(tasks["train"])
    if not 1 <= batch_size <= size:
        raise SkillpipeError(f"batch_size is {batch_size} and train has {size} tasks; allowed is 1 to {size}")


def _twins(tasks: Mapping[Split, Sequence[Task]]) -> list[str]:
    """One line per id or input that stands where it stood before, in the order of train, val, test."""
    first: dict[tuple[str, str], str] = {}
    found = []
    for split in SPLITS:
        for task in tasks[split]:
            where = f"{split} task {task.id!r}"
            for field, value in (("id", task.id), ("input", task.input.strip())):
                if (field, value) in first:
                    found.append(f"{where}: the same {field} stands in {first[field, value]}")
                else:
                    first[field, value] = where
    return found


def batches(train: Sequence[Task], size: int, seed: int, *, stratify: bool) -> Iterator[list[Task]]:
    """Batches without end, `size` distinct tasks each (size <= len(train)).

    Train is shuffled once per pass, seeded from (seed, pass), and dealt out in order, so that every task has been
    seen before any comes again; a batch that ends one pass is filled up from the next. The n-th batch depends on
    train, size, seed and stratify alone. With `stratify`, the task types take turns in each pass, so that any stretch
    of it holds each type about as often as train does.
    """
    waiting: list[Task] = []
    deal = 0
    while True:
        if len(waiting) < size:
            following = list(train)
            random.Random(f"{seed}/{deal}").shuffle(following)
            held = {task.id for task in waiting}
            # those already waiting go to the end of the new pass, so that no batch holds one twice
            fresh = [task for task in following if task.id not in held]
            again = [task for task in following if task.id in held]
            waiting += [*in_turns(fresh), *in_turns(again)] if stratify else [*fresh, *again]
            deal += 1
        yield waiting[:size]
        waiting = waiting[size:]


def in_turns(tasks: Sequence[Task]) -> list[Task]:
    """The same tasks with their types taking turns: next is always the type that is furthest behind its share.

    Within a type the order stays; of types equally far behind, that goes first whose first task does.
    """
    total = Counter(task.task_type for task in tasks)
    kinds = {kind: iter([task for task in tasks if task.task_type == kind]) for kind in total}
    dealt: Counter[str] = Counter()
    ordered = []
    for number in range(1, len(tasks) + 1):
        behind = max(total, key=lambda kind: number * total[kind] - dealt[kind] * len(tasks))
        ordered.append(next(kinds[behind]))
        dealt[behind] += 1
    return ordered
