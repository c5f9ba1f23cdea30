"""Better by more than luck explains: a one-sided sign-flip test on the pairs."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import gcd

from skillpipe.errors import SkillpipeError
from skillpipe.gating.contract import OpenTask, Pair, Verdict
from skillpipe.scoring import as_written

# The test counts in steps of a score of 1/600: halves to sixths, eighths, tenths and hundredths fall on a step.
STEPS = 600


class Paired:
    """Accept when the candidate's scores sum to more than the current skill's, with a p-value of at most alpha.

    The question is one-sided: is the candidate better? If the two skills were alike, each task's change would be as
    likely to have the other sign; p is the share of all 2^n sign patterns whose gain is at least the one seen. It is
    exact, whatever n: no resampling and no seed. On scores of 0 and 1 it is the exact McNemar test (binomial, on the
    tasks that changed); on others the sign-flip permutation test, on scores rounded to 1/600.

    With alpha 0.5 and scores of 0 and 1 it decides as Strict does with min_delta 0. It takes pairs for independent and
    looks at one candidate: of many tried at alpha 0.05, one in twenty without a gain may pass.
    """

    def __init__(self, alpha: float) -> None:
        if not 0 < alpha <= 0.5:
            raise SkillpipeError(f"gate.rule.alpha is {alpha}; allowed is above 0 up to 0.5")
        self._alpha = as_written(alpha)

    def judge(self, pairs: Sequence[Pair]) -> Verdict:
        gain, p_value = _gain(pairs), _p_value(pairs)
        told = f"p {float(p_value):.3g}, alpha {float(self._alpha):g}"
        if gain <= 0:
            return Verdict(False, "a tie" if gain == 0 else "a loss", float(p_value))
        if p_value > self._alpha:
            return Verdict(False, f"a gain that may be luck ({told})", float(p_value))
        return Verdict(True, f"a gain ({told})", float(p_value))

    def can_pass(self, pairs: Sequence[Pair], waiting: Sequence[OpenTask]) -> bool:
        """Exact. Each higher score makes p smaller or leaves it, so the best outcome is a full score everywhere."""
        best = [*pairs, *(Pair(task.task, task.task_type, task.before, Fraction(1)) for task in waiting)]
        return _gain(best) > 0 and _p_value(best) <= self._alpha


def sign_flip(changes: Iterable[int]) -> Fraction:
    """The share of sign patterns of these changes whose sum is at least the sum as it is; 1 for no change at all.

    Flipping the changes of a subset lowers the sum by twice the subset's sum: so it is the share of subsets that sum to
    0 or less. The number of subsets per sum is built up change by change, as digits of one large integer: exact, and
    fast for hundreds of pairs (400 with any scores whatever in less than a second). Zeros change nothing.
    """
    moved = [change for change in changes if change]
    unit = gcd(*moved)
    bits = len(moved) + 1  # per digit: no count is above 2^n
    counts, zero = 1, 0  # digit number k counts the subsets that sum to k - zero
    for change in sorted(moved, key=abs):
        counts += counts << (abs(change) // unit * bits)
        zero -= min(change, 0) // unit
    at_most_zero = counts & ((1 << (zero + 1) * bits) - 1)
    digits_added = at_most_zero % ((1 << bits) - 1)  # the sum of its digits, which is below the divisor but for n = 0
    return Fraction(digits_added, 1 << len(moved)) if moved else Fraction(1)


def _gain(pairs: Sequence[Pair]) -> Fraction:
    return sum((pair.change for pair in pairs), Fraction())


def _p_value(pairs: Sequence[Pair]) -> Fraction:
    return sign_flip(_in_steps(pair.after) - _in_steps(pair.before) for pair in pairs)


def _in_steps(score: Fraction) -> int:
    return round(score * STEPS)
