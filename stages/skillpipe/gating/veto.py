"""No gain at the cost of what worked before."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction

from skillpipe.errors import SkillpipeError
from skillpipe.gating.contract import OpenTask, Pair, Rule, Verdict


class Veto:
    """Accept when `rule` does, at most `max_lost` tasks got worse and at most `max_types_worse` task types did.

    A task got worse when its score fell, by however little; a type when the sum over its pairs did. None sets no limit;
    one of the two must be set. On tasks of one type alone, `max_types_worse` refuses nothing that Strict accepts.
    """

    def __init__(self, rule: Rule, max_lost: int | None, max_types_worse: int | None) -> None:
        for name, value in (("max_lost", max_lost), ("max_types_worse", max_types_worse)):
            if value is not None and value < 0:
                raise SkillpipeError(f"gate.rule.{name} is {value}; allowed is 0 or more, or null for no limit")
        if max_lost is None and max_types_worse is None:
            raise SkillpipeError("gate.rule.max_lost and gate.rule.max_types_worse are both null; set one of them")
        self._rule, self._max_lost, self._max_types_worse = rule, max_lost, max_types_worse

    def judge(self, pairs: Sequence[Pair]) -> Verdict:
        verdict = self._rule.judge(pairs)
        against = self._against(pairs, ()) if verdict.accept else ""
        if not against:
            return verdict
        return replace(verdict, accept=False, forced=False, reason=f"{verdict.reason}, but {against}")

    def can_pass(self, pairs: Sequence[Pair], waiting: Sequence[OpenTask]) -> bool:
        """Exact where `rule` is and takes full scores for the best outcome; cautious for Strict with a min_delta.

        Then a task can be best left without a score for `rule`, and best passed for its type.
        """
        return not self._against(pairs, waiting) and self._rule.can_pass(pairs, waiting)

    def _against(self, pairs: Sequence[Pair], waiting: Sequence[OpenTask]) -> str:
        """What is over a limit however well the waiting tasks end; empty if nothing is."""
        lost = sum(pair.change < 0 for pair in pairs)
        if self._max_lost is not None and lost > self._max_lost:
            return f"tasks that got worse are {lost} (max_lost {self._max_lost})"
        changes = [(pair.task_type, pair.change) for pair in pairs]
        worse = _below_zero([*changes, *((task.task_type, 1 - task.before) for task in waiting)])
        if self._max_types_worse is not None and len(worse) > self._max_types_worse:
            named = ", ".join(name or "no type" for name in worse)
            return f"task types that got worse are {named} (max_types_worse {self._max_types_worse})"
        return ""


def _below_zero(changes: Iterable[tuple[str, Fraction]]) -> list[str]:
    """The types whose changes sum to less than 0, in order of first appearance."""
    sums: defaultdict[str, Fraction] = defaultdict(Fraction)
    for task_type, change in changes:
        sums[task_type] += change
    return [task_type for task_type, total in sums.items() if total < 0]
