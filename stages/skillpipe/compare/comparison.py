"""What differs between published runs. Pure."""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skillpipe.compare.revisions import Published
from skillpipe.compare.significance import Significance, significance
from skillpipe.errors import SkillpipeError
from skillpipe.records import TestScore


@dataclass(frozen=True)
class Against:
    """One run's best skill against another's, over the `n` test tasks that both have a score for.

    `before` and `after` are mean hard scores over these, None when there is no such task; `gained` and `lost` the ids
    of tasks whose score rose and fell. `diff` turns the first skill into the second, empty when they are the same.
    """

    name: str
    n: int
    before: float | None
    after: float | None
    gained: tuple[str, ...]
    lost: tuple[str, ...]
    significance: Significance | None
    diff: str


@dataclass(frozen=True)
class Comparison:
    """`gains` are those of each run from its initial to its best skill; `against` compare each other run to the first.

    `params` are the parameters that differ, by dotted name: the value in each run, as text, in the order of the runs.
    """

    runs: tuple[Published, ...]
    gains: tuple[Significance, ...]
    against: tuple[Against, ...]
    params: Mapping[str, tuple[str, ...]]


def compare(runs: Sequence[Published]) -> Comparison:
    """At least two runs; the first is what the others are compared to. Raises SkillpipeError for fewer."""
    if len(runs) < 2:
        raise SkillpipeError(f"{len(runs)} run to compare; name two or more, such as `workspace` and an experiment")
    first, *others = runs
    return Comparison(
        runs=tuple(runs),
        gains=tuple(significance(*_paired(run.tests, run.tests, initial=True)[1:]) for run in runs),
        against=tuple(_against(first, other) for other in others),
        params=differing([flat(run.params) for run in runs]),
    )


def _against(first: Published, other: Published) -> Against:
    tasks, before, after = _paired(first.tests, other.tests)
    changes = list(zip(tasks, before, after, strict=True))
    return Against(
        name=other.name,
        n=len(tasks),
        before=sum(before) / len(tasks) if tasks else None,
        after=sum(after) / len(tasks) if tasks else None,
        gained=tuple(task for task, old, new in changes if new > old),
        lost=tuple(task for task, old, new in changes if new < old),
        significance=significance(before, after) if tasks else None,
        diff=skills_diff(first, other),
    )


def _paired(
    first: Sequence[TestScore], other: Sequence[TestScore], *, initial: bool = False
) -> tuple[list[str], list[float], list[float]]:
    """The tasks with two scores, in the first run's order; its best skill's scores (or its initial's); the other's."""
    known = {row.task: row.best_hard for row in other}
    rows = [(row.task, row.initial_hard if initial else row.best_hard, known.get(row.task)) for row in first]
    both = [(task, old, new) for task, old, new in rows if old is not None and new is not None]
    return [task for task, _, _ in both], [old for _, old, _ in both], [new for _, _, new in both]


def skills_diff(first: Published, other: Published) -> str:
    """A unified diff of the best skills, all files; a file that is no text is named only."""
    told: list[str] = []
    for path in sorted({*first.best, *other.best}):
        old, new = first.best.get(path, b""), other.best.get(path, b"")
        if old == new:
            continue
        try:
            before, after = old.decode().split("\n"), new.decode().split("\n")
        except UnicodeDecodeError:
            told.append(f"{path}: differs, and is no text")
            continue
        names = f"{first.name}/{path}", f"{other.name}/{path}"
        told += difflib.unified_diff(before, after, *names, lineterm="")
    return "\n".join(told)


def flat(params: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Parameters by dotted name, lists as one value."""
    found: dict[str, str] = {}
    for key, value in params.items():
        if isinstance(value, Mapping) and value:
            found |= flat(value, f"{prefix}{key}.")
        else:
            found[f"{prefix}{key}"] = str(value)
    return found


def differing(params: Sequence[Mapping[str, str]]) -> dict[str, tuple[str, ...]]:
    """Those that are not the same in all runs, by name; "" where a run has none.

    The sections of the stages repeat the choices: a name that ends in another's, with the same values, is left out.
    """
    names = sorted(set().union(*params))
    values = {name: tuple(run.get(name, "") for run in params) for name in names}
    different = {name: row for name, row in values.items() if len(set(row)) > 1}

    def repeated(name: str) -> bool:
        parts = name.split(".")
        return any(different.get(".".join(parts[at:])) == different[name] for at in range(1, len(parts)))

    return {name: row for name, row in different.items() if not repeated(name)}
