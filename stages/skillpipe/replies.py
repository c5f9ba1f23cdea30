"""Find the one JSON object that a model's reply was asked to be.

A reply is read from left to right. Reasoning is skipped, prose and fences are passed over, and each JSON
value that stands between them is decoded whole, so a fence or a `<think>` inside a JSON string is content. Of
several objects that fit the schema the last is the answer: models draft first and correct themselves after.
"""

import json
import re
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from skillpipe.lenient_json import BrokenJson, decode

_NAMES = r"(?:think|thinking|thought|thoughts|reasoning|reflection|analysis|scratchpad|seed:think)"
# A tag named in backticks is prose about the tag.
_OPENS = rf"(?<!`)<{_NAMES}(?:\s[^<>]*)?>|\[THINK\]|◁think▷|<\|channel\|>\s*(?:analysis|commentary)\b"
_ENDS = rf"(?<!`)</{_NAMES}\s*>|\[/THINK\]|◁/think▷|<\|channel\|>\s*final\b[^<]*<\|message\|>"
# Where a JSON value can begin: a brace and its first key (or `}`), or a bracket before such a brace.
_BLANK = r"(?:\s|//[^\n]*\n|/\*.{0,500}?\*/)*"
_STRING = r"""(?:"[^"\n]*"|'[^'\n]*'|[\u201c"][^\u201d"\n]*[\u201d"]|\u2018[^\u2019\n]*\u2019)"""
_OBJECT = rf"\{{{_BLANK}(?:\}}|(?:{_STRING}|[A-Za-z_]\w*)\s*:)"
_SCAN = re.compile(
    rf"(?P<opens>{_OPENS})|(?P<ends>{_ENDS})|(?P<json>{_OBJECT}|\[{_BLANK}{_OBJECT})",
    re.IGNORECASE | re.DOTALL,
)
_END = re.compile(_ENDS, re.IGNORECASE)
# Inside a block of the <|channel|> kind the message's end closes it too; outside, it closes the answer.
_BLOCK_END = re.compile(rf"{_ENDS}|<\|end\|>", re.IGNORECASE)
_CUT_KEY = re.compile(r"""\{\s*["'\u201c\u2018][^"'\u201d\u2019]*["'\u201d\u2019]?\s*\Z""")


