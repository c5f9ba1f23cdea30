"""Decide on the candidate and write the state that the next step starts from.

Reads: the state before the step, the candidate's folder, its rollouts on val, the step's rollouts on train.
Writes: a state folder; a rejected step writes the unchanged skill. Model calls: none.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from omegaconf import MISSING

from skillpipe import config, sections
from skillpipe.artifacts import read_record, read_rows
from skillpipe.errors import SkillpipeError
from skillpipe.gating import Rule, no_change
from skillpipe.records import ApplyReport, Decision, LineageRow, Rollout, Spent, StepRecord, Usage
from skillpipe.scoring import coverage, mean
from skillpipe.skill import read_folder
from skillpipe.state import State, Version, read_state, val_scores, write_state


@dataclass
class Args(sections.Gate):
    """gate's section of params.yaml and its paths."""

    state: str = MISSING
    candidate: str = MISSING
    val: str = MISSING
    rollouts: str = MISSING
    out: str = MISSING


def gate(
    state: State,
    candidate: Mapping[str, bytes],
    report: ApplyReport,
    val: Sequence[Rollout],
    train: Sequence[Rollout],
    rule: Rule,
) -> State:
    """The state after the step. `val` is empty exactly when the candidate is the current skill."""
    version = Version(dict(candidate), val_scores(val))
    if version.skill == state.current.skill:
        decision = no_change(state.current.val, _why_unchanged(report))
    elif not val:
        raise SkillpipeError(f"{report.step}: the candidate has no val rollouts; run its validate stage")
    else:
        decision = rule.decide(state.current.val, state.best.val, version.val)
    current = version if decision.action in ("accept", "accept_new_best") else state.current
    best = version if decision.action == "accept_new_best" else state.best
    record = StepRecord(
        step=report.step,
        decision=decision,
        current=mean(current.val) or 0.0,
        best=mean(best.val) or 0.0,
        coverage=coverage(val or current.val),
        train_hard=mean(train),
        edits_proposed=len(report.outcomes),
        edits_applied=sum(outcome.status == "applied" for outcome in report.outcomes),
        refused=tuple(row for row in report.outcomes if row.status not in ("applied", "over_budget")),
        reply_failures=report.reply_failures,
        fallbacks=len(report.fallbacks),
        spent=Spent(sum((row.usage for row in [*train, *val]), Usage()), report.usage),
    )
    return State(current, best, (*state.history, record), (*state.lineage, *_lineage(report, decision)))


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
        )
        for rank, outcome in enumerate(entered, start=1)
    ]


def _why_unchanged(report: ApplyReport) -> str:
    if not report.outcomes:
        return "no edit was proposed"
    statuses = Counter(outcome.status for outcome in report.outcomes)
    return "no edit took effect: " + ", ".join(f"{count} {status}" for status, count in statuses.most_common())


@config.stage("gate", Args)
def main(args: Args) -> None:
    candidate = Path(args.candidate)
    after = gate(
        read_state(args.state),
        read_folder(candidate / "skill"),
        read_record(candidate / "report.json", ApplyReport),
        read_rows(args.val, Rollout),
        read_rows(args.rollouts, Rollout),
        config.build(args.rule, "gate.rule"),
    )
    write_state(args.out, after)


if __name__ == "__main__":
    main()
