"""What ran, how it ended, and where everything is: manifest.json. Pure, but for a look at which files are there."""

from collections.abc import Mapping
from pathlib import Path

from skillpipe.phases import FOLDER
from skillpipe.publishing.files import RunFiles
from skillpipe.publishing.result import phase_summaries, run_id, score
from skillpipe.records import PhaseScore, RunManifest, RunScores, RunTotals, ScoreSummary, ValScore
from skillpipe.scoring import SOFT, mean

PUBLISHED = {
    "best_skill": "best/SKILL.md",
    "initial_skill": "initial/SKILL.md",
    "diff": "diff.patch",
    "lineage": "lineage.jsonl",
    "result": "result.json",
    "summary": "summary.json",
    "curve": "curve.csv",
    "test": "test.jsonl",
    "report": "report.html",
}


def artifacts_in(results: str | Path) -> dict[str, str]:
    """The published files that are there, by what they are: to be asked for when all others are written."""
    paths = {name: Path(results) / path for name, path in PUBLISHED.items()}
    return {name: path.as_posix() for name, path in paths.items() if path.is_file()}


def manifest(run: RunFiles, artifacts: Mapping[str, str]) -> RunManifest:
    """The manifest of a run whose published files are `artifacts`."""
    phases, settings = phase_summaries(run), run.settings
    history = run.state.history if run.state else ()
    trained = [step for step in run.steps if step.rollouts]
    return RunManifest(
        run_id=run_id(run),
        status=run.status,
        failed_phase=run.failed_phase,
        error=run.error,
        skill=settings.skill,
        train_suite="runs/plan/train.jsonl",
        validation_suite="runs/plan/val.jsonl",
        test_suite="runs/plan/test.jsonl",
        environment=dict(settings.environment),
        target=dict(settings.target),
        optimizer=dict(settings.optimizer),
        gate=dict(settings.gate),
        judge=None if settings.judge is None else dict(settings.judge),
        scores=RunScores(
            initial=history[0].current if history else mean(run.baseline),
            best=history[-1].best if history else mean(run.baseline),
            test_initial=mean(run.test_initial),
            test_best=mean(run.test_best) if run.test_best or run.status != "completed" else mean(run.test_initial),
        ),
        score_summary=ScoreSummary(
            baseline=score(run.baseline),
            latest_train=score(trained[-1].rollouts) if trained else None,
            best=_val_score(run.state.best.val) if run.state else score(run.baseline),
        ),
        phases=phases,
        phase_records=tuple((FOLDER / f"{record.phase}.json").as_posix() for record in run.phases),
        artifacts=dict(artifacts),
        totals=RunTotals(
            tasks=sum(phase.counts.total for phase in phases),
            passed=sum(phase.counts.passed for phase in phases),
            failed=sum(phase.counts.failed for phase in phases),
        ),
    )


def _val_score(rows: tuple[ValScore, ...]) -> PhaseScore | None:
    scored = [row for row in rows if row.hard is not None]
    hard, soft = mean(scored), mean(scored, SOFT)
    if hard is None:
        return None
    return PhaseScore(hard, soft or 0.0, len(scored), sum(row.hard == 1 for row in scored))
