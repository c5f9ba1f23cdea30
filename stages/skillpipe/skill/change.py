"""Ways to replace or delete what stands at a place, best first, for `Document.check` to choose from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from skillpipe.skill.anchors import Place
from skillpipe.skill.blocks import SOLID, marker_of
from skillpipe.skill.content import Content, close_fence, indented
from skillpipe.skill.document import Document, Splice
from skillpipe.skill.lines import body_of, end_of, indent_of, is_blank, split_lines

# What a line may begin with that says nothing by itself: quote signs and list markers, then a check box or
# hashes.
_CONTAINERS = re.compile(r"[ \t]*(?:>[ \t]*|(?:[-+*]|\d{1,9}[.)])[ \t]+)*")
_LEAD = re.compile(_CONTAINERS.pattern + r"(?:\[[ xX]\][ \t]+|#{1,6}[ \t]+)?")
_ITEM_HEAD = re.compile(r"[ \t]*(?:[-+*]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_HEADING_HEAD = re.compile(r" {0,3}#{1,6}[ \t]+")
_GAPS = ((False, False), (False, True), (True, False), (True, True))


def replacements(doc: Document, place: Place, content: Content) -> Iterator[Splice]:
    """Yield ways to put `content` in the stead of what stands at `place`.

    Whole lines become the content's lines, with the indent that the content has, else with that of the first
    line replaced; blank lines are put around it only if its neighbours need them. Part of a line becomes the
    content as it is; further lines of it are led into the same list item or quote, unless they are list
    items.
    """
    head = doc.lines[place.first][: place.start]
    tail = body_of(doc.lines[place.last])[place.end :]
    if doc.outline and not place.whole and _brings_own_marker(head, tail, content):
        head = indent_of(head)
        place = Place(place.first, len(head), place.last, place.end, True)
    if not place.whole or doc.outline is None:
        yield from _inline(doc, place, head, tail, content)
        return
    forms = [content.raw if not head else indented(content.flush, head)]
    forms.append(indented(content.flush, _quoted_indent(doc.lines[place.first])))
    shapes = [(form, "") for form in dict.fromkeys(forms)]
    shapes += [closed for form, _ in shapes if (closed := close_fence(form))[1]]
    for lines, note in shapes:
        for before, after in _GAPS:
            if (before and _blank_at(doc, place.first - 1)) or (after and _blank_at(doc, place.last + 1)):
                continue
            yield _lines(doc, place, lines, before, after, note)


def deletions(doc: Document, place: Place) -> Iterator[Splice]:
    """Yield ways to take out what stands at `place`.

    Whole lines go with their line ends. If that leaves blank lines on both sides, the shorter run of them
    goes too; if it joins two lines that must stay apart, a blank line stays. Of an item or heading whose
    whole text is deleted no empty marker stays. Part of a line goes as it is.
    """
    head = doc.lines[place.first][: place.start]
    tail = body_of(doc.lines[place.last])[place.end :]
    whole = place.whole
    if doc.outline and not whole:
        whole = _LEAD.fullmatch(head) is not None and is_blank(tail)
    if whole:
        start, end = place.first, place.last + 1
        if doc.outline:
            yield Splice(*_with_spare_blanks(doc, start, end), ())
        yield Splice(start, end, ())
        yield Splice(start, end, (doc.line_end(place.last),))
    if not place.whole:
        line = head + tail + end_of(doc.lines[place.last])
        yield Splice(place.first, place.last + 1, (line,) if line else (), 0, int(bool(line)))


def _inline(doc: Document, place: Place, head: str, tail: str, content: Content) -> Iterator[Splice]:
    end = doc.line_end(place.first)
    last_end = end_of(doc.lines[place.last])
    raw = list(content.raw)
    raw[0] = raw[0].lstrip(" \t") if head else raw[0]
    match = _CONTAINERS.match(head) if doc.outline else None
    lead = re.sub(r"[^>\t]", " ", match[0]) if match else ""
    # Further lines belong to the block that the first is in, unless they are list items of their own.
    prefixes = ("", lead) if any(map(marker_of, raw[1:])) else (lead, "")
    for prefix in dict.fromkeys(prefixes):
        lines = [raw[0], *indented(raw[1:], prefix)]
        text = head + end.join(lines) + tail + last_end
        yield Splice(place.first, place.last + 1, tuple(split_lines(text)), 0, len(lines))


def _lines(doc: Document, place: Place, lines: Sequence[str], before: bool, after: bool, note: str) -> Splice:
    end = doc.line_end(place.first)
    new = ([end] if before else []) + [line + end for line in lines] + ([end] if after else [])
    if not after:
        new[-1] = lines[-1] + end_of(doc.lines[place.last])
    return Splice(place.first, place.last + 1, tuple(new), int(before), len(lines), note)


def _brings_own_marker(head: str, tail: str, content: Content) -> bool:
    """Return whether all of an item or heading but its marker is replaced by content that has a marker
    too."""
    if not is_blank(tail):
        return False
    if _ITEM_HEAD.fullmatch(head):
        return bool(content.first_marker)
    return _HEADING_HEAD.fullmatch(head) is not None and content.flush[0].startswith("#")


def _with_spare_blanks(doc: Document, start: int, end: int) -> tuple[int, int]:
    """Return the lines `start` to `end`, with a run of blank lines that would be one too many without
    them."""
    if doc.outline is not None and any(
        node.kind in SOLID and (node.start < start or node.end > end)
        for line in (start, end - 1)
        for node in doc.outline.nodes_at(line)
    ):
        return start, end
    before = start - 1 - doc.last_said(doc.body, start)
    after = doc.blanks_from(end)
    at_top = start - before == doc.body and not doc.body
    at_end = end + after == len(doc.lines)
    if at_top or (before and after and after <= before):
        return start, end + after
    if before and (after or at_end):
        return start - before, end
    return start, end


def _blank_at(doc: Document, line: int) -> bool:
    return not doc.body <= line < len(doc.lines) or is_blank(doc.lines[line])


def _quoted_indent(line: str) -> str:
    """Return the blanks and quote signs that `line` begins with."""
    return line[: len(line) - len(line.lstrip(" \t>"))]
