"""The whole decision on one candidate: its rule's verdict, its policies' word, and the figures behind them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from skillpipe.errors import SkillpipeError
from skillpipe.gating.contract import Pair, Policy, Review, Rule, Verdict
from skillpipe.gating.pairs import pair_up
from skillpipe.records import Action, Decision, Rollout, TypeScore, ValScore
from skillpipe.scoring import Metric


def decide(
    rule: Rule,
    policies: Sequence[Policy],
    metric: Metric,
    *,
    current: Sequence[ValScore],
    best: Sequence[ValScore],
    candidate: Sequence[ValScore],
    not_needed: Collection[str],
    skill_before: Mapping[str, bytes],
    skill: Mapping[str, bytes],
    val: Sequence[Rollout],
    train: Sequence[Rollout],
) -> Decision:
    """Asks `rule`, then, if it accepts, `policies` in order up to the first that refuses.

    `current`, `best` and `candidate` have one row per val task, in the same order; `not_needed` are the ids of tasks
    that the candidate was not run on because it was rejected by then. The rest is what policies see: the files of the
    current skill and of the candidate, the candidate's rollouts on val and the current skill's on the step's batch.

    The action is accept_new_best (it beats the best skill too), accept, force_accept (whether or not it beats the best:
    see `beats`), reject or reject_policy. Raises SkillpipeError when the lists are not of the same tasks.
    """
    pairs = pair_up(metric, current, candidate)
    new_best = beats(metric, best, candidate)
    verdict = rule.judge(pairs) if pairs else Verdict(False, "no val task has a score for both skills")
    if verdict.accept and not_needed:
        raise SkillpipeError(
            f"the gate accepts a candidate that was not run on {len(not_needed)} val tasks; if the rule is your own, "
            "its can_pass was false when it should not be; else run `dvc repro` from validate on"
        )
    action: Action = "reject"
    if verdict.accept:
        action = "force_accept" if verdict.forced else "accept_new_best" if new_best else "accept"
    decision = _figures(action, verdict, new_best, pairs, len(not_needed))
    decision = replace(
        decision,
        coverage=_coverage(metric, candidate, not_needed),
        at_most=_at_most(metric, current, pairs, not_needed),
    )
    return _reviewed(policies, Review(skill_before, skill, decision, val, train)) if verdict.accept else decision


def beats(metric: Metric, best: Sequence[ValScore], candidate: Sequence[ValScore]) -> bool:
    """Whether the candidate's scores sum to more, by any margin, over the tasks that both have a score for."""
    return sum((pair.change for pair in pair_up(metric, best, candidate)), Fraction()) > 0


def unchanged(current: Sequence[ValScore], metric: Metric, reason: str, action: Action) -> Decision:
    """The decision where no candidate was judged (skip_no_patches, no_change, stopped): the current skill stays."""
    scores = [score for row in current if (score := metric.of(row)) is not None]
    coverage = _coverage(metric, current, ())
    return Decision(action, reason, _mean(scores), None, len(scores), coverage=coverage)


def _figures(action: Action, verdict: Verdict, new_best: bool, pairs: Sequence[Pair], not_needed: int) -> Decision:
    before, after = [pair.before for pair in pairs], [pair.after for pair in pairs]
    gained = tuple(pair.task for pair in pairs if pair.change > 0)
    lost = tuple(pair.task for pair in pairs if pair.change < 0)
    reason = verdict.reason
    if verdict.accept:
        reason += ", better than the best so far" if new_best else ", not better than the best"
    if pairs:
        old, new = float(sum(before)), float(sum(after))
        reason += f": {old:g} -> {new:g} of {len(pairs)}, {len(gained)} gained, {len(lost)} lost"
    if not_needed:
        reason += f", {not_needed} not needed"
    return Decision(
        action=action,
        reason=reason,
        current=_mean(before),
        candidate=_mean(after),
        n=len(pairs),
        gained=gained,
        lost=lost,
        p_value=verdict.p_value,
        not_needed=not_needed,
        by_type=_by_type(pairs),
    )


def _reviewed(policies: Sequence[Policy], review: Review) -> Decision:
    for number, policy in enumerate(policies):
        refusal = policy(review)
        if not isinstance(refusal, str):  # None or True would be read as a word that was never said
            raise SkillpipeError(f"gate.policies[{number}] gave {refusal!r}; it must give a text, empty to agree")
        if refusal:
            return replace(review.decision, action="reject_policy", reason=f"policy: {refusal}")
    return review.decision


def _by_type(pairs: Sequence[Pair]) -> tuple[TypeScore, ...]:
    """Means by task type, in order of first appearance; nothing when no task has a type."""
    types = dict.fromkeys(pair.task_type for pair in pairs)
    rows = []
    for name in types if any(types) else ():
        own = [pair for pair in pairs if pair.task_type == name]
        before, after = (sum(scores, Fraction()) for scores in zip(*((p.before, p.after) for p in own), strict=True))
        rows.append(TypeScore(name, len(own), float(before / len(own)), float(after / len(own))))
    return tuple(rows)


def _coverage(metric: Metric, rows: Sequence[ValScore], not_needed: Collection[str]) -> float:
    needed = [row for row in rows if row.task not in not_needed]
    return sum(metric.of(row) is not None for row in needed) / len(needed) if needed else 1.0


def _at_most(
    metric: Metric, current: Sequence[ValScore], pairs: Sequence[Pair], not_needed: Collection[str]
) -> float | None:
    """The candidate's mean if each task that was not needed were passed, over those and its scored ones."""
    if not not_needed:
        return None
    passed = [Fraction(1) for row in current if row.task in not_needed and metric.of(row) is not None]
    return _mean([*(pair.after for pair in pairs), *passed])


def _mean(scores: Sequence[Fraction]) -> float | None:
    return float(sum(scores, Fraction()) / len(scores)) if scores else None
