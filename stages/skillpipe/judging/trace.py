"""The tools that an attempt used, as they stand in its trajectory. Pure.

A message of role `tool` is one call with what it gave back: a JSON object with `tool` (the tool's name), `input` (a
JSON object) and `output` (any JSON). An environment that uses tools writes them with `tool_message`, in the order of
the calls.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skillpipe.records import Message


@dataclass(frozen=True)
class ToolCall:
    """One call of a tool: its name, its arguments, what it gave back."""

    tool: str
    input: Mapping[str, Any]
    output: Any = None


def tool_message(call: ToolCall) -> Message:
    """The call as a message of a trajectory. Equal calls give equal bytes."""
    value = {"tool": call.tool, "input": dict(call.input), "output": call.output}
    return Message("tool", json.dumps(value, ensure_ascii=False, sort_keys=True))


def tool_calls(trajectory: Sequence[Message]) -> list[ToolCall]:
    """The calls of an attempt, in order.

    Raises ValueError for a message of role `tool` that holds no call: a defect of the environment, by which the attempt
    becomes missing data rather than one without tools.
    """
    return [_call(message.content) for message in trajectory if message.role == "tool"]


def final_response(trajectory: Sequence[Message]) -> str:
    """What the target said last, when it had the last word; else empty."""
    return trajectory[-1].content if trajectory and trajectory[-1].role == "assistant" else ""


def _call(content: str) -> ToolCall:
    try:
        value = json.loads(content)
    except ValueError:
        value = None
    match value:
        case {"tool": str(tool), "input": dict(given)}:
            return ToolCall(tool, given, value.get("output"))
    raise ValueError(
        f"a tool message is {content[:80]!r}; it must be a JSON object with tool (a text), input (an object) and output"
    )
