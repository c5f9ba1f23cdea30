"""Does a SKILL.md keep the rules of the public Agent Skills specification?

The rules and limits are those of agentskills.io/specification as read in 2026. Where it leaves room (an ASCII
name, a mapping of strings) the stricter reading is checked, since that is what every client accepts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import yaml

from skillpipe.skill.lines import count_tokens, split_lines
from skillpipe.skill.parts import FENCE, split

MAX_NAME = 64
MAX_DESCRIPTION = 1024
MAX_COMPATIBILITY = 500
RECOMMENDED_TOKENS = 5000
RECOMMENDED_LINES = 500
KNOWN_KEYS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


@dataclass(frozen=True)
class Finding:
    """One thing that `validate` has to say: an error breaks a rule, a warning does not. `line` is 1-based."""

    level: Literal["error", "warning"]
    line: int
    message: str


def validate(text: str, folder_name: str | None = None) -> list[Finding]:
    """Return where the SKILL.md `text` breaks a rule of the format or leaves its advice, in order of lines.

    Errors: frontmatter that does not close or is no YAML mapping with single keys; `name` not 1 to 64 of a-z,
    0-9 and single inner hyphens, or not `folder_name` (unless that is None); `description` not 1 to 1024
    characters; `compatibility` given and not 1 to 500; `license`, `metadata`, `allowed-tools` of another
    type.
    Warnings: no frontmatter at all (a plain Markdown file is a skill too, but no client will load it by
    itself), unknown keys, metadata that is not text, an empty body, more than the recommended 5,000 tokens or
    500 lines.

    Values are taken as text, as in the specification's reference library: `name: 123` is the name "123".
    Never raises. Not checked: whether files that the body refers to exist.
    """
    parts = split(text)
    findings: list[Finding] = []
    if parts.frontmatter:
        findings.extend(_frontmatter(parts.frontmatter, folder_name))
    elif "".join(split_lines(parts.body)[:1]).rstrip() == FENCE:
        findings.append(Finding("error", 1, "the frontmatter that line 1 opens is not closed by a line ---"))
    else:
        message = "no frontmatter: agents find a skill by its name and description"
        findings.append(Finding("warning", 1, message))
    lines = split_lines(text)
    if not parts.body.strip():
        findings.append(Finding("warning", max(1, len(lines)), "the body is empty"))
    if len(lines) > RECOMMENDED_LINES:
        message = f"{len(lines)} lines; the specification recommends at most {RECOMMENDED_LINES}"
        findings.append(Finding("warning", RECOMMENDED_LINES + 1, message))
    if (tokens := count_tokens(text)) > RECOMMENDED_TOKENS:
        message = f"about {tokens} tokens; the specification recommends at most {RECOMMENDED_TOKENS}"
        findings.append(Finding("warning", 1, message))
    return sorted(findings, key=lambda finding: finding.line)


def _frontmatter(frontmatter: str, folder_name: str | None) -> Iterator[Finding]:
    inner = "".join(split_lines(frontmatter)[1:-1])
    try:
        root = yaml.compose(inner, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error) or type(error).__name__
        message = f"the frontmatter is no YAML: {' '.join(problem.split())}"
        yield Finding("error", 2 + (mark.line if mark else 0), message)
        return
    if root is not None and not isinstance(root, yaml.MappingNode):
        yield Finding("error", 2, "the frontmatter is no mapping of keys to values")
        return
    values: dict[str, yaml.Node] = {}
    for key, value in root.value if root is not None else ():
        line = 2 + key.start_mark.line
        name = key.value if isinstance(key, yaml.ScalarNode) else "?"
        if name in values:
            yield Finding("error", line, f"the key {name!r} stands twice")
        elif name not in KNOWN_KEYS:
            yield Finding("warning", line, f"the key {name!r} is not one of {', '.join(KNOWN_KEYS)}")
        values[name] = value
    yield from _name(values.get("name"), folder_name)
    yield from _length(values.get("description"), "description", MAX_DESCRIPTION, required=True)
    yield from _length(values.get("compatibility"), "compatibility", MAX_COMPATIBILITY, required=False)
    yield from _types(values)


def _name(node: yaml.Node | None, folder_name: str | None) -> Iterator[Finding]:
    text = _text(node)
    if node is None or text is None:
        yield Finding("error", _line(node), "name is missing" if node is None else "name is not a text")
        return
    if not _NAME.fullmatch(text) or len(text) > MAX_NAME:
        allowed = f"1 to {MAX_NAME} of a-z, 0-9 and single hyphens, none at either end"
        yield Finding("error", _line(node), f"name is {text[:80]!r}; allowed are {allowed}")
    if folder_name is not None and text != folder_name:
        yield Finding("error", _line(node), f"name is {text[:80]!r}, but the folder is {folder_name!r}")


def _length(node: yaml.Node | None, key: str, most: int, *, required: bool) -> Iterator[Finding]:
    text = _text(node)
    if node is None:
        if required:
            yield Finding("error", 1, f"{key} is missing")
    elif text is None:
        yield Finding("error", _line(node), f"{key} is not a text")
    elif not text.strip():
        yield Finding("error", _line(node), f"{key} is empty")
    elif len(text) > most:
        yield Finding("error", _line(node), f"{key} has {len(text)} characters; at most {most} are allowed")


def _types(values: dict[str, yaml.Node]) -> Iterator[Finding]:
    if "license" in values and _text(values["license"]) is None:
        yield Finding("error", _line(values["license"]), "license is not a text")
    metadata = values.get("metadata")
    if isinstance(metadata, yaml.MappingNode):
        for key, value in metadata.value:
            if _text(key) is None or _text(value) is None:
                yield Finding("warning", _line(key), "metadata holds a value that is not a text")
    elif metadata is not None:
        yield Finding("error", _line(metadata), "metadata is no mapping of keys to texts")
    tools = values.get("allowed-tools")
    items = tools.value if isinstance(tools, yaml.SequenceNode) else [tools]
    if tools is not None and any(_text(item) is None for item in items):
        yield Finding("error", _line(tools), "allowed-tools is neither a text nor a list of texts")


def _text(node: yaml.Node | None) -> str | None:
    return node.value if isinstance(node, yaml.ScalarNode) else None


def _line(node: yaml.Node | None) -> int:
    return 1 if node is None else 2 + node.start_mark.line
