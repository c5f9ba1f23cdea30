"""How a model is shown what it remembers. Pure, and nothing of val or test: the memory holds none."""

from collections.abc import Iterator

from skillpipe.optimizers.model.cutting import fit
from skillpipe.optimizers.model.showing import show_edit
from skillpipe.records import Action, Edit, Memory, StepMemory

_DECIDED: dict[Action, str] = {
    "accept_new_best": "accepted, the best so far",
    "accept": "accepted",
    "force_accept": "accepted without a comparison",
    "reject": "rejected",
    "reject_policy": "rejected by a rule of the run",
    "skip_no_patches": "nothing was proposed",
    "no_change": "nothing could be changed",
}
_EDIT_TOKENS = 200  # of an earlier edit: a whole body that was refused is one too


def show_memory(memory: Memory) -> str:
    """The notes of the epochs before, then this epoch's steps, oldest first; a long edit is cut in its middle.

    Of each step: how many attempts failed, what was decided on its edits with the scores before and after, the
    patterns of failure, the edits, and those that could not be applied with the reason.
    """
    lines = ["Notes from the epochs before:", memory.notes, ""] if memory.notes else []
    for step in memory.steps:
        lines += _step(step)
    return "\n".join(lines).strip() or "Nothing yet."


def _step(step: StepMemory) -> Iterator[str]:
    decided = _DECIDED.get(step.action, step.action)
    if step.before is not None and step.after is not None:
        decided += f" (held-out score {step.before:.3f} before, {step.after:.3f} with these edits)"
    yield f"Step {step.step}: {step.failed} of {step.tasks} attempts failed; {decided}."
    if step.patterns:
        yield "What failed:"
        yield from (f"- {pattern.text} (tasks: {len(pattern.tasks)})" for pattern in step.patterns)
    if step.edits:
        yield "Its edits:"
        yield from (f"- {_cut(edit)}" for edit in step.edits)
    if step.refused:
        yield "Could not be applied:"
        yield from (f"- {_cut(outcome.edit)}: {outcome.status}: {outcome.reason}" for outcome in step.refused)


def _cut(edit: Edit) -> str:
    (shown,), _ = fit([show_edit(edit)], _EDIT_TOKENS)
    return " ".join(shown.split("\n"))
