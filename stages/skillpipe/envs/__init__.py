"""What an environment is to this pipeline: tasks by split, and a way to run one of them.

Choices live one file each beside this one and are named by `_target_` in conf/env; a user's own needs no base
class, only these two members.
"""

from typing import Protocol

from skillpipe.models import Model
from skillpipe.records import Rollout, Split, Task


class Environment(Protocol):
    """Gives tasks and runs them."""

    def tasks(self, split: Split) -> list[Task]:
        """All tasks of a split, in their order. Raises SkillpipeError that says where the data is wrong."""
        ...

    async def run(self, task: Task, skill: str, target: Model) -> Rollout:
        """One attempt at one task by a target that is given `skill`, the body that it reads.

        May be awaited many times at once; depends on its arguments alone. A failed call or scorer is a rollout
        with status infra_error or judge_error and no score. An exception fails this task in the same way, but a
        SkillpipeError stops the stage.
        """
        ...
