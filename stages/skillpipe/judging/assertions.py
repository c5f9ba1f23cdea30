"""Hard assertions: what must hold of an attempt before a rubric is looked at. Pure.

The assertions and their defaults are those of Aiden's benchmark suites.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from skillpipe.judging.trace import ToolCall, final_response, tool_calls
from skillpipe.records import Message


@dataclass(frozen=True)
class RequiredCall:
    """A call of `tool` whose input holds all of `input_contains`: a text anywhere in the input's text of that name, an
    object likewise, anything else as it is."""

    tool: str
    input_contains: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Assertions:
    """What must hold of one attempt.

    `required_tool_calls` must come in this order, with any others between. A prohibited action is a text that stands,
    upper and lower case alike, in the name or the input of no call. `expected_answer` is what the response must be,
    case apart; with `option_letter`, the letter of the option that it chooses. Empty means not asserted.
    """

    min_tool_calls: int = 0
    max_tool_calls: int = 50
    must_complete_within_sec: float = 180
    response_required: bool = True
    required_tools: tuple[str, ...] = ()
    forbidden_tools: tuple[str, ...] = ()
    prohibited_actions: tuple[str, ...] = ()
    required_tool_calls: tuple[RequiredCall, ...] = ()
    expected_answer: str = ""
    option_letter: bool = False


@dataclass(frozen=True)
class Failed:
    """An assertion that does not hold: its name in Assertions, what was asked for, what was found."""

    id: str
    requirement: str
    actual: str

    def __str__(self) -> str:
        return f"{self.id}: {self.requirement}, found {self.actual}"


def failed_assertions(asserted: Assertions, trajectory: Sequence[Message], seconds: float) -> list[Failed]:
    """The assertions that do not hold, in the order of Assertions; none if all hold.

    `seconds` is how long the attempt took. Raises ValueError for a trajectory whose tool messages cannot be read.
    """
    calls, response = tool_calls(trajectory), final_response(trajectory).strip()
    used, least, most = [call.tool for call in calls], asserted.min_tool_calls, asserted.max_tool_calls
    tools = ", ".join(dict.fromkeys(used)) or "no tool"
    found: list[Failed | None] = [
        _unless(len(calls) >= least, "min_tool_calls", f"at least {least}", len(calls)),
        _unless(len(calls) <= most, "max_tool_calls", f"at most {most}", len(calls)),
        _unless(
            seconds <= asserted.must_complete_within_sec,
            "must_complete_within_sec",
            f"within {asserted.must_complete_within_sec:g} s",
            "more",
        ),
        _unless(bool(response) or not asserted.response_required, "response_required", "a response", "none"),
        *(_unless(tool in used, "required_tools", tool, tools) for tool in asserted.required_tools),
        *(_unless(tool not in used, "forbidden_tools", f"no {tool}", tool) for tool in asserted.forbidden_tools),
        *(_prohibited(action, calls) for action in asserted.prohibited_actions),
        _in_order(asserted.required_tool_calls, calls),
        _answered(asserted, response),
    ]
    return [failed for failed in found if failed]


def _unless(holds: bool, name: str, requirement: str, actual: object) -> Failed | None:
    return None if holds else Failed(name, requirement, str(actual))


def _prohibited(action: str, calls: Sequence[ToolCall]) -> Failed | None:
    for call in calls:
        text = f"{call.tool} {json.dumps(dict(call.input), ensure_ascii=False, sort_keys=True)}"
        if action.casefold() in text.casefold():
            return Failed("prohibited_actions", f"no {action!r}", f"a call of {call.tool}")
    return None


def _in_order(required: Sequence[RequiredCall], calls: Sequence[ToolCall]) -> Failed | None:
    left = iter(calls)
    for number, wanted in enumerate(required, start=1):
        if not any(call.tool == wanted.tool and _holds(call.input, wanted.input_contains) for call in left):
            asked = f"call {number} of {len(required)}: {wanted.tool} {json.dumps(dict(wanted.input_contains))}"
            return Failed("required_tool_calls", asked, "no such call" if number == 1 else "none after the one before")
    return None


def _holds(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        return isinstance(value, Mapping) and all(
            name in value and _holds(value[name], part) for name, part in wanted.items()
        )
    if isinstance(wanted, str):
        return isinstance(value, str) and wanted in value
    return type(value) is type(wanted) and bool(value == wanted)


def _answered(asserted: Assertions, response: str) -> Failed | None:
    wanted = asserted.expected_answer.strip()
    if not wanted:
        return None
    given = chosen_option(response) if asserted.option_letter else response
    said = "no option" if not given else repr(given[:80])
    return _unless(given.casefold() == wanted.casefold(), "expected_answer", f"{wanted!r}", said)


# A small letter counts only where the line ends: "the answer is a dog" chooses nothing.
_SAID = re.compile(r"\b(?i:answer|option|choice)\b(?:\s+(?:is|was))?\W{0,4}(?:([A-Z])\b|([a-z])\W*(?:\n|$))")
_FIRST = re.compile(r"\W*([A-Z])(?:[).:\]]|\W*(?:\n|$))")
_LAST = re.compile(r"(?:^|\n)\W*([A-Z])\W*$")


def chosen_option(response: str) -> str:
    """The letter of the option that a response chooses, in capitals; empty if it names none.

    It is the last one called answer, option or choice ("The answer is (B)"), else one that the response begins with
    ("B. Paris"), else one that is the whole last line.
    """
    said = _SAID.findall(response)
    if said:
        return "".join(said[-1]).upper()
    found = _FIRST.match(response) or _LAST.search(response)
    return found[1] if found else ""
