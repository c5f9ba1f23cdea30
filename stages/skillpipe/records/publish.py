"""What a run publishes for programs. Nothing but data."""

from dataclasses import dataclass
from typing import Any, Literal

from skillpipe.records.changes import Edit, EditOutcome
from skillpipe.records.phase import PhaseScore, PhaseSummary
from skillpipe.records.run import Action
from skillpipe.records.work import Spent

RunStatus = Literal["completed", "failed", "unfinished"]
StepAction = Literal[Action, "undecided"]  # a run may fail before a step's gate


@dataclass(frozen=True)
class TestScore:
    """One row of results/test.jsonl: a held-out task, and what the initial and the best skill scored on it.

    Scores are means over the task's repeats that have one; None where none has: missing data is not a zero.
    """

    task: str
    task_type: str
    initial_hard: float | None
    initial_soft: float | None
    best_hard: float | None
    best_soft: float | None


@dataclass(frozen=True)
class RunScores:
    """Mean scores of the initial and the best skill: on val by the run's metric, on test by hard score.

    None where they are not known.
    """

    initial: float | None
    best: float | None
    test_initial: float | None
    test_best: float | None


@dataclass(frozen=True)
class ScoreSummary:
    """The scores of the rounds that matter most. None where there was none."""

    baseline: PhaseScore | None
    latest_train: PhaseScore | None
    best: PhaseScore | None


@dataclass(frozen=True)
class RunTotals:
    """Attempts over all phases."""

    tasks: int
    passed: int
    failed: int


@dataclass(frozen=True)
class RunManifest:
    """results/manifest.json: what ran, how it ended, and where everything is.

    `run_id` is a digest of the settings and the initial skill: the same run has the same. `skill` is the path of the
    initial skill, the suites those of the tasks. `environment`, `target`, `optimizer` and `gate` are the choices as
    they stand in params.yaml, `judge` too, None where there is none; keys are named there, never held. `artifacts` and
    `phase_records` are paths in the project, of files that are there.
    """

    run_id: str
    status: RunStatus
    failed_phase: str
    error: str
    skill: str
    train_suite: str
    validation_suite: str
    test_suite: str
    environment: dict[str, Any]
    target: dict[str, Any]
    optimizer: dict[str, Any]
    gate: dict[str, Any]
    judge: dict[str, Any] | None
    scores: RunScores
    score_summary: ScoreSummary
    phases: tuple[PhaseSummary, ...]
    phase_records: tuple[str, ...]
    artifacts: dict[str, str]
    totals: RunTotals
    mode: Literal["skillpipe"] = "skillpipe"
    schema: Literal["skillpipe.manifest.v1"] = "skillpipe.manifest.v1"


@dataclass(frozen=True)
class StepResult:
    """One step: what was proposed, what it scored, what was decided. In a failed run, the last may have no decision.

    Before its gate, `action` is "undecided" and the gate's scores are None. `edits_refused` are those that could not be
    applied or were over budget. `files` are the step's own records in runs/: patches, report, and so on.
    """

    step: str
    action: StepAction
    accepted: bool
    reason: str
    current_score: float | None
    candidate_score: float | None
    train_score: PhaseScore | None
    val_score: PhaseScore | None
    edits_applied: tuple[Edit, ...]
    edits_refused: tuple[EditOutcome, ...]
    reasoning: str
    files: dict[str, str]


@dataclass(frozen=True)
class RunResult:
    """results/result.json: what a run came to, step by step.

    Scores are means on val by the run's metric: of the initial skill, the best, and the last current one. `best_step`
    and `current_step` are the steps whose candidates these are, "start" if that is the initial skill; `best_skill` is
    the text of the best SKILL.md. `stop_reason` says why no more steps ran, `spent` what the run used, tests included.
    In a failed run everything is as far as it came.
    """

    run_id: str
    status: RunStatus
    failed_phase: str
    error: str
    skill_name: str
    initial_score: float | None
    best_score: float | None
    current_score: float | None
    best_step: str
    current_step: str
    best_skill: str
    steps: tuple[StepResult, ...]
    accepted_count: int
    rejected_count: int
    phases: tuple[PhaseSummary, ...]
    stop_reason: str
    spent: Spent
    schema: Literal["skillpipe.result.v1"] = "skillpipe.result.v1"
