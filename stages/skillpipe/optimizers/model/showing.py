"""How a model is shown attempts, edits and history: the texts that go into a prompt. Pure."""

import json
from collections.abc import Sequence
from itertools import groupby

from skillpipe.optimizers.model.cutting import fit
from skillpipe.records import Edit, EditOutcome, LineageRow, Message, Rollout

_DECIDED = {"accept_new_best": "accepted, the best so far", "accept": "accepted", "reject": "rejected"}


def show_attempts(rollouts: Sequence[Rollout], tokens: int) -> tuple[str, int]:
    """The attempts in order, and how many tokens (estimated) had to be cut.

    `tokens` bounds what attempts say, in all: trajectories, expected answers and reasons (a scorer's reason may
    repeat a whole response). The longest are cut, from the middle.
    """
    said = [text for row in rollouts for text in (_trajectory(row.trajectory), row.expected, row.reason)]
    kept, cut = fit(said, tokens)
    blocks = [
        f"<task>\nid: {row.task}\nresult: {row.status}\n<trajectory>\n{trajectory}\n</trajectory>\n"
        f"<expected>\n{expected}\n</expected>\n<reason>\n{reason or 'none given'}\n</reason>\n</task>"
        for row, trajectory, expected, reason in zip(rollouts, kept[::3], kept[1::3], kept[2::3], strict=True)
    ]
    return "\n".join(blocks), cut


def show_tried(tried: Sequence[LineageRow], refused: Sequence[EditOutcome]) -> str:
    """Earlier edits, oldest first, under the step that tried them together and what was decided on it. Not cut.

    Then those that could not be applied, with the reason.
    """
    lines: list[str] = []
    for step, rows in groupby(tried, key=lambda row: row.step):
        edits = list(rows)
        lines.append(f"Step {step}, {_decision(edits[0])}:")
        lines += [f"- {show_edit(row.edit)}" for row in edits]
    if refused:
        lines.append("Could not be applied:")
        lines += [f"- {show_edit(outcome.edit)}: {outcome.status}: {outcome.reason}" for outcome in refused]
    return "\n".join(lines) or "Nothing yet."


def show_edit(edit: Edit) -> str:
    """What the edit does, as one line of JSON without its empty fields."""
    fields = {"op": edit.op, "section": edit.section, "target": edit.target, "content": edit.content}
    if edit.file != Edit.file:
        fields["file"] = edit.file
    return json.dumps({name: value for name, value in fields.items() if value}, ensure_ascii=False)


def show_proposals(edits: Sequence[Edit]) -> str:
    """The edits by index from 0, one a line, with what speaks for each."""
    return "\n".join(
        f"{index}: {show_edit(edit)} (support {edit.support}, {len(edit.tasks)} tasks, from {edit.source})"
        for index, edit in enumerate(edits)
    )


def _decision(row: LineageRow) -> str:
    decided = _DECIDED.get(row.action, row.action)
    if row.score_before is None or row.score_after is None:
        return decided
    return f"{decided} (held-out score {row.score_before:.3f} before, {row.score_after:.3f} with these edits)"


def _trajectory(messages: Sequence[Message]) -> str:
    return "\n".join(f"[{message.role}]\n{message.content}" for message in messages)
