"""What a stage says of itself while it runs. Nothing but data."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from skillpipe.records.work import Rollout, Usage

PhaseKind = Literal["train", "val", "test", "stage"]
PhaseStatus = Literal["running", "completed", "failed"]
TaskStatus = Literal[
    "queued", "running", "passed", "failed", "skipped", "timeout", "judge_error", "infra_error"
]  # what a rollout may be, and what a task is before it has one


def attempt_id(task: str, replicate: int) -> str:
    """How an attempt is called: as its task, with a number from the second on."""
    return f"{task}#{replicate}" if replicate else task


@dataclass(frozen=True)
class PhaseTask:
    """One attempt of a phase. `id` is the task's, with `#1` and so on for its repeats; `category` is its task type.

    `turns` counts the target's messages. Scores, turns and reason are those of its rollout, None and empty before it.
    """

    id: str
    category: str
    status: TaskStatus
    hard: float | None
    soft: float | None
    turns: int | None
    reason: str

    @classmethod
    def of(cls, rollout: Rollout) -> "PhaseTask":
        """The attempt that a rollout was."""
        turns = sum(message.role == "assistant" for message in rollout.trajectory)
        key, scores = attempt_id(rollout.task, rollout.replicate), (rollout.hard, rollout.soft)
        return cls(key, rollout.task_type, rollout.status, *scores, turns, rollout.reason)


@dataclass(frozen=True)
class PhaseCounts:
    """Attempts by what became of them. `completed` are those that ended; `error` those without pass or fail.

    total = queued + running + completed, completed = passed + failed + error, and
    error = skipped + timeout + judge_error + infra_error.
    """

    total: int
    queued: int
    running: int
    completed: int
    passed: int
    failed: int
    skipped: int
    timeout: int
    judge_error: int
    infra_error: int
    error: int

    @classmethod
    def of(cls, tasks: Sequence[PhaseTask]) -> "PhaseCounts":
        """How many attempts there are of each status."""
        by = Counter(task.status for task in tasks)
        error = by["skipped"] + by["timeout"] + by["judge_error"] + by["infra_error"]
        return cls(
            total=len(tasks), queued=by["queued"], running=by["running"], completed=by["passed"] + by["failed"] + error,
            passed=by["passed"], failed=by["failed"], skipped=by["skipped"], timeout=by["timeout"],
            judge_error=by["judge_error"], infra_error=by["infra_error"], error=error,
        )  # fmt: skip


@dataclass(frozen=True)
class PhaseScore:
    """Mean scores over the `n` attempts that have one, `n_passed` of them passed."""

    hard: float
    soft: float
    n: int
    n_passed: int

    @classmethod
    def of(cls, tasks: Sequence[PhaseTask]) -> "PhaseScore | None":
        """The means over the attempts that have a score; None when none has: no data is not a zero."""
        scored = [(task.hard, task.soft or 0.0) for task in tasks if task.hard is not None]
        if not scored:
            return None
        n, passed = len(scored), sum(task.status == "passed" for task in tasks)
        return cls(sum(hard for hard, _ in scored) / n, sum(soft for _, soft in scored) / n, n, passed)


@dataclass(frozen=True)
class PhaseRecord:
    """runs/phases/<phase>.json: a stage while it runs, and how it ended. Outside DVC: it holds times.

    `phase` is the stage with its step, such as rollout-e1s1; `kind` is what its tasks are for, "stage" where it has
    none; `suite_name` is its file of tasks. Times are UTC, ISO 8601; `finished_at` is empty while it runs. `score` is
    None while nothing is scored. `error` is empty unless it failed. `out` is the path that the stage writes.
    """

    phase: str
    kind: PhaseKind
    suite_name: str
    status: PhaseStatus
    started_at: str
    finished_at: str
    counts: PhaseCounts
    tasks: tuple[PhaseTask, ...]
    score: PhaseScore | None
    error: str
    out: str
    usage: Usage = field(default_factory=Usage)
    schema: Literal["skillpipe.phase.v1"] = "skillpipe.phase.v1"


@dataclass(frozen=True)
class PhaseSummary:
    """A phase without its tasks, as a manifest and a result hold it. Times are empty where they are not known."""

    phase: str
    kind: PhaseKind
    suite_name: str
    status: PhaseStatus
    started_at: str
    finished_at: str
    counts: PhaseCounts
    score: PhaseScore | None
    error: str
