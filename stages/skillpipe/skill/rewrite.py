"""Give a skill a new body: whole, and told as the edits that make the difference.

What stands in a protected region is no part of the body that is rewritten, and neither is the frontmatter. A line that
a region reaches into belongs to it as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

from skillpipe.records import Edit, EditOutcome
from skillpipe.skill.content import close_fence, stays_open
from skillpipe.skill.exact import applied, refused, too_large, unusable
from skillpipe.skill.folder import newly_broken
from skillpipe.skill.lines import body_of, dominant_end, end_of, is_blank, split_lines, strip_blank_edges
from skillpipe.skill.parts import BOM, frontmatter_length, regions, split, without_markers


@dataclass(frozen=True)
class _Line:
    """A line of the body as it is shown. `at` is its place in the document, None for a blank line put between."""

    text: str
    at: int | None


@dataclass(frozen=True)
class _Change:
    """Lines `start` to `end` of the old document become `lines` (without line ends); `edit` tells it."""

    start: int
    end: int
    lines: tuple[str, ...]
    edit: Edit


def editable_body(text: str) -> str:
    """The body that may be rewritten: no frontmatter, no protected region, LF line ends, no blank line at either end.

    Where a region stands between two of its parts, one blank line does.
    """
    return "\n".join(line.text for line in _shown(*_parsed(text)))


def rewrite_body(
    text: str, body: str, *, max_tokens: int | None = None, max_lines: int | None = None
) -> tuple[str, list[EditOutcome]]:
    """The SKILL.md `text` with `body` in the place of `editable_body(text)`, and every change as an edit with outcome.

    Args:
        text: The document. Any string.
        body: The new body. Blank lines at its ends play no part, and neither does frontmatter with a name that comes
            with it, if the document has its own.
        max_tokens: A new document larger than this by `count_tokens`, and larger than `text`, is refused.
        max_lines: The same for its lines.

    What holds, for any input:
        - The outcomes are in the order of the document; each one's splice is of the document as it stood before it,
          and all of them, one after the other, turn `text` into the new text, byte for byte.
        - Byte order mark, frontmatter, protected regions and all lines that do not differ keep their bytes (a last line
          without a line end gains one when something follows it). New lines take the line end of the line they follow.
          What is added beside a region lands before it.
        - A body that changes nothing has no outcomes.
        - A body that cannot be used is one outcome, `empty`, `invalid` or `protected` with the reason, and no change:
          it is blank, holds a region marker, leaves an HTML comment or block open, is too large, or breaks a rule of
          the format. A code fence that it leaves open at its end is closed.
    """
    lines, body_at = _parsed(text)
    old = _shown(lines, body_at)
    if old and [line.text for line in old] == _plain(body):
        return text, []
    given = split(body)
    named = body_at and any(line.startswith("name:") for line in split_lines(given.frontmatter))
    wanted = _plain(given.body if named else body.removeprefix(BOM))
    whole = Edit("replace", "\n".join(wanted))
    if not wanted:
        return text, [refused(whole, "empty", "the new body holds nothing but blanks")]
    if problem := unusable(whole.content):
        return text, [refused(whole, "invalid", f"the new body cannot be used: {problem}")]
    if without_markers(whole.content) != whole.content:
        return text, [refused(whole, "invalid", "the new body holds a marker of a protected region")]
    closed = list(close_fence(wanted)[0])
    if stays_open(closed):
        return text, [refused(whole, "invalid", "the new body opens an HTML comment or block that it does not close")]
    changes = list(_changes(old, closed, lines, body_at))
    texts = [text, *_versions(lines, changes, BOM if text.startswith(BOM) else "")]
    if refusal := _refusal(whole, text, texts[-1], max_tokens, max_lines):
        return text, [refusal]
    outcomes = [
        applied(change.edit, before, after, "" if change.edit.content or change.edit.target else "blank lines alone")
        for change, (before, after) in zip(changes, pairwise(texts), strict=True)
        if before != after
    ]
    return texts[-1], outcomes


def _refusal(whole: Edit, before: str, after: str, max_tokens: int | None, max_lines: int | None) -> EditOutcome | None:
    # No body is known that moves a region, as changes leave out its lines; but nothing may, whatever is changed here.
    kept = [region.text for region in regions(*_parsed(before))] == [region.text for region in regions(*_parsed(after))]
    one, two = split(before), split(after)
    if not kept or one.bom != two.bom or body_of(one.frontmatter) != body_of(two.frontmatter):
        return refused(whole, "protected", "would change the frontmatter or a protected region, or move its bounds")
    if problem := too_large(before, after, max_tokens, max_lines):
        return refused(whole, "invalid", problem)
    broken = newly_broken(before, after, None)
    return refused(whole, "invalid", f"would break the format: {broken}") if broken else None


def _plain(body: str) -> list[str]:
    return strip_blank_edges([body_of(line) for line in split_lines(body)])


def _parsed(text: str) -> tuple[list[str], int]:
    """The lines of the document after its byte order mark, and which of them begins the body."""
    lines = split_lines(text.removeprefix(BOM))
    return lines, frontmatter_length(lines)


def _parts(lines: Sequence[str], body: int) -> list[tuple[int, int]]:
    """The runs of lines of the body that no region reaches into, as (start, end), also empty ones."""
    runs, at = [], body
    for region in regions(lines, body):
        end = region.end[0] + (region.end[1] > 0)
        if region.start[0] >= at:
            runs.append((at, region.start[0]))
        at = max(at, end)
    return [*runs, (at, len(lines))]


def _shown(lines: Sequence[str], body: int) -> list[_Line]:
    """The lines of the body that may be rewritten. Blank ones at the ends of a run are kept and not shown."""
    shown: list[_Line] = []
    for start, end in _parts(lines, body):
        said = [at for at in range(start, end) if not is_blank(lines[at])]
        if said and shown:
            shown.append(_Line("", None))
        shown += [_Line(body_of(lines[at]), at) for at in range(said[0], said[-1] + 1)] if said else []
    return shown


def _changes(old: Sequence[_Line], new: Sequence[str], lines: Sequence[str], body: int) -> Iterator[_Change]:
    """The changes from `old` to `new`, in the order of the document, none of them over a region."""
    before = [line.text for line in old]
    for i1, i2, j1, j2 in _differences(old, before, new):
        added = tuple(new[j1:j2])
        runs = _runs([line.at for line in old[i1:i2] if line.at is not None])
        if not runs and added:
            at, extra = _place(old, i1, i2, lines, body)
            yield _Change(at, at, (*added, *extra), _insertion(before, i1, added))
        for start, end in runs:
            target = "\n".join(body_of(line) for line in lines[start:end]).strip("\n")
            content = "\n".join(added).strip("\n")
            edit = Edit("replace" if content else "delete", content, target)
            yield _Change(start, end, added, edit if target or not content else _insertion(before, i1, added))
            added = ()


def _differences(
    old: Sequence[_Line], before: Sequence[str], new: Sequence[str]
) -> Iterator[tuple[int, int, int, int]]:
    """The differences as (i1, i2, j1, j2): `before[i1:i2]` becomes `new[j1:j2]`.

    Blank lines alone make no match, or half a paragraph would be told as changed into another; but beside a region
    they do: they tell what goes before it and what after.
    """
    for tag, i1, i2, j1, j2 in SequenceMatcher(is_blank, before, new, autojunk=False).get_opcodes():
        if tag == "replace" and any(line.at is None for line in old[i1:i2]):
            inner = SequenceMatcher(None, before[i1:i2], new[j1:j2], autojunk=False).get_opcodes()
            yield from ((i1 + a, i1 + b, j1 + c, j1 + d) for kind, a, b, c, d in inner if kind != "equal")
        elif tag != "equal":
            yield i1, i2, j1, j2


def _runs(places: Sequence[int]) -> list[tuple[int, int]]:
    """Neighbouring places as (start, end)."""
    bounds = [at for at, place in enumerate(places) if not at or place != places[at - 1] + 1]
    return [(places[start], places[end - 1] + 1) for start, end in pairwise([*bounds, len(places)])]


def _place(old: Sequence[_Line], start: int, end: int, lines: Sequence[str], body: int) -> tuple[int, tuple[str, ...]]:
    """Before which line of the document new lines stand in the place of `old[start:end]`, and what must follow them."""
    before = old[start - 1].at if start else None
    if before is not None:
        return before + 1, ()
    after = old[end].at if end < len(old) else None
    if after is not None:
        return after, ()
    at = _parts(lines, body)[0][1]  # nothing is shown: before the first region, or at the end
    return at, ("",) if at < len(lines) else ()


def _insertion(before: Sequence[str], at: int, added: Sequence[str]) -> Edit:
    """An insert as an edit: after the text before it, else in the stead of the text after it."""
    content = "\n".join(added).strip("\n")
    ahead = next((line for line in reversed(before[:at]) if line.strip()), "")
    behind = next((line for line in before[at:] if line.strip()), "")
    if not content:
        return Edit("insert_after")
    if ahead and behind:
        return Edit("insert_after", content, ahead)
    return Edit("replace", "\n".join((*added, behind)).lstrip("\n"), behind) if behind else Edit("append", content)


def _versions(lines: Sequence[str], changes: Sequence[_Change], bom: str) -> Iterator[str]:
    """The document after each change, one after the other."""
    now, moved = list(lines), 0
    for change in changes:
        start, end = change.start + moved, change.end + moved
        eol = (end_of(now[start - 1]) if start else "") or dominant_end(now)
        if start and change.lines and not end_of(now[start - 1]):
            now[start - 1] += eol
        fresh = [line + eol for line in change.lines]
        if fresh and lines and end == len(now) and not end_of(lines[-1]):
            fresh[-1] = body_of(fresh[-1])
        now[start:end] = fresh
        moved += len(change.lines) - (change.end - change.start)
        yield bom + "".join(now)
