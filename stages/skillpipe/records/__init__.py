"""The whole data model: what stages hand to each other. Nothing but data.

Every record has a JSON Schema of the same fields in schemas/; artifacts.py reads and writes them.
"""

from skillpipe.records.changes import ApplyReport, Edit, EditOutcome, EditStatus, Merged, Op, Patch, Ranking, Source
from skillpipe.records.run import Action, CurveRow, Decision, Estimate, LineageRow, PlanSummary, StepRecord, Summary
from skillpipe.records.work import SPLITS, Message, Rollout, RolloutStatus, Spent, Split, Task, Usage, ValScore

__all__ = [
    "SPLITS",
    "Action",
    "ApplyReport",
    "CurveRow",
    "Decision",
    "Edit",
    "EditOutcome",
    "EditStatus",
    "Estimate",
    "LineageRow",
    "Merged",
    "Message",
    "Op",
    "Patch",
    "PlanSummary",
    "Ranking",
    "Rollout",
    "RolloutStatus",
    "Source",
    "Spent",
    "Split",
    "StepRecord",
    "Summary",
    "Task",
    "Usage",
    "ValScore",
]
