"""Accept or reject a candidate: rules over paired val scores, and policies over the whole candidate. Pure functions.

A rule (Strict, Paired, Veto, Off) is named by `_target_` in conf/gate, and so are policies (skillpipe.gating.policies);
a user's own needs no base class, only what its Protocol says.
"""

from skillpipe.gating.contract import OpenTask, Pair, Policy, Review, Rule, Verdict
from skillpipe.gating.decision import beats, decide, unchanged
from skillpipe.gating.early import order, settled
from skillpipe.gating.off import Off
from skillpipe.gating.paired import Paired
from skillpipe.gating.pairs import open_tasks, pair_up
from skillpipe.gating.strict import Strict
from skillpipe.gating.veto import Veto

__all__ = [
    "Off",
    "OpenTask",
    "Pair",
    "Paired",
    "Policy",
    "Review",
    "Rule",
    "Strict",
    "Verdict",
    "Veto",
    "beats",
    "decide",
    "open_tasks",
    "order",
    "pair_up",
    "settled",
    "unchanged",
]
