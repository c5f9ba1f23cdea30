"""Val tasks over the steps, and what the best skill changed for each. Pure."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from skillpipe.page.scores import best_val
from skillpipe.page.view import RunView
from skillpipe.page.words import ACTIONS, UNDECIDED, Kind, clip
from skillpipe.records import Rollout

# One letter in the page for each, which has up to 10,000 of them.
Cell = Literal["p", "h", "f", "n", "x", "o"]
CELLS: dict[Cell, str] = {
    "p": "passed",
    "h": "partly",
    "f": "failed",
    "n": "not needed",
    "x": "no score",
    "o": "not run",
}
SHOWN = 400  # characters of a task or a reply


@dataclass(frozen=True)
class Column:
    """One step of the map. `passed` of its `tasks` that have a score."""

    step: str
    kind: Kind
    passed: int
    tasks: int


@dataclass(frozen=True)
class Map:
    """`rows` are task ids with a cell per column, the task that was passed least often first, ties in task order."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]
    present: tuple[Cell, ...]


@dataclass(frozen=True)
class Change:
    """One val task with the initial and the best skill: what was asked and wanted, and what each answered."""

    task: str
    asked: str
    wanted: str
    before: str
    after: str


def task_map(run: RunView) -> Map | None:
    """The map of all val rollouts, the initial skill's in the first column; None before there are any."""
    rounds = [("start", run.baseline), *((step.step, step.val) for step in run.steps)]
    kinds = {row.step: ACTIONS[row.decision.action][0] for row in run.state.history} if run.state else {}
    shown = [(step, kinds.get(step, UNDECIDED[0]), _cells(rows)) for step, rows in rounds if rows]
    if not shown:
        return None
    tasks = list(dict.fromkeys(task for _, _, cells in shown for task in cells))
    rows = [(task, tuple(cells.get(task, "o") for _, _, cells in shown)) for task in tasks]
    rows.sort(key=lambda row: row[1].count("p"))
    columns = tuple(Column(step, kind, *_passed(cells.values())) for step, kind, cells in shown)
    seen = {cell for _, cells in rows for cell in cells}
    return Map(columns, tuple(rows), tuple(cell for cell in CELLS if cell in seen))


def changes(run: RunView) -> dict[str, list[Change]]:
    """The tasks that the best skill passes and the initial one did not, the reverse, and those that both fail.

    In task order; a task that either has no score for is in none. All empty where the best's rollouts are missing.
    """
    groups: dict[str, list[Change]] = {"Newly passed": [], "Newly failed": [], "Still not passed": []}
    before, after = _first(run.baseline), _first(best_val(run))
    then, now = _cells(run.baseline), _cells(best_val(run))
    names = {(False, True): "Newly passed", (True, False): "Newly failed", (False, False): "Still not passed"}
    scored = {"p", "h", "f"}
    for task, old in before.items():
        if task in after and then[task] in scored and now[task] in scored:
            name = names.get((then[task] == "p", now[task] == "p"))
            if name:
                groups[name].append(
                    Change(
                        task,
                        _said(old, "user"),
                        clip(old.expected, SHOWN),
                        _said(old, "assistant"),
                        _said(after[task], "assistant"),
                    )
                )
    return groups


def _cells(rollouts: Sequence[Rollout]) -> dict[str, Cell]:
    repeats: dict[str, list[Rollout]] = {}
    for row in rollouts:
        repeats.setdefault(row.task, []).append(row)
    return {task: _cell(rows) for task, rows in repeats.items()}


def _cell(rows: Sequence[Rollout]) -> Cell:
    known = [row.hard for row in rows if row.hard is not None]
    if not known:
        return "n" if any(row.status == "skipped" for row in rows) else "x"
    mean = sum(known) / len(known)
    return "p" if mean == 1 else "f" if mean == 0 else "h"


def _passed(cells: Iterable[Cell]) -> tuple[int, int]:
    counts = Counter(cells)
    return counts["p"], counts["p"] + counts["h"] + counts["f"]


def _first(rollouts: Sequence[Rollout]) -> dict[str, Rollout]:
    """The first attempt at each task."""
    found: dict[str, Rollout] = {}
    for row in rollouts:
        found.setdefault(row.task, row)
    return found


def _said(row: Rollout, role: str) -> str:
    """The first thing the user said, or the last of the assistant."""
    texts = [message.content for message in row.trajectory if message.role == role]
    return clip(texts[0 if role == "user" else -1], SHOWN) if texts else ""
