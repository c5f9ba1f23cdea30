"""What an optimizer is to this pipeline: it reads attempts and proposes edits.

Choices live one file each beside this one and are named by `_target_` in conf/optimizer; a user's own needs no
base class, only these two members.
"""

from collections.abc import Sequence
from typing import Protocol

from skillpipe.records import LineageRow, Merged, Patch, Rollout


class Optimizer(Protocol):
    """Proposes edits from train rollouts. It never sees a val or test task."""

    async def reflect(self, skill: str, rollouts: Sequence[Rollout], tried: Sequence[LineageRow]) -> list[Patch]:
        """Patches for the skill, none if there is nothing to propose.

        `skill` is SKILL.md as it stands, `rollouts` this step's attempts with it, in task order, `tried` the edits
        of earlier steps with what was decided. The same arguments give the same patches.
        """
        ...

    async def merge(self, step: str, patches: Sequence[Patch]) -> Merged:
        """All proposals as one list without repetition, best first. The same patches give the same list."""
        ...
