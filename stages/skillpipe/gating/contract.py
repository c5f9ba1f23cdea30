"""What a rule and a policy are, and what they are given."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from skillpipe.records import Decision, Rollout


@dataclass(frozen=True)
class Pair:
    """One val task that both skills have a score for, by the run's metric, in [0, 1] and exact."""

    task: str
    task_type: str
    before: Fraction
    after: Fraction

    @property
    def change(self) -> Fraction:
        """Above 0 where the candidate does better."""
        return self.after - self.before


@dataclass(frozen=True)
class OpenTask:
    """One val task that the current skill has a score for and the candidate was not run on yet."""

    task: str
    task_type: str
    before: Fraction


@dataclass(frozen=True)
class Verdict:
    """A rule's word. `reason` is a few words ("a tie"); the figures are told beside it.

    `forced` says that the candidate is accepted without having been judged.
    """

    accept: bool
    reason: str
    p_value: float | None = None
    forced: bool = False


class Rule(Protocol):
    """Compares a candidate with the current skill, task by task. Deterministic; depends on its arguments alone."""

    def judge(self, pairs: Sequence[Pair]) -> Verdict:
        """The verdict on all pairs that there are, in task order; not asked when there is none."""
        ...

    def can_pass(self, pairs: Sequence[Pair], waiting: Sequence[OpenTask]) -> bool:
        """Whether any outcome of the tasks still waiting lets `judge` accept.

        An outcome gives each of them a score in [0, 1], or none: then it is no pair. False must be certain, since it
        ends the validation; True may be cautious.
        """
        ...


@dataclass(frozen=True)
class Review:
    """What a policy sees: the files of both skills by path, the decision so far, and the rollouts.

    `decision` is the acceptance that stands unless a policy refuses. `val` are the candidate's rollouts on val, `train`
    the current skill's on the step's batch.
    """

    skill_before: Mapping[str, bytes]
    skill: Mapping[str, bytes]
    decision: Decision
    val: Sequence[Rollout]
    train: Sequence[Rollout]


class Policy(Protocol):
    """May refuse a candidate that the rule accepts."""

    def __call__(self, review: Review) -> str:
        """Why the candidate is refused, in one line; empty when there is nothing against it. Deterministic.

        The reason goes into the history, where an optimizer may read it: quote no text of val in it.
        """
        ...