class ReplyError(Exception):
    """A reply that cannot be used: a counted failure, never an empty answer.

    `reason` is one line that begins with its kind: "empty", "truncated" (cut by the token limit, or a value
    that never closes), "reasoning" (nothing but reasoning), "no JSON", "malformed" or "schema". `raw` is the
    reply as it came.
    """

    def __init__(self, reason: str, raw: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.raw = raw


def parse_reply(text: str | None, schema: dict[str, Any], *, finish: str = "stop") -> dict[str, Any]:
    """The object in `text` that fits `schema` (JSON Schema 2020-12, local references only).

    Accepted beside the bare object: reasoning, prose or fences around it; quotes, commas, comments and keys
    that can be mended without touching a string; a string that holds the JSON; a list, when the schema requires
    exactly one array, or has only one; an object inside one that has none of the schema's properties.

    Nothing that was cut is mended: `finish` "length", or a value that never closes, is "truncated", also when
    a whole object stands before it. Duplicate keys, NaN, infinities, NUL and lone surrogates are refused.
    Raises ReplyError, nothing else, for any text.
    """
    raw = text or ""
    if finish == "length":
        raise ReplyError("truncated: the token limit cut the reply; raise max_tokens", raw)
    body = raw.strip("\ufeff\u200b\x00 \t\r\n")
    if not body:
        raise ReplyError("empty: the model replied with nothing", raw)
    values, failure = _read(body)
    if failure.startswith("truncated"):
        raise ReplyError(failure, raw)
    validator = Draft202012Validator(schema)
    for value in reversed(values):
        found = _fitting(value, validator)
        if found is not None:
            return found
    if values:
        raise ReplyError(f"schema: {_misfit(values[-1], validator)}", raw)
    raise ReplyError(failure, raw)


def _read(body: str) -> tuple[list[Any], str]:
    """Every JSON value outside the reasoning, in order, and what is to blame if none of them fits."""
    values: list[Any] = []
    failure, at = "no JSON: no object in the reply", 0
    while found := _SCAN.search(body, at):
        at = found.end()
        if found.lastgroup == "opens":
            end = _BLOCK_END.search(body, at)
            if end is None:
                return values, "reasoning: it never ends, so there is no answer after it"
            at, failure = end.end(), "reasoning: no answer after it"
        elif found.lastgroup == "ends":  # its opening tag was lost: all before it was reasoning
            values, failure = [], "reasoning: no answer after it"
        else:
            try:
                value, at = decode(body, found.start())
                values.append(value)
            except BrokenJson as error:
                tag = _END.search(body, found.end())
                at, failure = (tag.start() if tag else error.end), f"{error.kind}: {error}"
    if failure.startswith("no JSON") and _CUT_KEY.search(body):
        failure = "truncated: the reply ends inside the first key of an object"
    return values or _inside_string(body), failure


def _inside_string(body: str) -> list[Any]:
    """The values of a reply that is one JSON string holding them."""
    if not body.startswith('"'):
        return []
    try:
        inner = json.loads(body, strict=False)
    except (ValueError, RecursionError):
        return []
    return _decoded(inner)


def _decoded(text: str) -> list[Any]:
    """The object or list that is the whole of `text`, if there is one."""
    text = text.strip()
    if text[:1] not in ("{", "["):
        return []
    try:
        value, end = decode(text, 0)
    except BrokenJson:
        return []  # a string that is not JSON is a string
    return [value] if end == len(text) else []


def _fitting(value: Any, validator: Draft202012Validator) -> dict[str, Any] | None:
    """The object in `value` that fits: itself, a list as its one array, or the only fit right inside."""
    if isinstance(value, list):
        return _fits(_as_object(value, validator), validator) or _only(value, validator)
    if not isinstance(value, dict):
        return None
    fit = _fits(value, validator)
    if fit is not None or _properties(validator).keys() & value.keys():
        return fit
    return _only(list(value.values()), validator)


def _only(parts: list[Any], validator: Draft202012Validator) -> dict[str, Any] | None:
    """The one object among `parts` (or held by a string among them) that fits; None if there are several."""
    texts = [inner for part in parts if isinstance(part, str) for inner in _decoded(part)]
    fits = [part for part in [*parts, *texts] if _fits(part, validator) is not None]
    return fits[0] if len(fits) == 1 else None


def _fits(value: Any, validator: Draft202012Validator) -> dict[str, Any] | None:
    return value if isinstance(value, dict) and validator.is_valid(value) else None


def _properties(validator: Draft202012Validator) -> dict[str, Any]:
    schema = validator.schema
    return dict(schema.get("properties", {})) if isinstance(schema, dict) else {}


def _as_object(value: list[Any], validator: Draft202012Validator) -> Any:
    """`value` under the one required property that is an array, or the only array there is; else as it is."""
    arrays = [name for name, part in _properties(validator).items() if part.get("type") == "array"]
    needed = validator.schema.get("required", ()) if isinstance(validator.schema, dict) else ()
    named = [name for name in arrays if name in needed] or arrays
    return {named[0]: value} if len(named) == 1 else value


def _misfit(value: Any, validator: Draft202012Validator) -> str:
    """Where and how `value` breaks the schema, in one line."""
    tried = _as_object(value, validator) if isinstance(value, list) else value
    error = best_match(validator.iter_errors(tried))
    if error is None:  # pragma: no cover - only values that do not fit come here
        return "it does not fit"
    message = " ".join(error.message.split())
    return f"{error.json_path}: {message if len(message) <= 200 else message[:200] + '...'}"
