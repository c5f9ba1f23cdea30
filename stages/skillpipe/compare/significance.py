"""Could the difference of two scores on the same tasks be luck? Two-sided tests of paired scores, by scipy. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import binomtest, permutation_test

RESAMPLES = 9999


@dataclass(frozen=True)
class Significance:
    """`p_value`: the chance of a difference at least as large, either way, if both were equally good. And the test."""

    p_value: float
    test: str


def significance(before: Sequence[float], after: Sequence[float]) -> Significance:
    """Two scores per task, in the same order.

    Where every score is 0 or 1: McNemar's test in its exact form, a binomial test of the tasks that flipped
    (Q. McNemar, Psychometrika 12, 1947). Otherwise a permutation test of the mean difference under random exchange of
    each task's two scores: exact while there are fewer exchanges than RESAMPLES, else so many, drawn with a fixed seed.
    """
    changes = [new - old for old, new in zip(before, after, strict=True) if new != old]
    if not changes:
        return Significance(1.0, "no task's score differs")
    if all(score in (0, 1) for score in (*before, *after)):
        gained = sum(change > 0 for change in changes)
        return Significance(float(binomtest(gained, len(changes), 0.5).pvalue), "exact McNemar test, two-sided")
    found = permutation_test(
        (np.array(changes),), np.mean, permutation_type="samples", n_resamples=RESAMPLES, rng=np.random.default_rng(0)
    )
    return Significance(float(found.pvalue), "paired permutation test, two-sided")
