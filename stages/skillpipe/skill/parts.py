"""The parts of a SKILL.md: byte order mark, frontmatter, body, and the protected regions in the body.

The format is the public Agent Skills specification (agentskills.io/specification): YAML between two lines
`---` that begin the file, then Markdown.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from skillpipe.skill.lines import body_of, is_blank, split_lines

BOM = "\ufeff"
FENCE = "---"

REGION_MARKERS: tuple[tuple[str, str], ...] = (
    ("<!-- SLOW_UPDATE_START -->", "<!-- SLOW_UPDATE_END -->"),
    ("<!-- APPENDIX_START -->", "<!-- APPENDIX_END -->"),
)
"""The two pairs that protect what stands between them; no other comment does."""

_MARKERS = tuple(marker for pair in REGION_MARKERS for marker in pair)
_MARKER = re.compile("|".join(map(re.escape, _MARKERS)))


@dataclass(frozen=True)
class Parts:
    """A document cut in three; `bom + frontmatter + body` is the document again, byte for byte.

    `frontmatter` holds both `---` lines and the line end after the second; it is empty when there is none.
    """

    bom: str
    frontmatter: str
    body: str


@dataclass(frozen=True)
class Region:
    """A protected region: from the first character of its start marker to the last of its end marker.

    `start` and `end` are (line, column), 0-based, lines as `split_lines` counts them, `end` exclusive.
    """

    start: tuple[int, int]
    end: tuple[int, int]
    text: str


def split(text: str) -> Parts:
    """Cut `text` into byte order mark, frontmatter and body.

    The first line must be `---` (trailing blanks allowed) and another such line must follow; a `---` inside a
    value or indented in a block scalar ends nothing. A first `---` that no other follows is no frontmatter
    but a thematic break of the body (`validate` reports it). Never raises.
    """
    bom = BOM if text.startswith(BOM) else ""
    lines = split_lines(text[len(bom) :])
    count = frontmatter_length(lines)
    return Parts(bom, "".join(lines[:count]), "".join(lines[count:]))


def frontmatter_length(lines: Sequence[str]) -> int:
    """Return how many of `lines` (without byte order mark) are frontmatter, both fences counted."""
    if not opens_frontmatter(lines):
        return 0
    return next((index + 1 for index in range(1, len(lines)) if _is_fence(lines[index])), 0)


def opens_frontmatter(lines: Sequence[str]) -> bool:
    """Return whether the first of `lines` opens frontmatter, whether or not it is ever closed."""
    return bool(lines) and _is_fence(lines[0])


def regions(lines: Sequence[str], body: int = 0) -> list[Region]:
    """Return the protected regions of the body `lines[body:]`, in order of their start.

    A region runs from a start marker to the next end marker of its pair; one that never closes runs to the
    end of the document. A start marker inside a region of its own pair opens nothing; regions of different
    pairs may overlap. Markers count wherever they stand, also within a line and in a code fence: whether a
    text is protected must not hang on Markdown around it that an edit could change.
    """
    text = "".join(lines[body:])
    found: list[Region] = []
    if not any(start in text for start, _ in REGION_MARKERS):
        return found
    offsets = [0, *accumulate(map(len, lines[body:]))]

    def place(offset: int) -> tuple[int, int]:
        line = bisect_right(offsets, offset) - 1
        return body + line, offset - offsets[line]

    for start_marker, end_marker in REGION_MARKERS:
        at = text.find(start_marker)
        while at != -1:
            close = text.find(end_marker, at + len(start_marker))
            end = len(text) if close == -1 else close + len(end_marker)
            found.append(Region(place(at), place(end), text[at:end]))
            at = text.find(start_marker, end)
    return sorted(found, key=lambda region: region.start)


def without_markers(line: str) -> str:
    """Return `line` with every region marker taken out, also those that taking one out would put together."""
    if not _MARKER.search(line):
        return line
    kept = ""
    for piece in re.split("(?<=-->)", line):
        kept += piece
        if marker := next((each for each in _MARKERS if kept.endswith(each)), ""):
            kept = kept[: -len(marker)]
    return kept


def drop_markers(lines: Sequence[str]) -> list[str]:
    """Return `lines` without region markers. A line that held nothing else goes, and with it one of the blank
    lines around it when both its neighbours are blank, so that an empty region leaves no trace."""
    kept: list[str] = []
    dropped = False
    for line in lines:
        bare = without_markers(line)
        if bare != line and is_blank(bare):
            dropped = True
            continue
        if dropped and is_blank(line) and (not kept or is_blank(kept[-1])):
            continue
        dropped = dropped and is_blank(line)
        kept.append(bare)
    return kept


def body_for_target(text: str) -> str:
    """Return what a target is shown of the skill `text`: the body, and nothing that only the trainer needs.

    No byte order mark, no frontmatter, no region markers (what stands between them stays), LF line ends, no
    white space at either end. A document with empty regions gives the same body as one without.
    """
    lines = [body_of(line) for line in split_lines(split(text).body)]
    return "\n".join(drop_markers(lines)).strip()


def _is_fence(line: str) -> bool:
    return line.rstrip(" \t\r\n") == FENCE
