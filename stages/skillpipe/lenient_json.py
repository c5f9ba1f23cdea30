"""Read one JSON value that a model wrote almost right, without ever changing what its strings say.

Repair libraries guess, and a guess inside a string changes an edit's text: trailing newlines vanish, an
inner quote ends the string. So strings, numbers and constants are taken out first, json-repair sees only the
skeleton around them, and they are put back. Each must come back exactly once: what a repair drops, doubles or
invents is refused.
"""

import json
import math
import re
from typing import Any, Literal, NoReturn

MAX_DEPTH = 64

# What may follow the quote that ends a string: structure, a comment, the end, or a key where a comma was left
# out. Any other quote stands inside the text, unescaped.
_KEY = r"""["'\u2018\u201c][^"'\u201c\u201d\u2018\u2019\n]*["'\u201d\u2019]\s*:"""
_AFTER = rf"(?=\s*(?:[,:}}\]#]|//|/\*|\Z|{_KEY}))"
_TOKEN = re.compile(
    r"(?P<comment>//[^\n]*|/\*.*?\*/|\#[^\n]*)"
    r"|(?P<open>[{\[])|(?P<close>[}\]])"
    rf'|"(?P<plain>(?:[^"\\]|\\.|"(?!{_AFTER}))*)"{_AFTER}'
    rf"|'(?P<single>(?:[^'\\]|\\.|'(?!{_AFTER}))*)'{_AFTER}"
    rf"|\u201c(?P<smart>(?:[^\u201d\"\\]|\\.|[\u201d\"](?!{_AFTER}))*)[\u201d\"]{_AFTER}"
    rf"|\u2018(?P<smart1>(?:[^\u2019\\]|\\.|\u2019(?!{_AFTER}))*)\u2019{_AFTER}"
    r"""|(?P<broken>["'\u201c\u2018])"""
    r"|(?P<bare>[^\s{}\[\]\"'\u201c\u2018,:]+)|(?P<mark>[,:])",
    re.DOTALL,
)
_ESCAPE = re.compile(r"""\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})|\\'|\\|"|[\x00-\x1f]""")
_BARE_KEY = re.compile(r"[A-Za-z_]\w*\s*:")
_CONSTANTS = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}


class BrokenJson(ValueError):
    """No value could be read. `kind` is "truncated" (it never closes), "malformed", or "schema" (a value that
    JSON does not have). `end` is where a reader may go on."""

    def __init__(self, kind: Literal["truncated", "malformed", "schema"], why: str, end: int) -> None:
        super().__init__(why)
        self.kind = kind
        self.end = end


def decode(text: str, start: int) -> tuple[Any, int]:
    """The value that begins at `text[start]` (a brace or a bracket), and the index after it.

    Strict JSON first (raw line breaks in strings allowed), then the skeleton repair. Linear in the length.
    Raises BrokenJson, nothing else.
    """
    try:
        value, end = _STRICT.raw_decode(text, start)
    except BrokenJson as error:
        raise BrokenJson(error.kind, str(error), _skeleton(text, start)[2]) from None
    except (ValueError, RecursionError):
        skeleton, leaves, end = _skeleton(text, start)
        value = _repaired(skeleton, leaves, end)
    _check_plain(value, end)
    return value, end


def _check_plain(value: Any, end: int) -> None:
    """Refuse what cannot be written to a UTF-8 document or as JSON: depth, infinities, NUL, surrogates."""
    todo = [(value, 1)]
    while todo:
        item, depth = todo.pop()
        if depth > MAX_DEPTH:
            raise BrokenJson("malformed", f"nested deeper than {MAX_DEPTH}", end)
        if isinstance(item, dict):
            todo += [(part, depth + 1) for pair in item.items() for part in pair]
        elif isinstance(item, list):
            todo += [(part, depth + 1) for part in item]
        elif isinstance(item, str) and re.search("[\x00\ud800-\udfff]", item):
            raise BrokenJson("schema", "a string holds a NUL or half a surrogate pair", end)
        elif isinstance(item, float) and not math.isfinite(item):
            raise BrokenJson("schema", f"{item} is not a JSON number", end)


