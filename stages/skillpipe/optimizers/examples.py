"""The optimizer that needs no model: failed tasks become worked examples in the task's own format.

It suits targets that learn from examples rather than from rules: small models above all.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import zip_longest

from skillpipe.errors import SkillpipeError
from skillpipe.merging import merge_by_support
from skillpipe.optimizers import Guidance, Rewrite
from skillpipe.records import Edit, Memory, Merged, Observation, Patch, Ranking, Rollout, TaskPair, Usage

_FAILED = ("failed", "timeout")
_MOST_GUIDANCE = 4  # examples that one slow update adds: each makes every request longer
_SHOWN = 40  # characters of an answer in a pattern
_NO_TEXT = "optimizer=examples is a program and writes no text"


class Examples:
    """Proposes every failed rollout of the batch as one appended example, `<task as sent> <expected answer>`.

    The order is balanced: answers take turns in sorted order (task types, where the tasks have them), first come first
    served within each, so that a small edit budget still shows every kind of answer. Where tasks are sorted into few
    answers and only one of these is left in a round, a passed task of another answer stands beside it: a model that is
    shown one answer again and again gives it to everything. Nothing is proposed twice: neither what the skill says
    already, nor what the memory holds as tried or refused, whatever was decided. Rollouts without a score are left
    out: they say nothing about the skill.

    It writes no text: it refuses every update mode but patch, and execution notes, when it is made.
    """

    def __init__(self, update_mode: str = "patch", execution_notes: bool = False) -> None:
        _require_edits_alone(update_mode, execution_notes)

    async def reflect(self, skill: str, rollouts: Sequence[Rollout], memory: Memory) -> list[Patch]:
        """One patch of all failures: an example of each that is new, and a pattern for each kind; none without one."""
        failed = [
            rollout for rollout in rollouts if rollout.status in _FAILED and rollout.expected and _example(rollout)
        ]
        if not failed:
            return []
        known = [edit for step in memory.steps for edit in (*step.edits, *(refused.edit for refused in step.refused))]
        seen, said = {edit.content for edit in known}, skill.replace("\r\n", "\n")
        fresh = _fresh(failed, seen, said)
        passed = [rollout for rollout in rollouts if rollout.status == "passed"]
        edits = _in_turns(fresh, _fresh(passed, seen, said) if _few_answers(rollouts) else [])
        tasks = tuple(
            dict.fromkeys([*(rollout.task for rollout in failed), *(task for edit in edits for task in edit.tasks)])
        )
        kinds, beside = len({_kind(rollout) for rollout in fresh}), len(edits) - len(fresh)
        reasoning = f"{len(fresh)} failed tasks of this batch as worked examples, {kinds} kinds taking turns"
        if beside:
            reasoning += f"; {beside} passed ones beside them, so that no answer is shown alone"
        return [Patch("failure", tasks, reasoning, edits, patterns=_patterns(failed))]

    async def merge(self, step: str, skill: str, patches: Sequence[Patch], memory: Memory) -> Merged:
        return merge_by_support(step, patches)

    async def rank(self, skill: str, merged: Merged, edit_budget: int | None, memory: Memory) -> Ranking:
        """The merged order. Without a budget the first round is tried: one example for each kind of failure."""
        order = tuple(range(len(merged.edits)))
        if edit_budget is not None:
            return Ranking(order)
        failed = {task for pattern in merged.patterns for task in pattern.tasks}
        shown = {task for edit in merged.edits for task in edit.tasks}
        kinds = sum(not shown.isdisjoint(pattern.tasks) for pattern in merged.patterns)
        beside = int(kinds == 1 and not shown <= failed)
        chosen = min(max(kinds + beside, 1), len(order))
        reasoning = f"{chosen} of {len(order)} examples: one for each kind of failure"
        return Ranking(order, f"{reasoning}, and one of a passed task" if beside else reasoning, chosen=chosen)

    async def rewrite(self, skill: str, edits: Sequence[Edit], memory: Memory) -> Rewrite:
        return Rewrite("", failure=_NO_TEXT)

    async def compact(self, notes: Sequence[str]) -> tuple[list[str], Usage]:
        return list(notes), Usage()

    async def compare(self, skill: str, guidance: str, pairs: Sequence[TaskPair], memory: Memory) -> Guidance:
        """Examples of tasks that got worse, then of those that keep failing, after what the guidance says already.

        At most four, and none that the skill says already; no text if that leaves none.
        """
        said, fresh = skill.replace("\r\n", "\n"), []
        for category in ("regressed", "persistent_fail"):
            examples = (_example(pair.after) or _example(pair.before) for pair in pairs if pair.category == category)
            fresh += [example for example in dict.fromkeys(examples) if example and example not in said]
        kept = list(dict.fromkeys(fresh))[:_MOST_GUIDANCE]
        if not kept:
            return Guidance("", reasoning="no task got worse or keeps failing that the skill does not show already")
        reasoning = f"{len(kept)} tasks that got worse or keep failing, as worked examples"
        return Guidance("\n\n".join([guidance, *kept] if guidance else kept), reasoning=reasoning)

    def calls_per_step(self, batch_size: int) -> int:
        return 0

    def calls_per_epoch(self) -> int:
        return 0


def _require_edits_alone(update_mode: str, execution_notes: bool) -> None:
    if update_mode != "patch":
        raise SkillpipeError(f"{_NO_TEXT}, but update_mode is {update_mode}; set update_mode=patch, or optimizer=model")
    if execution_notes:
        way = "set execution_notes.enabled=false, or optimizer=model"
        raise SkillpipeError(f"{_NO_TEXT}, but execution_notes are enabled; {way}")


def _few_answers(rollouts: Sequence[Rollout]) -> bool:
    """Whether the tasks are to be sorted into a few answers: half as many as there are tasks, at most."""
    answers = [rollout.expected for rollout in rollouts if rollout.expected]
    return 2 * len(set(answers)) <= len(answers) and not any(rollout.task_type for rollout in rollouts)


def _fresh(rollouts: Sequence[Rollout], seen: set[str], said: str) -> list[Rollout]:
    """Those whose example is neither `seen` nor `said`, the first of each; what they show is added to `seen`."""
    fresh = []
    for rollout in rollouts:
        example = _example(rollout)
        if example and example not in said and example not in seen:
            seen.add(example)
            fresh.append(rollout)
    return fresh


def _in_turns(failed: Sequence[Rollout], spare: Sequence[Rollout]) -> tuple[Edit, ...]:
    """Rounds of one example of each kind; a round of one kind alone takes one of `spare` that is of another."""
    kinds: dict[str, list[Rollout]] = defaultdict(list)
    for rollout in failed:
        kinds[_kind(rollout)].append(rollout)
    ordered, left = [], list(spare)
    for turn in zip_longest(*(kinds[kind] for kind in sorted(kinds))):
        shown = [rollout for rollout in turn if rollout is not None]
        other = next((row for row in left if _kind(row) != _kind(shown[0])), None)
        if len(shown) == 1 and other is not None:
            left.remove(other)
            shown = sorted((*shown, other), key=_kind)
        ordered += shown
    return tuple(Edit("append", _example(rollout), tasks=(rollout.task,)) for rollout in ordered)


def _example(rollout: Rollout) -> str:
    """The task as it was sent with the answer it should have had; empty where one of them is not known."""
    asked = next((message.content for message in rollout.trajectory if message.role == "user"), "")
    return f"{asked} {rollout.expected}" if asked and rollout.expected else ""


def _kind(rollout: Rollout) -> str:
    return rollout.task_type or rollout.expected


def _patterns(failed: Sequence[Rollout]) -> tuple[Observation, ...]:
    """One for each kind, in sorted order: how many failed, and the two commonest mistakes."""
    kinds: dict[str, list[Rollout]] = defaultdict(list)
    for rollout in failed:
        kinds[_kind(rollout)].append(rollout)
    return tuple(
        Observation(_pattern(kinds[kind]), tuple(dict.fromkeys(row.task for row in kinds[kind])))
        for kind in sorted(kinds)
    )


def _pattern(rows: Sequence[Rollout]) -> str:
    mistakes: Mapping[tuple[str, str], int] = Counter((_short(row.expected), _got(row)) for row in rows)
    commonest = sorted(mistakes, key=lambda mistake: -mistakes[mistake])[:2]
    shown = "; ".join(f"expected {wanted}, got {got} ({mistakes[wanted, got]} x)" for wanted, got in commonest)
    kind = rows[0].task_type
    return f"{len(rows)} failed{f' of {_short(kind)}' if kind else ''}: {shown}"


def _got(rollout: Rollout) -> str:
    said = [message.content for message in rollout.trajectory if message.role == "assistant"]
    return _short(said[-1]) if said else "nothing"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return repr(line if len(line) <= _SHOWN else line[: _SHOWN - 3] + "...")
