"""Read and write the protected regions: guidance for the target, and the appendix of notes.

No edit and no rewrite reaches into them; `write_region` alone does, for the program.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from skillpipe.records import Edit, EditOutcome
from skillpipe.skill.blocks import closing_fence, parse_to_end
from skillpipe.skill.content import close_fence, stays_open
from skillpipe.skill.exact import applied, refused, too_large, unusable
from skillpipe.skill.folder import newly_broken
from skillpipe.skill.lines import body_of, dominant_end, end_of, is_blank, split_lines, strip_blank_edges
from skillpipe.skill.parts import BOM, REGION_MARKERS, Region, frontmatter_length, regions, split, without_markers

Name = Literal["slow_update", "appendix"]
_MARKERS: dict[Name, tuple[str, str]] = {"slow_update": REGION_MARKERS[0], "appendix": REGION_MARKERS[1]}


def read_region(text: str, name: Name) -> str:
    """What the region says: LF line ends, no marker, no blank line at either end. Empty if there is no such region.

    Of several of the pair the first is read; one that never closes reaches to the end.
    """
    region = _region(text, name)
    return "" if region is None else _plain(without_markers(region.text))


def protected_text(text: str) -> str:
    """What both regions say, a blank line between them; empty if they say nothing."""
    return "\n\n".join(filter(None, (read_region(text, name) for name in _MARKERS)))


def write_region(
    text: str, name: Name, content: str, *, max_tokens: int | None = None, max_lines: int | None = None
) -> tuple[str, EditOutcome]:
    """The SKILL.md `text` with `content` as all that the region says, and the outcome of that.

    A region that is needed for the first time is made after the last line of the body that says something, after one
    blank line; slow_update stands before the appendix. Empty content leaves an empty region where there is one.

    Everything outside the region keeps its bytes (a last line without a line end gains one; a code fence that is open
    where the region is made is closed). The outcome's edit names the region: `append` puts text in where there was
    none, `replace` has what stood there as its target, `delete` empties. Or it is refused and the text stays as it is:

        empty: no content, and nothing to empty;
        duplicate: the region says this already;
        protected: the region never closes, or overlaps with another;
        invalid: the content holds a marker, opens an HTML comment or block that it does not close, or can stand in no
        document; the document ends inside such a block; the result is larger than the limits and than before.
    """
    said, wanted = read_region(text, name), _plain(content)
    edit = Edit("append" if not said else "replace" if wanted else "delete", wanted, said, region=name)
    if wanted == said:
        unchanged = refused(edit, "duplicate", "the region says this already")
        return text, unchanged if said else refused(edit, "empty", "there is nothing to write")
    lines = list(close_fence(wanted.split("\n"))[0]) if wanted else []
    if problem := _problem(wanted, lines):
        return text, refused(edit, "invalid", problem)
    region = _region(text, name)
    if region and not region.text.endswith(_MARKERS[name][1]):
        return text, refused(edit, "protected", "the region never closes")
    after = _filled(text, name, region, lines) if region else _made(text, name, lines)
    if after is None:
        return text, refused(edit, "invalid", "the document ends inside an HTML comment or block that never closes")
    if not _sound(text, after, name, lines):
        return text, refused(edit, "protected", "the region overlaps with another")
    broken = too_large(text, after, max_tokens, max_lines) or newly_broken(text, after, None)
    return (text, refused(edit, "invalid", broken)) if broken else (after, applied(edit, text, after))


def _problem(content: str, lines: Sequence[str]) -> str:
    if without_markers(content) != content:
        return "the content holds a marker of a protected region"
    if problem := unusable(content):
        return f"the content cannot be used: {problem}"
    return "the content opens an HTML comment or block that it does not close" if stays_open(lines) else ""


def _sound(before: str, after: str, name: Name, lines: Sequence[str]) -> bool:
    """Whether the region says what it should now, and all other regions and the frontmatter stay as they were."""

    def others(text: str) -> list[str]:
        mine = _region(text, name)
        return [region.text for region in _regions(text) if region != mine]

    heads = (body_of(split(before).frontmatter), body_of(split(after).frontmatter))
    return others(before) == others(after) and heads[0] == heads[1] and read_region(after, name) == "\n".join(lines)


def _filled(text: str, name: Name, region: Region, lines: Sequence[str]) -> str:
    """The document with these lines between the markers of the region, which closes."""
    start, end = _MARKERS[name]
    whole = split_lines(text.removeprefix(BOM))
    line, column = region.start
    eol = end_of(whole[line]) or dominant_end(whole)
    at = len(text) - len("".join(whole)) + len("".join(whole[:line])) + column
    said = "".join(each + eol for each in lines)
    return text[: at + len(start)] + eol + said + text[at + len(region.text) - len(end) :]


def _made(text: str, name: Name, lines: Sequence[str]) -> str | None:
    """The document with a new region that holds these lines; None where nothing can be added to it."""
    start, end = _MARKERS[name]
    whole = split_lines(text.removeprefix(BOM))
    body = frontmatter_length(whole)
    at = len(whole)
    while at > body and is_blank(whole[at - 1]):
        at -= 1
    appendix = _region(text, "appendix")
    if appendix and name == "slow_update" and is_blank(whole[appendix.start[0]][: appendix.start[1]]):
        at = appendix.start[0]
    nodes, is_open = parse_to_end(whole[body:at], body)
    closer = closing_fence(whole[nodes[-1].start]) if is_open and nodes and not nodes[-1].chain else ""
    if is_open and not closer:
        return None
    eol = (end_of(whole[at - 1]) if at else "") or dominant_end(whole)
    head, tail = "".join(whole[:at]), "".join(whole[at:])
    if head and not end_of(whole[at - 1]):
        head += eol
    before = [closer] if closer else []
    before += [""] if closer or (at and not is_blank(whole[at - 1])) else []
    after = [""] if tail and not is_blank(whole[at]) else []
    bom = text[: len(text) - len("".join(whole))]
    return bom + head + "".join(line + eol for line in (*before, start, *lines, end, *after)) + tail


def _region(text: str, name: Name) -> Region | None:
    start = _MARKERS[name][0]
    return next((region for region in _regions(text) if region.text.startswith(start)), None)


def _regions(text: str) -> list[Region]:
    lines = split_lines(text.removeprefix(BOM))
    return regions(lines, frontmatter_length(lines))


def _plain(content: str) -> str:
    return "\n".join(strip_blank_edges([body_of(line) for line in split_lines(content)]))
