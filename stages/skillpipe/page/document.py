"""The best skill: as a page to read, and as lines with their origin. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from markdown_it import MarkdownIt
from markupsafe import Markup

from skillpipe.page.view import LineOrigin
from skillpipe.records import LineageRow
from skillpipe.skill import body_for_target
from skillpipe.skill.lines import body_of, split_lines

_DEEPER = 2  # a skill's first heading stands below the section's


@dataclass(frozen=True)
class Block:
    """Lines in a row that have one origin; `first` is the first one's number, 1-based. No rows: the initial skill."""

    first: int
    lines: tuple[str, ...]
    rows: tuple[LineageRow, ...]

    @property
    def last(self) -> int:
        return self.first + len(self.lines) - 1


def rendered(data: bytes) -> Markup:
    """What the target is given of a SKILL.md, as HTML.

    HTML in it stays text; an image would be a request, and stays text too. Links keep the schemes that markdown-it lets
    pass, which javascript: is not among.
    """
    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    tokens = parser.parse(body_for_target(data.decode("utf-8", "replace")))
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1:]) + _DEEPER)}"
        for child in token.children or []:
            if child.type == "link_open":
                child.attrSet("rel", "noreferrer noopener")
    return Markup(parser.renderer.render(tokens, parser.options, {}))  # noqa: S704 - made by markdown-it, html off


def blocks(origins: Sequence[LineOrigin]) -> list[Block]:
    """The lines in blocks of one origin, in order."""
    found, number = [], 1
    for rows, group in groupby(origins, key=lambda origin: origin.rows):
        lines = tuple(body_of(origin.line) for origin in group)
        found.append(Block(number, lines, rows))
        number += len(lines)
    return found


def tell(data: bytes, origins: Sequence[LineOrigin]) -> bool:
    """Whether the origins are those of this file: their lines are its lines."""
    lines = split_lines(data.decode("utf-8", "replace"))
    return bool(origins) and [body_of(origin.line) for origin in origins] == [body_of(line) for line in lines]
