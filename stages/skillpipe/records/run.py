"""What a run plans, decides and comes to. Nothing but data."""

from dataclasses import dataclass, field
from typing import Literal

from skillpipe.records.changes import Edit, EditOutcome
from skillpipe.records.work import Spent

Action = Literal["baseline", "accept_new_best", "accept", "reject", "no_change"]


@dataclass(frozen=True)
class Decision:
    """The gate's word on one candidate.

    Scores are mean hard scores over the `n` val tasks that both skills have a score for; None when there is no
    such task. `gained` and `lost` are the ids of tasks whose hard score rose and fell, in task order.
    """

    action: Action
    reason: str
    current: float | None
    candidate: float | None
    n: int
    gained: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()


@dataclass(frozen=True)
class StepRecord:
    """One row of the history: what a step tried and what came of it. The first row, step "start", is the baseline.

    `current` and `best` are the mean hard val scores after the step. `coverage` is the share of val tasks that
    were scored; `train_hard` the mean over the batch before the edits, None for the baseline. `spent` is this step's,
    whether calls were answered by a provider or known already. `refused` are the edits that could not be applied, with
    the reason. See ApplyReport for the optimizer's failures.
    """

    step: str
    decision: Decision
    current: float
    best: float
    coverage: float
    train_hard: float | None
    edits_proposed: int
    edits_applied: int
    refused: tuple[EditOutcome, ...] = ()
    reply_failures: int = 0
    fallbacks: int = 0
    spent: Spent = field(default_factory=Spent)


@dataclass(frozen=True)
class LineageRow:
    """One edit that entered a candidate, where it came from and what was decided. `rank` is 1-based in its step."""

    step: str
    rank: int
    edit: Edit
    old_lines: tuple[int, int] | None
    lines: tuple[int, int] | None
    action: Action
    score_before: float | None
    score_after: float | None


@dataclass(frozen=True)
class Estimate:
    """What a whole run is going to take, tests included, with the skill as it is now; it grows as the skill does.

    Tokens are estimated at 4 bytes each. `target_output_tokens` is at most, None where an answer has no limit;
    `target_cost_usd` is that of both, None where no price is known. `optimizer_calls` is at most.
    """

    target_calls: int
    target_input_tokens: int
    target_output_tokens: int | None
    target_cost_usd: float | None
    optimizer_calls: int


@dataclass(frozen=True)
class PlanSummary:
    """What a run is going to do. `batches` holds the step keys in order; sizes count tasks."""

    train: int
    val: int
    test: int
    batch_size: int
    batches: tuple[str, ...]
    estimate: Estimate
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class Summary:
    """results/summary.json: flat numbers, DVC's one metrics file. Scores are mean hard scores in [0, 1].

    Calls and tokens are the run's own, also where the answers were known already; `cost_usd` is what they cost, or
    did when they were paid for, None where a price is not known.
    """

    test_initial: float
    test_best: float
    test_gain: float
    test_initial_soft: float
    test_best_soft: float
    test_coverage: float
    val_initial: float
    val_best: float
    steps: int
    steps_accepted: int
    steps_rejected: int
    steps_no_change: int
    edits_proposed: int
    edits_applied: int
    edits_kept: int
    reply_failures: int
    fallbacks: int
    target_calls: int
    target_tokens: int
    optimizer_calls: int
    optimizer_tokens: int
    cost_usd: float | None


@dataclass(frozen=True)
class CurveRow:
    """One row of results/curve.csv. `candidate` is None where the step had no candidate to validate."""

    index: int
    step: str
    action: Action
    current: float
    best: float
    candidate: float | None
    train: float | None
