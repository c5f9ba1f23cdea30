"""What a report is made of: the records of one run, as far as it came. Nothing but data."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from skillpipe.records import ApplyReport, LineageRow, PlanSummary, Rollout, RolloutStatus, Spent
from skillpipe.scoring import mean
from skillpipe.state import State

Status = Literal["completed", "failed", "unfinished"]


@dataclass(frozen=True)
class Names:
    """How the page calls things, as a person would. `revision`, git's name for the inputs, is empty where it is not
    known, `judge` where there is none; `run` is the run's id.
    """

    skill: str
    env: str
    target: str
    optimizer: str
    revision: str = ""
    judge: str = ""
    run: str = ""


@dataclass(frozen=True)
class LineOrigin:
    """Where a line of the best skill comes from: the edits that wrote it, newest last. No rows: the initial skill."""

    line: str
    rows: tuple[LineageRow, ...] = ()


@dataclass(frozen=True)
class StepFiles:
    """What a step left beside its row of the history: nothing where it did not come so far."""

    step: str
    report: ApplyReport | None = None
    val: tuple[Rollout, ...] = ()


@dataclass(frozen=True)
class Phase:
    """One round of rollouts: attempts by status, and their mean hard score, None where none has one."""

    name: str
    status: Literal["running", "completed", "failed"]
    counts: Mapping[RolloutStatus, int]
    score: float | None


@dataclass(frozen=True)
class RunView:
    """One run. All but the names and the initial skill may be missing: the page says what there is.

    `state` is the last that was written. `origins` gives, for a file of the best skill, its lines in order. `baseline`
    are the initial skill's rollouts on val, `steps` in the order of the run. `test_best` is empty when the best skill
    is the initial one, `test_last` unless the last current skill was tested. `failed_phase` and `error` are
    empty unless it failed; an unfinished run was broken off, or goes on. `spent` is all that the run used so far.
    """

    names: Names
    initial: Mapping[str, bytes]
    state: State | None = None
    origins: Mapping[str, Sequence[LineOrigin]] = field(default_factory=dict)
    baseline: Sequence[Rollout] = ()
    steps: Sequence[StepFiles] = ()
    test_initial: Sequence[Rollout] = ()
    test_best: Sequence[Rollout] = ()
    test_last: Sequence[Rollout] = ()
    plan: PlanSummary | None = None
    spent: Spent = field(default_factory=Spent)
    phases: Sequence[Phase] = ()
    status: Status = "completed"
    failed_phase: str = ""
    error: str = ""

    @property
    def best(self) -> Mapping[str, bytes]:
        """The files of the best skill so far."""
        return self.state.best.skill if self.state else self.initial


def phase_of(name: str, rollouts: Sequence[Rollout]) -> Phase:
    """The completed phase that these rollouts were."""
    return Phase(name, "completed", Counter(row.status for row in rollouts), mean(rollouts))
