"""What a model proposes from one step's attempts: one request per minibatch, all at once, in task order."""

from collections.abc import Mapping, Sequence
from typing import Any

from skillpipe.errors import SkillpipeError
from skillpipe.optimizers.model.asking import Asker, commonest, gathered
from skillpipe.optimizers.model.reading import read_edit, read_tasks
from skillpipe.optimizers.model.showing import show_attempts
from skillpipe.prompts import Template
from skillpipe.records import Edit, Patch, Rollout, Source


async def reflect(
    asker: Asker,
    prompts: Mapping[Source, Template],
    skill: str,
    rollouts: Sequence[Rollout],
    tried: str,
    *,
    minibatch_size: int,
    trajectory_tokens: int,
) -> list[Patch]:
    """One patch per minibatch, also where nothing is proposed: failures first, if `prompts` has their source.

    Rollouts without a score are in no minibatch: they say nothing about the skill. Raises SkillpipeError when every
    minibatch failed.
    """
    patches = await gathered(
        _reflect_on(asker, prompt, skill, minibatch, tried, source, trajectory_tokens)
        for source, prompt in prompts.items()
        for minibatch in _minibatches(rollouts, source, minibatch_size)
    )
    if patches and all(patch.failure for patch in patches):
        reasons = commonest([patch.failure for patch in patches])
        raise SkillpipeError(
            f"reflect: the optimizer's model gave no usable reply for any of {len(patches)} minibatches: {reasons};"
            " correct the optimizer's model in conf/ (name, key, max_tokens) or prompts/, then `dvc repro`"
        )
    return patches


def _minibatches(rollouts: Sequence[Rollout], source: Source, size: int) -> list[Sequence[Rollout]]:
    wanted = "failed" if source == "failure" else "passed"
    rows = [row for row in rollouts if row.status == wanted]
    return [rows[start : start + size] for start in range(0, len(rows), size)]


async def _reflect_on(
    asker: Asker,
    prompt: Template,
    skill: str,
    minibatch: Sequence[Rollout],
    tried: str,
    source: Source,
    trajectory_tokens: int,
) -> Patch:
    tasks = tuple(row.task for row in minibatch)
    attempts, cut = show_attempts(minibatch, trajectory_tokens)

    def read(reply: dict[str, Any]) -> tuple[str, tuple[Edit, ...], int]:
        named = [read_tasks(edit.get("tasks", ()), tasks) for edit in reply["edits"]]
        edits = tuple(
            read_edit(edit, tasks=known, support=1, source=source)
            for edit, (known, _) in zip(reply["edits"], named, strict=True)
        )
        return reply.get("reasoning", ""), edits, sum(dropped for _, dropped in named)

    text = prompt.render(skill=skill, tried=tried, attempts=attempts)
    answer = await asker.ask(text, "reply_patch", read)
    reasoning, edits, dropped = answer.value or ("", (), 0)
    return Patch(
        source=source,
        tasks=tasks,
        reasoning=reasoning,
        edits=edits,
        failure=answer.failure,
        raw=answer.raw,
        dropped_tasks=dropped,
        cut_tokens=cut,
        usage=answer.usage,
    )
