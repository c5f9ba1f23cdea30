"""The content of an edit, made ready to stand in a document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skillpipe.skill.blocks import closing_fence, marker_of, parse, parse_to_end
from skillpipe.skill.lines import body_of, dedent, indent_of, is_blank, split_lines, strip_blank_edges
from skillpipe.skill.parts import drop_markers

CLOSED = "the content left a code fence open; it was closed"


@dataclass(frozen=True)
class Content:
    """The lines of an edit's content without line ends, region markers, and blank lines at either end.

    `raw` keeps the indent that the edit has; `flush` has the indent that all lines share taken off. Both are
    empty when the content says nothing.
    """

    raw: tuple[str, ...]
    flush: tuple[str, ...]

    @property
    def indent(self) -> str:
        """The blanks before the first line as the edit has it."""
        return indent_of(self.raw[0])

    @property
    def first_marker(self) -> str:
        """The list marker that the content begins with, or nothing."""
        return marker_of(self.flush[0])

    @property
    def last_marker(self) -> str:
        """The list marker of the content's last block, or nothing if that is no list item."""
        units = [node for node in parse(self.flush) if not node.chain]
        return marker_of(self.flush[units[-1].start]) if units and units[-1].kind == "item" else ""


def read_content(content: str) -> Content:
    """Return `content` as lines. Trailing blanks of its last line go too: nothing follows that they could
    break.
    """
    lines = strip_blank_edges(drop_markers([body_of(line) for line in split_lines(content)]))
    if lines:
        lines[-1] = lines[-1].rstrip()
    return Content(tuple(lines), tuple(dedent(lines)))


def close_fence(lines: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """Return `lines` with a code fence that they leave open closed, and a note if there was one.

    Only a fence at top level: one inside a list item or quote ends with that.
    """
    nodes, is_open = parse_to_end(lines)
    if not is_open or not nodes or nodes[-1].kind != "fence" or nodes[-1].chain:
        return tuple(lines), ""
    return (*lines, closing_fence(lines[nodes[-1].start])), CLOSED


def stays_open(lines: Sequence[str]) -> bool:
    """Return whether text that follows `lines` would be swallowed by a code fence or HTML block that they
    open."""
    return parse_to_end(lines)[1]


def indented(lines: Sequence[str], prefix: str) -> tuple[str, ...]:
    """Return `lines` with `prefix` before each; of a blank line's prefix only what a block quote needs is
    kept.
    """
    bare = prefix.rstrip() if ">" in prefix else ""
    return tuple(bare if is_blank(line) else prefix + line for line in lines)
