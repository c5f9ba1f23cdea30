"""The training curve as geometry: what the template draws, in units of the view box. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import Literal

from skillpipe.page.scores import Score
from skillpipe.page.words import ACTIONS, Kind, three
from skillpipe.records import StepRecord

Shape = Literal["start", "accepted", "rejected", "hollow", ""]


@dataclass(frozen=True)
class Size:
    """A chart's view box. Both are drawn, and the page shows the one that fits, so that letters keep their size."""

    name: str
    width: int
    height: int
    label_every: int  # least room that a label below the axis needs


WIDE, NARROW = Size("wide", 1000, 340, 46), Size("narrow", 360, 280, 40)
LEFT, RIGHT, TOP, BOTTOM = 40, 58, 14, 34


@dataclass(frozen=True)
class Mark:
    """One step: where it stands, how it is marked, what it is called. `left` and `width` are its column's."""

    step: str
    kind: Kind
    shape: Shape
    x: float
    y: float
    left: float
    width: float
    label: str
    says: str


@dataclass(frozen=True)
class Curve:
    """`ticks` are places and labels of the score's axis; lines are SVG paths; `band` is top and height."""

    size: Size
    ticks: tuple[tuple[float, str], ...]
    marks: tuple[Mark, ...]
    best: str
    current: str
    band: tuple[float, float] | None
    end_x: float
    best_y: float
    best_label: str
    radius: float

    @property
    def shapes(self) -> set[Shape]:
        """The shapes that the chart has, for its legend."""
        return {mark.shape for mark in self.marks}


def curve(history: Sequence[StepRecord], initial: Score | None, size: Size) -> Curve:
    """The curve of a history of at least one row, baseline first; a step that was not run has no mark."""
    low, high = _domain(history, initial)
    across, down = size.width - LEFT - RIGHT, size.height - TOP - BOTTOM
    column = across / len(history)
    every = max(1, ceil(size.label_every / column))

    def y(value: float) -> float:
        return round(TOP + down * (high - value) / (high - low), 1)

    def x(index: int) -> float:
        return round(LEFT + column * (index + 0.5), 1)

    def mark(index: int, row: StepRecord) -> Mark:
        shape, value = _shape(row)
        label = row.step if index % every == 0 else ""
        left = round(LEFT + column * index, 1)
        return Mark(
            row.step,
            ACTIONS[row.decision.action][0],
            shape,
            x(index),
            y(value),
            left,
            round(column, 1),
            label,
            _says(row),
        )

    last = max(index for index, row in enumerate(history) if row.decision.action != "stopped")
    return Curve(
        size=size,
        ticks=tuple((y(value), f"{value:.1f}") for value in _ticks(low, high)),
        marks=tuple(mark(index, row) for index, row in enumerate(history)),
        best=_stairs([(x(index), y(row.best)) for index, row in enumerate(history[: last + 1])], x(last) + column / 2),
        current=_stairs(
            [(x(index), y(row.current)) for index, row in enumerate(history[: last + 1])], x(last) + column / 2
        ),
        band=(y(initial.high), round(y(initial.low) - y(initial.high), 1)) if initial else None,
        end_x=round(x(last) + column / 2, 1),
        best_y=y(history[-1].best),
        best_label=three(history[-1].best),
        radius=5.5 if column >= 16 else 3.5,
    )


def _shape(row: StepRecord) -> tuple[Shape, float]:
    decision = row.decision
    if decision.action == "baseline":
        return "start", row.current
    kind = ACTIONS[decision.action][0]
    if kind == "rejected" and decision.not_needed and decision.at_most is not None:
        return "hollow", decision.at_most
    if kind == "idle" or decision.candidate is None:
        return "", row.current
    return ("accepted" if kind == "accepted" else "rejected"), decision.candidate


def _says(row: StepRecord) -> str:
    decision, word = row.decision, ACTIONS[row.decision.action][1]
    if decision.action == "baseline":
        return f"{row.step}: initial skill, {three(row.current)}"
    shape, value = _shape(row)
    if shape == "hollow":
        return f"{row.step}: {word}, at most {value:.3f} when validation stopped; current {three(row.current)}"
    candidate = f", candidate {value:.3f}" if shape else ""
    return f"{row.step}: {word}{candidate}; current {three(row.current)}"


def _domain(history: Sequence[StepRecord], initial: Score | None) -> tuple[float, float]:
    """The span of the score's axis, in tenths and at least four of them; a mark has room above and below it."""
    shown = [value for row in history for value in (row.current, row.best, _shape(row)[1])]
    shown += [initial.low, initial.high] if initial else []
    low, high = max(0.0, floor(min(shown) * 10 - 0.2) / 10), min(1.0, ceil(max(shown) * 10 + 0.2) / 10)
    while high - low < 0.4 - 1e-9:
        low, high = max(0.0, low - 0.1), min(1.0, high + 0.1)
    return low, high


def _ticks(low: float, high: float) -> list[float]:
    tenths = round((high - low) * 10)
    step = 2 if tenths > 5 else 1
    first, end = round(low * 10), round(high * 10)
    return [value / 10 for value in range(first + first % step, end + 1, step)]


def _stairs(points: Sequence[tuple[float, float]], end: float) -> str:
    """A path that holds each level until the next point and rises there."""
    first, *rest = points
    return f"M{first[0]:g} {first[1]:g}" + "".join(f"H{x:g}V{y:g}" for x, y in rest) + f"H{end:g}"
