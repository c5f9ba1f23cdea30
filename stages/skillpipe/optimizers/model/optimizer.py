"""The optimizer that is a model: it reads attempts, and writes, merges and ranks edits."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from skillpipe.errors import SkillpipeError
from skillpipe.merging import merge_by_support
from skillpipe.models import Model
from skillpipe.optimizers.model.asking import Asker
from skillpipe.optimizers.model.joining import Joiner
from skillpipe.optimizers.model.ranking import rank
from skillpipe.optimizers.model.reflecting import reflect
from skillpipe.optimizers.model.showing import show_tried
from skillpipe.prompts import Template, read_template
from skillpipe.records import EditOutcome, LineageRow, Merged, Patch, Ranking, Rollout, Source


class ModelOptimizer:
    """Proposes what a model proposes. Whatever it is not told stays unknown to it: no val or test task.

    Args:
        model: who is asked. Whoever made it closes it.
        prompts: the folder of reflect_failures.md, reflect_successes.md, merge.md, rank.md and repair.md. Each method
            reads its own before it asks anything, and repair.md for replies that are of no use.
        minibatch_size: attempts in one request, 1 or more.
        merge_batch_size: patches that one request merges, 2 or more.
        trajectory_tokens: what the attempts of one minibatch may take of a request, estimated; see showing.py.
        reflect_on: "failures" alone, or "both": failures and successes, in minibatches of their own.
        max_concurrency: requests under way at once. It changes no result.

    Every request that fails is told: a patch with a failure, or a fallback in the merge or ranking.
    """

    def __init__(
        self,
        model: Model,
        prompts: str,
        minibatch_size: int,
        merge_batch_size: int,
        trajectory_tokens: int,
        reflect_on: Literal["failures", "both"],
        max_concurrency: int,
    ) -> None:
        least = {"minibatch_size": 1, "merge_batch_size": 2, "trajectory_tokens": 1, "max_concurrency": 1}
        given = (minibatch_size, merge_batch_size, trajectory_tokens, max_concurrency)
        for (name, minimum), value in zip(least.items(), given, strict=True):
            if value < minimum:
                raise SkillpipeError(f"optimizer.{name} is {value}; allowed is {minimum} or more")
        if reflect_on not in ("failures", "both"):
            raise SkillpipeError(f"optimizer.reflect_on is {reflect_on!r}; allowed are failures and both")
        self._model = model
        self._prompts = Path(prompts)
        self._minibatch_size = minibatch_size
        self._merge_batch_size = merge_batch_size
        self._trajectory_tokens = trajectory_tokens
        self._sources: dict[Source, str] = {"failure": "reflect_failures"}
        if reflect_on == "both":
            self._sources["success"] = "reflect_successes"
        self._max_concurrency = max_concurrency

    async def reflect(
        self,
        skill: str,
        rollouts: Sequence[Rollout],
        tried: Sequence[LineageRow],
        refused: Sequence[EditOutcome],
    ) -> list[Patch]:
        """One patch per minibatch, failures first, each in task order, also where nothing is proposed.

        Raises SkillpipeError when no minibatch got a usable reply: a broken provider is not "nothing to propose".
        """
        return await reflect(
            self._asker(),
            {source: self._prompt(name, "skill", "tried", "attempts") for source, name in self._sources.items()},
            skill,
            rollouts,
            show_tried(tried, refused),
            minibatch_size=self._minibatch_size,
            trajectory_tokens=self._trajectory_tokens,
        )

    async def merge(self, step: str, skill: str, patches: Sequence[Patch]) -> Merged:
        """The model's merge, most supported first; without a call when at most one patch has edits."""
        if sum(bool(patch.edits) for patch in patches) < 2:
            return merge_by_support(step, patches)
        prompt = self._prompt("merge", "skill", "reasoning", "proposals")
        return await Joiner(self._asker(), prompt, skill, self._merge_batch_size).merge(step, patches)

    async def rank(self, skill: str, merged: Merged, edit_budget: int) -> Ranking:
        """The model's choice of `edit_budget` edits before all others; without a call when there is no choice."""
        if not 0 < edit_budget < len(merged.edits):
            return Ranking(tuple(range(len(merged.edits))))
        prompt = self._prompt("rank", "skill", "proposals", "edit_budget")
        return await rank(self._asker(), prompt, skill, merged, edit_budget)

    def calls_per_step(self, batch_size: int) -> int:
        """At most: a minibatch may be one short in each group, merging is a tree, and every call may be asked twice."""
        minibatches = math.ceil(batch_size / self._minibatch_size) + (len(self._sources) - 1)
        merges, level = 1, minibatches
        while level > 1:
            level = math.ceil(level / self._merge_batch_size)
            merges += level
        return 2 * (minibatches + merges + 1)

    def _asker(self) -> Asker:
        return Asker(self._model, self._prompt("repair", "error"), self._max_concurrency)

    def _prompt(self, name: str, *placeholders: str) -> Template:
        return read_template(self._prompts / f"{name}.md", placeholders)