def _refuse_constant(name: str) -> NoReturn:
    raise BrokenJson("schema", f"{name} is not a JSON number", 0)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A dict; a key given twice is refused, because keeping one value would drop the other silently."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise BrokenJson("schema", f"the key {key!r} stands twice in one object", 0)
        found[key] = value
    return found


_STRICT = json.JSONDecoder(strict=False, object_pairs_hook=_unique, parse_constant=_refuse_constant)


def _skeleton(text: str, start: int) -> tuple[str, list[Any], int]:
    """The value's structure with `"0"`, `"1"`, ... for its leaves and keys, these, and the index after it."""
    parts: list[str] = []
    leaves: list[Any] = []
    stack: list[str] = []
    for token in _TOKEN.finditer(text, start):
        kind, found = str(token.lastgroup), token.group()
        if kind == "open":
            stack.append("}" if found == "{" else "]")
            if len(stack) > MAX_DEPTH:
                raise BrokenJson("malformed", f"nested deeper than {MAX_DEPTH}", len(text))
        elif kind == "close" and found != stack.pop():
            raise BrokenJson("malformed", f"{found} at character {token.start()} closes nothing", token.end())
        elif kind == "broken":
            break
        elif kind not in ("close", "mark", "comment"):
            found = f'"{len(leaves)}"'
            leaves.append(_bare(text, token) if kind == "bare" else _unescaped(token.group(kind)))
        if kind != "comment":
            parts.append(found)
        if not stack:
            return " ".join(parts), leaves, token.end()
    why = f"the JSON that begins at character {start} never closes (cut, or a quote is not escaped)"
    raise BrokenJson("truncated", why, len(text))


def _bare(text: str, token: re.Match[str]) -> Any:
    """The value of a bare word: a key, a number or a constant of JSON or Python. Any other is refused."""
    word = token.group()
    if _BARE_KEY.match(text, token.start()):
        return word
    if word in _CONSTANTS:
        return _CONSTANTS[word]
    if word.lstrip("+-") in ("NaN", "Infinity"):
        raise BrokenJson("schema", f"{word} is not a JSON number", token.end())
    try:
        return json.loads(word)
    except (ValueError, RecursionError):
        why = f"{word[:40]!r} at character {token.start()} is not quoted"
        raise BrokenJson("malformed", why, token.end()) from None


def _unescaped(body: str) -> str:
    """The text of a string's body: JSON's escapes keep their meaning, any other backslash is itself."""

    def valid(escape: re.Match[str]) -> str:
        found = escape.group()
        if found == "\\'":
            return "'"
        return found if len(found) > 1 else json.dumps(found)[1:-1]

    return str(json.loads(f'"{_ESCAPE.sub(valid, body)}"'))


def _repaired(skeleton: str, leaves: list[Any], end: int) -> Any:
    """The skeleton's value, leaves put back; refused unless each leaf and container is there exactly once."""
    import json_repair  # JSON as it should be does not pay for the import

    used: list[int] = []
    containers = 0

    def leaf(label: Any) -> Any:
        used.append(int(label))
        return leaves[used[-1]]

    def filled(part: Any) -> Any:
        nonlocal containers
        containers += isinstance(part, dict | list)
        if isinstance(part, dict):
            return _unique([(str(leaf(key)), filled(item)) for key, item in part.items()])
        return [filled(item) for item in part] if isinstance(part, list) else leaf(part)

    try:
        value = filled(json_repair.loads(skeleton, skip_json_loads=True))
    except BrokenJson as error:
        raise BrokenJson(error.kind, str(error), end) from None
    except (ValueError, TypeError, IndexError, RecursionError):
        value = None  # the repair invented a part: its label is not a leaf's number
    if sorted(used) != list(range(len(leaves))) or containers != len(re.findall(r"[{\[]", skeleton)):
        raise BrokenJson("malformed", "it is not JSON, and a repair would lose a part of it", end)
    return value
