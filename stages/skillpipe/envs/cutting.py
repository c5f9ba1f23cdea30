"""Cut one list of items into train, val and test. Pure: a function of the items, the cut and the seed alone."""

import random
import re
from collections.abc import Sequence
from typing import TypeVar

from skillpipe.errors import SkillpipeError
from skillpipe.records import SPLITS, Split

Item = TypeVar("Item")


def by_ratio(items: Sequence[Item], ratio: str, seed: int, where: str) -> dict[Split, list[Item]]:
    """Shuffle with `seed`, then cut by weights for train, val and test, such as "2:1:7".

    Counts are by the largest remainder: each part gets the whole tasks of its share, and those left over go to the
    largest fractions, equal ones to the larger weight, then to the earlier part. One more item may move any other to
    another part. Raises SkillpipeError for what is no ratio and for a part that would be empty.
    """
    found = re.fullmatch(r"([1-9]\d*):([1-9]\d*):([1-9]\d*)", ratio)
    if not found:
        raise SkillpipeError(
            f"env.split.ratio is {ratio!r}; allowed is train:val:test in whole numbers from 1, in quotes: '2:1:7'"
        )
    sizes = shares(len(items), [int(weight) for weight in found.groups()])
    parts = ", ".join(f"{split} {size}" for split, size in zip(SPLITS, sizes, strict=True))
    if not all(sizes):
        raise SkillpipeError(f"{where}: {len(items)} tasks cut {ratio} are {parts}; no part may be empty: add tasks")
    shuffled = list(items)
    random.Random(seed).shuffle(shuffled)
    begins = [sum(sizes[:number]) for number in range(len(sizes))]
    return {split: shuffled[begin : begin + size] for split, begin, size in zip(SPLITS, begins, sizes, strict=True)}


def shares(count: int, weights: Sequence[int]) -> list[int]:
    """`count` in parts proportional to the weights (whole, from 1), by the largest remainder. They add up to it."""
    total = sum(weights)
    sizes = [count * weight // total for weight in weights]
    ranked = sorted(range(len(weights)), key=lambda part: (-(count * weights[part] % total), -weights[part], part))
    for part in ranked[: count - sum(sizes)]:
        sizes[part] += 1
    return sizes


def by_head(items: Sequence[Item], head: str, where: str) -> dict[Split, list[Item]]:
    """Cut in the order given, such as "70/30": train is the first 70 %, val and test the halves of the rest.

    Raises SkillpipeError for what is no such cut and for fewer than 2 items to hold out.
    """
    size = head_size(len(items), head, where)
    val, test = halves(items[size:], where)
    return {"train": list(items[:size]), "val": val, "test": test}


def head_size(count: int, head: str, where: str) -> int:
    """How many of `count` items are train: the whole items of the share, and if there is none, all but one.

    The rule is that of Aiden's SkillOpt for one suite: 1 is refused, 2 give 1 and 1, 3 give 2 and 1, 10 give 7 and 3.
    """
    found = re.fullmatch(r"([1-9]\d?)/([1-9]\d?)", head)
    if not found or int(found[1]) + int(found[2]) != 100:
        raise SkillpipeError(f"head is {head!r}; allowed are two whole percentages that add up to 100, such as 70/30")
    if count < 2:
        raise SkillpipeError(f"{where}: {count} tasks are too few to be cut {head}; at least 2 are needed")
    return count * int(found[1]) // 100 or max(1, count - 1)


def halves(held_out: Sequence[Item], where: str) -> tuple[list[Item], list[Item]]:
    """Val and test of what is held out, in its order; val has the one more. Raises SkillpipeError for fewer than 2."""
    if len(held_out) < 2:
        raise SkillpipeError(
            f"{where}: {len(held_out)} tasks are held out, and val and test need one each; add tasks, or a test "
            "file beside it"
        )
    size = (len(held_out) + 1) // 2
    return list(held_out[:size]), list(held_out[size:])
