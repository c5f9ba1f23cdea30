"""Accept or reject a candidate. Pure functions over two lists of val scores.

Choices are named by `_target_` in conf/gate; a user's own needs no base class, only `decide`.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Protocol

from skillpipe.errors import SkillpipeError
from skillpipe.records import Action, Decision, ValScore


class Rule(Protocol):
    """Compares a candidate with the current skill, task by task."""

    def decide(self, current: Sequence[ValScore], best: Sequence[ValScore], candidate: Sequence[ValScore]) -> Decision:
        """A decision whose action is accept_new_best, accept or reject.

        Each list has one row per val task, in the same order. Deterministic.
        """
        ...


class Strict:
    """Accept when the candidate's hard scores sum to strictly more than the current skill's plus min_delta x n.

    Only tasks that both have a score for count (n of them). Sums are exact, so a tie is a tie and is rejected.
    An accepted candidate is a new best when it also beats the best skill, by any margin.
    """

    def __init__(self, min_delta: float) -> None:
        if not 0 <= min_delta < 1:
            raise SkillpipeError(f"gate.rule.min_delta is {min_delta}; allowed is 0 up to 1")
        self._min_delta = _exact(min_delta)

    def decide(self, current: Sequence[ValScore], best: Sequence[ValScore], candidate: Sequence[ValScore]) -> Decision:
        before, after = _paired(current, candidate)
        n = len(before)
        if n == 0:
            return Decision("reject", "no val task has a score for both skills", None, None, 0)
        old, new = sum(before, Fraction()), sum(after, Fraction())
        gained = tuple(row.task for row, change in _changes(current, candidate) if change > 0)
        lost = tuple(row.task for row, change in _changes(current, candidate) if change < 0)
        best_before, best_after = _paired(best, candidate)
        action: Action
        if new - old <= self._min_delta * n:
            action, word = "reject", "a tie" if new == old else "no gain above min_delta"
        elif sum(best_after) > sum(best_before):
            action, word = "accept_new_best", "better than the best so far"
        else:
            action, word = "accept", "better than the current skill, not than the best"
        reason = f"{word}: {float(old):g} -> {float(new):g} of {n}, {len(gained)} gained, {len(lost)} lost"
        return Decision(action, reason, float(old / n), float(new / n), n, gained, lost)


def no_change(current: Sequence[ValScore], reason: str) -> Decision:
    """The decision on a step whose candidate is the current skill: nothing was evaluated, nothing changes."""
    scores = [_exact(row.hard) for row in current if row.hard is not None]
    return Decision("no_change", reason, float(sum(scores) / len(scores)) if scores else None, None, len(scores))


def _changes(current: Sequence[ValScore], candidate: Sequence[ValScore]) -> list[tuple[ValScore, Fraction]]:
    return [
        (old, _exact(new.hard) - _exact(old.hard))
        for old, new in zip(current, candidate, strict=True)
        if old.hard is not None and new.hard is not None
    ]


def _paired(old: Sequence[ValScore], new: Sequence[ValScore]) -> tuple[list[Fraction], list[Fraction]]:
    if [row.task for row in old] != [row.task for row in new]:
        raise SkillpipeError("val scores of two skills are not of the same tasks; run `dvc repro` from plan on")
    pairs = [(a.hard, b.hard) for a, b in zip(old, new, strict=True) if a.hard is not None and b.hard is not None]
    return [_exact(a) for a, _ in pairs], [_exact(b) for _, b in pairs]


def _exact(score: float) -> Fraction:
    """A float as the decimal that is written in the file: 0.1 is one tenth."""
    return Fraction(str(score))
