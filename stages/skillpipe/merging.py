"""Merge patches without a model: drop repetitions, count support, rank. Pure."""

from collections.abc import Sequence
from dataclasses import replace

from skillpipe.records import Edit, Merged, Patch, Usage


def merge_by_support(step: str, patches: Sequence[Patch]) -> Merged:
    """One ranked list of edits: by support, most first; then failures before successes; then as proposed.

    Edits are the same when file, op, section, target and content are, blanks around them aside. Their support adds
    up, their tasks are joined in order of appearance, and the merged edit comes from a failure if any of them does.
    (The rule of the Aiden SkillOpt: dedupe on op, target and content, sort by support and source, stable.)
    """
    merged: dict[tuple[str, ...], Edit] = {}
    proposed = [edit for patch in patches for edit in patch.edits]
    for edit in proposed:
        key = (edit.file, edit.op, edit.section.strip(), edit.target.strip(), edit.content.strip())
        known = merged.get(key)
        merged[key] = edit if known is None else _joined(known, edit)
    ranked = sorted(merged.values(), key=lambda edit: (-edit.support, edit.source != "failure"))
    reasoning = "\n".join(patch.reasoning for patch in patches if patch.reasoning)
    return Merged(
        step=step,
        proposed=len(proposed),
        reasoning=reasoning,
        edits=tuple(ranked),
        failures=sum(bool(patch.failure) for patch in patches),
        usage=sum((patch.usage for patch in patches), Usage()),
    )


def _joined(known: Edit, edit: Edit) -> Edit:
    return replace(
        known,
        support=known.support + edit.support,
        tasks=tuple(dict.fromkeys(known.tasks + edit.tasks)),
        source="failure" if "failure" in (known.source, edit.source) else "success",
    )
