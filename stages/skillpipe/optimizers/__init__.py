"""What an optimizer is to this pipeline: it reads attempts and proposes edits.

Choices live one file or package each beside this one and are named by `_target_` in conf/optimizer; a user's own needs
no base class, only these four members.
"""

from collections.abc import Sequence
from typing import Protocol

from skillpipe.records import EditOutcome, LineageRow, Merged, Patch, Ranking, Rollout


class Optimizer(Protocol):
    """Proposes edits from train rollouts. It never sees a val or test task.

    The same arguments give the same result, whatever was asked before; a model answers known requests from its ledger.
    Every result tells what it took (`usage`) and what went wrong on the way. SkillpipeError is raised when nothing can
    be known at all, so that "nothing to propose" always means that.
    """

    async def reflect(
        self,
        skill: str,
        rollouts: Sequence[Rollout],
        tried: Sequence[LineageRow],
        refused: Sequence[EditOutcome],
    ) -> list[Patch]:
        """Patches for the skill, none or empty ones if there is nothing to propose.

        `skill` is SKILL.md as it stands, `rollouts` this step's attempts with it, in task order, `tried` the edits
        of earlier steps with what was decided, `refused` those that could not be applied, with the reason; both
        oldest first.
        """
        ...

    async def merge(self, step: str, skill: str, patches: Sequence[Patch]) -> Merged:
        """All proposals as one list without repetition, best first; its usage includes that of the patches."""
        ...

    async def rank(self, skill: str, merged: Merged, edit_budget: int) -> Ranking:
        """Which of the merged edits to try first, when `edit_budget` is too small for all of them.

        `order` holds every index into `merged.edits` once. It costs nothing when there is nothing to choose.
        """
        ...

    def calls_per_step(self, batch_size: int) -> int:
        """At most how many calls one step takes, for the estimate of a run."""
        ...
