"""What an optimizer is told of a run: what its steps found and tried. Nothing but data, and nothing of val or test."""

from dataclasses import dataclass
from typing import Literal

from skillpipe.records.changes import Edit, EditOutcome, Observation
from skillpipe.records.run import Action
from skillpipe.records.work import Rollout, ValScore

PairCategory = Literal["improved", "regressed", "persistent_fail", "stable_success"]


@dataclass(frozen=True)
class StepMemory:
    """One step of this epoch: what failed in its batch, which edits its candidate had, what was decided.

    `before` and `after` are the scores that the gate compared, None where it compared nothing. `refused` are the edits
    that could not be applied, with the reason. `tasks` and `failed` count the batch.
    """

    step: str
    action: Action
    before: float | None
    after: float | None
    tasks: int
    failed: int
    patterns: tuple[Observation, ...] = ()
    edits: tuple[Edit, ...] = ()
    refused: tuple[EditOutcome, ...] = ()


@dataclass(frozen=True)
class Memory:
    """What the optimizer remembers: the steps of this epoch, oldest first, and its notes from the epochs before.

    `notes` are the meta notes: the optimizer's own words to itself, written by a slow update; empty before the first.
    """

    steps: tuple[StepMemory, ...] = ()
    notes: str = ""


@dataclass(frozen=True)
class Tried:
    """A skill that was validated in this run, by the digest of its files, and its val scores without any text.

    `against` is the digest of the current skill then. `complete` is false where val tasks were left out, since they
    could not change the decision.
    """

    digest: str
    step: str
    against: str
    complete: bool
    val: tuple[ValScore, ...]


@dataclass(frozen=True)
class TaskPair:
    """One train task done with the skill of the epoch before and with this epoch's. Both rollouts have a score."""

    category: PairCategory
    before: Rollout
    after: Rollout
