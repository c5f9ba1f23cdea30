"""The environment whose tasks are suites: the target answers, hard assertions and a rubric say what it is worth."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from skillpipe.envs import Calls, Parting
from skillpipe.envs.attempt import Outcome, Said, ask, rollout
from skillpipe.envs.cutting import by_head, halves
from skillpipe.envs.suite.form import SuiteForm, SuiteTask, read_suite, scoring_of
from skillpipe.envs.suite.pairs import Pair, find_pairs
from skillpipe.errors import SkillpipeError
from skillpipe.judging import Assertions, Judge, RubricItem, Verdict, failed_assertions
from skillpipe.judging.rubric import by_program
from skillpipe.models import Model
from skillpipe.records import Rollout, Split, Task, Usage
from skillpipe.scoring import Score


class Suite:
    """Tasks of a pair of suites, or of one that is cut. The target is a plain chat model: it has no tools.

    An attempt that breaks a hard assertion has hard and soft 0, and the judge is not asked. Otherwise hard is 1 exactly
    when every item of the rubric holds, soft is the share that does. Without a judge, items that need one are left out
    (`unjudged` counts them), and where none is left, the assertions alone decide. A judge that fails is judge_error.

    Args:
        data: the folder of a skill's suites, see find_pairs, or one suite.
        pair: the id of the pair to take; None for the only one.
        head: where to cut one suite, such as "70/30"; None exactly for a folder.
        judge: decides on rubrics; None for assertions alone.
    """

    def __init__(self, data: str, pair: str | None, head: str | None, judge: Judge | None = None) -> None:
        self._data, self._pair, self._head, self._judge = Path(data), pair, head, judge

    @property
    def parting(self) -> Parting:
        """How tasks are cut: see Parting."""
        if self._head:
            return Parting(self._data.as_posix(), "head", self._head)
        pair = self._found
        return Parting(self._data.as_posix(), "dir", pair.id if pair.test else f"{pair.id}, val cut in two")

    @property
    def most_calls(self) -> Calls:
        """One of the target; two of the judge where there is something to judge: one more if its reply is of no use."""
        judged = any(not item.regex for part in self._splits.values() for task in part for item in task.rubric)
        return Calls(judge=2 if self._judge and judged else 0)

    def tasks(self, split: Split) -> list[Task]:
        return [
            Task(task.id, task.prompt, task.assertions.expected_answer, task.category, data=dict(task.data))
            for task in self._splits[split]
        ]

    async def run(self, task: Task, skill: str, target: Model) -> Rollout:
        rubric, asserted = scoring_of(task.data, f"task {task.id!r}")
        said = await ask(task, skill, target)
        if said.failure:
            return rollout(task, said, Outcome("infra_error", None, said.failure))
        return rollout(task, said, await self._outcome(task, rubric, asserted, said))

    def warnings(self) -> tuple[str, ...]:
        """What a run on these tasks cannot do, as far as their files tell."""
        tasks = [task for part in self._splits.values() for task in part]
        unjudged = sum(any(not item.regex for item in task.rubric) for task in tasks)
        tools = sum(_asks_for_tools(task.assertions) for task in tasks)
        repeats = sum(task.repeats > 1 for task in tasks)
        said = []
        if unjudged and not self._judge:
            said.append(
                f"judge=none: {unjudged} of {len(tasks)} tasks have a rubric that nobody judges; only their "
                "assertions count, which is no proof of quality: name a judge, such as judge=litellm"
            )
        if tools:
            said.append(
                f"{tools} of {len(tasks)} tasks require tool calls, and the target of this environment has no "
                "tools: they always fail"
            )
        if repeats:
            said.append(f"{repeats} of {len(tasks)} tasks ask for repeats, which the run decides, by `repeats`")
        return tuple(f"{self._data}: {line}" for line in said)

    async def _outcome(self, task: Task, rubric: Sequence[RubricItem], asserted: Assertions, said: Said) -> Outcome:
        metrics = {"rubric_total": float(len(rubric)), "rubric_passed": 0.0, "unjudged": 0.0}
        failed = failed_assertions(asserted, said.trajectory, said.seconds)
        if failed:
            late = any(one.id == "must_complete_within_sec" for one in failed)
            reason = "; ".join(map(str, failed))
            return Outcome("timeout" if late else "failed", Score(0, 0, reason), reason, metrics)
        verdicts, asked = by_program(rubric, said.response), [item for item in rubric if not item.regex]
        usage = Usage()
        if asked and self._judge:
            description = str(task.data["description_for_judge"])
            judgement = await self._judge.judge(description, asked, said.trajectory)
            usage = judgement.usage
            if judgement.failure:
                return Outcome("judge_error", None, f"judge: {judgement.failure}", metrics, usage)
            verdicts += judgement.verdicts
        passed = sum(verdict.verdict == "yes" for verdict in verdicts)
        metrics |= {"rubric_passed": float(passed), "unjudged": float(len(rubric) - len(verdicts))}
        score = _score(passed, verdicts, rubric)
        return Outcome("passed" if score.hard == 1 else "failed", score, score.reason, metrics, usage)

    @cached_property
    def _found(self) -> Pair:
        if self._data.is_file():
            raise SkillpipeError(
                f"{self._data}: one suite; say how to cut it, env.head=70/30, or name a folder of pairs"
            )
        pairs = {pair.id: pair for pair in find_pairs(self._data)}
        if not pairs:
            raise SkillpipeError(
                f"{self._data}: no pair of suites; <prefix>_train.json needs <prefix>_verification.json beside it"
            )
        if self._pair is None and len(pairs) == 1:
            return next(iter(pairs.values()))
        if self._pair not in pairs:
            raise SkillpipeError(f"env.pair is {self._pair}; the pairs in {self._data} are {', '.join(pairs)}")
        return pairs[self._pair]

    @cached_property
    def _splits(self) -> dict[Split, list[SuiteTask]]:
        if self._head:
            if self._data.is_dir():
                raise SkillpipeError(
                    f"env.head is {self._head} and {self._data} a folder; head cuts one suite: name its file"
                )
            return _apart(by_head(_usable(self._data), self._head, str(self._data)))
        pair = self._found
        val = _usable(pair.val)
        test = _usable(pair.test) if pair.test else None
        val, test = (val, test) if test is not None else halves(val, f"{pair.val}")
        return _apart({"train": _usable(pair.train), "val": val, "test": test})


def _apart(parts: dict[Split, list[SuiteTask]]) -> dict[Split, list[SuiteTask]]:
    """The same. Raises SkillpipeError for a prompt that stands twice, also where suites differ in their prefix."""
    first: dict[str, str] = {}
    for split, tasks in parts.items():
        for task in tasks:
            where = f"{split} task {task.id!r}"
            other = first.setdefault(task.own_prompt.strip(), where)
            if other != where:
                raise SkillpipeError(
                    f"{where}: the same prompt stands in {other}; prompts must be unique over all splits, or held-out "
                    "scores mean nothing: remove one of the two"
                )
    return parts


def _usable(path: Path) -> list[SuiteTask]:
    """The tasks of a suite. Raises SkillpipeError for one that asks for what a chat model alone cannot have."""
    suite: SuiteForm = read_suite(path)
    if suite.needs:
        raise SkillpipeError(
            f"{path}: {', '.join(suite.needs)}: this environment has no device to set up; leave it out"
        )
    for task in suite.tasks:
        if task.needs:
            raise SkillpipeError(
                f"{path}: task {task.id!r}: {', '.join(task.needs)}: this environment has a model that answers and "
                "nothing else; leave the task out"
            )
    return list(suite.tasks)


def _asks_for_tools(asserted: Assertions) -> bool:
    return bool(asserted.min_tool_calls or asserted.required_tools or asserted.required_tool_calls)


def _score(passed: int, verdicts: Sequence[Verdict], rubric: Sequence[RubricItem]) -> Score:
    """Hard and soft of an attempt whose assertions hold; the reason lists the items that do not, with their checks."""
    if not verdicts:
        return Score(1, 1)
    checks = {item.id: item.check for item in rubric}
    no = [f"{row.id}: {row.reason} ({checks[row.id]})" for row in verdicts if row.verdict == "no"]
    return Score(float(passed == len(verdicts)), passed / len(verdicts), "; ".join(no))
