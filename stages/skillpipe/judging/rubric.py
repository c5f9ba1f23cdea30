"""A rubric: what a good attempt shows, item by item. Pure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from skillpipe.errors import SkillpipeError


@dataclass(frozen=True)
class RubricItem:
    """One thing to check. With `regex`, a Python regular expression, a program decides: it must match somewhere in the
    final response; without one, the judge does, by `check`."""

    id: str
    check: str
    regex: str = ""


@dataclass(frozen=True)
class Verdict:
    """What was found on one item of a rubric."""

    id: str
    verdict: Literal["yes", "no"]
    reason: str


def read_rubric(items: Sequence[Mapping[str, Any]], where: str) -> tuple[RubricItem, ...]:
    """A rubric as it stands in a file: objects of texts `id`, `check` (or `description`) and, if wanted, `regex`.

    Raises SkillpipeError for an id that is blank or stands twice, for a check that is missing or blank, and for a regex
    that does not compile. A regex of catastrophic cost is not caught.
    """
    read: dict[str, RubricItem] = {}
    for number, item in enumerate(items):
        name, check, regex = str(item["id"]), str(item.get("check", item.get("description", ""))), item.get("regex", "")
        at = f"{where}: rubric.{number}"
        if not name.strip():
            raise SkillpipeError(f"{at}.id is blank; each item needs an id of its own")
        if name in read:
            raise SkillpipeError(f"{at}.id is {name!r}, as that of another item; each item needs an id of its own")
        if not check.strip():
            raise SkillpipeError(f"{at}.check is missing or blank; it says what a good attempt shows")
        try:
            re.compile(regex)
        except (re.error, OverflowError, RecursionError) as error:
            raise SkillpipeError(f"{at}.regex is {regex!r}, no regular expression: {error}") from None
        read[name] = RubricItem(name, check, regex)
    return tuple(read.values())


def by_program(rubric: Sequence[RubricItem], response: str) -> list[Verdict]:
    """The verdicts on the items that have a regex, in their order."""
    return [
        Verdict(item.id, "yes", "") if re.search(item.regex, response) else Verdict(item.id, "no", "no match")
        for item in rubric
        if item.regex
    ]
