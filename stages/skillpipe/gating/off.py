"""No gate."""

from collections.abc import Sequence

from skillpipe.gating.contract import OpenTask, Pair, Verdict


class Off:
    """Accept whatever the optimizer made, better or worse, as SkillOpt does with use_gate=false.

    Validation still runs and is recorded, and the best skill is still the best by its val scores. A candidate without a
    single score beside the current skill's is rejected all the same: nothing is known about it.
    """

    def judge(self, pairs: Sequence[Pair]) -> Verdict:
        return Verdict(True, "there is no gate", forced=True)

    def can_pass(self, pairs: Sequence[Pair], waiting: Sequence[OpenTask]) -> bool:
        return True
