"""Policies: what may refuse a candidate that scores better.

A list in a file of conf/gate; each is called with a Review and gives the reason to refuse, or an empty text. They read
the files of the skill's folder as UTF-8; bytes that are none are read as U+FFFD. Nothing here asks a model.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from skillpipe.errors import SkillpipeError
from skillpipe.gating.contract import Review
from skillpipe.records import Rollout
from skillpipe.skill import count_tokens


class Length:
    """Refuses a skill that is too long, or grew too much at once. All files of its folder together; null sets no limit.

    `max_growth` is in shares of the tokens before: 0.5 lets a candidate be half as long again. Tokens are estimated at
    4 bytes each. Single edits are held to `max_skill_tokens` and `max_skill_lines` before; this refuses a candidate as
    a whole, for limits that are worth losing a step.
    """

    def __init__(self, max_tokens: int | None, max_lines: int | None, max_growth: float | None) -> None:
        limits = {"max_tokens": max_tokens, "max_lines": max_lines, "max_growth": max_growth}
        for name, value in limits.items():
            if value is not None and not value >= 0:
                raise SkillpipeError(f"gate.policies: Length: {name} is {value}; allowed is 0 or more, or null")
        if all(value is None for value in limits.values()):
            raise SkillpipeError(f"gate.policies: Length: {', '.join(limits)} are all null; set one of them")
        self._max_tokens, self._max_lines, self._max_growth = max_tokens, max_lines, max_growth

    def __call__(self, review: Review) -> str:
        tokens, before = _tokens(review.skill), _tokens(review.skill_before)
        lines = sum(len(text.splitlines()) for text in _texts(review.skill).values())
        if self._max_tokens is not None and tokens > self._max_tokens:
            return f"the skill has {tokens} tokens, max_tokens is {self._max_tokens}"
        if self._max_lines is not None and lines > self._max_lines:
            return f"the skill has {lines} lines, max_lines is {self._max_lines}"
        if self._max_growth is not None and tokens > before * (1 + self._max_growth):
            return f"the skill grew from {before} to {tokens} tokens, max_growth is {self._max_growth:g}"
        return ""


class ForbiddenText:
    """Refuses a skill that holds one of `texts`, letter by letter, or a match of one of `patterns`.

    Patterns are Python regular expressions, `^` and `$` match at lines. What the skill held before is refused too: then
    nothing passes until an edit removes it.
    """

    def __init__(self, texts: Sequence[str], patterns: Sequence[str]) -> None:
        if not texts and not patterns:
            raise SkillpipeError("gate.policies: ForbiddenText: texts and patterns are both empty; fill one")
        if "" in texts:
            raise SkillpipeError("gate.policies: ForbiddenText: a text is empty; it stands in every skill, remove it")
        self._searches = [*(_compiled(re.escape(text)) for text in texts), *map(_compiled, patterns)]

    def __call__(self, review: Review) -> str:
        for name, text in _texts(review.skill).items():
            for search in self._searches:
                if found := search.search(text):
                    line = text.count("\n", 0, found.start()) + 1
                    return f"{name} line {line} holds the forbidden {found[0]!r}"
        return ""


class CopiedTrainText:
    """Refuses a skill into which `min_chars` or more characters in a row were copied from the step's train tasks.

    Compared are what the target was asked (messages of role user) and the expected answers, with each run of blanks and
    line breaks as one blank. What the skill held before is no copy, nor is text that all tasks of the batch share: that
    is the environment's prompt. Shorter texts, such as most answers, are not found, nor are rephrased ones; and with no
    train rollouts there is nothing to compare. The example optimizer copies by design: leave this out there.
    """

    def __init__(self, min_chars: int) -> None:
        if min_chars < 1:
            raise SkillpipeError(f"gate.policies: CopiedTrainText: min_chars is {min_chars}; allowed is 1 or more")
        self._min_chars = min_chars

    def __call__(self, review: Review) -> str:
        added = self._all_runs(review.skill) - self._all_runs(review.skill_before)
        copied: dict[str, list[str]] = {}
        for row in review.train:
            runs = (run for text in _task_texts(row) for run in self._runs(text))
            copied.setdefault(row.task, []).extend(run for run in runs if run in added)
        shared = set.intersection(*map(set, copied.values())) if len(copied) > 1 else set()
        for task, found in copied.items():
            for run in found:
                if run not in shared:
                    return f"text of training task {task!r} stands in the skill: {run!r}"
        return ""

    def _all_runs(self, skill: Mapping[str, bytes]) -> set[str]:
        return {run for text in _texts(skill).values() for run in self._runs(text)}

    def _runs(self, text: str) -> Iterator[str]:
        """All pieces of `min_chars` characters, in order; blanks at either end of the text do not count."""
        text = " ".join(text.split())
        return (text[start : start + self._min_chars] for start in range(len(text) - self._min_chars + 1))


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern, re.MULTILINE)
    except re.error as error:
        raise SkillpipeError(f"gate.policies: ForbiddenText: {pattern!r} is no pattern: {error}") from None


def _task_texts(row: Rollout) -> list[str]:
    return [*(message.content for message in row.trajectory if message.role == "user"), row.expected]


def _texts(skill: Mapping[str, bytes]) -> dict[str, str]:
    return {name: content.decode("utf-8", errors="replace") for name, content in skill.items()}


def _tokens(skill: Mapping[str, bytes]) -> int:
    return sum(count_tokens(text) for text in _texts(skill).values())
