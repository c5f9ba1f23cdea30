"""Merge patches without a model: drop repetitions, count support, rank. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from skillpipe.records import Edit, Merged, Observation, Patch, Usage
from skillpipe.skill.fold import fold


def merge_by_support(step: str, patches: Sequence[Patch]) -> Merged:
    """One ranked list of edits: by support, most first; then failures before successes; then as proposed.

    Edits are the same when file, op, section, target and content are, blanks around them aside. Their support adds
    up, their tasks are joined in order of appearance, and the merged edit comes from a failure if any of them does.
    (The rule of the Aiden SkillOpt: dedupe on op, target and content, sort by support and source, stable.)

    Patterns and notes are joined as `join_observations` does; of several new bodies one is taken, see `best_body`.
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
        patterns=join_observations(found for patch in patches for found in patch.patterns),
        notes=join_observations(found for patch in patches for found in patch.notes),
        body=best_body(patches),
    )


def join_observations(found: Iterable[Observation]) -> tuple[Observation, ...]:
    """The observations in order of appearance, those that say the same as one, with the tasks of all of them.

    The same is: in the words, whatever the case, blanks, quotes and a full stop at the end are.
    """
    joined: dict[str, Observation] = {}
    for one in found:
        key = " ".join(fold(one.text).casefold().split()).rstrip(".")
        known = joined.get(key)
        joined[key] = one if known is None else replace(known, tasks=tuple(dict.fromkeys(known.tasks + one.tasks)))
    return tuple(joined.values())


def best_body(patches: Sequence[Patch]) -> str:
    """The new body that most tasks are behind, failures before successes, then the first; empty if none has one."""
    bodies = [patch for patch in patches if patch.body]
    ranked = sorted(bodies, key=lambda patch: (patch.source != "failure", -len(patch.tasks)))
    return ranked[0].body if ranked else ""


def _joined(known: Edit, edit: Edit) -> Edit:
    return replace(
        known,
        support=known.support + edit.support,
        tasks=tuple(dict.fromkeys(known.tasks + edit.tasks)),
        source="failure" if "failure" in (known.source, edit.source) else "success",
    )
