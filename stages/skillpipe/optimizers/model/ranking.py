"""Which of too many merged edits to try first, as a model chooses."""

from typing import Any

from skillpipe.optimizers.model.asking import Asker, Unusable
from skillpipe.optimizers.model.reading import read_indices
from skillpipe.optimizers.model.showing import show_proposals
from skillpipe.prompts import Template
from skillpipe.records import Merged, Ranking


async def rank(asker: Asker, prompt: Template, skill: str, merged: Merged, edit_budget: int) -> Ranking:
    """The chosen edits, best first, then all others as they were merged: they replace what cannot be applied.

    When no choice can be used the order stays as merged, so that the first `edit_budget` are tried first.
    """
    count = len(merged.edits)

    def read(reply: dict[str, Any]) -> tuple[tuple[int, ...], str]:
        chosen = read_indices(reply["selected"], count)
        if not chosen:
            raise Unusable(f"selected holds none of the indices 0 to {count - 1}")
        return chosen, reply.get("reasoning", "")

    text = prompt.render(skill=skill, proposals=show_proposals(merged.edits), edit_budget=str(edit_budget))
    answer = await asker.ask(text, "reply_ranking", read)
    chosen, reasoning = answer.value or ((), "")
    order = dict.fromkeys((*chosen, *range(count)))
    return Ranking(tuple(order), reasoning, answer.failure, answer.usage)
