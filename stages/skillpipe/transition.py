"""From one state to the next: decide on a candidate, and write down what was tried and what came of it. Pure."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from skillpipe.errors import SkillpipeError
from skillpipe.gating import Policy, Rule, beats, decide, early, unchanged
from skillpipe.records import (
    ACCEPTED,
    Action,
    ApplyReport,
    Decision,
    LineageRow,
    Memory,
    Rollout,
    Spent,
    StepMemory,
    StepRecord,
    Tried,
)
from skillpipe.schedule import is_step
from skillpipe.scoring import Metric, coverage, mean
from skillpipe.state import State, Version, digest, known, val_scores
from skillpipe.usage import of_rollouts


@dataclass(frozen=True)
class Judgement:
    """How candidates are decided on, and what is kept for later steps.

    `patience` is the number of steps without an acceptance after which training stops, None for never; `max_rejected`
    how many rejected and refused edits the optimizer is told of again.
    """

    rule: Rule
    policies: Sequence[Policy]
    metric: Metric
    patience: int | None
    max_rejected: int


@dataclass(frozen=True)
class Evaluated:
    """A candidate with what it was made of and what it did.

    `val` is empty when the candidate is the current skill, or one whose scores are known. `train` are the rollouts that
    gave rise to it. `unchanged` and `why` say what to record when the candidate is the current skill.
    """

    skill: Mapping[str, bytes]
    report: ApplyReport
    val: Sequence[Rollout]
    train: Sequence[Rollout]
    unchanged: Action = "skip_no_patches"
    why: str = ""


def advance(state: State, new: Evaluated, judgement: Judgement) -> State:
    """The state after a step or a slow update: same shape whatever was decided."""
    skill, report = dict(new.skill), new.report
    seen = None if new.val else known(state.tried, skill, state.current.skill)
    version = Version(skill, seen.val if seen else val_scores(new.val))
    skipped = {row.task for row in new.val if row.status == "skipped"}
    if seen and not seen.complete:
        skipped = {row.task for row in seen.val if row.hard is None}
    decision = _decision(state, new, version, skipped, judgement)
    current = version if decision.action in ACCEPTED else state.current
    best = (
        version if decision.action in ACCEPTED and beats(judgement.metric, state.best.val, version.val) else state.best
    )
    record = StepRecord(
        step=report.step,
        decision=decision,
        current=mean(current.val, judgement.metric) or 0.0,
        best=mean(best.val, judgement.metric) or 0.0,
        coverage=decision.coverage,
        train_hard=mean(new.train),
        edits_proposed=len(report.outcomes),
        edits_applied=sum(outcome.status == "applied" for outcome in report.outcomes),
        refused=tuple(row for row in report.outcomes if row.status not in ("applied", "over_budget")),
        reply_failures=report.reply_failures,
        fallbacks=len(report.fallbacks),
        spent=of_rollouts([*new.train, *new.val]) + Spent(optimizer=report.usage),
        candidate=version.digest,
        same_as=seen.step if seen and version.skill != state.current.skill else "",
    )
    after = State(
        current=current,
        best=best,
        history=(*state.history, record),
        lineage=(*state.lineage, *_lineage(report, decision)),
        tried=(*state.tried, *_tried(state, new)),
        memory=_remember(state.recalled(report.step), new, decision, judgement.max_rejected),
    )
    stop = state.stop or _stop(after, judgement)
    history = (*state.history, replace(record, stop=stop))
    return replace(after, stop=stop, history=history)


def first(skill: Mapping[str, bytes], rollouts: Sequence[Rollout], metric: Metric) -> State:
    """The state that training starts from: the initial skill is current and best. At least one rollout has a score."""
    initial = Version(dict(skill), val_scores(rollouts))
    decision = unchanged(initial.val, metric, "the initial skill", "baseline")
    if decision.current is None:
        raise SkillpipeError("start: no val task was scored with the initial skill; run the baseline stage again")
    record = StepRecord(
        step="start",
        decision=decision,
        current=decision.current,
        best=decision.current,
        coverage=coverage(rollouts),
        train_hard=None,
        edits_proposed=0,
        edits_applied=0,
        spent=of_rollouts(rollouts),
        candidate=initial.digest,
    )
    tried = Tried(initial.digest, "start", "", True, initial.val)
    return State(initial, initial, (record,), (), (tried,))


def _decision(
    state: State, new: Evaluated, version: Version, skipped: Collection[str], judgement: Judgement
) -> Decision:
    metric = judgement.metric
    if state.stop:
        return unchanged(state.current.val, metric, state.stop, "stopped")
    if version.skill == state.current.skill:
        return unchanged(state.current.val, metric, new.why or _why_unchanged(new.report), new.unchanged)
    if not version.val:
        raise SkillpipeError(f"{new.report.step}: the candidate has no val rollouts; run its validate stage")
    return decide(
        judgement.rule,
        judgement.policies,
        metric,
        current=state.current.val,
        best=state.best.val,
        candidate=version.val,
        not_needed=skipped,
        skill_before=state.current.skill,
        skill=version.skill,
        val=new.val,
        train=new.train,
    )


def _stop(after: State, judgement: Judgement) -> str:
    """Why training ends with this state; empty when it goes on."""
    if early.settled(judgement.rule, judgement.metric, after.current.val, ()):
        return f"no candidate can pass the gate: the current skill's val score is {after.history[-1].current:g}"
    waited = 0
    for row in reversed(after.history):
        if row.decision.action in (*ACCEPTED, "baseline"):
            break
        waited += is_step(row.step)
    if judgement.patience is not None and waited >= judgement.patience:
        return f"no candidate was accepted in {waited} steps (patience {judgement.patience})"
    return ""


def _tried(state: State, new: Evaluated) -> list[Tried]:
    if not new.val:
        return []
    complete = all(row.status != "skipped" for row in new.val)
    against = state.current.digest
    return [Tried(digest(new.skill), new.report.step, against, complete, val_scores(new.val))]


def _lineage(report: ApplyReport, decision: Decision) -> list[LineageRow]:
    entered = [outcome for outcome in report.outcomes if outcome.status == "applied"]
    return [
        LineageRow(
            step=report.step,
            rank=rank,
            edit=outcome.edit,
            old_lines=outcome.old_lines,
            lines=outcome.lines,
            action=decision.action,
            score_before=decision.current,
            score_after=decision.candidate,
            splice=outcome.splice,
        )
        for rank, outcome in enumerate(entered, start=1)
    ]


def _remember(memory: Memory, new: Evaluated, decision: Decision, max_rejected: int) -> Memory:
    """The epoch's memory with this step in it, and of all rejected and refused edits the last `max_rejected`."""
    report = new.report
    step = StepMemory(
        step=report.step,
        action=decision.action,
        before=decision.current,
        after=decision.candidate,
        tasks=len(new.train),
        failed=sum(row.status == "failed" for row in new.train),
        patterns=report.patterns,
        edits=tuple(outcome.edit for outcome in report.outcomes if outcome.status == "applied"),
        refused=tuple(row for row in report.outcomes if row.status not in ("applied", "over_budget")),
    )
    room, kept = max_rejected, []
    for row in reversed((*memory.steps, step)):
        refused = row.refused[max(0, len(row.refused) - room) :]
        room -= len(refused)
        edits = row.edits
        if row.action not in ACCEPTED:
            edits = edits[max(0, len(edits) - room) :]
            room -= len(edits)
        kept.append(replace(row, edits=edits, refused=refused))
    return replace(memory, steps=tuple(reversed(kept)))


def _why_unchanged(report: ApplyReport) -> str:
    if not report.outcomes:
        return "no edit was proposed"
    statuses = Counter(outcome.status for outcome in report.outcomes)
    return "no edit took effect: " + ", ".join(f"{count} {status}" for status, count in statuses.most_common())
