"""What a response is worth against the expected answer, and the mean over many. Pure functions.

A scorer is any callable (response, answer) -> Score; conf/env names one by `_target_` with `_partial_: true`.
Both texts are compared without the blanks around them.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Protocol

from skillpipe.errors import SkillpipeError
from skillpipe.records import Rollout


@dataclass(frozen=True)
class Score:
    """What a response earned. `hard` is in [0, 1], `soft` in the range that conf/ states (`scores.range`).

    `reason` says what is wrong, empty if nothing is.
    """

    hard: float
    soft: float
    reason: str = ""

    def __post_init__(self) -> None:
        if not 0 <= self.hard <= 1:  # false for NaN too
            raise ValueError(f"hard score is {self.hard}; allowed is 0 to 1")
        if not math.isfinite(self.soft):
            raise ValueError(f"soft score is {self.soft}; it must be a number")
        for name in ("hard", "soft"):
            object.__setattr__(self, name, float(getattr(self, name)))


class SoftScale:
    """Brings soft scores from the environment's own range to [0, 1], higher is better.

    (raw - low) / (high - low), and one minus that where less is better: the .NET optimizer's rule. A score that is not
    in the range, or no number, is a judge_error and no score: it fails closed. Rollouts without scores are left alone.
    """

    def __init__(self, direction: str, bounds: Sequence[float]) -> None:
        if direction not in ("maximize", "minimize"):
            raise SkillpipeError(f"scores.direction is {direction!r}; allowed are maximize and minimize")
        if len(bounds) != 2 or not -math.inf < bounds[0] < bounds[1] < math.inf:
            raise SkillpipeError(f"scores.range is {list(bounds)}; it must be [lowest, highest], two numbers")
        self._minimize = direction == "minimize"
        self._low, self._high = bounds

    def __call__(self, rollout: Rollout) -> Rollout:
        if rollout.soft is None:
            return rollout
        if not self._low <= rollout.soft <= self._high:  # false for NaN too
            reason = f"soft score is {rollout.soft:g}; allowed is {self._low:g} to {self._high:g} (scores.range)"
            return replace(rollout, status="judge_error", hard=None, soft=None, reason=reason)
        share = (rollout.soft - self._low) / (self._high - self._low)
        return replace(rollout, soft=1 - share if self._minimize else share)


def exact(response: str, answer: str) -> Score:
    """Passed when the response is the answer, letter by letter."""
    return _hard(response.strip() == answer.strip(), f"expected {answer!r}, got {response.strip()!r}")


def exact_ci(response: str, answer: str) -> Score:
    """Passed when the response is the answer, upper and lower case alike (Unicode case folding)."""
    same = response.strip().casefold() == answer.strip().casefold()
    return _hard(same, f"expected {answer!r}, got {response.strip()!r}")


def contains(response: str, answer: str) -> Score:
    """Passed when the answer stands anywhere in the response, letter by letter."""
    return _hard(answer.strip() in response, f"{answer!r} is not in {response.strip()!r}")


def regex(response: str, answer: str) -> Score:
    """Passed when the answer, a Python regular expression, matches somewhere in the response.

    Raises SkillpipeError for a pattern that does not compile. A pattern of catastrophic cost is not caught.
    """
    try:
        found = re.search(answer, response.strip())
    except (re.error, OverflowError) as error:
        raise SkillpipeError(
            f"scorer regex: answer {answer!r} is no pattern: {error}; correct it in the data"
        ) from None
    return _hard(found is not None, f"{answer!r} does not match {response.strip()!r}")


_NUMBER = re.compile(r"[-+]?(?:\d[\d,]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


def number(response: str, answer: str) -> Score:
    """Passed when the last number in the response equals the answer's last number.

    Compared as decimals, so 2.50 is 2.5; commas between digits are dropped. No units, fractions or words.
    Raises SkillpipeError when the answer holds no number.
    """
    expected = _last_number(answer)
    if expected is None:
        raise SkillpipeError(f"scorer number: answer {answer!r} holds no number; correct it in the data")
    got = _last_number(response)
    return _hard(got == expected, f"expected {expected}, got {'no number' if got is None else got}")


def _last_number(text: str) -> Decimal | None:
    found = _NUMBER.findall(text)
    try:
        return Decimal(found[-1].replace(",", "")) if found else None
    except InvalidOperation:
        return None


def _hard(passed: bool, reason: str) -> Score:
    return Score(1.0, 1.0) if passed else Score(0.0, 0.0, reason)


class Scored(Protocol):
    """What has scores: a Rollout, or a ValScore."""

    @property
    def hard(self) -> float | None: ...

    @property
    def soft(self) -> float | None: ...


@dataclass(frozen=True)
class Metric:
    """What the run goes by: `hard`, `soft`, or `mixed`, (1 - weight) x hard + weight x soft. Weight is in [0, 1].

    The weight counts for `mixed` alone.
    """

    name: str
    weight: float

    def __post_init__(self) -> None:
        if self.name not in ("hard", "soft", "mixed"):
            raise SkillpipeError(f"metric is {self.name!r}; allowed are hard, soft, mixed")
        if not 0 <= self.weight <= 1:  # false for NaN too
            raise SkillpipeError(f"the metric's weight is {self.weight}; allowed is 0 to 1")

    def of(self, row: Scored) -> Fraction | None:
        """A row's score by this metric, exact; None when the row has none."""
        if self.name == "hard":
            return None if row.hard is None else as_written(row.hard)
        if self.name == "soft":
            return None if row.soft is None else as_written(row.soft)
        if row.hard is None or row.soft is None:
            return None
        weight = as_written(self.weight)
        return (1 - weight) * as_written(row.hard) + weight * as_written(row.soft)


HARD = Metric("hard", 0.0)
SOFT = Metric("soft", 1.0)


def as_written(score: float) -> Fraction:
    """A float as the number that is meant: 0.1 is one tenth, 0.3333333333333333 a third.

    The nearest fraction with a denominator of at most a million, so that means of repeats tie where they should.
    """
    return Fraction(str(score)).limit_denominator(1_000_000)


def mean(rows: Sequence[Scored], metric: Metric = HARD) -> float | None:
    """Mean over the rows that have a score, in [0, 1]; None when none has: no data is not a zero."""
    scores = [score for row in rows if (score := metric.of(row)) is not None]
    return float(sum(scores, Fraction()) / len(scores)) if scores else None


def coverage(rows: Sequence[Scored]) -> float:
    """Share of rows that have a score, of those that were needed; 0 for no rows."""
    needed = [row for row in rows if getattr(row, "status", "") != "skipped"]
    return sum(row.hard is not None for row in needed) / len(needed) if needed else 0.0


def require_coverage(rollouts: Sequence[Rollout], minimum: float, where: str) -> None:
    """Raise SkillpipeError when fewer than `minimum` of the tasks were scored, with the commonest reasons."""
    if coverage(rollouts) >= minimum:
        return
    reasons = Counter(f"{row.status}: {row.reason}" for row in rollouts if row.hard is None)
    commonest = "; ".join(f"{count} x {reason}" for reason, count in reasons.most_common(3))
    scored = sum(row.hard is not None for row in rollouts)
    raise SkillpipeError(
        f"{where}: {scored} of {len(rollouts)} tasks were scored, min_coverage is {minimum:g}: {commonest}"
    )
