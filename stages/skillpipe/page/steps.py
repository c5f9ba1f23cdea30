"""The steps as the page lists them: what was proposed, what became of it, what was decided. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from skillpipe.page.view import RunView
from skillpipe.page.words import ACTIONS, UNDECIDED, Kind
from skillpipe.records import EditOutcome, LineageRow, StepRecord


@dataclass(frozen=True)
class Step:
    """One step. `row` is None for one that the run failed in; `reasoning` is the optimizer's, empty if not known.

    `outcomes` are all merged edits in rank order; where the candidate's report is missing, those that entered the
    candidate and then those that were refused.
    """

    key: str
    kind: Kind
    word: str
    row: StepRecord | None
    outcomes: tuple[EditOutcome, ...]
    reasoning: str
    patterns: tuple[str, ...]
    fallbacks: tuple[str, ...]
    budget: int | None

    @property
    def applied(self) -> tuple[EditOutcome, ...]:
        return tuple(outcome for outcome in self.outcomes if outcome.status == "applied")

    @property
    def refused(self) -> tuple[EditOutcome, ...]:
        """Edits that could not be applied; those past the budget are none of them."""
        return tuple(outcome for outcome in self.outcomes if outcome.status not in ("applied", "over_budget"))


def steps(run: RunView) -> list[Step]:
    """The steps in order: those that were decided, then those that left files and came to no decision."""
    rows = run.state.history[1:] if run.state else ()
    lineage = run.state.lineage if run.state else ()
    decided = {row.step: row for row in rows}
    keys = [*decided, *(step.step for step in run.steps if step.step not in decided)]
    reports = {step.step: step.report for step in run.steps}
    found = []
    for key in keys:
        row, report = decided.get(key), reports.get(key)
        kind, word = ACTIONS[row.decision.action] if row else UNDECIDED
        found.append(
            Step(
                key=key,
                kind=kind,
                word=word,
                row=row,
                outcomes=report.outcomes if report else _outcomes(key, row, lineage),
                reasoning=report.reasoning if report else "",
                patterns=tuple(pattern.text for pattern in report.patterns) if report else (),
                fallbacks=report.fallbacks if report else (),
                budget=report.edit_budget if report else None,
            )
        )
    return found


def _outcomes(key: str, row: StepRecord | None, lineage: Sequence[LineageRow]) -> tuple[EditOutcome, ...]:
    entered = [
        EditOutcome(edit.edit, "applied", "", edit.old_lines, edit.lines) for edit in lineage if edit.step == key
    ]
    return (*entered, *(row.refused if row else ()))
