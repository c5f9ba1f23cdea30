"""The block structure of a document under edit, kept right by parsing only around each edit.

A *unit* is a block at top level: a leaf, a block quote, or one item of a top-level list. Nothing is open
where a unit begins, so parsing from there gives what parsing the whole document gives from there on. Where a
unit begins hangs on its first two lines alone (the second, because a table is known by its delimiter row).
From these two
facts:

- an edit cannot move the start of the unit two before the one it touches, so parsing may begin there;
- when the unit after the edit still begins where it did, all that follows is as it was, so parsing may stop
there.

Hence an edit costs the same in a long document as in a short one, unless a single unit is long. The property
tests hold every state of an outline against a parse of the whole document.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from skillpipe.skill.blocks import Node, parse, parse_to_end
from skillpipe.skill.span import Span


@dataclass(frozen=True)
class Heading:
    """A top-level heading: its first line, and its level from 1 to 6."""

    line: int
    level: int


@dataclass(frozen=True)
class Unit:
    """The blocks of one unit as they were parsed, when it began at line `nodes[0].start`."""

    nodes: tuple[Node, ...]

    @property
    def head(self) -> Node:
        """The unit itself."""
        return self.nodes[0]


@dataclass(frozen=True)
class Change:
    """What `Outline.check` found out about an edit that it allows, to be handed to `Outline.commit`."""

    first: int
    last: int
    units: list[Unit]
    delta: int
    open_end: bool


class Outline:
    """The units of `lines[body:]`. Line numbers are indices into `lines`, which the owner changes before
    `commit`."""

    def __init__(self, lines: Sequence[str], body: int) -> None:
        nodes, self.open_end = parse_to_end(lines[body:], body)
        self._body = body
        self._units = _units(nodes)
        # Where the units begin now; `Unit` says where they began when they were parsed.
        self._starts = [unit.head.start for unit in self._units]

    @property
    def starts(self) -> list[int]:
        """The first lines of all units, in order."""
        return list(self._starts)

    @property
    def last_start(self) -> int:
        """The first line of the last unit, -1 when there is none."""
        return self._starts[-1] if self._starts else -1

    def headings(self) -> list[Heading]:
        """Return the top-level headings in order."""
        return [
            Heading(start, int(unit.head.kind[-1]))
            for start, unit in zip(self._starts, self._units, strict=True)
            if unit.head.kind.startswith("heading")
        ]

    def unit_at(self, line: int) -> list[Node]:
        """Return the blocks of the unit that covers `line`; none for a blank line or a link definition."""
        at = bisect_right(self._starts, line) - 1
        nodes = self._nodes(at, at + 1) if at >= 0 else []
        return nodes if nodes and line < nodes[0].end else []

    def nodes_at(self, line: int) -> list[Node]:
        """Return the blocks that cover `line`, outermost first."""
        return [node for node in self.unit_at(line) if node.start <= line < node.end]

    def peers(self, item: Node) -> list[Node]:
        """Return the list items beside `item` in the same container, itself among them, in order.

        At top level only its direct neighbours.
        """
        if item.chain:
            nodes = self.unit_at(item.start)
        else:
            at = bisect_left(self._starts, item.start)
            nodes = self._nodes(max(0, at - 1), at + 2)
        return [node for node in nodes if node.kind == "item" and node.chain == item.chain]

    def check(self, lines: Sequence[str], start: int, end: int, new: Sequence[str]) -> Change | str:
        """Return what `commit` needs if `lines[start:end]` may become `new`, else why not, in words.

        It may when every block outside the touched ones stays of the same kind, on the same lines, inside the
        same items and quotes; when what remains of a touched block remains of its kind, in one piece if it is
        solid; and when the document does not newly end inside an open fence or HTML block.
        """
        touched = bisect_right(self._starts, start) - 1
        first = max(0, touched - 2)
        last = min(len(self._starts), bisect_left(self._starts, end) + 2)
        low = self._starts[first] if first else self._body
        to_end = last == len(self._starts)
        high = len(lines) if to_end else self._starts[last]
        window = [*lines[low:start], *new, *lines[end:high]]
        open_end = self.open_end
        if to_end:
            found, open_end = parse_to_end(window, low)
        else:
            found = parse(window, low)
        problem = Span(start, end, start + len(new)).compare(lines, self._nodes(first, last), found)
        if not problem and open_end and not self.open_end:
            problem = "would leave a code fence or HTML block open to the end of the document"
        return problem or Change(first, last, _units(found), len(new) - (end - start), open_end)

    def commit(self, change: Change) -> None:
        """Make the outline that of the document after the edit that `change` was returned for."""
        first, last = change.first, change.last
        self._starts[first:] = [
            *(unit.head.start for unit in change.units),
            *(start + change.delta for start in self._starts[last:]),
        ]
        self._units[first:last] = change.units
        self.open_end = change.open_end

    def _nodes(self, first: int, last: int) -> list[Node]:
        """Return the blocks of the units `first` to `last` where they stand now."""
        units = zip(self._starts[first:last], self._units[first:last], strict=True)
        return [node.moved(start - unit.head.start) for start, unit in units for node in unit.nodes]


def _units(nodes: Sequence[Node]) -> list[Unit]:
    bounds = [at for at, node in enumerate(nodes) if not node.chain]
    return [Unit(tuple(nodes[at:end])) for at, end in pairwise([*bounds, len(nodes)])]
