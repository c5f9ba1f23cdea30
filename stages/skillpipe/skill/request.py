"""Read an edit that a model wrote, in which anything may stand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast

from skillpipe.skill.report import Refusal

Op = Literal["append", "insert_after", "replace", "delete"]
SKILL_FILE = "SKILL.md"

ALIASES: dict[str, Op] = {
    "append": "append",
    "add": "append",
    "append_to_end": "append",
    "add_to_end": "append",
    "insert_after": "insert_after",
    "insertafter": "insert_after",
    "insert": "insert_after",
    "add_after": "insert_after",
    "replace": "replace",
    "update": "replace",
    "modify": "replace",
    "substitute": "replace",
    "delete": "delete",
    "remove": "delete",
    "drop": "delete",
}
"""What models write for an operation, compared without case, with `-` and spaces as `_`.

`rewrite` is not among them: it asks for a new document, not for an edit. Nor is an edit without an operation
an append.
"""

_FIELDS = ("op", "target", "content", "section", "file")


@dataclass(frozen=True)
class Request:
    """A readable edit. Empty are the target of an append, the content of a delete, a section not named."""

    op: Op
    target: str
    content: str
    section: str
    file: str


def read_request(edit: object) -> tuple[str, str, Request | Refusal]:
    """Return the operation and file to report for `edit`, and the edit as a request or why it is none.

    `edit` is a mapping, or an object with attributes `op`, `target`, `content`, `section`, `file`; absent and
    None are the same as empty. Never raises for the values of a mapping.
    """
    fields = _fields(edit)
    if fields is None:
        refusal = Refusal("invalid", f"an edit is an object with an op, not {type(edit).__name__}")
        return "", SKILL_FILE, refusal
    given = fields["op"]
    name = given if isinstance(given, str) else ""
    op = ALIASES.get("_".join(name.lower().replace("-", " ").split()))
    shown = op or name[:40]
    file = fields["file"] if isinstance(fields["file"], str) and fields["file"] else SKILL_FILE
    if op is None:
        found = repr(shown) if shown else "nothing" if given in (None, "") else type(given).__name__
        allowed = "append, insert_after, replace or delete are allowed"
        return shown, file, Refusal("invalid", f"op is {found}; {allowed}")
    for name in _FIELDS[1:]:
        value = fields[name]
        if value is not None and not isinstance(value, str) and name not in _unused(op):
            return op, file, Refusal("invalid", f"{name} is {type(value).__name__}, not a string")
    texts = {name: cast(str, fields[name] or "") for name in _FIELDS if name not in _unused(op)}
    request = Request(op, texts.get("target", ""), texts.get("content", ""), texts["section"].strip(), file)
    return op, file, _refused(request) or request


def _unused(op: Op) -> tuple[str, ...]:
    return {"append": ("target",), "delete": ("content",)}.get(op, ())


def _refused(request: Request) -> Refusal | None:
    if request.op != "append" and not request.target.strip():
        return Refusal("invalid", f"{request.op} needs a target: text that stands in the document")
    if request.op != "delete" and not request.content.strip():
        return Refusal("empty", "the edit has no content")
    if "\0" in request.content:
        return Refusal("invalid", "the content holds a NUL character, which no text file may")
    try:
        request.content.encode("utf-8")
    except UnicodeEncodeError:
        return Refusal("invalid", "the content holds half a surrogate pair, which cannot be saved as UTF-8")
    return None


def _fields(edit: object) -> dict[str, object] | None:
    if isinstance(edit, Mapping):
        return {name: edit.get(name) for name in _FIELDS}
    if not hasattr(edit, "op"):
        return None
    return {name: getattr(edit, name, None) for name in _FIELDS}
