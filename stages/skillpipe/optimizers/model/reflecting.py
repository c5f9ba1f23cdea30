"""What a model proposes from one step's attempts: one request per minibatch, all at once, in task order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skillpipe.asking import Asker, commonest, gathered, reply_schema
from skillpipe.errors import SkillpipeError
from skillpipe.optimizers.model.reading import read_edit, read_observations, read_tasks, read_text
from skillpipe.optimizers.model.showing import show_attempts
from skillpipe.prompts import Template
from skillpipe.records import Edit, Observation, Patch, Rollout, Source

_STATUSES = {"failure": ("failed", "timeout"), "success": ("passed",)}


@dataclass(frozen=True)
class Question:
    """What is asked about each minibatch.

    `values` fill the prompts but for `attempts` and `notes`. `notes` is the section that asks for execution notes,
    empty if there shall be none. With `whole` the reply is a new body of the skill, else edits; `body` is the body now.
    """

    prompts: Mapping[Source, Template]
    values: Mapping[str, str]
    notes: str
    whole: bool
    body: str

    def schema(self, source: Source) -> dict[str, Any]:
        """The schema of a reply: patterns and notes are asked for about failures alone."""
        unasked = ["patterns"] if source == "success" else []
        unasked += ["notes"] if source == "success" or not self.notes else []
        return reply_schema("reply_body" if self.whole else "reply_patch", *unasked)


@dataclass(frozen=True)
class _Found:
    reasoning: str = ""
    edits: tuple[Edit, ...] = ()
    patterns: tuple[Observation, ...] = ()
    notes: tuple[Observation, ...] = ()
    body: str = ""
    dropped: int = 0


async def reflect(
    asker: Asker, question: Question, rollouts: Sequence[Rollout], *, minibatch_size: int, trajectory_tokens: int
) -> list[Patch]:
    """One patch per minibatch, also where nothing is proposed: failures first, if the prompts have their source.

    Rollouts without a score are in no minibatch: they say nothing about the skill. Raises SkillpipeError when every
    minibatch failed.
    """
    patches = await gathered(
        _reflect_on(asker, question, minibatch, source, trajectory_tokens)
        for source in question.prompts
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
    rows = [row for row in rollouts if row.status in _STATUSES[source]]
    return [rows[start : start + size] for start in range(0, len(rows), size)]


async def _reflect_on(
    asker: Asker, question: Question, minibatch: Sequence[Rollout], source: Source, trajectory_tokens: int
) -> Patch:
    tasks = tuple(dict.fromkeys(row.task for row in minibatch))  # a task may have been attempted more than once
    attempts, cut = show_attempts(minibatch, trajectory_tokens)
    notes = question.notes if source == "failure" else ""
    text = question.prompts[source].render(**question.values, attempts=attempts, notes=notes)
    answer = await asker.ask(text, question.schema(source), lambda reply: _read(reply, tasks, source, question))
    found = answer.value or _Found()
    return Patch(
        source=source,
        tasks=tasks,
        reasoning=found.reasoning,
        edits=found.edits,
        failure=answer.failure,
        raw=answer.raw,
        dropped_tasks=found.dropped,
        cut_tokens=cut,
        usage=answer.usage,
        patterns=found.patterns,
        notes=found.notes,
        body=found.body,
    )


def _read(reply: dict[str, Any], tasks: tuple[str, ...], source: Source, question: Question) -> _Found:
    """What the reply proposes. A body that is empty, or as it is now, proposes nothing. What was not asked for plays
    no part, whatever it is."""
    given = [] if question.whole else reply["edits"]
    named = [read_tasks(edit.get("tasks", ()), tasks) for edit in given]
    edits = tuple(
        read_edit(edit, tasks=known, support=1, source=source) for edit, (known, _) in zip(given, named, strict=True)
    )
    asked = question.schema(source)["properties"]
    patterns, unknown = read_observations(reply.get("patterns", ()) if "patterns" in asked else (), tasks)
    notes, strange = read_observations(reply.get("notes", ()) if "notes" in asked else (), tasks)
    body = read_text(reply["body"], "body") if question.whole else ""
    return _Found(
        reasoning=reply.get("reasoning", ""),
        edits=edits,
        patterns=patterns,
        notes=notes,
        body="" if body == question.body.rstrip() else body,
        dropped=sum(dropped for _, dropped in named) + unknown + strange,
    )
