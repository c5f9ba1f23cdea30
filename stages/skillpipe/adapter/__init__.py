"""The classes that an environment for SkillOpt is written against, for those who do not install SkillOpt.

Names, arguments, defaults and errors are those that SkillOpt 0.2.0 documents (docs/reference/api.md there), so that
an adapter moves from one to the other by its import lines; where they differ, the docstring says so. Either kind of
adapter is run by skillpipe.envs.skillopt.
"""

from skillpipe.adapter.environment import EnvAdapter
from skillpipe.adapter.exchange import (
    Edit,
    EditOp,
    FailureSummaryEntry,
    GateAction,
    GateResult,
    Patch,
    RawPatch,
    RolloutResult,
)
from skillpipe.adapter.loading import BaseDataLoader, BatchSpec
from skillpipe.adapter.splitting import SplitDataLoader

__all__ = [
    "BaseDataLoader",
    "BatchSpec",
    "Edit",
    "EditOp",
    "EnvAdapter",
    "FailureSummaryEntry",
    "GateAction",
    "GateResult",
    "Patch",
    "RawPatch",
    "RolloutResult",
    "SplitDataLoader",
]
