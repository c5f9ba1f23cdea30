"""The optimizer that needs no model: failed tasks become worked examples in the task's own format.

It suits targets that learn from examples rather than from rules: small models above all.
"""

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain, zip_longest

from skillpipe.merging import merge_by_support
from skillpipe.records import Edit, EditOutcome, LineageRow, Merged, Patch, Ranking, Rollout


class Examples:
    """Proposes every failed rollout of the batch as one appended example, `<task as sent> <expected answer>`.

    The order is balanced: answers take turns in sorted order (task types, where the tasks have them), first come first
    served within each, so that a small edit budget still shows every kind of answer. Nothing is proposed twice:
    neither what the skill says already, nor what was tried or refused before, whatever was decided. Rollouts without a
    score are left out: they say nothing about the skill.
    """

    async def reflect(
        self,
        skill: str,
        rollouts: Sequence[Rollout],
        tried: Sequence[LineageRow],
        refused: Sequence[EditOutcome],
    ) -> list[Patch]:
        known = [*(row.edit for row in tried), *(outcome.edit for outcome in refused)]
        seen, said = {edit.content for edit in known}, skill.replace("\r\n", "\n")
        kinds: dict[str, list[Edit]] = defaultdict(list)
        for rollout in rollouts:
            if rollout.status != "failed":
                continue
            example = f"{rollout.trajectory[0].content} {rollout.expected}"
            if example in said or example in seen:
                continue
            seen.add(example)
            kinds[rollout.task_type or rollout.expected].append(Edit("append", example, tasks=(rollout.task,)))
        turns = zip_longest(*(kinds[kind] for kind in sorted(kinds)))
        edits = tuple(edit for edit in chain.from_iterable(turns) if edit is not None)
        if not edits:
            return []
        reasoning = f"{len(edits)} failed tasks of this batch as worked examples, {len(kinds)} kinds taking turns"
        return [Patch("failure", tuple(edit.tasks[0] for edit in edits), reasoning, edits)]

    async def merge(self, step: str, skill: str, patches: Sequence[Patch]) -> Merged:
        return merge_by_support(step, patches)

    async def rank(self, skill: str, merged: Merged, edit_budget: int) -> Ranking:
        return Ranking(tuple(range(len(merged.edits))))

    def calls_per_step(self, batch_size: int) -> int:
        return 0
