"""Items of a file, and how many of them each split gets."""

import json
from pathlib import Path
from typing import Any

Item = dict[str, Any]


def parse_ratio(text: str) -> tuple[int, int, int]:
    """train:val:test as three whole numbers above 0. Raises ValueError for anything else."""
    parts = [part.strip() for part in text.split(":") if part.strip()]
    if len(parts) != 3:
        raise ValueError(f"split_ratio is {text!r}; it must be train:val:test, such as 2:1:7")
    try:
        train, val, test = map(int, parts)
    except ValueError:
        raise ValueError(f"split_ratio is {text!r}; its parts must be whole numbers") from None
    if min(train, val, test) <= 0:
        raise ValueError(f"split_ratio is {text!r}; its parts must be above 0")
    return train, val, test


def split_sizes(total: int, ratio: tuple[int, int, int]) -> tuple[int, int, int]:
    """How many of `total` items each part gets: by largest remainder, equal remainders to the larger part.

    Remainders are compared as whole numbers. Of parts that are alike the first is served first.
    """
    whole = sum(ratio)
    sizes = [total * part // whole for part in ratio]
    order = sorted(range(3), key=lambda index: (-(total * ratio[index] % whole), -ratio[index]))
    for index in order[: total - sum(sizes)]:
        sizes[index] += 1
    return sizes[0], sizes[1], sizes[2]


def read_items(path: Path) -> list[Item]:
    """A JSON array, {"data": [...]}, the values of an object, or JSONL; nothing for an empty file."""
    text = path.read_text("utf-8").strip()
    if not text:
        return []
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    if isinstance(value, dict):
        nested = value.get("data")
        return nested if isinstance(nested, list) else list(value.values())
    if not isinstance(value, list):
        raise ValueError(f"{path}: {type(value).__name__} found; items are a JSON array, an object or JSONL")
    return value
