"""What an optimizer is to this pipeline: it reads attempts and proposes edits.

Choices live one file or package each beside this one and are named by `_target_` in conf/optimizer; a user's own needs
no base class, only these members.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from skillpipe.records import Edit, Memory, Merged, Patch, Ranking, Rollout, TaskPair, Usage


@dataclass(frozen=True)
class Rewrite:
    """A new body for the skill. `failure` says why there is none, and is empty if there is one."""

    body: str
    reasoning: str = ""
    failure: str = ""
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True)
class Guidance:
    """What a slow update writes: `text` for the target, into the protected region; `notes` for the optimizer itself.

    Either may be empty: then what stood there before is kept. `failure` says why nothing could be made of the pairs.
    """

    text: str
    notes: str = ""
    reasoning: str = ""
    failure: str = ""
    usage: Usage = field(default_factory=Usage)


class Optimizer(Protocol):
    """Proposes edits from train rollouts. It never sees a val or test task.

    `skill` is SKILL.md as it stands; `memory` what this run's epoch found and tried, and the notes of the epochs
    before. The same arguments give the same result, whatever was asked before; a model answers known requests from its
    ledger. Every result tells what it took (`usage`) and what went wrong on the way. SkillpipeError is raised when
    nothing can be known at all, so that "nothing to propose" always means that.
    """

    async def reflect(self, skill: str, rollouts: Sequence[Rollout], memory: Memory) -> list[Patch]:
        """Patches for the skill, none or empty ones if there is nothing to propose.

        `rollouts` are this step's attempts with it, in task order.
        """
        ...

    async def merge(self, step: str, skill: str, patches: Sequence[Patch], memory: Memory) -> Merged:
        """All proposals as one list without repetition, best first; its usage includes that of the patches."""
        ...

    async def rank(self, skill: str, merged: Merged, edit_budget: int | None, memory: Memory) -> Ranking:
        """Which of the merged edits to try first, when `edit_budget` is too small for all of them.

        `order` holds every index into `merged.edits` once. It costs nothing when there is nothing to choose. Without a
        budget (None, the autonomous schedule) the optimizer also says how many to try: `chosen`, at most all.
        """
        ...

    async def rewrite(self, skill: str, edits: Sequence[Edit], memory: Memory) -> Rewrite:
        """The body rewritten to carry out the chosen suggestions. Asked for in the update mode `rewrite` alone.

        Raises SkillpipeError where the optimizer cannot write.
        """
        ...

    async def compact(self, notes: Sequence[str]) -> tuple[list[str], Usage]:
        """The execution notes in fewer lines. Asked for when there are too many; may return them as they are."""
        ...

    async def compare(self, skill: str, guidance: str, pairs: Sequence[TaskPair], memory: Memory) -> Guidance:
        """Guidance and notes from what this epoch's skill does better and worse than the last one's.

        `guidance` is what the protected region says now, `pairs` are in task order.
        """
        ...

    def calls_per_step(self, batch_size: int) -> int:
        """At most how many calls one step takes, for the estimate of a run."""
        ...

    def calls_per_epoch(self) -> int:
        """At most how many calls one slow update takes."""
        ...
