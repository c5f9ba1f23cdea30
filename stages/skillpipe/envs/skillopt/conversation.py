"""Read what was said in one rollout, from the file that an adapter leaves for it."""

import json
from pathlib import Path
from typing import Any, Literal

from skillpipe.records import Message

Role = Literal["system", "user", "assistant", "tool"]

_ROLES: dict[str, Role] = {
    "system": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "agent": "assistant",
    "tool": "tool",
    "function": "tool",
    "environment": "tool",
}


def read_conversation(out_dir: Path, key: str, skill: str) -> tuple[tuple[Message, ...], str]:
    """The messages of <out_dir>/predictions/<key>/conversation.json, and what is wrong with the file, if anything.

    No file and an empty one give no messages: the rollout counts, and shows nothing. Three kinds of entry are known,
    as in SkillOpt: {role, content}, {type: tool_call, cmd, obs} and {action, env_feedback, reasoning}; anything else
    is the agent's. The system message that holds the skill is left out.
    """
    folder = (out_dir / "predictions").resolve()
    path = (folder / key / "conversation.json").resolve()
    if not path.is_relative_to(folder) or not path.is_file():
        return (), ""
    try:
        entries = json.loads(path.read_text("utf-8"))
    except ValueError as error:  # not JSON, or not UTF-8
        return (), f"conversation.json cannot be read: {error}"
    if not isinstance(entries, list):
        return (), f"conversation.json holds {type(entries).__name__}, not a list"
    messages = [message for entry in entries for message in _messages(entry)]
    said = tuple(message for message in messages if message.content and not _is_skill(message, skill))
    return said, ""


def _messages(entry: Any) -> list[Message]:
    if not isinstance(entry, dict):
        return [Message("assistant", _text(entry))]
    if entry.get("type") == "tool_call":
        return [Message("assistant", _text(entry.get("cmd"))), Message("tool", _text(entry.get("obs")))]
    if "action" in entry and "env_feedback" in entry:
        thought, action = _text(entry.get("reasoning")), _text(entry["action"])
        said = f"{thought}\n{action}" if thought else action
        return [Message("assistant", said), Message("tool", _text(entry["env_feedback"]))]
    calls = _text(entry.get("tool_calls"))
    content = _text(entry.get("content"))
    text = "\n".join(part for part in (content, calls) if part)
    return [Message(_ROLES.get(str(entry.get("role")), "assistant"), text)]


def _is_skill(message: Message, skill: str) -> bool:
    return message.role == "system" and bool(skill.strip()) and skill.strip() in message.content


def _text(value: Any) -> str:
    """Text as it is; parts of a message ({text: ...}) joined; anything else as JSON; nothing for none."""
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, list) and all(isinstance(part, dict) and isinstance(part.get("text"), str) for part in value):
        return "\n".join(part["text"] for part in value)
    return json.dumps(value, ensure_ascii=False)
