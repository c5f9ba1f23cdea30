"""Where new lines go: ways to append or insert, best first, for `Document.check` to choose from.

Content never lands inside a block: not in the middle of a paragraph, code fence, table, HTML block or quote,
and not between a list item and its continuation. It lands after the block that holds the anchor, with the
blank lines that keep both apart, or without when it continues a tight list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from skillpipe.skill.anchors import Scope
from skillpipe.skill.blocks import Node, closing_fence, marker_of
from skillpipe.skill.content import Content, close_fence, indented
from skillpipe.skill.document import Document, Splice
from skillpipe.skill.lines import indent_of, is_blank
from skillpipe.skill.outline import Outline

_QUOTE = re.compile(r"[ \t]*> ?")
_ITEM = re.compile(r"[ \t]*(?:[-+*]|\d{1,9}[.)])[ \t]+")


@dataclass(frozen=True)
class _Slot:
    """A place for content: before line `at`, each line led by `prefix`, with a blank line `before` and `after`."""

    at: int
    prefix: str
    before: bool
    after: bool


def appends(doc: Document, content: Content, scope: Scope | None) -> Iterator[Splice]:
    """Yield ways to put `content` at the end of the body or the section `scope`, before the first region there."""
    first, end = (scope.first, scope.end) if scope else (doc.body, len(doc.lines))
    starts = [region.start[0] for region in doc.regions if first <= region.start[0] < end]
    if starts:
        unit = doc.outline.unit_at(starts[0]) if doc.outline else []
        end = unit[0].start if unit else starts[0]
    last = doc.last_said(first, max(first, end))
    at = last + 1 if last >= first else first
    # An empty body begins right after the frontmatter; without one, content opens the document. Only content
    # that would itself be read as frontmatter there needs the blank line.
    before = last >= first or first > 0
    lines, note = close_fence(content.flush) if doc.outline else (content.raw, "")
    if doc.outline and doc.outline.open_end and last >= first and at > doc.outline.last_start:
        yield from _after_open_end(doc, doc.outline, at, lines, note)
        return
    after = not doc.blanks_from(at) and at < len(doc.lines)
    for blank in dict.fromkeys((before, True)):
        yield _splice(doc, _Slot(at, "", blank, after), lines, note)


def inserts(doc: Document, content: Content, anchor: int) -> Iterator[Splice]:
    """Yield ways to put `content` after the block that holds line `anchor`."""
    if doc.outline is None:
        yield _splice(doc, _Slot(anchor + 1, "", False, False), content.raw, "")
        return
    lines, note = close_fence(content.flush)
    nodes = doc.outline.nodes_at(anchor)
    items = [node for node in nodes if node.kind == "item"]
    if doc.outline.open_end and nodes and nodes[0].start == doc.outline.last_start:
        yield from _after_open_end(doc, doc.outline, nodes[0].end, lines, note)
    if items:
        yield from _after_item(doc, doc.outline, content, items[-1], lines, note)
    end = nodes[0].end if nodes else anchor + 1
    gap = doc.blanks_from(end)
    tight = bool(nodes) and nodes[0].kind.startswith("heading") and not gap and end < len(doc.lines)
    joins = tight and "" != content.last_marker == marker_of(doc.lines[end])
    slots = [
        _Slot(end, "", not tight, not gap and not joins and end < len(doc.lines)),
        _Slot(end, "", True, not gap),
    ]
    for slot in dict.fromkeys(slots):
        yield _splice(doc, slot, lines, note)


def _after_item(
    doc: Document, outline: Outline, content: Content, item: Node, lines: Sequence[str], note: str
) -> Iterator[Splice]:
    """Yield ways to put `lines` after the list item `item`, as its sibling in the same container."""
    prefix = _prefix(doc.lines[item.start], item)
    end = item.end
    while end > item.start + 1 and _is_gap(doc.lines[end - 1], prefix):
        end -= 1
    beyond = end
    while beyond < len(doc.lines) and _is_gap(doc.lines[beyond], prefix):
        beyond += 1
    gap = beyond > end
    marker = _marker(doc, item)
    kin = [peer for peer in outline.peers(item) if _marker(doc, peer) == marker]
    following = any(peer.start == beyond for peer in kin)
    gap_before = item.start > 0 and _is_gap(doc.lines[item.start - 1], prefix)
    loose = gap if following else gap_before and any(_meets(doc, peer, item, prefix) for peer in kin)
    margin = len(content.indent.expandtabs(4)) - len(prefix.expandtabs(4))
    if 2 <= margin <= 5 and ">" not in prefix:
        # Written with more indent than the item: meant to stand inside it.
        slot = _Slot(end, "", loose or not content.first_marker, loose and not gap)
        yield _splice(doc, slot, content.raw, note)
    tight = not loose and content.first_marker == marker
    # The next line may be the next item of this list, or of the list that this one is nested in.
    goes_on = following or (len(item.chain) > 0 and beyond < len(doc.lines) and marker_of(doc.lines[beyond]) != "")
    joins = tight and goes_on and content.last_marker == marker
    at_end = beyond == len(doc.lines)
    for before, after in dict.fromkeys([(not tight, not joins), (not tight, True), (True, not joins), (True, True)]):
        yield _splice(doc, _Slot(end, prefix, before, after and not gap and not at_end), lines, note)


def _meets(doc: Document, before: Node, item: Node, prefix: str) -> bool:
    """Return whether only blank lines part the list item `before` from `item`."""
    between = doc.lines[before.end : item.start]
    return before.start < item.start and all(_is_gap(line, prefix) for line in between)


def _marker(doc: Document, item: Node) -> str:
    line = doc.lines[item.start]
    return marker_of(line[len(_prefix(line, item)) :])


def _after_open_end(doc: Document, outline: Outline, at: int, lines: Sequence[str], note: str) -> Iterator[Splice]:
    """Yield the way to put `lines` after a code fence that the document never closes: close it first."""
    closer = closing_fence(doc.lines[outline.last_start])
    if not closer:
        return
    end = doc.line_end(at - 1)
    # The fence's last line is part of the splice, so that the fence counts as touched and may gain its end.
    kept = doc.lines[at - 1].rstrip("\r\n") + end
    body = tuple(line + end for line in lines)
    closed = f"closed the code fence that line {outline.last_start + 1} opens"
    yield Splice(at - 1, at, (kept, closer + end, end, *body), 3, len(body), "; ".join(filter(None, (closed, note))))


def _splice(doc: Document, slot: _Slot, lines: Sequence[str], note: str) -> Splice:
    end = doc.line_end(slot.at - 1)
    blank = (slot.prefix.rstrip() if ">" in slot.prefix else "") + end
    body = [line + end for line in indented(lines, slot.prefix)] if slot.prefix else [line + end for line in lines]
    new = ([blank] if slot.before else []) + body + ([blank] if slot.after else [])
    return Splice(slot.at, slot.at, tuple(new), int(slot.before), len(body), note)


def _prefix(line: str, item: Node) -> str:
    """Return what stands before the marker of `item` on its first line, with markers of other items blanked out."""
    at, prefix = 0, ""
    for kind, start in item.chain:
        match = _QUOTE.match(line, at) if kind == "quote" else _ITEM.match(line, at) if start == item.start else None
        if match:
            prefix += match[0] if kind == "quote" else re.sub(r"[^\t]", " ", match[0])
            at = match.end()
    return prefix + indent_of(line[at:])


def _is_gap(line: str, prefix: str) -> bool:
    return is_blank(line) or (">" in prefix and not line.strip("> \t\r\n"))
