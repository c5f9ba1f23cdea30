"""Publish what a run came to, into git.

Reads: the plan's summary, the last state, the initial skill, its rollouts on val, the rollouts on test in the folder
`tests`; of every step beside the last state what it left: that state was made of these.
Writes: the folder `out`: initial/ and best/ (skills), diff.patch, report.html, summary.json, curve.csv,
changes.csv, lineage.jsonl, test.jsonl, result.json, manifest.json.
Model calls: none.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from omegaconf import MISSING

from skillpipe import config, sections
from skillpipe.artifacts import read_record, read_rows, write_csv, write_record, write_text
from skillpipe.page import render
from skillpipe.publishing import RunFiles, Settings, StepFiles, read_steps, view, write_run
from skillpipe.records import ACCEPTED, ChangeRow, CurveRow, PlanSummary, Rollout, StepRecord, Summary
from skillpipe.schedule import is_step
from skillpipe.scoring import SOFT, coverage, mean
from skillpipe.skill import read_folder
from skillpipe.state import State, read_state
from skillpipe.usage import of_rollouts


@dataclass
class Args(sections.Report):
    """report's section of params.yaml and its paths."""

    skill: str = MISSING
    plan: str = MISSING
    state: str = MISSING
    baseline: str = MISSING
    tests: str = MISSING
    last: bool = MISSING
    out: str = MISSING


@dataclass(frozen=True)
class OnTest:
    """The rollouts on test. `best` is empty when the best skill is the initial one, `last` when the last is the best.

    `last` is None unless it was asked for.
    """

    initial: Sequence[Rollout]
    best: Sequence[Rollout]
    last: Sequence[Rollout] | None = None


def report(state: State, tests: OnTest) -> tuple[Summary, list[CurveRow]]:
    """The figures of a run and its curve, a row per step and slow update with the baseline first."""
    initial, best, last = tests.initial, tests.best, tests.last
    spent = state.spent + of_rollouts([*initial, *best, *(last or ())])
    cost = (spent.target + spent.optimizer + spent.judge).cost_usd
    best = best or initial
    steps = [row for row in state.history if is_step(row.step)]
    actions = [row.decision.action for row in steps]
    before, after = mean(initial) or 0.0, mean(best) or 0.0
    summary = Summary(
        test_initial=before,
        test_best=after,
        test_gain=after - before,
        test_initial_soft=mean(initial, SOFT) or 0.0,
        test_best_soft=mean(best, SOFT) or 0.0,
        test_last=None if last is None else mean(last or best),
        test_coverage=min(coverage(initial), coverage(best)),
        val_initial=state.history[0].current,
        val_best=state.history[-1].best,
        steps=len(steps),
        steps_accepted=sum(action in ACCEPTED for action in actions),
        steps_rejected=actions.count("reject") + actions.count("reject_policy"),
        steps_no_change=actions.count("skip_no_patches"),
        steps_stopped=actions.count("stopped"),
        edits_proposed=sum(row.edits_proposed for row in state.history),
        edits_applied=sum(row.edits_applied for row in state.history),
        edits_kept=sum(row.action in ACCEPTED for row in state.lineage),
        reply_failures=sum(row.reply_failures for row in state.history),
        fallbacks=sum(row.fallbacks for row in state.history),
        val_not_needed=sum(row.decision.not_needed for row in state.history),
        training_calls=state.spent.target.calls,
        target_calls=spent.target.calls,
        target_tokens=spent.target.input_tokens + spent.target.output_tokens,
        optimizer_calls=spent.optimizer.calls,
        optimizer_tokens=spent.optimizer.input_tokens + spent.optimizer.output_tokens,
        judge_calls=spent.judge.calls,
        cost_usd=cost,
    )
    return summary, [_curve_row(index, row) for index, row in enumerate(state.history)]


def _curve_row(index: int, row: StepRecord) -> CurveRow:
    decision = row.decision
    candidate = None if decision.not_needed else decision.candidate
    return CurveRow(
        index, row.step, decision.action, row.current, row.best, candidate, decision.at_most, row.train_hard
    )


def changes(state: State, steps: Sequence[StepFiles]) -> list[ChangeRow]:
    """What each candidate that was run did with each val task, in the order of the run and of val."""
    decided = {row.step: row.decision for row in state.history}
    rows = []
    for step in steps:
        decision = decided[step.step]
        left_out = {row.task for row in step.val if row.status == "skipped"}
        for task in dict.fromkeys(row.task for row in step.val):
            known = ((decision.gained, "gained"), (decision.lost, "lost"), (left_out, "not needed"))
            outcome = next((name for tasks, name in known if task in tasks), "the same")
            rows.append(ChangeRow(step.step, task, cast(Any, outcome)))
    return rows


def _read_tests(folder: Path, last: bool) -> OnTest:
    names = ("initial", "best", "last") if last else ("initial", "best")
    return OnTest(*(read_rows(folder / f"{name}.jsonl", Rollout) for name in names))


@config.stage("report", Args)
def main(args: Args) -> None:
    state, tests, out = read_state(args.state), _read_tests(Path(args.tests), args.last), Path(args.out)
    runs = Path(args.state).parent.parent  # the steps' own files: what the last state was made of
    steps = read_steps(runs, [row.step for row in state.history[1:]])
    run = RunFiles(
        settings=Settings(args.skill, **args.settings),
        initial=read_folder(args.skill),
        state=state,
        baseline=read_rows(args.baseline, Rollout),
        steps=steps,
        test_initial=tests.initial,
        test_best=tests.best,
        test_last=tests.last or (),
        plan=read_record(args.plan, PlanSummary),
    )
    summary, curve = report(state, tests)
    write_record(out / "summary.json", summary)
    write_csv(out / "curve.csv", CurveRow, curve)
    write_csv(out / "changes.csv", ChangeRow, changes(state, steps))
    write_text(out / "report.html", render(view(run)))
    write_run(out, run)


if __name__ == "__main__":
    main()
