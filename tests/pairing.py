"""Two skills' val scores side by side, for tests of the gate: whatever a test does not care about has a plain value."""

from fractions import Fraction

from hypothesis import strategies as st

from samples import scores
from skillpipe import gating
from skillpipe.gating import Off, Pair, Paired, Strict, Veto
from skillpipe.records import Decision, ValScore
from skillpipe.scoring import HARD

PASSES = st.sampled_from([0.0, 1.0])
FRACTIONS = st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.5, 1.0])
HARD_RULES = [Strict(0.0), Strict(0.1), Strict(0.3), Paired(0.05), Paired(0.2), Paired(0.5)]
RULES = [
    *HARD_RULES,
    *(Veto(rule, lost, None) for rule in HARD_RULES for lost in (0, 1)),
    *(Veto(rule, None, worse) for rule in HARD_RULES for worse in (0, 1)),
    Veto(Paired(0.2), 2, 0),
    Off(),
]


def pairs(before, after, types="") -> list[Pair]:
    """Pairs of tasks v0, v1, ...; `types` has a letter per task, or none for all."""
    exact = [(Fraction(str(old)), Fraction(str(new))) for old, new in zip(before, after, strict=True)]
    return [Pair(f"v{number}", types[number : number + 1], *both) for number, both in enumerate(exact)]


def changed(gained: int, lost: int, same: int = 0) -> list[Pair]:
    """Pairs of tasks that pass or fail, so many of each kind."""
    return pairs([0] * gained + [1] * (lost + same), [1] * gained + [0] * lost + [1] * same)


def typed(types: str, *hard: float | None) -> tuple[ValScore, ...]:
    """Val scores of tasks v0, v1, ..., a letter of `types` each."""
    return tuple(
        ValScore(f"v{number}", kind, score, score) for number, (kind, score) in enumerate(zip(types, hard, strict=True))
    )


def decide(current, candidate, best=None, rule=None, policies=(), metric=HARD, not_needed=(), **seen) -> Decision:
    """The decision on two skills without text or rollouts, by the strict rule unless another is given."""
    plain = {"skill_before": {}, "skill": {}, "val": (), "train": ()}
    return gating.decide(
        rule or Strict(0.0),
        policies,
        metric,
        current=current,
        best=best or current,
        candidate=candidate,
        not_needed=not_needed,
        **plain | seen,
    )


@st.composite
def three_skills(draw, values=FRACTIONS):
    """Val scores of the current, the best and a candidate skill on the same tasks; some have none."""
    count = draw(st.integers(1, 12))
    some = st.one_of(st.none(), values)
    return tuple(scores(*draw(st.lists(some, min_size=count, max_size=count))) for _ in range(3))
