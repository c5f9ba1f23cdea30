"""Publish what a run came to, into git.

Reads: the last state, the initial skill, both rollouts on test.
Writes: the folder `out`: best/ (the best skill), diff.patch, summary.json, curve.csv, lineage.jsonl.
Model calls: none.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from omegaconf import MISSING

from skillpipe import config
from skillpipe.artifacts import read_rows, write_csv, write_record, write_rows, write_text
from skillpipe.diff import folder_diff
from skillpipe.records import CurveRow, Rollout, Spent, StepRecord, Summary, Usage
from skillpipe.scoring import coverage, mean
from skillpipe.skill import read_folder, write_folder
from skillpipe.state import State, read_state


@dataclass
class Args:
    """report's paths."""

    skill: str = MISSING
    state: str = MISSING
    test_initial: str = MISSING
    test_best: str = MISSING
    out: str = MISSING


def report(state: State, initial: Sequence[Rollout], best: Sequence[Rollout]) -> tuple[Summary, list[CurveRow]]:
    """The figures of a run and its curve, a row per step with the baseline first.

    `initial` and `best` are the rollouts on test; `best` is empty when the best skill is the initial one.
    """
    tested = (row.usage for row in [*initial, *best])
    spent = state.spent + Spent(target=sum(tested, Usage()))
    cost = (spent.target + spent.optimizer).cost_usd
    best = best or initial
    steps = state.history[1:]
    actions = [row.decision.action for row in steps]
    before, after = mean(initial) or 0.0, mean(best) or 0.0
    summary = Summary(
        test_initial=before,
        test_best=after,
        test_gain=after - before,
        test_initial_soft=mean(initial, "soft") or 0.0,
        test_best_soft=mean(best, "soft") or 0.0,
        test_coverage=min(coverage(initial), coverage(best)),
        val_initial=state.history[0].current,
        val_best=state.history[-1].best,
        steps=len(steps),
        steps_accepted=sum(action in ("accept", "accept_new_best") for action in actions),
        steps_rejected=actions.count("reject"),
        steps_no_change=actions.count("no_change"),
        edits_proposed=sum(row.edits_proposed for row in steps),
        edits_applied=sum(row.edits_applied for row in steps),
        edits_kept=sum(row.action in ("accept", "accept_new_best") for row in state.lineage),
        reply_failures=sum(row.reply_failures for row in steps),
        fallbacks=sum(row.fallbacks for row in steps),
        target_calls=spent.target.calls,
        target_tokens=spent.target.input_tokens + spent.target.output_tokens,
        optimizer_calls=spent.optimizer.calls,
        optimizer_tokens=spent.optimizer.input_tokens + spent.optimizer.output_tokens,
        cost_usd=cost,
    )
    return summary, [_curve_row(index, row) for index, row in enumerate(state.history)]


def _curve_row(index: int, row: StepRecord) -> CurveRow:
    action, candidate = row.decision.action, row.decision.candidate
    return CurveRow(index, row.step, action, row.current, row.best, candidate, row.train_hard)


def names_in_repository(skill: str, files: Mapping[str, bytes]) -> dict[str, str]:
    """Where each file of the skill stands in the repository: `skill` is its folder, or its one file."""
    if Path(skill).is_file():
        return {path: PurePosixPath(skill).as_posix() for path in files}
    return {path: (PurePosixPath(skill) / path).as_posix() for path in files}


@config.stage(None, Args)
def main(args: Args) -> None:
    state, initial, out = read_state(args.state), read_folder(args.skill), Path(args.out)
    summary, curve = report(state, read_rows(args.test_initial, Rollout), read_rows(args.test_best, Rollout))
    write_folder(out / "best", state.best.skill)
    write_text(out / "diff.patch", folder_diff(initial, state.best.skill, names_in_repository(args.skill, initial)))
    write_record(out / "summary.json", summary)
    write_csv(out / "curve.csv", CurveRow, curve)
    write_rows(out / "lineage.jsonl", state.lineage)


if __name__ == "__main__":
    main()
