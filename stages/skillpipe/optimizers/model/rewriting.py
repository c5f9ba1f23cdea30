"""New bodies for a skill that a model writes: from suggestions, or of several that were proposed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from skillpipe.asking import Asker, Unusable, commonest, gathered, reply_schema
from skillpipe.merging import best_body, merge_by_support
from skillpipe.optimizers import Rewrite
from skillpipe.optimizers.model.reading import read_text
from skillpipe.optimizers.model.showing import show_edit
from skillpipe.prompts import Template
from skillpipe.records import Edit, Merged, Patch, Usage


async def rewrite(asker: Asker, prompt: Template, values: Mapping[str, str], edits: Sequence[Edit]) -> Rewrite:
    """The body that carries out `edits`, in one request; `failure` says why there is none."""
    suggestions = "\n".join(f"{number}: {show_edit(edit)}" for number, edit in enumerate(edits, start=1))
    answer = await asker.ask(prompt.render(**values, suggestions=suggestions), _schema(), _read)
    body, reasoning = answer.value or ("", "")
    return Rewrite(body, reasoning, answer.failure, answer.usage)


@dataclass(frozen=True)
class _Draft:
    """A node of the tree of merges: a patch with the body, and what the merges at it and below it came to."""

    patch: Patch
    fallbacks: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)


async def merge_bodies(
    asker: Asker, prompt: Template, values: Mapping[str, str], step: str, patches: Sequence[Patch], batch_size: int
) -> Merged:
    """The bodies of all patches as one, failures first, in batches level by level until one is left.

    No call where there is one body, or all are the same. Where a reply cannot be used, the body of the batch that most
    failed tasks are behind is taken for all of it.
    """
    plain = merge_by_support(step, patches)
    bodies = [patch for source in ("failure", "success") for patch in patches if patch.body and patch.source == source]
    drafts = [_Draft(patch) for patch in bodies]
    while len(drafts) > 1:
        starts = range(0, len(drafts), batch_size)
        drafts = await gathered(_joined(asker, prompt, values, drafts[at : at + batch_size]) for at in starts)
    if not drafts:
        return plain
    draft = drafts[0]
    return replace(
        plain,
        reasoning=draft.patch.reasoning,
        body=draft.patch.body,
        fallback=commonest(draft.fallbacks),
        usage=plain.usage + draft.usage,
    )


async def _joined(asker: Asker, prompt: Template, values: Mapping[str, str], drafts: Sequence[_Draft]) -> _Draft:
    patches = [draft.patch for draft in drafts]
    tasks = tuple(dict.fromkeys(task for patch in patches for task in patch.tasks))
    plain = _Draft(
        replace(
            patches[0],  # failures come first: the draft is of a failure if any of its parts is
            tasks=tasks,
            body=best_body(patches),
            reasoning="\n".join(filter(None, (patch.reasoning for patch in patches))),
        ),
        tuple(reason for draft in drafts for reason in draft.fallbacks),
        sum((draft.usage for draft in drafts), Usage()),
    )
    if len({patch.body for patch in patches}) == 1:
        return plain
    candidates = "\n".join(
        f"<candidate>\nfrom: {patch.source}, {len(patch.tasks)} tasks\nwhy: {' '.join(patch.reasoning.split())}\n"
        f"<text>\n{patch.body}\n</text>\n</candidate>"
        for patch in patches
    )
    answer = await asker.ask(prompt.render(**values, candidates=candidates), _schema(), _read)
    body, reasoning = answer.value or (plain.patch.body, plain.patch.reasoning)
    return replace(
        plain,
        patch=replace(plain.patch, body=body, reasoning=reasoning),
        fallbacks=(*plain.fallbacks, answer.failure) if answer.failure else plain.fallbacks,
        usage=plain.usage + answer.usage,
    )


def _schema() -> dict[str, Any]:
    return reply_schema("reply_body", "patterns", "notes")


def _read(reply: dict[str, Any]) -> tuple[str, str]:
    body = read_text(reply["body"], "body")
    if not body:
        raise Unusable("`body` is empty: it must be the whole new body of the skill")
    return body, reply.get("reasoning", "")
