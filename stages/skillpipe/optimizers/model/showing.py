"""How a model is shown attempts and edits: the texts that go into a prompt. Pure."""

import json
from collections.abc import Sequence

from skillpipe.optimizers.model.cutting import fit
from skillpipe.records import Edit, Message, Rollout


def show_attempts(rollouts: Sequence[Rollout], tokens: int) -> tuple[str, int]:
    """The attempts in order, and how many tokens (estimated) had to be cut.

    `tokens` bounds what attempts say, in all: trajectories, expected answers, references and reasons (a scorer's reason
    may repeat a whole response). The longest are cut, from the middle.
    """
    said = [
        text for row in rollouts for text in (show_trajectory(row.trajectory), row.expected, row.reference, row.reason)
    ]
    kept, cut = fit(said, tokens)
    blocks = [
        f"<task>\nid: {row.task}\nresult: {row.status}\n<trajectory>\n{trajectory}\n</trajectory>\n"
        f"<expected>\n{expected}\n</expected>\n"
        + (f"<reference>\n{reference}\n</reference>\n" if reference else "")
        + f"<reason>\n{reason or 'none given'}\n</reason>\n</task>"
        for row, trajectory, expected, reference, reason in zip(
            rollouts, kept[::4], kept[1::4], kept[2::4], kept[3::4], strict=True
        )
    ]
    return "\n".join(blocks), cut


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


def show_trajectory(messages: Sequence[Message]) -> str:
    """The messages in order, each under its role."""
    return "\n".join(f"[{message.role}]\n{message.content}" for message in messages)
