"""What a model makes of an epoch: guidance for the target, notes to itself, and shorter execution notes."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from skillpipe.asking import Asker, Unusable, reply_schema
from skillpipe.optimizers import Guidance
from skillpipe.optimizers.model.cutting import fit
from skillpipe.optimizers.model.reading import read_text
from skillpipe.optimizers.model.showing import show_trajectory
from skillpipe.prompts import Template
from skillpipe.records import PairCategory, TaskPair, Usage

_CATEGORIES: tuple[PairCategory, ...] = ("regressed", "persistent_fail", "improved", "stable_success")


async def compare(
    asker: Asker, prompt: Template, values: Mapping[str, str], pairs: Sequence[TaskPair], tokens: int
) -> Guidance:
    """Guidance and notes, in one request. A reply that cannot be used is told as `failure`, without either."""

    def read(reply: dict[str, Any]) -> tuple[str, str, str]:
        text = read_text(reply["guidance"], "guidance")
        return text, (reply.get("notes") or "").strip(), reply.get("reasoning", "")

    text = prompt.render(**values, pairs=show_pairs(pairs, tokens))
    answer = await asker.ask(text, reply_schema("reply_compare"), read)
    guidance, notes, reasoning = answer.value or ("", "", "")
    return Guidance(guidance, notes, reasoning, answer.failure, answer.usage)


async def compact(asker: Asker, prompt: Template, notes: Sequence[str]) -> tuple[list[str], Usage]:
    """The notes in at most half as many lines, in one request; as they are if the reply cannot be used."""
    shown = "\n".join(f"- {' '.join(note.split())}" for note in notes)

    def read(reply: dict[str, Any]) -> list[str]:
        kept = [" ".join(read_text(note, "notes").split()) for note in reply["notes"]]
        fewer = list(dict.fromkeys(filter(None, kept)))
        if not 0 < len(fewer) < len(notes):
            raise Unusable(f"there are {len(fewer)} notes; there must be at least 1 and fewer than {len(notes)}")
        return fewer

    most = max(1, len(notes) // 2)
    answer = await asker.ask(prompt.render(notes=shown, most=str(most)), reply_schema("reply_notes"), read)
    return list(notes) if answer.value is None else answer.value, answer.usage


def show_pairs(pairs: Sequence[TaskPair], tokens: int) -> str:
    """The pairs by category, those to mend first, in task order within each; what they say is cut to `tokens`."""
    ordered = [pair for category in _CATEGORIES for pair in pairs if pair.category == category]
    said = [
        text
        for pair in ordered
        for text in (
            show_trajectory(pair.before.trajectory),
            pair.before.reason,
            show_trajectory(pair.after.trajectory),
            pair.after.reason,
            pair.after.expected,
        )
    ]
    kept, _ = fit(said, tokens)
    shown = iter(kept)
    return "\n".join(_shown(pair, shown) for pair in ordered)


def _shown(pair: TaskPair, said: Iterator[str]) -> str:
    before, why_before, after, why_after, expected = (next(said) for _ in range(5))
    return (
        f"<pair>\nid: {pair.after.task}\ncategory: {pair.category}\n"
        f"<before>\nresult: {pair.before.status}\nreason: {why_before or 'none given'}\n{before}\n</before>\n"
        f"<now>\nresult: {pair.after.status}\nreason: {why_after or 'none given'}\n{after}\n</now>\n"
        f"<expected>\n{expected}\n</expected>\n</pair>"
    )
