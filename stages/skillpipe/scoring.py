"""What a response is worth against the expected answer, and the mean over many. Pure functions.

A scorer is any callable (response, answer) -> Score; conf/env names one by `_target_` with `_partial_: true`.
Both texts are compared without the blanks around them.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Literal, Protocol

from skillpipe.errors import SkillpipeError
from skillpipe.records import Rollout


@dataclass(frozen=True)
class Score:
    """What a response earned. `hard` and `soft` are in [0, 1]; `reason` says what is wrong, empty if nothing is."""

    hard: float
    soft: float
    reason: str = ""

    def __post_init__(self) -> None:
        for name, value in (("hard", self.hard), ("soft", self.soft)):
            if not 0 <= value <= 1:  # false for NaN too
                raise ValueError(f"{name} score is {value}; allowed is 0 to 1")
            object.__setattr__(self, name, float(value))


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
    except re.error as error:
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


def mean(rows: Sequence[Scored], score: Literal["hard", "soft"] = "hard") -> float | None:
    """Mean over the rows that have a score, in [0, 1]; None when none has: no data is not a zero."""
    scores = [value for row in rows if (value := getattr(row, score)) is not None]
    return sum(scores) / len(scores) if scores else None


def coverage(rows: Sequence[Scored]) -> float:
    """Share of rows that have a score; 0 for no rows."""
    return sum(row.hard is not None for row in rows) / len(rows) if rows else 0.0


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
