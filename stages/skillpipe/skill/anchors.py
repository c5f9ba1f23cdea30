"""Find the one place that a target names, or say why there is none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz, process

from skillpipe.skill.fold import fold, fold_line, is_word_edge, original_span
from skillpipe.skill.outline import Heading
from skillpipe.skill.parts import Region
from skillpipe.skill.report import Refusal

_MAX_QUERY = 400
_MIN_LIKENESS = 50.0


@dataclass(frozen=True)
class Place:
    """Where a target stands: from column `start` of line `first` to column `end` of line `last` (inclusive
    line).

    `whole` says that nothing but blanks stands before and after it on its lines; trailing blanks are then
    part of the place, leading ones are not unless the target has them.
    """

    first: int
    start: int
    last: int
    end: int
    whole: bool


@dataclass(frozen=True)
class Scope:
    """The lines to search: a section, or the whole body, which begins at line `first`."""

    first: int
    end: int
    section: str = ""


def find(
    lines: Sequence[str],
    folded: Sequence[str],
    body: int,
    regions: Sequence[Region],
    scope: Scope,
    target: str,
) -> Place | Refusal:
    """Return the only place in the scope where `target` stands by whole lines or whole words.

    A target that fills whole lines (blanks aside) exactly once is found even if it also stands inside longer
    lines: else a line that begins another could not be named. The frontmatter (all before line `body`) is
    searched only to tell `protected` from `unmatched`.
    """
    wanted = fold(target)
    places = list(_places(lines, folded, scope.first, scope.end, wanted))
    places = [place for place in places if place.whole] or places
    inside = [place for place in places if in_region(regions, place)]
    if not places:
        return _not_found(lines, folded, body, scope, wanted)
    if len(inside) == len(places):
        return Refusal("protected", f"the target stands in a protected region (line {places[0].first + 1})")
    if len(places) > 1:
        where = ", ".join(str(place.first + 1) for place in places[:5]) + (", ..." if len(places) > 5 else "")
        hint = "give a longer target" + ("" if scope.section else " or the heading of its section")
        return Refusal("ambiguous", f"the target stands {len(places)} times (lines {where}); {hint}")
    return places[0]


def find_section(
    lines: Sequence[str], folded: Sequence[str], headings: Sequence[Heading], section: str
) -> Scope | Refusal:
    """Return the lines of the section that the heading line `section` begins, its heading included.

    It ends before the next heading of the same or a higher level, or with the document. `section` is the
    heading as it is written (`## Write`), or its text alone, which then matches any level.
    """
    level, text = _heading_of(section)
    found = [
        heading
        for heading in headings
        if level in (0, heading.level) and text in (_heading_of(lines[heading.line])[1], folded[heading.line].strip())
    ]
    if not found:
        near = _closest([folded[heading.line] for heading in headings], fold(section))
        hint = ""
        if near is not None:
            line = headings[near].line
            hint = f"; the closest heading is line {line + 1}: {_short(folded[line])}"
        return Refusal("unmatched", f"no heading {_short(section)} in the document{hint}")
    if len(found) > 1:
        where = ", ".join(str(heading.line + 1) for heading in found[:5])
        return Refusal("ambiguous", f"{len(found)} headings {_short(section)} (lines {where})")
    start = found[0]
    end = next((h.line for h in headings if h.line > start.line and h.level <= start.level), len(lines))
    return Scope(start.line, end, section.strip())


def in_region(regions: Sequence[Region], place: Place) -> bool:
    """Return whether any character of `place` is protected."""
    start, end = (place.first, place.start), (place.last, place.end)
    return any(region.start < end and start < region.end for region in regions)


def _places(lines: Sequence[str], folded: Sequence[str], first: int, end: int, wanted: str) -> Iterator[Place]:
    """Yield the places in lines `first` to `end` where the folded target stands by whole words, in order."""
    text = "\n".join(folded[first:end])
    line, line_start = first, 0
    at = text.find(wanted)
    height = wanted.count("\n")
    while at != -1 and wanted:
        line += text.count("\n", line_start, at)
        line_start = text.rfind("\n", 0, at) + 1
        stop = at + len(wanted)
        if is_word_edge(text, at) and is_word_edge(text, stop):
            last = line + height
            last_start = text.rfind("\n", 0, stop) + 1
            span = original_span(lines[line], at - line_start, lines[last], stop - last_start)
            if span is not None:
                yield _place(lines, folded, line, last, span, stop - last_start)
        at = text.find(wanted, at + 1)


def _place(
    lines: Sequence[str], folded: Sequence[str], first: int, last: int, span: tuple[int, int], stop: int
) -> Place:
    start, end = span
    head = fold_line(lines[first][:start])
    opens = not head.strip()
    closes = stop == len(folded[last])
    whole = opens and closes
    if closes and (opens or last > first):
        end = len(lines[last].rstrip("\r\n"))
    return Place(first, start, last, end, whole)


def _not_found(lines: Sequence[str], folded: Sequence[str], body: int, scope: Scope, wanted: str) -> Refusal:
    if scope.section:
        elsewhere = next(_places(lines, folded, body, len(lines), wanted), None)
        if elsewhere:
            where = f"line {elsewhere.first + 1}, not in the section {_short(scope.section)}"
            return Refusal("unmatched", f"the target stands at {where}")
    # Searched to the end, so that a target which reaches from the frontmatter into the body is seen too.
    if body and any(place.first < body for place in _places(lines, folded, 0, len(lines), wanted)):
        return Refusal("protected", "the target stands in the frontmatter, which no edit may touch")
    known = set(folded[scope.first : scope.end])
    asked = wanted.split("\n")
    query = next((line for line in asked if line and line not in known), asked[0])
    near = _closest(folded[scope.first : scope.end], query)
    if near is None:
        return Refusal("unmatched", "the target does not stand in the document, nor anything like it")
    line = scope.first + near
    hint = f"closest is line {line + 1}: {_short(folded[line])}"
    return Refusal("unmatched", f"the target does not stand in the document; {hint}")


def _closest(candidates: Sequence[str], query: str) -> int | None:
    """Return the index of the candidate most like `query`, None when none is at all."""
    query = query.strip()[:_MAX_QUERY]
    best = process.extractOne(query, candidates, scorer=fuzz.ratio, score_cutoff=_MIN_LIKENESS)
    return None if best is None else int(best[2])


def _heading_of(line: str) -> tuple[int, str]:
    """Return the level (0 if not written) and the text of a heading line."""
    first, _, rest = fold(line).partition("\n")
    text = first.strip()
    hashes = len(text) - len(text.lstrip("#"))
    if 1 <= hashes <= 6 and text[hashes : hashes + 1] in ("", " "):
        bare = text[hashes:].strip()
        return hashes, _without_closing_hashes(bare)
    underline = rest.strip()
    if underline and set(underline) <= {"="}:
        return 1, text
    if underline and set(underline) <= {"-"}:
        return 2, text
    return 0, text


def _without_closing_hashes(text: str) -> str:
    bare = text.rstrip("#")
    return bare.rstrip() if not bare or bare.endswith(" ") else text


def _short(text: str) -> str:
    text = text.strip().replace("\n", " ")
    return repr(text if len(text) <= 80 else text[:77] + "...")
