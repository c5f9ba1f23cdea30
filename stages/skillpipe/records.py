"""The whole data model: what stages hand to each other. Nothing but data.

Every record has a JSON Schema of the same fields in schemas/; artifacts.py reads and writes them.
"""

from dataclasses import dataclass, field
from typing import Literal

Split = Literal["train", "val", "test"]
Op = Literal["append", "insert_after", "replace", "delete"]
Source = Literal["failure", "success"]
RolloutStatus = Literal["passed", "failed", "judge_error", "infra_error"]
EditStatus = Literal["applied", "unmatched", "ambiguous", "protected", "duplicate", "empty", "invalid", "over_budget"]
Action = Literal["baseline", "accept_new_best", "accept", "reject", "no_change"]

SPLITS: tuple[Split, ...] = ("train", "val", "test")


@dataclass(frozen=True)
class Message:
    """One message of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class Usage:
    """What model calls used: number of calls, and tokens as the model counts them."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
        )


@dataclass(frozen=True)
class Task:
    """One item of work. `input` is what the target is sent, rendered; `answer` what it should say.

    `id` is unique over all splits; so is `input`. `task_type` groups tasks in reports and may be empty.
    """

    id: str
    input: str
    answer: str
    task_type: str = ""


@dataclass(frozen=True)
class Rollout:
    """One attempt at one task.

    `hard` and `soft` are in [0, 1], higher is better, and None unless status is passed or failed: what could not be
    run or judged is missing data, not a zero. `reason` says why it was not passed. `expected` is the task's answer.
    `trajectory` leaves out the system message, which is the skill.
    """

    task: str
    task_type: str
    status: RolloutStatus
    hard: float | None
    soft: float | None
    reason: str
    expected: str
    trajectory: tuple[Message, ...]
    usage: Usage


@dataclass(frozen=True)
class ValScore:
    """What a state keeps of one val rollout: scores and no text, so that no val text can reach an optimizer."""

    task: str
    task_type: str
    hard: float | None
    soft: float | None


@dataclass(frozen=True)
class Edit:
    """One change of the body of the skill.

    `target` is the text that stands in the document (not for append), `section` a heading line that makes it
    unique, `file` a path inside the skill's folder. `tasks` are the ids of the tasks behind it, `support` how many
    proposals agreed, `source` whether failures or successes gave rise to it.
    """

    op: Op
    content: str = ""
    target: str = ""
    section: str = ""
    file: str = "SKILL.md"
    tasks: tuple[str, ...] = ()
    support: int = 1
    source: Source = "failure"


@dataclass(frozen=True)
class Patch:
    """Edits that were proposed together, and the reasoning and tasks behind them."""

    source: Source
    tasks: tuple[str, ...]
    reasoning: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True)
class Merged:
    """All proposals of a step as one ranked list, best first. `proposed` counts edits before merging."""

    step: str
    proposed: int
    reasoning: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True)
class EditOutcome:
    """What became of one proposed edit. Line numbers are 1-based and inclusive.

    `old_lines` are the lines it touched in the document before it, `lines` those it left in the document after it;
    None when there are none (an insert touches no old line, a delete leaves no new one, or the edit was not applied).
    """

    edit: Edit
    status: EditStatus
    reason: str
    old_lines: tuple[int, int] | None
    lines: tuple[int, int] | None


@dataclass(frozen=True)
class ApplyReport:
    """Every edit that was merged, in rank order, and what became of it. `changed` is false when none took effect."""

    step: str
    edit_budget: int
    changed: bool
    outcomes: tuple[EditOutcome, ...]


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
    were scored; `train_hard` the mean over the batch before the edits, None for the baseline.
    """

    step: str
    decision: Decision
    current: float
    best: float
    coverage: float
    train_hard: float | None
    edits_proposed: int
    edits_applied: int
    usage: Usage = field(default_factory=Usage)


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
class PlanSummary:
    """What a run is going to do. `batches` holds the step keys in order; sizes count tasks."""

    train: int
    val: int
    test: int
    batch_size: int
    batches: tuple[str, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class Summary:
    """results/summary.json: flat numbers, DVC's one metrics file. Scores are mean hard scores in [0, 1]."""

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
    calls: int
    input_tokens: int
    output_tokens: int


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
