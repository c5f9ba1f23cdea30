"""The run as the page sees it."""

from collections.abc import Mapping
from typing import Any, get_args

from skillpipe.blame import blame, edits_of_best
from skillpipe.page import LineOrigin, Names, Phase, RunView, StepFiles
from skillpipe.publishing.files import RunFiles
from skillpipe.publishing.result import phase_summaries, run_id, spent_in
from skillpipe.records import RolloutStatus


def view(run: RunFiles, revision: str = "") -> RunView:
    """What the report shows of the run, as far as it came. `revision` is that of the inputs in git, where known."""
    edits = edits_of_best(run.initial, run.best, run.state.lineage) if run.state else ()
    files = dict.fromkeys(["SKILL.md", *(row.edit.file for row in edits)])
    told = run.settings
    return RunView(
        names=Names(
            told.skill,
            _called(told.environment),
            _called(told.target),
            _called(told.optimizer),
            revision,
            _called(told.judge) if told.judge and "_target_" in told.judge else "",
            run_id(run),
        ),
        initial=run.initial,
        state=run.state,
        baseline=run.baseline,
        origins={
            file: [LineOrigin(line.text, line.edits[::-1]) for line in blame(run.initial, edits, file).lines]
            for file in files
        },
        steps=[StepFiles(step.step, step.report, step.val) for step in run.steps],
        test_initial=run.test_initial,
        test_best=run.test_best,
        test_last=run.test_last,
        plan=run.plan,
        spent=spent_in(run),
        phases=[
            Phase(
                phase.phase,
                phase.status,
                {status: getattr(phase.counts, status) for status in get_args(RolloutStatus)},
                phase.score.hard if phase.score else None,
            )
            for phase in phase_summaries(run)
        ],
        status=run.status,
        failed_phase=run.failed_phase,
        error=run.error,
    )


def _called(choice: Mapping[str, Any]) -> str:
    """What people call a choice: its model, its data, or its class."""
    named = choice.get("model") or choice.get("package") or choice.get("data")
    return str(named or str(choice["_target_"]).rsplit(".", 1)[-1])
