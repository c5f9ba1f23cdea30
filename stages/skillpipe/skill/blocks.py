"""What the Markdown parser says about blocks: which lines belong together, and inside what.

markdown-it-py (CommonMark with GFM tables) is asked for block structure only; inline content is never parsed.
Lists are left out of the result and their items kept: an edit may well join or split a list, but must not
move an item, a quote or a block of text into another.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

from skillpipe.skill.lines import body_of, is_blank

# Depth beyond which the parser ignores nesting. Its own default of 20 would leave the inner half of a list of
# eleven levels without structure; a Python frame or two per level keeps 100 far from the recursion limit.
_MAX_NESTING = 100
_PARSER = MarkdownIt("commonmark", {"maxNesting": _MAX_NESTING}).enable("table")
_PARSER.core.ruler.enableOnly(["normalize", "block"])

# Parsed after the last line to see whether the document is still open there: a word that is no paragraph of
# its own has been swallowed by a fence or an HTML block that never closes.
_SENTINEL = ["", "sentinel"]

CONTAINERS = frozenset({"item", "quote"})
SOLID = frozenset({"fence", "code", "html", "table"})
"""Leaves whose lines mean something together only: they are never split."""

_LEAVES = {
    "paragraph_open": "paragraph",
    "fence": "fence",
    "code_block": "code",
    "html_block": "html",
    "hr": "rule",
    "table_open": "table",
}
_MARKER = re.compile(r"[ \t]*(?:([-+*])|\d{1,9}([.)]))(?=[ \t]|$)")


class Node(NamedTuple):
    """A leaf (paragraph, heading1 to heading6, fence, code, html, table, rule) or container (item, quote).

    `start` and `end` are line numbers, `end` exclusive and past the block's last non-blank line. `chain` are
    the containers around it, outermost first, each as (kind, start).
    """

    kind: str
    start: int
    end: int
    chain: tuple[tuple[str, int], ...]

    @property
    def is_leaf(self) -> bool:
        """Whether the block holds text and no other block."""
        return self.kind not in CONTAINERS

    def moved(self, by: int) -> Node:
        """Return the same block `by` lines further down."""
        if not by:
            return self
        chain = tuple((kind, start + by) for kind, start in self.chain)
        return Node(self.kind, self.start + by, self.end + by, chain)


def parse(lines: Sequence[str], offset: int = 0) -> list[Node]:
    """Return the blocks of `lines` in document order, a container before what it holds.

    `offset` is added to all line numbers. Link reference definitions are no blocks: no node covers their
    lines.
    """
    tokens = _PARSER.parse("\n".join(body_of(line) for line in lines) + "\n", {})
    return _nodes(tokens, lines, offset)


def parse_to_end(lines: Sequence[str], offset: int = 0) -> tuple[list[Node], bool]:
    """Return the blocks of `lines`, and whether what follows them would still be inside the last one.

    That is so for a code fence, an HTML comment and the like that nothing closes.
    """
    nodes = parse([*lines, *_SENTINEL], offset)
    tail = nodes[-1] if nodes else None
    if tail == Node("paragraph", offset + len(lines) + 1, offset + len(lines) + 2, ()):
        return nodes[:-1], False
    return parse(lines, offset), True


def marker_of(line: str) -> str:
    """Return the bullet (`-`, `+`, `*`) or delimiter (`.`, `)`) that makes `line` a list item, or nothing."""
    match = _MARKER.match(body_of(line))
    return (match[1] or match[2]) if match else ""


def closing_fence(opener: str) -> str:
    """Return the line that closes the code fence which `opener` opens; nothing for other lines."""
    match = re.match(r" {0,3}(`{3,}|~{3,})", opener)
    return match[0] if match else ""


def _nodes(tokens: Sequence[Token], lines: Sequence[str], offset: int) -> list[Node]:
    nodes: list[Node] = []
    chain: list[tuple[str, int]] = []
    in_table = False
    for token in tokens:
        kind = token.type
        if kind in ("list_item_close", "blockquote_close"):
            chain.pop()
        elif kind == "table_close":
            in_table = False
        if in_table or token.map is None:
            continue
        start, end = token.map[0], token.map[1]
        while end > start + 1 and (end > len(lines) or is_blank(lines[end - 1])):
            end -= 1
        leaf = "heading" + token.tag[1:] if kind == "heading_open" else _LEAVES.get(kind, "")
        container = {"list_item_open": "item", "blockquote_open": "quote"}.get(kind, "")
        if leaf or container:
            nodes.append(Node(leaf or container, start + offset, end + offset, tuple(chain)))
        if container:
            chain.append((container, start + offset))
        in_table = in_table or leaf == "table"
    return nodes
