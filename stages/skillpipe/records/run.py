"""What a run plans, decides and comes to. Nothing but data."""

from dataclasses import dataclass, field
from typing import Literal

from skillpipe.records.changes import Edit, EditOutcome, Splice
from skillpipe.records.work import Spent

Action = Literal[
    "baseline",
    "accept_new_best",
    "accept",
    "force_accept",  # there is no gate
    "reject",
    "reject_policy",
    "skip_no_patches",  # a step without a usable patch: its candidate is the current skill
    "no_change",  # a slow update without anything to compare, or to say
    "stopped",  # training had ended before this step
]
ACCEPTED: tuple[Action, ...] = ("accept_new_best", "accept", "force_accept")


@dataclass(frozen=True)
class TypeScore:
    """Mean scores of one task type, over the val tasks that both skills have a score for. Part of Decision."""

    task_type: str
    n: int
    current: float
    candidate: float


@dataclass(frozen=True)
class Decision:
    """The gate's word on one candidate.

    Scores are means, by the run's metric, over the `n` val tasks that both skills have a score for; None when there is
    no such task. `gained` and `lost` are the ids of tasks whose score rose and fell, in task order. `coverage` is the
    share of the candidate's val tasks that were scored, of those that were needed; `not_needed` counts those that could
    not change the decision and were not run: then `at_most` is the best mean that the candidate could have reached over
    all. `p_value` is the rule's, where it has one.
    """

    action: Action
    reason: str
    current: float | None
    candidate: float | None
    n: int
    gained: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    coverage: float = 1.0
    p_value: float | None = None
    not_needed: int = 0
    at_most: float | None = None
    by_type: tuple[TypeScore, ...] = ()


@dataclass(frozen=True)
class StepRecord:
    """One row of the history: what a step tried and what came of it. The first row, step "start", is the baseline.

    A slow update's row has the epoch as its step, `e2`. `current` and `best` are the mean val scores after the step, by
    the run's metric. `coverage` is the share of val tasks that were scored, of those that were needed; `train_hard` the
    mean over the batch before the edits, None for the baseline. `spent` is this step's, whether calls were answered by
    a provider or known already. `refused` are the edits that could not be applied, with the reason. See ApplyReport for
    the optimizer's failures. `candidate` is the digest of the candidate, `same_as` the step that had the same one,
    whose val scores were taken. `stop` says why no step after this one works; empty while training goes on.
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
    candidate: str = ""
    same_as: str = ""
    stop: str = ""


@dataclass(frozen=True)
class LineageRow:
    """One edit that entered a candidate, where it came from and what was decided. `rank` is 1-based in its step.

    The splices of all accepted rows, in order, turn the initial skill into the current one.
    """

    step: str
    rank: int
    edit: Edit
    old_lines: tuple[int, int] | None
    lines: tuple[int, int] | None
    action: Action
    score_before: float | None
    score_after: float | None
    splice: Splice | None = None


@dataclass(frozen=True)
class Estimate:
    """What a whole run is going to take, tests included, with the skill as it is now; it grows as the skill does.

    Tokens are estimated at 4 bytes each. `target_output_tokens` is at most, None where an answer has no limit;
    `target_cost_usd` is that of both, None where no price is known. All calls are at most.
    """

    target_calls: int
    target_input_tokens: int
    target_output_tokens: int | None
    target_cost_usd: float | None
    optimizer_calls: int
    judge_calls: int


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
    """results/summary.json: flat numbers, DVC's one metrics file. Scores are in [0, 1].

    Test scores are mean hard scores, `_soft` mean soft scores; val scores are means by the run's metric. `test_last` is
    of the last current skill, None unless it was asked for. `val_not_needed` counts val rollouts that could not change
    a decision; `training_calls` are the target's before the tests. Edits, unusable replies and fallbacks are those of
    steps and slow updates.

    Calls and tokens are the run's own, also where the answers were known already; `cost_usd` is what they cost, or
    did when they were paid for, None where a price is not known.
    """

    test_initial: float
    test_best: float
    test_gain: float
    test_initial_soft: float
    test_best_soft: float
    test_last: float | None
    test_coverage: float
    val_initial: float
    val_best: float
    steps: int
    steps_accepted: int
    steps_rejected: int
    steps_no_change: int
    steps_stopped: int
    edits_proposed: int
    edits_applied: int
    edits_kept: int
    reply_failures: int
    fallbacks: int
    val_not_needed: int
    training_calls: int
    target_calls: int
    target_tokens: int
    optimizer_calls: int
    optimizer_tokens: int
    judge_calls: int
    cost_usd: float | None


@dataclass(frozen=True)
class CurveRow:
    """One row of results/curve.csv. `candidate` is None where the step had no candidate to validate on all val tasks.

    Where validation could stop early, `at_most` is the best score that the candidate could have reached.
    """

    index: int
    step: str
    action: Action
    current: float
    best: float
    candidate: float | None
    at_most: float | None
    train: float | None


@dataclass(frozen=True)
class ChangeRow:
    """One row of results/changes.csv: what a step's candidate did with one val task, against the current skill then."""

    step: str
    task: str
    outcome: Literal["gained", "lost", "the same", "not needed"]
