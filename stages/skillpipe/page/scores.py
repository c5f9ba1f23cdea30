"""Scores with their intervals, per task and per split, and what is to be said about them. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

from skillpipe.page.view import RunView
from skillpipe.records import ACCEPTED, Rollout

# Below this many held-out tasks luck passes the gate too; the README says so under "When not to use it".
SMALL_VAL = 20
_Z = NormalDist().inv_cdf(0.975)


@dataclass(frozen=True)
class Score:
    """The mean of `n` tasks' scores with its Wilson interval of 95 %, all in [0, 1]."""

    mean: float
    n: int
    low: float
    high: float


@dataclass(frozen=True)
class Scores:
    """Hard scores on val and test, None where there are none. The initial skill's are the best's if it is the best."""

    val_initial: Score | None
    val_best: Score | None
    test_initial: Score | None
    test_best: Score | None
    test_last: Score | None


def wilson(mean: float, n: int) -> tuple[float, float]:
    """The Wilson interval of 95 % of a share of `n` tasks.

    Computed here and not by scipy.stats.binomtest, which takes whole counts alone: a task that was repeated, or is
    scored in parts, counts as a fraction of one, and the interval is then wider than it need be. E. B. Wilson,
    "Probable inference, the law of succession, and statistical inference", JASA 22 (1927).
    """
    centre = mean + _Z * _Z / (2 * n)
    half = _Z * sqrt(mean * (1 - mean) / n + _Z * _Z / (4 * n * n))
    scale = 1 + _Z * _Z / n
    return max(0.0, (centre - half) / scale), min(1.0, (centre + half) / scale)


def score(values: Iterable[float | None]) -> Score | None:
    """The score over the values that there are; None if there is none: no data is not a zero."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    mean = sum(known) / len(known)
    return Score(mean, len(known), *wilson(mean, len(known)))


def by_task(rollouts: Sequence[Rollout]) -> dict[str, float | None]:
    """The mean hard score of each task over its repeats that have one, in order of first sight."""
    repeats: dict[str, list[float]] = {}
    for row in rollouts:
        repeats.setdefault(row.task, []).extend([] if row.hard is None else [row.hard])
    return {task: sum(values) / len(values) if values else None for task, values in repeats.items()}


def scores(run: RunView) -> Scores:
    """All scores that the page begins with."""
    test_initial = score(by_task(run.test_initial).values())
    best_val = [row.hard for row in run.state.best.val] if run.state else []
    return Scores(
        val_initial=score(by_task(run.baseline).values()),
        val_best=score(best_val),
        test_initial=test_initial,
        test_best=score(by_task(run.test_best).values()) or (test_initial if run.best == run.initial else None),
        test_last=score(by_task(run.test_last).values()),
    )


def best_val(run: RunView) -> Sequence[Rollout]:
    """The val rollouts that the best skill's scores come from; none where they are not at hand."""
    if run.state is None or run.best == run.initial:
        return run.baseline
    accepted = [row for row in run.state.history if row.decision.action in ACCEPTED]
    sources = {row.step for row in accepted} | {row.same_as for row in accepted}
    wanted = _rounded({row.task: row.hard for row in run.state.best.val})
    found = (step.val for step in reversed(run.steps) if step.step in sources and _rounded(by_task(step.val)) == wanted)
    return next(found, ())


def _rounded(values: Mapping[str, float | None]) -> dict[str, float | None]:
    return {task: None if value is None else round(value, 9) for task, value in values.items()}


def warnings(run: RunView, found: Scores) -> list[str]:
    """Why the figures may be noise, one sentence or two each; empty if nothing speaks for it."""
    said = []
    tasks = found.val_initial.n if found.val_initial else run.plan.val if run.plan else SMALL_VAL
    if tasks < SMALL_VAL:
        said.append(f"Val has {tasks} tasks. On fewer than {SMALL_VAL} luck passes the gate too: add held-out tasks.")
    if run.best != run.initial:
        pairs = (("val", found.val_initial, found.val_best), ("test", found.test_initial, found.test_best))
        for name, before, after in pairs:
            if before and after and before.low <= after.mean <= before.high:
                said.append(
                    f"The best skill's score on {name}, {after.mean:.3f}, lies within the 95 % interval of the initial "
                    f"skill's, {before.low:.3f} to {before.high:.3f}: the difference may be chance."
                )
    return said
