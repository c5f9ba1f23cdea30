"""A document under edit: its lines, what they fold to, its block structure, and what in it is protected."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from skillpipe.skill.fold import fold_line
from skillpipe.skill.lines import body_of, byte_length, dominant_end, end_of, is_blank, split_lines
from skillpipe.skill.outline import Change, Outline
from skillpipe.skill.parts import BOM, Region, frontmatter_length, opens_frontmatter, regions
from skillpipe.skill.report import Refusal


@dataclass(frozen=True)
class Splice:
    """Lines `start` to `end` of a document become `lines`.

    Of these, `count` from `first` on are the edit's own content; the others are blank lines, a closing fence,
    or lines of the document that stay as they are. `note` tells people about anything done beyond what was
    asked.
    """

    start: int
    end: int
    lines: tuple[str, ...]
    first: int = 0
    count: int = 0
    note: str = ""


class Document:
    """A text that splices change in place, with everything derived from it kept up to date.

    `lines` are those after the byte order mark, with their line ends; the body begins at line `body`. With
    `markdown` false the text is any file: no frontmatter, no block structure (`outline` is None).
    """

    def __init__(self, text: str, *, markdown: bool = True) -> None:
        self._bom = BOM if text.startswith(BOM) else ""
        self.lines = split_lines(text[len(self._bom) :])
        self.folded = [fold_line(line) for line in self.lines]
        self.body = frontmatter_length(self.lines) if markdown else 0
        self.outline = Outline(self.lines, self.body) if markdown else None
        self.regions: list[Region] = regions(self.lines, self.body)
        self.size = byte_length(text)

    @property
    def text(self) -> str:
        """The whole document."""
        return self._bom + "".join(self.lines)

    @property
    def head(self) -> str:
        """What the rules of the format are about: all before the body, or the line that takes its place."""
        return self._bom + "".join(self.lines[: max(self.body, 1)])

    def line_end(self, line: int) -> str:
        """Return the line end for text that follows `line`: that line's own, else the document's
        commonest."""
        own = end_of(self.lines[line]) if 0 <= line < len(self.lines) else ""
        return own or dominant_end(self.lines)

    def last_said(self, first: int, end: int) -> int:
        """Return the last non-blank line among lines `first` to `end`, `first - 1` when there is none."""
        while end > first and is_blank(self.lines[end - 1]):
            end -= 1
        return end - 1

    def blanks_from(self, line: int) -> int:
        """Return how many blank lines stand at and after `line`."""
        end = line
        while end < len(self.lines) and is_blank(self.lines[end]):
            end += 1
        return end - line

    def says(self, content: Sequence[str]) -> int | None:
        """Return the line of the body at which `content` stands already, by whole lines, None if it does not.

        Compared as anchors are: folded. All of it may be indented or quoted by the same prefix, as it is
        after an insert into a nested list.
        """
        wanted = [fold_line(line) for line in content]
        text = "\n".join(self.folded[self.body :])
        line, seen = self.body, 0
        at = text.find(wanted[0])
        while at != -1:
            line += text.count("\n", seen, at)
            seen = at
            prefix = text[text.rfind("\n", 0, at) + 1 : at]
            if not prefix.strip(" >") and self._repeats(wanted, line, prefix):
                return line
            at = text.find(wanted[0], at + 1)
        return None

    def _repeats(self, wanted: Sequence[str], line: int, prefix: str) -> bool:
        found = self.folded[line : line + len(wanted)]
        return len(found) == len(wanted) and all(
            there == (prefix + here if here else prefix.rstrip()) or (not here and not there)
            for here, there in zip(wanted, found, strict=True)
        )

    def check(self, splice: Splice) -> Change | Refusal | None:
        """Return what `commit` needs, or why `splice` would damage the document.

        None stands for a sound change of a document without block structure.
        """
        after = self._after(splice)
        if [region.text for region in self.regions] != [region.text for region in regions(after, self.body)]:
            return Refusal("protected", "would reach into a protected region, or move its bounds")
        if not self._bom and "".join(after[:1]).startswith(BOM):
            return Refusal("invalid", "would make the document begin with a byte order mark")
        if self.outline is None:
            return None
        opens_newly = opens_frontmatter(after) and not opens_frontmatter(self.lines)
        if opens_newly or frontmatter_length(after) != self.body:
            return Refusal("invalid", "would make the document begin with frontmatter, or move its end")
        found = self.outline.check(self.lines, splice.start, splice.end, splice.lines)
        return Refusal("invalid", found) if isinstance(found, str) else found

    def commit(self, splice: Splice, change: Change | None) -> None:
        """Apply `splice`, which `check` has found to be sound."""
        self.size += self.growth(splice)
        folded = [fold_line(line) for line in splice.lines]
        self.folded[splice.start : splice.end] = folded
        self.lines = self._after(splice)
        if self.outline is not None and change is not None:
            self.outline.commit(change)
        self.regions = regions(self.lines, self.body)

    def growth(self, splice: Splice) -> int:
        """Return by how many bytes `splice` makes the document larger."""
        before, after = self.lines[splice.start : splice.end], list(splice.lines)
        if self._joins(splice):
            before, after = [self.lines[splice.start - 1], *before], [self._ended(splice.start - 1), *after]
        return _size(after) - _size(before)

    def _after(self, splice: Splice) -> list[str]:
        head = self.lines[: splice.start]
        if self._joins(splice):
            head[-1] = self._ended(splice.start - 1)
        return [*head, *splice.lines, *self.lines[splice.end :]]

    def _joins(self, splice: Splice) -> bool:
        """Return whether new lines follow a last line that has no line end, which it then needs."""
        start = splice.start
        return bool(splice.lines) and start > 0 and not end_of(self.lines[start - 1])

    def _ended(self, line: int) -> str:
        return body_of(self.lines[line]) + self.line_end(line)


def _size(lines: Iterable[str]) -> int:
    return sum(map(byte_length, lines))
