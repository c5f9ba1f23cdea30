"""Merge the patches of a step with a model: in batches, level by level, failures and successes apart, then both."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from skillpipe.asking import Asker, Unusable, commonest, gathered, reply_schema
from skillpipe.merging import merge_by_support
from skillpipe.optimizers.model.reading import read_edit, read_indices
from skillpipe.optimizers.model.showing import show_proposals
from skillpipe.prompts import Template
from skillpipe.records import Edit, Merged, Patch, Source, Usage

_SOURCES: tuple[Source, ...] = ("failure", "success")


@dataclass(frozen=True)
class _Draft:
    """A node of the tree of merges: its edits, and what the merges at it and below it came to."""

    edits: tuple[Edit, ...]
    reasoning: str
    fallbacks: tuple[str, ...] = ()
    dropped: int = 0
    usage: Usage = field(default_factory=Usage)


class Joiner:
    """One step's merges of proposals; `values` fill the prompt but for `reasoning` and `proposals`."""

    def __init__(self, asker: Asker, prompt: Template, values: Mapping[str, str], batch_size: int) -> None:
        self._asker = asker
        self._prompt = prompt
        self._values = values
        self._batch_size = batch_size

    async def merge(self, step: str, patches: Sequence[Patch]) -> Merged:
        """All proposals as one list, most supported first; at least two patches with edits.

        Each group is merged in batches until one draft is left of it, then both drafts are merged, failures first.
        (SkillOpt has the same tree.) Where a reply cannot be used, that batch is merged by support.
        """
        groups = [[patch for patch in patches if patch.edits and patch.source == source] for source in _SOURCES]
        drafts = await gathered(self._reduced(group) for group in groups if group)
        draft = await self._joined(drafts)
        # By support once more: two batches, or the model, may have said the same thing twice.
        ranked = merge_by_support(step, [Patch("failure", (), draft.reasoning, draft.edits)])
        plain = merge_by_support(step, patches)
        return replace(
            plain,
            reasoning=ranked.reasoning,
            edits=ranked.edits,
            fallback=commonest(draft.fallbacks),
            dropped_edits=draft.dropped,
            usage=plain.usage + draft.usage,
        )

    async def _reduced(self, patches: Sequence[Patch]) -> _Draft:
        drafts = [_Draft(patch.edits, patch.reasoning) for patch in patches]
        while len(drafts) > 1:
            starts = range(0, len(drafts), self._batch_size)
            drafts = await gathered(self._joined(drafts[start : start + self._batch_size]) for start in starts)
        return drafts[0]

    async def _joined(self, drafts: Sequence[_Draft]) -> _Draft:
        """The drafts as one. No call where there is nothing to merge: for one draft, or when all say the same."""
        if len(drafts) == 1:
            return drafts[0]
        plain = _by_support(drafts)
        if len(plain.edits) == 1:
            return plain
        shown = show_proposals(plain.edits)
        reasoning = plain.reasoning or "None given."
        prompt = self._prompt.render(**self._values, reasoning=reasoning, proposals=shown)
        answer = await self._asker.ask(prompt, reply_schema("reply_merge"), lambda reply: _read(reply, plain.edits))
        edits, reasoning, dropped = answer.value or (plain.edits, plain.reasoning, 0)
        return replace(
            plain,
            edits=edits,
            reasoning=reasoning,
            fallbacks=(*plain.fallbacks, answer.failure) if answer.failure else plain.fallbacks,
            dropped=plain.dropped + dropped,
            usage=plain.usage + answer.usage,
        )


def _by_support(drafts: Sequence[_Draft]) -> _Draft:
    """The drafts merged without a model: what none of them says twice, failures first, most supported first."""
    merged = merge_by_support("", [Patch("failure", (), draft.reasoning, draft.edits) for draft in drafts])
    return _Draft(
        edits=tuple(sorted(merged.edits, key=lambda edit: edit.source != "failure")),
        reasoning=merged.reasoning,
        fallbacks=tuple(reason for draft in drafts for reason in draft.fallbacks),
        dropped=sum(draft.dropped for draft in drafts),
        usage=sum((draft.usage for draft in drafts), Usage()),
    )


def _read(reply: dict[str, Any], proposals: Sequence[Edit]) -> tuple[tuple[Edit, ...], str, int]:
    """Merged edits, the reasoning, and how many edits were left out because they come from no proposal.

    Support and tasks are those of the proposals that an edit comes from, whatever else the model says. A proposal
    that was split counts for each part; one that nothing comes from was left out by the model.
    """
    sources = [read_indices(given["from"], len(proposals)) for given in reply["edits"]]
    edits = tuple(
        _merged(given, [proposals[index] for index in indices])
        for given, indices in zip(reply["edits"], sources, strict=True)
        if indices
    )
    if not edits:
        raise Unusable(
            f"no edit is left: each must say in `from` which of the proposals 0 to {len(proposals) - 1} it comes from"
        )
    return edits, reply.get("reasoning", ""), len(sources) - len(edits)


def _merged(given: dict[str, Any], parts: Sequence[Edit]) -> Edit:
    return read_edit(
        given,
        tasks=tuple(dict.fromkeys(task for part in parts for task in part.tasks)),
        support=sum(part.support for part in parts),
        source="failure" if any(part.source == "failure" for part in parts) else "success",
    )
