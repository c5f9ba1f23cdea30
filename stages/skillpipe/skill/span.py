"""Do the blocks of a document survive an edit?"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from skillpipe.skill.blocks import SOLID, Node
from skillpipe.skill.lines import body_of, is_blank

_Key = tuple[str, int, int, tuple[tuple[str, int], ...]]
_TOUCHED = -1


@dataclass(frozen=True)
class Span:
    """Lines `start` to `end` of the old document become lines `start` to `new_end` of the new one."""

    start: int
    end: int
    new_end: int

    def compare(self, lines: Sequence[str], old: Sequence[Node], new: Sequence[Node]) -> str:
        """Return what is wrong with the blocks `new` that came of the blocks `old`, or nothing."""
        keys = {self._new_key(node) for node in new}
        kept: set[_Key] = set()
        torn: list[Node] = []
        for node in old:
            if self._touches(node):
                torn.append(node)
                continue
            key = self._old_key(node)
            if key not in keys:
                return f"would change how line {node.start + 1} reads: {_excerpt(lines[node.start])}"
            kept.add(key)
        leaves = [node for node in torn if node.is_leaf]
        low = min([self.start, *(node.start for node in leaves)])
        high = max([self.new_end, *(self._moved(node.end) for node in leaves if node.end > self.end)])
        for node in new:
            inside = low <= node.start and (node.end if node.is_leaf else node.start + 1) <= high
            if not inside and self._new_key(node) not in kept:
                return "would draw lines around it into another block"
        return next((problem for leaf in leaves if (problem := self._remains(lines, leaf, new))), "")

    def _remains(self, lines: Sequence[str], leaf: Node, new: Sequence[Node]) -> str:
        """Return what is wrong with the lines of the touched `leaf` that the edit leaves, or nothing."""
        homes: set[Node] = set()
        leaves = [node for node in new if node.is_leaf]
        starts = [node.start for node in leaves]
        for line in range(leaf.start, leaf.end):
            if self.start <= line < self.end or is_blank(lines[line]):
                continue
            at = self._moved(line)
            index = bisect_right(starts, at) - 1
            home = leaves[index] if index >= 0 and at < leaves[index].end else None
            if home is None or home.kind != leaf.kind or self._new_key(home)[3] != self._old_key(leaf)[3]:
                return f"would leave line {line + 1} out of its block: {_excerpt(lines[line])}"
            homes.add(home)
        if leaf.kind in SOLID and len(homes) > 1:
            return f"would cut the {leaf.kind} block at line {leaf.start + 1} in two"
        return ""

    def _touches(self, node: Node) -> bool:
        if not node.is_leaf:
            return self.start <= node.start < self.end
        if self.start == self.end:
            return node.start < self.start < node.end
        return node.start < self.end and node.end > self.start

    def _moved(self, line: int) -> int:
        return line if line < self.start else line + self.new_end - self.end

    def _old_key(self, node: Node) -> _Key:
        chain = tuple((kind, _TOUCHED if self.start <= at < self.end else self._moved(at)) for kind, at in node.chain)
        end = self._moved(node.end - 1) + 1 if node.is_leaf else 0
        return node.kind, self._moved(node.start), end, chain

    def _new_key(self, node: Node) -> _Key:
        chain = tuple((kind, _TOUCHED if self.start <= at < self.new_end else at) for kind, at in node.chain)
        return node.kind, node.start, node.end if node.is_leaf else 0, chain


def _excerpt(line: str) -> str:
    text = body_of(line).strip()
    return repr(text if len(text) <= 60 else text[:57] + "...")
