"""The optimizer that is a model: it reads attempts, and writes, merges and ranks edits, or rewrites the skill."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, get_args

from skillpipe.asking import Asker
from skillpipe.errors import SkillpipeError
from skillpipe.merging import merge_by_support
from skillpipe.models import Model
from skillpipe.optimizers import Guidance, Rewrite
from skillpipe.optimizers.model import comparing, ranking, reflecting, rewriting
from skillpipe.optimizers.model.joining import Joiner
from skillpipe.optimizers.model.recalling import show_memory
from skillpipe.optimizers.model.showing import show_proposals
from skillpipe.prompts import Template, read_template
from skillpipe.records import Edit, Memory, Merged, Patch, Ranking, Rollout, Source, TaskPair, UpdateMode, Usage
from skillpipe.skill import editable_body, protected_text


class ModelOptimizer:
    """Proposes what a model proposes. Whatever it is not told stays unknown to it: no val or test task.

    Args:
        model: who is asked. Whoever made it closes it.
        prompts: the folder of the prompts. Each method reads its own before it asks anything, and repair.md for
            replies that are of no use.
        minibatch_size: attempts in one request, 1 or more.
        merge_batch_size: patches that one request merges, 2 or more.
        trajectory_tokens: what the attempts of one request may take of it, estimated; see showing.py.
        reflect_on: "failures" alone, or "both": failures and successes, in minibatches of their own.
        update_mode: "patch", edits; "rewrite", edits that are suggestions for one more request that writes the new
            body; "full_rewrite", a whole new body from each minibatch, which are merged into one.
        execution_notes: sort each failure into a defect of the skill and a lapse in following it, which is a note.
        max_concurrency: requests under way at once. It changes no result.

    Every request that fails is told: a patch with a failure, a fallback in the merge or ranking, a failure of the
    rewrite or guidance. Compacting notes alone gives them back as they are.
    """

    def __init__(
        self,
        model: Model,
        prompts: str,
        minibatch_size: int,
        merge_batch_size: int,
        trajectory_tokens: int,
        reflect_on: Literal["failures", "both"],
        update_mode: UpdateMode,
        execution_notes: bool,
        max_concurrency: int,
    ) -> None:
        least = {"minibatch_size": 1, "merge_batch_size": 2, "trajectory_tokens": 1, "max_concurrency": 1}
        given = (minibatch_size, merge_batch_size, trajectory_tokens, max_concurrency)
        for (name, minimum), value in zip(least.items(), given, strict=True):
            if value < minimum:
                raise SkillpipeError(f"optimizer.{name} is {value}; allowed is {minimum} or more")
        if reflect_on not in ("failures", "both"):
            raise SkillpipeError(f"optimizer.reflect_on is {reflect_on!r}; allowed are failures and both")
        if update_mode not in get_args(UpdateMode):
            allowed = "patch, rewrite and full_rewrite"
            raise SkillpipeError(f"optimizer.update_mode is {update_mode!r}; allowed are {allowed}")
        self._model = model
        self._prompts = Path(prompts)
        self._minibatch_size = minibatch_size
        self._merge_batch_size = merge_batch_size
        self._trajectory_tokens = trajectory_tokens
        self._sources: tuple[Source, ...] = ("failure", "success") if reflect_on == "both" else ("failure",)
        self._update_mode = update_mode
        self._execution_notes = execution_notes
        self._max_concurrency = max_concurrency

    async def reflect(self, skill: str, rollouts: Sequence[Rollout], memory: Memory) -> list[Patch]:
        """One patch per minibatch, failures first, each in task order, also where nothing is proposed.

        Raises SkillpipeError when no minibatch got a usable reply: a broken provider is not "nothing to propose".
        """
        whole = self._update_mode == "full_rewrite"
        question = reflecting.Question(
            {source: self._reflection(source) for source in self._sources},
            self._shown(skill, memory),
            self._prompt("reflect_notes").text if self._execution_notes else "",
            whole,
            editable_body(skill),
        )
        return await reflecting.reflect(
            self._asker(),
            question,
            rollouts,
            minibatch_size=self._minibatch_size,
            trajectory_tokens=self._trajectory_tokens,
        )

    async def merge(self, step: str, skill: str, patches: Sequence[Patch], memory: Memory) -> Merged:
        """The model's merge, most supported first; without a call when at most one patch has something to merge."""
        shown = self._shown(skill, memory)
        if self._update_mode == "full_rewrite":
            if sum(bool(patch.body) for patch in patches) < 2:
                return merge_by_support(step, patches)
            prompt = self._prompt("merge_rewrite", "body", "protected", "memory", "candidates")
            batch = self._merge_batch_size
            return await rewriting.merge_bodies(self._asker(), prompt, shown, step, patches, batch)
        if sum(bool(patch.edits) for patch in patches) < 2:
            return merge_by_support(step, patches)
        prompt = self._prompt("merge", "skill", "memory", "reasoning", "proposals")
        return await Joiner(self._asker(), prompt, shown, self._merge_batch_size).merge(step, patches)

    async def rank(self, skill: str, merged: Merged, edit_budget: int | None, memory: Memory) -> Ranking:
        """The model's choice of `edit_budget` edits before all others; without a call when there is no choice.

        Without a budget it says how many to try as well. A single edit is tried: the gate decides on it.
        """
        count = len(merged.edits)
        values = {**self._shown(skill, memory), "proposals": show_proposals(merged.edits)}
        if edit_budget is None:
            if count < 2:
                return Ranking(tuple(range(count)), chosen=count)
            prompt = self._prompt("rank_freely", "skill", "memory", "proposals")
            return await ranking.decide(self._asker(), prompt, values, merged)
        if not 0 < edit_budget < count:
            return Ranking(tuple(range(count)))
        prompt = self._prompt("rank", "skill", "memory", "proposals", "edit_budget")
        return await ranking.rank(self._asker(), prompt, {**values, "edit_budget": str(edit_budget)}, merged)

    async def rewrite(self, skill: str, edits: Sequence[Edit], memory: Memory) -> Rewrite:
        """The whole new body, in one call; none without suggestions, and then no call."""
        if not edits:
            return Rewrite("", failure="there are no suggestions to carry out")
        prompt = self._prompt("rewrite", "body", "protected", "memory", "suggestions")
        return await rewriting.rewrite(self._asker(), prompt, self._shown(skill, memory), edits)

    async def compact(self, notes: Sequence[str]) -> tuple[list[str], Usage]:
        """The notes in at most half as many lines, in one call; as they are if that fails or there is one alone."""
        if len(notes) < 2:
            return list(notes), Usage()
        return await comparing.compact(self._asker(), self._prompt("compact", "notes", "most"), notes)

    async def compare(self, skill: str, guidance: str, pairs: Sequence[TaskPair], memory: Memory) -> Guidance:
        """The model's guidance and notes, in one call; without pairs there is nothing to say, and no call."""
        if not pairs:
            return Guidance("", reasoning="there is nothing to compare")
        prompt = self._prompt("compare", "skill", "guidance", "memory", "pairs")
        values = {**self._shown(skill, memory), "guidance": guidance or "None yet."}
        return await comparing.compare(self._asker(), prompt, values, pairs, self._trajectory_tokens)

    def calls_per_step(self, batch_size: int) -> int:
        """At most: a minibatch may be one short in each group, merging is a tree, and every call may be asked twice.

        Then a ranking, unless whole bodies are merged; a rewrite where suggestions are carried out; and compacting.
        """
        minibatches = math.ceil(batch_size / self._minibatch_size) + (len(self._sources) - 1)
        merges, level = 1, minibatches
        while level > 1:
            level = math.ceil(level / self._merge_batch_size)
            merges += level
        after = {"patch": 1, "rewrite": 2, "full_rewrite": 0}[self._update_mode] + int(self._execution_notes)
        return 2 * (minibatches + merges + after)

    def calls_per_epoch(self) -> int:
        """At most: one comparison, which may be asked twice."""
        return 2

    def _reflection(self, source: Source) -> Template:
        if self._update_mode == "full_rewrite":
            return self._prompt("reflect_rewrite", "body", "protected", "memory", "attempts", "notes")
        if source == "failure":
            return self._prompt("reflect_failures", "skill", "memory", "attempts", "notes")
        return self._prompt("reflect_successes", "skill", "memory", "attempts")

    def _shown(self, skill: str, memory: Memory) -> dict[str, str]:
        """What prompts show of the skill and the memory: each takes what it has a placeholder for."""
        protected = protected_text(skill) or "Nothing."
        return {"skill": skill, "body": editable_body(skill), "protected": protected, "memory": show_memory(memory)}

    def _asker(self) -> Asker:
        return Asker(self._model, self._prompt("repair", "error"), self._max_concurrency)

    def _prompt(self, name: str, *placeholders: str) -> Template:
        return read_template(self._prompts / f"{name}.md", placeholders)
