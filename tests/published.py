"""One record of each kind that a run publishes, and of a phase: for tests that try every record."""

from skillpipe.records import (
    Edit,
    EditOutcome,
    PhaseCounts,
    PhaseRecord,
    PhaseScore,
    PhaseSummary,
    PhaseTask,
    RunManifest,
    RunResult,
    RunScores,
    RunTotals,
    ScoreSummary,
    Spent,
    StepResult,
    Usage,
    publish,
)

COUNTS = PhaseCounts(8, 1, 1, 6, 2, 1, 1, 0, 1, 1, 3)
SCORE = PhaseScore(0.5, 0.75, 4, 2)
TASKS = (
    PhaseTask("t1", "date", "passed", 1.0, 1.0, 2, ""),
    PhaseTask("t1#1", "", "queued", None, None, None, ""),
)
PHASE = PhaseRecord(
    "rollout-e1s1", "train", "runs/plan/batches/e1s1.jsonl", "running", "2026-12-01T12:00:00.000+00:00", "", COUNTS,
    TASKS, SCORE, "", "runs/e1s1/rollouts.jsonl", Usage(1, 2, 3, None),
)  # fmt: skip
SUMMARY = PhaseSummary("baseline", "val", "runs/plan/val.jsonl", "completed", "", "", COUNTS, None, "")
SCORES = RunScores(0.25, 0.5, None, None)
BEST = ScoreSummary(SCORE, None, SCORE)
TOTALS = RunTotals(8, 2, 1)
STEP = StepResult(
    "e1s1", "undecided", False, "", None, 0.5, SCORE, None, (Edit("append", "x"),),
    (EditOutcome(Edit("append", "y"), "over_budget", "", None, None),), "why",
    {"report": "runs/e1s1/candidate/report.json"},
)  # fmt: skip
PUBLISHED = [
    publish.TestScore("t1", "date", 0.0, 0.5, None, None),
    COUNTS,
    SCORE,
    *TASKS,
    PHASE,
    PhaseRecord("plan", "stage", "", "failed", "", "", COUNTS, (), None, "no such file", "runs/plan"),
    SUMMARY,
    SCORES,
    BEST,
    TOTALS,
    RunManifest(
        "0123456789abcdef", "failed", "gate-e1s1", "why", "skills/toy", "runs/plan/train.jsonl", "runs/plan/val.jsonl",
        "runs/plan/test.jsonl", {"data": "data/toy"}, {"_target_": "x.Y"}, {}, {"rule": {"min_delta": 0.5}}, None,
        SCORES, BEST, (SUMMARY,), ("runs/phases/plan.json",), {"diff": "results/diff.patch"}, TOTALS,
    ),
    STEP,
    RunResult(
        "0123456789abcdef", "completed", "", "", "toy", 0.25, None, None, "start", "start", "# Toy\n", (STEP,), 1,
        0, (SUMMARY,), "all steps ran", Spent(),
    ),
]  # fmt: skip
