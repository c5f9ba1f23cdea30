"""Which of too many merged edits to try first, or how many at all, as a model chooses."""

from collections.abc import Mapping
from typing import Any

from skillpipe.asking import Asker, Unusable, reply_schema
from skillpipe.optimizers.model.reading import read_indices
from skillpipe.prompts import Template
from skillpipe.records import Merged, Ranking


async def rank(asker: Asker, prompt: Template, values: Mapping[str, str], merged: Merged) -> Ranking:
    """The chosen edits, best first, then all others as they were merged: they replace what cannot be applied.

    When no choice can be used the order stays as merged, so that the first ones are tried first.
    """
    count = len(merged.edits)

    def read(reply: dict[str, Any]) -> tuple[tuple[int, ...], str]:
        chosen = read_indices(reply["selected"], count)
        if not chosen:
            raise Unusable(f"selected holds none of the indices 0 to {count - 1}")
        return chosen, reply.get("reasoning", "")

    answer = await asker.ask(prompt.render(**values), reply_schema("reply_ranking"), read)
    chosen, reasoning = answer.value or ((), "")
    return Ranking(_order(chosen, count), reasoning, answer.failure, answer.usage)


async def decide(asker: Asker, prompt: Template, values: Mapping[str, str], merged: Merged) -> Ranking:
    """As `rank`, and `chosen` is how many the model names: none is a choice too.

    When no choice can be used the first half is chosen, at least one: the most supported edits.
    """
    count = len(merged.edits)

    def read(reply: dict[str, Any]) -> tuple[tuple[int, ...], str]:
        chosen = read_indices(reply["selected"], count)
        if reply["selected"] and not chosen:
            raise Unusable(f"selected holds none of the indices 0 to {count - 1}")
        return chosen, reply.get("reasoning", "")

    answer = await asker.ask(prompt.render(**values), reply_schema("reply_ranking"), read)
    if answer.value is None:
        half = (count + 1) // 2
        fallback = f"{answer.failure}; the {half} most supported of {count} edits are tried"
        return Ranking(_order((), count), "", fallback, answer.usage, half)
    chosen, reasoning = answer.value
    return Ranking(_order(chosen, count), reasoning, "", answer.usage, len(chosen))


def _order(chosen: tuple[int, ...], count: int) -> tuple[int, ...]:
    return tuple(dict.fromkeys((*chosen, *range(count))))
