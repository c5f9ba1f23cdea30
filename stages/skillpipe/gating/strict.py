"""Better by counts."""

from collections.abc import Sequence
from fractions import Fraction

from skillpipe.errors import SkillpipeError
from skillpipe.gating.contract import OpenTask, Pair, Verdict
from skillpipe.scoring import as_written


class Strict:
    """Accept when the candidate's scores sum to strictly more than the current skill's plus min_delta x n.

    n is the number of pairs. Sums are exact, so a tie is a tie and is rejected.
    """

    def __init__(self, min_delta: float) -> None:
        if not 0 <= min_delta < 1:
            raise SkillpipeError(f"gate.rule.min_delta is {min_delta}; allowed is 0 up to 1")
        self._min_delta = as_written(min_delta)

    def judge(self, pairs: Sequence[Pair]) -> Verdict:
        gain = sum((pair.change for pair in pairs), Fraction())
        if gain > self._min_delta * len(pairs):
            return Verdict(True, "a gain")
        return Verdict(False, "a tie" if gain == 0 else "no gain above min_delta")

    def can_pass(self, pairs: Sequence[Pair], waiting: Sequence[OpenTask]) -> bool:
        """Exact. The best outcome of a task is a full score, or none where that gains no more than min_delta."""
        now = sum((pair.change - self._min_delta for pair in pairs), Fraction())
        most = sum((max(1 - task.before - self._min_delta, Fraction()) for task in waiting), Fraction())
        return now + most > 0
