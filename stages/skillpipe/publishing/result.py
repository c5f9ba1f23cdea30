"""What a run came to, for programs: result.json and test.jsonl. Pure."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import pairwise
from pathlib import PurePosixPath

from skillpipe.publishing.files import RunFiles, StepFiles
from skillpipe.records import (
    ACCEPTED,
    PhaseCounts,
    PhaseKind,
    PhaseScore,
    PhaseSummary,
    PhaseTask,
    Rollout,
    RunResult,
    Spent,
    StepRecord,
    StepResult,
    TestScore,
    Usage,
)
from skillpipe.scoring import SOFT, mean
from skillpipe.usage import of_rollouts


def result(run: RunFiles) -> RunResult:
    """Everything but where things are. Deterministic; holds times only where `run.phases` does."""
    steps = _steps(run)
    return RunResult(
        run_id=run_id(run),
        status=run.status,
        failed_phase=run.failed_phase,
        error=run.error,
        skill_name=PurePosixPath(run.settings.skill).name.removesuffix(".md"),
        initial_score=run.state.history[0].current if run.state else mean(run.baseline),
        best_score=run.state.history[-1].best if run.state else mean(run.baseline),
        current_score=run.state.history[-1].current if run.state else mean(run.baseline),
        best_step=_best_step(run),
        current_step=_current_step(run),
        best_skill=run.best["SKILL.md"].decode(),
        steps=steps,
        accepted_count=sum(step.accepted for step in steps),
        rejected_count=sum(step.action in ("reject", "reject_policy") for step in steps),
        phases=phase_summaries(run),
        stop_reason=_stop_reason(run),
        spent=spent_in(run),
    )


def run_id(run: RunFiles) -> str:
    """16 hex digits: a digest of the settings and the initial skill. The same run has the same everywhere."""
    told = {"settings": asdict(run.settings), "skill": {name: data.hex() for name, data in run.initial.items()}}
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:16]


def scores_on_test(initial: Sequence[Rollout], best: Sequence[Rollout]) -> list[TestScore]:
    """A row per test task, in task order; `best` is empty when the best skill is the initial one."""
    before, after = _by_task(initial), _by_task(best or initial)
    return [
        TestScore(task, rows[0].task_type, *_means(rows), *_means(after.get(task, ()))) for task, rows in before.items()
    ]


def phase_summaries(run: RunFiles) -> tuple[PhaseSummary, ...]:
    """The rounds of rollouts of a run in order, then a phase that failed, or was under way, as far as it came.

    Figures are those of the rollouts; times those of `run.phases`, where its record is of the same rollouts.
    """
    known = {record.phase: record for record in run.phases}
    told = []
    for phase, kind, suite, rollouts in _rounds(run):
        tasks = [PhaseTask.of(row) for row in rollouts]
        counts, score, record = PhaseCounts.of(tasks), PhaseScore.of(tasks), known.get(phase)
        same = record is not None and (record.counts, record.score) == (counts, score)
        times = (record.started_at, record.finished_at) if record and same else ("", "")
        told.append(PhaseSummary(phase, kind, suite, "completed", *times, counts, score, ""))
    for of in run.phases:
        if of.status != "completed":
            times = of.started_at, of.finished_at
            told.append(
                PhaseSummary(of.phase, of.kind, of.suite_name, of.status, *times, of.counts, of.score, of.error)
            )
    return tuple(told)


def _rounds(run: RunFiles) -> Iterator[tuple[str, PhaseKind, str, Sequence[Rollout]]]:
    plan = "runs/plan"
    rounds: list[tuple[str, PhaseKind, str, Sequence[Rollout]]] = [
        ("baseline", "val", f"{plan}/val.jsonl", run.baseline)
    ]
    for step in run.steps:
        rounds.append((f"rollout-{step.step}", "train", f"{plan}/batches/{step.step}.jsonl", step.rollouts))
        rounds.append((f"validate-{step.step}", "val", f"{plan}/val.jsonl", step.val))
    rounds.append(("test_initial", "test", f"{plan}/test.jsonl", run.test_initial))
    rounds.append(("test_best", "test", f"{plan}/test.jsonl", run.test_best))
    return (found for found in rounds if found[-1])


def _steps(run: RunFiles) -> tuple[StepResult, ...]:
    """The steps of the history, then one that has files but no decision yet."""
    files = {step.step: step for step in run.steps}
    decided = run.state.history[1:] if run.state else ()
    rows: dict[str, StepRecord | None] = {row.step: row for row in decided}
    rows |= {key: None for key, step in files.items() if key not in rows and step.files}
    return tuple(_step(run, key, row, files.get(key, StepFiles(key))) for key, row in rows.items())


def _step(run: RunFiles, key: str, row: StepRecord | None, files: StepFiles) -> StepResult:
    decision = row.decision if row else None
    lineage = run.state.lineage if run.state else ()
    if files.report:
        applied = tuple(outcome.edit for outcome in files.report.outcomes if outcome.status == "applied")
        refused = tuple(outcome for outcome in files.report.outcomes if outcome.status != "applied")
    else:
        applied = tuple(edit.edit for edit in lineage if edit.step == key)
        refused = row.refused if row else ()
    return StepResult(
        step=key,
        action=decision.action if decision else "undecided",
        accepted=decision is not None and decision.action in ACCEPTED,
        reason=decision.reason if decision else "the run did not come to this step's gate",
        current_score=decision.current if decision else None,
        candidate_score=decision.candidate if decision else None,
        train_score=score(files.rollouts),
        val_score=score(files.val),
        edits_applied=applied,
        edits_refused=refused,
        reasoning=files.report.reasoning if files.report else "",
        files=dict(files.files),
    )


def score(rollouts: Sequence[Rollout]) -> PhaseScore | None:
    """The score of a round of rollouts; None when none has one."""
    return PhaseScore.of([PhaseTask.of(row) for row in rollouts])


def _best_step(run: RunFiles) -> str:
    history = run.state.history if run.state else ()
    pairs = pairwise(history)
    better = [row.step for before, row in pairs if row.decision.action in ACCEPTED and row.best != before.best]
    named = [row.step for row in history if row.decision.action == "accept_new_best"]
    return (better or named or ["start"])[-1] if run.best != run.initial else "start"


def _current_step(run: RunFiles) -> str:
    history = run.state.history if run.state else ()
    return next((row.step for row in reversed(history) if row.decision.action in ACCEPTED), "start")


def spent_in(run: RunFiles) -> Spent:
    """The history's, what the steps used that are not in it yet, and the tests'."""
    counted = {row.step for row in run.state.history} if run.state else set()
    rounds = [run.test_initial, run.test_best, run.test_last, *([] if run.state else [run.baseline])]
    open_steps = [step for step in run.steps if step.step not in counted]
    rounds += [rows for step in open_steps for rows in (step.rollouts, step.val)]
    optimizer = sum((step.report.usage for step in open_steps if step.report), Usage())
    known = run.state.spent if run.state else Spent()
    return known + of_rollouts([row for rows in rounds for row in rows]) + Spent(optimizer=optimizer)


def _stop_reason(run: RunFiles) -> str:
    if run.status == "failed":
        return f"{run.failed_phase} failed: {run.error}"
    if run.status == "unfinished":
        return "the run goes on, or was ended from outside"
    stopped = run.state.history[-1].stop if run.state else ""
    return stopped or "all steps ran"


def _by_task(rollouts: Sequence[Rollout]) -> dict[str, list[Rollout]]:
    tasks: dict[str, list[Rollout]] = {}
    for row in rollouts:
        tasks.setdefault(row.task, []).append(row)
    return tasks


def _means(rows: Sequence[Rollout]) -> tuple[float | None, float | None]:
    return mean(rows), mean(rows, SOFT)
