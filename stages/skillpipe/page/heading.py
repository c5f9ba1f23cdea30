"""What the page begins with: the result in a sentence, the figures of the run, its scores as ranges. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from skillpipe.page.scores import Score, Scores
from skillpipe.page.view import RunView
from skillpipe.page.words import ACTIONS, NOTHING, cost, count, plural, signed, three, usage
from skillpipe.records import ACCEPTED, StepRecord
from skillpipe.schedule import is_step


@dataclass(frozen=True)
class Range:
    """One split's scores, the initial skill's and the best's; None where the run has none."""

    name: str
    note: str
    initial: Score | None
    best: Score | None

    @property
    def gain(self) -> str:
        """The difference with its sign, empty when there is no pair."""
        return signed(self.best.mean - self.initial.mean) if self.initial and self.best else ""


def verdict(run: RunView, found: Scores) -> str:
    """The result in one sentence; a run that failed, did not end or was not tested has none."""
    if run.status != "completed":
        ended = f"failed in {run.failed_phase}" if run.status == "failed" else "has not ended"
        return f"The run {ended}; it decided on {plural(len(_ran(_steps(run))), 'step')}."
    if run.best == run.initial:
        return "No candidate passed the gate: the best skill is the initial one."
    before, after = found.test_initial, found.test_best
    if before is None or after is None:
        return "A candidate passed the gate; it has not been tested."
    word = "rose" if after.mean > before.mean else "fell" if after.mean < before.mean else "stayed the same"
    return f"The test score {word}: {before.mean:.3f} to {after.mean:.3f} on {plural(after.n, 'held-out task')}."


def ranges(found: Scores) -> list[Range]:
    return [
        Range("Test", "held out, read once after training", found.test_initial, found.test_best),
        Range("Val", "what the gate decides on", found.val_initial, found.val_best),
    ]


def facts(run: RunView, found: Scores) -> list[tuple[str, str]]:
    """The figures of the run, name and value, in the order that they are shown."""
    rows, lineage = _steps(run), run.state.lineage if run.state else ()
    spent, judge = run.spent, run.names.judge
    kept = sum(row.action in ACCEPTED for row in lineage)
    proposed, applied = _edits(run, rows)
    said = [
        ("Environment", run.names.env),
        ("Target", f"{run.names.target}: {usage(spent.target)}"),
        ("Optimizer", f"{run.names.optimizer}: {usage(spent.optimizer)}"),
        *([("Judge", f"{judge}: {usage(spent.judge)}")] if judge else []),
        ("Cost", cost((spent.target + spent.optimizer + spent.judge).cost_usd)),
        ("Steps", _counts(rows, run)),
        ("Edits", f"{count(proposed)} proposed, {count(applied)} tried, {count(kept)} kept"),
        ("Ended", _ended(rows, run)),
    ]
    unusable, fallbacks = (sum(getattr(row, name) for row in rows) for name in ("reply_failures", "fallbacks"))
    saved = sum(row.decision.not_needed for row in rows)
    said += (
        [("Optimizer replies", f"{unusable} unusable, {plural(fallbacks, 'fallback')}")]
        if unusable or fallbacks
        else []
    )
    said += [("Spared", f"{plural(saved, 'val rollout')} that could change no decision")] if saved else []
    said += [("Last current skill", f"{found.test_last.mean:.3f} on test")] if found.test_last else []
    said += _by_metric(run, found)
    inputs = [f"run {run.names.run}"] if run.names.run else []
    inputs += [f"revision {run.names.revision}"] if run.names.revision else []
    return [*said, ("Inputs", ", ".join(inputs))] if inputs else said


def _edits(run: RunView, rows: Sequence[StepRecord]) -> tuple[int, int]:
    """How many were proposed and how many tried, those of a step that is not decided yet too."""
    decided = {row.step for row in rows}
    waiting = [
        outcome for step in run.steps if step.report and step.step not in decided for outcome in step.report.outcomes
    ]
    proposed = sum(row.edits_proposed for row in rows) + len(waiting)
    applied = sum(row.edits_applied for row in rows) + sum(outcome.status == "applied" for outcome in waiting)
    return proposed, applied


def _by_metric(run: RunView, found: Scores) -> list[tuple[str, str]]:
    """The val scores that the gate compared, where they are not the hard ones that the page begins with."""
    if run.state is None:
        return []
    before, after = run.state.history[0].current, run.state.history[-1].best
    hard = [score.mean for score in (found.val_initial, found.val_best) if score]
    if len(hard) == 2 and abs(before - hard[0]) < 1e-9 and abs(after - hard[1]) < 1e-9:
        return []
    return [("Val by the gate's metric", f"{three(before)} to {three(after)}")]


def _steps(run: RunView) -> Sequence[StepRecord]:
    return run.state.history[1:] if run.state else ()


def _ran(rows: Sequence[StepRecord]) -> list[StepRecord]:
    return [row for row in rows if is_step(row.step) and row.decision.action != "stopped"]


def _counts(rows: Sequence[StepRecord], run: RunView) -> str:
    planned = f" of {len(run.plan.batches)} planned" if run.plan and run.status != "completed" else ""
    kinds = [ACTIONS[row.decision.action][0] for row in _ran(rows)]
    said = [f"{kinds.count('accepted')} accepted", f"{kinds.count('rejected')} rejected"]
    said += [f"{kinds.count('idle')} without change"] if kinds.count("idle") else []
    return f"{len(kinds)}{planned}: {', '.join(said)}"


def _ended(rows: Sequence[StepRecord], run: RunView) -> str:
    if run.status != "completed":
        return f"failed in {run.failed_phase}" if run.status == "failed" else "not yet, or broken off"
    stop = next(((row.step, row.stop) for row in rows if row.stop), None)
    return f"after {stop[0]}: {stop[1]}" if stop else "after the last step" if rows else NOTHING
